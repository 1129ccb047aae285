"""The leaf-count tables agree with the reference that they were taken from, and with arithmetic."""

from __future__ import annotations

import pytest

from tests.reference.chance import seed_bytes
from tests.reference.counts import CountCase, count_leaves, leaves_by_action, read_counts
from tests.reference.registry import new_model

CASES = [
    case
    for game in ("bids", "bouillabaisse", "cafe_international", "mino_dice", "mister_bill")
    for case in read_counts(game)
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_reference_counts_what_the_table_says(case: CountCase) -> None:
    leaves = leaves_by_action(case.root(), case.depth)
    assert sum(leaves.values()) == case.leaves, leaves


def test_each_bid_opens_the_same_number_of_trees() -> None:
    # Hand 1: two bids a seat, then one die each in a fixed order, then hand 2.
    for seats in range(3, 7):
        model = new_model("mino_dice", seats, {}, seed_bytes(seats))
        assert leaves_by_action(model, seats) == {
            "bid 0": 2 ** (seats - 1),
            "bid 1": 2 ** (seats - 1),
        }
        assert count_leaves(model, 2 * seats) == 2**seats
        assert count_leaves(model, 2 * seats + 1) == 3 * 2**seats


def test_two_hands_of_whole_suits_are_counted_by_arithmetic() -> None:
    # Seat 0 holds clubs and hearts, seat 1 diamonds and spades and leads: nobody can follow, so
    # the leader takes every trick and everybody may play everything: 26 x 26 x 25.
    hands = [rank + suit for suit in "CHDS" for rank in "23456789TJQKA"]
    script: dict[tuple[str, int, int], int | list[str]] = {
        ("dealer", 0, 0): 0,
        ("deal", 1, 0): hands,
    }
    model = new_model("bouillabaisse", 2, {}, script=script)
    assert count_leaves(model, 3) == 26 * 26 * 25


def test_a_finished_match_is_one_leaf() -> None:
    model = new_model("mino_dice", 6, {}, seed_bytes(1))
    while not model.over:
        seat = min(model.to_act())
        model.play(seat, model.legal(seat)[0])
    assert count_leaves(model, 5) == 1
    assert count_leaves(model, 0) == 1
