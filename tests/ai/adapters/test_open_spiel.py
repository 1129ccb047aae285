"""OpenSpiel's own tests on every game, its algorithms on them, and players across the bridge."""

from __future__ import annotations

import random
from typing import Any

import pytest

pyspiel = pytest.importorskip("pyspiel", reason="the extra `openspiel` is not installed")

import numpy as np  # noqa: E402
from open_spiel.python import policy as spiel_policy  # noqa: E402
from open_spiel.python.algorithms import outcome_sampling_mccfr  # noqa: E402

from tavolata.ai.adapters.open_spiel_game import TavolataState  # noqa: E402
from tavolata.ai.adapters.open_spiel_players import (  # noqa: E402
    BotPlayer,
    NativeRollouts,
    OpenSpielIsmctsPlayer,
    TavolataBot,
    ismcts_bot,
    load_game,
    policy_bots,
)
from tavolata.ai.basic import GreedyPlayer  # noqa: E402
from tavolata.ai.player import Limits, observe  # noqa: E402
from tavolata.ai.stop import Stop  # noqa: E402
from tavolata.ext.registry import GAMES  # noqa: E402
from tests.ai.adapters.walks import usual  # noqa: E402
from tests.ai.situations import match_at, observations  # noqa: E402


@pytest.mark.parametrize("game_id", list(GAMES))
def test_a_game_passes_openspiels_random_simulation(game_id: str) -> None:
    """Clones, serialization, masks, observations, chance and returns at every step."""
    game = pyspiel.load_game(f"tavolata_{game_id}")
    pyspiel.random_sim_test(game, num_sims=1, serialize=True, verbose=False)


def at_a_decision(game_id: str, decisions: int, **params: Any) -> TavolataState:
    """A state so many random decisions in."""
    game = pyspiel.load_game(f"tavolata_{game_id}", params)
    state: TavolataState = game.new_initial_state()
    draws = random.Random(decisions)
    while state.is_chance_node() or state.history_of_play.decision_count < decisions:
        if state.is_chance_node():
            actions, weights = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(draws.choices(actions, weights)[0])
        else:
            state.apply_action(draws.choice(state.legal_actions()))
    return state


@pytest.mark.parametrize("game_id", list(GAMES))
@pytest.mark.parametrize("native", [True, False])
def test_openspiels_ismcts_plays_every_game_and_repeats_itself(game_id: str, native: bool) -> None:
    """It checks itself that every sampled world has the information state of the true one."""
    state = at_a_decision(game_id, 5)
    limits = Limits(iterations=24 if native else 3)
    chosen = [
        ismcts_bot(state.get_game(), limits, 3, native_playouts=native).step(state)
        for _ in range(2)
    ]
    assert chosen[0] == chosen[1]
    assert chosen[0] in state.legal_actions()


def test_openspiels_mccfr_learns_from_information_states() -> None:
    game = pyspiel.load_game("tavolata_bids(players=3,rounds=1)")
    solver = outcome_sampling_mccfr.OutcomeSamplingSolver(game)
    np.random.seed(1)
    solver.iteration()
    state = at_a_decision("bids", 0, players=3, rounds=1)
    policy = solver.average_policy()
    assert sum(policy.action_probabilities(state).values()) == pytest.approx(1)


@pytest.mark.parametrize("game_id", ["mino_dice", "bouillabaisse"])
def test_playouts_of_both_kinds_have_the_same_mean(game_id: str) -> None:
    """Ours are compiled and start at the same state as OpenSpiel's; both are uniformly random."""
    state = at_a_decision(game_id, 100)
    ours = np.mean([NativeRollouts(seed).evaluate(state) for seed in range(2000)], axis=0)
    draws = random.Random(5)
    ends = []
    for _ in range(60):
        world = state.clone()
        while not world.is_terminal():
            if world.is_chance_node():
                actions, weights = zip(*world.chance_outcomes(), strict=True)
                world.apply_action(draws.choices(actions, weights)[0])
            else:
                world.apply_action(draws.choice(world.legal_actions()))
        ends.append(world.returns())
    # The spread of a reward in [-1, 1] is 1 at most: five standard errors of the mean of 60.
    assert ours == pytest.approx(np.mean(ends, axis=0), abs=5 / 60**0.5)
    assert sum(ours) == pytest.approx(0)


