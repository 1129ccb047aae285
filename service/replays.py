"""Replays: the record of a match as a message, and back.

A replay with its proof hides nothing. Without it (a table made with `reveal` never) it has what its
reader was allowed to see and nothing that the rest could be guessed from: no chance outcomes, no
running hashes, and neither choices nor searches but the reader's own; what became public stands
in the events.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

from tavolata.ext.core.match import Match
from tavolata.ext.core.record import (
    Fairness,
    Record,
    RecordError,
    RecordMismatch,
    Step,
    follow,
)
from tavolata.ext.core.records import ChanceOutcome, MatchEnded, NumberedEvent
from tavolata.ext.registry import game_spec
from tavolata.service.codecs import codec_of
from tavolata.service.tables.fairness import commitment, match_seed
from tavolata.v1 import replay_pb2 as pb
from tavolata.v1.event_pb2 import Event
from tavolata.v1.fairness_pb2 import FairnessProof
from tavolata.v1.table_pb2 import Table

SPECTATOR = -1


def replay_message(
    table: Table,
    match: Match | None,
    events: Sequence[Event],
    decisions: Sequence[pb.Decision],
    *,
    proof: FairnessProof | None,
    viewer: int = SPECTATOR,
) -> pb.Replay:
    """The replay of a table that is over.

    match: None if there was none; events: all of the table, as `viewer` may see them; decisions:
    one for each of the match's, in order, with what the match does not know of it (who made it,
    request id, time, player, effort, search seed) filled in.
    """
    made = pb.Replay(table=table, proof=proof)
    happened: Iterator[pb.ReplayEntry] = iter(())
    if match is not None:
        made.final_hash = match.hash
        happened = _Teller(match, viewer, is_open=proof is not None).entries(
            _steps(match, table.fairness.commitment), decisions
        )
    for event in events:
        entry = pb.ReplayEntry(event=pb.RecordedEvent(event=event))
        if is_of_match(event):
            for entry in happened:
                if entry.HasField("event"):
                    _place(entry.event.event, event)
                    break
                made.entries.append(entry)
        made.entries.append(entry)
    made.entries.extend(happened)
    return made


def digest_of(replay: pb.Replay) -> bytes:
    """The 32 bytes that `Replay.digest` has to be."""
    bare = pb.Replay()
    bare.CopyFrom(replay)
    bare.ClearField("digest")
    written = bare.SerializeToString(deterministic=True)
    return hashlib.sha256(b"tavolata.replay.v1\x00" + written).digest()


def sealed(replay: pb.Replay) -> pb.Replay:
    """The replay itself, its digest filled in."""
    replay.digest = digest_of(replay)
    return replay


def is_of_match(event: Event) -> bool:
    """Whether the match has an event for it, too; its end is an event of the table in the API."""
    return event.HasField("game") or event.table.HasField("match_ended")


def _place(own: Event, event: Event) -> None:
    """Give an event of the match its place at the table; what it shows may be more than `event`."""
    own.number, own.turn = event.number, event.turn
    own.time.CopyFrom(event.time)
    if not own.HasField("game"):
        own.MergeFrom(event)


def _steps(match: Match, commitment: bytes) -> list[Step]:
    """The steps of a match, legal actions and hashes included, by playing it again."""
    again = Match(match.game, match.seed, commitment=commitment.hex())
    name = match.game.action_name
    steps = follow(again, [(turn, seat, name(action)) for turn, seat, action in match.decisions])
    if again.hash != match.hash:
        raise RecordMismatch("hash", match.hash.hex(), again.hash.hex())
    return steps


class _Teller:
    """The entries of a match for one reader, or with everything open."""

    def __init__(self, match: Match, viewer: int, *, is_open: bool) -> None:
        self._match, self._viewer, self._open = match, viewer, is_open
        self._codec = codec_of(match.game.spec.id)
        self._secret_to = _secret_to(match)

    def entries(
        self, steps: list[Step], decisions: Sequence[pb.Decision]
    ) -> Iterator[pb.ReplayEntry]:
        """All entries in order; events without number, and closed ones without content."""
        actions = iter(self._match.decisions)
        facts = iter(decisions)
        for step in steps:
            told = []
            if step.decision is not None:
                told.append(self._decision(step, next(actions), next(facts)))
            told += [entry for each in step.entries if (entry := self._entry(each))]
            if self._open:
                told[-1].running_hash = step.hash
            yield from told

    def _decision(
        self, step: Step, chosen: tuple[int, int, int], facts: pb.Decision
    ) -> pb.ReplayEntry:
        turn, seat, action = chosen
        made = pb.Decision(turn=turn, seat=seat)
        made.MergeFrom(facts)
        if self._open:
            made.legal_actions.extend(map(self._codec.action_to, step.legal))
        if self._open or seat == self._viewer:
            made.action.CopyFrom(self._codec.action_to(action))
        else:
            # A search that wasn't needed, or can be tried again on a guess, tells of the hand.
            made.ClearField("effort")
            made.ClearField("search_seed")
        return pb.ReplayEntry(decision=made)

    def _entry(self, entry: ChanceOutcome | NumberedEvent) -> pb.ReplayEntry | None:
        if isinstance(entry, ChanceOutcome):
            return pb.ReplayEntry(chance=_chance(entry)) if self._open else None
        made = pb.RecordedEvent(event=Event(), secret_to=self._secret_to[entry.number - 1])
        if self._open and not isinstance(entry.event, MatchEnded):
            made.event.game.CopyFrom(self._codec.event_to(entry.event))
        return pb.ReplayEntry(event=made)


def _chance(outcome: ChanceOutcome) -> pb.ChanceOutcome:
    made = pb.ChanceOutcome(round=outcome.round, purpose=outcome.purpose, index=outcome.index)
    if outcome.choices:
        made.pick.bound, made.pick.value = outcome.choices, outcome.values[0]
    else:
        made.shuffle.items.extend(outcome.items)
    return made


def _secret_to(match: Match) -> list[tuple[int, ...]]:
    """For each event the seats that see more of it than a spectator does."""
    public = match.events(SPECTATOR)
    seen = [match.events(seat) for seat in range(match.game.seat_count)]
    return [
        tuple(seat for seat, events in enumerate(seen) if events[place] != shown)
        for place, shown in enumerate(public)
    ]


# -- from a message -----------------------------------------------------------------------------


def record_of_replay(replay: pb.Replay) -> Record:
    """The record of a replay with its proof. RecordError if it has none or isn't of a match;
    UnknownGame if this program does not know its game; Refused if it does not know its options or
    an action."""
    table = replay.table
    if not replay.HasField("proof"):
        raise RecordError("replay.proof", "is absent: without the seed nothing can be played again")
    if not replay.final_hash:
        raise RecordError("replay.final_hash", "is absent: the table had no match")
    codec = codec_of(table.settings.game_id)
    spec = game_spec(table.settings.game_id)
    game = spec.make(len(table.seats), codec.options_from(table.settings.options))
    chosen = [entry.decision for entry in replay.entries if entry.HasField("decision")]
    result = table.result.seats
    return Record(
        game=spec.id,
        rules_version=table.rules_version,
        seats=len(table.seats),
        options=dict(game.options),
        seed=replay.proof.match_seed,
        fairness=_fairness(replay),
        decisions=tuple(
            (each.turn, each.seat, game.action_name(codec.action_from(each.action)))
            for each in chosen
        ),
        hash=replay.final_hash,
        totals=tuple(seat.total for seat in result) if result else None,
        placement=tuple(seat.place for seat in result) if result else None,
    )


def _fairness(replay: pb.Replay) -> Fairness:
    public, proof = replay.table.fairness, replay.proof
    return Fairness(
        table_id=replay.table.table_id,
        commitment=public.commitment,
        server_seed=proof.server_seed,
        salt=proof.salt,
        nonces=tuple(
            (each.seat if each.HasField("seat") else None, each.nonce) for each in public.nonces
        ),
        reproducible=public.reproducible,
    )


def check_fairness(record: Record) -> None:
    """RecordMismatch unless the commitment is one to this table and its seed, and the match's seed
    came from that and the nonces. A record without a promise passes."""
    promise = record.fairness
    if promise is None:
        return
    promised = commitment(
        table_id=promise.table_id,
        game_id=record.game,
        rules_version=record.rules_version,
        seat_count=record.seats,
        options=record.options,
        server_seed=promise.server_seed,
        salt=promise.salt,
    )
    if promised != promise.commitment:
        raise RecordMismatch("commitment", promise.commitment.hex(), promised.hex())
    seed = promise.server_seed
    if not promise.reproducible:
        seed = match_seed(promise.server_seed, promise.table_id, promise.nonces)
    if seed != record.seed:
        raise RecordMismatch("seed", record.seed.hex(), seed.hex())
