"""What came of the calls: counted where it truly succeeded, by reason where it didn't."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from tavolata.service.loadtest.latencies import Latencies

Operation = tuple[str, str]  # what was done, in which game
Failure = tuple[str, str, str, str]  # what, in which game, kind, reason
Packed = tuple[bytes, float, float]
REFUSED, ERROR, WRONG = "refused", "error", "wrong"
SLICE_S = 1.0
SLICE_DIGITS = 2  # a second's histogram: to the hundredth
PROBLEMS_MAX = 20
ACTIONS = ("PlayAction", "PlayStream play")


@dataclass(frozen=True, slots=True)
class Slice:
    """A second of one process.

    number: of the second; actions: latencies of those that succeeded; failed: actions that didn't;
    counts: of this second; open: what there is at its end.
    """

    number: int
    actions: Packed
    failed: int
    counts: Mapping[str, int]
    open: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Account:
    """All that a process has counted, of what was due while it counted."""

    latencies: Mapping[Operation, Packed]
    failures: Mapping[Failure, int]
    counts: Mapping[str, int]
    problems: tuple[str, ...]
    late: Packed
    cpu_s: float
    seconds: float


@dataclass(slots=True)
class Tally:
    """The counts of one process. since, until: what is due between them counts (time.monotonic).

    late: how much later than due the process itself got to what it had to send.
    """

    since: float = float("-inf")
    until: float = float("inf")
    latencies: dict[Operation, Latencies] = field(default_factory=dict)
    failures: Counter[Failure] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)
    open: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    late: Latencies = field(default_factory=Latencies)
    _second: Latencies = field(default_factory=lambda: Latencies(SLICE_DIGITS))
    _failed: int = 0
    _before: Counter[str] = field(default_factory=Counter)

    def counts_at(self, due: float) -> bool:
        """Whether what was due then counts."""
        return self.since <= due < self.until

    def done(self, what: str, game: str, due: float) -> None:
        """It has succeeded just now."""
        seconds = time.monotonic() - due
        if what in ACTIONS:
            self._second.record(seconds)
        if self.counts_at(due):
            self.took(what, game, seconds)

    def took(self, what: str, game: str, seconds: float) -> None:
        """Something has taken so long, which counts."""
        found = self.latencies.get((what, game))
        if found is None:
            found = self.latencies[what, game] = Latencies()
        found.record(seconds)

    def failed(self, what: str, game: str, due: float, kind: str, reason: str) -> None:
        """It hasn't."""
        if what in ACTIONS:
            self._failed += 1
        if self.counts_at(due):
            self.failures[what, game, kind, reason] += 1

    def count(self, what: str, number: int = 1) -> None:
        """So many more, if it counts now."""
        if self.counts_at(time.monotonic()):
            self.counts[what] += number

    def problem(self, kind: str, text: str) -> None:
        """Something that a server must never do; it counts whenever it happens."""
        self.counts[kind] += 1
        if len(self.problems) < PROBLEMS_MAX:
            self.problems.append(f"{kind}: {text}")

    def slice(self, number: int) -> Slice:
        """What has come since the slice before."""
        counts = self.counts - self._before
        taken = Slice(number, self._second.pack(), self._failed, dict(counts), dict(self.open))
        self._second, self._failed = Latencies(SLICE_DIGITS), 0
        self._before = Counter(self.counts)
        return taken

    def account(self, cpu_s: float, seconds: float) -> Account:
        """All of it."""
        return Account(
            {key: found.pack() for key, found in self.latencies.items()},
            dict(self.failures),
            dict(self.counts),
            tuple(self.problems),
            self.late.pack(),
            cpu_s,
            seconds,
        )
