"""Exact play of last tricks: that it is exact, and that the search comes near it."""

from __future__ import annotations

from collections import Counter
from itertools import islice, product

import pytest

from tavolata.ai.ismcts import IsmctsPlayer
from tavolata.ai.known_world import KnownWorld
from tavolata.ai.listed_worlds import ListedWorlds
from tavolata.ai.player import Limits, observe
from tavolata.ai.stop import Stop
from tavolata.ext.core.game import Game
from tavolata.ext.core.match import Match, Position
from tavolata.ext.mino_dice.dice import DIE_FACES, FACES
from tavolata.ext.registry import GAMES
from tests.ai.endgames import chosen, endgames
from tests.ai.exact import action_values, by_rule, outcomes, worlds_of
from tests.ai.situations import match_at
from tests.games.dealing import spots
from tests.games.positions import holdings
from tests.reference.worlds import enumerate_worlds

CARDS_BEFORE_THE_LAST_TWO_TRICKS = 44
EVENT_PLAYED = 6
FIRST_ROLL = 16  # Mino Dice: actions below are bids


def test_all_worlds_are_found_that_the_reference_enumerates() -> None:
    points = spots("bouillabaisse", (4, {}), 5, 1.0)
    spot = next(islice(points, CARDS_BEFORE_THE_LAST_TWO_TRICKS, None))
    match = spot.point.match
    found = worlds_of(match.game, match.state_bytes(), spot.viewer)
    expected = enumerate_worlds(spot.history)
    assert len(expected) > 10
    assert Counter(holdings(match.game, state) for _, state in found) == Counter(expected)


def test_a_roll_has_the_faces_of_its_die_in_their_proportions() -> None:
    match = Match(GAMES["mino_dice"].make(4), bytes(32))
    while match.legal(match.to_act[0])[0] < FIRST_ROLL:
        match.play(match.to_act[0], 0)
    (seat,) = match.to_act
    action = match.legal(seat)[0]
    faces: Counter[str] = Counter()
    for state, chance in outcomes(match.game, match.state_bytes(), seat, action).items():
        ((_, _, face),) = match.game.view(state, seat).trick  # type: ignore[attr-defined]
        faces[face] += round(6 * chance)
    kind = action - FIRST_ROLL
    assert faces == Counter(FACES[face] for face in DIE_FACES[kind])


def test_best_play_in_a_known_world_is_the_best_of_all_lines() -> None:
    match = match_at("bouillabaisse", 4, 4, CARDS_BEFORE_THE_LAST_TWO_TRICKS - 4)
    (seat,) = match.to_act
    state = match.state_bytes()
    values = action_values(match.game, [(1.0, state)], seat, by_rule)
    best: dict[int, float] = {}
    for line in product(range(3), repeat=3):
        first, utility = _played(match.game, state, seat, line)
        best[first] = max(best.get(first, 0.0), utility)
    assert values == pytest.approx(best)
    assert len(values) > 1


def _played(game: Game, state: bytes, seat: int, line: tuple[int, ...]) -> tuple[int, float]:
    """The first action of the seat and what it gets, if it takes these of its legal actions."""
    position = Position(game, state)
    taken: list[int] = []
    while position.to_act:
        (mover,) = position.to_act
        legal = position.legal(mover)
        if mover == seat:
            taken.append(legal[min(line[min(len(taken), 2)], len(legal) - 1)])
        position.apply(mover, taken[-1] if mover == seat else position.rule(mover))
    return taken[0], position.utility()[seat]


@pytest.mark.parametrize("game_id", ["bouillabaisse", "bids"])
def test_the_search_gives_away_little_of_what_is_at_stake_in_the_last_two_tricks(
    game_id: str,
) -> None:
    """A random action gives away about half of it."""
    positions = list(endgames(game_id, 2, 8))
    at_stake = sum(position.at_stake for position in positions)
    assert at_stake > 0.01
    given_away = sum(
        position.regret(chosen(position, 3_000, number, others_by_rule=2))
        for number, position in enumerate(positions)
    )
    assert given_away <= 0.05 * at_stake


@pytest.mark.parametrize("apart", [False, True])
def test_opponents_by_rule_do_nothing_else_in_the_tree(apart: bool) -> None:
    """In a known world each does the same thing whenever it is at the same place; ``apart``: with
    nodes by what the acting seat was told."""
    match = match_at("bouillabaisse", 4, 3, 5)
    (seat,) = match.to_act
    player = IsmctsPlayer(match.game, others_by_rule=2)
    player.observed_events = 1 << EVENT_PLAYED if apart else 0
    dealer = KnownWorld(match.game, match.state_bytes())
    searcher = player.searcher(observe(match, seat), dealer, Limits(iterations=3_000), 1, Stop())
    searcher.search()
    edges = [row for row in searcher.tree()[1:] if row[1] >= 0]
    replies = Counter(row[0] for row in edges if row[1] != seat)
    assert len(replies) > 100
    assert set(replies.values()) == {1}
    choices = Counter(row[0] for row in edges if row[1] == seat)
    assert max(choices.values()) > 1


def test_listed_worlds_are_dealt_in_proportion_to_their_weights() -> None:
    match = match_at("bouillabaisse", 4, 3, 20)
    weights = [1.0, 0.0, 3.0, 0.5, 1.5]
    counts = Counter(ListedWorlds(match.game, [match.state_bytes()] * 5, weights).sample(1, 12_000))
    assert set(counts) == {0, 2, 3, 4}
    for place, weight in enumerate(weights):
        assert counts[place] == pytest.approx(2_000 * weight, abs=250)


@pytest.mark.parametrize("weights", [[], [1.0], [1.0, -1.0], [0.0, 0.0], [1.0, float("inf")]])
def test_worlds_without_a_weight_each_are_refused(weights: list[float]) -> None:
    match = match_at("bouillabaisse", 4, 3, 20)
    with pytest.raises(ValueError, match="each of one or more worlds needs a weight"):
        ListedWorlds(match.game, [match.state_bytes()] * 2, weights)


def test_a_world_of_another_size_is_refused() -> None:
    match = match_at("bouillabaisse", 4, 3, 20)
    with pytest.raises(ValueError, match="bytes, not 3"):
        ListedWorlds(match.game, [b"abc"], [1.0])
