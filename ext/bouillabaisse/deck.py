"""Decks, removed cards and rounds from ``seeds/bouillabaisse``, as numbers for the rules."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from tavolata.ext.core import seeds

GAME = "bouillabaisse"
_DATA = seeds.load_json(GAME, "deck")
SUITS: tuple[str, ...] = tuple(suit["symbol"] for suit in _DATA["suits"])
SUIT_NAMES: tuple[str, ...] = tuple(suit["name"].lower() for suit in _DATA["suits"])
RANKS: tuple[str, ...] = tuple(_DATA["ranks"])
DRAWABLE: tuple[int, ...] = tuple(RANKS.index(rank) for rank in _DATA["drawable_ranks"])


def card_number(name: str) -> int:
    """16 x suit + rank of a card such as ``QC``; ValueError says how cards are written."""
    if len(name) == 2 and name[0] in RANKS and name[1] in SUITS:
        return 16 * SUITS.index(name[1]) + RANKS.index(name[0])
    raise ValueError(
        f"{name!r} is no card; a card is a rank of {''.join(RANKS)} and a suit of {''.join(SUITS)}"
    )


def card_name(card: int) -> str:
    """The card as rank and suit, like ``QC``."""
    return RANKS[card % 16] + SUITS[card // 16]


@dataclass(frozen=True, slots=True)
class Round:
    """What counts in one round: points for a trick and for each kind of drawn card."""

    rule: str
    draw: str | None
    sign: int
    trick: int
    suit: int
    rank: int
    card: int


@dataclass(frozen=True, slots=True)
class Deck:
    """The cards in play at a table of some size (BO-2)."""

    cards: tuple[int, ...]  # first deck in card order, then the second
    decks: int
    hand_size: int
    removed: tuple[int, ...]


@cache
def rounds() -> tuple[Round, ...]:
    """The six rounds in order (BO-9 to BO-14)."""
    return tuple(
        Round(
            rule=row["rule"],
            draw=row["draw"],
            sign=row["sign"],
            **{
                item: sum(term["points"] for term in row["terms"] if term["item"] == item)
                for item in ("trick", "suit", "rank", "card")
            },
        )
        for row in _DATA["rounds"]
    )


@cache
def deck_for(seat_count: int) -> Deck:
    """The deck of a table with 2 to 12 seats."""
    key = str(seat_count)
    removed = tuple(card_number(name) for name in _DATA["removed"][key])
    left_out = list(removed)
    cards = []
    for _ in range(_DATA["decks"][key]):
        for card in (16 * suit + rank for suit in range(len(SUITS)) for rank in range(len(RANKS))):
            if card in left_out:
                left_out.remove(card)
            else:
                cards.append(card)
    return Deck(tuple(cards), _DATA["decks"][key], _DATA["hand_size"][key], removed)
