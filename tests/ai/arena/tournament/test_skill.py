"""OpenSkill over a tournament: what the library says, whatever the order."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from random import Random
from statistics import fmean, stdev

import pytest
from openskill.models import PlackettLuce

from tavolata.ai.arena.tournament.model import MatchOutcome, MatchPlan
from tavolata.ai.arena.tournament.skill import Skill, skills
from tavolata.ai.arena.tournament.table import gather
from tests.ai.arena.tournament.simulated import by_strength, field, placed, repaired, tournament

FOUR = {"a": 1.0, "b": 0.5, "c": 0.0, "d": -1.5}


def rated(outcomes: Sequence[MatchOutcome], labels: str = "abcd") -> dict[int, Skill]:
    return skills(gather(field(labels, len(labels)), outcomes))


def test_one_match_is_rated_as_the_library_rates_it() -> None:
    plan = MatchPlan(0, 0, 0, 0, 0, 0, ("c", "a", "d", "b"))
    found = rated([placed(plan, (2, 1, 4, 2))])
    model = PlackettLuce(tau=0.0)
    teams = model.rate([[model.rating()] for _ in range(4)], ranks=[2, 1, 4, 2])
    for label, (team,) in zip("cadb", teams, strict=True):
        one = found["abcd".index(label)]
        assert (one.mu.value, one.sigma) == pytest.approx((team.mu, team.sigma))
        assert one.mu.high == inf


def test_two_seats_of_an_entrant_count_with_their_mean_place() -> None:
    plan = MatchPlan(0, 0, 0, 0, 0, 0, ("a", "b", "a", "b"))
    found = rated([placed(plan, (1, 2, 4, 2))], "ab")
    model = PlackettLuce(tau=0.0)
    (a,), (b,) = model.rate([[model.rating()], [model.rating()]], ranks=[2.5, 2])
    assert (found[0].mu.value, found[1].mu.value) == pytest.approx((a.mu, b.mu))


def test_players_with_exchangeable_results_are_rated_alike_to_the_last_digit() -> None:
    first, second = ("a", "b"), ("b", "a")
    outcomes = [
        placed(MatchPlan(0, 0, 0, 0, deal, 0, first if deal < 5 else second), (1, 2))
        for deal in range(10)
    ]
    outcomes += [
        placed(MatchPlan(0, 0, 0, 1 + group, deal, 0, (label, "c")), (1, 2))
        for group, label in enumerate("ab")
        for deal in range(3)
    ]
    found = skills(gather(field("abc", 2), outcomes))
    assert found[0] == found[1]
    assert found[2].mu.value < found[0].mu.value


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_outcomes_changes_nothing(seed: int) -> None:
    outcomes = tournament("abcd", 6, by_strength(FOUR, 1, 1))
    shuffled = Random(seed).sample(outcomes, len(outcomes))
    assert rated(outcomes) == rated(shuffled)


def test_intervals_hold_where_other_deals_would_lead() -> None:
    runs = [rated(tournament("abcd", 6, by_strength(FOUR, 1, seed))) for seed in range(40)]
    for label in range(4):
        values = [run[label].mu.value for run in runs]
        hits = [run[label].mu.low <= fmean(values) <= run[label].mu.high for run in runs]
        assert sum(hits) >= 34  # of 40: fewer has the chance 1 in 100 if 95 % is true
        half = fmean((run[label].mu.high - run[label].mu.low) / 2 for run in runs)
        # Ten folds have 2.26 standard deviations; how well forty runs know theirs: 11 %.
        assert 1.5 * stdev(values) < half < 3.5 * stdev(values)


def test_pairing_by_deal_makes_its_intervals_narrower() -> None:
    paired = torn = 0.0
    for seed in range(10):
        outcomes = tournament("ab", 30, by_strength({"a": 0.4, "b": 0.0}, 3.0, seed))
        together, apart = rated(outcomes, "ab")[0], rated(repaired(outcomes, seed), "ab")[0]
        paired += together.mu.high - together.mu.low
        torn += apart.mu.high - apart.mu.low
    # A width from ten folds is known to a fifth or so, hence the sum over ten tournaments.
    assert paired < 0.9 * torn


def test_deals_that_are_all_alike_do_not_make_an_interval_of_no_width() -> None:
    found = rated(
        tournament("ab", 8, lambda seated, *_: [1 + (one == "b") for one in seated]), "ab"
    )
    assert all(one.mu.high - one.mu.low > 0.5 for one in found.values())


def test_who_only_plays_against_itself_is_not_rated() -> None:
    plan = MatchPlan(0, 0, 0, 0, 0, 0, ("a", "a"))
    assert skills(gather(field("ab", 2), [placed(plan, (1, 2))])) == {}
