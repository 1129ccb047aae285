"""What duplicate matches say about the players: means and paired intervals over deals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import atan, cos, pi, sin, sqrt
from statistics import fmean, stdev

from tavolata.ai.arena.duplicate import MatchResult, SeatResult

# The 97.5 % points of Student's t for 1, 2, ... degrees of freedom (standard tables); beyond the
# table the expansion below is right to 1e-4.
_STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean over deals with the half width of its 95 % interval (infinite for one deal)."""

    mean: float
    half_width: float

    @property
    def excludes_zero(self) -> bool:
        return abs(self.mean) > self.half_width


@dataclass(frozen=True, slots=True)
class Standing:
    """One player over all deals."""

    label: str
    matches: int  # in which it had a seat or more
    seats: int  # of a match
    win_share: Interval  # per seat held; fair_share is par
    fair_share: float
    place: Interval
    total: Interval
    utility: Interval
    think_ms: float  # per decision
    iterations: float  # per decision


@dataclass(frozen=True, slots=True)
class Comparison:
    """One player minus another, paired by deal."""

    label: str
    other: str
    win_share: Interval
    utility: Interval
    total: Interval


def student(degrees: int) -> float:
    """The 97.5 % point of Student's t."""
    if degrees <= len(_STUDENT):
        return _STUDENT[degrees - 1]
    z = 1.959964
    return (
        z
        + (z**3 + z) / (4 * degrees)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * degrees**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * degrees**3)
    )


def two_sided(t: float, degrees: int) -> float:
    """The chance that Student's t is at least so far from 0, exactly (Abramowitz and Stegun
    26.7.3, 26.7.4)."""
    angle = atan(abs(t) / sqrt(degrees))
    cosine = cos(angle)
    term = total = 1.0 if degrees % 2 == 0 else cosine
    for k in range(2 if degrees % 2 == 0 else 3, degrees, 2):
        term *= (k - 1) / k * cosine**2
        total += term
    if degrees % 2 == 0:
        return max(0.0, 1 - sin(angle) * total)
    inside = angle + (sin(angle) * total if degrees > 1 else 0.0)
    return max(0.0, 1 - 2 * inside / pi)


def interval(values: Sequence[float]) -> Interval:
    """Mean and half width of the 95 % interval of independent values."""
    if len(values) < 2:
        return Interval(values[0], float("inf"))
    return Interval(fmean(values), student(len(values) - 1) * stdev(values) / sqrt(len(values)))


def standings(deals: Iterable[list[MatchResult]]) -> tuple[list[Standing], list[Comparison]]:
    """Players by mean utility, best first, and every pair of them compared."""
    results = list(deals)
    rows = [[seat for match in deal for seat in match.seats] for deal in results]
    seat_count = len({seat.seat for seat in rows[0]})
    played = Counter(
        label
        for deal in results
        for match in deal
        for label in {seat.label for seat in match.seats}
    )
    labels = sorted({seat.label for deal in rows for seat in deal})
    by_label = {
        label: [[seat for seat in deal if seat.label == label] for deal in rows] for label in labels
    }
    table = [_standing(label, by_label[label], played[label], seat_count) for label in labels]
    table.sort(key=lambda row: -row.utility.mean)
    order = [row.label for row in table]
    pairs = [
        _comparison(label, other, by_label[label], by_label[other])
        for place, label in enumerate(order)
        for other in order[place + 1 :]
    ]
    return table, pairs


def _means(deals: list[list[SeatResult]], field: str) -> list[float]:
    return [fmean(getattr(seat, field) for seat in deal) for deal in deals]


def _standing(label: str, deals: list[list[SeatResult]], matches: int, seat_count: int) -> Standing:
    seats = [seat for deal in deals for seat in deal]
    decisions = sum(seat.decisions for seat in seats) or 1
    return Standing(
        label=label,
        matches=matches,
        seats=seat_count,
        win_share=interval(_means(deals, "won")),
        fair_share=1 / seat_count,
        place=interval(_means(deals, "place")),
        total=interval(_means(deals, "total")),
        utility=interval(_means(deals, "utility")),
        think_ms=sum(seat.think_ms for seat in seats) / decisions,
        iterations=sum(seat.iterations for seat in seats) / decisions,
    )


def _comparison(
    label: str, other: str, deals: list[list[SeatResult]], others: list[list[SeatResult]]
) -> Comparison:
    def paired(field: str) -> Interval:
        return interval(
            [a - b for a, b in zip(_means(deals, field), _means(others, field), strict=True)]
        )

    return Comparison(label, other, paired("won"), paired("utility"), paired("total"))
