"""A process of a load test: plays its share of the tables and reports every second."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

import uvloop

from tavolata.service.loadtest.hall import Hall
from tavolata.service.loadtest.pacer import ClosedLoop, OpenLoop
from tavolata.service.loadtest.person import CALL
from tavolata.service.loadtest.plan import Plan
from tavolata.service.loadtest.stream import PLAY
from tavolata.service.loadtest.table import live
from tavolata.service.loadtest.tally import ERROR, SLICE_S, Account, Slice, Tally
from tavolata.service.loadtest.wire import Wire

READY_S = 20.0
STOPPING_S = 1.0  # for calls under way once somebody wants it to end
NOT_SENT = "not sent"


@dataclass(frozen=True, slots=True)
class Go:
    """When it begins (time.monotonic, the same for all processes of a machine), and how far the
    server's clock is ahead."""

    begin: float
    ahead_s: float


class Load:
    """A process's share of a load test, in an event loop."""

    def __init__(self, plan: Plan, process: int) -> None:
        self._plan, self._process = plan, process
        self.tally = Tally()
        self.wire = Wire(plan, self.tally, plan.draws("pauses", process))
        self._pacer: ClosedLoop | OpenLoop | None = None
        self._tables: list[asyncio.Task[None]] = []

    async def run(self, go: Go, tell: Callable[[Slice], None]) -> Account:
        """Play from the beginning to the end; tells what came of every second."""
        plan, tally = self._plan, self.tally
        tally.since = go.begin + plan.ramp_s + plan.warmup_s
        tally.until = self.wire.until = tally.since + plan.duration_s
        self._pacer = self._pacer_from(go.begin)
        hall = Hall(plan, tally, self.wire, self._pacer, go.ahead_s)
        await asyncio.sleep(max(0.0, go.begin - time.monotonic()))
        hall.open_streams()
        aside = [
            asyncio.create_task(self._report(go.begin, tell)),
            asyncio.create_task(hall.storms(plan.draws("storms", self._process))),
            asyncio.create_task(self._measure_cpu()),
        ]
        self._tables = [
            asyncio.create_task(self._begin(hall, place, go.begin))
            for place in plan.places(self._process)
        ]
        try:
            # Calls have deadlines, so nothing takes longer unless an event loop stands still.
            await self._end_of_tables()
        finally:
            for task in aside:
                task.cancel()
            await asyncio.gather(*aside, return_exceptions=True)
            await hall.close()
        return self._account(tell, go.begin)

    def stop(self, within_s: float = STOPPING_S) -> None:
        """End early; calls under way have so long."""
        now = time.monotonic()
        for each in (self.tally, self.wire, *([self._pacer] if self._pacer else ())):
            each.until = min(each.until, now)
        asyncio.get_running_loop().call_later(within_s, self._cancel)

    def _cancel(self) -> None:
        for task in self._tables:
            task.cancel()

    async def _begin(self, hall: Hall, place: int, begin: float) -> None:
        due = begin + self._plan.ramp_s * place / self._plan.tables
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        await live(hall, place)

    async def _end_of_tables(self) -> None:
        for found in await asyncio.gather(*self._tables, return_exceptions=True):
            if isinstance(found, Exception):
                raise found

    def _pacer_from(self, begin: float) -> ClosedLoop | OpenLoop:
        plan, tally = self._plan, self.tally
        draws = plan.draws("pace", self._process)
        if plan.rate is None:
            return ClosedLoop(tally.since, tally.until, plan.think_s, draws)
        share = len(plan.places(self._process)) / plan.tables
        even = plan.arrivals == "even"
        return OpenLoop(
            *(begin, tally.since, tally.until, plan.ramp_s, plan.rate * share, even),
            *(plan.timeout_s, draws, tally.late),
        )

    # -- what it tells ----------------------------------------------------------------------------

    async def _report(self, begin: float, tell: Callable[[Slice], None]) -> None:
        number = 0
        while True:
            await asyncio.sleep(max(0.0, begin + (number + 1) * SLICE_S - time.monotonic()))
            tell(self.tally.slice(number))
            number += 1

    async def _measure_cpu(self) -> None:
        await asyncio.sleep(max(0.0, self.tally.since - time.monotonic()))
        self._cpu = (time.process_time(), time.monotonic())
        await asyncio.Event().wait()

    _cpu: tuple[float, float] | None = None

    def _account(self, tell: Callable[[Slice], None], begin: float) -> Account:
        tell(self.tally.slice(int((time.monotonic() - begin) / SLICE_S)))
        unsent = self._pacer.unsent() if self._pacer is not None else 0
        if unsent:
            what = PLAY if self._plan.transport == "stream" else CALL
            self.tally.failures[what, "", ERROR, NOT_SENT] += unsent
        began, at = self._cpu or (time.process_time(), time.monotonic())
        return self.tally.account(time.process_time() - began, max(0.0, time.monotonic() - at))


def work(plan: Plan, process: int, pipe: Connection) -> None:
    """The process: says that it is ready, waits for `Go`, sends slices and at last its account.

    Whatever else comes, or that nobody is there any more, ends it early.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first process decides what Ctrl-C means
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_work(plan, process, pipe))


async def _work(plan: Plan, process: int, pipe: Connection) -> None:
    load = Load(plan, process)
    try:
        await load.wire.ready(READY_S)
    except TimeoutError:
        pipe.send(f"{plan.reach.target} did not answer in {READY_S:g} s")
        return
    pipe.send(os.getpid())
    go = await asyncio.to_thread(_received, pipe)
    if not isinstance(go, Go):
        return
    asyncio.get_running_loop().add_reader(pipe.fileno(), _stop, load, pipe)
    with contextlib.suppress(BrokenPipeError):
        pipe.send(await load.run(go, pipe.send))
    await load.wire.close()


def _received(pipe: Connection) -> Any:
    try:
        return pipe.recv()
    except EOFError:
        return None


def _stop(load: Load, pipe: Connection) -> None:
    asyncio.get_running_loop().remove_reader(pipe.fileno())
    load.stop()
