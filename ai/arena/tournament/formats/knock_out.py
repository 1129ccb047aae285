"""Knock-out: who loses is out, and seeding keeps the first entrants apart longest."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import combinations

from tavolata.ai.arena.tournament.formats import Met, Players, Seats
from tavolata.ai.arena.tournament.seating import Lineup


@dataclass(frozen=True, slots=True)
class KnockOut:
    """A bracket of all entrants, byes where they are no power of two."""

    seating: Seats
    labels: tuple[str, ...]
    third_place: bool = False
    tie_deals: int = 0
    joint: bool = False
    numbered: bool = True

    @property
    def meeting_count(self) -> int:
        """See Format.meeting_count."""
        for_third = self.third_place and len(self.labels) > 3
        return len(self.labels) - 1 + for_third

    @property
    def possible(self) -> Sequence[Players]:
        """See Format.possible."""
        return tuple(combinations(self.labels, 2))

    def next_round(
        self, past: Sequence[Sequence[Met]], withdrawn: Collection[str]
    ) -> list[Players]:
        """See Format.next_round: meetings in the order of the bracket, byes among them; in the
        last round the final comes before the meeting for third place."""
        if not past:
            return self._first_round()
        if len(past[-1]) == 1 or self._played_for_third(past):
            return []
        bracket = [self.winner(met) for met in past[-1]]
        meetings: list[Players] = list(zip(bracket[::2], bracket[1::2], strict=True))
        if len(bracket) == 2 and self.third_place:
            losers = [self.loser(met) for met in past[-1]]
            third = tuple(label for label in losers if label is not None)
            meetings += [third] if third else []
        return [tuple(sorted(players, key=self.labels.index)) for players in meetings]

    def lineups(self, players: Players, group: int, deal: int) -> list[tuple[int, Lineup]]:
        """See Format.lineups."""
        return self.seating.lineups(players, group, deal)

    def winner(self, met: Met) -> str:
        """Who goes on: the winner, or of two who are tied the first in the file."""
        return met.winner or min(met.players, key=self.labels.index)

    def loser(self, met: Met) -> str | None:
        """Who is out; nobody after a bye."""
        return next((label for label in met.players if label != self.winner(met)), None)

    def _first_round(self) -> list[Players]:
        size = 1
        while size < len(self.labels):
            size *= 2
        names = [
            self.labels[seed] if seed < len(self.labels) else None for seed in bracket_seeds(size)
        ]
        pairs = zip(names[::2], names[1::2], strict=True)
        return [tuple(name for name in pair if name is not None) for pair in pairs]

    def _played_for_third(self, past: Sequence[Sequence[Met]]) -> bool:
        """Whether the last round was the final and the meeting for third place."""
        return self.third_place and len(past) > 1 and len(past[-2]) == 2


def bracket_seeds(size: int) -> list[int]:
    """Seeds from 0 in the order of the bracket: the first two can meet in the final only, the
    first four in the semi-finals, and so on; ``size`` is a power of two."""
    order = [0]
    while len(order) < size:
        order = [seed for own in order for seed in (own, 2 * len(order) - 1 - own)]
    return order
