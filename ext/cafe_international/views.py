"""What a viewer sees of Café International: all but the bag's order (CI-26).

Chairs and tables count from 1.
"""

from __future__ import annotations

from dataclasses import dataclass

Kind = str  # of a guest, like "italy_woman" or "joker_man"
Nation = str  # like "great_britain"


@dataclass(frozen=True, slots=True)
class View:
    """A position; everybody, spectators too, sees the same."""

    phase: str  # "turn", "limit", "birthday" or "over"
    active: int  # the seat whose turn it is, or was last
    to_act: tuple[int, ...]
    chairs: tuple[tuple[Kind, Nation | None] | None, ...]  # the nation only of declared jokers
    bar: tuple[Kind, ...]
    bag: tuple[int, ...]  # guests of each kind
    bag_size: int
    hands: tuple[tuple[Kind, ...], ...]
    limits: tuple[int, ...]
    totals: tuple[int, ...]
    points: tuple[int, ...]  # zeros: totals are running totals
    out: tuple[int, ...]  # seats in the order they went out
    seated_now: tuple[tuple[Kind, int], ...]  # guests and chairs of this turn
    completed_now: tuple[int, ...]  # tables that it completed
    exempt_chair: int | None  # of CI-10's lone guest
    birthday: Nation | None
    birthday_state: str  # "off", "waiting", "named" or "declined"
    parties: tuple[int, ...]  # tables whose balance is waived
    passes: int  # in a row

    @property
    def round_points(self) -> tuple[tuple[int, ...], ...]:
        """None: there are no rounds."""
        return ()


@dataclass(frozen=True, slots=True)
class Drew:
    """A seat has drawn guests from the bag, here in the order of kinds."""

    seat: int
    kinds: tuple[Kind, ...]


@dataclass(frozen=True, slots=True)
class Started:
    """The starting seat has been drawn (CI-4)."""

    seat: int


@dataclass(frozen=True, slots=True)
class Seated:
    """A guest sits down; ``points`` is what this added to the seat's total (CI-12, CI-25)."""

    seat: int
    kind: Kind
    chair: int
    nation: Nation | None  # only of a declared joker
    points: int


@dataclass(frozen=True, slots=True)
class TableCompleted:
    """The guest just seated filled a table with four guests of its nation (CI-13)."""

    seat: int
    table: int


@dataclass(frozen=True, slots=True)
class PartyHeld:
    """Four women or four men fill a table; ``points`` in place of all others there (CI-25)."""

    seat: int
    table: int
    points: int


@dataclass(frozen=True, slots=True)
class PutAtBar:
    """A guest went to the bar's next place, counted from 1 (CI-16)."""

    seat: int
    kind: Kind
    place: int
    points: int  # added to the total; 0 if the seat goes out (CI-17)


@dataclass(frozen=True, slots=True)
class Swapped:
    """A guest took a joker's chair and the seat the joker (CI-18)."""

    seat: int
    kind: Kind
    chair: int
    joker: Kind


@dataclass(frozen=True, slots=True)
class Stopped:
    """A seat seats no more guests in this turn (CI-5, CI-7)."""

    seat: int


@dataclass(frozen=True, slots=True)
class LimitLowered:
    """A seat's hand limit from now on (CI-15)."""

    seat: int
    limit: int


@dataclass(frozen=True, slots=True)
class BirthdayNamed:
    """A seat named the birthday nation, or none: it declined (CI-24)."""

    seat: int
    nation: Nation | None


@dataclass(frozen=True, slots=True)
class WentOut:
    """A seat is out of the game; the guests it held (CI-17)."""

    seat: int
    kinds: tuple[Kind, ...]


@dataclass(frozen=True, slots=True)
class Passed:
    """A seat could do nothing (CI-20)."""

    seat: int


@dataclass(frozen=True, slots=True)
class HandsCounted:
    """The end: what each seat lost for the guests it held (CI-22), and the totals after that."""

    penalties: tuple[int, ...]
    totals: tuple[int, ...]


Event = (
    Drew
    | Started
    | Seated
    | TableCompleted
    | PartyHeld
    | PutAtBar
    | Swapped
    | Stopped
    | LimitLowered
    | BirthdayNamed
    | WentOut
    | Passed
    | HandsCounted
)
