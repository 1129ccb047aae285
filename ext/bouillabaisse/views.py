"""What a viewer sees of La bouillabaisse: the view and the events, with cards as names (BO-19)."""

from __future__ import annotations

from dataclasses import dataclass

Card = str  # rank and suit, like "QC"


@dataclass(frozen=True, slots=True)
class View:
    """A position as one seat or a spectator may know it; seats and rounds as in the rules."""

    round: int
    phase: str  # "play" or "over"; "booked" only inside a search
    dealer: int
    leader: int
    to_act: tuple[int, ...]
    led_suit: str | None
    hands: tuple[tuple[Card, ...] | None, ...]  # None: hidden
    hand_sizes: tuple[int, ...]
    trick: tuple[tuple[int, Card], ...]  # (seat, card) in the order played
    last_trick: tuple[tuple[int, Card], ...]
    last_winner: int | None
    tricks_taken: tuple[int, ...]
    drawn_suit: str | None
    drawn_rank: str | None
    drawn_card: Card | None
    voids: tuple[tuple[str, ...], ...]  # suits a seat has shown to be out of
    played: tuple[Card, ...]
    totals: tuple[int, ...]
    points: tuple[int, ...]
    round_points: tuple[tuple[int, ...], ...]  # one row a finished round
    removed: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class RoundStarted:
    """A round begins (BO-3)."""

    round: int
    dealer: int
    leader: int


@dataclass(frozen=True, slots=True)
class Dealt:
    """A seat has got its hand; ``cards`` is None for those who may not see it."""

    seat: int
    count: int
    cards: tuple[Card, ...] | None


@dataclass(frozen=True, slots=True)
class SuitDrawn:
    """The suit that costs from now on (BO-10)."""

    suit: str


@dataclass(frozen=True, slots=True)
class RankDrawn:
    """The rank that costs from now on (BO-11)."""

    rank: str


@dataclass(frozen=True, slots=True)
class CardDrawn:
    """The card that costs from now on (BO-12)."""

    card: Card


@dataclass(frozen=True, slots=True)
class Played:
    """A seat has played a card."""

    seat: int
    card: Card


@dataclass(frozen=True, slots=True)
class TrickTaken:
    """A seat has taken the trick, with these points (BO-5)."""

    seat: int
    points: int


@dataclass(frozen=True, slots=True)
class RoundScored:
    """A round's points are booked (BO-18)."""

    round: int
    points: tuple[int, ...]
    totals: tuple[int, ...]


Event = RoundStarted | Dealt | SuitDrawn | RankDrawn | CardDrawn | Played | TrickTaken | RoundScored
