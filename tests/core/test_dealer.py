"""The exact dealer on its own against brute force, for items and places of any shape."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from math import comb
from random import Random

import pytest

from tavolata.ext.core.dealer import ExactDealer, NoDeal
from tests.games.dealing import chi_square_deviate

Problem = tuple[list[list[int]], list[int], list[set[int]]]
"""Items by class, sizes of the places, and the classes that each place may hold."""

Deal = tuple[tuple[int, ...], ...]


def all_deals(problem: Problem) -> list[Deal]:
    """Every way to fill the places, the items told apart, each place as a sorted tuple."""
    classes, sizes, allowed = problem
    items = [(item, number) for number, members in enumerate(classes) for item in members]
    places: list[list[int]] = [[] for _ in sizes]

    def fill(at: int) -> Iterator[Deal]:
        if at == len(items):
            yield tuple(tuple(sorted(place)) for place in places)
            return
        item, number = items[at]
        for place, size in enumerate(sizes):
            if number in allowed[place] and len(places[place]) < size:
                places[place].append(item)
                yield from fill(at + 1)
                places[place].pop()

    return list(fill(0)) if len(items) == sum(sizes) else []


def in_places(deal: Sequence[int], sizes: Sequence[int]) -> Deal:
    starts = [sum(sizes[:place]) for place in range(len(sizes))]
    return tuple(
        tuple(sorted(deal[start : start + size])) for start, size in zip(starts, sizes, strict=True)
    )


def random_problem(choice: Random, *, twins: bool) -> Problem:
    """Up to 8 items in up to 4 classes for up to 4 places; many have no deal at all."""
    count = choice.randint(1, 8)
    place_count, class_count = choice.randint(1, 4), choice.randint(1, 4)
    numbers = [choice.randrange(3) if twins else number for number in range(count)]
    classes: list[list[int]] = [[] for _ in range(class_count)]
    for number in numbers:
        # Alike items share a class, as they share every constraint.
        classes[(number if twins else choice.randrange(99)) % class_count].append(number)
    cuts = sorted(choice.randint(0, count) for _ in range(place_count - 1))
    sizes = [high - low for low, high in zip([0, *cuts], [*cuts, count], strict=True)]
    allowed = [{c for c in range(class_count) if choice.random() < 0.75} for _ in sizes]
    return classes, sizes, allowed


@pytest.mark.parametrize("batch", range(8))
@pytest.mark.parametrize("twins", [False, True], ids=["told apart", "with twins"])
def test_deals_come_as_often_as_brute_force_says(batch: int, twins: bool) -> None:
    choice = Random(f"{batch} {twins}")
    solvable = 0
    for _ in range(40):
        problem = random_problem(choice, twins=twins)
        expected = Counter(all_deals(problem))
        if not expected:
            with pytest.raises(NoDeal):
                ExactDealer(*problem)
            continue
        solvable += 1
        samples = max(2_000, 10 * len(expected))
        dealt = ExactDealer(*problem).sample_places(choice.randrange(2**64), samples)
        counts = Counter(in_places(deal, problem[1]) for deal in dealt)
        assert set(counts) <= set(expected), f"a deal that doesn't fit: {problem}"
        weight = sum(expected.values())
        square = sum(
            (counts[deal] - samples * ways / weight) ** 2 / (samples * ways / weight)
            for deal, ways in expected.items()
        )
        assert chi_square_deviate(square, len(expected) - 1) < 5, f"{problem}"
    assert 5 <= solvable < 40


BIG: Problem = (
    [list(range(9 * number, 9 * number + 9)) for number in range(4)],
    [6] * 6,
    [{0, 1, 2}, {1, 2, 3}, {0, 2, 3}, {0, 1, 3}, {0, 1, 2, 3}, {0, 3}],
)
"""Far more joint counts than an alias table takes: the counts are drawn place by place."""


def ways(
    problem: Problem, fixed: tuple[int, int, int] | None = None, *, told_apart: bool = True
) -> int:
    """Number of deals, exactly; `fixed` demands (place, class, count).

    Without telling items of a class apart: the number of joint counts.
    """
    classes, sizes, allowed = problem

    @cache
    def complete(place: int, left: tuple[int, ...]) -> int:
        if place == len(sizes):
            return 1
        return sum(
            product * complete(place + 1, rest)
            for rest, product in takes(place, left, sizes[place])
        )

    def takes(
        place: int, left: tuple[int, ...], need: int
    ) -> Iterator[tuple[tuple[int, ...], int]]:
        def go(number: int, need: int) -> Iterator[tuple[tuple[int, ...], int]]:
            if number == len(left):
                if need == 0:
                    yield (), 1
                return
            for take in range(min(left[number], need) + 1):
                if take and number not in allowed[place]:
                    break
                if fixed and fixed[:2] == (place, number) and take != fixed[2]:
                    continue
                for rest, product in go(number + 1, need - take):
                    choices = comb(left[number], take) if told_apart else 1
                    yield (left[number] - take, *rest), choices * product

        return go(0, need)

    return complete(0, tuple(len(members) for members in classes))


def test_counts_drawn_place_by_place_have_the_exact_shares() -> None:
    classes, sizes, allowed = BIG
    assert ways(BIG, told_apart=False) > 4096
    samples = 40_000
    dealt = [in_places(deal, sizes) for deal in ExactDealer(*BIG).sample_places(7, samples)]
    total = ways(BIG)
    for place in (0, 4, 5):
        for number in range(len(classes)):
            seen = Counter(sum(item // 9 == number for item in deal[place]) for deal in dealt)
            if number not in allowed[place]:
                assert set(seen) == {0}
                continue
            square, cells = 0.0, 0
            for count in range(sizes[place] + 1):
                due = samples * ways(BIG, (place, number, count)) / total
                if due >= 5:
                    square, cells = square + (seen[count] - due) ** 2 / due, cells + 1
            assert cells >= 4
            assert chi_square_deviate(square, cells - 1) < 5, f"place {place}, class {number}"


def test_every_item_is_dealt_once_in_every_deal() -> None:
    items = sorted(item for members in BIG[0] for item in members)
    for deal in ExactDealer(*BIG).sample_places(3, 500):
        assert sorted(deal) == items
        for place, cards in enumerate(in_places(deal, BIG[1])):
            assert {card // 9 for card in cards} <= BIG[2][place]


def test_the_same_seed_gives_the_same_deals() -> None:
    dealer = ExactDealer(*BIG)
    assert dealer.sample_places(5, 20) == ExactDealer(*BIG).sample_places(5, 20)
    assert dealer.sample_places(5, 20) != dealer.sample_places(6, 20)


@pytest.mark.parametrize(
    "problem, text",
    [
        (([[1, 2]], [1], [{0}]), "2 unseen items for places that hold 1"),
        (([[1], [2]], [2], [{0}]), "no place may hold some unseen item"),
        (([[1, 2], [3]], [2, 1], [{1}, {0}]), "no deal of the unseen items fits"),
        (([[1], [2], [3]], [1, 2], [{0, 1}, {0, 1}]), "no"),
        (([[1, 2]], [1, 1], [{0}, set()]), "no"),
    ],
)
def test_what_cannot_be_dealt_is_refused(problem: Problem, text: str) -> None:
    with pytest.raises(NoDeal, match=text):
        ExactDealer(*problem)


@pytest.mark.parametrize(
    "problem",
    [
        ([[0] * 129], [129], [{0}]),
        ([[number] for number in range(17)], [1] * 17, [set(range(17))] * 17),
        ([[number] for number in range(9)], [1] * 9, [set(range(9)) - {n} for n in range(9)]),
    ],
    ids=["items", "places", "classes"],
)
def test_shapes_beyond_the_limits_are_refused(problem: Problem) -> None:
    with pytest.raises(ValueError, match="at most"):
        ExactDealer(*problem)


def test_no_place_holds_less_than_nothing() -> None:
    with pytest.raises(ValueError, match=r"sizes are \[3, -1\]; allowed: 0 and more"):
        ExactDealer([[1, 2]], [3, -1], [{0}, {0}])


def test_nothing_to_deal_is_a_deal() -> None:
    assert ExactDealer([], [], []).sample_places(1, 2) == [[], []]
    assert ExactDealer([[], []], [0, 0], [{0}, {1}]).sample_places(1, 1) == [[]]
