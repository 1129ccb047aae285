"""The search: what it counts, what it keeps to, and what it must never do (the traps)."""

from __future__ import annotations

import threading
from collections import Counter, defaultdict

import pytest

from tavolata.ai.ismcts import IsmctsPlayer
from tavolata.ai.player import Decision, Limits, Observation, observe
from tavolata.ai.search import Searcher
from tavolata.ai.stop import Stop
from tavolata.ext.core.cpu import best_build
from tavolata.ext.registry import GAMES
from tests.ai.situations import match_at, observations

ALL = [
    pytest.param(observation, id=f"{game}-{number}")
    for game in GAMES
    for number, observation in enumerate(observations(game))
]


def decide(observation: Observation, seed: int = 1, **limits: int) -> Decision:
    player = IsmctsPlayer(observation.game)
    return player.analyse(observation, Limits(**limits), seed=seed, stop=Stop())


def searched(observation: Observation, iterations: int, seed: int = 1, **how: float) -> Searcher:
    """A search of one thread with the tree still there."""
    loop: type[Searcher] = best_build("tavolata.ai", "_search").Loop
    dealer = observation.game.dealer(observation.view_bytes, observation.seat)
    limits = Limits(iterations=iterations, nodes=int(how.get("nodes", 1_000_000)))
    searcher = loop(
        observation.game,
        dealer,
        observation.seat,
        observation.legal_actions,
        limits,
        Stop(),
        1.0,
        False,
        bool(how.get("others_by_rule", True)),
        sum(1 << kind for kind in observation.game.spec.search.observed_events),
        how.get("widening", 0.0),
        int(how.get("depth", 0)),
        seed,
    )
    searcher.search()
    return searcher


@pytest.mark.parametrize("observation", ALL)
def test_the_decision_is_legal_and_every_legal_action_has_statistics(
    observation: Observation,
) -> None:
    decision = decide(observation, iterations=300)
    assert decision.action in observation.legal_actions
    assert tuple(row.action for row in decision.statistics) == observation.legal_actions
    assert decision.iterations == 300
    assert sum(row.visits for row in decision.statistics) == 300
    for row in decision.statistics:
        assert 0.0 <= row.mean <= 1.0
        assert row.mean == row.utilities[observation.seat]
        assert len(row.utilities) == len(row.scores) == observation.game.seat_count


@pytest.mark.parametrize("observation", ALL)
def test_the_same_observation_limit_and_seed_give_the_same_decision(
    observation: Observation,
) -> None:
    other = observations(observation.game.spec.id, 1)[0]
    first = decide(observation, seed=7, iterations=400)
    decide(other, seed=3, iterations=200)  # nothing may be kept from one decision to the next
    again = decide(observation, seed=7, iterations=400)
    assert (first.action, first.statistics) == (again.action, again.statistics)


@pytest.mark.parametrize("game_id", list(GAMES))
def test_another_seed_searches_other_worlds(game_id: str) -> None:
    opening = observations(game_id, 1)[0]
    assert decide(opening, 1, iterations=400).statistics != (
        decide(opening, 2, iterations=400).statistics
    )


@pytest.mark.parametrize("observation", ALL)
def test_an_edge_is_visited_no_more_often_than_it_was_available(observation: Observation) -> None:
    tree = searched(observation, 2_000).tree()
    for parent, actor, _, visits, availability, reward in tree[1:]:
        if actor < 0:
            continue
        assert 1 <= visits <= availability
        assert 0.0 <= reward <= visits
        reached = tree[parent][3] if parent and tree[parent][1] >= 0 else 2_000
        assert availability <= reached


@pytest.mark.parametrize("observation", ALL)
def test_an_action_is_counted_available_once_an_iteration(observation: Observation) -> None:
    """At the root the seat's actions are there in every world: one new action is tried in each of
    the first iterations, and from then on every iteration makes it available once more."""
    tree = searched(observation, 1_000).tree()
    rows = [row for row in tree[1:] if row[0] == 0 and row[1] == observation.seat]
    assert sum(row[3] for row in rows) == 1_000
    assert sorted(1_000 - row[4] for row in rows) == list(range(len(rows)))


def test_the_first_untried_action_is_any_of_them() -> None:
    observation = observe(
        match_at("bouillabaisse", 4, 3, 0), match_at("bouillabaisse", 4, 3, 0).to_act[0]
    )
    first = Counter(searched(observation, 1, seed).tree()[1][2] for seed in range(400))
    assert set(first) == set(observation.legal_actions)
    assert max(first.values()) < 3 * 400 / len(observation.legal_actions)


def test_slow_widening_tries_few_actions_and_every_one_in_the_end() -> None:
    match = match_at("bouillabaisse", 4, 3, 0)
    observation = observe(match, match.to_act[0])
    few = {row[2] for row in searched(observation, 9, widening=1.0).tree()[1:] if row[0] == 0}
    many = {row[2] for row in searched(observation, 900, widening=1.0).tree()[1:] if row[0] == 0}
    assert len(few) <= 4
    assert many == set(observation.legal_actions)


