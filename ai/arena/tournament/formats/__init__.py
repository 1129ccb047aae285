"""Who meets whom: a module for each format, all behind one small interface."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from tavolata.ai.arena.tournament.seating import (
    Lineup,
    alternating,
    order_number,
    rotation_numbers,
    table_lineups,
)

Players = tuple[str, ...]  # of a meeting, in the order of the file; one alone has a bye


@dataclass(frozen=True, slots=True)
class Met:
    """How a meeting ended: the players, their mean results, and the one that went out ahead.

    means: in the order of the players, of the measure that the stopping rule looks at; winner:
    None when tied; walkover: it was decided without a result, as who is withdrawn loses.
    """

    players: Players
    means: tuple[float, ...]
    winner: str | None
    walkover: bool = False


class Format(Protocol):
    """The meetings of one contest, round by round."""

    @property
    def numbered(self) -> bool:
        """Whether rounds are numbered, from 1; else there is one, 0."""

    @property
    def joint(self) -> bool:
        """Whether all meetings go on until every two players are decided."""

    @property
    def tie_deals(self) -> int:
        """Deals by which a tied meeting is prolonged, once."""

    @property
    def meeting_count(self) -> int:
        """Meetings there will be, byes apart, if nobody is withdrawn."""

    @property
    def possible(self) -> Sequence[Players]:
        """The meetings there will or may be."""

    def next_round(
        self, past: Sequence[Sequence[Met]], withdrawn: Collection[str]
    ) -> list[Players]:
        """The meetings of the next round, given all rounds before it; empty: it is over."""

    def lineups(self, players: Players, group: int, deal: int) -> list[tuple[int, Lineup]]:
        """The matches of a deal: number of the rotation, and who sits where."""


@dataclass(frozen=True, slots=True)
class Seats:
    """Two players or as many as there are seats, in all rotations or ``rotations`` of them."""

    seats: int
    rotations: int | None = None

    def lineups(self, players: Players, group: int, deal: int) -> list[tuple[int, Lineup]]:
        """See Format.lineups."""
        if len(players) == 2:
            turned = alternating(*players, self.seats)
        else:
            # Groups start with different orders, so that few deals are balanced better, too.
            turn = order_number(deal, self.seats, self.rotations) + group
            turned = table_lineups(players, turn)
        chosen = rotation_numbers(deal, len(turned), self.rotations)
        return [(number, turned[number]) for number in chosen]


@dataclass(frozen=True, slots=True)
class OneRound:
    """Meetings that are all known beforehand: round robin, gauntlet and mixed tables."""

    seating: Seats
    meetings: tuple[Players, ...]
    joint: bool = False
    numbered: bool = False
    tie_deals: int = 0

    @property
    def meeting_count(self) -> int:
        """See Format.meeting_count."""
        return len(self.meetings)

    @property
    def possible(self) -> Sequence[Players]:
        """See Format.possible."""
        return self.meetings

    def next_round(
        self, past: Sequence[Sequence[Met]], withdrawn: Collection[str]
    ) -> list[Players]:
        """See Format.next_round."""
        return [] if past else list(self.meetings)

    def lineups(self, players: Players, group: int, deal: int) -> list[tuple[int, Lineup]]:
        """See Format.lineups."""
        return self.seating.lineups(players, group, deal)
