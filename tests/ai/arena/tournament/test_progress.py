"""What is shown while a tournament runs."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from tavolata.ai.arena.tournament.model import Fault, FaultKind, MatchOutcome
from tavolata.ai.arena.tournament.play import Referee
from tavolata.ai.arena.tournament.policy import FaultPolicy
from tavolata.service.cli.tournament_progress import Count, Display, Lines, duration
from tests.ai.arena.tournament.table_of_four import duels, field_of

FIELD = field_of("greedy", "random")
PLANS = duels("greedy", "random", deals=4)


@pytest.fixture(scope="module")
def outcomes() -> list[MatchOutcome]:
    referee = Referee(FIELD, FaultPolicy())
    return [referee.play(plan) for plan in PLANS]


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0:00"), (59.6, "1:00"), (754, "12:34"), (3723, "1:02:03")]
)
def test_durations_are_told_in_minutes_and_hours(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_the_rate_is_that_of_late_and_gives_the_time_left(
    outcomes: list[MatchOutcome], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr("tavolata.service.cli.tournament_progress.time.monotonic", lambda: now)
    count = Count()
    count.block(1000, outcomes[:4])
    assert count.text() == "4 of 1,000 matches"
    for _ in range(40):  # four matches in ten seconds, for long
        now += 10
        count.add(outcomes[:4])
    assert count.rate == pytest.approx(0.4)
    for _ in range(40):  # then four in each second
        now += 1
        count.add(outcomes[:4])
    assert count.rate == pytest.approx(4)
    assert count.text() == "324 of 1,000 matches, 4.0 a second, 2:49 left"


def test_faults_are_counted_and_told(outcomes: list[MatchOutcome]) -> None:
    fault = Fault(FaultKind.CRASH, "random", 1, 0, "")
    faulty = MatchOutcome(PLANS[0], outcomes[0].seats, bytes(32), b"", (fault, fault))
    count = Count()
    count.block(8, [faulty])
    count.add([faulty])
    assert "4 faults" in count.text()


def test_where_there_is_no_terminal_lines_are_written(outcomes: list[MatchOutcome]) -> None:
    file = io.StringIO()
    lines = Lines(Console(file=file))
    lines.planned(PLANS, outcomes[:2])
    lines.played(outcomes[2:])
    lines.planned(PLANS[:1], [])
    assert file.getvalue().splitlines() == ["2 of 8 matches", "8 of 9 matches"]


def test_a_terminal_shows_bar_and_standings_that_fit_it(outcomes: list[MatchOutcome]) -> None:
    file = io.StringIO()
    console = Console(file=file, force_terminal=True, width=80, height=40, color_system=None)
    display = Display(FIELD, console)
    with display.live:
        display.planned(PLANS, outcomes[:2])
        display.played(outcomes[2:])
        display.live.refresh()
        shown = file.getvalue()
    assert "8 of 8 matches" in shown
    for word in ("entrant", "greedy", "random", "Elo", "95 %"):
        assert word in shown
