"""Our ISMCTS as a bot among OpenSpiel's uniformly random ones, in OpenSpiel's own loop.

python open_spiel_match.py [GAME] [MATCHES]
"""

from __future__ import annotations

import sys

import pyspiel

import tavolata.ai.adapters.open_spiel_game  # noqa: F401 - registers the games
from tavolata.ai.adapters.open_spiel_players import TavolataBot
from tavolata.ai.ismcts import IsmctsPlayer
from tavolata.ai.player import Limits


def main(name: str = "mino_dice", matches: int = 5) -> None:
    game = pyspiel.load_game(f"tavolata_{name}")
    seats = game.num_players()
    total = 0.0
    for match in range(matches):
        own = match % seats
        bots = [pyspiel.make_uniform_random_bot(seat, match) for seat in range(seats)]
        bots[own] = TavolataBot(IsmctsPlayer(game.rules), Limits(iterations=500), seed=match)
        returns = pyspiel.evaluate_bots(game.new_initial_state(), bots, match)
        print(f"match {match}: seat {own} of {seats} got {returns[own]:+.2f}")
        total += returns[own]
    print(f"mean {total / matches:+.2f}; -1 is last, +1 first, 0 what chance would give")


if __name__ == "__main__":
    main(*sys.argv[1:2], *map(int, sys.argv[2:3]))
