"""How long decisions took, as counts in logarithmic bins: small enough to keep for every match.

Bin b holds durations from 2**(b/8) up to 2**((b+1)/8) milliseconds, 9 % wide; a quantile read from
the counts is off by less than that.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import floor, log2

BINS_PER_OCTAVE = 8
SHORTEST_MS = 1e-4  # a tenth of a microsecond: below what the clock tells apart


def bin_of(duration_ms: float) -> int:
    """The bin of a duration; anything shorter than SHORTEST_MS falls in that one's bin."""
    return floor(BINS_PER_OCTAVE * log2(max(duration_ms, SHORTEST_MS)))


def lower_edge(number: int) -> float:
    """The shortest duration of a bin, in milliseconds."""
    return float(2.0 ** (number / BINS_PER_OCTAVE))


def quantile(counts: Mapping[int, int], share: float) -> float:
    """The duration in milliseconds that ``share`` of the decisions did not exceed.

    counts: decisions by bin, at least one; share: 0 to 1. Within a bin, durations are taken as
    spread evenly in the logarithm.
    """
    wanted = share * sum(counts.values())
    below = 0
    for number in sorted(counts):
        if below + counts[number] >= wanted:
            inside = max(wanted - below, 0) / counts[number]
            return lower_edge(number) * float(2.0 ** (inside / BINS_PER_OCTAVE))
        below += counts[number]
    raise ValueError("no decisions were counted")
