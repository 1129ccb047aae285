"""The reference models by game id."""

from __future__ import annotations

from collections.abc import Mapping

from tests.reference.bids import Bids
from tests.reference.bouillabaisse import Bouillabaisse
from tests.reference.cafe_international import CafeInternational
from tests.reference.chance import Script
from tests.reference.mino_dice import MinoDice
from tests.reference.mister_bill import MisterBill

AnyModel = Bids | Bouillabaisse | CafeInternational | MinoDice | MisterBill

GAMES: dict[str, type[AnyModel]] = {
    "bids": Bids,
    "bouillabaisse": Bouillabaisse,
    "cafe_international": CafeInternational,
    "mino_dice": MinoDice,
    "mister_bill": MisterBill,
}


def new_model(
    game: str,
    seats: int,
    options: Mapping[str, object],
    seed: bytes = bytes(32),
    script: Script | None = None,
) -> AnyModel:
    """A match at its first decision; BadOption if the table can't be made (G-1)."""
    return GAMES[game].with_deal(seats, options, script or {}, seed)
