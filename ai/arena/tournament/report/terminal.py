"""A summary as tables for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from tavolata.ai.arena.tournament.estimates import Estimate
from tavolata.ai.arena.tournament.report import words
from tavolata.ai.arena.tournament.summary import (
    ContestSummary,
    Crosstable,
    Faults,
    Standing,
    Summary,
    Times,
)

ABOUT = (
    "Intervals are 95 % over deals. Elo: from places, pair by pair, mean 0; score: share of "
    "opponents beaten; ranks in brackets: 95 %."
)


def terminal(summary: Summary, console: Console) -> None:
    """Print everything but the distributions, which need a picture."""
    if not summary.matches:
        console.print("No match has been played yet.")
        return
    title = words.played(summary.matches, summary.deals)
    console.print(standings_table(summary.standings, title))
    console.print(ABOUT, style="dim")
    if len(summary.standings) > 1:
        console.print(crosstable(summary.crosstable, "score of row against column, %"))
    for contest in summary.contests:
        console.print(contest_table(contest))
    console.print(times_table(summary.times))
    if any(any(one.counts.values()) for one in summary.faults):
        console.print(faults_table(summary.faults))


def standings_table(rows: Sequence[Standing], title: str) -> Table:
    """The overall standings; also for a display that is renewed while a tournament runs."""
    table = _table(
        title,
        ("rank", "entrant", "Elo", "95 %", "OpenSkill", "95 %", "score", "wins", "par", "matches"),
    )
    for row in rows:
        table.add_row(
            words.ranks(row.rank, row.rank_low, row.rank_high),
            Text(words.label(row.label)),
            words.number(row.elo.value, 0, signed=True),
            words.interval(row.elo, 0, signed=True),
            words.number(row.skill.mu.value, 1) if row.skill else words.NONE,
            words.interval(row.skill.mu, 1) if row.skill else words.NONE,
            words.percent(row.score.value),
            words.percent(row.win_share.value),
            words.percent(row.par),
            f"{row.matches:,}",
        )
    if len({row.part for row in rows}) > 1:
        table.caption = (
            "Not everybody can be compared: ranks and ratings count within those who met."
        )
    return table


def crosstable(crossed: Crosstable, title: str) -> Table:
    """Scores in per cent; bold where the interval leaves out 50."""
    numbers = [str(number) for number in range(1, len(crossed.labels) + 1)]
    table = _table(title, ("", "entrant", *numbers))
    for number, label, cells in zip(numbers, crossed.labels, crossed.cells, strict=True):
        table.add_row(number, Text(words.label(label)), *[_cell(cell) for cell in cells])
    return table


def _cell(cell: Estimate | None) -> Text:
    if cell is None:
        return Text("·", style="dim")
    return Text(f"{100 * cell.value:.0f}", style="bold" if cell.excludes(0.5) else "dim")


def contest_table(summary: ContestSummary) -> Table:
    """The standings of one game, on its own scales too."""
    contest = summary.contest
    best = "low totals win" if summary.low_wins else "high totals win"
    title = (
        f"{words.label(contest.name)}: {contest.seats} seats, "
        f"{words.played(summary.matches, summary.deals)}, {best}"
    )
    table = _table(
        title,
        ("rank", "entrant", "Elo", "95 %", "wins", "place", "total", "95 %", "utility", "95 %"),
    )
    points = {row.label: row for row in summary.points}
    for row in summary.standings:
        own = points[row.label]
        table.add_row(
            words.ranks(row.rank, row.rank_low, row.rank_high),
            Text(words.label(row.label)),
            words.number(row.elo.value, 0, signed=True),
            words.interval(row.elo, 0, signed=True),
            words.percent(row.win_share.value),
            words.number(own.place.value, 2),
            words.number(own.total.value, 1),
            words.interval(own.total, 1),
            words.number(own.utility.value, 3),
            words.interval(own.utility, 3),
        )
    return table


def times_table(rows: Sequence[Times]) -> Table:
    """Decision times of every entrant."""
    table = _table(
        "time per decision, ms",
        ("entrant", "mean", "median", "99 %", "slowest", "decisions", "iterations"),
    )
    for row in rows:
        table.add_row(
            Text(words.label(row.label)),
            *[words.milliseconds(value) for value in (row.mean, row.p50, row.p99, row.slowest)],
            f"{row.decisions:,}",
            f"{row.iterations:,.0f}",
        )
    return table


def faults_table(rows: Sequence[Faults]) -> Table:
    """Faults of every entrant, by kind."""
    kinds = list(rows[0].counts)
    table = _table("faults", ("entrant", *kinds, "matches"))
    for row in rows:
        counts: list[RenderableType] = [str(row.counts[kind]) for kind in kinds]
        table.add_row(Text(words.label(row.label)), *counts, str(row.matches))
    return table


def _table(title: str, heads: Sequence[str]) -> Table:
    table = Table(title=Text(title), title_justify="left")
    for head in heads:
        text = head in ("entrant", "rank")
        table.add_column(
            head, justify="left" if text else "right", overflow="fold", no_wrap=head != "entrant"
        )
    return table
