"""The record of a match: what reproduces it to the byte, and what it must come to.

The file is JSON of the format ``tavolata.match/2`` (docs/replay-format.md). A record is data; only
``retrace`` and ``replay`` run the rules.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from tavolata.ext.core.errors import RulesError
from tavolata.ext.core.match import Match
from tavolata.ext.core.records import ChanceOutcome, Decision, NumberedEvent
from tavolata.ext.core.spec import GameSpec, Options

FORMAT = "tavolata.match/2"


class RecordError(ValueError):
    """A file that is no record of a match this program can play; says where and what."""

    def __init__(self, place: str, problem: str) -> None:
        super().__init__(f"{place}: {problem}")
        self.place, self.problem = place, problem


class RecordMismatch(Exception):
    """A record whose match, replayed, does not come to what the record says."""

    def __init__(self, place: str, recorded: object, replayed: object) -> None:
        super().__init__(f"{place}: recorded {recorded}, replayed {replayed}")
        self.place, self.recorded, self.replayed = place, recorded, replayed


@dataclass(frozen=True, slots=True)
class Fairness:
    """What was promised about the seed and what was revealed; see fairness.proto."""

    table_id: str
    commitment: bytes
    server_seed: bytes
    salt: bytes
    nonces: tuple[tuple[int | None, bytes], ...]  # (seat or None for an owner without, nonce)
    reproducible: bool


@dataclass(frozen=True, slots=True)
class Record:
    """A match. Totals and placement are None if it has not been played to its end."""

    game: str
    rules_version: str
    seats: int
    options: Options
    seed: bytes
    fairness: Fairness | None
    decisions: tuple[tuple[int, int, str], ...]  # (turn, seat, name of the action)
    hash: bytes
    totals: tuple[int, ...] | None
    placement: tuple[int, ...] | None

    @property
    def commitment(self) -> str:
        """The commitment as the match takes it: hex digits, empty if there is none."""
        return self.fairness.commitment.hex() if self.fairness else ""


@dataclass(frozen=True, slots=True)
class Step:
    """The deal (``decision`` None) or a decision, and all that followed from it.

    legal: what the seat could have chosen, as action numbers; entries: chance and events in order;
    turn, totals, points, hash: of the match after it.
    """

    decision: Decision | None
    legal: tuple[int, ...]
    entries: tuple[ChanceOutcome | NumberedEvent, ...]
    turn: int
    totals: tuple[int, ...]
    points: tuple[int, ...]
    hash: bytes


def record_of(match: Match, fairness: Fairness | None = None) -> Record:
    """The record of a match as it stands. ``fairness`` must be what its commitment came from."""
    game = match.game
    return Record(
        game=game.spec.id,
        rules_version=game.spec.rules_version,
        seats=game.seat_count,
        options=dict(game.options),
        seed=match.seed,
        fairness=fairness,
        decisions=tuple(
            (turn, seat, game.action_name(action)) for turn, seat, action in match.decisions
        ),
        hash=match.hash,
        totals=match.totals() if match.over else None,
        placement=match.placement() if match.over else None,
    )


# -- the file -----------------------------------------------------------------------------------


def dumps(record: Record) -> str:
    """The record as the text of a file; equal records give equal texts."""
    made = {"format": FORMAT} | asdict(record)
    if record.fairness is None:
        del made["fairness"]
    else:
        made["fairness"]["nonces"] = [
            {"seat": seat, "nonce": nonce.hex()} for seat, nonce in record.fairness.nonces
        ]
    return json.dumps(made, indent=1, default=bytes.hex) + "\n"


def loads(text: str) -> Record:
    """The record in the text of a file. RecordError if it is none."""
    try:
        data = json.loads(text, object_pairs_hook=_once)
        json.dumps(data, ensure_ascii=False).encode()  # an escape may name half a character
    except UnicodeEncodeError:
        raise RecordError("top level", "has an escape for half a character") from None
    except json.JSONDecodeError as error:
        raise RecordError(f"line {error.lineno}, column {error.colno}", error.msg) from None
    except RecursionError:
        raise RecordError("top level", "is nested too deeply") from None
    except ValueError as error:  # a number of thousands of digits
        raise RecordError("top level", str(error)) from None
    breach = best_match(_validator().iter_errors(data))
    if breach is not None:
        raise RecordError(breach.json_path.replace("$", "record", 1), breach.message)
    promise = data.get("fairness")
    return Record(
        game=data["game"],
        rules_version=data["rules_version"],
        seats=int(data["seats"]),  # JSON Schema takes 4.0 for an integer
        options=data["options"],
        seed=bytes.fromhex(data["seed"]),
        fairness=None if promise is None else _fairness(promise),
        decisions=tuple((int(turn), int(seat), name) for turn, seat, name in data["decisions"]),
        hash=bytes.fromhex(data["hash"]),
        totals=_optional(data["totals"]),
        placement=_optional(data["placement"]),
    )


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; of a key given twice, readers of JSON take different ones."""
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("has a key twice in one object")
    return made


