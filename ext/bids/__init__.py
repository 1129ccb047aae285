"""Bids: open bids with number cards for black point cards (``seeds/bids/rules.md``)."""

from __future__ import annotations

from tavolata.ext.bids.face import BidsFace
from tavolata.ext.core.cpu import best_build
from tavolata.ext.core.game import Game
from tavolata.ext.core.spec import GameSpec, Options, Rung, SearchHints, options_of


def build(spec: GameSpec, seat_count: int, options: Options) -> Game:
    """The rules for one table; seats and options have been checked by ``spec``."""
    game: Game = best_build(__name__, "_rules").Rules(
        spec, seat_count, options, BidsFace(seat_count, options)
    )
    return game


# As measured in docs/strength.md.
LEVELS = (Rung(4, 1.0), Rung(12, 1.0), Rung(16, 0.5), Rung(24), Rung(80), Rung(1500))

SPEC = GameSpec(
    id="bids",
    name="Bids",
    seats_min=3,
    seats_max=6,
    seats_usual=4,
    rules_version="1",
    options=options_of("bids"),
    build=build,
    search=SearchHints(rule_playouts=True, levels=LEVELS),
    summary=(
        "Bid number cards in the open for the black point card in the middle; equal bids burn "
        "the trick, and the most points win."
    ),
)
