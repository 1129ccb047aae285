"""Perfect matchings, compared with trying everything."""

from __future__ import annotations

from itertools import combinations
from random import Random

import pytest

from tavolata.ai.arena.tournament.formats.matching import has_perfect_matching, preferred_pairs


def by_trying(vertices: list[int], edges: set[frozenset[int]]) -> bool:
    if not vertices:
        return True
    first, *rest = vertices
    return any(
        by_trying([each for each in rest if each != other], edges)
        for other in rest
        if frozenset((first, other)) in edges
    )


def neighbours(count: int, edges: set[frozenset[int]]) -> list[list[int]]:
    return [
        [other for other in range(count) if frozenset((vertex, other)) in edges]
        for vertex in range(count)
    ]


@pytest.mark.parametrize("count", [2, 4, 6, 8, 10, 12])
def test_a_perfect_matching_is_found_just_where_there_is_one(count: int) -> None:
    draw = Random(count)
    answers = set()
    for trial in range(300):
        density = draw.uniform(0.5, 3.0) / count
        edges = {frozenset(e) for e in combinations(range(count), 2) if draw.random() < density}
        answer = has_perfect_matching(neighbours(count, edges))
        assert answer == by_trying(list(range(count)), edges), (trial, edges)
        answers.add(answer)
    assert answers == {True, False}


def test_odd_cycles_are_seen_through() -> None:
    """Two triangles joined by an edge have one; two triangles apart have none."""
    triangles = {frozenset(edge) for edge in ((0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5))}
    assert not has_perfect_matching(neighbours(6, triangles))
    assert has_perfect_matching(neighbours(6, triangles | {frozenset((2, 3))}))
    assert not has_perfect_matching(neighbours(3, {frozenset((0, 1))}))


def test_the_first_has_its_best_choice_that_leaves_the_others_paired() -> None:
    # 0 would like 1 best, but 2 and 3 can't be paired with each other.
    assert preferred_pairs([[1, 2], [0, 3], [0], [1]]) == [(0, 2), (1, 3)]
    assert preferred_pairs([[1, 2, 3], [0, 2, 3], [3, 0, 1], [2, 0, 1]]) == [(0, 1), (2, 3)]
    assert preferred_pairs([[1], [0, 2, 3], [1], [1]]) is None
