"""The plots of single games: places by seat, totals, what the seats are worth."""

from __future__ import annotations

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from tavolata.ai.arena.tournament.report import ink
from tavolata.ai.arena.tournament.report.drawing import WIDTH, entrant_rows, mark, panels
from tavolata.ai.arena.tournament.report.ink import INK, PAPER, SERIES, SOFT, short
from tavolata.ai.arena.tournament.summary import ContestSummary, Summary


def places(part: ContestSummary) -> str:
    """How often each entrant ended in which place, from each seat."""
    labels = [row.label for row in part.standings]
    seats = part.contest.seats
    with ink.style():
        height = 0.62 + 0.2 * seats
        figure, grid = panels(len(labels), 5, height, 0.85, sharex=True, sharey=True)
        for ax, label in zip(grid, labels, strict=True):
            counts = [one.counts for one in part.places if one.label == label]
            bars = _place_bars(ax, np.array(counts, dtype=float))
            ax.set_title(short(label, 22), size=9.5)
        figure.supylabel("seat", size=10)
        figure.supxlabel("matches (%)", size=10)
        figure.legend(
            handles=bars,
            loc="outside upper left",
            ncols=min(seats, 12),
            title="place",
            alignment="left",
            handlelength=1.1,
            columnspacing=1.1,
        )
        return ink.as_svg(figure)


def _place_bars(
    ax: Axes, counts: np.ndarray[tuple[int, int], np.dtype[np.float64]]
) -> list[BarContainer]:
    """Shares of the places, one bar a seat; counts: (seats, places)."""
    seats, place_count = counts.shape
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    left = np.cumsum(shares, axis=1) - shares
    bars = [
        ax.barh(
            range(seats),
            shares[:, place],
            0.84,
            left[:, place],
            color=_shade(place, place_count),
            edgecolor=PAPER,
            lw=0.5,
            label=_ordinal(place + 1),
        )
        for place in range(place_count)
    ]
    ax.set_xlim(0, 1)
    ax.set_ylim(seats - 0.4, -0.6)
    ax.set_yticks(range(seats), [str(seat) for seat in range(seats)])
    ax.xaxis.set_major_formatter(PercentFormatter(1, symbol=""))
    ax.set_xticks((0, 0.5, 1))
    ax.grid(visible=False)
    return bars


def _shade(place: int, count: int) -> str:
    """From first to last place: dark blue over grey to yellow, in order in grey print too."""
    return to_hex(colormaps["cividis"](0.15 + 0.83 * place / max(count - 1, 1)))


def _ordinal(place: int) -> str:
    return {1: "1st", 2: "2nd", 3: "3rd"}.get(place, f"{place}th")


def seats(summary: Summary) -> str:
    """What the seats are worth in every game."""
    with ink.style():
        figure, grid = panels(len(summary.contests), 5, 2.3, 0.3, sharey=True)
        for ax, part in zip(grid, summary.contests, strict=True):
            ax.axhline(50, color=SOFT, lw=0.9)
            for one in part.seats:
                mark(ax, one.seat, one.score, upright=True, scale=100)
            ax.set_title(short(part.contest.name, 20), size=9.5)
            ax.set_xticks([one.seat for one in part.seats])
            ax.set_xlim(-0.6, part.contest.seats - 0.4)
            ax.grid(visible=False, axis="x")
        figure.supxlabel("seat", size=10)
        figure.supylabel("opponents beaten (%)", size=10)
        return ink.as_svg(figure)


def totals(part: ContestSummary) -> str:
    """How the totals of one game are spread."""
    labels = [one.label for one in part.totals]
    edges = np.array(part.total_edges)
    shares = [np.array(one.counts) / max(sum(one.counts), 1) for one in part.totals]
    top = max(float(share.max()) for share in shares) or 1.0
    with ink.style():
        figure = Figure((WIDTH, 1.0 + 0.5 * len(labels)), layout="constrained")
        ax = figure.subplots()
        entrant_rows(ax, labels)
        for row, (one, share) in enumerate(zip(part.totals, shares, strict=True)):
            shape = row - 0.72 * share / top
            ax.stairs(shape, edges, baseline=row, fill=True, color=SERIES[0], alpha=0.35)
            below = [row + 0.12] * 2
            ax.plot([one.p5, one.p95], below, color=INK, lw=1)
            ax.plot([one.p25, one.p75], below, color=INK, lw=3.5, solid_capstyle="butt")
            ax.plot([one.median], below[:1], "o", color=INK, mfc=PAPER, ms=5.5, mew=1.4)
        ax.set_ylim(len(labels) - 0.6, -0.9)
        ax.set_xlabel(f"total (points, {'low' if part.low_wins else 'high'} wins)")
        return ink.as_svg(figure)
