"""Walks through a game's tree at random, and what chance gave on the way."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from tavolata.ai.adapters.history import CHANCE, TERMINAL, History
from tavolata.ext.core.game import Game
from tavolata.ext.registry import GAMES


def usual(game_id: str) -> Game:
    """A game at its usual number of seats."""
    spec = GAMES[game_id]
    return spec.make(spec.seats_usual)


@dataclass
class Walk:
    """A history with the decisions taken in it and the chance in it, as a match can be told it."""

    history: History
    draws: random.Random
    script: dict[tuple[str, int, int], int | list[int]] = field(default_factory=dict)
    decisions: list[tuple[int, int]] = field(default_factory=list)

    def step(self) -> None:
        """One outcome of chance or one decision."""
        history = self.history
        if history.to_act == CHANCE:
            outcomes, weights = zip(*history.outcomes(), strict=True)
            self._answer(self.draws.choices(outcomes, weights)[0])
        else:
            action = self.draws.choice(history.legal())
            self.decisions.append((history.to_act, action))
            history.play(action)

    def _answer(self, outcome: int) -> None:
        question, picks, left, drawn = self.history.content()[8:12]
        left.remove(outcome)
        key = (self.history.game.purposes[question[0]], question[1], question[2])
        self.script[key] = outcome if picks else [*drawn, outcome, *left]
        self.history.answer(outcome)

    def to_decision(self, count: int) -> None:
        """On to a decision, that many decisions in, or to the last before the end."""
        while self.history.to_act != TERMINAL:
            if self.history.to_act != CHANCE and self.history.decision_count >= count:
                return
            self.step()


def walk(game: Game, seed: int) -> Walk:
    """A walk that has not begun."""
    return Walk(History(game), random.Random(seed))
