"""The plots of a load test: SVG texts for light paper."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator

from tavolata.ai.arena.tournament.report import ink
from tavolata.ai.arena.tournament.report.drawing import ROW, WIDTH, entrant_rows, logarithmic
from tavolata.ai.arena.tournament.report.ink import GRID, SERIES, SOFT, series
from tavolata.service.loadtest.latencies import Latencies
from tavolata.service.loadtest.result import Result, Row, Second
from tavolata.service.loadtest.tally import ACTIONS, SLICE_S

SHARES = (0.0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999)
MARKS = (("p50", 0.5, "o"), ("p90", 0.9, "D"), ("p99", 0.99, "|"), ("p99.9", 0.999, "x"))


def distribution(result: Result) -> str:
    """How long the slower ones took: latency at each share of all, for each kind of call."""
    with ink.style():
        figure = Figure((WIDTH, 4.4), layout="constrained")
        ax = figure.subplots()
        most = 1.0
        for number, row in enumerate(each for each in result.rows() if each.succeeded):
            points = list(_tail(row.latencies))
            colour, _, dash = series(number)
            xs, ys = [x for x, _ in points], [y for _, y in points]
            ax.plot(xs, ys, color=colour, ls=dash, lw=1.8, label=row.what, drawstyle="steps-pre")
            most = max(most, *xs)
        ax.set_xscale("log")
        ticks = [share for share in SHARES if 1 / (1 - share) <= 1.5 * most]
        ax.xaxis.set_major_locator(FixedLocator([1 / (1 - share) for share in ticks]))
        ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{100 - 100 / x:.6g} %"))
        ax.xaxis.set_minor_locator(NullLocator())
        _logarithmic_heights(ax)
        ax.set_xlabel("share of all that took at most so long")
        ax.set_ylabel("latency (ms, logarithmic)")
        figure.legend(loc="outside upper left", ncols=5)
        return ink.as_svg(figure)


def _tail(found: Latencies) -> Iterator[tuple[float, float]]:
    """1 / (1 - share) and the milliseconds of that share, to the longest."""
    count = len(found)
    before = 0
    for seconds, so_far in found.steps():
        yield count / (count - before), 1000 * min(seconds, found.longest_s)
        before = so_far


def throughput(result: Result) -> str:
    """Actions that succeeded and that failed, second by second."""
    with ink.style():
        figure, ax = _over_time(result, 2.6)
        xs = [_at(each) for each in _timeline(result)]
        ax.plot(
            *(xs, [len(each.latencies) / SLICE_S for each in _timeline(result)]),
            color=SERIES[0],
            lw=1.8,
            label="succeeded",
        )
        if result.plan.rate is not None:
            ax.axhline(result.plan.rate, color=SOFT, lw=0.9, ls="--", label="due")
        ax.set_ylim(bottom=0)
        ax.set_ylabel("actions/s")
        figure.legend(loc="outside upper left", ncols=3)
        return ink.as_svg(figure)


def failures(result: Result) -> str:
    """Actions that failed, second by second."""
    with ink.style():
        figure, ax = _over_time(result, 2.0)
        xs = [_at(each) for each in _timeline(result)]
        counts = [each.failed / SLICE_S for each in _timeline(result)]
        ax.bar(xs, counts, width=0.9 * SLICE_S, color=SERIES[1])
        ax.set_ylim(0, max(1.0, 1.1 * max(counts, default=0)))
        ax.set_ylabel("failed/s")
        return ink.as_svg(figure)


def latency(result: Result) -> str:
    """Latencies of actions, second by second."""
    seconds = [each for each in _timeline(result) if len(each.latencies)]
    lines: Sequence[tuple[str, Callable[[Second], float]]] = (
        ("p50", lambda each: each.latencies.quantile(0.5)),
        ("p99", lambda each: each.latencies.quantile(0.99)),
        ("longest", lambda each: each.latencies.longest_s),
    )
    with ink.style():
        figure, ax = _over_time(result, 3.2)
        for number, (name, of) in enumerate(lines):
            colour, marker, dash = series(number)
            ys = [1000 * of(each) for each in seconds]
            xs = [_at(each) for each in seconds]
            ax.plot(xs, ys, color=colour, ls=dash, lw=1.8, marker=marker, ms=3.5, label=name)
        _logarithmic_heights(ax)
        ax.set_ylabel("latency (ms, logarithmic)")
        figure.legend(loc="outside upper left", ncols=3)
        return ink.as_svg(figure)


def audience(result: Result) -> str:
    """Tables, watches and streams that were open, and events told, second by second."""
    with ink.style():
        figure = Figure((WIDTH, 3.6), layout="constrained")
        above, below = figure.subplots(2, 1, sharex=True)
        xs = [_at(each) for each in _timeline(result)]
        for number, name in enumerate(("tables", "watches", "streams")):
            colour, _, dash = series(number)
            ys = [each.open[name] for each in _timeline(result)]
            if any(ys):
                above.plot(xs, ys, color=colour, ls=dash, lw=1.8, label=name)
        above.set_ylabel("open")
        told = [each.counts["events"] / SLICE_S for each in _timeline(result)]
        below.plot(xs, told, color=SERIES[3], lw=1.8)
        below.set_ylabel("events told/s")
        below.set_xlabel("seconds since the beginning")
        for ax in (above, below):
            ax.set_ylim(bottom=0)
            _shade(ax, result)
        figure.legend(loc="outside upper left", ncols=3)
        return ink.as_svg(figure)


def by_call(result: Result) -> str:
    """Quantiles of each kind of call."""
    return _ranges([(row.what, row) for row in result.rows() if row.succeeded])


def by_game(result: Result) -> str:
    """Quantiles of the actions of each game."""
    rows = [row for row in result.rows_by_game() if row.what in ACTIONS and row.succeeded]
    both = len({row.what for row in rows}) > 1
    return _ranges([(f"{row.game}, {row.what}" if both else row.game, row) for row in rows])


def _ranges(rows: Sequence[tuple[str, Row]]) -> str:
    with ink.style():
        figure = Figure((WIDTH, 1.3 + ROW * max(1, len(rows))), layout="constrained")
        ax = figure.subplots()
        entrant_rows(ax, [name for name, _ in rows])
        for height, (_, row) in enumerate(rows):
            found = row.latencies
            ends = [1000 * found.quantile(0.5), 1000 * found.longest_s]
            ax.plot(ends, [height, height], color=SOFT, lw=0.8, zorder=1)
            for name, share, sign in MARKS:
                value = 1000 * found.quantile(share)
                size = 10 if sign == "|" else 6
                ax.plot([value], [height], sign, color=SERIES[0], ms=size, mew=1.8, label=name)
            ax.plot([ends[1]], [height], "s", color=SERIES[1], ms=5, label="longest")
        if rows:
            logarithmic(ax)
        ax.set_xlabel("latency (ms, logarithmic)")
        lines, names = ax.get_legend_handles_labels()
        found_names = dict(zip(names, lines, strict=True))
        figure.legend(found_names.values(), found_names.keys(), loc="outside upper left", ncols=5)
        return ink.as_svg(figure)


def _over_time(result: Result, height: float) -> tuple[Figure, Axes]:
    figure = Figure((WIDTH, height), layout="constrained")
    ax = figure.subplots()
    ax.set_xlabel("seconds since the beginning")
    _shade(ax, result)
    return figure, ax


def _shade(ax: Axes, result: Result) -> None:
    """What doesn't count is grey."""
    begin = result.plan.ramp_s + result.plan.warmup_s
    end = begin + result.seconds
    last = max([end, *((each.number + 1) * SLICE_S for each in _timeline(result))])
    for low, high in ((0.0, begin), (end, last)):
        if high > low:
            ax.axvspan(low, high, color=GRID, alpha=0.5, lw=0)
    ax.set_xlim(0, last)


def _timeline(result: Result) -> list[Second]:
    """The seconds to its end: what comes then is only what was under way."""
    return [each for each in result.timeline if result.phase(each) != "after"]


def _at(second: Second) -> float:
    return (second.number + 0.5) * SLICE_S


def _logarithmic_heights(ax: Axes) -> None:
    ax.set_yscale("log")
    ax.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:,.10g}"))
    low, high = ax.get_ylim()
    if high < 300 * low:
        ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.yaxis.set_minor_formatter(NullFormatter())


PLOTS: dict[str, Callable[[Result], str]] = {
    each.__name__: each
    for each in (distribution, throughput, latency, failures, audience, by_call, by_game)
}
