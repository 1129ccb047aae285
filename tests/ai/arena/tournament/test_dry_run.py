"""Dry runs: matches counted, times and spreads extrapolated, and what can be detected."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Generator, Iterable
from itertools import combinations
from math import sqrt
from pathlib import Path
from random import Random
from statistics import fmean

import pytest

from tavolata.ai.arena.statistics import interval
from tavolata.ai.arena.tournament.backends import Played
from tavolata.ai.arena.tournament.backends.inline import Inline
from tavolata.ai.arena.tournament.dry_run import (
    DEALS_MOST,
    Forecast,
    covering,
    forecast,
)
from tavolata.ai.arena.tournament.dry_run_text import duration_text, lines
from tavolata.ai.arena.tournament.model import Chunk, MatchPlan
from tavolata.ai.arena.tournament.specification import Specification, load
from tests.ai.arena.tournament.made_up import outcome, play_all

FORMATS = {
    "round_robin": 'kind = "round_robin"',
    "gauntlet": 'kind = "gauntlet"\nchallengers = ["greedy", "random 1"]',
    "ladder": 'kind = "ladder"',
    "swiss": 'kind = "swiss"\nrounds = 3',
    "knock_out": 'kind = "knock_out"\nthird_place = true',
    "mixed": 'kind = "mixed"\ntables = "all"\nrotations = 3',
}
COUNT = 'rule = "count"\ndeals = 12'
SPRT = 'rule = "sprt"\ndeals = 2000\ndeals_min = 20\nevery = 20\nh0 = 0.0\nh1 = 0.1'


def spec(format_: str, stop: str = COUNT, seats: str = "[3, 4]") -> Specification:
    return load(
        f"""
        games = [{{ game = "mino_dice", seats = {seats} }}]
        [[entrants]]
        player = "greedy"
        [[entrants]]
        player = "random"
        label = "random {{iterations}}"
        iterations = [1, 2, 3, 4, 5]
        [format]
        {format_}
        [stop]
        {stop}
        """
    )


class Told:
    """Outcomes with a known spread after a known time, instead of matches."""

    workers = 4

    def __init__(self, deviation: float, seconds: float) -> None:
        self.deviation, self.seconds = deviation, seconds
        self.chunks: list[Chunk] = []

    def utility(self, label: str, plan: MatchPlan) -> float:
        """Level on average; the same in all rotations of a deal."""
        key = f"{plan.contest} {plan.group} {plan.deal} {label}"
        # Differences of two have the variance of both.
        return 0.5 + Random(key).gauss(0.0, self.deviation / sqrt(2))

    def run(self, chunks: Iterable[Chunk]) -> Generator[Played, None, None]:
        for chunk in chunks:
            self.chunks.append(chunk)
            outcomes = tuple(outcome(plan, self.utility) for plan in chunk.plans)
            yield Played(outcomes, tuple(self.seconds for _ in outcomes))

    def close(self) -> None:
        pass


@pytest.mark.parametrize("name", FORMATS)
def test_the_number_of_matches_is_that_of_the_schedule(name: str) -> None:
    asked = spec(FORMATS[name])
    found = forecast(asked, Told(0.2, 1.0), seconds=0.0)
    schedule = asked.schedule()
    played = play_all(schedule, Told(0.2, 1.0).utility)
    assert found.matches == (len(played),) * 3
    for number, contest in enumerate(found.contests):
        assert contest.matches[1] == sum(each.plan.contest == number for each in played)


@pytest.mark.parametrize("name", FORMATS)
def test_the_time_is_that_of_all_matches_on_all_workers(name: str) -> None:
    found = forecast(spec(FORMATS[name]), Told(0.2, 3.0), seconds=0.0)
    assert found.seconds[1] == pytest.approx(found.matches[1] * 3.0 / 4)


def test_at_least_two_deals_are_played_with_every_entrant() -> None:
    for format_ in FORMATS.values():
        backend = Told(0.2, 1.0)
        forecast(spec(format_), backend, seconds=0.0)
        for contest in (0, 1):
            plans = [p for c in backend.chunks for p in c.plans if p.contest == contest]
            assert len({label for plan in plans for label in plan.labels}) == 6
            assert {plan.deal for plan in plans} == {0, 1}


def test_with_time_every_meeting_is_tried_and_no_deal_twice() -> None:
    backend = Told(0.2, 1.0)
    found = forecast(spec(FORMATS["round_robin"]), backend, seconds=3600.0)
    plans = [plan for chunk in backend.chunks for plan in chunk.plans]
    assert len({plan.id for plan in plans}) == len(plans) == found.played
    assert {(p.contest, p.group, p.deal) for p in plans} == {
        (contest, group, deal)
        for contest in (0, 1)
        for group in range(15)
        for deal in range(DEALS_MOST)
    }


def test_meetings_that_cover_everybody_are_few() -> None:
    labels = "abcdefghijkl"
    assert len(covering(list(combinations(labels, 2)))) == 6
    assert len(covering(list(combinations(labels, 4)))) == 3
    assert len(covering([("a", label) for label in labels[1:]])) == 11
    uneven = list(combinations(labels[:7], 3))
    chosen = covering(uneven)
    assert {label for index in chosen for label in uneven[index]} == set(labels[:7])
    assert len(chosen) == 3


def test_the_spread_of_differences_is_that_of_the_matches_played() -> None:
    found = forecast(spec(FORMATS["round_robin"]), Told(0.3, 1.0), seconds=3600.0)
    for contest in found.contests:
        assert contest.deviation is not None
        # 15 pairs with 11 degrees of freedom each: a standard error of 0.3 / sqrt(2 x 165).
        assert contest.deviation == pytest.approx(0.3, abs=3 * 0.3 / sqrt(330))
        assert contest.half_width == pytest.approx(1.96 * contest.deviation / sqrt(12), rel=1e-3)


def test_a_difference_that_can_be_detected_is_detected_in_four_of_five_tournaments() -> None:
    stop = 'rule = "count"\ndeals = 60'
    found = forecast(spec(FORMATS["round_robin"], stop), Told(0.3, 1.0), seconds=3600.0)
    detectable, deviation = found.contests[0].detectable, found.contests[0].deviation
    assert detectable is not None
    assert deviation is not None
    random = Random(8)
    shown = [
        interval([random.gauss(detectable, deviation) for _ in range(60)]).excludes_zero
        for _ in range(600)
    ]
    assert fmean(shown) == pytest.approx(0.8, abs=3 * sqrt(0.8 * 0.2 / 600) + 0.01)


def test_at_mixed_tables_two_meet_at_several_in_every_deal() -> None:
    found = forecast(spec(FORMATS["mixed"], seats="4"), Told(0.3, 1.0), seconds=3600.0)
    (contest,) = found.contests
    # 15 tables of four of six: every two at six of them.
    assert contest.deviation is not None
    assert contest.half_width == pytest.approx(1.96 * contest.deviation / sqrt(12 * 6), rel=1e-3)


def test_rules_that_stop_early_have_a_least_a_likely_and_a_most() -> None:
    found = forecast(spec(FORMATS["gauntlet"], SPRT), Told(0.3, 1.0), seconds=3600.0)
    contest = found.contests[0]
    assert (contest.deals_least, contest.deals_most) == (20, 2000)
    # Midway between the hypotheses, log(19)^2 / (0.1 / 0.3)^2 = 78 deals; the spread is a guess.
    assert 60 <= contest.deals_expected <= 100
    assert contest.deals_expected % 20 == 0
    least, expected, most = found.matches
    assert least < expected < most
    narrow = forecast(
        spec(FORMATS["gauntlet"], 'rule = "width"\ndeals = 2000\nhalf_width = 0.03'),
        Told(0.3, 1.0),
        seconds=3600.0,
    )
    # (1.96 x 0.3 / 0.03)^2 = 384 deals.
    assert 320 <= narrow.contests[0].deals_expected <= 460


def test_real_matches_are_played_and_told_in_words() -> None:
    asked = spec(FORMATS["round_robin"], seats="3")
    counts: list[int] = []
    found = forecast(asked, Inline(asked.field, asked.policy), 0.0, counts.append)
    assert counts[-1] == found.played == 6 * 2 * 3  # three meetings, six rotations, two deals
    assert set(found.decision_ms) == set(asked.field.entrants)
    (contest,) = found.contests
    assert contest.deviation is not None
    assert 0.0 < contest.deviation < 1.0
    assert contest.match_s > 0
    text = "\n".join(lines(found))
    assert "mino_dice: 15 meetings of 12 deals, 6 matches a deal" in text
    assert "in all 1,080 matches" in text


def test_what_few_deals_cannot_tell_is_not_told() -> None:
    """With two deals alike there is no telling apart; nothing is divided by nothing."""
    found = forecast(spec(FORMATS["gauntlet"], SPRT), Told(0.0, 1.0), seconds=0.0)
    assert found.contests[0].deals_expected == 2000
    assert found.contests[0].detectable == 0.0
    assert lines(found)
    assert isinstance(found, Forecast)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.04, "0.0 s"), (9.96, "10.0 s"), (40.2, "40 s"), (720, "12 min"), (12_600, "3.5 h"),
        (181_440, "2.1 days"),
    ],
)  # fmt: skip
def test_times_are_told_in_a_fitting_unit(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text


def test_the_command_tells_and_keeps_nothing(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(
        """
        games = [{ game = "mino_dice", seats = 3 }]
        entrants = [{ player = "greedy" }, { player = "random" }]
        format.kind = "round_robin"
        stop = { rule = "count", deals = 50 }
        """
    )
    command = [sys.executable, "-m", "tavolata", "tournament", "run", "small.toml", "--dry-run"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "mino_dice: 1 meeting of 50 deals, 6 matches a deal" in done.stdout
    assert "in all 300 matches" in done.stdout
    assert f"{6 * DEALS_MOST} matches were played to tell this" in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["small.toml"]
