"""What a table may be made with: the settings and seats of CreateTable, checked and completed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from google.protobuf.duration_pb2 import Duration

from tavolata.ext.core.errors import SettingError
from tavolata.ext.registry import UnknownGame, game_spec
from tavolata.service.ai_levels import Ceiling, check_nanos, players, resolve
from tavolata.service.codecs import codec_of
from tavolata.service.players.offers import LEVEL
from tavolata.service.refusals import Refused, invalid_field, of_setting, of_unknown_game
from tavolata.v1.errors_pb2 import ErrorReason
from tavolata.v1.fairness_pb2 import Reveal
from tavolata.v1.player_pb2 import AiPlayer
from tavolata.v1.table_pb2 import Hints, SeatPlan, TableSettings, Visibility

NONCE_MAX = 64
SEED_BYTES = 32
PACE_MAX_S = 60.0
DECISION_S = (0.001, 7 * 86400.0)
MATCH_S = (0.001, 30 * 86400.0)
SPECTATOR_DELAY_MAX_S = 3600.0


RemoteGames = Callable[[str], Sequence[str] | None]


def _no_remote(player: str) -> None:
    return None


@dataclass(frozen=True, slots=True)
class Defaults:
    """What the server fills in, and the most it allows. remote_games: the games of a remote player,
    None if there is none of that name."""

    ceiling: Ceiling
    pace_floor_s: float
    pace_jitter_s: float
    remote_games: RemoteGames = _no_remote


def seatable(given: AiPlayer, defaults: Defaults, field: str, game_id: str) -> AiPlayer:
    """A player for a seat, with everything filled in. Refused with UNKNOWN_PLAYER or
    INVALID_FIELD."""
    games = None if given.player in players() else defaults.remote_games(given.player)
    if games is None:
        return resolve(given, defaults.ceiling, field)
    if given.level not in ("", LEVEL) or game_id not in games:
        lacks = f"doesn't play {game_id}; it plays: {', '.join(games)}"
        if game_id in games:
            lacks = f"has no level {given.level!r}; it has: {LEVEL}"
        allowed = [LEVEL] if game_id in games else games
        raise Refused(
            ErrorReason.ERROR_REASON_UNKNOWN_PLAYER,
            f"the player {given.player!r} {lacks}",
            {"player": given.player, "level": given.level, "allowed": allowed},
        )
    made = AiPlayer(player=given.player, level=LEVEL, remote=True)
    if given.HasField("limits"):
        of_anybody = AiPlayer(limits=given.limits)
        made.limits.CopyFrom(resolve(of_anybody, defaults.ceiling, field).limits)
    return made


def complete(
    settings: TableSettings, seats: Sequence[SeatPlan], defaults: Defaults
) -> TableSettings:
    """The settings with every default filled in; refusals as CreateTable lists them."""
    if not settings.game_id:
        raise invalid_field("settings.game_id", "is empty", "the id of a game; see ListGames")
    made = TableSettings()
    made.CopyFrom(settings)
    try:
        spec = game_spec(settings.game_id)
    except UnknownGame as error:
        raise of_unknown_game(error) from None
    codec = codec_of(spec.id)
    try:
        options = spec.complete(len(seats), codec.options_from(settings.options))
    except SettingError as error:
        raise of_setting(error) from None
    made.options.CopyFrom(codec.options_to(options))
    _complete_enums(made)
    _check_times(made)
    _complete_players(made, defaults)
    return made


def _complete_enums(made: TableSettings) -> None:
    if made.visibility not in Visibility.values():
        raise invalid_field("settings.visibility", f"is {made.visibility}", "0 to 2")
    if made.reveal not in Reveal.values():
        raise invalid_field("settings.reveal", f"is {made.reveal}", "0 to 2")
    if made.hints not in Hints.values():
        raise invalid_field("settings.hints", f"is {made.hints}", "0 to 2")
    made.visibility = made.visibility or Visibility.VISIBILITY_UNLISTED
    made.reveal = made.reveal or Reveal.REVEAL_AT_END
    made.hints = made.hints or Hints.HINTS_FORBIDDEN


def _check_times(made: TableSettings) -> None:
    control = made.time_control
    if control.HasField("per_decision"):
        _check_duration("settings.time_control.per_decision", control.per_decision, *DECISION_S)
    if control.HasField("per_match"):
        _check_duration("settings.time_control.per_match", control.per_match, *MATCH_S)
    if made.HasField("spectator_delay"):
        field, delay = "settings.spectator_delay", made.spectator_delay
        _check_duration(field, delay, 0.0, SPECTATOR_DELAY_MAX_S)


def _check_duration(field: str, given: Duration, least_s: float, most_s: float) -> None:
    seconds = given.seconds + given.nanos / 1e9
    check_nanos(field, given)
    if not least_s <= seconds <= most_s:
        raise invalid_field(field, f"is {seconds:g} s", f"{least_s:g} to {most_s:g} s")


def _complete_players(made: TableSettings, defaults: Defaults) -> None:
    for field in ("fill_empty_seats", "stand_in"):
        if made.HasField(field) or field == "stand_in":
            player: AiPlayer = getattr(made, field)
            player.CopyFrom(_completed(player, defaults, field, made.game_id))
    if not made.HasField("ai_pace"):
        made.ai_pace.floor.FromNanoseconds(round(defaults.pace_floor_s * 1e9))
        made.ai_pace.jitter.FromNanoseconds(round(defaults.pace_jitter_s * 1e9))
    for name in ("floor", "jitter"):
        _check_duration(f"settings.ai_pace.{name}", getattr(made.ai_pace, name), 0.0, PACE_MAX_S)


def _completed(given: AiPlayer, defaults: Defaults, field: str, game_id: str) -> AiPlayer:
    player = seatable(given, defaults, f"settings.{field}", game_id)
    if field == "stand_in" and player.remote:
        # Whoever takes over at once when a person is late mustn't be late as well.
        raise invalid_field(
            "settings.stand_in.player", f"is {player.player!r}", "one of the server's own players"
        )
    return player


def check_nonce(nonce: bytes, reproducible: bool) -> bytes:
    """Bytes for the seed."""
    if len(nonce) > NONCE_MAX:
        raise invalid_field("nonce", f"has {len(nonce)} bytes", f"at most {NONCE_MAX}")
    if nonce and reproducible:
        raise invalid_field("nonce", "is set", "none: the seed of this table was given")
    return nonce


def check_seed(seed: bytes) -> bytes:
    """A seed for a match that can be repeated."""
    if seed and len(seed) != SEED_BYTES:
        raise invalid_field("seed", f"has {len(seed)} bytes", f"none, or exactly {SEED_BYTES}")
    return seed
