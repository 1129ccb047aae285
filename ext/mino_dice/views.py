"""What a viewer sees of Mino Dice: view and events, with dice and faces as names (MD-19)."""

from __future__ import annotations

from dataclasses import dataclass

Kind = str  # of a die, like "red"
Face = str  # "minotaur", "griffin", "mermaid", "flag" or "1" to "7"


@dataclass(frozen=True, slots=True)
class View:
    """A position as one seat or a spectator may know it; seats and hands as in the rules."""

    hand: int  # also the number of dice drawn
    phase: str  # "bid", "roll" or "over"; "booked" only inside a search
    first_player: int
    leader: int
    to_act: tuple[int, ...]
    led_colour: Kind | None
    dice: tuple[tuple[Kind, ...] | None, ...]  # None: hidden
    dice_counts: tuple[int, ...]
    bag_count: int
    committed: tuple[int, ...]  # seats that have bid
    bids: tuple[int | None, ...]  # None: not committed, or hidden
    trick: tuple[tuple[int, Kind, Face], ...]  # (seat, die, face) in the order rolled
    last_trick: tuple[tuple[int, Kind, Face], ...]
    last_winner: int | None
    tricks_taken: tuple[int, ...]
    voids: tuple[tuple[Kind, ...], ...]  # colours a seat has shown to be out of
    totals: tuple[int, ...]
    points: tuple[int, ...]  # zeros: a hand scores only when it ends
    round_points: tuple[tuple[int, ...], ...]  # one row a finished hand


@dataclass(frozen=True, slots=True)
class HandStarted:
    """A hand begins (MD-3, MD-5)."""

    hand: int
    first_player: int


@dataclass(frozen=True, slots=True)
class Drawn:
    """A seat has drawn its dice; ``dice`` is None for those who may not see them."""

    seat: int
    count: int
    dice: tuple[Kind, ...] | None


@dataclass(frozen=True, slots=True)
class BidCommitted:
    """A seat has bid; ``bid`` is None for those who may not see it yet (MD-4)."""

    seat: int
    bid: int | None


@dataclass(frozen=True, slots=True)
class BidsShown:
    """All bids are in and open (MD-4)."""

    bids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Rolled:
    """A seat has rolled a die (MD-6)."""

    seat: int
    kind: Kind
    face: Face


@dataclass(frozen=True, slots=True)
class TrickTaken:
    """A seat has taken the trick (MD-10)."""

    seat: int


@dataclass(frozen=True, slots=True)
class HandScored:
    """A hand's points are booked (MD-18); ``points`` include the ``bonus``."""

    hand: int
    points: tuple[int, ...]
    bonus: tuple[int, ...]
    totals: tuple[int, ...]


Event = HandStarted | Drawn | BidCommitted | BidsShown | Rolled | TrickTaken | HandScored
