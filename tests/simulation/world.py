"""Time and order of a simulated world: several event loops, of which one runs one step at a time.

Each server and the clients have a loop of their own. Which of those that could go on does so is
drawn, so every await is a place where another server, a client or a crash may come between. A crash
is a loop that never runs again.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import random
from asyncio import events
from collections import deque
from collections.abc import Callable, Coroutine
from contextvars import Context
from typing import Any

START_US = 1_700_000_000_000_000  # wall time at which worlds begin
STEP_S = 1e-6  # what every step takes, so that time is never quite the same
STEPS_MAX = 300_000


class Stuck(AssertionError):
    """Nothing can happen any more, or too much has, and the clients aren't done."""


class World:
    """The scheduler, and the one source of chance."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.now = 0.0
        self.steps = 0
        self.loops: list[SimLoop] = []
        self.faults: list[str] = []  # what should never happen and did
        self._agenda: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()

    def at(self, when: float, act: Callable[[], None]) -> None:
        """Do something at a time."""
        heapq.heappush(self._agenda, (when, next(self._order), act))

    def after(self, seconds: float, act: Callable[[], None]) -> None:
        """Do something after a time."""
        self.at(self.now + seconds, act)

    def delay(self, most: float) -> float:
        """A delay that is mostly short and at times near the most."""
        return most * self.chance.random() ** 3

    def run(self, main: asyncio.Future[Any], until: float) -> None:
        """Let the world go on until a future is done; Stuck if that takes longer than `until`."""
        while not main.done():
            if not self.step():
                raise Stuck(f"nothing goes on at {self.now:.3f} s")
            if self.now > until or self.steps > STEPS_MAX:
                raise Stuck(f"not done at {self.now:.3f} s, after {self.steps} steps")

    def step(self) -> bool:
        """One step of one loop, or on to the next thing that is due; False if there is nothing."""
        ready = [loop for loop in self.loops if loop.ready and not loop.dead]
        self.steps += 1
        self.now += STEP_S
        if self._agenda and self._agenda[0][0] <= self.now:
            heapq.heappop(self._agenda)[2]()
        elif ready:
            self.chance.choice(ready).run_one()
        elif self._agenda:
            when, _, act = heapq.heappop(self._agenda)
            self.now = max(self.now, when)
            act()
        else:
            return False
        return True


class SimLoop(asyncio.AbstractEventLoop):
    """An event loop that the world runs step by step. It has tasks, futures and timers, and
    neither files nor threads: what is given to another thread is done at once."""

    def __init__(self, world: World, name: str) -> None:
        self.world, self.name = world, name
        self.ready: deque[asyncio.Handle] = deque()
        self.dead = False
        self.tasks: list[asyncio.Task[Any]] = []
        world.loops.append(self)

    def run_one(self) -> None:
        """Run the callback that has waited longest."""
        handle = self.ready.popleft()
        if handle.cancelled():
            return
        events._set_running_loop(self)
        try:
            handle._run()
        finally:
            events._set_running_loop(None)

    def crash(self) -> None:
        """Nothing of this loop happens any more."""
        self.dead = True

    def bury(self) -> None:
        """Let go of what a dead loop's tasks hold; nothing they do reaches anybody."""
        for task in self.tasks:
            task.cancel()
        while self.ready:
            self.run_one()
        self.tasks.clear()

    # -- what asyncio asks of a loop --------------------------------------------------------------

    def time(self) -> float:
        return self.world.now

    def call_soon(  # type: ignore[override]
        self, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.Handle:
        handle = asyncio.Handle(callback, args, self, context)
        self.ready.append(handle)
        return handle

    call_soon_threadsafe = call_soon  # type: ignore[assignment]

    def call_later(  # type: ignore[override]
        self,
        delay: float,
        callback: Callable[..., object],
        *args: Any,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        return self.call_at(self.time() + delay, callback, *args, context=context)

    def call_at(  # type: ignore[override]
        self,
        when: float,
        callback: Callable[..., object],
        *args: Any,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        handle = asyncio.TimerHandle(when, callback, args, self, context)
        self.world.at(when, lambda: self.ready.append(handle))
        return handle

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """A cancelled timer is passed over when its time comes."""

    def create_future(self) -> asyncio.Future[Any]:
        return asyncio.Future(loop=self)

    def create_task(  # type: ignore[override]
        self, coro: Coroutine[Any, Any, Any], *, name: str | None = None, **settings: Any
    ) -> asyncio.Task[Any]:
        task = asyncio.Task(coro, loop=self, name=name, **settings)
        self.tasks.append(task)
        if len(self.tasks) > 512:
            self.tasks = [each for each in self.tasks if not each.done()]
        return task

    def run_in_executor(  # type: ignore[override]
        self, executor: Any, func: Callable[..., Any], *args: Any
    ) -> Any:
        done = self.create_future()
        try:
            done.set_result(func(*args))
        except Exception as error:  # noqa: BLE001 - for whoever awaits it
            done.set_exception(error)
        return done

    def get_debug(self) -> bool:
        return False

    def is_running(self) -> bool:
        return not self.dead

    def is_closed(self) -> bool:
        return False

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if not self.dead:
            self.world.faults.append(f"{self.name}: {context['message']}: {error!r}")
