"""The plots of a whole tournament, and the list of all plots: SVG texts for light paper."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from tavolata.ai.arena.tournament.estimates import Estimate
from tavolata.ai.arena.tournament.report import game_figures, ink
from tavolata.ai.arena.tournament.report.drawing import (
    ROW,
    WIDTH,
    entrant_rows,
    logarithmic,
    mark,
    panels,
)
from tavolata.ai.arena.tournament.report.ink import PAPER, SERIES, SOFT, series, short
from tavolata.ai.arena.tournament.summary import Crosstable, Standing, Summary

TIME_MARKS = (("median", "p50", "o", 6), ("99 %", "p99", "|", 10), ("slowest", "slowest", "x", 6))


def ratings(summary: Summary) -> str:
    """Elo with intervals: over all games, and in each."""
    parts: list[tuple[str, Sequence[Standing]]] = [("all games", summary.standings)]
    if len(summary.contests) > 1:
        parts += [(one.contest.name, one.standings) for one in summary.contests]
    labels = [row.label for row in summary.standings]
    with ink.style():
        height = 0.75 + ROW * len(labels)
        figure, grid = panels(len(parts), 3, height, 0.3, sharex=True, sharey=True)
        for ax, (name, rows) in zip(grid, parts, strict=True):
            entrant_rows(ax, labels)
            ax.axvline(0, color=SOFT, lw=0.9)
            for row in rows:
                mark(ax, labels.index(row.label), row.elo)
            ax.set_title(short(name))
            ax.xaxis.set_major_locator(MaxNLocator(5, integer=True))
        figure.supxlabel("rating (Elo points, mean of all entrants 0), 95 % interval", size=10)
        return ink.as_svg(figure)


def crosstable(crossed: Crosstable) -> str:
    """Scores of rows against columns as a map of colours, in per cent."""
    count = len(crossed.labels)
    names = [short(label) for label in crossed.labels]
    shares = [[np.nan if cell is None else cell.value for cell in row] for row in crossed.cells]
    with ink.style():
        side = max(0.52 * count, 1.6)
        figure = Figure((min(side + 3.4, WIDTH + 2), side + 1.5), layout="constrained")
        ax = figure.subplots()
        ax.grid(visible=False)
        colours = np.ma.masked_invalid(np.array(shares))
        steps = colormaps["RdBu"].resampled(20)  # few enough for a bar of paths, not of pixels
        image = ax.pcolormesh(colours, cmap=steps, vmin=0, vmax=1, edgecolors=PAPER, lw=1.5)
        for i, row in enumerate(crossed.cells):
            for j, cell in enumerate(row):
                if cell is not None:
                    _write_score(ax, i, j, cell)
        ax.set_aspect("equal")
        ax.invert_yaxis()
        middle = np.arange(count) + 0.5
        ax.set_yticks(middle, names)
        ax.set_xticks(middle, names, rotation=40, ha="left", rotation_mode="anchor")
        ax.tick_params(length=0, top=False, labeltop=True, labelbottom=False)
        ax.spines[:].set_visible(False)
        bar = figure.colorbar(image, ax=ax, shrink=0.9, aspect=16)
        bar.ax.yaxis.set_major_formatter(PercentFormatter(1, symbol=""))
        bar.ax.spines[:].set_visible(False)
        bar.set_label("won by row against column (%)")
        return ink.as_svg(figure)


def _write_score(ax: Axes, row: int, column: int, cell: Estimate) -> None:
    ax.text(
        column + 0.5,
        row + 0.5,
        f"{100 * cell.value:.0f}",
        ha="center",
        va="center",
        size=9.5,
        weight="bold" if cell.excludes(0.5) else "normal",
        color="#ffffff" if abs(cell.value - 0.5) > 0.33 else "#000000",
    )


def times(summary: Summary) -> str:
    """How long decisions take: median, 99 %, slowest."""
    with ink.style():
        figure = Figure((WIDTH, 1.3 + ROW * len(summary.times)), layout="constrained")
        ax = figure.subplots()
        entrant_rows(ax, [one.label for one in summary.times])
        for row, one in enumerate(summary.times):
            if one.p50 is None or one.slowest is None:
                ax.plot([one.mean], [row], "D", ms=5, color=SERIES[1], label="mean")
                continue
            ax.plot([one.p50, one.slowest], [row, row], color=SOFT, lw=0.8, zorder=1)
            for name, field, sign, size in TIME_MARKS:
                value = getattr(one, field)
                ax.plot([value], [row], sign, color=SERIES[0], ms=size, mew=1.8, label=name)
        logarithmic(ax)
        ax.set_xlabel("time for one decision (ms, logarithmic)")
        lines, names = ax.get_legend_handles_labels()
        found = dict(zip(names, lines, strict=True))
        figure.legend(found.values(), found.keys(), loc="outside upper left", ncols=4)
        return ink.as_svg(figure)


def convergence(summary: Summary) -> str:
    """How ratings settled, deal by deal."""
    labels = [row.label for row in summary.standings]
    with ink.style():
        figure = Figure((WIDTH, max(3.4, 1.2 + 0.27 * len(labels))), layout="constrained")
        ax = figure.subplots()
        ends = [_settling(ax, summary, number, label) for number, label in enumerate(labels)]
        _hold_the_end(ax, summary)
        logarithmic(ax)
        ax.set_xlabel("deals played (logarithmic)")
        ax.set_ylabel("rating (Elo points), 95 % band")
        _name_ends(ax, labels, ends)
        return ink.as_svg(figure)


def _settling(ax: Axes, summary: Summary, number: int, label: str) -> tuple[float, float]:
    """One entrant's line and band; gives the line's end."""
    steps = [(step.deals, step.elo[label]) for step in summary.convergence if label in step.elo]
    colour, marker, dash = series(number)
    known = [(deals, one) for deals, one in steps if np.isfinite(one.low)]
    ax.fill_between(
        [deals for deals, _ in known],
        [one.low for _, one in known],
        [one.high for _, one in known],
        color=colour,
        alpha=0.1,
        lw=0,
    )
    ax.plot(
        [deals for deals, _ in steps],
        [one.value for _, one in steps],
        color=colour,
        lw=1.6,
        ms=4,
        marker=marker,
        ls=dash,
    )
    return steps[-1][0], steps[-1][1].value


def _hold_the_end(ax: Axes, summary: Summary) -> None:
    """Heights for all values and the last intervals; the first few deals may say anything."""
    values = [one.value for step in summary.convergence for one in step.elo.values()]
    for one in summary.convergence[-1].elo.values():
        values += [bound for bound in (one.low, one.high) if np.isfinite(bound)]
    room = 0.08 * (max(values) - min(values)) or 1.0
    ax.set_ylim(min(values) - room, max(values) + room)


def _name_ends(ax: Axes, labels: Sequence[str], ends: Sequence[tuple[float, float]]) -> None:
    """Names at the right ends of the lines, moved apart where they would overlap."""
    low, high = ax.get_ylim()
    gap = (high - low) / max(14, len(labels) + 1)
    heights = apart([height for _, height in ends], gap, low, high)
    for number, (label, end, height) in enumerate(zip(labels, ends, heights, strict=True)):
        ax.annotate(
            short(label),
            end,
            (1.04, (height - low) / (high - low)),
            textcoords="axes fraction",
            va="center",
            size=9,
            arrowprops={
                "arrowstyle": "-",
                "color": series(number)[0],
                "lw": 0.9,
                "shrinkA": 1,
                "shrinkB": 3,
            },
            annotation_clip=False,
        )


def apart(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Heights in the order of those wanted, a gap apart, inside the bounds if there is room."""
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    heights = list(wanted)
    floor = low
    for i in order:
        heights[i] = max(heights[i], floor)
        floor = heights[i] + gap
    ceiling = high
    for i in reversed(order):
        heights[i] = min(heights[i], ceiling)
        ceiling = heights[i] - gap
    return heights


