"""Playouts per second over the rules of each game."""

from __future__ import annotations

import time
from collections.abc import Iterator

from tavolata.ext.core.cpu import best_build, level
from tavolata.ext.core.game import Game
from tavolata.ext.registry import GAMES
from tavolata.service.bench import floor
from tavolata.service.bench.measurement import Measurement, interleaved

RANDOM, RULE = 0, 1
REPEATS = 7
FLOOR_GAME = "bouillabaisse"  # four seats, 52 cards, 13 tricks: the work that the floor does
GENERIC_GOAL, OWN_GOAL = 0.40, 0.75


def first_rounds_per_second(game: Game, policy: int, generic: bool, seconds: float = 0.3) -> float:
    """First rounds dealt and played out per second on one core."""
    loop = best_build("tavolata.ext.core", "_playout").Loop()
    count = 64
    while True:
        started = time.perf_counter()
        loop.first_rounds(game, count, 1, policy, generic)
        elapsed = time.perf_counter() - started
        if elapsed >= seconds / 4:
            return count / elapsed
        count *= 4


def measurements() -> Iterator[Measurement]:
    """Random and rule playouts of a first round at each game's usual seat count."""
    for spec in GAMES.values():
        game = spec.make(spec.seats_usual)
        for policy, name in ((RANDOM, "random"), (RULE, "rule")):
            for generic in (True, False):
                yield _measured(game, spec.id, policy, name, generic)


def _measured(game: Game, game_id: str, policy: int, name: str, generic: bool) -> Measurement:
    how = "generic loop" if generic else "own playout"
    case = f"{game_id} {game.seat_count} seats, {name} playouts, {how}, {level()}"

    def ours() -> float:
        return first_rounds_per_second(game, policy, generic)

    if game_id == FLOOR_GAME and policy == RANDOM:
        value, reference = interleaved(REPEATS, ours, floor.playouts_per_second)
        goal = GENERIC_GOAL if generic else OWN_GOAL
        return Measurement(case, value, "playouts/s", f"C floor, {level()}", reference, goal)
    (value,) = interleaved(REPEATS, ours)
    return Measurement(case, value, "playouts/s")
