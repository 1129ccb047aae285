"""Estimates with 95 % intervals whose unit is the deal: what shares its chance counts once.

Means have Student's interval over deals. Quantities without a simple variance (ratings, shares
near 0 or 1) have the interval of the Bayesian bootstrap: every deal gets a random weight with the
mean 1, all is computed again, a thousand times.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, sqrt

import numpy as np

from tavolata.ai.arena.statistics import student
from tavolata.ai.arena.tournament.table import Floats, Ints

REPLICATES = 1000
_NORMAL = 1.959964  # the 97.5 % point
_SEED = 0x7A70_1A7A  # any number: fixed, so that the same outcomes give the same report


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its 95 % interval; the bounds are infinite where one deal is all there is."""

    value: float
    low: float
    high: float

    def excludes(self, value: float) -> bool:
        """Whether the interval leaves this value out."""
        return not self.low <= value <= self.high


def clustered_mean(values: Floats, deals: Ints, bounds: tuple[float, float]) -> Estimate:
    """The mean of values, at least one, with Student's interval over the deals they belong to.

    The mean is a ratio (sum over deals by number over deals), so deals in which a player has more
    seats weigh more; with equally many seats in each it is the plain interval of deal means.
    bounds: no value can lie outside, so the interval doesn't either.
    """
    mean = float(values.mean())
    residual = np.bincount(deals, values - mean)
    present = np.bincount(deals) > 0
    count = int(present.sum())
    if count < 2:
        return Estimate(mean, *bounds)
    spread = sqrt(float((residual**2).sum()) * count / (count - 1)) / len(values)
    half = student(count - 1) * spread
    return Estimate(mean, max(mean - half, bounds[0]), min(mean + half, bounds[1]))


def deal_weights(strata: Ints, replicates: int, stream: int) -> Floats:
    """Random weights for the bootstrap: (replicates, deals), mean 1 within each stratum.

    strata: the contest of every deal; each contest keeps its weight in every replicate.
    stream: different numbers give independent weights.
    """
    chance = np.random.Generator(np.random.PCG64([_SEED, stream]))
    weights: Floats = chance.standard_exponential((replicates, len(strata)))
    for stratum in np.unique(strata):
        chosen = strata == stratum
        weights[:, chosen] *= chosen.sum() / weights[:, chosen].sum(axis=1, keepdims=True)
    return weights


def half_deal_weights(count: int, replicates: int, stream: int) -> Floats:
    """Weights of what stands in for results not seen: (replicates, count), Gamma with mean 1/2.

    One win and one loss of this weight added to n decided matches make the bootstrap the
    posterior under Jeffreys' prior: its interval holds where all were won, too. One draw in ninety
    is lifted to 0.0001, which no 95 % interval notices and without which odds may be 10^30 to 1.
    """
    chance = np.random.Generator(np.random.PCG64([_SEED, stream, 1]))
    return np.maximum(chance.standard_gamma(0.5, (replicates, count)), 1e-4)


def widening(deals: int, strata: int) -> float:
    """What to stretch bootstrap intervals by: few deals show less spread than there is.

    The bootstrap's variance is short by (n-1)/(n+1), and its quantiles are the normal's where
    Student's are due. Infinite when there is no second deal to compare with.
    """
    degrees = deals - strata
    if degrees < 1:
        return inf
    return student(degrees) / _NORMAL * sqrt((deals + 1) / (deals - 1))


def interval_of(point: float, draws: Floats, stretch: float) -> Estimate:
    """The estimate of a point and its bootstrap draws; the interval holds the point."""
    if stretch == inf:
        return Estimate(point, -inf, inf)
    low, high = (float(bound) for bound in np.quantile(draws, (0.025, 0.975)))
    return Estimate(
        point,
        point - stretch * max(point - low, 0.0),
        point + stretch * max(high - point, 0.0),
    )


def share_of(point: float, draws: Floats, stretch: float) -> Estimate:
    """An estimate that lies between 0 and 1, as its bounds do."""
    made = interval_of(point, draws, stretch)
    return Estimate(point, max(made.low, 0.0), min(made.high, 1.0))


def clustered_share(
    values: Floats, groups: Ints, strata: Ints, replicates: int, stream: int
) -> Estimate:
    """The mean of shares (0 to 1), one value at least, with the bootstrap's interval over groups.

    groups: of every value; strata: the contest of every group, contests weigh the same.
    """
    won = np.bincount(groups, values, len(strata)).astype(np.float64)
    held = np.bincount(groups, minlength=len(strata)).astype(np.float64)
    chosen = held > 0
    won, held, strata = won[chosen], held[chosen], strata[chosen]
    scale = np.ones(len(held))
    for stratum in np.unique(strata):
        scale[strata == stratum] = 1 / held[strata == stratum].sum()
    scale *= len(values) / (scale @ held)
    won, held = won * scale, held * scale
    weights = deal_weights(strata, replicates, stream)
    halves = half_deal_weights(2, replicates, stream)
    drawn = (weights @ won + halves[:, 0]) / (weights @ held + halves.sum(axis=1))
    stretch = widening(len(held), len(np.unique(strata)))
    return share_of(float(won.sum() / held.sum()), drawn, stretch)
