"""Mino Dice: bid how many tricks your dice will take (``seeds/mino_dice/rules.md``)."""

from __future__ import annotations

from tavolata.ext.core.cpu import best_build
from tavolata.ext.core.game import Game
from tavolata.ext.core.spec import GameSpec, Options, Rung, SearchHints, options_of
from tavolata.ext.mino_dice.face import MinoDiceFace


def build(spec: GameSpec, seat_count: int, options: Options) -> Game:
    """The rules for one table; seats and options have been checked by ``spec``."""
    game: Game = best_build(__name__, "_rules").Rules(
        spec, seat_count, options, MinoDiceFace(seat_count)
    )
    return game


# As measured in docs/strength.md.
LEVELS = (Rung(8, 1.0), Rung(14, 1.0), Rung(24, 1.0), Rung(48, 1.0), Rung(64), Rung(3000))

SPEC = GameSpec(
    id="mino_dice",
    name="Mino Dice",
    seats_min=3,
    seats_max=6,
    seats_usual=4,
    rules_version="1",
    options=options_of("mino_dice"),
    build=build,
    search=SearchHints(levels=LEVELS),
    summary=(
        "A trick-taking game with dice: foresee how many tricks your dice will win, then win "
        "exactly that many."
    ),
)
