"""A pack of cards in words, for every game that is played with one."""

from __future__ import annotations

from collections.abc import Iterable

from tavolata.v1 import card_pb2

_SHORT_RANKS = {value: name for value, name in enumerate("  23456789TJQKA") if name != " "}


def suit(value: card_pb2.Suit.ValueType) -> str:
    """`hearts`."""
    return card_pb2.Suit.Name(value).removeprefix("SUIT_").lower()


def rank(value: card_pb2.Rank.ValueType) -> str:
    """`7`, `queen`."""
    if value <= card_pb2.RANK_TEN:
        return str(int(value))
    return card_pb2.Rank.Name(value).removeprefix("RANK_").lower()


def suit_of(value: card_pb2.Card.ValueType) -> card_pb2.Suit.ValueType:
    """As card.proto defines it."""
    return card_pb2.Suit.ValueType(1 + (value - 1) // 16)


def rank_of(value: card_pb2.Card.ValueType) -> card_pb2.Rank.ValueType:
    """As card.proto defines it."""
    return card_pb2.Rank.ValueType(2 + (value - 1) % 16)


def card(value: card_pb2.Card.ValueType) -> str:
    """`queen of clubs`."""
    return f"{rank(rank_of(value))} of {suit(suit_of(value))}"


def short_card(value: card_pb2.Card.ValueType) -> str:
    """`QC`, as the rules write it."""
    return _SHORT_RANKS[rank_of(value)] + suit(suit_of(value))[0].upper()


def drawn_card(value: card_pb2.Card.ValueType) -> str:
    """`Q♣`."""
    return _SHORT_RANKS[rank_of(value)].replace("T", "10") + " ♣♦♥♠"[suit_of(value)]


def by_suit(cards: Iterable[card_pb2.Card.ValueType]) -> str:
    """`: clubs 2, 7, ace; hearts queen`, shorter than card by card; empty for no cards."""
    suits: dict[str, list[str]] = {}
    for value in cards:
        suits.setdefault(suit(suit_of(value)), []).append(rank(rank_of(value)))
    told = "; ".join(f"{name} {', '.join(ranks)}" for name, ranks in suits.items())
    return told and f": {told}"
