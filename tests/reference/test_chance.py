"""The keyed stream byte by byte, and the scripted one."""

from __future__ import annotations

import hashlib

import pytest

from tests.reference.chance import KeyedChance, ScriptedChance, below, seed_bytes, stream_words


def test_a_seed_number_is_32_bytes_big_endian() -> None:
    assert seed_bytes(7) == bytes(31) + b"\x07"
    assert seed_bytes(0x0102) == bytes(30) + b"\x01\x02"


def test_a_stream_is_shake_256_over_the_key() -> None:
    # Written out by hand: tag, 0, seed 7, round 3, length of "suit", "suit", index 258.
    message = (
        b"tavolata.chance.v1\x00" + bytes(31) + b"\x07\x00\x00\x00\x03\x04suit\x00\x00\x01\x02"
    )
    data = hashlib.shake_256(message).digest(4000)
    words = stream_words(seed_bytes(7), "suit", 3, 258)
    for position in range(0, 4000, 4):
        assert next(words).to_bytes(4, "big") == data[position : position + 4]


def test_words_past_the_last_whole_multiple_are_skipped() -> None:
    # 2^32 mod 3 = 1, so the greatest word is the one that is skipped.
    assert below(iter([2**32 - 1, 5]), 3) == 2
    assert below(iter([2**32 - 2, 5]), 3) == (2**32 - 2) % 3
    # 2^32 mod (3 x 2^30) = 2^30: a quarter of the words is skipped.
    assert below(iter([3 * 2**30, 2**32 - 1, 3 * 2**30 - 1]), 3 * 2**30) == 3 * 2**30 - 1


def test_a_choice_of_one_takes_a_word_too() -> None:
    words = iter([11, 22])
    assert below(words, 1) == 0
    assert next(words) == 22


def test_a_shuffle_swaps_from_the_end_with_a_place_up_to_itself() -> None:
    words = stream_words(seed_bytes(9), "deal", 2, 0)
    order = ["a", "b", "c", "d"]
    j = below(words, 4)
    order[3], order[j] = order[j], order[3]
    j = below(words, 3)
    order[2], order[j] = order[j], order[2]
    j = below(words, 2)
    order[1], order[j] = order[j], order[1]
    chance = KeyedChance(seed_bytes(9))
    assert chance.shuffle("deal", 2, ["a", "b", "c", "d"]) == order
    assert chance.outcomes[-1].value == tuple(order)


def test_every_key_opens_a_stream_of_its_own() -> None:
    first = KeyedChance(seed_bytes(1))
    again = KeyedChance(seed_bytes(1))
    again.pick("other", 1, 1000)
    keys = [("a", 1, 0), ("a", 1, 1), ("a", 2, 0), ("b", 1, 0)]
    values = [first.pick(purpose, r, 2**31, index) for purpose, r, index in keys]
    turned = [again.pick(purpose, r, 2**31, index) for purpose, r, index in reversed(keys)]
    assert values == turned[::-1]
    assert len(set(values)) == 4


def test_a_script_gives_its_outcomes_and_the_seed_the_rest() -> None:
    chance = ScriptedChance({("a", 1, 0): 3, ("b", 1, 0): ["y", "x"]}, seed_bytes(5))
    assert chance.pick("a", 1, 4) == 3
    assert chance.shuffle("b", 1, ["x", "y"]) == ["y", "x"]
    assert chance.pick("c", 1, 2**31) == KeyedChance(seed_bytes(5)).pick("c", 1, 2**31)
    assert [outcome.purpose for outcome in chance.outcomes] == ["a", "b", "c"]


def test_a_script_that_cannot_be_is_refused() -> None:
    chance = ScriptedChance({("a", 1, 0): 4, ("b", 1, 0): ["x", "x"]})
    with pytest.raises(ValueError, match="not a number"):
        chance.pick("a", 1, 4)
    with pytest.raises(ValueError, match="no arrangement"):
        chance.shuffle("b", 1, ["x", "y"])
