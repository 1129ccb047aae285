"""Tables in memory: loading them, and keeping them what their logs are.

A table in memory is what its log was when it was last read, and what this server has appended
since. Other servers may have carried the log on: what is shown, and what is refused, is compared
with the log first.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import structlog

from tavolata.service.ports import NO_EPOCH, Bus, Clock, Entry, Store, StoreError
from tavolata.service.refusals import Refused
from tavolata.service.tables import refuse
from tavolata.service.tables.clocks import limits_us
from tavolata.service.tables.following import LastNumbers
from tavolata.service.tables.making import DamagedLog, carry_on, rebuild
from tavolata.service.tables.model import PLAYING, STATE_OPEN, Table
from tavolata.service.tables.requests import draft

log = structlog.get_logger(__name__)
MEMORY_S = 600.0  # an idle table stays in memory that long
# One that is over takes some 200 KiB and is seldom asked for again; many may end in a minute.
OVER_MEMORY_S = 30.0
Seen = Callable[[Table], None]


@dataclass(frozen=True, slots=True)
class Lifetimes:
    """Microseconds that a table lives unless it is started, and once it is over; over_max: tables
    in memory that are over."""

    open_us: int
    over_us: int
    over_max: int = 200


class Work(Protocol):
    """Which matches this server acts for, as tables have to know it."""

    @property
    def claimant(self) -> str:
        """Who acts for a match that begins here; empty: whoever claims it first."""

    def holds(self, table_id: str) -> int | None:
        """The epoch of this server's claim, None without one."""

    async def rouse(self, table_id: str) -> bool:
        """Claim the table if nobody has it; whether it had stood still until now."""

    def begun(self, table_id: str) -> None:
        """A match has begun here: the claim on it is durable."""

    def resumed(self, table_id: str) -> None:
        """A parked match goes on."""

    def lost(self, table_id: str) -> None:
        """Another server has the table."""

    def doubted(self) -> None:
        """This server may have been given a match, and will never know."""


