"""What the tables of a process share."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol

from tavolata.service.loadtest.follow import Follow
from tavolata.service.loadtest.pacer import Over, Pacer
from tavolata.service.loadtest.plan import Plan
from tavolata.service.loadtest.stream import Stream
from tavolata.service.loadtest.tally import Tally
from tavolata.service.loadtest.watch import Watch
from tavolata.service.loadtest.wire import Failed, Wire


class Cuttable(Protocol):
    """Something that a storm hits."""

    def cut(self) -> None:
        """Lose the connection; it goes on at once."""
        ...


@dataclass
class Hall:
    """The connections, streams and watches of a process. ahead_s: of the server's clock."""

    plan: Plan
    tally: Tally
    wire: Wire
    pacer: Pacer
    ahead_s: float
    streams: list[Stream] = field(default_factory=list)
    _cuttable: set[Cuttable] = field(default_factory=set)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _seeing_out: set[asyncio.Task[None]] = field(default_factory=set)

    def open_streams(self) -> None:
        """Open the streams, if people play by them."""
        if self.plan.transport == "stream":
            self.streams = [Stream(self.wire) for _ in range(self.plan.streams)]
            for stream in self.streams:
                self.begin(stream.run(), stream)

    def begin(
        self, running: Coroutine[Any, Any, None], hit_by_storms: Cuttable
    ) -> asyncio.Task[None]:
        """Something that goes on beside the tables, and is cut off now and then."""
        task = asyncio.create_task(self._kept(running))
        self._tasks.add(task)
        self._cuttable.add(hit_by_storms)

        def ended(_: object) -> None:
            self._tasks.discard(task)
            self._cuttable.discard(hit_by_storms)

        task.add_done_callback(ended)
        return task

    async def _kept(self, running: Coroutine[Any, Any, None]) -> None:
        try:
            await running
        except Failed:
            self.tally.count("watches given up")
        except Over:
            pass

    def follow(self, game: str, table_id: str) -> Follow:
        """What somebody will be told of a table."""
        return Follow(self.tally, game, table_id, self.ahead_s)

    def watch(self, game: str, table_id: str, **options: Any) -> Follow:
        """What somebody is told who watches a table from its first event on; see Watch."""
        follow = self.follow(game, table_id)
        watch = Watch(self.wire, follow, **options)
        follow.task = self.begin(watch.run(), watch)
        return follow

    def see_out(
        self,
        follows: Sequence[Follow],
        last_event: int,
        patience_s: float,
        then: Sequence[Callable[[], None]],
    ) -> None:
        """Have all of them told the rest of a match that has had that event; `then` follows."""
        task = asyncio.create_task(self._seen_out(follows, last_event, patience_s, then))
        self._seeing_out.add(task)
        task.add_done_callback(self._seeing_out.discard)

    async def _seen_out(
        self,
        follows: Sequence[Follow],
        last_event: int,
        patience_s: float,
        then: Sequence[Callable[[], None]],
    ) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(patience_s):
                for follow in follows:
                    await follow.closed.wait()
        for follow in follows:
            follow.ended_at(last_event)
            if not follow.over:
                self.tally.counts["watches not closed in time"] += 1
            if follow.task is not None:
                follow.task.cancel()
        for each in then:
            each()

    async def storms(self, draws: random.Random) -> None:
        """Cut connections, many at once, every so often."""
        while self.plan.storm_s:
            await asyncio.sleep(self.plan.storm_s)
            self.tally.count("storms")
            for each in tuple(self._cuttable):
                if draws.random() < self.plan.storm_share:
                    self.tally.count("cuts")
                    each.cut()

    async def close(self) -> None:
        """End what goes on beside the tables, once everybody has been told the rest."""
        await asyncio.gather(*self._seeing_out)
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
