"""Verifying a downloaded match with nothing but its file: the promise kept, the match played again.

A file is a record (`tavolata.match/2`) or a Replay of the API, as binary or as JSON. See
docs/replay-format.md for what is checked and what can't be.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from google.protobuf.json_format import Parse, ParseError
from google.protobuf.message import DecodeError

from tavolata.ext.core.errors import RulesError
from tavolata.ext.core.match import Match
from tavolata.ext.core.record import (
    Record,
    RecordError,
    RecordMismatch,
    Step,
    check,
    loads,
    retrace,
)
from tavolata.ext.registry import UnknownGame, game_spec
from tavolata.service.refusals import Refused
from tavolata.service.replays import (
    check_fairness,
    digest_of,
    is_of_match,
    record_of_replay,
    replay_message,
)
from tavolata.v1 import replay_pb2 as pb
from tavolata.v1.fairness_pb2 import Reveal
from tavolata.v1.table_pb2 import TableState
from tavolata.v1.table_service_pb2 import GetReplayResponse

SEED_BYTES = 32

_PROMISE = (
    "the commitment is one to this table, its rules, options and seats, the seed and the salt"
)
_DRAWN = "the seed of the match was made from the server's seed and every nonce"
_GIVEN = "the seed of the match is the one that was committed to"
_PLAYED = "the match, dealt and played again: every chance outcome, decision and event of it"
_RESULT = "the running hash, the totals and the places at its end"
_TOLD = "what the file says of every step: chance, legal actions, events, who saw them, hashes"
_DIGEST = "the digest: not a bit of the file was changed by accident"
_LATER = "that the commitment was published before the deal: compare it with the one you noted"
_NOTED = "the commitment is the one that you noted"
_NO_PROMISE = "whether the deal was chosen: the file has no commitment"
_REPEATABLE = (
    "whether the deal was chosen: whoever made the table gave its seed and knew every card"
)
_SAID = "names, times, who chose and what a search spent: the server says so"
_NEVER = "the deal and the match: the table was made with `reveal` never, its seed stays secret"
_NO_RULES = "the match: the server that wrote the file didn't have the rules it was played by"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What has been checked, all of it agreeing, and what can't be, in words.

    verified: whether the match was dealt and played again; False if the file doesn't allow it.
    commitment: hex digits, empty if there is none.
    """

    verified: bool
    kind: str  # "record" or "replay"
    game: str
    commitment: str
    checked: tuple[str, ...]
    open: tuple[str, ...]


def verify(data: bytes, noted: str = "") -> Verdict:
    """The verdict on the bytes of a file. RecordError if it is none that this program can play;
    RecordMismatch for the first thing that isn't as it should be. noted: the commitment published
    before the deal, as hex digits, if the reader has it."""
    try:
        read = _read(data)
        verdict = _of_record(read) if isinstance(read, Record) else _of_replay(read)
        return _compared(verdict, noted) if noted else verdict
    except Refused as error:
        raise RecordError("replay", error.message) from None
    except UnknownGame as error:
        raise RecordError("game", str(error)) from None
    except (RulesError, UnicodeEncodeError) as error:
        raise RecordError("match", str(error)) from None


def _compared(verdict: Verdict, noted: str) -> Verdict:
    """The verdict with the commitment that its reader had noted."""
    _same("commitment", verdict.commitment, noted.lower())
    unchecked = tuple(line for line in verdict.open if line != _LATER)
    return replace(verdict, checked=(*verdict.checked, _NOTED), open=unchecked)


def _read(data: bytes) -> Record | pb.Replay:
    """A JSON object is a record if it names a format; what isn't JSON is a binary Replay."""
    if not data.lstrip().startswith(b"{"):
        return _binary(data)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return _binary(data)  # a Replay begins with a line feed and the length of its table
    head = _keys(text)
    if "format" in head:
        return loads(text)
    message = GetReplayResponse() if head == ["replay"] else pb.Replay()
    try:
        Parse(text, message)
    except (ParseError, RecursionError) as error:
        raise RecordError("replay", f"is no tavolata.v1.Replay in JSON: {error}") from None
    return message.replay if isinstance(message, GetReplayResponse) else message


def _keys(text: str) -> list[str]:
    """The keys of the JSON object."""
    try:
        return list(json.loads(text))
    except (ValueError, RecursionError) as error:
        raise RecordError("top level", f"is no JSON: {error}") from None


def _binary(data: bytes) -> pb.Replay:
    try:
        return pb.Replay.FromString(data)
    except DecodeError:
        raise RecordError(
            "top level", "is neither a JSON object nor a tavolata.v1.Replay in binary"
        ) from None


# -- a record -----------------------------------------------------------------------------------


def _of_record(record: Record) -> Verdict:
    check_fairness(record)
    match, _ = retrace(record, game_spec)
    check(record, match)
    checked, unchecked = _on_seed(record)
    return Verdict(
        True, "record", record.game, record.commitment, (*checked, _PLAYED, _RESULT), unchecked
    )


def _on_seed(record: Record) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What was checked of where the seed came from, and what can't be."""
    if record.fairness is None:
        return (), (_NO_PROMISE,)
    if record.fairness.reproducible:
        return (_PROMISE, _GIVEN), (_REPEATABLE,)
    return (_PROMISE, _DRAWN), (_LATER,)


