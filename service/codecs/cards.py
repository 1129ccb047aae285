"""The pack of 52 cards: the names that the rules use for it, and the API's enums."""

from __future__ import annotations

from collections.abc import Mapping

from tavolata.v1.card_pb2 import Card, Rank, Suit

SUITS: Mapping[str, Suit.ValueType] = {
    Suit.Name(value)[len("SUIT_")]: value for value in Suit.values() if value
}
RANKS: Mapping[str, Rank.ValueType] = dict(
    zip("23456789TJQKA", (value for value in sorted(Rank.values()) if value), strict=True)
)


def _card(rank: int, suit: int) -> Card.ValueType:
    """card.proto states the value."""
    return Card.ValueType(1 + 16 * (suit - 1) + (rank - 2))


CARDS: Mapping[str, Card.ValueType] = {
    rank + suit: _card(RANKS[rank], SUITS[suit]) for suit in SUITS for rank in RANKS
}
