"""Pairing everybody with somebody allowed: perfect matchings in general graphs."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

Neighbours = Sequence[Sequence[int]]  # by vertex


def has_perfect_matching(neighbours: Neighbours) -> bool:
    """Whether all vertices can be paired along edges (Edmonds' blossom algorithm, O(n^3))."""
    count = len(neighbours)
    if count % 2:
        return False
    mate: list[int] = [-1] * count
    for vertex in range(count):
        if mate[vertex] < 0:
            free = next((other for other in neighbours[vertex] if mate[other] < 0), -1)
            if free >= 0:
                mate[vertex], mate[free] = free, vertex
    # A vertex from which no augmenting path starts stays alone in every larger matching, too.
    return all(mate[vertex] >= 0 or _augment(neighbours, mate, vertex) for vertex in range(count))


def _augment(neighbours: Neighbours, mate: list[int], root: int) -> bool:
    """Match one vertex more along an alternating path from ``root``, if there is one."""
    count = len(neighbours)
    parent, base = [-1] * count, list(range(count))
    outer = [vertex == root for vertex in range(count)]
    queue = deque([root])
    while queue:
        vertex = queue.popleft()
        for other in neighbours[vertex]:
            if base[vertex] == base[other] or mate[vertex] == other:
                continue
            if other == root or (mate[other] >= 0 and parent[mate[other]] >= 0):
                _shrink(mate, parent, base, outer, queue, vertex, other)
            elif parent[other] < 0:
                parent[other] = vertex
                if mate[other] < 0:
                    _flip(mate, parent, other)
                    return True
                outer[mate[other]] = True
                queue.append(mate[other])
    return False


def _flip(mate: list[int], parent: list[int], end: int) -> None:
    """Exchange matched and unmatched edges of the path that ends here."""
    while end >= 0:
        before = parent[end]
        following = mate[before]
        mate[end], mate[before] = before, end
        end = following


def _shrink(
    mate: list[int],
    parent: list[int],
    base: list[int],
    outer: list[bool],
    queue: deque[int],
    vertex: int,
    other: int,
) -> None:
    """Contract the odd cycle that the edge between two outer vertices closes."""
    stem = _common_base(mate, parent, base, vertex, other)
    blossom = [False] * len(base)
    _mark(mate, parent, base, blossom, vertex, stem, other)
    _mark(mate, parent, base, blossom, other, stem, vertex)
    for each in range(len(base)):
        if blossom[base[each]]:
            base[each] = stem
            if not outer[each]:
                outer[each] = True
                queue.append(each)


def _common_base(
    mate: list[int], parent: list[int], base: list[int], vertex: int, other: int
) -> int:
    """The first base that the paths of two outer vertices to the root share."""
    passed = set()
    while True:
        vertex = base[vertex]
        passed.add(vertex)
        if mate[vertex] < 0:
            break
        vertex = parent[mate[vertex]]
    while base[other] not in passed:
        other = parent[mate[base[other]]]
    return base[other]


def _mark(
    mate: list[int],
    parent: list[int],
    base: list[int],
    blossom: list[bool],
    vertex: int,
    stem: int,
    child: int,
) -> None:
    """Mark one side of an odd cycle, and let its paths lead around it."""
    while base[vertex] != stem:
        blossom[base[vertex]] = blossom[base[mate[vertex]]] = True
        parent[vertex] = child
        child = mate[vertex]
        vertex = parent[mate[vertex]]


def preferred_pairs(
    preferences: Sequence[Sequence[int]],
) -> list[tuple[int, int]] | None:
    """Pairs of all vertices: the first vertex has the best of its preferences that leaves the
    others a perfect matching, then the next unpaired one, and so on; None if there is none.

    preferences: symmetric lists of whom each may be paired with, best first.
    """
    allowed = [set(row) for row in preferences]
    left = list(range(len(preferences)))
    if not _can_be_paired(left, allowed):
        return None
    pairs = []
    while left:
        first, rest = left[0], left[1:]
        for other in preferences[first]:
            if other in rest:
                without = [each for each in rest if each != other]
                if _can_be_paired(without, allowed):
                    pairs.append((first, other))
                    left = without
                    break
    return pairs


def _can_be_paired(vertices: list[int], allowed: list[set[int]]) -> bool:
    place = {vertex: index for index, vertex in enumerate(vertices)}
    return has_perfect_matching(
        [[place[other] for other in vertices if other in allowed[vertex]] for vertex in vertices]
    )
