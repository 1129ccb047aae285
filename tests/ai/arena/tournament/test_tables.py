"""Which entrants sit down together: every two equally often, counted."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from math import comb

import pytest

from tavolata.ai.arena.tournament.tables import FEW, TABLES_MAX, NoDesign, tables


@pytest.mark.parametrize("seats", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("count", [6, 7, 9, 10, 13, 16, 20])
@pytest.mark.parametrize("which", ["balanced", "auto"])
def test_every_two_entrants_share_equally_many_tables(count: int, seats: int, which: str) -> None:
    chosen = tables(count, seats, which)
    assert all(len(set(table)) == seats and sorted(table) == list(table) for table in chosen)
    pairs = Counter(pair for table in chosen for pair in combinations(table, 2))
    assert len(pairs) == comb(count, 2)
    assert len(set(pairs.values())) == 1
    assert len(set(Counter(player for table in chosen for player in table).values())) == 1
    assert len(chosen) <= comb(count, seats)


def test_a_design_is_much_smaller_than_all_combinations_where_they_are_many() -> None:
    assert comb(16, 4) == 1820
    assert len(tables(16, 4, "balanced")) <= 16 * 10
    # 13 = 3 x 4 + 1 points: the projective plane of order 3 has one base table.
    assert len(tables(13, 4, "balanced")) == 13


def test_all_combinations_are_played_where_they_are_few() -> None:
    assert tables(6, 4, "auto") == tuple(combinations(range(6), 4))
    assert comb(10, 4) > FEW > len(tables(10, 4, "auto"))
    assert len(tables(10, 4, "all")) == 210


def test_a_design_is_found_for_a_large_field() -> None:
    chosen = tables(41, 5, "balanced")
    pairs = Counter(pair for table in chosen for pair in combinations(table, 2))
    assert set(Counter(pairs.values())) == {5 * 4 * len(chosen) // (41 * 40)}


def test_too_many_tables_are_refused() -> None:
    with pytest.raises(NoDesign, match=f"up to {TABLES_MAX} tables; 4 of 60 entrants"):
        tables(60, 4, "all")


def test_tables_are_the_same_every_time() -> None:
    first = tables(19, 4, "balanced")
    tables.__globals__["_design"].cache_clear()
    assert tables(19, 4, "balanced") == first
