"""When the next action is due.

In an open loop actions are due at times that no answer changes. An action that can't be sent when
it is due, as every table still waits for its answer, keeps that time, and its latency counts from
there: else a server that stands still would only be asked less (coordinated omission).
"""

from __future__ import annotations

import asyncio
import random
import time
from dataclasses import dataclass, field
from typing import Protocol

from tavolata.service.loadtest.latencies import Latencies


class Over(Exception):
    """Nothing more is due."""


class Pacer(Protocol):
    """Says when the next action is due."""

    async def next(self) -> float:
        """Return when it is due: the time from which its latency counts (time.monotonic). Over."""
        ...

    def unsent(self) -> int:
        """At the end: actions that were due, and given up as nobody could send them."""
        ...


@dataclass(slots=True)
class ClosedLoop:
    """As soon as asked for, or after a time to think: half to one and a half times `think_s`."""

    since: float
    until: float
    think_s: float
    draws: random.Random

    async def next(self) -> float:
        """See Pacer."""
        if self.think_s:
            left = self.until - time.monotonic()
            await asyncio.sleep(max(0.0, min(left, self.think_s * self.draws.uniform(0.5, 1.5))))
        now = time.monotonic()
        if now >= self.until:
            raise Over
        return now

    def unsent(self) -> int:
        """None: nothing is due unless somebody asks."""
        return 0


@dataclass(slots=True)
class OpenLoop:
    """So many actions a second from `begin` to `until`, the first `ramp_s` seconds fewer, at even
    or exponentially distributed distances.

    One that nobody could send for `patience_s` is given up. since: from when those count.
    """

    begin: float
    since: float
    until: float
    ramp_s: float
    rate: float
    even: bool
    patience_s: float
    draws: random.Random
    late: Latencies
    _due: float = field(init=False)
    _unsent: int = 0

    def __post_init__(self) -> None:
        self._due = self.begin
        self._step()

    async def next(self) -> float:
        """See Pacer."""
        self._give_up(time.monotonic() - self.patience_s)
        due = self._due
        if due >= self.until:
            raise Over
        self._step()
        while (wait := due - time.monotonic()) > 0:
            await asyncio.sleep(wait)
            if due <= (now := time.monotonic()) and due >= self.since:
                self.late.record(now - due)
        return due

    def unsent(self) -> int:
        """See Pacer; of those that count."""
        self._give_up(self.until)
        return self._unsent

    def _give_up(self, before: float) -> None:
        while self._due < min(self.until, before):
            self._unsent += self._due >= self.since
            self._step()

    def _step(self) -> None:
        # On the ramp the rate grows with time; never below a tenth, so that it begins at all.
        share = min(1.0, max(0.1, (self._due - self.begin) / self.ramp_s)) if self.ramp_s else 1.0
        gap = 1.0 / (self.rate * share)
        self._due += gap if self.even else self.draws.expovariate(1.0 / gap)
