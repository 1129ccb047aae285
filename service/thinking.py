"""The threads in which AI players think, below the event loop's priority."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol, TypeVar

from tavolata.ai.player import Decision, Limits, Observation
from tavolata.ai.players import PlayerSpec
from tavolata.ai.stop import Stop
from tavolata.service.deadline import ENDS_AT
from tavolata.service.telemetry import SILENCE, Telemetry

NICE = 10
THINK_MS_MAX = 3_600_000.0  # that limits can have
Result = TypeVar("Result")


class ThinkingEnds(Exception):
    """No work is begun any more."""


class Thinking(Protocol):
    """Where AI decisions are made."""

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
        """The player's decision, or what it raises. urgent: it goes before those that aren't, as a
        person is waiting for it."""

    def close(self) -> None:
        """Begin no other decision."""


_Job = tuple[bool, int, Callable[[], None] | None]


class ThinkingThreads:
    """A fixed number of threads; whoever has a person waiting goes first."""

    def __init__(self, count: int, telemetry: Telemetry = SILENCE) -> None:
        self._telemetry = telemetry
        self._jobs: queue.PriorityQueue[_Job] = queue.PriorityQueue()
        self._order = itertools.count()
        self._runs: set[asyncio.Future[Any]] = set()
        self._closed = False
        self._threads = [
            threading.Thread(target=self._work, name=f"think-{number}", daemon=True)
            for number in range(count)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def waiting(self) -> int:
        """Decisions that no thread has begun."""
        return self._jobs.qsize()

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
        """See Thinking. When the caller is cancelled the search is told to stop; it ends by itself
        with the deadline of the call that it is for."""
        loop = asyncio.get_running_loop()
        asked_at = time.perf_counter()
        ends_at = ENDS_AT.get()
        done: asyncio.Future[Decision] = loop.create_future()

        def give(decision: Decision | None, error: BaseException | None) -> None:
            if done.done():
                return
            if error is None and decision is not None:
                done.set_result(decision)
                return
            # Not the error itself: a SystemExit would end the event loop, and a future takes no
            # StopIteration.
            failure = RuntimeError("the player gave no decision")
            failure.__cause__ = error
            done.set_exception(failure)

        def think() -> None:
            left = _until(limits, ends_at)
            if stop.is_set() or left is None:
                return  # nobody waits for it any more
            self._telemetry.waited(time.perf_counter() - asked_at, urgent=urgent)
            try:
                player = spec.make(observation.game)
                decision = player.decide(observation, left, seed=seed, stop=stop)
            except BaseException as error:  # noqa: BLE001 - a player from elsewhere may raise anything
                _tell(loop, give, None, error)
            else:
                _tell(loop, give, decision, None)

        self._jobs.put((not urgent, next(self._order), think))
        try:
            return await done
        except asyncio.CancelledError:
            stop.set()
            raise

    async def run(self, work: Callable[[], Result]) -> Result:
        """What ``work`` gives, or raises; it should be short, as it is begun behind the decisions
        that people wait for and then goes on to its end, whatever becomes of the caller.
        ThinkingEnds if nothing is begun any more."""
        if self._closed:
            raise ThinkingEnds
        loop = asyncio.get_running_loop()
        done: asyncio.Future[Result] = loop.create_future()

        def give(result: Result | None, error: BaseException | None) -> None:
            if done.done():
                return
            if error is None:
                done.set_result(result)  # type: ignore[arg-type]
            else:
                done.set_exception(error)

        def job() -> None:
            if done.done():
                return  # nobody waits for it any more
            try:
                result = work()
            except Exception as error:  # noqa: BLE001 - raised where it is awaited
                _tell(loop, give, None, error)
            else:
                _tell(loop, give, result, None)

        self._jobs.put((True, next(self._order), job))
        self._runs.add(done)
        try:
            return await done
        finally:
            self._runs.remove(done)

    def _work(self) -> None:
        # On Linux a priority belongs to the thread.
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE)
        while True:
            _, _, job = self._jobs.get()
            if job is None:
                return
            job()

    def close(self) -> None:
        """Let the threads end after what they are doing."""
        self._closed = True
        for run in self._runs:
            if not run.done():
                run.set_exception(ThinkingEnds())
        for _ in self._threads:
            self._jobs.put((False, -1 - next(self._order), None))


def _until(limits: Limits, ends_at: float | None) -> Limits | None:
    """The limits, with no more time than is left by now; None if none is."""
    if ends_at is None:
        return limits
    left_ms = 1000 * (ends_at - time.monotonic())
    if left_ms <= 0:
        return None
    think_ms = left_ms if limits.think_ms is None else min(limits.think_ms, left_ms)
    return replace(limits, think_ms=min(think_ms, THINK_MS_MAX))


def _tell(
    loop: asyncio.AbstractEventLoop,
    give: Callable[[Result | None, BaseException | None], None],
    result: Result | None,
    error: BaseException | None,
) -> None:
    # A loop that is closed by now has nobody who waits for the result.
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(give, result, error)
