"""What a program is asked, and what its answer comes to."""

from __future__ import annotations

from google.protobuf.duration_pb2 import Duration

from tavolata.ai.player import Decision
from tavolata.ai.player import Observation as Known
from tavolata.service.codecs import codec_of
from tavolata.service.refusals import Refused
from tavolata.v1.player_pb2 import AiPlayer
from tavolata.v1.remote_player_pb2 import Observation, PlayerAnswer, PlayerFaultKind

EFFORT_MAX = 10**12  # iterations, nodes: more is none
THINK_S_MAX = 86_400


class Fault(Exception):
    """A player hasn't answered as it should; the message says what was wrong."""

    def __init__(self, kind: PlayerFaultKind.ValueType, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.question = 0  # its number, 0 for none


def observation_message(known: Known, player: AiPlayer, seed: int) -> Observation:
    """What a built-in player would be given, as a message; number and time are yet to be filled
    in. player: as it is seated."""
    game, codec = known.game, codec_of(known.game.spec.id)
    return Observation(
        game_id=game.spec.id,
        rules_version=game.spec.rules_version,
        options=codec.options_to(game.options),
        seat_count=game.seat_count,
        seat=known.seat,
        turn=known.turn,
        view=codec.view_to(known.view),
        events=[codec.event_to(event) for event in known.events],
        legal_actions=[codec.action_to(action) for action in known.legal_actions],
        limits=player.limits if player.HasField("limits") else None,
        seed=seed,
        packed_view=known.view_bytes,
        packed_events=known.event_words,
    )


def decision_of(known: Known, answer: PlayerAnswer, took_s: float) -> Decision:
    """The decision that an answer is; Fault if it is none. took_s: from question to answer, for
    those who don't tell what they spent."""
    try:
        action = codec_of(known.game.spec.id).action_from(answer.action, "answer.action")
    except Refused as refused:
        raise Fault(PlayerFaultKind.PLAYER_FAULT_KIND_MALFORMED, refused.message) from None
    if action not in known.legal_actions:
        allowed = ", ".join(known.action_name(each) for each in known.legal_actions[:20])
        message = f"{known.action_name(action)!r} is not legal here; legal: {allowed}"
        raise Fault(PlayerFaultKind.PLAYER_FAULT_KIND_ILLEGAL_ACTION, message)
    effort = answer.effort
    if max(effort.iterations, effort.nodes) >= EFFORT_MAX:
        raise _malformed(f"answer.effort is beyond all bounds; allowed: below {EFFORT_MAX}")
    if effort.HasField("think_time"):
        took_s = _seconds(effort.think_time)
    return Decision(action, effort.iterations, effort.nodes, took_s * 1000)


def _seconds(given: Duration) -> float:
    if not (0 <= given.nanos < 10**9 and 0 <= given.seconds < THINK_S_MAX):
        raise _malformed(
            f"answer.effort.think_time is {given.seconds} s and {given.nanos} ns;"
            f" allowed: 0 to {THINK_S_MAX} s"
        )
    return given.seconds + given.nanos / 1e9


def _malformed(message: str) -> Fault:
    return Fault(PlayerFaultKind.PLAYER_FAULT_KIND_MALFORMED, message)
