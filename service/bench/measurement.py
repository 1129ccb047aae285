"""One figure of a benchmark, with what it is compared with."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Measurement:
    """A case and its value; ``ratio`` is value / reference, or None without a reference.

    goal: the least ratio (or, without a reference, value) that is aimed at; None: none is stated.
    """

    case: str
    value: float
    unit: str
    reference: str | None = None
    reference_value: float | None = None
    goal: float | None = None

    @property
    def ratio(self) -> float | None:
        return self.value / self.reference_value if self.reference_value else None

    @property
    def reached(self) -> bool | None:
        """Whether the goal is reached; None where none is stated."""
        if self.goal is None:
            return None
        return (self.value if self.ratio is None else self.ratio) >= self.goal

    def as_row(self) -> dict[str, Any]:
        """The figure for programs: one JSON object a line."""
        return asdict(self) | {"ratio": self.ratio, "reached": self.reached}


def interleaved(repeats: int, *measures: Callable[[], float]) -> list[float]:
    """The median of each measure, taken in turns so that a noisy moment falls on all of them."""
    rows = [[measure() for measure in measures] for _ in range(repeats)]
    return [statistics.median(column) for column in zip(*rows, strict=True)]


Benchmark = Callable[[], Iterator[Measurement]]
