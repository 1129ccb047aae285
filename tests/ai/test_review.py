"""Analyses that grow, and reviews of matches."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import TypeVar

import pytest

from tavolata.ai.analysis import FIRST_TOLD, Findings, analysing, found_by
from tavolata.ai.basic import GreedyPlayer, NativePlayer, RandomPlayer
from tavolata.ai.ismcts import IsmctsPlayer
from tavolata.ai.player import Decision, Limits, observe
from tavolata.ai.review import (
    Cost,
    Mark,
    Point,
    Question,
    Reviewed,
    mark_of,
    points_of,
    reviewing,
    summary_of,
)
from tavolata.ai.stop import Stop
from tavolata.ext.core.match import Match, Position
from tavolata.ext.registry import GAMES
from tests.ai.situations import observations

Result = TypeVar("Result")


def run(work: Generator[None, None, Result]) -> Result:
    """What a search comes to."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]


def review(point: Point, iterations: int = 400, *, hindsight: bool = False) -> Reviewed:
    """A decision judged."""
    return run(reviewing(point, Question(Limits(iterations=iterations), hindsight), Stop()))


def without_time(found: Decision) -> Decision:
    """What doesn't depend on the machine."""
    return replace(found, elapsed_ms=0.0)


def play_on(match: Match, player: NativePlayer | None = None) -> Match:
    """Let everybody play to the end, by the rule of thumb unless a player is given."""
    decide = (player or GreedyPlayer()).decide
    while not match.over:
        for seat in match.to_act:
            seen = observe(match, seat)
            decided = decide(seen, Limits(iterations=1), seed=match.turn, stop=Stop())
            match.play(seat, decided.action)
    return match


@cache
def greedy_match(game_id: str) -> Match:
    """A whole match among players of the rule of thumb."""
    game = GAMES[game_id].make(GAMES[game_id].seats_usual)
    return play_on(Match(game, bytes(range(32))))


@pytest.mark.parametrize("game_id", GAMES)
def test_an_analysis_grows_by_doubling_and_ends_as_one_search_does(game_id: str) -> None:
    limits = Limits(iterations=4 * FIRST_TOLD + 10)
    for observation in observations(game_id, 2):
        told = list(analysing(observation, limits, seed=3, stop=Stop()))
        findings = [each for each in told if each is not None]
        assert [each.found.iterations for each in findings] == [250, 500, 1000, 1010]
        assert [each.final for each in findings] == [False, False, False, True]
        for earlier, later in pairwise(findings):
            rows = zip(earlier.found.statistics, later.found.statistics, strict=True)
            assert all(one.visits <= other.visits for one, other in rows)
        again = [
            each for each in analysing(observation, limits, seed=3, stop=Stop()) if each is not None
        ]
        assert [without_time(each.found) for each in again] == [
            without_time(each.found) for each in findings
        ]
        other = [each for each in analysing(observation, limits, seed=4, stop=Stop()) if each]
        if len(observation.legal_actions) > 1:
            assert without_time(other[-1].found) != without_time(again[-1].found)


def test_a_single_legal_action_is_analysed() -> None:
    points = points_of(greedy_match("bouillabaisse"))
    only = next(point for point in points if len(point.observation.legal_actions) == 1)
    *_, last = analysing(only.observation, Limits(iterations=100), seed=0, stop=Stop())
    assert isinstance(last, Findings)
    [row] = last.found.statistics
    assert (row.visits, row.share, row.action) == (100, 1.0, only.action)
    judged = review(only)
    assert (judged.then.mark, judged.then.cost) == (Mark.ONLY_ACTION, None)
    assert judged.then.played.visits == 400


def test_a_stopped_analysis_ends_with_what_there_is() -> None:
    observation = observations("bouillabaisse", 1)[0]
    stop = Stop()
    told = analysing(observation, Limits(iterations=10**9), seed=0, stop=stop)
    first = next(each for each in told if each is not None)
    stop.set()
    last = next(told)
    assert last is not None
    assert last.final
    assert last.found.iterations == first.found.iterations
    assert next(told, None) is None


@pytest.mark.parametrize("game_id", GAMES)
def test_a_review_sees_each_decision_as_its_seat_did(game_id: str) -> None:
    match = greedy_match(game_id)
    again = Match(match.game, match.seed)
    points = list(points_of(match))
    assert [point.place for point in points] == list(range(len(match.decisions)))
    for point, (turn, seat, action) in zip(points, match.decisions, strict=True):
        seen = point.observation
        assert (seen.turn, seen.seat, point.action) == (turn, seat, action)
        assert action in seen.legal_actions
        if again.to_act == (seat,) and len(points[0].known) == len(again.state_bytes()):
            now = observe(again, seat)
            if seen.view_bytes == now.view_bytes:  # not after others' choices in the same decision
                assert (seen.legal_actions, seen.event_words) == (
                    now.legal_actions,
                    now.event_words,
                )
                assert point.known == again.state_bytes()
        again.play(seat, action)
    assert again.hash == match.hash


