"""Stopping rules: the test against what Wald's formulas say of it, by simulation; widths; looks."""

from __future__ import annotations

from collections.abc import Callable
from math import exp, log, sqrt
from random import Random
from statistics import fmean

import pytest

from tavolata.ai.arena.tournament.stopping import (
    Count,
    Sprt,
    StoppingRule,
    Verdict,
    Width,
    log_likelihood_ratio,
    variance_of,
)

LONG = 1_000_000


def run(rule: StoppingRule, draw: Callable[[], float]) -> tuple[Verdict, int]:
    """Why and after how many deals it stops."""
    values: list[float] = []
    while True:
        while len(values) < rule.next_look(len(values)):
            values.append(draw())
            if len(values) == rule.next_look(len(values) - 1):
                break
        verdict = rule.verdict(values)
        if verdict is not None:
            return verdict, len(values)


def simulated(rule: Sprt, mean: float, deviation: float, runs: int) -> tuple[float, float]:
    """The share of runs that accept hypothesis 1, and the mean number of deals."""
    random = Random(f"{mean} {deviation}")
    ends = [run(rule, lambda: random.gauss(mean, deviation)) for _ in range(runs)]
    assert {verdict for verdict, _ in ends} <= {Verdict.H0, Verdict.H1}
    return fmean(verdict is Verdict.H1 for verdict, _ in ends), fmean(deals for _, deals in ends)


def wald_chance(h0: float, h1: float, alpha: float, beta: float, mean: float) -> float:
    """The operating characteristic of the sequential test of a normal mean, as in Wald, Sequential
    Analysis (1947), 7.5: 1 - L, with L = (A^h - 1) / (A^h - B^h) and
    h = (h1 + h0 - 2 mean) / (h1 - h0)."""
    a, b = (1 - beta) / alpha, beta / (1 - alpha)
    h = (h1 + h0 - 2 * mean) / (h1 - h0)
    if h == 0:
        return 1 - log(a) / (log(a) - log(b))
    return float(1 - (a**h - 1) / (a**h - b**h))


@pytest.mark.parametrize("alpha", [0.05, 0.1])
@pytest.mark.parametrize("place", [0.0, 0.25, 0.5, 0.75, 1.0])
def test_the_test_errs_as_rarely_as_walds_formula_says(place: float, alpha: float) -> None:
    h0, h1, deviation, runs = 0.0, 0.1, 0.35, 300
    rule = Sprt(LONG, deals_min=10, every=4, h0=h0, h1=h1, alpha=alpha, beta=0.05)
    mean = h0 + place * (h1 - h0)
    share, deals = simulated(rule, mean, deviation, runs)
    expected = wald_chance(h0, h1, alpha, 0.05, mean)
    assert rule.chance_of_h1(mean) == pytest.approx(expected)
    # Three standard errors of the share; the rest is overshoot at looks every few deals, which
    # Wald neglects and which makes errors rarer.
    assert abs(share - expected) < 3 * sqrt(expected * (1 - expected) / runs) + 0.02
    if place == 0.0:
        assert share < alpha + 3 * sqrt(alpha * (1 - alpha) / runs)
    if place == 1.0:
        assert 1 - share < 0.05 + 3 * sqrt(0.05 * 0.95 / runs)
    # As many deals as Wald's approximation, and some for overshoot and the supposed deal.
    wald = rule.expected_deals(mean, deviation)
    assert 0.9 * wald < deals < 1.35 * wald + 10


def test_the_expected_number_of_deals_is_walds() -> None:
    """Wald (1947), 7.6: E n = (L log B + (1 - L) log A) / E z; midway, -log A log B / E z^2."""
    rule = Sprt(LONG, h0=0.0, h1=0.1, alpha=0.05, beta=0.05)
    assert rule.bounds == pytest.approx((-log(19), log(19)))
    z = 0.1 * (0.1 - 0.05) / 0.3**2
    assert rule.expected_deals(0.1, 0.3) == pytest.approx((0.95 - 0.05) * log(19) / z)
    assert rule.expected_deals(0.0, 0.3) == pytest.approx((0.95 - 0.05) * log(19) / z)
    assert rule.expected_deals(0.05, 0.3) == pytest.approx(log(19) ** 2 / (0.1**2 / 0.3**2))
    assert rule.expected_deals(0.05 + 1e-9, 0.3) == pytest.approx(
        rule.expected_deals(0.05, 0.3), rel=1e-4
    )


