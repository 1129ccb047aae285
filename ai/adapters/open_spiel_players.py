"""Players across the bridge: OpenSpiel's bots and policies at our tables, our players as its bots.

A bot at our table is given a world dealt from its observation, never the position itself: nothing
that it could look at tells it more than its seat knows.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pyspiel
from open_spiel.python.algorithms import ismcts
from open_spiel.python.algorithms.mcts import RandomRolloutEvaluator

from tavolata.ai.adapters.history import CHANCE, TERMINAL, History
from tavolata.ai.adapters.open_spiel_game import PREFIX, SWITCH, Table, TavolataGame, TavolataState
from tavolata.ai.player import Decision, Limits, Observation, Player
from tavolata.ai.stop import Stop
from tavolata.ext.core.game import Game

BotFactory = Callable[[TavolataGame, int, Limits, int], Any]  # (game, seat, limits, seed) -> bot

UCT_C = 1.0  # rewards span 2, so twice what is usual for 0 to 1


def load_game(rules: Game, reward: str = "placement", observation: str = "bits") -> TavolataGame:
    """The OpenSpiel game of a table of ours."""
    names = {value: name for name, value in SWITCH.items()}
    params: dict[str, Any] = {}
    for option in rules.spec.options:
        value = rules.options[option.name]
        params[option.name] = names[bool(value)] if option.default_by_seats else value
    params |= {"players": rules.seat_count, "reward": reward, "observation": observation}
    game: TavolataGame = pyspiel.load_game(PREFIX + rules.spec.id, params)
    return game


class BotPlayer:
    """A Tavolata player that is an OpenSpiel bot, made anew for every decision.

    make: called with the game, the seat, the limits and a seed; what it makes has ``step(state)``.
    A bot that needs what happened in earlier rounds has to play in OpenSpiel's own loop: an
    observation has the events of the round only.
    """

    def __init__(self, game: Game, make: BotFactory) -> None:
        self._game = load_game(game)
        self._make = make

    def decide(
        self, observation: Observation, limits: Limits, *, seed: int, stop: Stop
    ) -> Decision:
        """What the bot does; ValueError if that is not legal."""
        state = TavolataState(self._game, History.of_observation(observation, seed))
        action = int(self._make(self._game, observation.seat, limits, seed).step(state))
        if action not in observation.legal_actions:
            raise ValueError(
                f"the bot chose {action}; legal: {', '.join(map(str, observation.legal_actions))}"
            )
        return Decision(action, iterations=limits.iterations or 0)


class OpenSpielIsmctsPlayer(BotPlayer):
    """OpenSpiel's ISMCTS with as many simulations as the limits allow iterations.

    exploration: its uct_c; native_playouts: random playouts by our compiled rules, not by
    OpenSpiel step by step; the same distribution, many times as fast.
    """

    def __init__(
        self, game: Game, *, exploration: float = UCT_C, native_playouts: bool = True
    ) -> None:
        super().__init__(game, self._bot)
        self.exploration, self.native_playouts = exploration, native_playouts

    def _bot(self, game: TavolataGame, seat: int, limits: Limits, seed: int) -> pyspiel.Bot:
        return ismcts_bot(game, limits, seed, self.exploration, self.native_playouts)


def ismcts_bot(
    game: TavolataGame,
    limits: Limits,
    seed: int,
    exploration: float = UCT_C,
    native_playouts: bool = True,
) -> pyspiel.Bot:
    """OpenSpiel's ISMCTS, in its Python form: the compiled one can't be told how to sample a world
    of a game in Python. ValueError without a limit in iterations."""
    if limits.iterations is None:
        raise ValueError("OpenSpiel's ISMCTS is limited by iterations, not by time")
    draws = np.random.RandomState(seed & 0xFFFFFFFF)
    evaluator = NativeRollouts(seed) if native_playouts else RandomRolloutEvaluator(1, draws)
    return SeededIsmcts(game, evaluator, exploration, limits.iterations, random_state=draws)


class SeededIsmcts(ismcts.ISMCTSBot):
    """OpenSpiel's ISMCTS that draws its worlds from its own generator, so that it repeats."""

    def resample_from_infostate(self, state: TavolataState) -> TavolataState:
        return state.resample_from_infostate(state.current_player(), self.random_number)


class NativeRollouts:
    """An evaluator for OpenSpiel's searches in Python: one playout by our compiled rules, at random
    or by the rule of thumb. Priors are even."""

    def __init__(self, seed: int, by_rule: bool = False) -> None:
        self._draws = random.Random(seed)  # noqa: S311 - nothing secret hangs on it
        self._by_rule = by_rule

    def evaluate(self, state: TavolataState) -> list[float]:
        """The rewards at the end of one playout from a decision or a chance node."""
        history = state.history_of_play
        if history.to_act == TERMINAL:
            return state.returns()
        if history.to_act == CHANCE:
            history = history.copy()
            while history.to_act == CHANCE:
                outcomes, weights = zip(*history.outcomes(), strict=True)
                history.answer(self._draws.choices(outcomes, weights)[0])
        totals = history.play_out(self._draws.getrandbits(64), self._by_rule)
        table: Table = state.get_game().table
        return table.reward.of(totals)

    def prior(self, state: TavolataState) -> list[tuple[int, float]]:
        """Every action or outcome with its probability before anything is known."""
        if state.is_chance_node():
            return state.chance_outcomes()
        legal = state.legal_actions()
        return [(action, 1 / len(legal)) for action in legal]


def policy_bots(policy: Any) -> BotFactory:
    """For BotPlayer: bots that act by an OpenSpiel policy, an object with
    ``action_probabilities(state)``."""

    def make(game: TavolataGame, seat: int, limits: Limits, seed: int) -> PolicyBot:
        return PolicyBot(policy, seed)

    return make


class PolicyBot:
    """Draws its actions from a policy."""

    def __init__(self, policy: Any, seed: int) -> None:
        self._policy = policy
        self._draws = random.Random(seed)  # noqa: S311 - nothing secret hangs on it

    def step(self, state: pyspiel.State) -> int:
        """An action by the policy's probabilities."""
        actions, weights = zip(*self._policy.action_probabilities(state).items(), strict=True)
        return int(self._draws.choices(actions, weights)[0])


class TavolataBot(pyspiel.Bot):
    """A player of ours as an OpenSpiel bot: for every seat for which it is asked.

    It is given the observation of the seat to act and nothing else. seed: of all its decisions.
    """

    def __init__(self, player: Player, limits: Limits, seed: int = 0) -> None:
        super().__init__()
        self._player, self._limits = player, limits
        self._draws = random.Random(seed)  # noqa: S311 - nothing secret hangs on it

    def step(self, state: TavolataState) -> int:
        """The player's action at a decision."""
        return self.decide(state).action

    def decide(self, state: TavolataState) -> Decision:
        """The same with all that the player says about it."""
        seed = self._draws.getrandbits(64)
        observation = state.history_of_play.observation()
        return self._player.decide(observation, self._limits, seed=seed, stop=Stop())

    def restart_at(self, state: pyspiel.State) -> None:
        """Nothing to do: no player keeps anything from one decision to the next."""

    def provides_policy(self) -> bool:
        """Whether it can say its probabilities: it can't."""
        return False
