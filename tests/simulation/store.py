"""One store for all servers of a world, and each server's line to it, which has its troubles."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass, field, replace
from typing import TypeVar

from tavolata.service.ports import (
    FIRST_EPOCH,
    LISTED_LATE,
    NO_EPOCH,
    Append,
    Claim,
    Conflict,
    Entry,
    Fenced,
    StoreAway,
    StoredTable,
    StoreError,
    StoreFull,
    StoreUnavailable,
    Summary,
    Wanted,
)
from tests.simulation.world import SimLoop, World

Value = TypeVar("Value")


@dataclass(slots=True)
class Log:
    """A table in the store: its entries as text, so that no server shares anything with another."""

    summary: Summary
    lines: list[str] = field(default_factory=list)
    chain: bytes = b""
    requests: set[tuple[int, str]] = field(default_factory=set)
    listing: int = 0
    game_id: str = ""

    def entries(self, after: int = 0) -> list[Entry]:
        """The entries from after+1 on."""
        return [_entry(line) for line in self.lines[after:]]


def _line(entry: Entry) -> str:
    values = list(astuple(entry))
    values[9], values[11] = entry.digest.hex(), entry.chain.hex()
    return json.dumps(values)


def _entry(line: str) -> Entry:
    values = json.loads(line)
    values[9], values[11] = bytes.fromhex(values[9]), bytes.fromhex(values[11])
    return Entry(*values)


@dataclass(slots=True)
class Work:
    """Who acts for a table."""

    active: bool
    owner: str
    epoch: int


class SimStore:
    """What is durable, and who acts for what, by the world's time."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.logs: dict[str, Log] = {}
        self.creations: dict[str, str] = {}
        self.work: dict[str, Work] = {}
        self.leases: dict[str, float] = {}  # server id: until when

    # -- logs -------------------------------------------------------------------------------------

    def write(self, batch: Sequence[Append]) -> list[StoreError | None]:
        """As Store.write, at once."""
        failed: set[str] = set()
        outcomes: list[StoreError | None] = []
        for append in batch:
            orphan = append.table_id in failed
            outcomes.append(Conflict(append.table_id) if orphan else self._append(append))
            if outcomes[-1] is not None:
                failed.add(append.table_id)
        return outcomes

    def _append(self, append: Append) -> StoreError | None:
        log, summary, entry = self.logs.get(append.table_id), append.summary, append.entry
        last = (len(log.lines), log.chain) if log else (0, b"")
        request = (entry.scope, entry.request_id)
        if (entry.number - 1, append.previous) != last or (log and request in log.requests):
            return Conflict(append.table_id)
        work = self.work.get(append.table_id)
        if append.epoch != NO_EPOCH and (work is None or work.epoch != append.epoch):
            return Fenced(append.table_id)
        if log is None:
            assert summary is not None, "the first entry makes the table"
            if summary.creation_id in self.creations:
                return Conflict(summary.creation_id)
            self.creations[summary.creation_id] = append.table_id
            log = self.logs[append.table_id] = Log(summary)
            log.listing, log.game_id = summary.listing, summary.game_id
        log.lines.append(_line(entry))
        log.chain = entry.chain
        if entry.request_id:
            log.requests.add(request)
        if summary is not None:
            log.summary = summary
            self._follow(append.table_id, summary)
        return None

    def _follow(self, table_id: str, summary: Summary) -> None:
        if summary.work is None:
            self.work.pop(table_id, None)
        elif table_id in self.work:
            self.work[table_id].active = summary.work
        else:
            epoch = FIRST_EPOCH if summary.claimant else 0
            self.work[table_id] = Work(summary.work, summary.claimant, epoch)

    def load(self, table_id: str, after: int) -> StoredTable | None:
        """As Store.load."""
        log = self.logs.get(table_id)
        return None if log is None else StoredTable(table_id, log.entries(after))

    def tables_in(self, state: int) -> list[str]:
        """As Store.tables_in."""
        return [each for each, log in self.logs.items() if log.summary.state == state]

    def listed(self, wanted: Wanted) -> list[tuple[int, str]]:
        """As Store.listed."""
        found = []
        for table_id, log in self.logs.items():
            place = (log.entries()[0].time_us, table_id)
            fits = log.listing and wanted.game_id in ("", log.game_id)
            late = log.listing == LISTED_LATE or not wanted.states
            fits = fits and (late or log.summary.state in wanted.states)
            if fits and (wanted.before is None or place < wanted.before):
                found.append(place)
        return sorted(found, reverse=True)[: wanted.limit]

    def last_numbers(self, table_ids: Sequence[str]) -> dict[str, int]:
        """As Store.last_numbers."""
        return {each: len(self.logs[each].lines) for each in table_ids if each in self.logs}

    def remove_expired(self, now_us: int) -> list[str]:
        """As Store.remove_expired."""
        gone = [each for each, log in self.logs.items() if 0 < log.summary.expires_us <= now_us]
        for table_id in gone:
            del self.logs[table_id]
            self.creations = {k: v for k, v in self.creations.items() if v != table_id}
            self.work.pop(table_id, None)
        return gone

    # -- work -------------------------------------------------------------------------------------

    def _alive(self, server_id: str) -> bool:
        return self.leases.get(server_id, 0.0) > self._world.now

    def renew(self, server_id: str, lease_s: float) -> bool:
        """As Store.renew."""
        if server_id in self.leases and not self._alive(server_id):
            return False
        self.leases[server_id] = self._world.now + lease_s
        return True

    def claim(
        self, server_id: str, limit: int, among: Sequence[str] | None, without: Sequence[str]
    ) -> list[Claim]:
        """As Store.claim."""
        claims: list[Claim] = []
        for table_id, work in self.work.items():
            wanted = (among is None or table_id in among) and table_id not in without
            free = work.active and work.owner != server_id and not self._alive(work.owner)
            if wanted and free and len(claims) < limit:
                claims.append(Claim(table_id, work.epoch + 1, work.epoch == 0))
                work.owner, work.epoch = server_id, work.epoch + 1
        return claims

    def release(self, server_id: str, table_ids: Sequence[str] | None) -> None:
        """As Store.release."""
        for table_id, work in self.work.items():
            if work.owner == server_id and (table_ids is None or table_id in table_ids):
                work.owner = ""
        if table_ids is None:
            self.leases.pop(server_id, None)


