"""Ratings and their intervals on simulated tournaments whose truth is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import exp, log, pi, sqrt
from random import Random

import numpy as np
import pytest

from tavolata.ai.arena.tournament.estimates import Estimate, clustered_mean, clustered_share
from tavolata.ai.arena.tournament.model import MatchOutcome, MatchPlan
from tavolata.ai.arena.tournament.ratings import Ratings, deal_groups, level, rate
from tavolata.ai.arena.tournament.table import SeatTable, gather
from tests.ai.arena.tournament.simulated import (
    ELO,
    by_strength,
    field,
    placed,
    repaired,
    tournament,
)

THREE = {"a": 0.7, "b": 0.1, "c": -0.8}


def rated(outcomes: Sequence[MatchOutcome], labels: str = "abc", stream: int = 0) -> Ratings:
    return rate(gather(field(labels, len(labels)), outcomes), 200, stream)


def width(one: Estimate) -> float:
    return one.high - one.low


def covered(hits: Sequence[bool]) -> float:
    return sum(hits) / len(hits)


def log_odds_under_luck(difference: float, luck: float) -> float:
    """Log odds of the mean chance to win, when luck of both seats adds to the difference."""
    spread = luck * sqrt(2)
    chance = weight = 0.0
    for step in range(-4000, 4001):
        z = step / 500
        density = exp(-z * z / 2) / sqrt(2 * pi)
        chance += density / (1 + exp(-(difference + spread * z)))
        weight += density
    return log(chance / (weight - chance))


@pytest.mark.parametrize("deals", [8, 30])
def test_nineteen_of_twenty_rating_intervals_hold_the_truth(deals: int) -> None:
    hits = [
        one.low <= ELO * truth <= one.high
        for seed in range(200)
        for one, truth in zip(
            rated(tournament("abc", deals, by_strength(THREE, 0, seed)), stream=seed).elo,
            THREE.values(),
            strict=True,
        )
    ]
    # 600 intervals in 200 independent tournaments: three standard errors of 200 are 0.046.
    assert covered(hits) == pytest.approx(0.95, abs=0.046)


def test_intervals_hold_the_truth_when_a_deal_decides_more_than_the_players() -> None:
    two = {"a": 0.5, "b": -0.5}
    truth = ELO * log_odds_under_luck(1.0, 2.0)
    hits = []
    for seed in range(200):
        found = rated(tournament("ab", 20, by_strength(two, 2.0, seed)), "ab", seed).elo
        hits.append(2 * found[0].low <= truth <= 2 * found[0].high)
    assert covered(hits) == pytest.approx(0.95, abs=0.046)


def test_nineteen_of_twenty_intervals_of_shares_and_means_hold_the_truth() -> None:
    chance, hits_of_share, hits_of_mean = Random(4), [], []
    for seed in range(300):
        luck = [chance.gauss(0, 1) for _ in range(15)]
        deals = np.repeat(np.arange(15), 4)
        values = np.array([luck[deal] + chance.gauss(0, 1) for deal in deals])
        mean = clustered_mean(values, deals, (-np.inf, np.inf))
        hits_of_mean.append(mean.low <= 0 <= mean.high)
        won = np.array([float(chance.random() < 0.1) for _ in deals])
        share = clustered_share(won, deals, np.zeros(15, dtype=np.int64), 200, seed)
        hits_of_share.append(share.low <= 0.1 <= share.high)
    assert covered(hits_of_mean) == pytest.approx(0.95, abs=0.038)
    assert covered(hits_of_share) == pytest.approx(0.95, abs=0.038)


def test_with_equally_many_seats_a_mean_has_the_interval_of_its_deal_means() -> None:
    values = np.array([1.0, 3.0, 2.0, 8.0, 5.0, 5.0])
    found = clustered_mean(values, np.array([0, 0, 1, 1, 2, 2]), (-np.inf, np.inf))
    # Deal means 2, 5, 5: mean 4, standard deviation sqrt(3); Student's point for 2 degrees 4.303.
    assert found.value == pytest.approx(4)
    assert (found.high - found.low) / 2 == pytest.approx(4.303 * sqrt(3) / sqrt(3), abs=1e-9)


def test_pairing_by_deal_makes_intervals_narrower() -> None:
    outcomes = tournament("abc", 60, by_strength(THREE, 3.0, 1))
    tables = [gather(field("abc", 3), matches) for matches in (outcomes, repaired(outcomes, 2))]
    paired, unpaired = (rate(table, 400, 0) for table in tables)
    assert [one.value for one in paired.elo] == pytest.approx([one.value for one in unpaired.elo])
    for one, other in zip(paired.elo, unpaired.elo, strict=True):
        assert width(one) < 0.8 * width(other)

    def place(table: SeatTable) -> Estimate:
        own = table.label == 0
        return clustered_mean(table.place[own], table.deal[own], (1, 3))

    assert width(place(tables[0])) < 0.8 * width(place(tables[1]))


def test_pairing_by_deal_changes_little_where_deals_decide_nothing() -> None:
    outcomes = tournament("abc", 60, by_strength(THREE, 0, 1))
    paired, unpaired = rated(outcomes), rated(repaired(outcomes, 2))
    for one, other in zip(paired.elo, unpaired.elo, strict=True):
        assert width(one) == pytest.approx(width(other), rel=0.3)


def test_who_won_everything_has_a_finite_rating_and_an_honest_interval() -> None:
    plans = [MatchPlan(0, 0, 0, 0, deal, 0, ("a", "b")) for deal in range(20)]
    found = rated([placed(plan, (1, 2)) for plan in plans], "ab")
    # Half a win for each besides 20 to 0.
    assert found.elo[0].value - found.elo[1].value == pytest.approx(ELO * log(20.5 / 0.5))
    cell = found.cells[0][1]
    assert cell is not None
    assert (cell.value, cell.high) == (1, 1)
    # 0.83 is where twenty wins in a row have the chance 1 in 40, 0.88 the bound under Jeffreys'
    # prior, before it is widened for few deals.
    assert 0.80 < cell.low < 0.90


@pytest.mark.parametrize("order", ["abc", "bca", "cab", "acb"])
def test_tied_players_are_rated_alike_in_any_order(order: str) -> None:
    found = rated(tournament(order, 5, lambda *_: (1, 1, 1)))
    assert [one.value for one in found.elo] == [0, 0, 0]
    assert found.rank == (1, 1, 1)
    two = rated(tournament(order, 5, lambda seated, *_: [1 if one == "b" else 2 for one in seated]))
    a, b, c = (one.value for one in two.elo)
    assert a == c < b
    assert two.rank == (2, 1, 2)


def test_a_circle_of_wins_is_a_tie() -> None:
    pairs = [("a", "b"), ("b", "c"), ("c", "a")]
    plans = [
        MatchPlan(0, 0, 0, group, deal, 0, pair)
        for group, pair in enumerate(pairs)
        for deal in range(4)
    ]
    found = rate(gather(field("abc", 2), [placed(plan, (1, 2)) for plan in plans]), 50, 0)
    assert len({one.value for one in found.elo}) == 1
    assert found.rank == (1, 1, 1)


def test_values_that_differ_by_rounding_are_made_equal() -> None:
    made = level(np.array([3.0, 1.0, 3.0 + 1e-9, 2.0, 1.0 - 1e-9]))
    assert made[0] == made[2] == pytest.approx(3)
    assert made[1] == made[4] == pytest.approx(1)
    assert made[3] == 2


def test_other_names_for_the_same_results_change_names_only() -> None:
    outcomes = tournament("abc", 12, by_strength(THREE, 1, 3))
    renamed = {"a": "c", "b": "a", "c": "b"}
    others = [
        replace(
            one,
            plan=replace(one.plan, labels=tuple(renamed[label] for label in one.plan.labels)),
            seats=tuple(replace(seat, label=renamed[seat.label]) for seat in one.seats),
        )
        for one in outcomes
    ]
    first, second = rated(outcomes), rated(others)
    for label, other in renamed.items():
        i, j = "abc".index(label), "abc".index(other)
        assert first.elo[i].value == pytest.approx(second.elo[j].value, abs=1e-6)
        assert first.score[i].value == pytest.approx(second.score[j].value)


def test_contests_weigh_the_same_however_many_deals_they_have() -> None:
    def wins(contest: int, deals: int, winner: str) -> list[MatchOutcome]:
        def places(seated: tuple[str, ...], deal: int, rotation: int) -> list[int]:
            first = winner if deal % 4 else ("b" if winner == "a" else "a")
            return [1 if label == first else 2 for label in seated]

        return tournament("ab", deals, places, contest)

    outcomes = wins(0, 8, "a") + wins(1, 80, "b")
    found = rate(gather(field("ab", 2, contests=2), outcomes), 50, 0)
    assert [one.value for one in found.elo] == pytest.approx([0, 0], abs=1e-6)
    assert found.score[0].value == pytest.approx(0.5)


def test_the_ranks_and_the_sureness_follow_the_evidence() -> None:
    clear = {"a": 3.0, "b": 0.0, "c": -3.0}
    found = rated(tournament("abc", 40, by_strength(clear, 0, 1)))
    assert found.rank == found.rank_low == found.rank_high == (1, 2, 3)
    assert found.ahead[0][2] > 0.99
    assert found.ahead[0][2] + found.ahead[2][0] == pytest.approx(1)
    level_field = dict.fromkeys("abc", 0.0)
    open_race = rated(tournament("abc", 10, by_strength(level_field, 0, 1)))
    assert set(open_race.rank_low) == {1}
    assert set(open_race.rank_high) == {3}


def test_very_many_deals_are_weighed_in_groups_of_neighbours() -> None:
    table = gather(field("ab", 2), tournament("ab", 1300, lambda *_: (1, 2)))
    groups, strata = deal_groups(table)
    assert len(strata) == 500
    counts = np.bincount(groups[::4])
    assert set(counts.tolist()) == {2, 3}
    assert (np.diff(groups) >= 0).all()
    assert all(len(set(groups[table.deal == deal])) == 1 for deal in (0, 7, 1299))


def test_one_deal_gives_a_rating_without_an_interval() -> None:
    found = rated(tournament("abc", 1, by_strength(THREE, 0, 1)))
    assert all((one.low, one.high) == (-np.inf, np.inf) for one in found.elo)
    assert all((one.low, one.high) == (0, 1) for one in found.score)
    assert set(found.rank_low) == {1}
    assert set(found.rank_high) == {3}
