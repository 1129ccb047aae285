"""Ports that a test holds in its hands: a clock nobody waits for, known chance, logs in memory."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from copy import deepcopy

from tavolata.ai.player import Decision, Limits, Observation
from tavolata.ai.players import PlayerSpec
from tavolata.ai.stop import Stop
from tavolata.service import settings
from tavolata.service.bus import LocalBus
from tavolata.service.ports import Append, Conflict, Entry, StoredTable, StoreError
from tavolata.service.server import Core, make_core


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
    """Logs in memory; what has been written stays when a core is closed."""

    def __init__(self) -> None:
        self.logs: dict[str, list[Entry]] = {}
        self.states: dict[str, int] = {}
        self.creations: dict[str, str] = {}

    async def write(self, batch: Sequence[Append]) -> Sequence[StoreError | None]:
        await asyncio.sleep(0)
        return [self._append(append) for append in batch]

    def _append(self, append: Append) -> StoreError | None:
        log = self.logs.setdefault(append.table_id, [])
        if append.entry.number != len(log) + 1:
            return Conflict(append.table_id)
        log.append(deepcopy(append.entry))
        if append.summary is not None:
            self.states[append.table_id] = append.summary.state
            if append.summary.creation_id:
                self.creations[append.summary.creation_id] = append.table_id
        return None

    async def load(self, table_id: str) -> StoredTable | None:
        log = self.logs.get(table_id)
        return StoredTable(table_id, deepcopy(log)) if log else None

    async def find_creation(self, creation_id: str) -> str | None:
        return self.creations.get(creation_id)

    async def tables_in(self, state: int) -> list[str]:
        return [table_id for table_id, each in self.states.items() if each == state]

    async def remove_expired(self, now_us: int) -> list[str]:
        return []

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


def core_on(store: MemoryStore, clock: DrawnClock, entropy: KnownEntropy) -> Core:
    """A core on these ports."""
    chosen = settings.load(None, ai_floor_s=0.5, ai_jitter_s=1.0)
    return make_core(chosen, store, LocalBus(), clock, entropy, ThinkingHere(), asyncio.Event())
