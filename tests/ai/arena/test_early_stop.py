"""`tavolata match --sprt`: deals are looked at in order, and no more are played than needed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tavolata.ai.arena.duplicate import MatchResult, SeatResult
from tavolata.ai.arena.tournament.stopping import Verdict
from tavolata.service.cli.match import differences, stopping_rule, until


def deal(number: int, won: float) -> list[MatchResult]:
    """One match of two: the first wins this share of it."""
    seats = tuple(
        SeatResult(label, seat, 0, 1, share, share, 1, 0, 0.0)
        for seat, (label, share) in enumerate((("first", won), ("second", 1 - won)))
    )
    return [MatchResult(number, 0, seats, "")]


def counted(deals: list[list[MatchResult]], taken: list[int]) -> Iterator[list[MatchResult]]:
    for each in deals:
        taken.append(each[0].deal)
        yield each


def test_a_clear_case_is_decided_at_the_first_look() -> None:
    taken: list[int] = []
    deals = [deal(number, 1.0) for number in range(100)]
    results, verdict = until(stopping_rule("0,0.5", 100), counted(deals, taken), "first")
    assert (len(results), verdict) == (20, Verdict.H1)
    assert taken == list(range(20))


def test_the_weaker_one_is_told_apart_too() -> None:
    deals = [deal(number, 0.25) for number in range(100)]
    assert until(stopping_rule("0,0.5", 100), deals, "first")[1] is Verdict.H0


def test_deals_that_end_early_wait_for_those_before_them() -> None:
    """Of the first twenty deals the last is won and ends first; the others are lost."""
    deals = [deal(19, 1.0), deal(25, 1.0), *(deal(number, 0.0) for number in range(19))]
    results, verdict = until(stopping_rule("0,0.5", 100), deals, "first")
    assert [each[0].deal for each in results] == list(range(20))
    assert verdict is Verdict.H0


def test_without_a_test_all_deals_are_played() -> None:
    deals = [deal(number, 1.0) for number in range(30)]
    results, verdict = until(stopping_rule(None, 30), deals, "first")
    assert (len(results), verdict) == (30, Verdict.DEALS)


def test_a_difference_is_the_first_player_s_mean_less_that_of_all_other_seats() -> None:
    seats = [
        SeatResult(label, seat, 0, 1, won, won, 1, 0, 0.0)
        for seat, (label, won) in enumerate((("first", 0.5), ("a", 0.5), ("b", 0.0), ("a", 0.1)))
    ]
    assert differences([[MatchResult(0, 0, tuple(seats), "")]], "first") == [pytest.approx(0.3)]


@pytest.mark.parametrize("text", ["0.1", "0.2,0.1", "0,2", "a,b", "0,0"])
def test_differences_that_can_not_be_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a number|two numbers from -1 to 1 are needed"):
        stopping_rule(text, 10)
