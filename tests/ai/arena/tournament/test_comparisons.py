"""Comparisons of two entrants, against published tables and results worked out by hand."""

from __future__ import annotations

from math import inf

import pytest

from tavolata.ai.arena.duplicate import Entrant
from tavolata.ai.arena.statistics import two_sided
from tavolata.ai.arena.tournament.comparison_text import markdown
from tavolata.ai.arena.tournament.comparisons import chance, comparisons, elo_of, holm
from tavolata.ai.arena.tournament.model import Contest, Field, MatchOutcome, MatchPlan
from tavolata.ai.player import Limits
from tests.ai.arena.tournament.made_up import outcome

FIELD = Field(
    (Contest("bids", "bids", 4, {}), Contest("other", "bids", 4, {})),
    {label: Entrant(label, "random", Limits(iterations=1)) for label in "abc"},
    1,
)


def match(deal: int, first: float, second: float, labels: str = "abab") -> MatchOutcome:
    """A match in which the first of these labels' seats have one utility, the others another."""
    plan = MatchPlan(0, 0, 0, 0, deal, 0, tuple(labels))
    return outcome(plan, lambda label, _: first if label == labels[0] else second)


# Points of Student's t as tables print them: degrees, t, chance of |t| or more.
@pytest.mark.parametrize(
    "degrees, t, expected",
    [
        (1, 12.706, 0.05),
        (1, 63.657, 0.01),
        (2, 4.303, 0.05),
        (3, 5.841, 0.01),
        (10, 2.228, 0.05),
        (11, 1.363, 0.2),
        (30, 2.750, 0.01),
        (100, 1.984, 0.05),
        (101, 0.0, 1.0),
    ],
)
def test_chances_are_those_of_the_tables_of_student_s_t(
    degrees: int, t: float, expected: float
) -> None:
    assert two_sided(t, degrees) == pytest.approx(expected, rel=2e-3)
    assert two_sided(-t, degrees) == two_sided(t, degrees)


def test_a_far_t_has_no_chance_below_zero() -> None:
    assert 0 <= two_sided(1e9, 50) < 1e-12


@pytest.mark.parametrize("share, elo", [(0.5, 0), (10 / 11, 400), (0.64, 99.95), (0.36, -99.95)])
def test_elo_is_the_logarithm_of_the_odds(share: float, elo: float) -> None:
    assert elo_of(share) == pytest.approx(elo, abs=0.01)


def test_who_has_won_everything_is_infinitely_far_ahead() -> None:
    assert (elo_of(1.0), elo_of(0.0)) == (inf, -inf)


def test_two_entrants_are_compared_deal_by_deal_over_all_rotations() -> None:
    """Deal 0: a is ahead in one match and behind in the other; deal 1: ahead, and level."""
    outcomes = [
        match(0, 0.9, 0.1),
        match(0, 0.7, 0.2, "baba"),
        match(1, 0.8, 0.4),
        match(1, 0.5, 0.5, "baba"),
    ]
    (found,) = comparisons(FIELD, outcomes, [("a", "b"), ("a", "c")])
    assert (found.deals, found.matches) == (2, 4)
    # By deal: (0.9 + 0.2 - 0.1 - 0.7) / 2 = 0.15 and (0.8 + 0.5 - 0.4 - 0.5) / 2 = 0.2.
    assert found.utility.mean == pytest.approx(0.175)
    # By deal: (1 + 0) / 2 and (1 + 1/2) / 2; the half width is 12.706 x 0.125.
    assert found.share.mean == pytest.approx(0.625)
    assert found.share.half_width == pytest.approx(12.706 * 0.125)
    assert found.elo[0] == pytest.approx(88.74, abs=0.01)
    assert found.elo[1:] == (-inf, inf)


def test_the_other_way_round_all_is_the_other_way_round() -> None:
    outcomes = [match(0, 0.9, 0.1), match(1, 0.5, 0.6), match(2, 0.4, 0.1)]
    one, other = comparisons(FIELD, outcomes, [("a", "b"), ("b", "a")])
    assert other.utility.mean == pytest.approx(-one.utility.mean)
    assert other.share.mean == pytest.approx(1 - one.share.mean)
    assert other.p == pytest.approx(one.p)


def test_the_chance_of_a_difference_is_that_of_a_t_test() -> None:
    # mean 2, standard deviation 1.5811, t = 2.8284 at 4 degrees: between 0.05 (2.776) and 0.02.
    assert 0.02 < chance([0, 1, 2, 3, 4]) < 0.05
    assert chance([0.3]) == 1.0
    assert chance([0.0, 0.0, 0.0]) == 1.0
    assert chance([0.1, 0.1, 0.1]) == 0.0


def test_holm_s_correction_is_that_of_his_example() -> None:
    """The step-down: smallest times 4, next times 3, ...; never below one before it."""
    assert holm([0.04, 0.01, 0.03, 0.005]) == pytest.approx([0.06, 0.03, 0.06, 0.02])
    assert holm([0.6, 0.5]) == [1.0, 1.0]
    assert holm([]) == []


def test_a_table_has_a_row_for_each_pair_with_widths() -> None:
    outcomes = [match(0, 0.9, 0.1), match(1, 0.5, 0.6), match(2, 0.4, 0.1)]
    text = markdown("Some", comparisons(FIELD, outcomes, [("a", "b")]))
    assert text.startswith("**Some**\n")
    row = text.splitlines()[-1]
    assert row.startswith("| bids | a - b | 3 | 3 | 120 | ")
    assert " ± " in row
