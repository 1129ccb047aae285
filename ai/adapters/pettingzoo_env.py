"""Every game as a PettingZoo AEC environment over a match.

Seats are the agents ``seat_0`` and on. Those of a simultaneous decision act one after another, the
lowest first, and see nothing of what the others chose.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.utils import EzPickle, seeding
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from tavolata.ai.adapters.games import game_of
from tavolata.ai.adapters.vectors import Encoding, Reward
from tavolata.ext.core.match import Match
from tavolata.ext.core.spec import OptionValue
from tavolata.ext.registry import game_spec

SEED_DOMAIN = b"tavolata.pettingzoo.v1\x00"
SPECTATOR = -1  # the viewer of a match who sits nowhere
RENDER_MODES = ("ansi", "human")


def env(game: str, **settings: Any) -> AECEnv:
    """The environment of a game with PettingZoo's checks of order and range around it; its
    parameters are those of TavolataEnv."""
    return wrappers.OrderEnforcingWrapper(
        wrappers.AssertOutOfBoundsWrapper(TavolataEnv(game, **settings))
    )


class TavolataEnv(AECEnv, EzPickle):
    """A table of a game.

    game: its id; seats: as many as usual unless given; options: of the game, by name; reward and
    observation: see ``vectors.Reward`` and ``vectors.Encoding``; max_cycles: decisions after which
    a match is truncated, all rewards 0; render_mode: ``ansi`` gives the spectator's view as text,
    ``human`` prints it after every step.
    Errors: UnknownGame, SettingError and ValueError say what is wrong and what is allowed.
    """

    metadata = {  # noqa: RUF012 - PettingZoo reads it so
        "render_modes": list(RENDER_MODES),
        "name": "tavolata_v0",
        "is_parallelizable": False,
        "render_fps": 1,
    }

    def __init__(
        self,
        game: str,
        seats: int | None = None,
        options: Mapping[str, OptionValue] | None = None,
        *,
        reward: str = "placement",
        observation: str = "bits",
        max_cycles: int | None = None,
        render_mode: str | None = None,
    ) -> None:
        EzPickle.__init__(
            self,
            game,
            seats,
            options,
            reward=reward,
            observation=observation,
            max_cycles=max_cycles,
            render_mode=render_mode,
        )
        AECEnv.__init__(self)
        if max_cycles is not None and max_cycles < 1:
            raise ValueError(f"max_cycles is {max_cycles}; allowed: 1 and more, or None")
        if render_mode not in (None, *RENDER_MODES):
            raise ValueError(f"render_mode is {render_mode!r}; allowed: {', '.join(RENDER_MODES)}")
        spec = game_spec(game)
        self.game = game_of(game, spec.seats_usual if seats is None else seats, options or {})
        self.encoding = Encoding(self.game, observation)
        self.reward = Reward(spec.low_wins, reward)
        self.max_cycles, self.render_mode = max_cycles, render_mode
        self.possible_agents = [f"seat_{seat}" for seat in range(self.game.seat_count)]
        self.agents: list[str] = []
        self.observation_spaces = {agent: self._observed() for agent in self.possible_agents}
        self.action_spaces = {
            agent: spaces.Discrete(self.game.action_count) for agent in self.possible_agents
        }
        self._random, _ = seeding.np_random()

    def _observed(self) -> spaces.Dict:
        size, actions = (self.encoding.size,), (self.game.action_count,)
        return spaces.Dict(
            {
                "observation": spaces.Box(0, self.encoding.highest, size, np.uint8),
                "action_mask": spaces.Box(0, 1, actions, np.int8),
            }
        )

    def observation_space(self, agent: str) -> spaces.Dict:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal a match. seed: of this match and all that follow until the next seed; what is in
        ``options`` is not looked at."""
        if seed is not None:
            self._random, _ = seeding.np_random(seed)
        self.match = Match(self.game, hashlib.sha256(SEED_DOMAIN + self._random.bytes(32)).digest())
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.agent_selection = self.possible_agents[self.match.to_act[0]]

    def observe(self, agent: str) -> dict[str, Any]:
        """The agent's view as numbers, and a mask of its legal actions, all 0 if it can't act."""
        seat = self.seat_of(agent)
        acts = agent == self.agent_selection and not self.match.over
        return {
            "observation": self.encoding.vector(self.match.view(seat), seat),
            "action_mask": self.encoding.mask(self.match.legal(seat) if acts else ()),
        }

    def seat_of(self, agent: str) -> int:
        """The seat of an agent."""
        return self.possible_agents.index(agent)

    def step(self, action: int | None) -> None:
        """Take the action of the agent to act; IllegalAction, with its rule, changes nothing."""
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        if action is None:
            raise ValueError(f"{agent} is to act; None is for agents that are done")
        self.match.play(self.seat_of(agent), int(action))
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        self._settle()
        self._accumulate_rewards()
        if self.render_mode == "human":
            self.render()

    def _settle(self) -> None:
        """Who is next, or what the end is worth."""
        if self.match.over:
            self.terminations = dict.fromkeys(self.agents, True)
            rewards = self.reward.of(self.match.totals())
            self.rewards = dict(zip(self.agents, rewards, strict=True))
            return
        if self.max_cycles is not None and self.match.decision_count >= self.max_cycles:
            self.truncations = dict.fromkeys(self.agents, True)
        self.agent_selection = self.possible_agents[self.match.to_act[0]]

    def render(self) -> str | None:
        """The spectator's view as text, or print it; None without a render mode."""
        if self.render_mode is None:
            return None
        text = str(self.game.view(self.match.view(SPECTATOR), SPECTATOR))
        if self.render_mode == "ansi":
            return text
        print(text)
        return None

    def close(self) -> None:
        """Nothing is held open."""
