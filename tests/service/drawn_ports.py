"""Ports that a test holds in its hands: a clock nobody waits for, known chance, logs in memory."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from copy import copy

from tavolata.ai.player import Decision, Limits, Observation
from tavolata.ai.players import PlayerSpec
from tavolata.ai.stop import Stop
from tavolata.service import settings
from tavolata.service.bus import LocalBus
from tavolata.service.core import Core, make_core
from tavolata.service.ports import (
    FIRST_EPOCH,
    NO_EPOCH,
    Append,
    Bus,
    Claim,
    Conflict,
    Entry,
    Fenced,
    StoredTable,
    StoreError,
    Summary,
    Wanted,
)


class DrawnClock:
    """A clock that nobody waits for: sleeping moves it on."""

    def __init__(self) -> None:
        self.us = 1_700_000_000_000_000

    def now_us(self) -> int:
        return self.us

    def monotonic(self) -> float:
        return self.us / 1e6

    async def sleep(self, seconds: float) -> None:
        self.us += round(seconds * 1e6)
        await asyncio.sleep(0)


class KnownEntropy:
    """Chance from a number."""

    def __init__(self, seed: int) -> None:
        self.seed, self.count = seed, 0

    def bytes(self, count: int) -> bytes:
        self.count += 1
        text = f"{self.seed} {self.count}".encode()
        return hashlib.shake_256(text).digest(count)

    def name(self) -> str:
        return self.bytes(11).hex()

    def fraction(self) -> float:
        return int.from_bytes(self.bytes(6), "big") / (1 << 48)


class MemoryStore:
    """Logs in memory; what has been written stays when a core is closed. Leases never last: whoever
    asks gets what another has."""

    def __init__(self, *, shared: bool = False) -> None:
        self.shared = shared
        self.logs: dict[str, list[Entry]] = {}
        self.states: dict[str, int] = {}
        self.creations: dict[str, str] = {}
        self.work: dict[str, tuple[bool, str, int]] = {}  # active, owner, epoch

    async def write(self, batch: Sequence[Append]) -> Sequence[StoreError | None]:
        await asyncio.sleep(0)
        return [self._append(append) for append in batch]

    def _append(self, append: Append) -> StoreError | None:
        log, entry = self.logs.get(append.table_id, []), append.entry
        if (entry.number - 1, append.previous) != (len(log), log[-1].chain if log else b""):
            return Conflict(append.table_id)
        if append.epoch not in (NO_EPOCH, self.work.get(append.table_id, (False, "", 0))[2]):
            return Fenced(append.table_id)
        self.logs.setdefault(append.table_id, log).append(copy(entry))
        if append.summary is not None:
            self._summarize(append.table_id, append.summary)
        return None

    def _summarize(self, table_id: str, summary: Summary) -> None:
        self.states[table_id] = summary.state
        if summary.creation_id:
            self.creations[summary.creation_id] = table_id
        if summary.work is None:
            self.work.pop(table_id, None)
        else:
            first = FIRST_EPOCH if summary.claimant else 0
            _, owner, epoch = self.work.get(table_id, (True, summary.claimant, first))
            self.work[table_id] = (summary.work, owner, epoch)

    async def load(self, table_id: str, after: int = 0) -> StoredTable | None:
        log = self.logs.get(table_id)
        return StoredTable(table_id, [copy(entry) for entry in log[after:]]) if log else None

    async def last_numbers(self, table_ids: Sequence[str]) -> dict[str, int]:
        return {each: len(self.logs[each]) for each in table_ids if each in self.logs}

    async def find_creation(self, creation_id: str) -> str | None:
        return self.creations.get(creation_id)

    async def tables_in(self, state: int) -> list[str]:
        return [table_id for table_id, each in self.states.items() if each == state]

    async def listed(self, wanted: Wanted) -> list[tuple[int, str]]:
        return []

    async def remove_expired(self, now_us: int) -> list[str]:
        return []

    async def renew(self, server_id: str, lease_s: float) -> bool:
        return True

    async def claim(
        self,
        server_id: str,
        limit: int,
        *,
        among: Sequence[str] | None = None,
        without: Sequence[str] = (),
    ) -> list[Claim]:
        claims: list[Claim] = []
        for table_id, (active, owner, epoch) in list(self.work.items()):
            wanted = (among is None or table_id in among) and table_id not in without
            if active and owner != server_id and wanted and len(claims) < limit:
                self.work[table_id] = (active, server_id, epoch + 1)
                claims.append(Claim(table_id, epoch + 1, epoch == 0))
        return claims

    async def probe(self, probe_id: str, time_us: int) -> None:
        pass

    async def release(self, server_id: str, table_ids: Sequence[str] | None = None) -> None:
        for table_id, (active, owner, epoch) in list(self.work.items()):
            if owner == server_id and (table_ids is None or table_id in table_ids):
                self.work[table_id] = (active, "", epoch)

    async def close(self) -> None:
        await asyncio.sleep(0)


class ThinkingHere:
    """Players that think in the event loop."""

    async def decide(
        self,
        spec: PlayerSpec,
        observation: Observation,
        limits: Limits,
        *,
        seed: int,
        stop: Stop,
        urgent: bool,
    ) -> Decision:
        await asyncio.sleep(0)
        return spec.make(observation.game).decide(observation, limits, seed=seed, stop=stop)

    def close(self) -> None:
        """Nothing to let go of."""


def core_on(
    store: MemoryStore,
    clock: DrawnClock,
    entropy: KnownEntropy,
    bus: Bus | None = None,
    **flags: object,
) -> Core:
    """A core on these ports, with these settings."""
    chosen = settings.load(None, **{"ai_floor_s": 0.5, "ai_jitter_s": 1.0} | flags)
    return make_core(
        chosen, store, bus or LocalBus(), clock, entropy, ThinkingHere(), asyncio.Event()
    )
