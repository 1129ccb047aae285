"""Comparisons of two entrants as tables in Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from tavolata.ai.arena.statistics import Interval
from tavolata.ai.arena.tournament.comparisons import Compared

HEAD = (
    "| contest | compared | deals | matches | Elo | 95 % interval | utility |",
    "|---|---|---|---|---|---|---|",
)


def markdown(title: str, rows: Sequence[Compared]) -> str:
    """A table with a row for each pair."""
    return "\n".join([f"**{title}**", "", *HEAD, *(line(row) for row in rows)]) + "\n"


def line(row: Compared) -> str:
    """A row of the table."""
    cells = [
        row.contest,
        f"{row.first} - {row.second}",
        f"{row.deals:,}",
        f"{row.matches:,}",
        *elo_cells(row),
        with_width(row.utility),
    ]
    return f"| {' | '.join(cells)} |"


def elo_cells(row: Compared) -> list[str]:
    """Elo, and from where to where it may be."""
    elo, low, high = row.elo
    return [f"{elo:.0f}", f"{low:.0f} to {high:.0f}"]


def with_width(value: Interval) -> str:
    """``mean ± half width``."""
    return f"{value.mean:.3f} ± {value.half_width:.3f}"
