"""The schedule of a tournament: blocks of matches, each planned from the blocks before it.

What comes next depends on complete blocks in canonical order alone, never on which match ended
first; so the same outcomes always give the same plans, in a new process too.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, zip_longest
from math import ceil
from statistics import fmean

from tavolata.ai.arena.tournament import keys
from tavolata.ai.arena.tournament.formats import Format, Met, Seats
from tavolata.ai.arena.tournament.formats.knock_out import KnockOut
from tavolata.ai.arena.tournament.formats.mixed import mixed
from tavolata.ai.arena.tournament.formats.round_robin import gauntlet, ladder, round_robin
from tavolata.ai.arena.tournament.formats.swiss import Swiss
from tavolata.ai.arena.tournament.meeting import Meeting
from tavolata.ai.arena.tournament.model import FaultKind, MatchOutcome, MatchPlan
from tavolata.ai.arena.tournament.policy import FaultPolicy, OnSlow
from tavolata.ai.arena.tournament.stopping import StoppingRule, Verdict

BLOCK_PLANS = 20_000  # matches of a block, about: plans of a long tournament are made bit by bit


@dataclass(frozen=True, slots=True)
class PairVerdict:
    """What was found about two entrants who met: first minus second, over deals."""

    contest: int
    round: int
    group: int  # -1 where they met at many tables
    first: str
    second: str
    deals: int
    difference: float  # mean, of the measure that the stopping rule looks at
    verdict: Verdict | None  # None: not over yet


class ContestRun:
    """One contest as far as it has come."""

    def __init__(self, contest: int, format_: Format, stopping: StoppingRule) -> None:
        self.contest = contest
        self._format, self._stopping = format_, stopping
        self.rounds: list[list[Meeting]] = []
        self.results: list[list[Met]] = []  # of rounds that are over
        self.decided: dict[tuple[str, str], PairVerdict] = {}  # where all meetings go on jointly

    def open(self, withdrawn: Collection[str]) -> list[Meeting]:
        """The meetings that go on, of a new round if the last is over; none: it is all over."""
        while True:
            going_on = [each for each in (self.rounds[-1] if self.rounds else []) if not each.over]
            if going_on:
                return going_on
            if len(self.results) < len(self.rounds):
                self.results.append([each.result(withdrawn) for each in self.rounds[-1]])
            pairings = self._format.next_round(self.results, withdrawn)
            if not pairings:
                return []
            first_deal = len(self.rounds) * (self._stopping.deals + self._format.tie_deals)
            meetings = [
                Meeting(players, group, first_deal, self._stopping)
                for group, players in enumerate(pairings)
            ]
            for each in meetings:
                each.withdraw(withdrawn)
                if not each.over and len(each.players) == 1:
                    each.verdict = Verdict.DEALS
            self.rounds.append(meetings)

    def plans(self, block: int, meetings: Sequence[Meeting], deals_most: int) -> list[MatchPlan]:
        """The next deals of meetings that go on: up to the next look, at most ``deals_most``."""
        round_ = self._round_number(len(self.rounds) - 1)
        return [
            MatchPlan(
                block,
                self.contest,
                round_,
                each.group,
                each.first_deal + deal,
                rotation,
                labels,
            )
            for each in meetings
            for deal in range(each.played, min(each.target, each.played + deals_most))
            for rotation, labels in self._format.lineups(each.players, each.group, deal)
        ]

    def matches_a_deal(self, meeting: Meeting) -> int:
        """Matches of one deal of the meeting."""
        return len(self._format.lineups(meeting.players, meeting.group, 0))

    def absorb(self, outcomes: Sequence[MatchOutcome], withdrawn: Collection[str]) -> None:
        """Take in the contest's part of a block, and look where it is time."""
        by_group: dict[int, list[MatchOutcome]] = defaultdict(list)
        for outcome in outcomes:
            by_group[outcome.plan.group].append(outcome)
        if not self.rounds:
            return
        for each in self.rounds[-1]:
            each.add(by_group.get(each.group, ()))
            each.withdraw(withdrawn)
        if self._format.joint:
            self._look_jointly()
            return
        for each in self.rounds[-1]:
            each.look(self._stopping, self._format.tie_deals)

    def _look_jointly(self) -> None:
        """All meetings go on until every two players are decided."""
        meetings = [each for each in self.rounds[-1] if not each.over]
        if not meetings or any(each.played < each.target for each in meetings):
            return
        for pair in self._joint_pairs(meetings):
            if pair.verdict is not None:
                self.decided.setdefault((pair.first, pair.second), pair)
        going_on = {pair for each in meetings for pair in combinations(each.players, 2)}
        for each in meetings:
            if going_on <= self.decided.keys():
                each.verdict = Verdict.DEALS
            else:
                each.target = self._stopping.next_look(each.played)

    def _joint_pairs(self, meetings: Sequence[Meeting]) -> list[PairVerdict]:
        """Every two players of these meetings, their differences averaged over a deal's tables."""
        found: dict[tuple[str, str], list[list[float]]] = defaultdict(list)
        for each in meetings:
            for first, second in combinations(each.players, 2):
                found[first, second].append([means[first] - means[second] for means in each.means])
        return [self._pair(-1, pair, _averaged(tables)) for pair, tables in found.items()]

    def _pair(self, group: int, pair: tuple[str, str], differences: Sequence[float]) -> PairVerdict:
        return PairVerdict(
            self.contest,
            self._round_number(len(self.rounds) - 1),
            group,
            *pair,
            deals=len(differences),
            difference=fmean(differences) if differences else 0.0,
            verdict=self._stopping.verdict(differences) if differences else None,
        )

    def pair_verdicts(self) -> list[PairVerdict]:
        """Every two players who met, as it stands; those decided as they were decided."""
        if self._format.joint:
            pairs = self._joint_pairs(self.rounds[-1] if self.rounds else [])
            return [
                self.decided.get((pair.first, pair.second), replace(pair, verdict=None))
                for pair in pairs
            ]
        return [
            PairVerdict(
                self.contest,
                self._round_number(number),
                each.group,
                *each.players,
                deals=each.played,
                difference=fmean(each.differences) if each.means else 0.0,
                verdict=each.verdict,
            )
            for number, meetings in enumerate(self.rounds)
            for each in meetings
            if len(each.players) == 2
        ]

    def _round_number(self, index: int) -> int:
        return index + 1 if self._format.numbered else 0


