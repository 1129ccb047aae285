"""The chance stream of the decisions page against an independent implementation of it."""

from __future__ import annotations

from collections import Counter
from itertools import islice, permutations
from random import Random

import pytest

from tavolata.ext.core.chance import KeyedChance, WordStream
from tests.games.dealing import chi_square_deviate
from tests.reference.chance import KeyedChance as ReferenceChance
from tests.reference.chance import below, seed_bytes, stream_words

KEYS = [
    (seed_bytes(0), 0, "first", 0),
    (seed_bytes(1), 1, "deal", 0),
    (bytes(range(32)), 6, "roll", 391),
    (b"\xff" * 32, 2**32 - 1, "p" * 255, 2**32 - 1),
]


@pytest.mark.parametrize("seed, number, purpose, index", KEYS)
def test_a_stream_has_the_documented_words(
    seed: bytes, number: int, purpose: str, index: int
) -> None:
    stream = WordStream(seed, number, purpose, index)
    assert [stream.word() for _ in range(700)] == list(
        islice(stream_words(seed, purpose, number, index), 700)
    )


def test_every_part_of_the_key_makes_another_stream() -> None:
    keys = [
        (seed, number, purpose, index)
        for seed in (seed_bytes(1), seed_bytes(256))
        for number in (0, 1, 256)
        for purpose in ("deal", "deals", "dea", "l")
        for index in (0, 1, 256)
    ]
    streams = [WordStream(*key) for key in keys]
    words = {tuple(stream.word() for _ in range(4)) for stream in streams}
    assert len(words) == len(keys)


# Just above a half of 2^32 nearly every second word is passed over.
@pytest.mark.parametrize("n", [1, 2, 3, 6, 52, 104, 1000, 2**31, 2**31 + 1, 2**32 - 1, 2**32])
def test_draws_pass_over_the_words_that_would_favour_some_values(n: int) -> None:
    seed, words = seed_bytes(n), stream_words(seed_bytes(n), "pick", 3, 4)
    stream = WordStream(seed, 3, "pick", 4)
    assert [stream.below(n) for _ in range(200)] == [below(words, n) for _ in range(200)]


def test_a_draw_out_of_one_takes_a_word_too() -> None:
    stream, words = WordStream(seed_bytes(3), 0, "deal", 0), WordStream(seed_bytes(3), 0, "deal", 0)
    assert stream.below(1) == 0
    words.word()
    assert stream.below(2**32) == words.word()


@pytest.mark.parametrize("n", [0, 2**32 + 1])
def test_a_draw_out_of_nothing_or_of_more_than_a_word_holds_is_refused(n: int) -> None:
    with pytest.raises(ValueError, match=rf"out of 1 to 2\*\*32, not {n}"):
        WordStream(seed_bytes(3), 0, "deal", 0).below(n)


def chance_of(seed: bytes, script: dict[tuple[str, int, int], int | list[int]]) -> KeyedChance:
    return KeyedChance(seed, ("first", "draw"), script)


def test_picks_and_shuffles_are_those_of_the_reference() -> None:
    choice = Random(1)
    for _ in range(200):
        seed, number, index = choice.randbytes(32), choice.randrange(9), choice.randrange(400)
        n = choice.randrange(1, 105)
        fast, reference = chance_of(seed, {}), ReferenceChance(seed)
        assert fast.outcome_of_pick(0, number, index, n) == reference.pick(
            "first", number, n, index
        )
        items = [choice.randrange(60) for _ in range(n)]
        names = [str(item) for item in items]
        shuffled = reference.shuffle("draw", number, names, index)
        assert fast.outcome_of_shuffle(1, number, index, items) == [int(name) for name in shuffled]


@pytest.mark.parametrize("n", [3, 6, 10])
def test_every_pick_is_equally_likely(n: int) -> None:
    chance = chance_of(seed_bytes(99), {})
    counts = Counter(chance.outcome_of_pick(0, 1, index, n) for index in range(30_000))
    due = 30_000 / n
    square = sum((counts[value] - due) ** 2 / due for value in range(n))
    assert set(counts) == set(range(n))
    assert abs(chi_square_deviate(square, n - 1)) < 5


