"""Flat Monte Carlo: the actions at the root compared by playouts, without a tree below them."""

from __future__ import annotations

from tavolata.ai.ismcts import IsmctsPlayer
from tavolata.ext.core.game import Game


class FlatPlayer(IsmctsPlayer):
    """One level of UCB over the legal actions, the rest played out by the rule of thumb.

    Where every turn of chance makes a new position, a tree hardly comes back to the same place;
    then this sees as far for less. exploration: as in IsmctsPlayer.
    """

    depth = 1

    def __init__(self, game: Game, *, exploration: float | None = None) -> None:
        super().__init__(game, exploration=exploration, rule_playouts=True, widening=0.0)
