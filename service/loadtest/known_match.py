"""A match that is played along here, by the same rules and from the same seed, so that nobody has
to ask the server what may be played."""

from __future__ import annotations

import random
from dataclasses import dataclass

from tavolata.ext.core.match import Match
from tavolata.ext.registry import game_spec
from tavolata.service.codecs import codec_of
from tavolata.v1.game_pb2 import Action


@dataclass(frozen=True, slots=True)
class Move:
    """An action for a seat. after: the decisions, one of which is open once it is recorded."""

    seat: int
    turn: int
    number: int
    action: Action
    after: frozenset[int]


class KnownMatch:
    """Random legal actions from the first to the last."""

    def __init__(self, game: str, seats: int, seed: bytes, draws: random.Random) -> None:
        self._match = Match(game_spec(game).make(seats), seed)
        self._codec = codec_of(game)
        self._draws = draws

    def moves(self) -> list[Move]:
        """An action for every seat that has to act, and the match after them; none when it is
        over."""
        match = self._match
        if match.over:
            return []
        turn = match.turn
        chosen = [(seat, self._draws.choice(match.legal(seat))) for seat in match.to_act]
        for seat, number in chosen:
            match.play(seat, number)
        # Seats that choose at the same time may be recorded in any order: only the last goes on.
        after = frozenset({match.turn} if len(chosen) == 1 else {turn, match.turn})
        action = self._codec.action_to
        return [Move(seat, turn, number, action(number), after) for seat, number in chosen]
