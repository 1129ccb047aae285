"""One meeting of a tournament while it goes on: what is played of it, and how it stands."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import groupby
from math import fsum

from tavolata.ai.arena.tournament.formats import Met, Players
from tavolata.ai.arena.tournament.model import MatchOutcome
from tavolata.ai.arena.tournament.stopping import StoppingRule, Verdict

LEVEL = 1e-9  # means that differ by less differ by rounding alone


class Meeting:
    """Players over a number of deals. ``target`` is the number of deals at the next look."""

    def __init__(
        self, players: Players, group: int, first_deal: int, stopping: StoppingRule
    ) -> None:
        self.players, self.group, self.first_deal = players, group, first_deal
        self.target = stopping.next_look(0)
        self.verdict: Verdict | None = None
        self.prolonged = False
        self.means: list[dict[str, float]] = []  # deal by deal, by player
        self._measure = stopping.measure

    @property
    def played(self) -> int:
        """Deals so far."""
        return len(self.means)

    @property
    def over(self) -> bool:
        return self.verdict is not None

    @property
    def differences(self) -> list[float]:
        """First minus second player, deal by deal."""
        first, second = self.players
        return [means[first] - means[second] for means in self.means]

    def add(self, outcomes: Iterable[MatchOutcome]) -> None:
        """Take in matches of the next deals, in order."""
        won = self._measure == "win_share"
        for _, matches in groupby(outcomes, key=lambda outcome: outcome.plan.deal):
            sums = dict.fromkeys(self.players, 0.0)
            seats = dict.fromkeys(self.players, 0)
            for match in matches:
                for seat in match.seats:
                    sums[seat.label] += seat.won if won else seat.utility
                    seats[seat.label] += 1
            self.means.append({label: sums[label] / seats[label] for label in self.players})

    def look(self, stopping: StoppingRule, tie_deals: int) -> None:
        """Decide whether to go on, where that is to be decided now."""
        if self.over or self.played < self.target:
            return
        if self.prolonged:
            self.verdict = Verdict.DEALS
            return
        verdict = stopping.verdict(self.differences)
        if verdict is None:
            self.target = stopping.next_look(self.played)
        elif tie_deals and self.result().winner is None:
            self.prolonged, self.target = True, self.played + tie_deals
        else:
            self.verdict = verdict

    def withdraw(self, withdrawn: Collection[str]) -> None:
        """End it if one of its players is withdrawn."""
        if not self.over and any(label in withdrawn for label in self.players):
            self.verdict = Verdict.WITHDRAWN

    def result(self, withdrawn: Collection[str] = ()) -> Met:
        """How it stands. Who has a bye has won, and so has who is left when the other withdrew."""
        means = tuple(
            fsum(deal[label] for deal in self.means) / self.played if self.means else 0.0
            for label in self.players
        )
        if self.verdict is Verdict.WITHDRAWN:
            left = [label for label in self.players if label not in withdrawn]
            return Met(self.players, means, left[0] if len(left) == 1 else None, walkover=True)
        if len(self.players) == 1:
            return Met(self.players, means, self.players[0], walkover=True)
        best = max(means)
        winners = [
            label for label, mean in zip(self.players, means, strict=True) if best - mean < LEVEL
        ]
        return Met(self.players, means, winners[0] if len(winners) == 1 else None)
