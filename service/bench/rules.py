"""Playouts per second over the rules of each game."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator

from tavolata.ext.core.cpu import best_build, level
from tavolata.ext.core.game import Game
from tavolata.ext.core.match import Match, Position
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


def mean_moves(game: Game, rounds: int = 40, policy: int = RANDOM) -> float:
    """Decisions in a first round by a policy, on average; counted step by step."""
    draws = random.Random(1)  # noqa: S311 - any random actions will do
    moves = 0
    for number in range(rounds):
        opening = Match(game, number.to_bytes(32, "big"))
        position = Position(game, opening.state_bytes(), number)
        while position.to_act:
            seat = position.to_act[0]
            action = position.rule(seat) if policy == RULE else draws.choice(position.legal(seat))
            position.apply(seat, action)
            moves += 1
    return moves / rounds


def measurements() -> Iterator[Measurement]:
    """Random and rule playouts of a first round at each game's usual seat count, then moves/s.

    The floor is a game of its own: of the game that it is like, its playouts are the reference;
    of the others, its moves.
    """
    for spec in GAMES.values():
        game = spec.make(spec.seats_usual)
        for policy, name in ((RANDOM, "random"), (RULE, "rule")):
            for generic in (True, False):
                yield _measured(game, spec.id, policy, name, generic)
        yield _moves(game, spec.id)


def _moves(game: Game, game_id: str) -> Measurement:
    moves = mean_moves(game)

    def ours() -> float:
        return moves * first_rounds_per_second(game, RANDOM, False)

    def floors() -> float:
        return floor.MOVES * floor.playouts_per_second()

    value, reference = interleaved(REPEATS, ours, floors)
    case = f"{game_id} {game.seat_count} seats, random moves ({moves:.0f} a round), {level()}"
    return Measurement(case, value, "moves/s", f"C floor of a trick game, {level()}", reference)


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