def extremes(point: Point) -> tuple[float, int, int]:
    """By how much the worst action is behind the best, and both, after many trials of each."""
    seen = point.observation
    dealer = seen.game.dealer(seen.view_bytes, seen.seat)
    limits = Limits(iterations=300 * len(seen.legal_actions))
    deep = IsmctsPlayer(seen.game).searcher(seen, dealer, limits, point.place, Stop())
    deep.compare()
    deep.search()
    rows = found_by(deep, seen.seat).statistics
    worst, best = (pick(rows, key=lambda row: row.mean) for pick in (min, max))
    return best.mean - worst.mean, worst.action, best.action


@pytest.mark.parametrize("game_id", ["bouillabaisse", "bids", "mister_bill"])
def test_a_planted_blunder_is_found_and_the_best_choice_is_none(game_id: str) -> None:
    """The worst action that a deep search finds is put in place of a decision of a match."""
    match = greedy_match(game_id)
    late = list(points_of(match))[len(match.decisions) // 2 :: 3]
    found = ((extremes(point), point.place) for point in late)
    (cost, worst, best), place = max(found)
    assert cost > 0.08
    marks = {}
    for chosen in (worst, best):
        planted = Match(match.game, match.seed)
        for _, seat, played in match.decisions[:place]:
            planted.play(seat, played)
        planted.play(match.decisions[place][1], chosen)
        play_on(planted)
        [point] = [each for each in points_of(planted) if each.place == place]
        marks[chosen] = review(point, 1_000).then.mark
    assert marks[worst] in (Mark.MISTAKE, Mark.BLUNDER)
    assert marks[best] in (Mark.BEST, Mark.GOOD)


@pytest.mark.parametrize(
    ("mean", "half_width", "mark"),
    [
        (0.30, 0.01, Mark.BLUNDER),
        (0.10, 0.05, Mark.BLUNDER),
        (0.0999, 0.05, Mark.MISTAKE),
        (0.05, 0.02, Mark.MISTAKE),
        (0.02, 0.01, Mark.INACCURACY),
        (0.0199, 0.0001, Mark.GOOD),
        (-0.2, 0.01, Mark.GOOD),
        (0.30, 0.24, Mark.GOOD),  # 1.96 errors are 0.24, 2.576 are 0.315
        (0.32, 0.24, Mark.BLUNDER),
    ],
)
def test_a_mark_has_its_cost_and_is_no_noise(mean: float, half_width: float, mark: Mark) -> None:
    assert mark_of(Cost(mean, half_width)) is mark


def forced_utility(point: Point, action: int) -> float | None:
    """What an action comes to by the true position; None if somebody has a choice after it."""
    position = Position(point.observation.game, point.known)
    position.apply(point.observation.seat, action)
    while not position.horizon and not position.over:
        [seat] = position.to_act
        only, *others = position.legal(seat)
        if others:
            return None
        position.apply(seat, only)
    return position.utility()[point.observation.seat]


def test_hindsight_judges_by_the_hands_as_they_were() -> None:
    """Where nobody has a choice any more after this one, there is nothing to estimate for who knows
    all hands."""
    costs = []
    for seed in range(8):
        game = GAMES["bouillabaisse"].make(4)
        match = play_on(Match(game, bytes([seed]) * 32), RandomPlayer())
        for point in points_of(match):
            legal = point.observation.legal_actions
            if len(legal) == 1 or point.place % 52 < 40:
                continue
            tried = {each: forced_utility(point, each) for each in legal}
            values = {each: value for each, value in tried.items() if value is not None}
            if len(values) < len(legal):
                continue
            judged = review(point, hindsight=True).hindsight
            assert judged is not None
            best = max(values.values())
            lost = best - values[point.action]
            costs.append(lost)
            assert values[judged.best] == best
            assert judged.cost is None or judged.cost.mean == pytest.approx(lost, abs=1e-9)
            assert (judged.mark in (Mark.BEST, Mark.GOOD)) == (lost < 0.02)
    assert max(costs) > 0.02
    assert min(costs) == 0.0


def test_a_summary_counts_marks_and_averages_costs() -> None:
    judged = [review(point) for point in list(points_of(greedy_match("mister_bill")))[:8]]
    told = summary_of(each.then for each in judged)
    assert sum(told.counts.values()) == 8
    costs = [each.then.cost.mean for each in judged if each.then.cost is not None]
    assert told.average_cost == pytest.approx(sum(costs) / 8)
    assert summary_of([]).average_cost == 0.0