# -- a replay -----------------------------------------------------------------------------------


def _of_replay(replay: pb.Replay) -> Verdict:
    _check_form(replay)
    game, commitment = replay.table.settings.game_id, replay.table.fairness.commitment.hex()
    if not replay.HasField("proof") and replay.table.settings.reveal == Reveal.REVEAL_NEVER:
        return Verdict(False, "replay", game, commitment, (_DIGEST,), (_NEVER, _SAID))
    if not replay.entries:
        return Verdict(False, "replay", game, commitment, (_DIGEST,), (_NO_RULES, _SAID))
    record = record_of_replay(replay)
    check_fairness(record)
    match, steps = retrace(record, game_spec)
    check(record, match)
    _check_entries(replay, match)
    _check_places(replay, steps)
    _check_table(replay, match)
    checked, unchecked = _on_seed(record)
    checked = (_DIGEST, *checked, _PLAYED, _RESULT, _TOLD)
    return Verdict(True, "replay", game, commitment, checked, (*unchecked, _SAID))


def _check_form(replay: pb.Replay) -> None:
    known = pb.Replay()
    known.CopyFrom(replay)
    known.DiscardUnknownFields()
    if known.ByteSize() != replay.ByteSize():
        raise RecordError("replay", "has fields that this program doesn't know")
    if not replay.digest:
        raise RecordError("replay.digest", "is absent: nothing shows that the file is whole")
    _same("replay.digest", replay.digest.hex(), digest_of(replay).hex())
    for name in ("server_seed", "salt", "match_seed"):
        length = len(getattr(replay.proof, name))
        if replay.HasField("proof") and length != SEED_BYTES:
            raise RecordError(f"replay.proof.{name}", f"has {length} bytes, not {SEED_BYTES}")


def _check_entries(replay: pb.Replay, match: Match) -> None:
    """Every entry is what the match makes of it: only what the table and its people added, who
    decided, when, with what search, is taken from the replay."""
    events = [entry.event.event for entry in replay.entries if entry.HasField("event")]
    _same("replay.entries, events of the match", sum(map(is_of_match, events)), match.event_count)
    facts = [
        _without_content(entry.decision) for entry in replay.entries if entry.HasField("decision")
    ]
    made = replay_message(replay.table, match, events, facts, proof=replay.proof).entries
    for place, (told, played) in enumerate(zip(replay.entries, made, strict=False)):
        if told != played:
            raise RecordMismatch(f"replay.entries[{place}]", _line(told), _line(played))
    _same("replay.entries, their number", len(replay.entries), len(made))


def _without_content(decision: pb.Decision) -> pb.Decision:
    """What the match doesn't know of a decision."""
    bare = pb.Decision()
    bare.CopyFrom(decision)
    for name in ("turn", "seat", "action", "legal_actions"):
        bare.ClearField(name)
    return bare


def _check_places(replay: pb.Replay, steps: Sequence[Step]) -> None:
    """Events are numbered from 1 without gaps and name the decision that was open before them."""
    ended = iter(steps)
    number = turn = 0  # turn: open at the table; what a decision causes has the decision's
    caused = True  # the deal, until its end
    before = 0
    for place, entry in enumerate(replay.entries):
        if entry.HasField("decision"):
            before, caused = entry.decision.turn, True
        elif entry.HasField("event"):
            number += 1
            event = entry.event.event
            _same(f"replay.entries[{place}], number", event.number, number)
            _same(f"replay.entries[{place}], turn", event.turn, before if caused else turn)
        if entry.running_hash:
            turn, caused = next(ended).turn, False


def _check_table(replay: pb.Replay, match: Match) -> None:
    """What the table says of the match is what its events say."""
    table = replay.table
    state = TableState.TABLE_STATE_FINISHED if match.over else TableState.TABLE_STATE_ABORTED
    if table.settings.reveal == Reveal.REVEAL_NEVER:
        raise RecordMismatch("replay.table.settings.reveal", "REVEAL_NEVER", "a revealed seed")
    _same("replay.table.state", TableState.Name(table.state), TableState.Name(state))
    events = [entry.event.event for entry in replay.entries if entry.HasField("event")]
    _same("replay.table.last_event", table.last_event, len(events))
    told = [each.table for each in events if each.HasField("table")]
    added = [each.nonce_added.nonce for each in told if each.HasField("nonce_added")]
    _same("replay.table.fairness.nonces", list(table.fairness.nonces), added)
    for ended in (each.match_ended for each in told if each.HasField("match_ended")):
        _same("replay.table.result", table.result, ended.result)
    for name, seats in (("seats", table.seats), ("result.seats", table.result.seats)):
        numbers = [each.seat for each in seats]
        _same(f"replay.table.{name}, their numbers", numbers, list(range(len(numbers))))


def _same(place: str, recorded: object, replayed: object) -> None:
    if recorded != replayed:
        raise RecordMismatch(place, _line(recorded), _line(replayed))


def _line(value: object) -> str:
    """A message in one line, cut where it grows long."""
    text = " ".join(str(value).split())
    return text if len(text) <= 300 else f"{text[:297]}..."