@pytest.mark.parametrize(("won", "lost"), [(0.075, 0.025), (0.025, 0.025), (0.01, 0.01)])
def test_the_test_errs_rarely_where_most_deals_end_level(won: float, lost: float) -> None:
    """A few level deals in a row have no spread at all, and must not settle it."""
    rule = Sprt(LONG, deals_min=10, every=10, h0=0.0, h1=0.05)
    assert rule.verdict([0.0] * 20) is None
    random = Random(f"{won} {lost}")

    def draw() -> float:
        chance = random.random()
        return float(chance < won) - float(won <= chance < won + lost)

    ends = [run(rule, draw)[0] for _ in range(400)]
    right = Verdict.H1 if won - lost > 0.04 else Verdict.H0
    assert fmean(verdict is not right for verdict in ends) < 0.05 + 3 * sqrt(0.05 * 0.95 / 400)


def test_players_that_are_always_level_are_told_to_be() -> None:
    rule = Sprt(LONG, deals_min=10, every=10, h0=0.0, h1=0.05)
    assert run(rule, lambda: 0.0)[0] is Verdict.H0
    assert run(rule, lambda: 0.5)[0] is Verdict.H1


def test_the_ratio_is_that_of_two_normal_likelihoods() -> None:
    values = [0.1, -0.2, 0.4, 0.3, 0.0]
    variance = variance_of(values)

    def likelihood(mean: float) -> float:
        return exp(sum(-((value - mean) ** 2) / (2 * variance) for value in values))

    ratio = likelihood(0.2) / likelihood(-0.1)
    assert log_likelihood_ratio(values, -0.1, 0.2) == pytest.approx(log(ratio))


@pytest.mark.parametrize("half_width", [0.02, 0.05])
def test_intervals_that_are_narrow_enough_hold_the_mean_in_nineteen_of_twenty(
    half_width: float,
) -> None:
    rule = Width(LONG, deals_min=20, every=10, half_width=half_width)
    random = Random(f"{half_width}")
    held, deals = [], []
    for _ in range(150):
        values: list[float] = []
        while len(values) < 20 or rule.verdict(values) is None:
            values += [random.gauss(0.1, 0.2) for _ in range(20 if not values else 10)]
        held.append(abs(fmean(values) - 0.1) <= half_width)
        deals.append(len(values))
    assert fmean(held) > 0.95 - 3 * sqrt(0.95 * 0.05 / 150)
    # (1.96 x 0.2 / half width)^2 deals.
    assert fmean(deals) == pytest.approx((1.96 * 0.2 / half_width) ** 2, rel=0.15, abs=35)


@pytest.mark.parametrize("rule", [Count(7), Sprt(7, deals_min=3, every=2), Width(7, deals_min=3)])
def test_every_rule_ends_with_the_last_deal(rule: StoppingRule) -> None:
    values = [0.5 * (-1) ** deal for deal in range(7)]
    assert rule.verdict(values) is Verdict.DEALS
    assert rule.verdict(values[:6]) is None


def test_looks_begin_after_the_least_number_of_deals_and_end_with_the_last() -> None:
    def looks(rule: StoppingRule) -> list[int]:
        found = [rule.next_look(0)]
        while found[-1] < rule.deals:
            found.append(rule.next_look(found[-1]))
        return found

    assert looks(Count(50)) == [50]
    assert looks(Sprt(50, deals_min=12, every=20)) == [12, 32, 50]
    assert looks(Width(40, deals_min=10, every=10)) == [10, 20, 30, 40]
    assert looks(Width(5, deals_min=20)) == [5]
    # In the middle of a stretch the next look is the one that was ahead before.
    assert Sprt(50, deals_min=12, every=20).next_look(15) == 32
