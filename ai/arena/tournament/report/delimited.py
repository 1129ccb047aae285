"""A summary as CSV files (RFC 4180, UTF-8): one row a fact, for spreadsheets and data frames."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from math import isfinite

from tavolata.ai.arena.tournament.estimates import Estimate
from tavolata.ai.arena.tournament.model import FaultKind
from tavolata.ai.arena.tournament.summary import Crosstable, Standing, Summary, Times

OVERALL = ""  # what the column `contest` holds for the tournament as a whole
Cell = str | int | float | None


def as_csv(summary: Summary) -> dict[str, str]:
    """File name to text. An unknown bound is an empty field."""
    return {
        "standings.csv": _standings(summary),
        "points.csv": _points(summary),
        "crosstable.csv": _crosstable(summary),
        "places.csv": _places(summary),
        "totals.csv": _totals(summary),
        "seats.csv": _seats(summary),
        "times.csv": _times(summary),
        "faults.csv": _faults(summary),
        "convergence.csv": _convergence(summary),
        "encounters.csv": _encounters(summary),
    }


def _text(heads: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    made = io.StringIO()
    writer = csv.writer(made)
    writer.writerow(heads)
    writer.writerows(
        ["" if isinstance(cell, float) and not isfinite(cell) else cell for cell in row]
        for row in rows
    )
    return made.getvalue()


def _heads(name: str) -> tuple[str, str, str]:
    return name, f"{name}_low", f"{name}_high"


def _parts(estimate: Estimate | None) -> tuple[Cell, Cell, Cell]:
    return (estimate.value, estimate.low, estimate.high) if estimate else (None, None, None)


def _standings(summary: Summary) -> str:
    def row(contest: str, one: Standing) -> list[Cell]:
        skill = one.skill
        return [
            *(contest, one.rank, one.rank_low, one.rank_high, one.label, one.part),
            *(one.matches, one.seats),
            *_parts(one.elo),
            *_parts(skill.mu if skill else None),
            skill.sigma if skill else None,
            *_parts(one.score),
            *_parts(one.win_share),
            one.par,
        ]

    heads = [
        *("contest", "rank", "rank_low", "rank_high", "label", "part", "matches", "seats"),
        *_heads("elo"),
        *_heads("openskill_mu"),
        "openskill_sigma",
        *_heads("score"),
        *_heads("win_share"),
        "par",
    ]
    rows = [row(OVERALL, one) for one in summary.standings]
    rows += [row(part.contest.name, one) for part in summary.contests for one in part.standings]
    return _text(heads, rows)


def _points(summary: Summary) -> str:
    return _text(
        ["contest", "label", *_heads("place"), *_heads("total"), *_heads("utility")],
        [
            [part.contest.name, one.label]
            + [cell for value in (one.place, one.total, one.utility) for cell in _parts(value)]
            for part in summary.contests
            for one in part.points
        ],
    )


def _crosstable(summary: Summary) -> str:
    def rows(contest: str, crossed: Crosstable) -> Iterable[Sequence[Cell]]:
        for i, label in enumerate(crossed.labels):
            for j, other in enumerate(crossed.labels):
                cell = crossed.cells[i][j]
                if cell is not None:
                    yield [
                        *(contest, label, other),
                        *_parts(cell),
                        crossed.weights[i][j],
                        crossed.ahead[i][j],
                    ]

    heads = ["contest", "label", "other", *_heads("score"), "comparisons", "ahead"]
    made = list(rows(OVERALL, summary.crosstable))
    for part in summary.contests:
        made += rows(part.contest.name, part.crosstable)
    return _text(heads, made)


def _places(summary: Summary) -> str:
    return _text(
        ["contest", "label", "seat", "place", "count"],
        [
            [part.contest.name, one.label, one.seat, place, count]
            for part in summary.contests
            for one in part.places
            for place, count in enumerate(one.counts, 1)
        ],
    )


def _totals(summary: Summary) -> str:
    return _text(
        ["contest", "label", "from", "to", "count"],
        [
            [part.contest.name, one.label, low, high, count]
            for part in summary.contests
            for one in part.totals
            for low, high, count in zip(
                part.total_edges[:-1], part.total_edges[1:], one.counts, strict=True
            )
        ],
    )


def _seats(summary: Summary) -> str:
    return _text(
        ["contest", "seat", *_heads("score")],
        [
            [part.contest.name, one.seat, *_parts(one.score)]
            for part in summary.contests
            for one in part.seats
        ],
    )


def _times(summary: Summary) -> str:
    def row(contest: str, one: Times) -> list[Cell]:
        return [
            *(contest, one.label, one.decisions),
            *(one.mean, one.p50, one.p99, one.slowest, one.iterations),
        ]

    heads = [
        *("contest", "label", "decisions"),
        *("mean_ms", "p50_ms", "p99_ms", "slowest_ms", "iterations"),
    ]
    rows = [row(OVERALL, one) for one in summary.times]
    rows += [row(part.contest.name, one) for part in summary.contests for one in part.times]
    return _text(heads, rows)


def _faults(summary: Summary) -> str:
    return _text(
        ["label", *(kind.value for kind in FaultKind), "matches"],
        [
            [one.label, *(one.counts[kind] for kind in FaultKind), one.matches]
            for one in summary.faults
        ],
    )


def _convergence(summary: Summary) -> str:
    return _text(
        ["deals", "label", *_heads("elo")],
        [
            [step.deals, label, *_parts(elo)]
            for step in summary.convergence
            for label, elo in step.elo.items()
        ],
    )


def _encounters(summary: Summary) -> str:
    return _text(
        [
            *("contest", "round", "first", "second", "deals"),
            *("measure", "difference", "verdict", "winner"),
        ],
        [
            [
                *(course.contest, one.round, one.first, one.second, one.deals),
                *(course.measure, one.difference, one.verdict, one.winner),
            ]
            for course in summary.courses
            for one in course.encounters
        ],
    )