class TablesInMemory:
    """What of all tables is in memory. `on_change` functions are called with a table whenever more
    of it is durable, or when it is given up."""

    def __init__(self, store: Store, bus: Bus, clock: Clock, lifetimes: Lifetimes) -> None:
        self.store = store
        self.clock = clock
        self.on_change: list[Seen] = []
        self.on_let_go: list[Seen] = []  # of a table that is watched, and has to be read again
        self.work: Work | None = None  # set before anything is asked
        self.called: set[str] = set()  # followed although nobody here looks at them
        self._lifetimes = lifetimes
        self._tables: dict[str, Table] = {}
        self._over: dict[str, None] = {}  # those that are over, the longest unasked for first
        self._loading: dict[str, asyncio.Future[Table | None]] = {}
        self._last_numbers = LastNumbers(store)
        self._tasks: set[asyncio.Task[None]] = set()
        bus.subscribe(self._heard)

    def append(self, table: Table, entry: Entry, epoch: int = NO_EPOCH) -> None:
        """Carry out an entry in memory and send it to the store."""
        raise NotImplementedError

    # -- finding ----------------------------------------------------------------------------------

    async def find(self, table_id: str) -> Table:
        """The table; its memory may be ahead of its log. Refused with TABLE_NOT_FOUND."""
        table = self._tables.get(table_id)
        if table is None:
            table = await self._load(table_id)
            if table is None:
                raise refuse.table_not_found(table_id)
        if self.store.shared and 0 < self.expires_us(table) <= self.clock.now_us():
            raise refuse.table_not_found(table_id)  # any server may be removing it
        table.used_at = self.clock.monotonic()
        if table_id in self._over:
            self._over[table_id] = self._over.pop(table_id)
        return table

    def has_in_memory(self, table_id: str) -> bool:
        """Whether the table needn't be loaded."""
        return table_id in self._tables

    async def settled(self, table_id: str) -> Table:
        """The table as it was at some moment since the call, with nothing in it that isn't durable:
        it may be shown until the next await."""
        while True:
            table = await self.find(table_id)
            await table.settle()
            if table.dead or await self._has_fallen_behind(table, len(table.entries)):
                continue
            await table.settle()
            if not table.dead:
                return table

    async def _load(self, table_id: str) -> Table | None:
        loading = self._loading.get(table_id)
        if loading is None:
            # In a context of its own: others than this call may wait for it.
            loading = asyncio.get_running_loop().create_task(
                self._read(table_id), context=contextvars.Context()
            )
            self._loading[table_id] = loading
            loading.add_done_callback(lambda _: self._loading.pop(table_id, None))
        try:
            return await asyncio.shield(loading)
        except StoreError as error:
            raise refuse.store_unavailable() from error
        except DamagedLog as error:
            raise self._damaged(table_id, error) from error

    def _damaged(self, table_id: str, error: DamagedLog) -> Refused:
        log.error("table.damaged", table_id=table_id, error=str(error))
        return refuse.damaged(table_id)

    async def _read(self, table_id: str) -> Table | None:
        stored = await self.store.load(table_id)
        if stored is None:
            return None
        table = rebuild(table_id, stored.entries)
        table.durable_entries = len(table.entries)
        table.noted_events = table.durable_events
        clocked = table.match is not None and limits_us(table) != (None, None)
        clocked = clocked and table.state == PLAYING
        stood_still = clocked and self.work is not None and await self.work.rouse(table_id)
        self._tables[table_id] = table
        if stood_still:
            self.append(table, draft("awakened"))
        else:
            self._publish(table)
        return table

    # -- following what other servers append ------------------------------------------------------

    async def _has_fallen_behind(self, table: Table, count: int) -> bool:
        """Compare a table with its log and carry it on if there is more; whether there is more by
        now than `count` entries."""
        if not self.store.shared:
            return False
        try:
            last = await self._last_numbers.of(table.table_id)
            if last is None:
                self.remove([table.table_id])
                return True
            if last <= len(table.entries):
                return table.dead or len(table.entries) > count
            await self._catch_up(table)
        except StoreError as error:
            raise refuse.store_unavailable() from error
        except DamagedLog as error:
            raise self._damaged(table.table_id, error) from error
        return True

    async def _catch_up(self, table: Table) -> None:
        """Carry a table on with what others have appended, unless this server has in between."""
        await table.settle()
        count = len(table.entries)
        stored = None if table.dead else await self.store.load(table.table_id, count)
        if table.dead or stored is None or len(table.entries) != count or not stored.entries:
            return
        try:
            for entry in stored.entries:
                carry_on(table, entry)
        except Exception:
            self._drop(table)
            raise
        table.durable_entries = len(table.entries)
        self._publish(table)

    def _heard(self, table_id: str, entry_number: int) -> None:
        """Carry a table on of which there is more, if anybody here waits for that; otherwise it is
        carried on when it is needed."""
        table = self._tables.get(table_id)
        if table is not None and entry_number > len(table.entries) and self._is_followed(table):
            self._soon(table)

    def _is_followed(self, table: Table) -> bool:
        held = self.work is not None and self.work.holds(table.table_id) is not None
        return bool(table.watchers) or held or table.table_id in self.called

    def _soon(self, table: Table) -> None:
        task = asyncio.get_running_loop().create_task(
            self._caught_up(table), context=contextvars.Context()
        )
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _caught_up(self, table: Table) -> None:
        try:
            await self._catch_up(table)
        except StoreError:
            return  # the next look finds it still behind
        except Exception:
            log.exception("table.not_carried_on", table_id=table.table_id)

    async def look(self) -> None:
        """Compare all tables that anybody here waits for with their logs: what no hint tells."""
        if not self.store.shared:
            return
        followed = [table for table in self._tables.values() if self._is_followed(table)]
        if not followed:
            return
        last = await self.store.last_numbers([table.table_id for table in followed])
        for table in followed:
            number = last.get(table.table_id)
            if number is None:
                self.remove([table.table_id])
            elif number > len(table.entries):
                self._soon(table)

    def forget_idle(self) -> list[str]:
        """Drop from memory what nobody has asked for lately; it is loaded again when needed."""
        now = self.clock.monotonic()
        forgotten = []
        for table in list(self._tables.values()):
            kept_s = OVER_MEMORY_S if table.over else MEMORY_S
            idle = table.used_at < now - kept_s and not table.watchers and table.in_flight is None
            if idle and table.state != PLAYING:
                self._forget(table)
                forgotten.append(table.table_id)
        return forgotten

    def remove(self, table_ids: list[str]) -> None:
        """Forget tables that are gone from the store, and end their watches."""
        for table_id in table_ids:
            table = self._tables.get(table_id)
            if table is not None:
                self._drop(table)
                self._wake(table)

    def _forget(self, table: Table) -> None:
        if self._tables.get(table.table_id) is table:
            del self._tables[table.table_id]
            self._over.pop(table.table_id, None)

    def _keep_few_over(self, table: Table) -> None:
        """Let go of those that have been over longest, if there is one more."""
        if not table.over or self._tables.get(table.table_id) is not table:
            return
        self._over.setdefault(table.table_id)
        for table_id in list(self._over)[: -self._lifetimes.over_max]:
            old = self._tables[table_id]
            if old.in_flight is not None:
                continue
            self._forget(old)
            if old.watchers:
                # Who watches it holds it, too, and may not read for long.
                old.dead = True
                for let_go in self.on_let_go:
                    let_go(old)
                self._wake(old)

    def states(self) -> Iterator[int]:
        """The state of every table in memory."""
        return (table.state for table in self._tables.values())

    # -- telling ----------------------------------------------------------------------------------

    def epoch(self, table_id: str) -> int | None:
        """The epoch under which this server acts for a table, None if it doesn't."""
        return None if self.work is None else self.work.holds(table_id)

    def reconsider(self, table_id: str) -> None:
        """Let everybody who follows changes look at a table in memory again."""
        table = self._tables.get(table_id)
        if table is not None:
            table.considered_version = -1
            table.has_ai = True
            self._publish(table)

    def _drop(self, table: Table) -> None:
        table.dead = True
        self._forget(table)

    def _publish(self, table: Table) -> None:
        self._wake(table)
        for seen in self.on_change:
            seen(table)
        self._keep_few_over(table)

    def _wake(self, table: Table) -> None:
        if table.watchers:
            # Whatever else becomes durable in this turn of the loop comes at once with it.
            asyncio.get_running_loop().call_soon(table.note_burst)
        else:
            table.note_burst()
        for event in list(table.watchers):
            event.set()

    def expires_us(self, table: Table) -> int:
        """When the table will be removed as things stand; 0: not."""
        if table.state == STATE_OPEN:
            return table.created_us + self._lifetimes.open_us
        return table.ended_us + self._lifetimes.over_us if table.over else 0
