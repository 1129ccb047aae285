"""Results of real matches, recounted in plain Python from the outcomes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations
from random import Random
from statistics import fmean, median

import pytest

from tavolata.ai.arena.duplicate import SeatResult
from tavolata.ai.arena.timing import bin_of, quantile
from tavolata.ai.arena.tournament import results
from tavolata.ai.arena.tournament.model import Fault, FaultKind, Field, MatchOutcome, MatchPlan
from tavolata.ai.arena.tournament.summary import Summary
from tavolata.ai.arena.tournament.table import OutcomeError
from tavolata.ext.registry import GAMES
from tests.ai.arena.tournament.games import entrant, field_of, play
from tests.ai.arena.tournament.simulated import field, placed, tournament

pytestmark = pytest.mark.xdist_group("tournament results")  # one worker makes the summaries

LABELS = ("random", "greedy", "ismcts", "ismcts, a little")


@pytest.fixture(scope="module")
def real() -> tuple[Field, list[MatchOutcome], Summary]:
    """Two deals of every game, everybody in every seat."""
    entrants = [
        entrant("random"),
        entrant("greedy"),
        entrant("ismcts", "ismcts", 6),
        entrant("ismcts, a little", "ismcts", 3),
    ]
    played = field_of(list(GAMES), entrants)
    outcomes = list(play(played, 2))
    return played, outcomes, results.summary(played, outcomes)


def seats_of(outcomes: Sequence[MatchOutcome], contest: int, label: str) -> list[SeatResult]:
    return [
        seat
        for one in outcomes
        if one.plan.contest == contest
        for seat in one.seats
        if seat.label == label
    ]


def test_every_match_deal_and_decision_is_counted(
    real: tuple[Field, list[MatchOutcome], Summary],
) -> None:
    _, outcomes, summary = real
    assert summary.matches == len(outcomes) == 5 * 2 * 4
    assert summary.deals == 10
    assert summary.decisions == sum(seat.decisions for one in outcomes for seat in one.seats)
    assert [part.matches for part in summary.contests] == [8] * 5
    assert {row.label for row in summary.standings} == set(LABELS)
    assert all(row.matches == row.seats == 40 and row.par == 0.25 for row in summary.standings)


def test_means_places_and_totals_are_those_of_the_outcomes(
    real: tuple[Field, list[MatchOutcome], Summary],
) -> None:
    _, outcomes, summary = real
    for number, part in enumerate(summary.contests):
        for points, row in zip(part.points, part.standings, strict=True):
            own = seats_of(outcomes, number, row.label)
            assert points.label == row.label
            assert points.place.value == pytest.approx(fmean(seat.place for seat in own))
            assert points.total.value == pytest.approx(fmean(seat.total for seat in own))
            assert points.utility.value == pytest.approx(fmean(seat.utility for seat in own))
            assert row.win_share.value == pytest.approx(fmean(seat.won for seat in own))
        for spread in part.totals:
            totals = [seat.total for seat in seats_of(outcomes, number, spread.label)]
            assert (spread.minimum, spread.maximum) == (min(totals), max(totals))
            assert spread.median == pytest.approx(median(totals))
            edges = zip(part.total_edges[:-1], part.total_edges[1:], spread.counts, strict=True)
            for low, high, count in edges:
                assert count == sum(low < total < high for total in totals)
        for places in part.places:
            held = seats_of(outcomes, number, places.label)
            found = Counter(seat.place for seat in held if seat.seat == places.seat)
            assert places.counts == tuple(found[place] for place in range(1, 5))


def test_scores_are_the_share_of_opponents_beaten(
    real: tuple[Field, list[MatchOutcome], Summary],
) -> None:
    _, outcomes, summary = real
    crossed = summary.crosstable
    won: defaultdict[tuple[str, str], float] = defaultdict(float)
    for one in outcomes:
        for seat, against in permutations(one.seats, 2):
            tied = 0.5 * (seat.place == against.place)
            won[seat.label, against.label] += (seat.place < against.place) + tied
    for i, label in enumerate(crossed.labels):
        assert crossed.cells[i][i] is None
        for j, other in enumerate(crossed.labels):
            cell = crossed.cells[i][j]
            if cell is not None:
                assert cell.value == pytest.approx(won[label, other] / 40)
                assert crossed.weights[i][j] == pytest.approx(40 / 3)
    for row in summary.standings:
        beaten = sum(won[row.label, other] for other in LABELS if other != row.label)
        assert row.score.value == pytest.approx(beaten / 120)


def test_what_seats_are_worth_averages_to_a_half(
    real: tuple[Field, list[MatchOutcome], Summary],
) -> None:
    for part in real[2].contests:
        assert [one.seat for one in part.seats] == [0, 1, 2, 3]
        assert fmean(one.score.value for one in part.seats) == pytest.approx(0.5)


def test_decision_times_and_iterations_are_those_of_the_outcomes(
    real: tuple[Field, list[MatchOutcome], Summary],
) -> None:
    _, outcomes, summary = real
    for times in summary.times:
        own = [seat for number in range(5) for seat in seats_of(outcomes, number, times.label)]
        assert times.decisions == sum(seat.decisions for seat in own)
        assert times.mean == pytest.approx(sum(seat.think_ms for seat in own) / times.decisions)
        total = sum(seat.iterations for seat in own)
        assert times.iterations == pytest.approx(total / times.decisions)
        assert times.p50 is not None
        assert times.p99 is not None
        assert times.slowest is not None
        assert times.p50 <= times.p99 <= times.slowest
        assert sum(count for seat in own for _, count in seat.think_bins) == times.decisions


def test_quantiles_of_counted_durations_are_right_to_a_bin() -> None:
    durations = [0.003 * 1.01**step for step in range(1000)]
    counts = Counter(bin_of(duration) for duration in durations)
    for share in (0.1, 0.5, 0.99):
        exact = durations[round(share * 1000) - 1]
        assert quantile(counts, share) == pytest.approx(exact, rel=2 ** (1 / 8) - 1)
    assert bin_of(0) == bin_of(1e-9)
    with pytest.raises(ValueError, match="no decisions"):
        quantile({}, 0.5)


def test_durations_that_were_not_counted_one_by_one_leave_the_mean() -> None:
    outcomes = tournament("ab", 2, lambda *_: (1, 2))
    bare = [
        replace(one, seats=tuple(replace(seat, think_bins=()) for seat in one.seats))
        for one in outcomes
    ]
    times = results.summary(field("ab", 2), bare).times[0]
    assert (times.mean, times.p50, times.p99, times.slowest) == (0.5, None, None, None)


@pytest.mark.parametrize("seed", range(2))
def test_the_order_of_outcomes_changes_nothing_at_all(
    real: tuple[Field, list[MatchOutcome], Summary], seed: int
) -> None:
    played, outcomes, summary = real
    shuffled = Random(seed).sample(outcomes, len(outcomes))
    backwards = replace(played, entrants=dict(reversed(list(played.entrants.items()))))
    assert results.summary(backwards, shuffled) == summary


def test_quick_standings_have_the_ratings_of_the_summary(
    real: tuple[Field, list[MatchOutcome], Summary],
) -> None:
    played, outcomes, summary = real
    quick = results.standings(played, outcomes)
    assert [(row.rank, row.label, row.elo.value) for row in quick] == [
        (row.rank, row.label, row.elo.value) for row in summary.standings
    ]
    assert {row.skill for row in quick} == {None}


def test_convergence_ends_at_the_ratings_of_all_deals(
    real: tuple[Field, list[MatchOutcome], Summary],
) -> None:
    summary = real[2]
    steps = [step.deals for step in summary.convergence]
    assert steps == sorted(set(steps))
    assert steps[-1] == summary.deals
    last = summary.convergence[-1].elo
    for row in summary.standings:
        assert last[row.label].value == pytest.approx(row.elo.value)


def test_contests_of_different_length_advance_side_by_side() -> None:
    outcomes = tournament("ab", 4, lambda *_: (1, 2)) + tournament("ab", 40, lambda *_: (1, 2), 1)
    summary = results.summary(field("ab", 2, contests=2), outcomes)
    # After k of the 40 deals of the long contest, as many of the short one as fit: k // 10.
    steps = [step.deals for step in summary.convergence]
    assert steps[-1] == 44
    assert set(steps) <= {k + k // 10 for k in range(1, 41)}


def test_faults_are_counted_by_kind_and_by_match() -> None:
    plans = [MatchPlan(0, 0, 0, 0, deal, 0, ("a", "b")) for deal in range(3)]
    crash = Fault(FaultKind.CRASH, "b", 1, 4, "fell over")
    slow = Fault(FaultKind.SLOW, "b", 1, 6, "120 ms of 100")
    outcomes = [
        placed(plans[0], (1, 2), [crash, slow, slow]),
        placed(plans[1], (1, 2), [slow]),
        placed(plans[2], (2, 1)),
    ]
    found = {one.label: one for one in results.summary(field("ab", 2), outcomes).faults}
    assert found["a"].matches == 0
    assert set(found["a"].counts.values()) == {0}
    assert found["b"].matches == 2
    assert found["b"].counts == {
        FaultKind.ILLEGAL: 0,
        FaultKind.CRASH: 1,
        FaultKind.HANG: 0,
        FaultKind.SLOW: 3,
    }


def test_those_who_never_met_are_ranked_apart() -> None:
    plans = [
        MatchPlan(0, 0, 0, group, deal, 0, pair)
        for group, pair in enumerate([("a", "b"), ("c", "d")])
        for deal in range(9)  # nine in a row: by luck once in 512
    ]
    rows = results.summary(field("abcd", 2), [placed(plan, (1, 2)) for plan in plans]).standings
    assert [row.label for row in rows] == ["a", "b", "c", "d"]
    assert [row.part for row in rows] == [0, 0, 1, 1]
    assert [row.rank for row in rows] == [1, 2, 1, 2]
    assert [row.rank_high for row in rows] == [1, 2, 1, 2]


def test_before_the_first_match_there_is_nothing_but_entrants() -> None:
    summary = results.summary(field("ab", 2), [])
    assert (summary.matches, summary.standings, summary.contests) == (0, (), ())
    assert [one.label for one in summary.entrants] == ["a", "b"]
    assert results.standings(field("ab", 2), []) == ()


def test_outcomes_that_do_not_belong_are_refused() -> None:
    plan = MatchPlan(0, 0, 0, 0, 3, 1, ("a", "b"))
    one = placed(plan, (1, 2))
    with pytest.raises(OutcomeError, match=r"match 0\.0\.0\.3\.1 comes twice"):
        results.summary(field("ab", 2), [one, one])
    with pytest.raises(OutcomeError, match=r"seats 'b'; the field has 'a', 'c'"):
        results.summary(field("ac", 2), [one])
    with pytest.raises(OutcomeError, match=r"of contest 2; the field has contests 0 to 0"):
        results.summary(field("ab", 2), [placed(replace(plan, contest=2), (1, 2))])