def test_every_order_is_equally_likely() -> None:
    counts = Counter(
        tuple(chance_of(seed_bytes(seed), {}).outcome_of_shuffle(1, 1, 0, [0, 1, 2, 3]))
        for seed in range(12_000)
    )
    orders = list(permutations(range(4)))
    square = sum((counts[order] - 500) ** 2 / 500 for order in orders)
    assert sum(counts[order] for order in orders) == 12_000
    assert abs(chi_square_deviate(square, len(orders) - 1)) < 5


@pytest.mark.parametrize("length", [0, 31, 33])
def test_a_seed_of_another_length_is_refused(length: int) -> None:
    with pytest.raises(ValueError, match=f"a match seed has 32 bytes, not {length}"):
        chance_of(bytes(length), {})


def test_a_script_gives_its_outcomes_and_the_seed_the_others() -> None:
    seed = seed_bytes(5)
    script: dict[tuple[str, int, int], int | list[int]] = {
        ("first", 0, 0): 2,
        ("draw", 2, 0): [7, 7, 1],
    }
    scripted, free = chance_of(seed, script), chance_of(seed, {})
    assert scripted.outcome_of_pick(0, 0, 0, 3) == 2
    assert scripted.outcome_of_shuffle(1, 2, 0, [1, 7, 7]) == [7, 7, 1]
    items = list(range(30))
    assert scripted.outcome_of_shuffle(1, 1, 0, list(items)) == free.outcome_of_shuffle(
        1, 1, 0, list(items)
    )


@pytest.mark.parametrize("value", [3, -1, True, "1", None, [1]])
def test_a_scripted_pick_that_cannot_be_is_refused(value: object) -> None:
    chance = chance_of(bytes(32), {("first", 0, 0): value})  # type: ignore[dict-item]
    with pytest.raises(ValueError, match=r"first of round 0: .* is scripted, 0\.\.2 are possible"):
        chance.outcome_of_pick(0, 0, 0, 3)


@pytest.mark.parametrize("order", [[1, 2], [1, 1, 2], [1, 2, 3, 4], ["1", 2, 3], 5, None, "123"])
def test_a_scripted_order_of_other_items_is_refused(order: object) -> None:
    chance = chance_of(bytes(32), {("draw", 1, 0): order})  # type: ignore[dict-item]
    with pytest.raises(ValueError, match="draw of round 1: the scripted order is not one of"):
        chance.outcome_of_shuffle(1, 1, 0, [1, 2, 3])


@pytest.mark.parametrize("key", [("deal", 1, 0), ("draw", 1), "draw", ("draw", "1", 0)])
def test_a_script_for_something_that_is_never_drawn_is_refused(key: object) -> None:
    with pytest.raises(ValueError, match="a script is by purpose, round and index"):
        chance_of(bytes(32), {key: 1})  # type: ignore[dict-item]


def test_draws_that_were_expected_are_the_same() -> None:
    """In whatever order they come, whether as many words were expected as are drawn, fewer or more;
    out of 3 * 2**29 every fourth word is passed over, so that the expected ones run out."""
    choice = Random(4)
    for _ in range(20):
        seed = choice.randbytes(32)
        free, told = chance_of(seed, {}), chance_of(seed, {})
        keys = [(number, index) for number in range(5) for index in (0, 7, 391)]
        for number, index in choice.sample(keys, 11):
            told.expect(0, number, index, choice.choice([1, 2]))
            told.expect(1, number, index, choice.choice([5, 20, 39, 60]))
        for number, index in choice.sample(keys, len(keys)):
            n = choice.choice([1, 6, 104, 3 * 2**29])
            key = (number, index)
            assert told.outcome_of_pick(0, *key, n) == free.outcome_of_pick(0, *key, n)
            items = list(range(40))
            assert told.outcome_of_shuffle(1, *key, items) == free.outcome_of_shuffle(
                1, *key, items
            )


def test_more_draws_than_there_is_room_to_expect_are_the_same() -> None:
    free, told = chance_of(seed_bytes(8), {}), chance_of(seed_bytes(8), {})
    for index in range(600):
        told.expect(0, 1, index, 1)
    told.expect(0, 256, 0, 1)
    told.expect(0, 1, 2**19, 1)
    for key in [*((1, index) for index in range(600)), (256, 0), (1, 2**19)]:
        assert told.outcome_of_pick(0, *key, 6) == free.outcome_of_pick(0, *key, 6)
