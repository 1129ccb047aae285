"""What a viewer sees of Bids: the view and the events, with cards as names (BI-23)."""

from __future__ import annotations

from dataclasses import dataclass

Card = str  # like "R7", "K7" (black 7), "2X", "-5", "Surprise", "Lowest", "Thief" or "Ally"


@dataclass(frozen=True, slots=True)
class View:
    """A position as one seat or a spectator may know it; seats and rounds as in the rules."""

    round: int
    phase: str  # "bid", "theft" or "over"; "booked" only inside a search
    leader: int
    to_act: tuple[int, ...]
    centre: Card | None
    hands: tuple[tuple[Card, ...] | None, ...]  # None: hidden
    hand_sizes: tuple[int, ...]
    bids: tuple[tuple[int, Card], ...]  # (seat, card) in the order bid
    last_bids: tuple[tuple[int, Card], ...]
    last_centre: Card | None
    last_winner: int | None  # None: burnt, or no trick has ended in this round
    pile_size: int
    pile_known: tuple[Card, ...]  # at the bottom, the lowest last
    left_over: int
    tricks_won: tuple[int, ...]
    won: tuple[tuple[Card, ...], ...]  # blacks with a number that a seat has from this round
    minus_fives: tuple[int, ...]  # in the match
    lucky: tuple[int, ...]  # lucky rounds in the match
    allies: tuple[int, int] | None  # who played the Ally, who won it
    lowest: bool  # the lowest number wins
    winning: int | None
    theft: tuple[tuple[int, Card], ...]  # what may be stolen: (seat, card)
    played: tuple[Card, ...]
    totals: tuple[int, ...]
    points: tuple[int, ...]
    round_points: tuple[tuple[int, ...], ...]  # one row a finished round


@dataclass(frozen=True, slots=True)
class RoundStarted:
    """A round begins (BI-3, BI-5), with so many cards left over and in the pile."""

    round: int
    leader: int
    left_over: int
    pile: int


@dataclass(frozen=True, slots=True)
class Dealt:
    """A seat has got its hand; ``cards`` is None for those who may not see it."""

    seat: int
    count: int
    cards: tuple[Card, ...] | None


@dataclass(frozen=True, slots=True)
class CentreTurned:
    """What is bid for (BI-6)."""

    card: Card


@dataclass(frozen=True, slots=True)
class LowestSet:
    """Lowest has come from the pile and is set aside (BI-14, BI-15)."""


@dataclass(frozen=True, slots=True)
class BidMade:
    """A seat has bid a card (BI-6)."""

    seat: int
    card: Card


@dataclass(frozen=True, slots=True)
class TrickWon:
    """A seat has won the trick (BI-7, BI-9); it leads next."""

    seat: int


@dataclass(frozen=True, slots=True)
class TrickBurnt:
    """Nobody wins the trick (BI-8); ``next`` leads the next one."""

    next: int


@dataclass(frozen=True, slots=True)
class CardTaken:
    """Under Surprise the winner takes a card of the pile (BI-14)."""

    seat: int
    card: Card


@dataclass(frozen=True, slots=True)
class CentreBuried:
    """The centre goes under the pile, as a Surprise was bid (BI-14)."""

    card: Card


@dataclass(frozen=True, slots=True)
class PointsDoubled:
    """The seat's points of this round so far are doubled (BI-11) to ``points``."""

    seat: int
    points: int


@dataclass(frozen=True, slots=True)
class BlacksWon:
    """The seat takes black cards, worth ``points`` together (BI-12)."""

    seat: int
    cards: tuple[Card, ...]
    points: int


@dataclass(frozen=True, slots=True)
class Stolen:
    """A black card changes hands (BI-16 to BI-18)."""

    thief: int
    victim: int
    card: Card


@dataclass(frozen=True, slots=True)
class Allied:
    """Two seats share what they earn in this round (BI-19)."""

    ally: int
    winner: int


@dataclass(frozen=True, slots=True)
class RoundScored:
    """A round's points are booked; ``points`` include ``lucky`` and the alliance (BI-19, BI-20)."""

    round: int
    points: tuple[int, ...]
    lucky: tuple[int, ...]
    totals: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class BonusScored:
    """A seat has won -5 often enough (BI-13)."""

    seat: int
    points: int


Event = (
    RoundStarted
    | Dealt
    | CentreTurned
    | LowestSet
    | BidMade
    | TrickWon
    | TrickBurnt
    | CardTaken
    | CentreBuried
    | PointsDoubled
    | BlacksWon
    | Stolen
    | Allied
    | RoundScored
    | BonusScored
)
