"""Mister Bill: waiters, dishes, and who is left with the bill (``seeds/mister_bill/rules.md``)."""

from __future__ import annotations

from tavolata.ext.core.cpu import best_build
from tavolata.ext.core.game import Game
from tavolata.ext.core.spec import GameSpec, Options, Rung, SearchHints, options_of
from tavolata.ext.mister_bill.face import MisterBillFace

# What seats do, as each is told of it: waiter_played, declined, gave. To keep apart what they draw,
# too, shows no gain (docs/strength.md).
OBSERVED_EVENTS = (5, 6, 8)


def build(spec: GameSpec, seat_count: int, options: Options) -> Game:
    """The rules for one table; seats and options have been checked by ``spec``."""
    game: Game = best_build(__name__, "_rules").Rules(
        spec, seat_count, options, MisterBillFace(seat_count, options)
    )
    return game


# As measured in docs/strength.md.
LEVELS = (Rung(4, 1.0), Rung(12, 2.0), Rung(20, 1.0), Rung(32), Rung(150), Rung(1500))

SPEC = GameSpec(
    id="mister_bill",
    name="Mister Bill",
    seats_min=3,
    seats_max=8,
    seats_usual=4,
    rules_version="1",
    options=options_of("mister_bill"),
    build=build,
    search=SearchHints(observed_events=OBSERVED_EVENTS, levels=LEVELS),
    hides_single_actions=True,  # MB-10
    summary=(
        "An Old-Maid game with waiters: lay down pairs, let waiters move cards between hands, and "
        "don't be the one who is left with the bill. Two rounds in pairs, one alone."
    ),
)
