"""Swiss rounds: nobody meets twice while another pairing is possible; odd numbers; scores."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from tavolata.ai.arena.tournament.formats import Met, Players, Seats
from tavolata.ai.arena.tournament.formats.swiss import Swiss

LABELS = tuple("abcdefghijklmno")


def swiss(count: int, rounds: int) -> Swiss:
    return Swiss(Seats(2), LABELS[:count], rounds)


def played(players: Players, winner: str | None, means: tuple[float, ...] = ()) -> Met:
    return Met(players, means or tuple(0.5 for _ in players), winner, walkover=len(players) == 1)


def pairable(left: tuple[str, ...], met: set[frozenset[str]]) -> bool:
    """Whether all can be paired, or all but one who had no bye yet, without meeting twice."""
    if not left:
        return True
    first, rest = left[0], left[1:]
    if len(left) % 2 and frozenset(first) not in met and pairable(rest, met):
        return True
    return any(
        frozenset((first, other)) not in met
        and pairable(tuple(each for each in rest if each != other), met)
        for other in rest
    )


@pytest.mark.parametrize("count", [2, 3, 4, 5, 6, 7, 8, 9])
def test_no_pairing_comes_twice_while_another_is_possible(count: int) -> None:
    for trial in range(30):
        draw = Random(trial)
        rounds = count - 1 + count % 2
        format_ = swiss(count, rounds)
        past: list[list[Met]] = []
        met: set[frozenset[str]] = set()
        while meetings := format_.next_round(past, ()):
            assert sorted(label for players in meetings for label in players) == sorted(
                LABELS[:count]
            )
            again = [players for players in meetings if frozenset(players) in met]
            if pairable(LABELS[:count], met):
                assert again == []
            met |= {frozenset(players) for players in meetings}
            past.append(
                [played(players, draw.choice((*players, None)[: 3 * len(players)]))
                 if len(players) == 2 else played(players, players[0])
                 for players in meetings]
            )  # fmt: skip
        assert len(past) == rounds


def test_two_triangles_that_are_left_over_meet_again() -> None:
    """After three rounds of six, those who have not met can be two triangles: then some must."""
    rounds = [("ad", "be", "cf"), ("ae", "bf", "cd"), ("af", "bd", "ce")]
    past = [[played((p[0], p[1]), p[0]) for p in pairs] for pairs in rounds]
    met = {frozenset(p) for pairs in rounds for p in pairs}
    assert not pairable(LABELS[:6], met)
    meetings = swiss(6, 5).next_round(past, ())
    assert len({label for players in meetings for label in players}) == 6


@pytest.mark.parametrize("count", [3, 5, 7, 9, 11])
def test_in_an_odd_field_everybody_has_one_bye_at_most(count: int) -> None:
    for trial in range(10):
        draw = Random(trial)
        format_, past = swiss(count, count // 2), []  # type: ignore[var-annotated]
        while meetings := format_.next_round(past, ()):
            assert [len(players) for players in meetings] == [2] * (count // 2) + [1]
            past.append([played(players, draw.choice(players)) for players in meetings])
        byes = Counter(met.players for row in past for met in row if len(met.players) == 1)
        assert set(byes.values()) == {1}


def test_the_first_bye_is_the_last_ranked_ones() -> None:
    first = swiss(5, 3).next_round([], ())
    assert first == [("a", "b"), ("c", "d"), ("e",)]


def test_winners_meet_winners() -> None:
    past = [[played(("a", "b"), "b"), played(("c", "d"), "c"), played(("e", "f"), "e")]]
    meetings = {frozenset(players) for players in swiss(6, 3).next_round(past, ())}
    assert meetings & {frozenset("bc"), frozenset("be"), frozenset("ce")}
    assert meetings & {frozenset("ad"), frozenset("af"), frozenset("df")}


def test_points_are_for_meetings_and_ties_are_broken_by_opponents_then_means() -> None:
    past = [
        [played(("a", "b"), "a", (0.6, 0.4)), played(("c", "d"), None, (0.5, 0.5))],
        [played(("a", "c"), "a", (0.7, 0.3)), played(("b", "d"), None, (0.5, 0.5))],
    ]
    format_ = swiss(4, 3)
    scores = format_.scores(past)
    assert {label: scores[label].points for label in "abcd"} == {
        "a": 2, "b": 0.5, "c": 0.5, "d": 1,
    }  # fmt: skip
    # b met a and d (3 points), c met d and a (3 points): level, and b's mean is the better one.
    assert (scores["b"].opponents, scores["c"].opponents) == (3, 3)
    assert scores["b"].mean == pytest.approx(0.45)
    assert scores["c"].mean == pytest.approx(0.4)
    assert format_.ranking(past) == ["a", "d", "b", "c"]


def test_a_bye_is_a_point_and_no_result() -> None:
    past = [[played(("a", "b"), "b", (0.2, 0.8)), played(("c",), "c", (0.0,))]]
    scores = swiss(3, 3).scores(past)
    assert (scores["c"].points, scores["c"].opponents, scores["c"].mean) == (1, 0, 0.0)


def test_who_is_withdrawn_is_paired_no_more() -> None:
    past = [[played(("a", "b"), "a"), played(("c", "d"), "c")]]
    meetings = swiss(4, 3).next_round(past, {"a"})
    assert sorted(label for players in meetings for label in players) == ["b", "c", "d"]
    assert swiss(4, 3).next_round(past, {"a", "b", "c"}) == []
