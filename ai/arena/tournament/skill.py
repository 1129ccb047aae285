"""OpenSkill ratings (Plackett-Luce model of the library ``openskill``) over a whole tournament.

OpenSkill is made for a stream of matches: what comes last counts most, and the same results in
another order give other ratings. Players of a tournament do not change while it lasts, so here
time adds no uncertainty (tau is 0), and the rating is the mean over several random orders of all
matches. Entrants whose results could be exchanged for each other's get the mean of theirs, so
that they are rated alike to the last digit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np
from openskill.models import PlackettLuce

from tavolata.ai.arena.statistics import student
from tavolata.ai.arena.tournament.estimates import Estimate
from tavolata.ai.arena.tournament.table import Floats, Ints, SeatTable

ORDERS = 4
FOLDS = 10
SAMPLE = 2_000  # matches for the jackknife, which goes through them twenty times
_SEED = 0x5EA7

Placed = tuple[tuple[int, float], ...]  # (label, mean place of its seats), ascending


@dataclass(frozen=True, slots=True)
class Skill:
    """OpenSkill's rating; sigma is the library's own, which takes matches as independent.

    mu: with the interval over deals, by a jackknife that leaves out a tenth of them at a time.
    """

    mu: Estimate
    sigma: float


def skills(table: SeatTable) -> dict[int, Skill]:
    """The rating of everyone who met somebody else, by index of the label."""
    matches, deals = _placings(table)
    if not matches:
        return {}
    present = sorted({label for match in matches for label, _ in match})
    chance = np.random.Generator(np.random.PCG64(_SEED))
    forward = [chance.permutation(len(matches)) for _ in range(ORDERS // 2)]
    # Each order backwards too: what is early in one is late in the other.
    orders = [way for order in forward for way in (order, order[::-1])]
    runs = np.array([_run([matches[i] for i in order], present) for order in orders]).mean(axis=0)
    spread = _spread(matches, deals, orders[:2], present, chance)
    made = {}
    for group in interchangeable(matches, present):
        rows = [present.index(label) for label in group]
        mu, sigma = (float(value) for value in runs[rows].mean(axis=0))
        half = float(spread[rows].mean())
        for label in group:
            made[label] = Skill(Estimate(mu, mu - half, mu + half), sigma)
    return made


def _placings(table: SeatTable) -> tuple[list[Placed], Ints]:
    """Every match of two entrants or more, and its deal."""
    ends = np.flatnonzero(np.diff(table.match, append=-1)) + 1
    starts = np.concatenate(([0], ends[:-1])) if len(ends) else ends
    matches: list[Placed] = []
    deals = []
    for start, end in zip(starts, ends, strict=True):
        seats: dict[int, list[float]] = {}
        for row in range(start, end):
            seats.setdefault(int(table.label[row]), []).append(float(table.place[row]))
        if len(seats) > 1:
            matches.append(
                tuple((label, sum(held) / len(held)) for label, held in sorted(seats.items()))
            )
            deals.append(int(table.deal[start]))
    return matches, np.array(deals, dtype=np.int64)


def _run(matches: Sequence[Placed], present: Sequence[int]) -> Floats:
    """mu and sigma of everyone after these matches in this order: (labels, 2)."""
    model = PlackettLuce(tau=0.0)
    rating = {label: model.rating() for label in present}
    for match in matches:
        teams = [[rating[label]] for label, _ in match]
        for (label, _), team in zip(
            match, model.rate(teams, ranks=[place for _, place in match]), strict=True
        ):
            rating[label] = team[0]
    return np.array([(rating[label].mu, rating[label].sigma) for label in present])


def _spread(
    matches: Sequence[Placed],
    deals: Ints,
    orders: Sequence[Ints],
    present: Sequence[int],
    chance: np.random.Generator,
) -> Floats:
    """Half widths of the 95 % intervals of mu. Of very many deals a sample is enough to tell how
    far ratings spread, which goes down with the root of their number."""
    numbers = np.unique(deals)
    wanted = max(FOLDS * 10, len(numbers) * SAMPLE // len(matches))
    if wanted >= len(numbers):
        return _jackknife(matches, deals, orders, present)
    kept = np.isin(deals, chance.choice(numbers, wanted, replace=False))
    sample = [order[kept[order]] for order in orders]
    half = _jackknife(matches, deals, sample, present)
    return half * float(np.sqrt(wanted / len(numbers)))


def _jackknife(
    matches: Sequence[Placed], deals: Ints, orders: Sequence[Ints], present: Sequence[int]
) -> Floats:
    """Half widths of the 95 % intervals of mu from the matches in the orders; infinite with one
    deal, or with deals that are all alike."""
    numbers = np.zeros_like(deals)
    numbers[orders[0]] = np.unique(deals[orders[0]], return_inverse=True)[1]
    folds = min(FOLDS, int(numbers.max()) + 1)
    if folds < 2:
        return np.full(len(present), inf)
    runs = np.array(
        [
            np.mean(
                [
                    _run([matches[i] for i in order if numbers[i] % folds != fold], present)[:, 0]
                    for order in orders
                ],
                axis=0,
            )
            for fold in range(folds)
        ]
    )
    squares = ((runs - runs.mean(axis=0)) ** 2).sum(axis=0)
    half: Floats = student(folds - 1) * np.sqrt((folds - 1) / folds * squares)
    # Deals that are all alike do not show how far others may be from them.
    return np.where(half > 1e-9, half, inf)


def interchangeable(matches: Sequence[Placed], present: Sequence[int]) -> Iterator[list[int]]:
    """Groups of entrants any two of which could change names without changing the results."""
    counts = Counter(matches)
    left = list(present)
    while left:
        first, *others = left
        group = [first, *(other for other in others if _swapped(counts, first, other) == counts)]
        left = [label for label in left if label not in group]
        yield group


def _swapped(counts: Counter[Placed], one: int, other: int) -> Counter[Placed]:
    """The results with two names exchanged."""
    renamed = {one: other, other: one}
    return Counter(
        {
            tuple(sorted((renamed.get(label, label), place) for label, place in match)): number
            for match, number in counts.items()
        }
    )
