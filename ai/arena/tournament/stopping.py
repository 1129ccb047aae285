"""When a meeting of two entrants ends, from their differences deal by deal.

The probability ratio test is Wald's (Sequential Analysis, 1947) for the mean of normal values, with
their variance estimated on the way. An estimate from few deals may be far too small, above all when
most of them end level; so one deal more is supposed, a whole 1 from the mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import expm1, fsum, log, sqrt
from statistics import fmean

from tavolata.ai.arena.statistics import student
from tavolata.ai.arena.tournament import keys


class Verdict(StrEnum):
    """Why a meeting ended."""

    DEALS = "deals"  # all deals are played
    H0 = "h0"  # the test accepts hypothesis 0
    H1 = "h1"  # the test accepts hypothesis 1
    NARROW = "narrow"  # the interval is narrow enough
    WITHDRAWN = "withdrawn"  # an entrant was withdrawn


@dataclass(frozen=True, slots=True)
class Count:
    """After a number of deals."""

    deals: int
    measure: str = "utility"

    def next_look(self, played: int) -> int:
        """The number of deals at which to look next; ``deals`` at last."""
        return self.deals

    def verdict(self, differences: Sequence[float]) -> Verdict | None:
        """Why to stop after these deals; None: go on."""
        return Verdict.DEALS if len(differences) >= self.deals else None


@dataclass(frozen=True, slots=True)
class _EarlyStop(Count):
    """Looks after ``deals_min`` deals and then after every ``every``."""

    deals_min: int = 20
    every: int = 20

    def next_look(self, played: int) -> int:
        if played < self.deals_min:
            return min(self.deals_min, self.deals)
        looks = (played - self.deals_min) // self.every + 1
        return min(self.deals_min + looks * self.every, self.deals)


@dataclass(frozen=True, slots=True)
class Sprt(_EarlyStop):
    """Sequential probability ratio test between two mean differences."""

    h0: float = 0.0
    h1: float = 0.05
    alpha: float = 0.05
    beta: float = 0.05

    @property
    def bounds(self) -> tuple[float, float]:
        """The log likelihood ratios at which hypothesis 0 and hypothesis 1 are accepted."""
        return log(self.beta / (1 - self.alpha)), log((1 - self.beta) / self.alpha)

    def verdict(self, differences: Sequence[float]) -> Verdict | None:
        lower, upper = self.bounds
        ratio = log_likelihood_ratio(differences, self.h0, self.h1)
        if ratio <= lower:
            return Verdict.H0
        if ratio >= upper:
            return Verdict.H1
        # Called by name: super() does not find its class in a dataclass with slots.
        return Count.verdict(self, differences)

    def chance_of_h1(self, mean: float) -> float:
        """The chance that the test accepts hypothesis 1, by Wald's approximation, where this is
        the true mean difference. It does not depend on the spread."""
        lower, upper = self.bounds
        tilt = (self.h0 + self.h1 - 2 * mean) / (self.h1 - self.h0)
        if abs(tilt) < 1e-9:
            return -lower / (upper - lower)
        return -expm1(tilt * lower) / (expm1(tilt * upper) - expm1(tilt * lower))

    def expected_deals(self, mean: float, deviation: float) -> float:
        """How many deals the test takes on average, by Wald's approximation, where the
        differences have this true mean and standard deviation; without regard to ``deals``."""
        lower, upper = self.bounds
        step = (self.h1 - self.h0) / deviation**2
        drift = step * (mean - (self.h0 + self.h1) / 2)
        if abs(drift) < 1e-12:
            return -lower * upper / (step * deviation) ** 2
        chance = self.chance_of_h1(mean)
        return (chance * upper + (1 - chance) * lower) / drift


@dataclass(frozen=True, slots=True)
class Width(_EarlyStop):
    """Until the 95 % interval of the mean difference is narrow enough."""

    half_width: float = 0.05

    def verdict(self, differences: Sequence[float]) -> Verdict | None:
        half_width = student(len(differences) - 1) * sqrt(
            variance_of(differences) / len(differences)
        )
        if half_width <= self.half_width:
            return Verdict.NARROW
        return Count.verdict(self, differences)


StoppingRule = Count  # what the others refine


def log_likelihood_ratio(differences: Sequence[float], h0: float, h1: float) -> float:
    """Log of the likelihood of mean ``h1`` over that of mean ``h0`` for independent normal values
    of the variance that they seem to have."""
    away = fmean(differences) - (h0 + h1) / 2
    return len(differences) * (h1 - h0) * away / variance_of(differences)


def variance_of(differences: Sequence[float]) -> float:
    """Variance of two or more differences, with the supposed deal."""
    mean = fmean(differences)
    return (fsum((value - mean) ** 2 for value in differences) + 1.0) / (len(differences) - 1)


def stopping_rule(given: keys.AnyStop) -> StoppingRule:
    """The rule that a tournament file asks for."""
    if isinstance(given, keys.Count):
        return Count(given.deals)
    if isinstance(given, keys.Sprt):
        return Sprt(
            given.deals,
            given.measure,
            given.deals_min,
            given.every,
            given.h0,
            given.h1,
            given.alpha,
            given.beta,
        )
    return Width(given.deals, given.measure, given.deals_min, given.every, given.half_width)
