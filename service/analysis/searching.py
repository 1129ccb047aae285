"""Running analyses: in pieces, behind people's games, and only so many at a time."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing, contextmanager
from typing import TypeVar

from tavolata.ai.stop import Stop
from tavolata.service.ports import Clock
from tavolata.service.tables import refuse
from tavolata.service.tables.makers import Key, Makers
from tavolata.service.thinking import ThinkingEnds, ThinkingThreads

Told = TypeVar("Told")
RETRY_S = 2.0
_END: object = object()


class Searching:
    """All analyses of a server. most: at a time; most_of_caller: of one caller."""

    def __init__(
        self,
        thinking: ThinkingThreads,
        makers: Makers,
        clock: Clock,
        *,
        most: int,
        most_of_caller: int,
    ) -> None:
        self._thinking = thinking
        self._makers = makers
        self._clock = clock
        self._most, self._most_of_caller = most, most_of_caller
        self._callers: Counter[Key] = Counter()
        self._stops: set[Stop] = set()
        self._closed = False

    @property
    def running(self) -> int:
        """Analyses under way."""
        return len(self._stops)

    @contextmanager
    def place(self, caller: Key) -> Iterator[Stop]:
        """The right to run an analysis for a caller, and what ends it. Refused with LIMIT_EXCEEDED
        or SHUTTING_DOWN."""
        if self._closed:
            raise refuse.shutting_down()
        if len(self._stops) >= self._most:
            raise refuse.limit_exceeded("analyses at a time", self._most, RETRY_S)
        if caller and self._callers[caller] >= self._most_of_caller:
            limit = "analyses of one caller at a time"
            raise refuse.limit_exceeded(limit, self._most_of_caller, RETRY_S)
        self._makers.refuse_spent(caller)
        stop = Stop()
        self._stops.add(stop)
        self._callers[caller] += 1
        try:
            yield stop
        finally:
            stop.set()
            self._stops.remove(stop)
            self._callers[caller] -= 1
            if not self._callers[caller]:
                del self._callers[caller]

    async def told(
        self, work: Iterator[Told | None], caller: Key, go_on: Callable[[], bool], stop: Stop
    ) -> AsyncGenerator[Told, None]:
        """What a search tells while it runs, in pieces, for a caller who pays for it. go_on: asked
        after each piece; if not, the search is told to stop. Refused with SHUTTING_DOWN."""
        while True:
            try:
                told, spent_s = await self._thinking.run(lambda: _piece(work))
            except ThinkingEnds:
                raise refuse.shutting_down() from None
            self._makers.spend_by(caller, spent_s)
            if self._closed:
                raise refuse.shutting_down()
            if told is _END:
                return
            if told is not None:
                yield told  # type: ignore[misc]
            if not go_on():
                stop.set()

    async def result(self, work: Iterator[Told | None], caller: Key, stop: Stop) -> Told:
        """What a search comes to, for a caller whose turn it is: one who has used up the time of AI
        players waits until there is some again."""
        while (debt_s := self._makers.debt_by(caller)) > 0 and not self._closed:
            await self._clock.sleep(min(debt_s, 1.0))
        last: list[Told] = []
        async with aclosing(self.told(work, caller, lambda: True, stop)) as told:
            async for each in told:
                last[:] = [each]
        return last[0]

    def close(self) -> None:
        """End every analysis, and begin no other; nor does anybody else in these threads."""
        self._closed = True
        for stop in self._stops:
            stop.set()
        self._thinking.close()


def _piece(work: Iterator[Told | None]) -> tuple[Told | object | None, float]:
    """The next piece of a search, and the seconds it took."""
    started = time.perf_counter()
    told = next(work, _END)
    return told, time.perf_counter() - started
