"""PettingZoo's own tests on every game, and players across the bridge both ways."""

from __future__ import annotations

import pickle
from functools import partial
from typing import Any

import pytest

pytest.importorskip("pettingzoo", reason="the extra `pettingzoo` is not installed")

import numpy as np
from pettingzoo.test import api_test, render_test, seed_test

from tavolata.ai.adapters.pettingzoo_env import TavolataEnv, env
from tavolata.ai.adapters.pettingzoo_players import PolicyPlayer, TavolataPolicy
from tavolata.ai.basic import GreedyPlayer
from tavolata.ai.player import Limits, observe
from tavolata.ai.stop import Stop
from tavolata.ext.core.errors import CombinationError, IllegalAction
from tavolata.ext.registry import GAMES

LIMITS = Limits(iterations=1)

# PettingZoo keeps a list of its own environments with masks in their observations; any other is
# told that its observation is no array.
pytestmark = pytest.mark.filterwarnings("ignore:Observation")


@pytest.mark.parametrize("game_id", list(GAMES))
def test_an_environment_passes_pettingzoos_tests(game_id: str) -> None:
    api_test(env(game_id), num_cycles=1000)
    seed_test(partial(env, game_id), num_cycles=1000)
    render_test(partial(env, game_id))


def test_other_seats_options_and_encodings_pass_too() -> None:
    settings: dict[str, Any] = {"seats": 3, "options": {"rounds": 1, "thief": True}}
    api_test(env("bids", **settings, observation="bytes", reward="score"), num_cycles=100)
    with pytest.raises(CombinationError, match="five_players"):
        env("cafe_international", seats=5)
    with pytest.raises(ValueError, match="max_cycles is 0; allowed: 1 and more"):
        env("bids", max_cycles=0)


def play(table: TavolataEnv, policies: list[Any]) -> dict[str, float]:
    """What each agent was given in all."""
    given = dict.fromkeys(table.possible_agents, 0.0)
    for agent in table.agent_iter():
        _, reward, ended, cut, _ = table.last()
        given[agent] += reward
        table.step(None if ended or cut else policies[table.seat_of(agent)](table))
    return given


def test_rewards_come_once_at_the_end_and_sum_to_nothing() -> None:
    table = TavolataEnv("mino_dice")
    table.reset(seed=4)
    given = play(table, [TavolataPolicy(GreedyPlayer(), LIMITS)] * 4)
    places = table.match.placement()
    assert sum(given.values()) == pytest.approx(0)
    assert sorted(range(4), key=places.__getitem__) == sorted(
        range(4), key=lambda seat: -given[f"seat_{seat}"]
    )


def test_a_match_is_cut_after_max_cycles() -> None:
    table = TavolataEnv("mino_dice", max_cycles=9)
    table.reset(seed=4)
    given = play(table, [TavolataPolicy(GreedyPlayer(), LIMITS)] * 4)
    assert table.match.decision_count == 9
    assert set(given.values()) == {0.0}


def test_an_illegal_action_is_refused_with_its_rule_and_changes_nothing() -> None:
    table = TavolataEnv("bouillabaisse")
    table.reset(seed=1)
    before = table.match.hash
    illegal = int(np.flatnonzero(table.observe(table.agent_selection)["action_mask"] == 0)[0])
    with pytest.raises(IllegalAction, match=r"\(.+-\d+\)"):
        table.step(illegal)
    assert table.match.hash == before


def test_an_agent_sees_no_more_than_its_seat() -> None:
    table = TavolataEnv("bouillabaisse", observation="bytes")
    table.reset(seed=1)
    for seat, agent in enumerate(table.agents):
        seen = table.observe(agent)["observation"]
        assert table.encoding.view(seen) == table.match.view(seat)
        assert table.encoding.view(seen) != table.match.state_bytes()


def test_an_environment_can_be_pickled() -> None:
    table = pickle.loads(pickle.dumps(TavolataEnv("bids", 3, observation="bytes")))  # noqa: S301 - our own
    table.reset(seed=1)
    assert (table.game.seat_count, table.encoding.kind) == (3, "bytes")


def test_a_policy_plays_at_our_tables_by_what_it_would_see_in_the_environment() -> None:
    table = TavolataEnv("bouillabaisse")
    table.reset(seed=2)
    seen: list[dict[str, Any]] = []

    def last_legal(observation: dict[str, Any]) -> int:
        seen.append(observation)
        return int(np.flatnonzero(observation["action_mask"])[-1])

    observation = observe(table.match, table.match.to_act[0])
    player = PolicyPlayer(table.game, last_legal)
    decision = player.decide(observation, LIMITS, seed=1, stop=Stop())
    assert decision.action == observation.legal_actions[-1]
    for key, numbers in table.observe(table.agent_selection).items():
        assert np.array_equal(seen[0][key], numbers)
    with pytest.raises(ValueError, match="the policy chose 9999; legal: "):
        PolicyPlayer(table.game, lambda _: 9999).decide(observation, LIMITS, seed=1, stop=Stop())
