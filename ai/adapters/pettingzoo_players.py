"""Players across the bridge: policies for PettingZoo at our tables, our players in its loop."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from pettingzoo import AECEnv

from tavolata.ai.adapters.pettingzoo_env import TavolataEnv
from tavolata.ai.adapters.vectors import Encoding
from tavolata.ai.player import Decision, Limits, Observation, Player, observe
from tavolata.ai.stop import Stop
from tavolata.ext.core.game import Game

Policy = Callable[[dict[str, Any]], int]  # the environment's observation -> an action


class PolicyPlayer:
    """A Tavolata player that acts by a policy on the environment's observations.

    observation: the encoding that the policy was trained on.
    """

    def __init__(self, game: Game, policy: Policy, observation: str = "bits") -> None:
        self._encoding, self._policy = Encoding(game, observation), policy

    def decide(
        self, observation: Observation, limits: Limits, *, seed: int, stop: Stop
    ) -> Decision:
        """What the policy says; ValueError if that is not legal."""
        seen = {
            "observation": self._encoding.vector(observation.view_bytes, observation.seat),
            "action_mask": self._encoding.mask(observation.legal_actions),
        }
        action = int(self._policy(seen))
        if action not in observation.legal_actions:
            raise ValueError(
                f"the policy chose {action}; legal: "
                f"{', '.join(map(str, observation.legal_actions))}"
            )
        return Decision(action)


class TavolataPolicy:
    """A player of ours in PettingZoo's loop: called with the environment, it answers for the agent
    that is to act, and is given that agent's observation and nothing else.

    seed: of all its decisions.
    """

    def __init__(self, player: Player, limits: Limits, seed: int = 0) -> None:
        self._player, self._limits = player, limits
        self._draws = random.Random(seed)  # noqa: S311 - nothing secret hangs on it

    def __call__(self, env: AECEnv) -> int:
        """The action; ValueError if the environment is none of ours or is at its end."""
        table = env.unwrapped
        if not isinstance(table, TavolataEnv):
            raise ValueError(f"a player of ours plays in a TavolataEnv, not in {table}")
        observation = observe(table.match, table.seat_of(table.agent_selection))
        seed = self._draws.getrandbits(64)
        return self._player.decide(observation, self._limits, seed=seed, stop=Stop()).action
