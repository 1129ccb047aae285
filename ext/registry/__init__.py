"""Every game there is: the one place that names them."""

from __future__ import annotations

from tavolata.ext import bids, bouillabaisse, cafe_international, mino_dice, mister_bill
from tavolata.ext.core.spec import GameSpec

GAMES: dict[str, GameSpec] = {
    spec.id: spec
    for spec in (
        mino_dice.SPEC,
        bouillabaisse.SPEC,
        bids.SPEC,
        cafe_international.SPEC,
        mister_bill.SPEC,
    )
}


class UnknownGame(LookupError):
    """No game has this id."""

    def __init__(self, game_id: str) -> None:
        super().__init__(f"there is no game {game_id!r}; there are: {', '.join(GAMES)}")
        self.game_id = game_id


def game_spec(game_id: str) -> GameSpec:
    """The spec of a game; UnknownGame says which there are."""
    try:
        return GAMES[game_id]
    except KeyError:
        raise UnknownGame(game_id) from None
