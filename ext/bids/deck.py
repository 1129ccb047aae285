"""Cards and tables of Bids from ``seeds/bids``, as numbers for the rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tavolata.ext.core import seeds
from tavolata.ext.core.spec import OptionValue

GAME = "bids"
_DATA = seeds.load_json(GAME, "deck")
COLOURS: tuple[str, ...] = tuple(colour["id"] for colour in _DATA["colours"])
COLOUR_LETTERS: tuple[str, ...] = tuple(colour[0].upper() for colour in COLOURS)
NUMBER_MAX: int = max(row["number_max"] for row in _DATA["tables"])
FIRST_BLACK: int = NUMBER_MAX * len(COLOURS)
FIRST_SPECIAL: int = FIRST_BLACK + NUMBER_MAX
SPECIALS: tuple[str, ...] = tuple(card["id"] for card in _DATA["special_cards"])
_SPECIAL_NAMES: tuple[str, ...] = tuple(card["name"] for card in _DATA["special_cards"])
DOUBLE, MINUS_FIVE, SURPRISE, LOWEST, THIEF, ALLY = range(FIRST_SPECIAL, FIRST_SPECIAL + 6)
CARD_COUNT: int = FIRST_SPECIAL + len(SPECIALS)
BONUS_COUNT: int = _DATA["minus_five_bonus"]["count"]
BONUS_POINTS: int = _DATA["minus_five_bonus"]["points"]
BLACK_LETTER = "K"


def card_name(card: int) -> str:
    """The card as text, like ``R7``, ``K7`` (black 7) or ``2X``; ValueError if there is none."""
    if not 0 <= card < CARD_COUNT:
        raise ValueError(f"no card has the number {card}")
    if card >= FIRST_SPECIAL:
        return _SPECIAL_NAMES[card - FIRST_SPECIAL]
    letters = (*COLOUR_LETTERS, BLACK_LETTER)
    return f"{letters[card // NUMBER_MAX]}{card % NUMBER_MAX + 1}"


_NUMBERS: dict[str, int] = {card_name(card): card for card in range(CARD_COUNT)}


def card_number(name: str) -> int:
    """The number of a card such as ``R7``; ValueError says how cards are written."""
    if name in _NUMBERS:
        return _NUMBERS[name]
    raise ValueError(
        f"{name!r} is no card; a card is one of {''.join(COLOUR_LETTERS)}, or {BLACK_LETTER} for "
        f"black, with a number 1 to {NUMBER_MAX}, or one of {', '.join(_SPECIAL_NAMES)}"
    )


def number_on(card: int) -> int | None:
    """What a card bids and scores; None if it carries no number (BI-10)."""
    if card < FIRST_SPECIAL:
        return card % NUMBER_MAX + 1
    number: int | None = _DATA["special_cards"][card - FIRST_SPECIAL]["number"]
    return number


@dataclass(frozen=True, slots=True)
class Table:
    """The cards of one table, each list in the order of card numbers (BI-1 to BI-3)."""

    number_max: int
    coloured: tuple[int, ...]
    dealable: tuple[int, ...]  # blacks that may be in hands
    piled: tuple[int, ...]  # blacks that never are
    blacks_dealt: int
    ally: bool
    left_over: int
    hand_size: int
    lucky_factor: int


def table_for(seat_count: int, options: Mapping[str, OptionValue]) -> Table:
    """The cards of a table with 3 to 6 seats and all its options."""
    row = next(
        row
        for row in _DATA["tables"]
        if row["seats"] == seat_count
        and row["five_player_max"] in (None, options["five_player_max"])
    )
    blacks = [
        (FIRST_SPECIAL + number, special["in_hands"])
        for number, special in enumerate(_DATA["special_cards"])
        if special["black"] and (special["option"] is None or options[special["option"]])
    ]
    numbers = range(row["number_max"])
    ally = bool(options["ally"])
    return Table(
        number_max=row["number_max"],
        coloured=tuple(
            NUMBER_MAX * colour + number for colour in range(row["colours"]) for number in numbers
        ),
        dealable=(
            *(FIRST_BLACK + number for number in numbers),
            *(card for card, in_hands in blacks if in_hands),
        ),
        piled=tuple(card for card, in_hands in blacks if not in_hands),
        blacks_dealt=row["blacks_dealt"],
        ally=ally,
        left_over=row["left_over_with_ally" if ally else "left_over_without_ally"],
        hand_size=row["hand"],
        lucky_factor=_DATA["lucky_factor"][str(seat_count)],
    )
