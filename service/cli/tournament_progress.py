"""How a tournament is followed while it runs: a display at a terminal, lines elsewhere."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from tavolata.ai.arena.tournament.model import Field, MatchOutcome, MatchPlan
    from tavolata.ai.arena.tournament.runner import Observer
    from tavolata.ai.arena.tournament.summary import Standing

WINDOW_S = 30.0  # what the rate is taken over
LINE_S = 10.0  # between two lines
STANDINGS_S = 3.0  # between two looks at the standings, at least
STANDINGS_SHARE = 0.02  # of the time that may go into them


class Count:
    """Matches done and to do, and how fast they come."""

    def __init__(self) -> None:
        self.done = self.planned = self.faults = 0
        self._recent: deque[tuple[float, int]] = deque()

    def block(self, plans: int, done: Sequence[MatchOutcome]) -> None:
        """A block was planned, of which some is done."""
        self.planned += plans
        self.done += len(done)
        self.faults += sum(len(outcome.faults) for outcome in done)
        self._recent.clear()
        self._recent.append((time.monotonic(), self.done))

    def add(self, outcomes: Sequence[MatchOutcome]) -> None:
        """Matches were played."""
        self.done += len(outcomes)
        self.faults += sum(len(outcome.faults) for outcome in outcomes)
        self._recent.append((time.monotonic(), self.done))
        while self._recent[-1][0] - self._recent[0][0] > WINDOW_S and len(self._recent) > 2:
            self._recent.popleft()

    @property
    def rate(self) -> float:
        """Matches a second, lately."""
        (began, before), (ended, after) = self._recent[0], self._recent[-1]
        return (after - before) / (ended - began) if ended > began else 0.0

    def text(self) -> str:
        """All of it in a line."""
        left = (self.planned - self.done) / self.rate if self.rate else None
        parts = [f"{self.done:,} of {self.planned:,} matches"]
        if left is not None:
            parts += [f"{self.rate:,.1f} a second", f"{duration(left)} left"]
        if self.faults:
            parts.append(f"{self.faults:,} faults")
        return ", ".join(parts)


def duration(seconds: float) -> str:
    """Like 1:02:03, or 2:03."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


class Lines:
    """A line now and then, for files and logs."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._count = Count()
        self._told = time.monotonic()

    def planned(self, plans: Sequence[MatchPlan], done: Sequence[MatchOutcome]) -> None:
        self._count.block(len(plans), done)
        self._tell()

    def played(self, outcomes: Sequence[MatchOutcome]) -> None:
        self._count.add(outcomes)
        if time.monotonic() - self._told >= LINE_S:
            self._tell()

    def _tell(self) -> None:
        self._told = time.monotonic()
        self._console.print(self._count.text())


class Display:
    """A bar, the rate, the time left and the standings with their intervals, renewed in place."""

    def __init__(self, field: Field, console: Console) -> None:
        from rich.live import Live
        from rich.progress import BarColumn, Progress, TextColumn

        self._field = field
        self._count = Count()
        self._outcomes: list[MatchOutcome] = []
        self._bar = Progress(BarColumn(40), TextColumn("{task.description}"), console=console)
        self._task = self._bar.add_task("")
        self._standings: RenderableType = ""
        self._due = 0.0
        self.live = Live(console=console, refresh_per_second=4, transient=True)

    def planned(self, plans: Sequence[MatchPlan], done: Sequence[MatchOutcome]) -> None:
        self._count.block(len(plans), done)
        self._outcomes += done
        self._show()

    def played(self, outcomes: Sequence[MatchOutcome]) -> None:
        self._count.add(outcomes)
        self._outcomes += [replace(outcome, record=b"") for outcome in outcomes]
        if time.monotonic() >= self._due:
            self._look()
        self._show()

    def _show(self) -> None:
        from rich.console import Group

        self._bar.update(
            self._task,
            total=self._count.planned,
            completed=self._count.done,
            description=self._count.text(),
        )
        self.live.update(Group(self._standings, self._bar))

    def _look(self) -> None:
        """Make the standings anew. The workers wait meanwhile, so it is done the more rarely the
        longer it takes."""
        try:
            from tavolata.ai.arena.tournament.results import standings
        except ModuleNotFoundError as error:
            self._due = inf
            self._standings = f"standings need {error.name}, which comes with tavolata[tournament]"
            return
        began = time.monotonic()
        self._standings = table_of(standings(self._field, self._outcomes))
        ended = time.monotonic()
        self._due = ended + max(STANDINGS_S, (ended - began) / STANDINGS_SHARE)


def table_of(standings: Sequence[Standing]) -> RenderableType:
    """Standings that fit a narrow terminal."""
    from rich.table import Table
    from rich.text import Text

    from tavolata.ai.arena.tournament.report import words

    table = Table()
    table.add_column("entrant", overflow="fold")
    for head in ("Elo", "95 %", "score", "wins", "matches"):
        table.add_column(head, justify="right", no_wrap=True)
    for row in standings:
        table.add_row(
            Text(words.label(row.label)),
            words.number(row.elo.value, 0, signed=True),
            words.interval(row.elo, 0, signed=True),
            words.percent(row.score.value),
            words.percent(row.win_share.value),
            f"{row.matches:,}",
        )
    return table


@contextmanager
def progress(field: Field) -> Iterator[Observer]:
    """An observer that shows on standard error what happens."""
    from rich.console import Console

    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        yield Lines(console)
        return
    display = Display(field, console)
    with display.live:
        yield display
