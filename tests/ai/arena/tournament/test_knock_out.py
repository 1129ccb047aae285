"""Brackets: seeds apart, byes for the first, the final last."""

from __future__ import annotations

from math import ceil, log2

import pytest

from tavolata.ai.arena.tournament.formats import Met, Players, Seats
from tavolata.ai.arena.tournament.formats.knock_out import KnockOut, bracket_seeds

LABELS = tuple(f"p{number:02}" for number in range(1, 33))


def run(format_: KnockOut) -> list[list[Players]]:
    """All rounds when the better seed always wins."""
    past: list[list[Met]] = []
    while meetings := format_.next_round(past, ()):
        past.append([Met(players, (0.5,) * len(players), min(players)) for players in meetings])
    return [[met.players for met in row] for row in past]


def test_the_bracket_of_eight_is_the_usual_one() -> None:
    # 1-8, 4-5, 2-7, 3-6: as every draw of eight seeds is made.
    seeds = [seed + 1 for seed in bracket_seeds(8)]
    assert [{seeds[at], seeds[at + 1]} for at in range(0, 8, 2)] == [
        {1, 8}, {4, 5}, {2, 7}, {3, 6},
    ]  # fmt: skip


@pytest.mark.parametrize("count", range(2, 33))
def test_all_but_one_are_out_once_and_the_byes_are_the_first_seeds(count: int) -> None:
    rounds = run(KnockOut(Seats(2), LABELS[:count]))
    assert len(rounds) == ceil(log2(count))
    assert sum(len(players) == 2 for row in rounds for players in row) == count - 1
    byes = sorted(players[0] for players in rounds[0] if len(players) == 1)
    assert byes == list(LABELS[: 2 ** len(rounds) - count])
    assert all(len(players) == 2 for row in rounds[1:] for players in row)
    assert rounds[-1] == [LABELS[:2]]


@pytest.mark.parametrize("count", [4, 8, 16])
def test_the_first_seeds_meet_as_late_as_can_be(count: int) -> None:
    rounds = run(KnockOut(Seats(2), LABELS[:count]))
    for number, row in enumerate(rounds):
        left = LABELS[: count >> number]
        assert all(
            (players[0] in left[: len(left) // 2]) != (players[1] in left[: len(left) // 2])
            for players in row
        )


def test_losers_of_the_semi_finals_play_for_the_third_place() -> None:
    rounds = run(KnockOut(Seats(2), LABELS[:6], third_place=True))
    assert rounds[-1] == [("p01", "p02"), ("p03", "p04")]
    assert run(KnockOut(Seats(2), LABELS[:2], third_place=True)) == [[("p01", "p02")]]
    # Of three, one has no opponent in the semi-finals: third is who lost the other.
    assert run(KnockOut(Seats(2), LABELS[:3], third_place=True))[-1] == [("p01", "p02"), ("p03",)]


def test_after_a_tie_the_first_in_the_file_goes_on() -> None:
    format_ = KnockOut(Seats(2), LABELS[:4])
    past = [[Met(players, (0.5, 0.5), None) for players in format_.next_round([], ())]]
    assert format_.next_round(past, ()) == [("p01", "p02")]
