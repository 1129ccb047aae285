"""Who sits where: line-ups, their rotations, and cyclic orders that are balanced for all pairs.

A rotation turns a line-up over the seats and leaves everybody the same neighbours; so over the
deals of a table of different players the cyclic order changes too, along a set of orders in which
every player follows every other at every distance equally often. Together with all rotations that
puts every two players in every two seats equally often.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import permutations, product
from math import gcd

from tavolata.ai.arena.tournament.finite_field import FiniteField, prime_power

Lineup = tuple[str, ...]


@lru_cache(maxsize=10_000)
def alternating(first: str, second: str, seats: int) -> tuple[Lineup, ...]:
    """All rotations of two players who sit in turn, A B A B.

    At an odd number of seats one of them has a seat more; then it is also played with the other
    one having it, in turn, so that both sit in every seat equally often.
    """
    pattern = [(first, second)[seat % 2] for seat in range(seats)]
    mirrored = [(second, first)[seat % 2] for seat in range(seats)]
    turned = [
        lineup
        for shift in range(seats)
        for lineup in (rotated(pattern, shift), rotated(mirrored, shift))
    ]
    return tuple(dict.fromkeys(turned))


def rotated(players: Sequence[str], shift: int) -> Lineup:
    """The line-up with everybody ``shift`` seats further."""
    count = len(players)
    return tuple(players[(seat - shift) % count] for seat in range(count))


def rotation_numbers(deal: int, every: int, wanted: int | None) -> tuple[int, ...]:
    """Which of ``every`` rotations are played of a deal, ascending, when ``wanted`` of them are.

    Deals go on where the one before ended, so that over ``every`` deals each comes equally often.
    """
    if wanted is None or wanted >= every:
        return tuple(range(every))
    return tuple(sorted((deal * wanted + step) % every for step in range(wanted)))


def order_number(deal: int, every: int, wanted: int | None) -> int:
    """How many times all of ``every`` rotations have been gone through before this deal, each
    deal having ``wanted`` of them: the cyclic order to play it in."""
    taken = every if wanted is None else min(wanted, every)
    return deal // (every // gcd(every, taken))


def table_lineups(players: Lineup, turn: int) -> tuple[Lineup, ...]:
    """All rotations of different players in the ``turn``-th of the balanced cyclic orders."""
    return _rotations(players, turn % len(cyclic_orders(len(players))))


@lru_cache(maxsize=10_000)
def _rotations(players: Lineup, order: int) -> tuple[Lineup, ...]:
    line = [players[player] for player in cyclic_orders(len(players))[order]]
    return tuple(rotated(line, shift) for shift in range(len(line)))


@cache
def cyclic_orders(count: int) -> tuple[tuple[int, ...], ...]:
    """Cyclic orders of 0..count-1, player 0 first, in which every player follows every other at
    every distance equally often.

    All orders for up to 4 players. A prime p: the p - 1 orders in which player a x s (mod p) is in
    place s. One more than a prime power q: the projective line over the field of q elements, whose
    fractional linear maps take every three points to every three points exactly once; those that
    keep one point give q (q - 1) orders. ValueError for another count (from 15 on).
    """
    if count <= 4:
        return tuple((0, *rest) for rest in permutations(range(1, count)))
    if prime_power(count) == (count, 1):
        return tuple(
            tuple(factor * place % count for place in range(count)) for factor in range(1, count)
        )
    if prime_power(count - 1) is None:
        raise ValueError(f"no balanced orders of {count} players are known here")
    return _projective_orders(count)


def _projective_orders(count: int) -> tuple[tuple[int, ...], ...]:
    """Orders from the fractional linear maps over the field of count - 1 elements."""
    maps = _fractional_linear_maps(FiniteField(count - 1))
    # A map that moves all points in one cycle numbers them such that it is a rotation of the table.
    turn = next(each for each in maps if len(_cycle(each)) == count)
    points = _cycle(turn)
    place = {point: index for index, point in enumerate(points)}
    orders = {tuple(place[each[point]] for point in points) for each in maps}
    return tuple(sorted(order for order in orders if order[0] == 0))


def _cycle(mapping: Sequence[int]) -> list[int]:
    """The points that a map takes 0 through, until it comes back."""
    points = [0]
    while mapping[points[-1]] != 0:
        points.append(mapping[points[-1]])
    return points


def _fractional_linear_maps(field: FiniteField) -> list[tuple[int, ...]]:
    """Every map x -> (a x + b) / (c x + d) with a d != b c, as the images of all points; the point
    at infinity is numbered q."""
    infinity = field.size
    # Multiples of (a, b, c, d) are the same map: the lower row is taken as (0, 1) or (1, d).
    lower = [(0, 1), *((1, d) for d in range(field.size))]
    maps = []
    for (c, d), a, b in product(lower, range(field.size), range(field.size)):
        if field.multiply(a, d) == field.multiply(b, c):
            continue
        images = []
        for x in (*range(field.size), infinity):
            above = a if x == infinity else field.add(field.multiply(a, x), b)
            below = c if x == infinity else field.add(field.multiply(c, x), d)
            images.append(field.divide(above, below) if below else infinity)
        maps.append(tuple(images))
    return sorted(maps)