def test_a_search_of_one_level_has_no_node_below_the_root_s_actions() -> None:
    match = match_at("bouillabaisse", 4, 3, 0)
    observation = observe(match, match.to_act[0])
    tree = searched(observation, 2_000, depth=1).tree()
    assert {row[0] for row in tree[1:]} == {0}
    assert {row[2] for row in tree[1:]} == set(observation.legal_actions)
    assert sum(row[3] for row in tree[1:]) == 2_000


def test_a_full_arena_ends_the_growth_and_not_the_search() -> None:
    match = match_at("bouillabaisse", 4, 3, 0)
    searcher = searched(observe(match, match.to_act[0]), 20_000, nodes=1_000)
    iterations, nodes, _, rows = searcher.report()
    assert nodes == 1_000
    assert iterations == 20_000
    assert sum(row["visits"] for row in rows) == 20_000


def test_simultaneous_decisions_are_searched_for_every_seat() -> None:
    match = match_at("mino_dice", 4, 5, 0)
    assert match.to_act == (0, 1, 2, 3)
    by_actor: dict[int, int] = defaultdict(int)
    tree = searched(observe(match, 2), 1_000, others_by_rule=False).tree()
    for parent, actor, _, visits, _, _ in tree[1:]:
        if parent == 0:
            by_actor[actor] += visits
    assert by_actor == {0: 1_000, 1: 1_000, 2: 1_000, 3: 1_000}


def test_who_has_committed_a_bid_does_not_change_the_decision() -> None:
    match = match_at("mino_dice", 4, 5, 0)
    alone = decide(observe(match, 2), iterations=500)
    match.play(0, match.legal(0)[0])
    match.play(3, match.legal(3)[-1])
    assert decide(observe(match, 2), iterations=500).statistics == alone.statistics


def test_a_single_action_is_taken_at_once_but_analysed_on_demand() -> None:
    match = match_at("bouillabaisse", 4, 1, 0)
    while len(match.legal(match.to_act[0])) > 1:
        match.play(match.to_act[0], match.legal(match.to_act[0])[0])
    observation = observe(match, match.to_act[0])
    player = IsmctsPlayer(match.game)
    limits = Limits(iterations=200)
    assert player.decide(observation, limits, seed=1, stop=Stop()).iterations == 0
    assert player.analyse(observation, limits, seed=1, stop=Stop()).statistics[0].visits == 200


def test_a_stop_flag_that_is_set_still_leaves_a_legal_decision() -> None:
    match = match_at("bouillabaisse", 4, 1, 0)
    observation = observe(match, match.to_act[0])
    stop = Stop()
    stop.set()
    decision = IsmctsPlayer(match.game).decide(
        observation, Limits(iterations=1_000_000_000), seed=1, stop=stop
    )
    assert decision.iterations == 0
    assert decision.action in observation.legal_actions


def test_a_stop_flag_ends_a_search_that_would_take_an_hour() -> None:
    match = match_at("bouillabaisse", 4, 1, 0)
    observation = observe(match, match.to_act[0])
    stop = Stop()
    timer = threading.Timer(0.1, stop.set)
    timer.start()
    decision = IsmctsPlayer(match.game).decide(
        observation, Limits(think_ms=3_600_000), seed=1, stop=stop
    )
    timer.join()
    assert decision.iterations > 0
    assert decision.action in observation.legal_actions


def test_a_time_limit_alone_ends_a_search() -> None:
    match = match_at("mino_dice", 4, 1, 30)
    observation = observe(match, match.to_act[0])
    decision = IsmctsPlayer(match.game).analyse(
        observation, Limits(think_ms=5), seed=1, stop=Stop()
    )
    assert decision.iterations > 0


def test_two_threads_share_the_iterations_and_decide_alike_every_time() -> None:
    match = match_at("bouillabaisse", 4, 2, 8)
    observation = observe(match, match.to_act[0])
    first = decide(observation, iterations=2_000, threads=2)
    assert first.iterations == 2_000
    assert first.statistics == decide(observation, iterations=2_000, threads=2).statistics


@pytest.mark.parametrize(("iterations", "threads"), [(10, 4), (3, 8), (1, 64), (64, 3)])
def test_threads_together_do_exactly_the_iterations(iterations: int, threads: int) -> None:
    match = match_at("bouillabaisse", 4, 2, 8)
    observation = observe(match, match.to_act[0])
    assert decide(observation, iterations=iterations, threads=threads).iterations == iterations


def test_one_visit_says_nothing_about_the_width_of_the_interval() -> None:
    match = match_at("bouillabaisse", 4, 2, 8)
    decision = decide(observe(match, match.to_act[0]), iterations=1)
    assert {row.half_width for row in decision.statistics} == {0.5}


@pytest.mark.parametrize(
    ("limits", "says"),
    [
        ({}, "need iterations or think_ms"),
        ({"iterations": 0}, "iterations is 0; allowed: 1 to"),
        ({"think_ms": 0}, "think_ms is 0; allowed: above 0"),
        ({"iterations": 1, "nodes": 10}, "nodes is 10; allowed: 1000"),
        ({"iterations": 1, "threads": 0}, "threads is 0; allowed: 1 to 64"),
    ],
)
def test_limits_that_can_not_be_are_refused_with_what_can(
    limits: dict[str, int], says: str
) -> None:
    with pytest.raises(ValueError, match=says):
        Limits(**limits)
