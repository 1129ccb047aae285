"""A load test at the terminal: what comes while it runs, and a table at the end."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from tavolata.service.loadtest.latencies import Latencies
from tavolata.service.loadtest.plan import Plan
from tavolata.service.loadtest.result import Result, Row, Second
from tavolata.service.loadtest.tally import ACTIONS, SLICE_DIGITS, SLICE_S

LINE_S = 5  # between two lines where there is no terminal
SPARKS = " ▁▂▃▄▅▆▇█"
SPARKS_MAX = 60


class Progress:
    """What the seconds so far have brought."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._rates: list[int] = []
        self._all = Latencies(SLICE_DIGITS)
        self._failed = self._problems = 0
        self._last: Second | None = None

    def add(self, second: Second) -> None:
        """One more."""
        self._last = second
        self._rates.append(len(second.latencies))
        self._all.add(second.latencies)
        self._failed += second.failed

    @property
    def is_line_due(self) -> bool:
        """Whether it is time for another line."""
        return len(self._rates) % LINE_S == 0

    def line(self) -> str:
        """The last second, and what failed so far."""
        second = self._last
        if second is None:
            return "waiting for the first second"
        at, plan = (second.number + 1) * SLICE_S, self._plan
        phase = ""
        if at <= plan.ramp_s + plan.warmup_s:
            phase = " (doesn't count yet)"
        return (
            f"{min(at, plan.total_s):.0f} of {plan.total_s:.0f} s{phase}:"
            f" {len(second.latencies) / SLICE_S:,.0f} actions/s,"
            f" p50 {milliseconds(second.latencies.quantile(0.5))} ms,"
            f" p99 {milliseconds(second.latencies.quantile(0.99))} ms,"
            f" {self._failed:,} failed, {second.open['tables']:,} tables,"
            f" {second.open['watches']:,} watches, {second.open['streams']:,} streams"
        )

    def __rich__(self) -> RenderableType:
        rates = self._rates[-SPARKS_MAX:]
        most = max(rates, default=0) or 1
        sparks = "".join(SPARKS[math.ceil(rate / most * (len(SPARKS) - 1))] for rate in rates)
        return Group(Text(self.line()), Text(f"actions/s {sparks} to {most:,}"))


@contextmanager
def progress(plan: Plan) -> Iterator[Callable[[Second], None]]:
    """An observer that shows on standard error how it goes."""
    console, state = Console(stderr=True, highlight=False), Progress(plan)
    if not console.is_terminal:

        def tell(second: Second) -> None:
            state.add(second)
            if state.is_line_due:
                sys.stderr.write(f"{state.line()}\n")
                sys.stderr.flush()

        yield tell
        return
    with Live(state, console=console, refresh_per_second=4, transient=True):
        yield state.add


def show(result: Result) -> None:
    """The result on standard output."""
    console = Console(highlight=False)
    console.print(Text(summary(result)), soft_wrap=True)
    console.print(
        _table("call", ((row.what, row) for row in result.rows()), "By call, latencies in ms")
    )
    for what in ACTIONS:
        rows = [(row.game, row) for row in result.rows_by_game() if row.what == what]
        if rows:
            console.print(_table("game", rows, f"{what} by game, latencies in ms"))
    if result.failures:
        console.print(_failures(result))
    for text in (*result.problems, *result.warnings()):
        console.print(Text(text), soft_wrap=True)


def summary(result: Result) -> str:
    """What matters, in a few lines."""
    row, plan = result.actions(), result.plan
    loop = f"open loop at {plan.rate:g}/s" if plan.rate is not None else "closed loop"
    first = (
        f"{row.per_s:,.0f} actions/s for {result.seconds:.0f} s ({loop}, {plan.tables} tables,"
        f" {plan.transport}): p50 {milliseconds(row.latencies.quantile(0.5))} ms,"
        f" p99 {milliseconds(row.latencies.quantile(0.99))} ms,"
        f" {row.failed:,} of {row.failed + row.succeeded:,} failed"
    )
    lines = [first]
    if result.counts:
        counts = sorted(result.counts.items())
        lines.append(", ".join(f"{number:,} {what}" for what, number in counts))
    before, after = result.machine.load
    rest = f"load average {before:.1f} before, {after:.1f} at the end"
    server = result.server
    if server.cpu_s is not None and row.succeeded:
        rest += f"; server: {1e6 * server.cpu_s / row.succeeded:,.0f} us of CPU an action"
        rest += f", {(server.rss_bytes or 0) / 2**20:,.0f} MiB resident"
    return "\n".join([*lines, rest])


def _table(head: str, rows: Iterable[tuple[str, Row]], title: str) -> Table:
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column(head, overflow="fold")
    for each in ("succeeded", "per s", "failed", "p50", "p99", "p99.9", "longest"):
        table.add_column(each, justify="right", no_wrap=True)
    for name, row in rows:
        found = row.latencies
        values = [found.quantile(share) for share in (0.5, 0.99, 0.999)]
        values.append(found.longest_s if len(found) else math.nan)
        table.add_row(
            *(name, f"{row.succeeded:,}", f"{row.per_s:,.1f}", f"{row.failed:,}"),
            *(milliseconds(value) for value in values),
        )
    return table


def _failures(result: Result) -> Table:
    table = Table(title="Failed", title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for head in ("what", "game", "kind", "reason"):
        table.add_column(head, overflow="fold")
    table.add_column("count", justify="right")
    for key, count in sorted(result.failures.items(), key=lambda item: -item[1]):
        table.add_row(*map(Text, key), f"{count:,}")
    return table


def milliseconds(seconds: float) -> str:
    """Like 1.23, 45.6, 789; a dash for what isn't known."""
    if math.isnan(seconds):
        return "–"
    value = 1000 * seconds
    digits = 2 if value < 10 else 1 if value < 100 else 0
    return f"{value:,.{digits}f}"
