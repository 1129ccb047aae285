"""Kinds of cards, team cards and score piles from ``seeds/mister_bill``, as numbers."""

from __future__ import annotations

from tavolata.ext.core import seeds
from tavolata.ext.core.spec import Options

GAME = "mister_bill"
_DATA = seeds.load_json(GAME, "cards")
KINDS: tuple[str, ...] = tuple(kind["id"] for kind in _DATA["kinds"])
NAMES: tuple[str, ...] = tuple(kind["name"] for kind in _DATA["kinds"])
WAITERS: tuple[int, ...] = tuple(
    number for number, kind in enumerate(_DATA["kinds"]) if kind["group"] == "waiter"
)
MISTER_BILL: int = next(n for n, kind in enumerate(_DATA["kinds"]) if kind["group"] == "bill")
SHIFT_CHANGE: int = next(
    n for n, kind in enumerate(_DATA["kinds"]) if kind["group"] == "shift_change"
)
PILES: tuple[tuple[int, ...], ...] = tuple(
    tuple(_DATA["score_piles"][str(number)]) for number in (1, 2, 3)
)
_COLOURS: dict[int, int] = {card["number"]: card["colour"] for card in _DATA["team_cards"]}


def counts_of(options: Options) -> tuple[int, ...]:
    """How many cards of each kind are dealt (MB-1)."""
    return tuple(
        kind["count"] if kind["count_option"] is None else int(options[kind["count_option"]])
        for kind in _DATA["kinds"]
    )


def team_of(number: int, alone: bool) -> int:
    """The team, from 0, of the seat with a team card; alone, every number is one (MB-2, MB-4)."""
    return number - 1 if alone else _COLOURS[number] - 1


def plays_alone(round_number: int, options: Options) -> bool:
    """Whether every seat is a team of one in a round (MB-4)."""
    return round_number == len(PILES) or options["teams"] == "solo"


def value_of(completed: int, round_number: int, options: Options) -> int:
    """What each member of the next team to complete takes after ``completed`` teams (MB-20)."""
    left = values_left(completed, round_number, options)
    return left[0] if left else 0


def values_left(completed: int, round_number: int, options: Options) -> tuple[int, ...]:
    """What the next teams to complete take, one value a team, the first first (MB-20)."""
    cards = 1 if plays_alone(round_number, options) else 2  # a team of one sets the twin aside
    return PILES[round_number - 1][::cards][completed:]


def kind_number(name: str) -> int:
    """The number of a kind such as ``sushi``; ValueError says which there are."""
    if name in KINDS:
        return KINDS.index(name)
    raise ValueError(f"{name!r} is no card; cards are {', '.join(KINDS)}")
