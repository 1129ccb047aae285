"""The player that sees all: what it is shown, and where it may sit."""

from __future__ import annotations

import pytest

from tavolata.ai.arena.cheating import CheatingPlayer, Truth, arena_player_spec
from tavolata.ai.arena.duplicate import Entrant, deal_seed, play_match
from tavolata.ai.player import Decision, Limits, Observation, observe
from tavolata.ai.players import UnknownPlayer, player_spec, player_specs
from tavolata.ai.search import Searcher
from tavolata.ai.stop import Stop
from tavolata.ext.registry import GAMES
from tests.ai.situations import match_at

LIMITS = Limits(iterations=30)


def test_it_has_no_name_outside_of_matches_in_this_process() -> None:
    assert arena_player_spec("cheating").make is CheatingPlayer
    assert "cheating" not in player_specs()
    with pytest.raises(UnknownPlayer, match="there is no player 'cheating'"):
        player_spec("cheating")


def test_it_decides_nothing_until_it_has_been_shown_the_position_again() -> None:
    match = match_at("bouillabaisse", 4, 3, 0)
    player = CheatingPlayer(match.game)
    observation = observe(match, match.to_act[0])
    player.see(match.state_bytes())
    assert player.decide(observation, LIMITS, seed=1, stop=Stop()).iterations == 30
    with pytest.raises(ValueError, match="has to be shown the position first"):
        player.decide(observation, LIMITS, seed=1, stop=Stop())


def test_its_tree_has_the_cards_that_others_hold_and_no_others() -> None:
    match = match_at("bids", 4, 3, 0)
    seat = match.to_act[0]
    trees = []

    class Watched(CheatingPlayer):
        def _searched(
            self, observation: Observation, limits: Limits, seed: int, stop: Stop
        ) -> list[Searcher]:
            searchers = super()._searched(observation, limits, seed, stop)
            trees.extend(searchers[0].tree()[1:])
            return searchers

    player = Watched(match.game)
    Truth(match, [player]).show(player)
    player.decide(observe(match, seat), Limits(iterations=2_000), seed=1, stop=Stop())
    seen = {(actor, action) for _, actor, action, *_ in trees if actor >= 0 and actor != seat}
    held = {
        (other, action)
        for other in range(4)
        for action in _cards_of(match.game.unpack(match.state_bytes()), other)
    }
    assert len(seen) > 20
    assert seen <= held


def _cards_of(position: dict[str, list[int]], seat: int) -> set[int]:
    coloured, black = position["hand"][seat], position["black"][seat]
    cards = {card for card in range(56) if coloured >> card & 1}
    return cards | {56 + card for card in range(20) if black >> card & 1}


def test_what_others_choose_at_the_same_time_it_does_not_see() -> None:
    """Bids of Mino Dice: the position shown is the one before the first of them is committed."""
    match = match_at("mino_dice", 4, 5, 0)
    player = CheatingPlayer(match.game)
    truth = Truth(match, [player])
    before = observe(match, 3)
    shown = []
    for seat in range(4):
        truth.show(player)
        shown.append(player.decide(before, LIMITS, seed=1, stop=Stop()))
        match.play(seat, match.legal(seat)[seat % 2])
    assert shown[0].statistics == shown[3].statistics


def test_a_match_shows_it_every_position_and_other_players_none() -> None:
    game = GAMES["mino_dice"].make(3)
    asked: list[int] = []

    class Counting(CheatingPlayer):
        def decide(
            self, observation: Observation, limits: Limits, *, seed: int, stop: Stop
        ) -> Decision:
            asked.append(observation.seat)
            return super().decide(observation, limits, seed=seed, stop=stop)

    class CountingEntrant(Entrant):
        def make(self, game: object) -> Counting:
            return Counting(GAMES["mino_dice"].make(3))

    entrants = (
        CountingEntrant("sees", "cheating", Limits(iterations=2)),
        Entrant("greedy", "greedy", LIMITS),
        Entrant("searches", "ismcts", Limits(iterations=2)),
    )
    match, results = play_match(game, entrants, deal_seed(1, 1), lambda number: number)
    assert match.over
    assert asked == [0] * results[0].decisions
