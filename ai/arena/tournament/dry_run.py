"""What a tournament would take and could tell, from a few of its matches played beforehand.

Times are those of the backend it is to run on, with all its workers busy. Spreads are those of
paired differences deal by deal, so that the smallest difference that can be detected is told in the
units of the results.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import combinations
from math import ceil, sqrt
from statistics import fmean, variance

from tavolata.ai.arena.tournament.backends import Backend
from tavolata.ai.arena.tournament.formats import Format, Players
from tavolata.ai.arena.tournament.meeting import Meeting
from tavolata.ai.arena.tournament.model import Chunk, MatchOutcome, MatchPlan
from tavolata.ai.arena.tournament.specification import Specification
from tavolata.ai.arena.tournament.stopping import Sprt, StoppingRule, Width

SECONDS = 20.0  # for the matches that are played beforehand
DEALS_LEAST, DEALS_MOST = 2, 12  # of a meeting that are played for it
TWO_SIDED, POWER = 1.959964, 0.841621  # normal points of 97.5 % and 80 %


@dataclass(frozen=True, slots=True)
class ContestForecast:
    """One contest. Numbers of deals are those of a meeting.

    deviation: standard deviation of a deal's difference between two who met, None if no two deals
    were alike enough to tell; deals_expected: where the rule may stop early, what it takes where
    that takes longest, else all; half_width: of the 95 % interval of a difference after that many
    deals; detectable: the true difference that such an interval excludes zero for in four of five
    tournaments.
    """

    name: str
    meetings: int
    matches_a_deal: int
    deals_least: int
    deals_expected: int
    deals_most: int
    deviation: float | None
    half_width: float | None
    detectable: float | None
    match_s: float  # of one worker, on average

    @property
    def matches(self) -> tuple[int, int, int]:
        """Least, expected and most matches."""
        deals = (self.deals_least, self.deals_expected, self.deals_most)
        least, expected, most = (self.meetings * self.matches_a_deal * each for each in deals)
        return least, expected, most


@dataclass(frozen=True, slots=True)
class Forecast:
    """All contests. ``played`` matches were played for it on ``workers`` workers."""

    contests: tuple[ContestForecast, ...]
    measure: str
    workers: int
    played: int
    faults: int
    decision_ms: dict[str, float]  # by entrant

    @property
    def matches(self) -> tuple[int, int, int]:
        """Least, expected and most matches."""
        least, expected, most = zip(*(each.matches for each in self.contests), strict=True)
        return sum(least), sum(expected), sum(most)

    @property
    def seconds(self) -> tuple[float, float, float]:
        """The time that as many matches take on all workers."""
        rows = [
            [matches * each.match_s / self.workers for matches in each.matches]
            for each in self.contests
        ]
        least, expected, most = (sum(column) for column in zip(*rows, strict=True))
        return least, expected, most


@dataclass(slots=True)
class _Sample:
    """What was played of one contest."""

    meetings: dict[Players, Meeting] = field(default_factory=dict)
    think_s: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))  # of a seat
    other_s: list[float] = field(default_factory=list)  # of a match, thinking apart


def forecast(
    spec: Specification,
    backend: Backend,
    seconds: float = SECONDS,
    played: Callable[[int], None] = lambda matches: None,
) -> Forecast:
    """Play for about ``seconds``, at least two deals with every entrant, and extrapolate.

    played: called with the number of matches whenever some more have been played.
    """
    schedule = spec.schedule()
    samples = [_Sample() for _ in schedule.formats]
    decisions: dict[str, tuple[int, float]] = defaultdict(lambda: (0, 0.0))
    total = faults = 0
    chunks = _chunks(schedule.formats, time.monotonic() + seconds)
    with closing(backend.run(chunks)) as results:
        waiting: dict[tuple[int, int, int], list[MatchOutcome]] = defaultdict(list)
        for result in results:
            for outcome, match_s in zip(result.outcomes, result.seconds, strict=True):
                plan = outcome.plan
                _take_times(samples[plan.contest], outcome, match_s, decisions)
                faults += len(outcome.faults)
                # A worker that ended gives a chunk back in parts.
                deal = waiting[plan.contest, plan.group, plan.deal]
                deal.append(outcome)
                format_ = schedule.formats[plan.contest]
                players = format_.possible[plan.group]
                if len(deal) == len(format_.lineups(players, plan.group, plan.deal)):
                    _take_deal(samples[plan.contest], players, deal, schedule.stopping)
            total += len(result.outcomes)
            played(total)
    return Forecast(
        contests=tuple(
            _contest(contest.name, format_, schedule.stopping, sample, list(spec.field.entrants))
            for contest, format_, sample in zip(
                spec.field.contests, schedule.formats, samples, strict=True
            )
        ),
        measure=schedule.stopping.measure,
        workers=backend.workers,
        played=total,
        faults=faults,
        decision_ms={label: ms / count for label, (count, ms) in decisions.items() if count},
    )


def matches_most(spec: Specification) -> int:
    """The most matches that a tournament can come to, without playing any."""
    schedule = spec.schedule()
    return sum(
        format_.meeting_count
        * _matches_a_deal(format_)
        * (schedule.stopping.deals + format_.tie_deals)
        for format_ in schedule.formats
    )


def _matches_a_deal(format_: Format) -> int:
    return len(format_.lineups(format_.possible[0], 0, 0))


def _chunks(formats: Sequence[Format], until: float) -> Iterator[Chunk]:
    """A chunk a deal: first meetings that have every entrant in every contest, whatever it takes,
    then others, a deal of each at a time, while there is time."""
    needed = [
        (contest, group, deal)
        for deal in range(DEALS_LEAST)
        for contest, format_ in enumerate(formats)
        for group in covering(format_.possible)
    ]
    others = (
        (contest, group, deal)
        for deal in range(DEALS_MOST)
        for contest, format_ in enumerate(formats)
        for group in range(len(format_.possible))
    )
    given = set(needed)
    for number, key in enumerate(needed):
        yield _chunk(number, formats, *key)
    for number, key in enumerate(others, len(needed)):
        if time.monotonic() >= until:
            return
        if key not in given:
            yield _chunk(number, formats, *key)


def covering(meetings: Sequence[Players]) -> list[int]:
    """Indexes of meetings in which everybody plays: each one with somebody new."""
    found: list[int] = []
    seen: set[str] = set()
    everybody = {label for players in meetings for label in players}
    # Those with nobody seen yet first, so that they are few.
    for most in range(max(map(len, meetings), default=0)):
        for index, players in enumerate(meetings):
            old = sum(label in seen for label in players)
            if old < len(players) and old <= most:
                found.append(index)
                seen.update(players)
        if seen == everybody:
            break
    return found


def _chunk(number: int, formats: Sequence[Format], contest: int, group: int, deal: int) -> Chunk:
    players = formats[contest].possible[group]
    plans = tuple(
        MatchPlan(0, contest, 0, group, deal, rotation, labels)
        for rotation, labels in formats[contest].lineups(players, group, deal)
    )
    return Chunk(number, plans)


def _take_times(
    sample: _Sample,
    outcome: MatchOutcome,
    match_s: float,
    decisions: dict[str, tuple[int, float]],
) -> None:
    for seat in outcome.seats:
        sample.think_s[seat.label].append(seat.think_ms / 1000)
        count, ms = decisions[seat.label]
        decisions[seat.label] = count + seat.decisions, ms + seat.think_ms
    thinking = sum(seat.think_ms for seat in outcome.seats) / 1000
    sample.other_s.append(max(0.0, match_s - thinking))


def _take_deal(
    sample: _Sample, players: Players, deal: list[MatchOutcome], stopping: StoppingRule
) -> None:
    meeting = sample.meetings.get(players)
    if meeting is None:
        meeting = sample.meetings[players] = Meeting(players, 0, 0, stopping)
    meeting.add(sorted(deal, key=lambda outcome: outcome.plan))


def _contest(
    name: str,
    format_: Format,
    stopping: StoppingRule,
    sample: _Sample,
    labels: Sequence[str],
) -> ContestForecast:
    deviation = _deviation(list(sample.meetings.values()))
    expected = _expected_deals(stopping, deviation)
    half_width = detectable = None
    if deviation is not None:
        # At mixed tables two entrants meet at several in every deal.
        shared = len(format_.possible) * len(list(combinations(format_.possible[0], 2)))
        tables = shared / len(list(combinations(labels, 2))) if format_.joint else 1
        error = deviation / sqrt(expected * tables)
        half_width, detectable = TWO_SIDED * error, (TWO_SIDED + POWER) * error
    return ContestForecast(
        name=name,
        meetings=format_.meeting_count,
        matches_a_deal=_matches_a_deal(format_),
        deals_least=stopping.next_look(0),
        deals_expected=expected,
        deals_most=stopping.deals + format_.tie_deals,
        deviation=deviation,
        half_width=half_width,
        detectable=detectable,
        match_s=_match_s(format_, sample),
    )


def _deviation(meetings: Sequence[Meeting]) -> float | None:
    """Standard deviation of a deal's difference, over all pairs who met in two deals or more."""
    squares = degrees = 0.0
    for meeting in meetings:
        for first, second in combinations(meeting.players, 2):
            values = [means[first] - means[second] for means in meeting.means]
            if len(values) > 1:
                squares += variance(values) * (len(values) - 1)
                degrees += len(values) - 1
    return sqrt(squares / degrees) if degrees else None


def _expected_deals(stopping: StoppingRule, deviation: float | None) -> int:
    """The deals of a meeting that takes longest on average, at looks only."""
    if not deviation:
        return stopping.deals
    if isinstance(stopping, Sprt):
        needed = stopping.expected_deals((stopping.h0 + stopping.h1) / 2, deviation)
    elif isinstance(stopping, Width):
        needed = (TWO_SIDED * deviation / stopping.half_width) ** 2
    else:
        needed = stopping.deals
    look = stopping.next_look(0)
    while look < min(ceil(needed), stopping.deals):
        look = stopping.next_look(look)
    return look


def _match_s(format_: Format, sample: _Sample) -> float:
    """The mean time of the matches there will be, from what each seat thinks in each contest."""
    think = {label: fmean(values) for label, values in sample.think_s.items()}
    seated = [
        fmean(sum(think[label] for label in labels) for _, labels in format_.lineups(players, 0, 0))
        for players in format_.possible
    ]
    return fmean(sample.other_s) + fmean(seated)
