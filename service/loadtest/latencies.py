"""Latencies in a histogram with a bounded relative error, which other histograms can be added to.

HdrHistogram (hdrhistogram.org): values lie in buckets whose width grows with them, so that any
value from a microsecond to an hour is known to `DIGITS` decimal digits.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Self

from hdrh.histogram import HdrHistogram

LEAST_US, MOST_US = 1, 3_600_000_000  # an hour; what takes longer counts as an hour
DIGITS = 3
ERROR = 10.0**-DIGITS  # of a value, at most
QUANTILES = (0.5, 0.9, 0.95, 0.99, 0.999)


class Latencies:
    """How long things took."""

    __slots__ = ("_histogram", "longest_s", "sum_s")

    def __init__(self, digits: int = DIGITS) -> None:
        self._histogram = HdrHistogram(LEAST_US, MOST_US, digits)
        self.sum_s = 0.0
        self.longest_s = 0.0

    def __len__(self) -> int:
        return int(self._histogram.total_count)

    def record(self, seconds: float) -> None:
        """One more."""
        self._histogram.record_value(min(max(round(seconds * 1e6), LEAST_US), MOST_US))
        self.sum_s += seconds
        self.longest_s = max(self.longest_s, seconds)

    def quantile(self, share: float) -> float:
        """The seconds within which this share of all stayed, with an error of at most `ERROR` of
        them; NaN of nothing."""
        if not len(self):
            return float("nan")
        value = int(self._histogram.get_value_at_percentile(100 * share))
        return min(value / 1e6, self.longest_s)

    @property
    def mean_s(self) -> float:
        """Seconds; NaN of nothing."""
        return self.sum_s / len(self) if len(self) else float("nan")

    def add(self, other: Latencies) -> Self:
        """All of another one as well."""
        self._histogram.add(other._histogram)
        self.sum_s += other.sum_s
        self.longest_s = max(self.longest_s, other.longest_s)
        return self

    def pack(self) -> tuple[bytes, float, float]:
        """For another process: the histogram (HdrHistogram's V2 encoding, base64), sum, longest."""
        return self._histogram.encode(), self.sum_s, self.longest_s

    def add_packed(self, packed: tuple[bytes, float, float]) -> Self:
        """All of one that another process has packed."""
        encoded, sum_s, longest_s = packed
        self._histogram.decode_and_add(encoded)
        self.sum_s += sum_s
        self.longest_s = max(self.longest_s, longest_s)
        return self

    def steps(self) -> Iterator[tuple[float, int]]:
        """Seconds and how many took at most so long, for each bucket that isn't empty."""
        so_far = 0
        for each in self._histogram.get_recorded_iterator():
            so_far += each.count_added_in_this_iter_step
            yield each.value_iterated_to / 1e6, so_far