def test_our_player_is_an_openspiel_bot() -> None:
    state = at_a_decision("mino_dice", 0)
    game = state.get_game()
    bots = [TavolataBot(GreedyPlayer(), Limits(iterations=1)) for _ in range(4)]
    returns = pyspiel.evaluate_bots(game.new_initial_state(), bots, 3)
    assert sum(returns) == pytest.approx(0)
    assert max(returns) > 0


def test_our_player_decides_in_openspiel_as_at_our_tables() -> None:
    state = at_a_decision("bids", 13)
    observation = state.history_of_play.observation()
    limits = Limits(iterations=1)
    own = GreedyPlayer().decide(observation, limits, seed=1, stop=Stop())
    assert TavolataBot(GreedyPlayer(), limits).step(state) == own.action


@pytest.mark.parametrize("game_id", list(GAMES))
def test_an_openspiel_bot_plays_at_our_tables(game_id: str) -> None:
    for observation in observations(game_id, 3):
        player = OpenSpielIsmctsPlayer(observation.game)
        decision = player.decide(observation, Limits(iterations=8), seed=2, stop=Stop())
        assert decision.action in observation.legal_actions


def test_a_bot_at_our_tables_is_given_a_world_of_its_seat_and_not_the_position() -> None:
    match = match_at("bouillabaisse", 4, 2, 10)
    observation = observe(match, match.to_act[0])
    states: list[bytes] = []

    class Nosy:
        def step(self, state: TavolataState) -> int:
            history = state.history_of_play
            assert history.view(observation.seat) == observation.view_bytes
            states.append(history.state_bytes())
            return int(state.legal_actions()[0])

    player = BotPlayer(match.game, lambda *_: Nosy())
    for seed in range(3):
        player.decide(observation, Limits(iterations=1), seed=seed, stop=Stop())
    assert len(set(states)) == 3
    assert match.state_bytes() not in states


def test_a_policy_of_openspiel_plays_at_our_tables() -> None:
    rules = usual("mino_dice")
    policy = spiel_policy.UniformRandomPolicy(load_game(rules))
    player = BotPlayer(rules, policy_bots(policy))
    (observation, *_) = observations("mino_dice", 1)
    chosen = {
        player.decide(observation, Limits(iterations=1), seed=seed, stop=Stop()).action
        for seed in range(60)
    }
    assert chosen == set(observation.legal_actions)


def test_settings_reach_the_game_and_wrong_ones_are_refused() -> None:
    game = pyspiel.load_game("tavolata_bids(players=5,rounds=1,ally=off,observation=bytes)")
    assert (game.rules.seat_count, game.rules.options["ally"]) == (5, False)
    assert game.observation_tensor_shape() == [5 + game.rules.state_bytes]
    assert pyspiel.load_game("tavolata_bids(players=5)").rules.options["ally"] is True
    for wrong, said in [
        ({"players": 2}, "seats is 2; allowed: 3 to 6"),
        ({"rounds": 99}, "rounds is 99; allowed: 1 to 20"),
        ({"ally": "perhaps"}, "ally is 'perhaps'; allowed: true, false"),
        ({"reward": "fame"}, "reward is 'fame'; allowed: placement, score"),
    ]:
        with pytest.raises(Exception, match=said):
            pyspiel.load_game("tavolata_bids", wrong)


def test_an_observer_shows_what_one_player_sees_and_nothing_else() -> None:
    state = at_a_decision("bouillabaisse", 3, observation="bytes")
    seat = state.current_player()
    view = state.history_of_play.view(seat)
    tensor = np.asarray(state.observation_tensor(seat))
    assert np.array_equal(np.rint(255 * tensor[4:]).astype(np.uint8), np.frombuffer(view, np.uint8))
    assert state.observation_string(seat) == f"seat {seat} {view.hex()}"
    for kind in (
        pyspiel.IIGObservationType(
            perfect_recall=False, private_info=pyspiel.PrivateInfoType.ALL_PLAYERS
        ),
        pyspiel.IIGObservationType(perfect_recall=False, public_info=False),
    ):
        with pytest.raises(ValueError, match="what one player sees"):
            state.get_game().make_py_observer(kind)


def test_a_search_without_a_limit_in_iterations_is_refused() -> None:
    game = load_game(usual("bids"))
    with pytest.raises(ValueError, match="limited by iterations"):
        ismcts_bot(game, Limits(think_ms=5), 1)
