"""Servers of a simulated world: crashed at any await, stopped in good order, started again."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from typing import Any

from tavolata.service import settings
from tavolata.service.core import Core, make_core
from tavolata.service.handlers import TableService
from tavolata.service.ports import StoreError
from tests.simulation.ports import BusLine, SimBus, SimClock, SimEntropy, SimThinking
from tests.simulation.store import SimStore, StoreLink, StoreTroubles
from tests.simulation.world import SimLoop, World

SWEEP_S = 30.0
SETTINGS = settings.load(
    None, ai_floor_s=0.2, ai_jitter_s=0.3, backlog_max=24, open_table_s=3600, over_table_s=86_400
)


class Replica:
    """One server program at a place: there is at most one process of it at a time."""

    def __init__(
        self, world: World, name: str, store: SimStore, bus: SimBus, troubles: StoreTroubles
    ) -> None:
        self.world, self.name = world, name
        self._store, self._bus, self._troubles = store, bus, troubles
        self.clock = SimClock(world)
        self.up = False
        self.crashes = 0
        self.dead: list[SimLoop] = []
        self._calls: dict[asyncio.Task[None], Callable[[], None]] = {}

    # -- its life ---------------------------------------------------------------------------------

    def start(self) -> None:
        """A new process."""
        self.loop = SimLoop(self.world, f"{self.name}.{self.crashes}")  # type: ignore[abstract]
        self._line = BusLine(self._bus, self.loop)
        link = StoreLink(self._store, self.loop, self.world, self._troubles)
        failed = asyncio.Event()
        entropy, thinking = SimEntropy(self.world), SimThinking(self.world)
        self.core: Core = make_core(
            SETTINGS, link, self._line, self.clock, entropy, thinking, failed
        )
        self.handlers = TableService(self.core.lobby, self.core.playing, self.core.hub, entropy)
        self.up = True
        self._calls = {}
        self.loop.create_task(self._run(failed))

    async def _run(self, failed: asyncio.Event) -> None:
        """What the process does besides answering; it ends when its store can't be trusted."""
        loop = asyncio.get_running_loop()
        beside = [loop.create_task(self.core.run()), loop.create_task(self._sweep())]
        await failed.wait()
        for task in beside:
            task.cancel()
        self.crash()

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(SWEEP_S)
            with contextlib.suppress(StoreError):
                await self.core.sweep()

    def crash(self) -> None:
        """Gone between two steps; whoever waits for an answer hears that the connection is."""
        if not self.up:
            return
        self.up = False
        self.crashes += 1
        self.loop.crash()
        self.dead.append(self.loop)
        self._bus.lines.remove(self._line)
        for broken in self._calls.values():
            broken()
        self._calls = {}

    def stop(self) -> None:
        """Stop in good order, as the server does, and be gone."""
        if self.up:
            self.loop.create_task(self._stop())

    async def _stop(self) -> None:
        self.core.hub.end_all()
        await self.core.ai_seats.close()
        await asyncio.sleep(1.0)
        await self.core.close()
        self.crash()

    # -- its calls --------------------------------------------------------------------------------

    def begin(
        self, work: Coroutine[Any, Any, None], broken: Callable[[], None]
    ) -> asyncio.Task[None]:
        """Answer a call; `broken` is called if the process dies before that is done."""
        task = self.loop.create_task(work)
        self._calls[task] = broken
        task.add_done_callback(lambda done: self._calls.pop(done, None))
        return task

    def cancel(self, task: asyncio.Task[None]) -> None:
        """The client has given up."""
        if not task.done() and task in self._calls:
            self.loop.call_soon(task.cancel)
