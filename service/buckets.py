"""Rates by caller: each has so much a second, and may have saved up some of it."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from tavolata.service.ports import Clock


@dataclass(slots=True)
class _Level:
    amount: float
    at: float


class Buckets:
    """A bucket for every caller, full at first and filled again at a rate; only those that aren't
    full take memory."""

    def __init__(self, clock: Clock, rate: float, capacity: float) -> None:
        """rate: what flows in per second, 0 for no limit at all; capacity: what a bucket holds."""
        self._clock = clock
        self._rate = rate
        self._capacity = capacity
        self._levels: dict[Hashable, _Level] = {}

    def take(self, caller: Hashable, amount: float = 1.0) -> float:
        """Take from a bucket if it holds as much: 0; if not, nothing is taken: seconds until it
        will."""
        if not self._rate:
            return 0.0
        level = self._level(caller)
        if level.amount >= amount:
            level.amount -= amount
            return 0.0
        return (amount - level.amount) / self._rate

    def spend(self, caller: Hashable, amount: float) -> None:
        """Take what was used already, as far as that leaves a debt of one whole bucket at most."""
        if self._rate:
            level = self._level(caller)
            level.amount = max(level.amount - amount, -self._capacity)

    def debt_s(self, caller: Hashable) -> float:
        """Seconds until a bucket isn't empty any more; 0 if it isn't."""
        level = self._levels.get(caller)
        if level is None:
            return 0.0
        return max(0.0, -self._level(caller).amount / self._rate)

    def _level(self, caller: Hashable) -> _Level:
        now = self._clock.monotonic()
        level = self._levels.get(caller)
        if level is None:
            level = self._levels[caller] = _Level(self._capacity, now)
        else:
            level.amount = min(self._capacity, level.amount + (now - level.at) * self._rate)
            level.at = now
        return level

    def forget_full(self) -> None:
        """Forget the buckets that are full by now."""
        for caller in list(self._levels):
            if self._level(caller).amount >= self._capacity:
                del self._levels[caller]

    def __len__(self) -> int:
        return len(self._levels)
