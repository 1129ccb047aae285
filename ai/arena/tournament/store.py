"""The outcomes of a tournament in one SQLite file, from the first match to the last.

A commit is a checkpoint: it holds whole matches, and what is committed outlives the process.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import apsw

from tavolata.ai.arena.duplicate import SeatResult
from tavolata.ai.arena.tournament.model import Fault, FaultKind, MatchOutcome, MatchPlan

VERSION = 2
APPLICATION_ID = 0x74617674  # "tavt": tells these files from other SQLite files
HASH_DOMAIN = b"tavolata.tournament.v1\x00"

_SCHEMA = """
CREATE TABLE facts (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID, STRICT;
CREATE TABLE outcomes (
    block    INTEGER NOT NULL,
    contest  INTEGER NOT NULL,
    round    INTEGER NOT NULL,
    group_   INTEGER NOT NULL,
    deal     INTEGER NOT NULL,
    rotation INTEGER NOT NULL,
    labels   TEXT NOT NULL, -- JSON: a label a seat
    hash     BLOB NOT NULL,
    seats    TEXT NOT NULL, -- JSON: a list a seat, see _seat_row
    faults   TEXT NOT NULL, -- JSON: a list a fault
    record   BLOB NOT NULL,
    UNIQUE (block, contest, round, group_, deal, rotation)
) STRICT;
"""
_PLAN = "block, contest, round, group_, deal, rotation"
_COLUMNS = f"{_PLAN}, labels, hash, seats, faults"


class StoreError(RuntimeError):
    """The file is no results of a tournament, or can't be read or written."""


class Store:
    """An open results file."""

    def __init__(self, path: Path, *, readonly: bool = False) -> None:
        """Open a file, or make an empty one unless ``readonly``. StoreError if it is another's."""
        self.path = path
        create = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
        try:
            self._db = apsw.Connection(
                str(path), flags=apsw.SQLITE_OPEN_READONLY if readonly else create
            )
            self._db.set_busy_timeout(10_000)
            self._prepare(readonly=readonly)
        except apsw.Error as error:
            raise StoreError(f"{path} can't be opened: {error}") from None

    def _prepare(self, *, readonly: bool) -> None:
        try:
            version = self._db.pragma("user_version")
            application = self._db.pragma("application_id")
            empty = self._db.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone() is None
        except apsw.NotADBError:
            raise StoreError(f"{self.path} is no SQLite file") from None
        if not readonly:
            # A kill of the process loses no commit; a loss of power may lose the last, no more.
            self._db.pragma("journal_mode", "wal")
            self._db.pragma("synchronous", "normal")
        if version == 0 and empty and not readonly:
            with self._db:
                self._db.execute(_SCHEMA)
                self._db.pragma("application_id", APPLICATION_ID)
                self._db.pragma("user_version", VERSION)
        elif application != APPLICATION_ID:
            raise StoreError(f"{self.path} holds no results of a tournament")
        elif version != VERSION:
            raise StoreError(
                f"{self.path} has schema version {version}; this program reads version {VERSION}"
            )

    def close(self) -> None:
        self._db.close()

    # -- facts about the tournament ---------------------------------------------------------------

    def facts(self) -> dict[str, str]:
        """What has been put down about the tournament as a whole."""
        return dict(self._db.execute("SELECT name, value FROM facts ORDER BY name"))

    def put(self, facts: Mapping[str, str]) -> None:
        """Put facts down; those of the same names are replaced."""
        with self._db:
            self._db.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?)", facts.items())

    # -- outcomes ---------------------------------------------------------------------------------

    def append(self, outcomes: Iterable[MatchOutcome]) -> None:
        """Keep outcomes, all or none. StoreError for a match that is kept already, a full disk."""
        places = ", ".join("?" * 11)
        try:
            with self._db:
                self._db.executemany(
                    f"INSERT INTO outcomes ({_COLUMNS}, record) VALUES ({places})",  # noqa: S608
                    map(_row, outcomes),
                )
        except apsw.Error as error:
            raise StoreError(f"{self.path} can't be written: {error}") from None

    def count(self) -> int:
        """Matches kept."""
        (count,) = next(self._db.execute("SELECT count(*) FROM outcomes"))
        return int(count)

    def outcomes(self, *, records: bool = True) -> Iterator[MatchOutcome]:
        """Everything kept, in canonical order; ``records`` False leaves them empty."""
        return self._select("", (), records=records)

    def of_block(self, block: int) -> list[MatchOutcome]:
        """The outcomes of a block in canonical order, without their records."""
        return list(self._select("WHERE block = ?", (block,), records=False))

    def find(self, match_id: str) -> MatchOutcome | None:
        """The match of this id (see MatchPlan.id); None if there is none."""
        parts = match_id.split(".")
        if len(parts) != 5 or not all(part.isascii() and part.isdigit() for part in parts):
            return None
        where = "WHERE contest = ? AND round = ? AND group_ = ? AND deal = ? AND rotation = ?"
        return next(self._select(where, tuple(map(int, parts)), records=True), None)

    def _select(
        self, where: str, values: tuple[int, ...], *, records: bool
    ) -> Iterator[MatchOutcome]:
        record = "record" if records else "x''"
        query = f"SELECT {_COLUMNS}, {record} FROM outcomes {where} ORDER BY {_PLAN}"  # noqa: S608
        return map(_outcome, self._db.execute(query, values))

    def result_hash(self) -> str:
        """The hash of the tournament so far, hexadecimal: over every match in canonical order, who
        sat where and the hash of its log. The same wherever, whenever and by however many it was
        played.
        """
        digest = hashlib.sha256(HASH_DOMAIN)
        query = f"SELECT {_PLAN}, labels, hash FROM outcomes ORDER BY {_PLAN}"  # noqa: S608
        for *numbers, labels, match_hash in self._db.execute(query):
            line = json.dumps([*numbers, json.loads(labels), match_hash.hex()])
            digest.update(line.encode() + b"\n")
        return digest.hexdigest()


# -- rows ---------------------------------------------------------------------------------------


def _row(outcome: MatchOutcome) -> tuple[object, ...]:
    plan = outcome.plan
    return (
        plan.block, plan.contest, plan.round, plan.group, plan.deal, plan.rotation,
        json.dumps(plan.labels),
        outcome.hash,
        json.dumps([_seat_row(seat) for seat in outcome.seats]),
        json.dumps([[f.kind, f.seat, f.decision, f.detail] for f in outcome.faults]),
        outcome.record,
    )  # fmt: skip


def _seat_row(seat: SeatResult) -> list[object]:
    return [
        seat.total, seat.place, seat.won, seat.utility,
        seat.decisions, seat.iterations, seat.think_ms, seat.think_bins,
    ]  # fmt: skip


def _outcome(row: tuple[Any, ...]) -> MatchOutcome:
    block, contest, round_, group, deal, rotation, names, match_hash, seats, faults, record = row
    labels = tuple(json.loads(names))
    return MatchOutcome(
        plan=MatchPlan(block, contest, round_, group, deal, rotation, labels),
        seats=tuple(_seat(labels[seat], seat, row) for seat, row in enumerate(json.loads(seats))),
        hash=match_hash,
        record=record,
        faults=tuple(
            Fault(FaultKind(kind), labels[seat], seat, decision, detail)
            for kind, seat, decision, detail in json.loads(faults)
        ),
    )


def _seat(label: str, seat: int, row: list[Any]) -> SeatResult:
    row[-1] = tuple((bin_, count) for bin_, count in row[-1])
    return SeatResult(label, seat, *row)
