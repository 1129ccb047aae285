"""Swiss rounds: those of like scores meet, and nobody twice while it can be avoided."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import combinations

from tavolata.ai.arena.tournament.formats import Met, Players, Seats
from tavolata.ai.arena.tournament.formats.matching import preferred_pairs
from tavolata.ai.arena.tournament.seating import Lineup


@dataclass(frozen=True, slots=True)
class Score:
    """Where an entrant stands: points, then those of its opponents, then its mean result."""

    points: float
    opponents: float
    mean: float


@dataclass(frozen=True, slots=True)
class Swiss:
    """A number of rounds among all entrants."""

    seating: Seats
    labels: tuple[str, ...]
    rounds: int
    joint: bool = False
    numbered: bool = True
    tie_deals: int = 0

    @property
    def meeting_count(self) -> int:
        """See Format.meeting_count."""
        return self.rounds * (len(self.labels) // 2)

    @property
    def possible(self) -> Sequence[Players]:
        """See Format.possible."""
        return tuple(combinations(self.labels, 2))

    def next_round(
        self, past: Sequence[Sequence[Met]], withdrawn: Collection[str]
    ) -> list[Players]:
        """See Format.next_round; those first in rank come first, a bye last."""
        ranked = [label for label in self.ranking(past) if label not in withdrawn]
        if len(past) == self.rounds or len(ranked) < 2:
            return []
        met = Counter(frozenset(each.players) for meetings in past for each in meetings)
        paired = _with_bye if len(ranked) % 2 else _pairs
        meetings = paired(ranked, met, most=len(past))
        return [tuple(sorted(players, key=self.labels.index)) for players in meetings]

    def lineups(self, players: Players, group: int, deal: int) -> list[tuple[int, Lineup]]:
        """See Format.lineups."""
        return self.seating.lineups(players, group, deal)

    def ranking(self, past: Sequence[Sequence[Met]]) -> list[str]:
        """The entrants, best first; those level in everything in the order of the file."""
        scores = self.scores(past)

        def key(label: str) -> tuple[float, float, float, int]:
            score = scores[label]
            return -score.points, -score.opponents, -score.mean, self.labels.index(label)

        return sorted(self.labels, key=key)

    def scores(self, past: Sequence[Sequence[Met]]) -> dict[str, Score]:
        """Every entrant's score: a point for a meeting won, half of one for a tied one."""
        every = [each for meetings in past for each in meetings]
        points = dict.fromkeys(self.labels, 0.0)
        results: dict[str, list[float]] = {label: [] for label in self.labels}
        for met in every:
            for label, mean in zip(met.players, met.means, strict=True):
                points[label] += 0.5 if met.winner is None else float(met.winner == label)
                if not met.walkover:
                    results[label].append(mean)
        opponents = dict.fromkeys(self.labels, 0.0)
        for met in every:
            if len(met.players) == 2:
                first, second = met.players
                opponents[first] += points[second]
                opponents[second] += points[first]
        return {
            label: Score(
                points[label],
                opponents[label],
                # To nine digits, so that means that differ by rounding alone are level.
                round(sum(results[label]) / len(results[label]), 9) if results[label] else 0.0,
            )
            for label in self.labels
        }


def _pairs(ranked: list[str], met: Counter[frozenset[str]], most: int) -> list[Players]:
    """Neighbours in rank paired, with as few earlier meetings as there must be.

    most: rounds there were, the most that two can have met.
    """
    for often in range(most + 1):
        preferences = [
            [
                other
                for other in sorted(range(len(ranked)), key=lambda each: (abs(each - own), each))
                if other != own and met[frozenset((ranked[own], ranked[other]))] <= often
            ]
            for own in range(len(ranked))
        ]
        pairs = preferred_pairs(preferences)
        if pairs is not None:
            return [(ranked[first], ranked[second]) for first, second in pairs]
    raise AssertionError("everybody may meet everybody often enough")


def _with_bye(ranked: list[str], met: Counter[frozenset[str]], most: int) -> list[Players]:
    """The last in rank of those with the fewest byes has one, if that avoids repeated meetings;
    else the next one before it, among those with as few byes as can be."""
    byes = {label: met[frozenset((label,))] for label in ranked}
    candidates = sorted(ranked, key=lambda label: (byes[label], -ranked.index(label)))
    for often in range(most + 1):
        for label in candidates:
            rest = [other for other in ranked if other != label]
            pairs = _pairs(rest, met, most)
            if all(met[frozenset(pair)] <= often for pair in pairs):
                return [*pairs, (label,)]
    raise AssertionError("somebody can be left out")