def _optional(numbers: list[int] | None) -> tuple[int, ...] | None:
    return None if numbers is None else tuple(numbers)


def _fairness(data: dict[str, Any]) -> Fairness:
    return Fairness(
        table_id=data["table_id"],
        commitment=bytes.fromhex(data["commitment"]),
        server_seed=bytes.fromhex(data["server_seed"]),
        salt=bytes.fromhex(data["salt"]),
        nonces=tuple((row["seat"], bytes.fromhex(row["nonce"])) for row in data["nonces"]),
        reproducible=data["reproducible"],
    )


@cache
def _validator() -> Draft202012Validator:
    schema = files("tavolata.ext.core").joinpath("match_record.schema.json")
    return Draft202012Validator(json.loads(schema.read_text(encoding="utf-8")))


# -- playing it again ---------------------------------------------------------------------------


def retrace(record: Record, spec_of: Callable[[str], GameSpec]) -> tuple[Match, list[Step]]:
    """The match played again, step by step; nothing of the record's results is looked at.

    ``spec_of`` finds a game by its id. RecordError if its version, the seats or the options
    are not this program's; RecordMismatch for a decision that the rules refuse.
    """
    spec = spec_of(record.game)
    if record.rules_version != spec.rules_version:
        raise RecordError(
            "record.rules_version",
            f"is {record.rules_version!r}; this program plays version {spec.rules_version!r}",
        )
    try:
        game = spec.make(record.seats, record.options)
    except RulesError as error:
        raise RecordError("record.options", str(error)) from None
    match = Match(game, record.seed, commitment=record.commitment)
    return match, follow(match, record.decisions)


def follow(match: Match, decisions: Iterable[tuple[int, int, str]]) -> list[Step]:
    """The steps of a match that has just been dealt, with these decisions played.

    decisions: (turn, seat, name of the action). RecordMismatch for one that the rules refuse.
    """
    chosen: list[tuple[int, ...]] = [()]
    after = [_standing(match)]
    for place, (turn, seat, name) in enumerate(decisions):
        chosen.append(match.legal(seat))
        try:
            match.play(seat, match.game.action_number(name), turn)
        except (RulesError, ValueError) as error:
            raise RecordMismatch(f"decision {place}", f"{name!r} by seat {seat}", error) from None
        after.append(_standing(match))
    return _steps(match, chosen, after)


_Standing = tuple[int, tuple[int, ...], tuple[int, ...], bytes]


def _standing(match: Match) -> _Standing:
    return match.turn, match.totals(), match.running_points(), match.hash


def _steps(match: Match, chosen: list[tuple[int, ...]], after: list[_Standing]) -> list[Step]:
    """A decision stands in the log before all that it caused, so each one begins a step."""
    parts: list[tuple[Decision | None, list[ChanceOutcome | NumberedEvent]]] = [(None, [])]
    for entry in match.entries():
        if isinstance(entry, Decision):
            parts.append((entry, []))
        else:
            parts[-1][1].append(entry)
    return [
        Step(decision, legal, tuple(entries), *standing)
        for (decision, entries), legal, standing in zip(parts, chosen, after, strict=True)
    ]


def check(record: Record, match: Match) -> None:
    """RecordMismatch unless the replayed match comes to what the record says."""
    expected = record_of(match, record.fairness)
    for place in ("options", "totals", "placement", "hash"):
        recorded, replayed = getattr(record, place), getattr(expected, place)
        if recorded != replayed:
            raise RecordMismatch(place, _shown(recorded), _shown(replayed))


def replay(record: Record, spec_of: Callable[[str], GameSpec]) -> Match:
    """The match of the record, at its end, with hash and results checked; errors as those of
    ``retrace`` and ``check``."""
    match, _ = retrace(record, spec_of)
    check(record, match)
    return match


def _shown(value: object) -> object:
    return value.hex() if isinstance(value, bytes) else value
