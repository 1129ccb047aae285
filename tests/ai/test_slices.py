"""Searches with pauses, and searches that compare actions."""

from __future__ import annotations

from typing import Any

import pytest

from tavolata.ai.ismcts import IsmctsPlayer
from tavolata.ai.player import Limits, Observation
from tavolata.ai.search import Searcher
from tavolata.ai.stop import Stop
from tavolata.ext.registry import GAMES
from tests.ai.situations import observations


def searcher_of(observation: Observation, limits: Limits, **settings: Any) -> Searcher:
    """A search of one thread as the player makes it."""
    player = IsmctsPlayer(observation.game, **settings)
    dealer = observation.game.dealer(observation.view_bytes, observation.seat)
    return player.searcher(observation, dealer, limits, 5, Stop())


def found(searcher: Searcher) -> tuple[Any, ...]:
    """All that a search knows, but for the time it took."""
    iterations, nodes, _, rows = searcher.report()
    return iterations, nodes, rows, searcher.tree()


@pytest.mark.parametrize("game_id", GAMES)
def test_where_a_search_pauses_makes_no_difference_to_what_it_finds(game_id: str) -> None:
    limits = Limits(iterations=300)
    for observation in observations(game_id, 3):
        whole, parts, timed = (searcher_of(observation, limits) for _ in range(3))
        whole.search()
        for until in (1, 2, 7, 8, 9, 100, 128, 299):
            assert not parts.search_on(until, 0.0)
            assert parts.report()[0] == until
        assert parts.search_on(0, 0.0)
        while not timed.search_on(0, 0.01):
            pass
        assert found(whole) == found(parts) == found(timed)


def test_a_search_that_pauses_by_the_clock_ends_at_its_limit_of_time() -> None:
    observation = observations("bouillabaisse", 1)[0]
    searcher = searcher_of(observation, Limits(think_ms=20.0))
    pauses = 0
    while not searcher.search_on(0, 2.0):
        pauses += 1
        assert searcher.report()[2] < 20.0
    assert pauses > 1
    assert searcher.report()[2] >= 20.0


def test_a_stopped_search_is_over() -> None:
    observation = observations("bouillabaisse", 1)[0]
    stop = Stop()
    dealer = observation.game.dealer(observation.view_bytes, observation.seat)
    player = IsmctsPlayer(observation.game)
    searcher = player.searcher(observation, dealer, Limits(iterations=10**9), 5, stop)
    assert not searcher.search_on(100, 0.0)
    stop.set()
    assert searcher.search_on(200, 0.0)
    assert searcher.report()[0] == 100


@pytest.mark.parametrize("game_id", GAMES)
@pytest.mark.parametrize("others_by_rule", [False, True])
def test_a_comparison_tries_its_actions_equally_often_and_no_other(
    game_id: str, others_by_rule: bool
) -> None:
    for observation in observations(game_id, 4):
        two = observation.legal_actions[-2:]
        asked = Observation(
            observation.game, observation.seat, observation.turn, observation.view_bytes,
            two, observation.event_words,
        )  # fmt: skip
        searcher = searcher_of(asked, Limits(iterations=200), others_by_rule=others_by_rule)
        searcher.compare()
        searcher.search()
        visits = {row["action"]: row["visits"] for row in searcher.report()[3]}
        assert visits == dict.fromkeys(two, 200 // len(two))
        root = [row for row in searcher.tree()[1:] if row[0] == 0 and row[1] == asked.seat]
        assert {action: tried for _, _, action, tried, *_ in root} == visits