def _averaged(tables: Sequence[Sequence[float]]) -> list[float]:
    """The mean of each deal over tables, of which those with a withdrawn player have fewer."""
    return [fmean(value for value in deal if value is not None) for deal in zip_longest(*tables)]


class TournamentSchedule:
    """Blocks of every contest side by side; see model.Schedule.

    Keeps what it took in of blocks it has seen, which changes no plan: called with fewer outcomes
    it starts afresh. Of an outcome it reads plan, seats and faults.
    """

    def __init__(
        self, formats: Sequence[Format], stopping: StoppingRule, policy: FaultPolicy
    ) -> None:
        self.formats, self.stopping = tuple(formats), stopping
        self._policy = policy
        self._start()

    def _start(self) -> None:
        self._contests = [
            ContestRun(number, format_, self.stopping)
            for number, format_ in enumerate(self.formats)
        ]
        self._faults: Counter[str] = Counter()
        self._withdrawn: frozenset[str] = frozenset()
        self._blocks = self._taken_in = 0
        self._planned: list[MatchPlan] | None = None

    def next_block(self, done: Sequence[MatchOutcome]) -> Sequence[MatchPlan]:
        """The plans of the next block, in canonical order; empty when the tournament is over.

        ValueError if ``done`` is not whole blocks of this schedule in canonical order.
        """
        self._take_in(done)
        return self._plan()

    def pair_verdicts(self, done: Sequence[MatchOutcome]) -> list[PairVerdict]:
        """Every two entrants who met in a meeting, or at any table, with what was found."""
        self._take_in(done)
        self._plan()
        return [pair for contest in self._contests for pair in contest.pair_verdicts()]

    def rounds(self, done: Sequence[MatchOutcome]) -> list[list[list[Met]]]:
        """The results of rounds that are over, by contest: brackets and Swiss rounds with byes."""
        self._take_in(done)
        self._plan()
        return [contest.results for contest in self._contests]

    def withdrawn(self, done: Sequence[MatchOutcome]) -> frozenset[str]:
        """The entrants that were withdrawn for their faults."""
        self._take_in(done)
        return self._withdrawn

    def _take_in(self, done: Sequence[MatchOutcome]) -> None:
        if len(done) < self._taken_in:
            self._start()
        while self._taken_in < len(done):
            end = bisect_right(
                done, self._blocks, lo=self._taken_in, key=lambda outcome: outcome.plan.block
            )
            outcomes = done[self._taken_in : end]
            if [outcome.plan for outcome in outcomes] != self._plan():
                raise ValueError(f"block {self._blocks} is not complete, or of another tournament")
            self._absorb(outcomes)

    def _absorb(self, outcomes: Sequence[MatchOutcome]) -> None:
        for outcome in outcomes:
            for fault in outcome.faults:
                if fault.kind is not FaultKind.SLOW or self._policy.on_slow is OnSlow.FAULT:
                    self._faults[fault.label] += 1
        most = self._policy.faults_max
        if most is not None:
            self._withdrawn = frozenset(
                label for label, count in self._faults.items() if count >= most
            )
        by_contest: dict[int, list[MatchOutcome]] = defaultdict(list)
        for outcome in outcomes:
            by_contest[outcome.plan.contest].append(outcome)
        for contest in self._contests:
            contest.absorb(by_contest[contest.contest], self._withdrawn)
        self._blocks += 1
        self._taken_in += len(outcomes)
        self._planned = None

    def _plan(self) -> list[MatchPlan]:
        if self._planned is None:
            going_on = [(each, each.open(self._withdrawn)) for each in self._contests]
            a_deal = sum(
                contest.matches_a_deal(meeting)
                for contest, meetings in going_on
                for meeting in meetings
            )
            deals_most = ceil(BLOCK_PLANS / a_deal) if a_deal else 0
            self._planned = [
                plan
                for contest, meetings in going_on
                for plan in contest.plans(self._blocks, meetings, deals_most)
            ]
        return self._planned


def format_for(given: keys.AnyFormat, labels: tuple[str, ...], seats: int) -> Format:
    """The format that a tournament file asks for, at a table with this many seats."""
    seating = Seats(seats, None if given.rotations == "all" else given.rotations)
    if isinstance(given, keys.RoundRobin):
        return round_robin(labels, seating)
    if isinstance(given, keys.Gauntlet):
        return gauntlet(labels, given.challengers, seating)
    if isinstance(given, keys.Ladder):
        return ladder(labels, seating)
    if isinstance(given, keys.Swiss):
        return Swiss(seating, labels, given.rounds)
    if isinstance(given, keys.KnockOut):
        return KnockOut(seating, labels, given.third_place, given.tie_deals)
    return mixed(labels, given.tables, seating)
