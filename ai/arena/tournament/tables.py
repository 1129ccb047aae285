"""Which entrants sit down together where tables have more than two seats.

All combinations, or a balanced incomplete block design: tables of which every two entrants share
equally many. Designs are cyclic: a few base tables over the numbers modulo the entrant count, each
shifted through all of them, such that every difference comes equally often in the base tables.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import combinations, permutations
from math import comb, gcd
from random import Random

TABLES_MAX = 100_000
FEW = 200  # combinations that are all played unless told otherwise
_STEPS_PER_BASE, _STEPS = 6_000, 150_000  # of one search

Table = tuple[int, ...]


class NoDesign(ValueError):
    """No balanced set of tables was found, and all combinations are too many."""


def tables(count: int, seats: int, which: str = "auto") -> tuple[Table, ...]:
    """Tables of ``seats`` of 0..count-1, sorted: "all" of them, "balanced", or "auto".

    Balanced is never more than all. NoDesign if there would be more than TABLES_MAX.
    """
    total = comb(count, seats)
    if which == "all" or (which == "auto" and total <= FEW):
        found: tuple[Table, ...] | None = None
    else:
        found = _design(count, seats)
    if found is not None and len(found) < total:
        return found
    if total > TABLES_MAX:
        raise NoDesign(f"up to {TABLES_MAX} tables; {seats} of {count} entrants can sit at {total}")
    return tuple(combinations(range(count), seats))


@cache
def _design(count: int, seats: int) -> tuple[Table, ...] | None:
    """The design with the fewest base tables that a search finds, or None."""
    # Every base table has seats x (seats - 1) differences, each of count - 1 is to come equally
    # often; half of an even count is its own negative and so comes an even number of times.
    differences = seats * (seats - 1)
    unit = (count - 1) // gcd(count - 1, differences)
    if count % 2 == 0 and unit * differences // (count - 1) % 2:
        unit *= 2
    for bases in range(unit, 2 * unit + 1, unit):
        if bases * count >= min(comb(count, seats), TABLES_MAX):
            return None
        found = _base_tables(count, seats, bases)
        if found is not None:
            return tuple(
                sorted(
                    tuple(sorted((player + shift) % count for player in base))
                    for base in found
                    for shift in range(count)
                )
            )
    return None


def _base_tables(count: int, seats: int, bases: int) -> list[list[int]] | None:
    """Base tables with every difference equally often, by exchanging one player at a time."""
    # Only random() is the same in all versions of Python.
    draw = Random(count * 1_000 + seats).random  # noqa: S311 - a search, not a secret
    chosen = [_drawn(draw, count, seats) for _ in range(bases)]
    aim = bases * seats * (seats - 1) // (count - 1)
    excess = [0] + [-aim] * (count - 1)  # how often each difference comes beyond the aim
    for base in chosen:
        for player, other in permutations(base, 2):
            excess[player - other] += 1  # a negative index counts from the end: modulo count
    cost = sum(value * value for value in excess)
    for _ in range(min(_STEPS, _STEPS_PER_BASE * (bases + 1))):
        if cost == 0:
            return chosen
        base, place, new = chosen[int(draw() * bases)], int(draw() * seats), int(draw() * count)
        if new in base:
            continue
        others = [player for player in base if player != base[place]]
        changed = _moved(excess, others, base[place], -1) + _moved(excess, others, new, 1)
        # Now and then a step for the worse, or the search would end in a dip.
        if changed <= 0 or draw() < 2.0 ** (-3 * changed):
            base[place] = new
            cost += changed
        else:
            _moved(excess, others, new, -1)
            _moved(excess, others, base[place], 1)
    return None


def _drawn(draw: Callable[[], float], count: int, seats: int) -> list[int]:
    """Different players at random."""
    rest = list(range(count))
    return [rest.pop(int(draw() * len(rest))) for _ in range(seats)]


def _moved(excess: list[int], others: list[int], player: int, sign: int) -> int:
    """Count the differences of a player to others of its table, to and fro; the change of the
    sum of squares."""
    change = 0
    for other in others:
        for difference in (player - other, other - player):
            change += 1 + 2 * sign * excess[difference]
            excess[difference] += sign
    return change
