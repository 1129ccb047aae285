"""Positions to decide in, made by playing seeded matches part of the way."""

from __future__ import annotations

import random

from tavolata.ai.player import Observation, observe
from tavolata.ext.core.match import Match
from tavolata.ext.registry import GAMES


def match_at(game_id: str, seats: int, seed: int, decisions: int) -> Match:
    """A match after so many random decisions; or at its last open decision, if it is shorter."""
    match = Match(GAMES[game_id].make(seats), seed.to_bytes(32, "big"))
    draws = random.Random(seed)
    for _ in range(decisions):
        seat = match.to_act[0]
        twin = match.copy()
        twin.play(seat, draws.choice(match.legal(seat)))
        if twin.over:
            break
        match = twin
    return match


def observations(game_id: str, count: int = 6) -> list[Observation]:
    """Observations from all over a match at the usual number of seats."""
    seats = GAMES[game_id].seats_usual
    matches = [match_at(game_id, seats, seed, 23 * seed) for seed in range(count)]
    return [observe(match, match.to_act[0]) for match in matches]
