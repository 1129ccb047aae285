"""Players that do what players may not, each at decisions that it tells by its seed alone.

Otherwise they play by the rule of thumb. ``PLAYERS`` has all of them by name.
"""

from __future__ import annotations

import ctypes
import os
import time
from typing import Any

from tavolata.ai.basic import GreedyPlayer
from tavolata.ai.player import Decision, Limits, Observation
from tavolata.ai.stop import Stop
from tavolata.ext.core.game import Game


class Sound(GreedyPlayer):
    """Does nothing wrong."""

    def __init__(self, game: Game) -> None:
        super().__init__()

    def decide(
        self, observation: Observation, limits: Limits, *, seed: int, stop: Stop
    ) -> Decision:
        if seed % 4 == 0:
            answer = self.misbehave(observation)
            if answer is not None:
                return Decision(answer)
        return super().decide(observation, limits, seed=seed, stop=stop)

    def misbehave(self, observation: Observation) -> Any:
        """The action to give, None for the right one."""
        return None


class Illegal(Sound):
    def misbehave(self, observation: Observation) -> Any:
        return max(observation.legal_actions) + 1


class Nonsense(Sound):
    def misbehave(self, observation: Observation) -> Any:
        return "pass"


class Raising(Sound):
    def misbehave(self, observation: Observation) -> Any:
        raise ZeroDivisionError("what is one of none?")


class Quitting(Sound):
    """Leaves by SystemExit, as ``sys.exit`` does."""

    def misbehave(self, observation: Observation) -> Any:
        raise SystemExit(3)


class Exiting(Sound):
    """Takes its process down without a word."""

    def misbehave(self, observation: Observation) -> Any:
        os._exit(7)


class Segfaulting(Sound):
    def misbehave(self, observation: Observation) -> Any:
        ctypes.string_at(0)


class Looping(Sound):
    def misbehave(self, observation: Observation) -> Any:
        while True:
            pass


class Sleeping(Sound):
    def misbehave(self, observation: Observation) -> Any:
        time.sleep(3600)


class Holding(Sound):
    """Never lets another thread of its process run."""

    def misbehave(self, observation: Observation) -> Any:
        ctypes.PyDLL(None).sleep(3600)


class Late(Sound):
    """Answers right, but after 30 ms."""

    def misbehave(self, observation: Observation) -> Any:
        time.sleep(0.03)


class Unmakeable(Sound):
    def __init__(self, game: Game) -> None:
        raise RuntimeError("no model file")


class Printing(Sound):
    """Talks."""

    def misbehave(self, observation: Observation) -> Any:
        print("hello", flush=True)


PLAYERS: dict[str, type[Sound]] = {
    cls.__name__.lower(): cls
    for cls in (
        Sound,
        Illegal,
        Nonsense,
        Raising,
        Quitting,
        Unmakeable,
        Late,
        Printing,
        Exiting,
        Segfaulting,
        Looping,
        Sleeping,
        Holding,
    )
}