def strength_and_time(summary: Summary) -> str:
    """Ratings against the mean time for a decision."""
    elo = {row.label: row.elo for row in summary.standings}
    with ink.style():
        figure = Figure((WIDTH, max(3.6, 0.8 + 0.25 * len(summary.times))), layout="constrained")
        ax = figure.subplots()
        handles = []
        for number, one in enumerate(summary.times):
            colour, marker, _ = series(number)
            mark(ax, one.mean, elo[one.label], upright=True, colour=colour, marker=marker)
            handles += ax.plot([], [], marker, color=colour, ms=6, label=short(one.label))
        logarithmic(ax)
        ax.set_xlabel("mean time for one decision (ms, logarithmic)")
        ax.set_ylabel("rating (Elo points), 95 % interval")
        figure.legend(handles=handles, loc="outside right upper")
        return ink.as_svg(figure)


def as_svgs(summary: Summary) -> dict[str, str]:
    """Every plot as a file of its own for light paper: file name to SVG text."""
    if not summary.matches:
        return {}
    made = {f"{name}.svg": plot(summary) for name, plot in WHOLE.items() if name != "crosstable"}
    made["crosstable.svg"] = crosstable(summary.crosstable)
    for number, part in enumerate(summary.contests, 1):
        stem = f"{number}-{re.sub(r'[^A-Za-z0-9_-]+', '-', part.contest.name)}"
        made[f"{stem}-crosstable.svg"] = crosstable(part.crosstable)
        made[f"{stem}-places.svg"] = game_figures.places(part)
        made[f"{stem}-totals.svg"] = game_figures.totals(part)
    return made


WHOLE: dict[str, Callable[..., str]] = {
    "ratings": ratings,
    "crosstable": crosstable,
    "convergence": convergence,
    "times": times,
    "strength_and_time": strength_and_time,
    "seats": game_figures.seats,
}
FIGURES = WHOLE | {"places": game_figures.places, "totals": game_figures.totals}
