"""Histories whose chance is asked: the same matches, and worlds a seat can't tell apart."""

from __future__ import annotations

import copy
import pickle
from collections import Counter
from fractions import Fraction

import pytest

from tavolata.ai.adapters.history import CHANCE, TERMINAL, History
from tavolata.ai.player import observe
from tavolata.ext.core.errors import IllegalAction, MatchOver, NotToAct
from tavolata.ext.core.match import Match
from tavolata.ext.registry import GAMES
from tests.ai.adapters.walks import usual, walk
from tests.ai.situations import observations


@pytest.mark.parametrize("game_id", list(GAMES))
def test_a_history_with_these_outcomes_is_the_match_with_them(game_id: str) -> None:
    game = usual(game_id)
    path = walk(game, 5)
    while path.history.to_act != TERMINAL:
        path.step()
    match = Match(game, bytes(32), script=path.script)
    for seat, action in path.decisions:
        match.play(seat, action)
    assert match.over
    assert match.state_bytes() == path.history.state_bytes()
    assert match.totals() == path.history.totals()
    assert (match.turn, match.decision_count) == (path.history.turn, path.history.decision_count)
    for viewer in range(-1, game.seat_count):
        assert match.view(viewer) == path.history.view(viewer)
        assert match.event_words(viewer) == path.history.told(viewer)


@pytest.mark.parametrize("game_id", list(GAMES))
def test_a_copy_and_a_pickle_go_on_alike_and_by_themselves(game_id: str) -> None:
    path = walk(usual(game_id), 2)
    for _ in range(60):
        path.step()
    twins = [copy.deepcopy(path.history), pickle.loads(pickle.dumps(path.history))]  # noqa: S301 - our own
    before = path.history.content()
    for twin in twins:
        assert twin.content() == before
        while twin.to_act == CHANCE:
            twin.answer(twin.outcomes()[0][0])
        twin.play(twin.legal()[-1])
    assert twins[0].content() == twins[1].content() != before
    assert path.history.content() == before


@pytest.mark.parametrize("game_id", list(GAMES))
def test_a_seat_cant_tell_a_sampled_world_from_the_true_one(game_id: str) -> None:
    path = walk(usual(game_id), 3)
    worlds = set()
    for count in range(0, 40, 8):
        path.to_decision(count)
        true, seat = path.history, path.history.to_act
        for seed in (1, 2**64 - 1):
            world = true.redealt(seat, seed)
            worlds.add(world.state_bytes())
            assert world.information_state(seat) == true.information_state(seat)
            assert world.view(seat) == true.view(seat)
            assert world.observation() == true.observation()
    assert len(worlds) > 5


def test_what_others_are_told_in_a_sampled_world_is_of_that_world() -> None:
    path = walk(usual("bouillabaisse"), 3)
    path.to_decision(10)
    true = path.history
    seat = true.to_act
    other = (seat + 1) % 4
    world = true.redealt(seat, 7)
    assert world.view(other) != true.view(other)
    assert world.information_state(other) == true.redealt(seat, 7).information_state(other)
    assert world.information_state(other) != true.redealt(seat, 8).information_state(other)
    assert world.told(other) == b""


@pytest.mark.parametrize("game_id", list(GAMES))
def test_an_observation_of_a_match_survives_the_way_through_a_world(game_id: str) -> None:
    for observation in observations(game_id, 4):
        assert History.of_observation(observation, 9).observation() == observation


@pytest.mark.parametrize(("game_id", "seat"), [("mino_dice", 0), ("mino_dice", 3)])
def test_any_seat_of_a_simultaneous_decision_is_first_in_its_own_world(
    game_id: str, seat: int
) -> None:
    """Tables ask all seats before any has committed."""
    match = Match(usual(game_id), bytes(32))
    assert match.to_act == (0, 1, 2, 3)
    observation = observe(match, seat)
    world = History.of_observation(observation, 3)
    assert world.observation() == observation
    order = []
    while world.turn == match.turn:
        order.append(world.to_act)
        world.play(world.legal()[0])
    assert order == [seat, *(other for other in range(4) if other != seat)]


def test_a_later_seat_of_a_simultaneous_decision_sees_nothing_of_what_an_earlier_chose() -> None:
    path = walk(usual("mino_dice"), 1)
    path.to_decision(0)
    low, high = path.history.copy(), path.history.copy()
    low.play(low.legal()[0])
    high.play(high.legal()[-1])
    assert (low.to_act, high.to_act, low.turn) == (1, 1, 0)
    assert low.observation() == high.observation()
    assert low.information_state(1) == high.information_state(1)
    assert low.information_state(0) != high.information_state(0)


def test_a_shuffle_is_asked_as_draws_without_putting_back() -> None:
    """The 36 dice of Mino Dice: after the pick of the first seat, a draw is by what is left."""
    history = History(GAMES["mino_dice"].make(4))
    assert history.outcomes() == [(seat, 0.25) for seat in range(4)]
    history.answer(2)
    drawn: Counter[int] = Counter()
    left = history.outcomes()
    sizes = {kind: round(36 * chance) for kind, chance in left}
    assert sum(sizes.values()) == 36
    for number in range(10):
        for kind, chance in history.outcomes():
            exact = Fraction(sizes[kind] - drawn[kind], 36 - number)
            assert chance == pytest.approx(float(exact))
        kind = history.outcomes()[number % len(history.outcomes())][0]
        drawn[kind] += 1
        history.answer(kind)


def test_what_cant_be_is_refused_and_changes_nothing() -> None:
    game = usual("bouillabaisse")
    path = walk(game, 4)
    before = path.history.content()
    with pytest.raises(ValueError, match=r"chance can't give 9 here; possible: \[0, 1, 2, 3\]"):
        path.history.answer(9)
    with pytest.raises(NotToAct):
        path.history.play(0)
    with pytest.raises(ValueError, match="for the seat to act, at a decision"):
        path.history.redealt(0, 1)
    assert path.history.content() == before
    path.to_decision(5)
    before = path.history.content()
    illegal = next(a for a in range(game.action_count) if a not in path.history.legal())
    with pytest.raises(IllegalAction, match=r"\(.+-\d+\)"):
        path.history.play(illegal)
    with pytest.raises(ValueError, match="no viewer 4"):
        path.history.view(4)
    assert path.history.content() == before
    while path.history.to_act != TERMINAL:
        path.step()
    with pytest.raises(MatchOver):
        path.history.play(0)


def test_a_playout_ends_the_match_and_leaves_the_history_alone() -> None:
    path = walk(usual("bids"), 4)
    path.to_decision(5)
    before = path.history.content()
    assert path.history.play_out(1) == path.history.play_out(1)
    assert len({path.history.play_out(seed) for seed in range(8)}) > 1
    assert path.history.content() == before


def test_observations_of_an_earlier_turn_can_be_made_of_the_match_itself() -> None:
    """The observation of a history is that of the match, so that players decide alike in both."""
    game = usual("mister_bill")
    path = walk(game, 6)
    path.to_decision(12)
    expected = path.history.observation()
    rest = copy.deepcopy(path)
    while rest.history.to_act != TERMINAL:
        rest.step()
    match = Match(game, bytes(32), script=rest.script)
    for seat, action in path.decisions:
        match.play(seat, action)
    assert observe(match, match.to_act[0]) == expected
