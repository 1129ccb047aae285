"""Café International: seat guests of twelve nations (``seeds/cafe_international/rules.md``)."""

from __future__ import annotations

from tavolata.ext.cafe_international.face import CafeFace
from tavolata.ext.core.cpu import best_build
from tavolata.ext.core.game import Game
from tavolata.ext.core.spec import GameSpec, Options, Rung, SearchHints, options_of


def build(spec: GameSpec, seat_count: int, options: Options) -> Game:
    """The rules for one table; seats and options have been checked by ``spec``."""
    game: Game = best_build(__name__, "_rules").Rules(
        spec, seat_count, options, CafeFace(seat_count, options)
    )
    return game


# As measured in docs/strength.md.
LEVELS = (Rung(4, 2.0), Rung(20, 1.0), Rung(32, 0.5), Rung(40), Rung(150), Rung(1000))

SPEC = GameSpec(
    id="cafe_international",
    name="Café International",
    seats_min=2,
    seats_max=5,
    seats_usual=4,
    rules_version="3",
    options=options_of("cafe_international"),
    build=build,
    search=SearchHints(rule_playouts=True, widening=1.0, levels=LEVELS),
    summary=(
        "A tile-laying game: seat women and men of twelve nations at their tables, never "
        "out of balance and never alone."
    ),
)
