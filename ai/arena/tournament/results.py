"""Results of a tournament from its outcomes: pure functions, the same whatever the order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import inf

import numpy as np

from tavolata.ai.arena.duplicate import Entrant
from tavolata.ai.arena.tournament import distributions
from tavolata.ai.arena.tournament.estimates import REPLICATES, clustered_mean, clustered_share
from tavolata.ai.arena.tournament.model import Field, MatchOutcome
from tavolata.ai.arena.tournament.ratings import Ratings, deal_groups, rate
from tavolata.ai.arena.tournament.skill import Skill, skills
from tavolata.ai.arena.tournament.summary import (
    ContestSummary,
    Crosstable,
    EntrantText,
    Milestone,
    Points,
    Standing,
    Summary,
)
from tavolata.ai.arena.tournament.table import Floats, Ints, SeatTable, gather
from tavolata.ai.player import ITERATIONS_MAX
from tavolata.ext.registry import game_spec

QUICK_REPLICATES = 200
MILESTONES = 12


def summary(field: Field, outcomes: Iterable[MatchOutcome]) -> Summary:
    """Everything a report shows. OutcomeError when outcomes don't belong to the field."""
    table = gather(field, outcomes)
    entrants = tuple(entrant_text(field.entrants[label]) for label in table.labels)
    if not table.match_count:
        empty = Crosstable((), (), (), ())
        return Summary(entrants, 0, 0, 0, (), empty, (), (), (), ())
    ratings = rate(table, REPLICATES, 0)
    rows = _standings(table, ratings, skills(table), REPLICATES, 0)
    order = _order(table, rows)
    return Summary(
        entrants=entrants,
        matches=table.match_count,
        deals=table.deal_count,
        decisions=int(table.decisions.sum()),
        standings=rows,
        crosstable=_crosstable(table, ratings, order),
        contests=_contests(table, ratings, rows),
        times=distributions.times(table, order),
        faults=distributions.faults(table, order),
        convergence=_convergence(table),
    )


def standings(field: Field, outcomes: Iterable[MatchOutcome]) -> tuple[Standing, ...]:
    """The overall standings alone, without OpenSkill: quick enough to look at while it runs."""
    table = gather(field, outcomes)
    if not table.match_count:
        return ()
    return _standings(table, rate(table, QUICK_REPLICATES, 0), {}, QUICK_REPLICATES, 0)


def entrant_text(entrant: Entrant) -> EntrantText:
    """An entrant in words."""
    limits = entrant.limits
    own = limits.iterations in (None, ITERATIONS_MAX)  # none, or those of its level
    words = [
        "" if own else f"{limits.iterations:,} iterations",
        f"{limits.think_ms:g} ms" if limits.think_ms is not None else "",
        f"{limits.threads} threads" if limits.threads != 1 else "",
    ]
    return EntrantText(
        entrant.label,
        entrant.player,
        ", ".join(word for word in words if word),
        ", ".join(f"{name} {value:g}" for name, value in entrant.settings),
    )


def _standings(
    table: SeatTable,
    ratings: Ratings,
    skill: Mapping[int, Skill],
    replicates: int,
    stream: int,
) -> tuple[Standing, ...]:
    groups, strata = deal_groups(table)
    seats = np.bincount(table.match)[table.match]
    rows = []
    for at, label in enumerate(ratings.labels):
        own = table.label == label
        rows.append(
            Standing(
                rank=ratings.rank[at],
                rank_low=ratings.rank_low[at],
                rank_high=ratings.rank_high[at],
                label=table.labels[label],
                matches=len(np.unique(table.match[own])),
                seats=int(own.sum()),
                elo=ratings.elo[at],
                skill=skill.get(label),
                score=ratings.score[at],
                win_share=clustered_share(table.won[own], groups[own], strata, replicates, stream),
                par=_contest_mean(1 / seats[own], table.contest[own]),
                part=ratings.part[at],
            )
        )
    return tuple(sorted(rows, key=lambda row: (row.part, row.rank, row.label)))


