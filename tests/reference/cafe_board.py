"""The board, the tiles and the bar of Café International, from `seeds/` (CI-1 to CI-3)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

SEEDS = Path(__file__).parents[2] / "seeds" / "cafe_international"
BOARD = json.loads((SEEDS / "board.json").read_text(encoding="utf-8"))
TILES = json.loads((SEEDS / "tiles.json").read_text(encoding="utf-8"))

NATIONS: list[str] = [nation["id"] for nation in BOARD["nations"]]
KINDS: list[str] = [kind["id"] for kind in TILES["kinds"]]
NATION_OF: dict[str, str | None] = {kind["id"]: kind["nation"] for kind in TILES["kinds"]}
SEX_OF: dict[str, str] = {kind["id"]: kind["sex"] for kind in TILES["kinds"]}
ALL_TILES: list[str] = [kind["id"] for kind in TILES["kinds"] for _ in range(kind["count"])]
BAR: list[int] = BOARD["bar"]

TABLE_NATION: dict[int, str] = {table["id"]: table["nation"] for table in BOARD["tables"]}
CHAIRS_OF: dict[int, list[int]] = {
    table["id"]: sorted(table["chairs"].values()) for table in BOARD["tables"]
}
TABLES_OF: dict[int, list[int]] = {chair["id"]: chair["tables"] for chair in BOARD["chairs"]}
CHAIRS: list[int] = sorted(TABLES_OF)


class Guest(NamedTuple):
    """Who sits on a chair; the nation is that of a declared joker (CI-19), else None."""

    kind: str
    nation: str | None = None


def is_joker(kind: str) -> bool:
    return NATION_OF[kind] is None


def in_order(kinds: list[str]) -> list[str]:
    """Tiles in the order of their kinds."""
    return sorted(kinds, key=KINDS.index)


def nations_of(chair: int) -> list[str]:
    """The nations of a chair's tables, in nation order; one if both are the same."""
    nations = {TABLE_NATION[table] for table in TABLES_OF[chair]}
    return sorted(nations, key=NATIONS.index)


def fits(kind: str, chair: int) -> bool:
    """CI-6: one of the chair's tables is of the guest's nation; a joker fits everywhere."""
    return is_joker(kind) or NATION_OF[kind] in nations_of(chair)


FITTING: dict[str, list[int]] = {
    kind: [chair for chair in CHAIRS if fits(kind, chair)] for kind in KINDS
}


def is_native(guest: Guest, table: int) -> bool:
    """CI-13 and CI-19: whether the guest counts as one of the table's nation."""
    if is_joker(guest.kind):
        return guest.nation in (None, TABLE_NATION[table])
    return NATION_OF[guest.kind] == TABLE_NATION[table]