@dataclass(slots=True)
class StoreTroubles:
    """How likely a write is to go wrong, and the longest that anything takes."""

    full: float = 0.0
    lost: float = 0.0  # it fails, whether it was done is unknown, and the server has to go
    away: float = 0.0  # the same, and it can be asked later
    slowest_s: float = 0.02


class StoreLink:
    """A server's Store: the shared one, at a distance."""

    def __init__(
        self, store: SimStore, loop: SimLoop, world: World, troubles: StoreTroubles
    ) -> None:
        self._store, self._loop, self._world = store, loop, world
        self.troubles = troubles

    async def _far(self, act: Callable[[], Value]) -> Value:
        """Do it after a while; hear of it after another while, unless dead by then."""
        answer: asyncio.Future[Value] = self._loop.create_future()

        def tell(value: Value) -> None:
            if not answer.done():
                answer.set_result(value)

        def do() -> None:
            value = act()
            self._world.after(self._delay(), lambda: tell(value))

        self._world.after(self._delay(), do)
        return await answer

    def _delay(self) -> float:
        return self._world.delay(self.troubles.slowest_s)

    @property
    def shared(self) -> bool:
        return True

    async def write(self, batch: Sequence[Append]) -> Sequence[StoreError | None]:
        frozen = [replace(each, entry=_entry(_line(each.entry))) for each in batch]
        drawn = self._world.chance.random()
        troubles = self.troubles
        if drawn < troubles.full:
            await self._far(lambda: None)
            return [StoreFull("simulated")] * len(batch)
        if drawn < troubles.full + troubles.lost + troubles.away:
            done = self._world.chance.random() < 0.5
            await self._far(lambda: self._store.write(frozen) if done else None)
            lost = drawn < troubles.full + troubles.lost
            return [(StoreUnavailable if lost else StoreAway)("simulated")] * len(batch)
        return await self._far(lambda: self._store.write(frozen))

    async def _ask(self, act: Callable[[], Value]) -> Value:
        """A call other than a write, which may fail; whether it was done is unknown then."""
        fails = self._world.chance.random() < self.troubles.away
        value = await self._far(act)
        if fails:
            raise StoreAway("simulated")
        return value

    async def load(self, table_id: str, after: int = 0) -> StoredTable | None:
        return await self._ask(lambda: self._store.load(table_id, after))

    async def last_numbers(self, table_ids: Sequence[str]) -> dict[str, int]:
        return await self._ask(lambda: self._store.last_numbers(table_ids))

    async def find_creation(self, creation_id: str) -> str | None:
        return await self._ask(lambda: self._store.creations.get(creation_id))

    async def tables_in(self, state: int) -> list[str]:
        return await self._ask(lambda: self._store.tables_in(state))

    async def listed(self, wanted: Wanted) -> list[tuple[int, str]]:
        return await self._ask(lambda: self._store.listed(wanted))

    async def remove_expired(self, now_us: int) -> list[str]:
        return await self._ask(lambda: self._store.remove_expired(now_us))

    async def renew(self, server_id: str, lease_s: float) -> bool:
        return await self._ask(lambda: self._store.renew(server_id, lease_s))

    async def claim(
        self,
        server_id: str,
        limit: int,
        *,
        among: Sequence[str] | None = None,
        without: Sequence[str] = (),
    ) -> list[Claim]:
        return await self._ask(lambda: self._store.claim(server_id, limit, among, without))

    async def release(self, server_id: str, table_ids: Sequence[str] | None = None) -> None:
        await self._ask(lambda: self._store.release(server_id, table_ids))

    async def probe(self, probe_id: str, time_us: int) -> None:
        await self._ask(lambda: None)

    async def close(self) -> None:
        await asyncio.sleep(0)
