"""What several plots share: rows of entrants, marks with intervals, logarithmic axes, grids."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, inf
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from tavolata.ai.arena.tournament.estimates import Estimate
from tavolata.ai.arena.tournament.report.ink import PAPER, SERIES, short

WIDTH = 10.0  # inches; a page scales it
ROW = 0.34  # inches for one entrant


def entrant_rows(ax: Axes, labels: Sequence[str]) -> None:
    """Entrants down the left side, the first on top."""
    ax.set_yticks(range(len(labels)), [short(label) for label in labels])
    ax.set_ylim(len(labels) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.grid(visible=False, axis="y")
    ax.spines["left"].set_visible(False)


def mark(
    ax: Axes,
    at: float,
    one: Estimate,
    *,
    upright: bool = False,
    scale: float = 1.0,
    colour: str = SERIES[0],
    marker: str = "o",
) -> None:
    """A value with its interval, lying at height ``at`` or upright at ``at`` along the axis; hollow
    where there is no interval."""
    known = one.low > -inf and one.high < inf
    bounds = [scale * one.low, scale * one.high] if known else []
    here = [at] * len(bounds)
    value = scale * one.value
    line = (here, bounds) if upright else (bounds, here)
    ax.plot(*line, color=colour, lw=2, solid_capstyle="butt")
    point = ([at], [value]) if upright else ([value], [at])
    ax.plot(*point, marker, ms=6, color=colour, mfc=colour if known else PAPER)


def logarithmic(ax: Axes) -> None:
    """A logarithmic horizontal axis with plain numbers, also where it spans less than a decade."""
    ax.set_xscale("log")
    low, high = ax.get_xlim()
    if 3 * low < high < 300 * low:
        ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.xaxis.set_major_formatter(FuncFormatter(_plain))
    ax.xaxis.set_minor_formatter(FuncFormatter(_plain) if high <= 3 * low else NullFormatter())


def _plain(value: float, _: object) -> str:
    return f"{value:,.10g}"


def panels(
    count: int, columns_max: int, height: float, extra: float, **shared: Any
) -> tuple[Figure, list[Axes]]:
    """A figure of so many panels: rows of ``height`` inches, ``extra`` for what is around them."""
    columns = min(count, columns_max)
    rows = ceil(count / columns)
    layout = ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.06)
    figure = Figure((WIDTH, rows * height + extra), layout=layout)
    grid = list(figure.subplots(rows, columns, squeeze=False, **shared).flat)
    for ax in grid[count:]:
        ax.remove()
    if "sharex" in shared:
        # A panel with nothing below it carries the numbers of its column.
        for ax in grid[max(0, count - columns) : count]:
            ax.tick_params(labelbottom=True)
    return figure, grid[:count]
