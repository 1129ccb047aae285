"""Strengths by maximum likelihood, against closed forms and a slow maximiser of another kind."""

from __future__ import annotations

from itertools import permutations
from math import exp, log, prod
from random import Random

import numpy as np
import pytest

from tavolata.ai.arena.tournament.model import MatchPlan
from tavolata.ai.arena.tournament.strength import components, strengths, wins_by
from tavolata.ai.arena.tournament.table import Floats, gather
from tests.ai.arena.tournament.simulated import field, placed


def zermelo(wins: list[list[float]]) -> list[float]:
    """Log strengths by Zermelo's iteration of 1929: slow, sure, and nothing but sums."""
    count = len(wins)
    gamma = [1.0] * count
    for _ in range(20_000):
        gamma = [
            sum(wins[i])
            / sum((wins[i][j] + wins[j][i]) / (gamma[i] + gamma[j]) for j in range(count) if j != i)
            for i in range(count)
        ]
        scale = prod(gamma) ** (1 / count)
        gamma = [value / scale for value in gamma]
    return [log(value) for value in gamma]


def test_two_players_differ_by_the_log_of_their_odds() -> None:
    found = strengths(np.array([[0, 30.0], [12.5, 0]]))
    assert found[0] - found[1] == pytest.approx(log(30 / 12.5), abs=1e-12)
    assert found.sum() == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_newton_finds_what_zermelos_iteration_finds(seed: int) -> None:
    random = Random(seed)
    count = 3 + seed
    wins = [
        [0.0 if i == j else random.choice((0.3, 2.0, 7.0, 40.0)) for j in range(count)]
        for i in range(count)
    ]
    assert strengths(np.array(wins)) == pytest.approx(zermelo(wins), abs=1e-8)


def test_many_tables_of_wins_are_solved_side_by_side_as_each_alone() -> None:
    wins = np.random.default_rng(3).exponential(5, (6, 4, 4))
    together = strengths(wins)
    assert [list(row) for row in together] == [
        pytest.approx(list(strengths(one)), abs=1e-9) for one in wins
    ]


def test_places_of_a_plackett_luce_model_give_back_its_strengths() -> None:
    worth = {"a": 1.7, "b": 0.4, "c": 0.0, "d": -2.1}

    def chance(order: tuple[str, ...]) -> float:
        return prod(
            exp(worth[label]) / sum(exp(worth[other]) for other in order[at:])
            for at, label in enumerate(order)
        )

    wins = np.zeros((4, 4))
    for order in permutations(worth):
        for at, label in enumerate(order):
            for other in order[at + 1 :]:
                wins["abcd".index(label), "abcd".index(other)] += chance(order)
    found = strengths(wins)
    assert found - found[2] == pytest.approx(list(worth.values()), abs=1e-9)


def test_a_table_of_four_is_six_comparisons_that_weigh_a_third_each() -> None:
    plans = [
        MatchPlan(0, 0, 0, 0, 0, 0, ("a", "b", "c", "d")),
        MatchPlan(0, 0, 0, 0, 1, 0, ("a", "a", "b", "b")),
    ]
    outcomes = [placed(plans[0], (1, 2, 2, 4)), placed(plans[1], (1, 4, 2, 2))]
    table = gather(field("abcd", 4), outcomes)
    first, second = 3 * wins_by(table, table.match)
    assert first.tolist() == [[0, 1, 1, 1], [0, 0, 0.5, 1], [0, 0.5, 0, 1], [0, 0, 0, 0]]
    # Of one entrant's two seats, each met both of the other's; its own two are not compared.
    assert second[:2, :2].tolist() == [[0, 2], [2, 0]]
    assert second.sum() == 4


def test_strengths_without_bound_are_refused() -> None:
    with pytest.raises(ArithmeticError, match="won or lost every comparison"):
        strengths(np.array([[0, 5.0], [0, 0]]))


def test_entrants_that_never_met_are_told_apart_and_centred_each_for_itself() -> None:
    met: Floats = np.zeros((5, 5))
    for i, j in ((0, 3), (3, 4), (1, 2)):
        met[i, j] = met[j, i] = 1
    assert components(met).tolist() == [0, 1, 1, 0, 0]
    wins = met * np.array([[1.0], [3.0], [1.0], [2.0], [1.0]])
    found = strengths(wins)
    assert found[1] - found[2] == pytest.approx(log(3))
    assert found[[0, 3, 4]].sum() == pytest.approx(0, abs=1e-12)
    assert found[[1, 2]].sum() == pytest.approx(0, abs=1e-12)
