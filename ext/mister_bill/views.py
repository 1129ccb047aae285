"""What a viewer sees of Mister Bill: view and events, with cards as names (MB-25 to MB-27)."""

from __future__ import annotations

from dataclasses import dataclass

Kind = str  # of a card, like "sushi"


@dataclass(frozen=True, slots=True)
class Facts:
    """What the viewer knows of one hand (MB-27); all empty for its own."""

    held: tuple[tuple[Kind, int], ...]  # (kind last seen there, cards lost unseen since)
    absent: tuple[tuple[Kind, int], ...]  # (kind certainly absent then, cards gained unseen since)


@dataclass(frozen=True, slots=True)
class View:
    """A position as one seat or a spectator may know it; seats and rounds as in the rules."""

    round: int
    phase: str  # "turn", "gift" or "over"; "booked" only inside a search
    active: int
    to_act: tuple[int, ...]
    dealer: int
    numbers: tuple[int, ...]  # team card of each seat
    teams: tuple[tuple[int, ...], ...]  # seats
    hands: tuple[tuple[Kind, ...] | None, ...]  # None: hidden
    hand_sizes: tuple[int, ...]
    out: tuple[int, ...]  # seats that are out, in order
    committed: tuple[int, ...]  # seats that have chosen their gift
    gift: Kind | None  # the viewer's own, while others still choose
    stall: int  # turns in a row without a card having left play (MB-23)
    facts: tuple[Facts, ...]  # what the viewer knows of each seat's hand
    totals: tuple[int, ...]
    points: tuple[int, ...]  # of the round in progress so far
    round_points: tuple[tuple[int, ...], ...]  # one row a finished round
    team_values: tuple[int, ...]  # what the next teams to complete take
    pending_waiter: Kind | None  # whose gifts are being chosen
    pending_target: int | None  # the seat it named; None with E, which names none (MB-16)


@dataclass(frozen=True, slots=True)
class RoundStarted:
    """A round begins: who deals, and the team card of each seat (MB-4 to MB-6)."""

    round: int
    dealer: int
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Dealt:
    """A seat has been dealt its hand; ``kinds`` is None for those who may not see it."""

    seat: int
    count: int
    kinds: tuple[Kind, ...] | None


@dataclass(frozen=True, slots=True)
class PairLaid:
    """A seat has laid down a pair (MB-7, MB-9, MB-11)."""

    seat: int
    kind: Kind


@dataclass(frozen=True, slots=True)
class Drew:
    """The active seat has drawn a card ``from_seat`` held (MB-8); the two of them know it."""

    seat: int
    from_seat: int
    kind: Kind | None


@dataclass(frozen=True, slots=True)
class WaiterPlayed:
    """The active seat has played a waiter (MB-10), with a target where it has one."""

    seat: int
    kind: Kind
    target: int | None


@dataclass(frozen=True, slots=True)
class Declined:
    """The active seat has played no waiter (MB-10)."""

    seat: int


@dataclass(frozen=True, slots=True)
class GiftCommitted:
    """A seat has chosen what to give; ``kind`` is None for all others."""

    seat: int
    kind: Kind | None


@dataclass(frozen=True, slots=True)
class Gave:
    """A card has gone from hand to hand (MB-12, MB-14, MB-16); giver and receiver know it."""

    from_seat: int
    to_seat: int
    kind: Kind | None


@dataclass(frozen=True, slots=True)
class HandsSwapped:
    """Two seats have swapped hands (MB-13); ``kinds``: the first's new hand and the second's."""

    first: int
    second: int
    kinds: tuple[tuple[Kind, ...], tuple[Kind, ...]] | None


@dataclass(frozen=True, slots=True)
class HandPassed:
    """A shift change has moved a hand (MB-17); giver and receiver know it whole."""

    from_seat: int
    to_seat: int
    count: int
    kinds: tuple[Kind, ...] | None


@dataclass(frozen=True, slots=True)
class BillsShown:
    """How many Mister Bills each hand holds (MB-15)."""

    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class WentOut:
    """A seat's hand is empty: it is out, the ``rank``-th of the round (MB-19)."""

    seat: int
    rank: int


@dataclass(frozen=True, slots=True)
class TeamCompleted:
    """The members of a team are out and take ``value`` each; 0 for the team left (MB-20, MB-22)."""

    seats: tuple[int, ...]
    value: int


@dataclass(frozen=True, slots=True)
class RoundScored:
    """A round's points are booked (MB-20 to MB-23)."""

    round: int
    stalled: bool
    points: tuple[int, ...]
    totals: tuple[int, ...]


Event = (
    RoundStarted
    | Dealt
    | PairLaid
    | Drew
    | WaiterPlayed
    | Declined
    | GiftCommitted
    | Gave
    | HandsSwapped
    | HandPassed
    | BillsShown
    | WentOut
    | TeamCompleted
    | RoundScored
)
