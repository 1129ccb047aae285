"""The cards of Bids, and the deal of a table (BI-1 to BI-4).

`R7` is the red 7, `K7` the black 7; specials go by their names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tests.reference.chance import Script
from tests.reference.model import BadOption, checked_options, checked_seats

COLOURS = ["R", "G", "B", "Y"]
BLACK = "K"
NUMBER_MAX = 14
SPECIALS = ["2X", "-5", "Surprise", "Lowest", "Thief", "Ally"]
# In number order: 14 c + v - 1, then 56 + v - 1, then 70 to 75.
DECK = [f"{colour}{v}" for colour in [*COLOURS, BLACK] for v in range(1, NUMBER_MAX + 1)] + SPECIALS
SEATS = range(3, 7)

OPTIONS: dict[str, Sequence[object]] = {
    "five_player_max": [12, 10],
    "minus_five": [True, False],
    "surprise": [False, True],
    "lowest": [False, True],
    "thief": [False, True],
    "ally": [False, True],
    "rounds": [5, *(number for number in range(1, 21) if number != 5)],
    "colours": [False, True],
    "highlight_winning": [True, False],
    "thief_fallback": ["best_bid", "next_worst"],
}


class Row(NamedTuple):
    """A row of BI-1's table; the left-over cards without and with the Ally."""

    colours: int
    highest: int
    blacks_dealt: int
    hand: int
    left_over: int
    left_over_with_ally: int


TABLE = {  # BI-1, by seats and `five_player_max`
    (3, 12): Row(3, 10, 1, 10, 1, -1),
    (3, 10): Row(3, 10, 1, 10, 1, -1),
    (4, 12): Row(4, 10, 1, 10, 1, 2),
    (4, 10): Row(4, 10, 1, 10, 1, 2),
    (5, 12): Row(4, 12, 2, 10, 0, 1),
    (5, 10): Row(4, 10, 2, 8, 2, 3),
    (6, 12): Row(4, 14, 3, 10, -1, 0),
    (6, 10): Row(4, 14, 3, 10, -1, 0),
}


def in_order(cards: Sequence[str]) -> list[str]:
    """Cards in the order of their numbers."""
    return sorted(cards, key=DECK.index)


def number_of(card: str) -> int | None:
    """The number a card bids, or None (BI-10)."""
    if card == "-5":
        return -5
    return None if card in SPECIALS else int(card[1:])


def colour_of(card: str) -> str | None:
    """The colour a card counts for in BI-9: blacks all alike, the Ally for none."""
    if card == "Ally":
        return None
    return BLACK if card in SPECIALS else card[0]


def is_black(card: str) -> bool:
    return colour_of(card) == BLACK


def can_be_stolen(card: str) -> bool:
    """BI-18: black numbers and -5."""
    return is_black(card) and number_of(card) is not None


class Setting:
    """The cards and the deal of a table: BI-1 to BI-4."""

    def __init__(self, seats: int, given: Mapping[str, object]) -> None:
        self.seats = checked_seats(seats, SEATS)
        self.options = checked_options(given, OPTIONS)
        if "ally" not in given:
            self.options["ally"] = seats >= 5  # BI-3
        self._refuse_combinations()
        self.row = TABLE[seats, self._int("five_player_max")]
        self.rounds = self._int("rounds")
        self.hand = self.row.hand
        self.left_over = (
            self.row.left_over_with_ally if self.options["ally"] else self.row.left_over
        )
        numbers = range(1, self.row.highest + 1)
        self.coloured = [f"{c}{v}" for c in COLOURS[: self.row.colours] for v in numbers]
        self.may_be_dealt = [f"{BLACK}{v}" for v in numbers] + ["2X"]
        if self.options["minus_five"]:
            self.may_be_dealt.append("-5")
        if self.options["surprise"]:
            self.may_be_dealt.append("Surprise")
        self.never_dealt = [
            name for name in ("Lowest", "Thief") if self.options[name.lower()]
        ]  # BI-3
        self.ally = ["Ally"] if self.options["ally"] else []
        self.deck = self.coloured + self.may_be_dealt + self.never_dealt + self.ally

    def _int(self, name: str) -> int:
        value = self.options[name]
        assert isinstance(value, int)
        return value

    def _refuse_combinations(self) -> None:
        """BI-4."""
        if self.options["thief"] and self.options["colours"]:
            raise BadOption("thief", [False])
        if self.options["ally"] and self.seats == 3:
            raise BadOption("ally", [False])
        if not self.options["ally"] and self.seats == 6:
            raise BadOption("ally", [True])


def deal_script(
    setting: Setting, round_number: int, hands: Sequence[Sequence[str]], pile: Sequence[str] = ()
) -> Script:
    """The chance of a round that gives these hands and turns the pile up in this order.

    What is on the pile besides follows in number order. Coloured cards in no hand are left over.
    """
    dealt = [card for hand in hands for card in hand]
    left = [card for card in setting.coloured if card not in dealt]
    kept = [card for card in setting.coloured if card in dealt]
    blacks = [card for card in setting.may_be_dealt if card in dealt]
    others = [card for card in setting.may_be_dealt if card not in dealt]
    rest = [card for card in others + setting.never_dealt if card not in pile]
    return {
        ("left_over", round_number, 0): left + kept,
        ("blacks", round_number, 0): blacks + others,
        ("deal", round_number, 0): dealt,
        ("pile", round_number, 0): [*pile, *in_order(rest)],
    }