def _contest_mean(values: Floats, contest: Ints) -> float:
    """The mean of the means of the contests."""
    return float(np.mean([values[contest == number].mean() for number in np.unique(contest)]))


def _order(table: SeatTable, rows: Iterable[Standing]) -> list[int]:
    return [table.labels.index(row.label) for row in rows]


def _crosstable(table: SeatTable, ratings: Ratings, order: list[int]) -> Crosstable:
    at = [ratings.labels.index(label) for label in order]
    return Crosstable(
        labels=tuple(table.labels[label] for label in order),
        cells=tuple(tuple(ratings.cells[i][j] for j in at) for i in at),
        weights=tuple(tuple(ratings.weights[i][j] for j in at) for i in at),
        ahead=tuple(tuple(ratings.ahead[i][j] for j in at) for i in at),
    )


def _contests(
    whole: SeatTable, ratings: Ratings, rows: tuple[Standing, ...]
) -> tuple[ContestSummary, ...]:
    """Every contest that was played; one alone has the ratings of the whole."""
    numbers = [int(number) for number in np.unique(whole.contest)]
    if len(numbers) == 1:
        return (_contest(whole, numbers[0], ratings, rows),)
    made = []
    for number in numbers:
        table, stream = whole.of_contest(number), _stream(number)
        own = rate(table, REPLICATES, stream)
        made.append(
            _contest(table, number, own, _standings(table, own, skills(table), REPLICATES, stream))
        )
    return tuple(made)


def _stream(contest: int) -> int:
    """The first of the bootstrap streams of a contest, which has some for its seats besides."""
    return 100 * (contest + 1)


def _contest(
    table: SeatTable, number: int, ratings: Ratings, rows: tuple[Standing, ...]
) -> ContestSummary:
    contest = table.field.contests[number]
    order = _order(table, rows)
    edges = distributions.total_edges(table)
    spec = game_spec(contest.game)
    return ContestSummary(
        contest=contest,
        game_name=spec.name,
        low_wins=spec.low_wins,
        matches=table.match_count,
        deals=table.deal_count,
        standings=rows,
        points=tuple(_points(table, label, contest.seats) for label in order),
        crosstable=_crosstable(table, ratings, order),
        total_edges=edges,
        totals=distributions.totals(table, order, edges),
        places=distributions.places(table, order),
        seats=distributions.seat_scores(table, REPLICATES, _stream(number)),
        times=distributions.times(table, order),
    )


def _points(table: SeatTable, label: int, seats: int) -> Points:
    own = table.label == label
    deals = table.deal[own]
    return Points(
        label=table.labels[label],
        place=clustered_mean(table.place[own], deals, (1.0, float(seats))),
        total=clustered_mean(table.total[own], deals, (-inf, inf)),
        utility=clustered_mean(table.utility[own], deals, (0.0, 1.0)),
    )


def _convergence(table: SeatTable) -> tuple[Milestone, ...]:
    """Ratings from the first deals of every contest, at numbers of deals that grow evenly in the
    logarithm; the last is all of them."""
    deals, first = np.unique(table.deal, return_index=True)
    contest_of = table.contest[first]
    # How far along its contest each deal is, 0 to 1: so that contests advance side by side.
    reached = np.empty(len(deals))
    for contest in np.unique(contest_of):
        own = contest_of == contest
        reached[own] = np.arange(1, own.sum() + 1) / own.sum()
    longest = int(np.bincount(contest_of).max())
    steps = np.unique(np.geomspace(min(2, longest), longest, MILESTONES).round())
    made = []
    for step in steps:
        chosen = reached <= step / longest + 1e-9
        part = table.where(chosen[np.searchsorted(deals, table.deal)])
        if not part.match_count:
            continue
        ratings = rate(part, QUICK_REPLICATES, 1)
        elo = {table.labels[label]: ratings.elo[at] for at, label in enumerate(ratings.labels)}
        made.append(Milestone(int(chosen.sum()), elo))
    return tuple(made)
