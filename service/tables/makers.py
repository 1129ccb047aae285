"""What one caller may have of this server: tables made, tables open, time of AI players.

A caller is an identity or, without one, an address. Each server counts for itself what was made
through it; after a restart it knows again what belongs to identities, as that is in the logs.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from tavolata.service.buckets import Buckets
from tavolata.service.ports import Clock
from tavolata.service.refusals import Refused
from tavolata.service.tables import refuse
from tavolata.service.tables.model import AI, OPEN, Table
from tavolata.service.tables.requests import Person

Key = bytes | str
OPEN_RETRY_S = 30.0  # a table may be over by then


@dataclass(frozen=True, slots=True)
class Allowance:
    """What one caller may have; 0: as much as there is. tables_per_min: made; open_tables: made and
    not over; ai_s_per_min: seconds of search for the seats of tables that the caller made, and for
    analyses that the caller asked for."""

    tables_per_min: int = 0
    open_tables: int = 0
    ai_s_per_min: float = 0.0


class Makers:
    """Who made which tables, and what that leaves them."""

    def __init__(self, clock: Clock, allowance: Allowance) -> None:
        self._allowance = allowance
        per_min, ai_s = allowance.tables_per_min, allowance.ai_s_per_min
        self._made = Buckets(clock, per_min / 60, per_min)
        self._ai = Buckets(clock, ai_s / 60, ai_s)
        self._makers: dict[str, Key] = {}
        self._open: Counter[Key] = Counter()

    def admit(self, person: Person, table_id: str) -> None:
        """Take a table that is about to be made into account. Refused with LIMIT_EXCEEDED."""
        key, allowed = person.key, self._allowance
        if not key:
            return
        if allowed.open_tables and self._open[key] >= allowed.open_tables:
            raise refuse.limit_exceeded(
                "open tables of one caller", allowed.open_tables, OPEN_RETRY_S
            )
        if wait_s := self._made.take(key):
            limit = "tables made by one caller in a minute"
            raise refuse.limit_exceeded(limit, allowed.tables_per_min, max(wait_s, 0.1))
        self._hold(table_id, key)

    def _hold(self, table_id: str, key: Key) -> None:
        self._makers[table_id] = key
        self._open[key] += 1

    def seen(self, table: Table) -> None:
        """Heed what has become of a table, or that it was loaded."""
        if table.over:
            self.gone([table.table_id])
        elif table.table_id not in self._makers:
            first = next(iter(table.tokens.values()), None)
            if first is not None and first.subject:
                self._hold(table.table_id, first.subject)

    def gone(self, table_ids: list[str]) -> None:
        """Forget tables that are over, removed, or weren't made."""
        for table_id in table_ids:
            key = self._makers.pop(table_id, None)
            if key is not None:
                self._open[key] -= 1
                if not self._open[key]:
                    del self._open[key]

    def next_to_check(self, count: int) -> list[str]:
        """Some of the tables that aren't over as far as is known, in turns."""
        chosen = list(self._makers)[:count]
        for table_id in chosen:
            self._makers[table_id] = self._makers.pop(table_id)
        return chosen

    # -- AI players -------------------------------------------------------------------------------

    def spend_by(self, caller: Key, seconds: float) -> None:
        """A search has taken that long that a caller asked for."""
        if caller:
            self._ai.spend(caller, seconds)

    def debt_by(self, caller: Key) -> float:
        """Seconds until a caller has time of AI players again; 0 if there is some left."""
        return self._ai.debt_s(caller)

    def refuse_spent(self, caller: Key) -> None:
        """Refused with LIMIT_EXCEEDED if a caller has used up the time of AI players."""
        if debt_s := self.debt_by(caller):
            raise self._spent("seconds of search in a minute for one caller", debt_s)

    def _spent(self, limit: str, debt_s: float) -> Refused:
        return refuse.limit_exceeded(limit, round(self._allowance.ai_s_per_min), max(debt_s, 0.1))

    def spend(self, table: Table, seconds: float) -> None:
        """An AI player has thought that long at a table."""
        key = self._makers.get(table.table_id)
        if key is not None:
            self._ai.spend(key, seconds)

    def is_spent(self, table: Table) -> bool:
        """Whether the caller who made a table has used up the time of AI players: then others come
        first."""
        return self._debt_s(table) > 0

    def check_start(self, table: Table) -> None:
        """Refused with LIMIT_EXCEEDED if a match would need AI players whose time is used up."""
        needs_ai = any(seat.kind in (AI, OPEN) for seat in table.seats)
        if needs_ai and (debt_s := self._debt_s(table)):
            raise self._spent("seconds of search in a minute for one caller's tables", debt_s)

    def _debt_s(self, table: Table) -> float:
        key = self._makers.get(table.table_id)
        return 0.0 if key is None else self._ai.debt_s(key)

    def sweep(self) -> None:
        """Forget callers who have used up nothing."""
        self._made.forget_full()
        self._ai.forget_full()
