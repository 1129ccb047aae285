"""La bouillabaisse: six rounds, six aims, lowest total wins (``seeds/bouillabaisse/rules.md``)."""

from __future__ import annotations

from tavolata.ext.bouillabaisse.face import BouillabaisseFace
from tavolata.ext.core.cpu import best_build
from tavolata.ext.core.game import Game
from tavolata.ext.core.spec import GameSpec, Options, Rung, SearchHints, options_of


def build(spec: GameSpec, seat_count: int, options: Options) -> Game:
    """The rules for one table; seats and options have been checked by ``spec``."""
    game: Game = best_build(__name__, "_rules").Rules(
        spec, seat_count, options, BouillabaisseFace(seat_count)
    )
    return game


# As measured in docs/strength.md.
LEVELS = (Rung(4, 1.0), Rung(12, 1.0), Rung(24, 0.7), Rung(40, 0.2), Rung(200), Rung(5000))

SPEC = GameSpec(
    id="bouillabaisse",
    name="La bouillabaisse",
    seats_min=2,
    seats_max=12,
    seats_usual=4,
    rules_version="1",
    options=options_of("bouillabaisse"),
    build=build,
    search=SearchHints(levels=LEVELS),
    low_wins=True,
    summary=(
        "A trick-taking game of six rounds with six different aims: in all but the last, "
        "the point is not to take things."
    ),
)
