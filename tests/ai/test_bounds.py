"""What a search may use: time by the clock, memory by the node; and nothing of it is kept."""

from __future__ import annotations

import copy

import pytest

from tavolata.ai.ismcts import IsmctsPlayer
from tavolata.ai.player import Limits
from tavolata.ai.players import player_specs
from tavolata.ai.stop import Stop
from tavolata.ext.registry import GAMES
from tests.ai.situations import observations

SEARCHES = ("flat", "infoset_uct", "ismcts", "pimc")


@pytest.mark.parametrize("game_id", list(GAMES))
def test_the_clock_is_read_after_the_first_iteration(game_id: str) -> None:
    """A tenth of a microsecond is over by then, however slow an iteration is."""
    (opening,) = observations(game_id, 1)
    decision = IsmctsPlayer(opening.game).analyse(
        opening, Limits(think_ms=0.0001), seed=1, stop=Stop()
    )
    assert decision.iterations == 1


@pytest.mark.parametrize("game_id", list(GAMES))
def test_a_search_takes_no_more_nodes_than_it_may(game_id: str) -> None:
    for number, observation in enumerate(observations(game_id, 2)):
        limits = Limits(iterations=1_200, nodes=1_000)
        decision = IsmctsPlayer(observation.game).analyse(
            observation, limits, seed=number, stop=Stop()
        )
        assert decision.nodes <= 1_000
        assert decision.iterations == 1_200


@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.parametrize("game_id", ["bouillabaisse", "mister_bill"])
def test_a_player_keeps_nothing_from_one_decision_to_the_next(game_id: str, name: str) -> None:
    first, other = [each for each in observations(game_id) if len(each.legal_actions) > 1][:2]
    settings = {"belief": 0.8} if name == "ismcts" else {}
    make, limits = player_specs()[name].make, Limits(iterations=300)
    used, fresh = make(first.game, **settings), make(first.game, **settings)
    before = copy.copy(vars(used))
    used.decide(other, limits, seed=3, stop=Stop())
    assert vars(used) == before
    decisions = [player.decide(first, limits, seed=7, stop=Stop()) for player in (used, fresh)]
    assert decisions[0].statistics == decisions[1].statistics
    assert decisions[0].statistics
