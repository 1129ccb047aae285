"""Board, guests and bar from ``seeds``, as numbers. Tables and chairs count from 0."""

from __future__ import annotations

from tavolata.ext.core import seeds

GAME = "cafe_international"
_BOARD = seeds.load_json(GAME, "board")
_TILES = seeds.load_json(GAME, "tiles")

NATIONS: tuple[str, ...] = tuple(nation["id"] for nation in _BOARD["nations"])
NATION_NAMES: tuple[str, ...] = tuple(nation["name"] for nation in _BOARD["nations"])
KINDS: tuple[str, ...] = tuple(kind["id"] for kind in _TILES["kinds"])
COUNTS: tuple[int, ...] = tuple(kind["count"] for kind in _TILES["kinds"])
HAND_LIMIT: int = _TILES["hand_limit"]
BAR: tuple[int, ...] = tuple(_BOARD["bar"])

TABLE_NATIONS: tuple[int, ...] = tuple(NATIONS.index(table["nation"]) for table in _BOARD["tables"])
TABLE_CHAIRS: tuple[tuple[int, ...], ...] = tuple(
    tuple(sorted(chair - 1 for chair in table["chairs"].values())) for table in _BOARD["tables"]
)
CHAIR_TABLES: tuple[tuple[int, ...], ...] = tuple(
    tuple(table - 1 for table in chair["tables"]) for chair in _BOARD["chairs"]
)
CHAIR_NATIONS: tuple[tuple[int, ...], ...] = tuple(
    tuple(sorted({TABLE_NATIONS[table] for table in tables})) for tables in CHAIR_TABLES
)
FIRST_JOKER: int = 2 * len(NATIONS)

# The rules reckon with kind = 2 x nation + sex, women first, jokers last, and the board's counts.
_WANTED = tuple((nation, sex) for nation in (*NATIONS, None) for sex in ("woman", "man"))
if tuple((kind["nation"], kind["sex"]) for kind in _TILES["kinds"]) != _WANTED:
    raise seeds.SeedError(f"{GAME}/tiles.json", "kinds", "women and men by nation, jokers last")
if (len(NATIONS), len(TABLE_NATIONS), len(CHAIR_TABLES), sum(COUNTS), len(BAR)) != (
    12,
    24,
    68,
    100,
    20,
):
    raise seeds.SeedError(f"{GAME}/board.json", "counts", "12 nations, 24 tables, 68 chairs")


def is_joker(kind: int) -> bool:
    """Whether a kind is a joker."""
    return kind >= FIRST_JOKER


def is_man(kind: int) -> bool:
    """Whether guests of a kind are men."""
    return kind % 2 == 1


def fits(kind: int, chair: int) -> bool:
    """CI-6: a guest sits at a table of its nation, a joker anywhere."""
    return is_joker(kind) or kind // 2 in CHAIR_NATIONS[chair]


def kind_number(name: str) -> int:
    """The number of a kind such as ``africa_woman``; ValueError says how they are written."""
    if name in KINDS:
        return KINDS.index(name)
    raise ValueError(
        f"{name!r} is no guest; guests are joker_woman, joker_man and the women and men of "
        f"{', '.join(NATIONS)}, like {KINDS[0]}"
    )


def nation_number(name: str) -> int:
    """The number of a nation such as ``africa``; ValueError says which there are."""
    if name in NATIONS:
        return NATIONS.index(name)
    raise ValueError(f"{name!r} is no nation; nations are {', '.join(NATIONS)}")


def chair_number(text: str) -> int:
    """The number, from 0, of a chair written as 1 to 68; ValueError says so."""
    if text in map(str, range(1, len(CHAIR_TABLES) + 1)):
        return int(text) - 1
    raise ValueError(f"{text!r} is no chair; chairs are 1 to {len(CHAIR_TABLES)}")
