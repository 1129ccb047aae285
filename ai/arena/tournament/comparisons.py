"""Two entrants who met, compared deal by deal: utility, Elo and the chance of such a difference."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf, isfinite, log10, sqrt
from statistics import fmean, stdev

from tavolata.ai.arena.duplicate import SeatResult
from tavolata.ai.arena.statistics import Interval, interval, two_sided
from tavolata.ai.arena.tournament.model import Field, MatchOutcome


@dataclass(frozen=True, slots=True)
class Compared:
    """First minus second entrant over the deals of their meeting, with 95 % intervals.

    share: of the other's seats that a seat of the first came before, a tie counting half; elo:
    that share as a difference of ratings; p: the chance of a mean utility as far from 0 if the
    true one is 0 (t-test over deals; 1 where there is one deal).
    """

    contest: str
    first: str
    second: str
    matches: int
    differences: tuple[float, ...]  # in mean utility, deal by deal
    utility: Interval
    share: Interval
    p: float

    @property
    def deals(self) -> int:
        """How many deals they met in."""
        return len(self.differences)

    @property
    def elo(self) -> tuple[float, float, float]:
        """The difference in Elo points, with the lower and the upper end of its interval."""
        mean, half = self.share.mean, self.share.half_width
        return elo_of(mean), elo_of(mean - half), elo_of(mean + half)


def elo_of(share: float) -> float:
    """The difference of ratings at which this share of comparisons is won; infinite at the ends."""
    if share <= 0:
        return -inf
    return inf if share >= 1 else 400 * log10(share / (1 - share))


def comparisons(
    field: Field, outcomes: Iterable[MatchOutcome], pairs: Sequence[tuple[str, str]]
) -> list[Compared]:
    """These pairs in every contest in which they met at tables of their own, contest by contest."""
    by_pair: dict[tuple[int, frozenset[str]], list[MatchOutcome]] = defaultdict(list)
    for outcome in outcomes:
        by_pair[outcome.plan.contest, frozenset(outcome.plan.labels)].append(outcome)
    return [
        compared(contest.name, pair, met)
        for number, contest in enumerate(field.contests)
        for pair in pairs
        if (met := by_pair.get((number, frozenset(pair))))
    ]


def compared(contest: str, pair: tuple[str, str], outcomes: Sequence[MatchOutcome]) -> Compared:
    """One pair over its matches, at least one."""
    deals: dict[tuple[int, int], list[MatchOutcome]] = defaultdict(list)
    for outcome in outcomes:
        deals[outcome.plan.round, outcome.plan.deal].append(outcome)
    first, second = pair
    differences = []
    for deal in deals.values():
        seats = [seat for match in deal for seat in match.seats]
        differences.append(_utility(seats, first) - _utility(seats, second))
    shares = [fmean(_share(match.seats, first) for match in deal) for deal in deals.values()]
    return Compared(
        contest=contest,
        first=first,
        second=second,
        matches=len(outcomes),
        differences=tuple(differences),
        utility=interval(differences),
        share=interval(shares),
        p=chance(differences),
    )


def _utility(seats: Iterable[SeatResult], label: str) -> float:
    return fmean(seat.utility for seat in seats if seat.label == label)


def _share(seats: Sequence[SeatResult], label: str) -> float:
    own = [seat.place for seat in seats if seat.label == label]
    others = [seat.place for seat in seats if seat.label != label]
    ahead = sum((a < b) + (a == b) / 2 for a in own for b in others)
    return ahead / (len(own) * len(others))


def chance(differences: Sequence[float]) -> float:
    """The p-value of the mean of independent differences, by Student's t."""
    count = len(differences)
    if count < 2:
        return 1.0
    mean, spread = fmean(differences), stdev(differences)
    if spread == 0:
        return 1.0 if mean == 0 else 0.0
    return two_sided(mean / spread * sqrt(count), count - 1)


def finite(value: float) -> float | None:
    """The value for JSON, which has no infinity."""
    return value if isfinite(value) else None


def holm(chances: Sequence[float]) -> list[float]:
    """p-values corrected for their number (Holm, 1979), in the order given."""
    count = len(chances)
    corrected = [1.0] * count
    largest = 0.0
    for rank, index in enumerate(sorted(range(count), key=chances.__getitem__)):
        largest = max(largest, min(1.0, (count - rank) * chances[index]))
        corrected[index] = largest
    return corrected
