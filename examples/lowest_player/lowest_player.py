"""A player of its own package: the legal action with the lowest number, whatever the game."""

from __future__ import annotations

from tavolata.ai.player import Decision, Limits, Observation
from tavolata.ai.stop import Stop
from tavolata.ext.core.game import Game


class LowestPlayer:
    def __init__(self, game: Game) -> None:
        self.game = game

    def decide(
        self, observation: Observation, limits: Limits, *, seed: int, stop: Stop
    ) -> Decision:
        return Decision(observation.legal_actions[0])
