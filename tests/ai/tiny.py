"""Tables of two seats with a handful of cards or dice, small enough for exact answers.

No such table can be opened: its cards are put in the place of those in ``seeds/`` while the rules
are made. A match is one round, so that what it is worth is the match's own result.
"""

from __future__ import annotations

from contextlib import ExitStack
from unittest.mock import patch

from tavolata.ext.bids import deck, face
from tavolata.ext.core.game import Game
from tavolata.ext.core.match import Match, Position
from tavolata.ext.core.spec import OptionValue
from tavolata.ext.mino_dice import dice
from tavolata.ext.registry import GAMES

SEATS = 2


def bids(hand: int, numbers: int) -> Game:
    """Two colours of so many numbers, and the blacks 1, 2 and 5; what is not dealt is left over."""
    coloured = [deck.NUMBER_MAX * colour + number for colour in (0, 1) for number in range(numbers)]
    table = deck.Table(
        number_max=numbers,
        coloured=tuple(coloured),
        dealable=tuple(deck.FIRST_BLACK + number - 1 for number in (1, 2, 5)),
        piled=(),
        blacks_dealt=0,
        ally=False,
        left_over=len(coloured) - SEATS * hand,
        hand_size=hand,
        lucky_factor=0,
    )
    with ExitStack() as patches:
        for module in (deck, face):
            patches.enter_context(patch.object(module, "table_for", lambda *_: table))
        return _made("bids", {"rounds": 1})


def mino_dice(counts: tuple[int, ...], hands: int) -> Game:
    """So many dice of each kind in the bag, and so many hands of one die, two dice, ..."""
    with ExitStack() as patches:
        patches.enter_context(patch.object(dice, "COUNTS", counts))
        patches.enter_context(patch.object(dice, "hands_of", lambda *_: hands))
        return _made("mino_dice", {})


def _made(game_id: str, options: dict[str, OptionValue]) -> Game:
    spec = GAMES[game_id]
    return spec.build(spec, SEATS, spec.complete(spec.seats_min, options))


def last_round(game: Game, seed: int = 1) -> bytes:
    """The first position of the last round; the rounds before it go by the rule of thumb."""
    match = Match(game, seed.to_bytes(32, "big"))
    opening, begun = match.state_bytes(), match.round_start
    while not match.over:
        if match.round_start > begun:
            opening, begun = match.state_bytes(), match.round_start
        seat = match.to_act[0]
        match.play(seat, Position(game, match.state_bytes()).rule(seat))
    return opening
