"""Who sits where: rotations, and cyclic orders in which all pairs of seats are balanced."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from tavolata.ai.arena.tournament.finite_field import FiniteField, prime_power
from tavolata.ai.arena.tournament.seating import (
    alternating,
    cyclic_orders,
    order_number,
    rotation_numbers,
    table_lineups,
)


def test_two_players_at_an_even_table_sit_in_turn_and_change_places() -> None:
    assert alternating("A", "B", 2) == (("A", "B"), ("B", "A"))
    assert set(alternating("A", "B", 4)) == {("A", "B", "A", "B"), ("B", "A", "B", "A")}


@pytest.mark.parametrize("seats", range(2, 13))
def test_two_players_sit_in_every_seat_equally_often(seats: int) -> None:
    lineups = alternating("A", "B", seats)
    assert len(set(lineups)) == len(lineups) == (2 if seats % 2 == 0 else 2 * seats)
    for seat in range(seats):
        assert Counter(lineup[seat] for lineup in lineups) == {
            "A": len(lineups) // 2,
            "B": len(lineups) // 2,
        }


def test_at_an_odd_table_neighbouring_rotations_are_mirrored() -> None:
    lineups = alternating("A", "B", 5)
    for first, second in zip(lineups[::2], lineups[1::2], strict=True):
        assert all(one != other for one, other in zip(first, second, strict=True))


@pytest.mark.parametrize("seats", range(2, 13))
def test_over_the_orders_every_two_players_have_every_two_seats_equally_often(seats: int) -> None:
    players = tuple(f"p{number}" for number in range(seats))
    orders = len(cyclic_orders(seats))
    found: Counter[tuple[str, str, int, int]] = Counter()
    for turn in range(orders):
        lineups = table_lineups(players, turn)
        assert all(sorted(column) == sorted(players) for column in zip(*lineups, strict=True))
        for lineup in lineups:
            for seat, player in enumerate(lineup):
                for other_seat, other in enumerate(lineup):
                    if seat != other_seat:
                        found[player, other, seat, other_seat] += 1
    # Each order has each of n (n - 1) pairs of seats filled by n of the n (n - 1) pairs of players.
    assert len(found) == (seats * (seats - 1)) ** 2
    assert set(found.values()) == {orders // (seats - 1)}


def test_every_player_has_every_other_as_its_neighbour() -> None:
    players = ("a", "b", "c", "d", "e")
    neighbours = Counter(
        pair
        for turn in range(len(cyclic_orders(5)))
        for lineup in table_lineups(players, turn)[:1]
        for pair in pairwise((*lineup, lineup[0]))
    )
    assert set(neighbours.values()) == {1}
    assert len(neighbours) == 20


def test_a_number_of_players_without_known_orders_is_refused() -> None:
    with pytest.raises(ValueError, match="no balanced orders of 15 players"):
        cyclic_orders(15)


@pytest.mark.parametrize(("every", "wanted"), [(4, 1), (4, 3), (5, 2), (6, 4), (10, 7)])
def test_with_fewer_rotations_a_deal_every_rotation_comes_equally_often(
    every: int, wanted: int
) -> None:
    numbers = [rotation_numbers(deal, every, wanted) for deal in range(every)]
    assert all(len(set(deal)) == wanted for deal in numbers)
    assert set(Counter(number for deal in numbers for number in deal).values()) == {wanted}


@pytest.mark.parametrize("wanted", [None, 4, 9])
def test_all_rotations_are_played_unless_fewer_are_wanted(wanted: int | None) -> None:
    assert rotation_numbers(7, 4, wanted) == (0, 1, 2, 3)


@pytest.mark.parametrize("wanted", [None, 1, 2, 3, 4])
def test_every_rotation_is_played_in_every_order(wanted: int | None) -> None:
    """Both step on with the deals: they must not step on together."""
    orders = len(cyclic_orders(4))
    found = Counter(
        (order_number(deal, 4, wanted) % orders, rotation)
        for deal in range(24)
        for rotation in rotation_numbers(deal, 4, wanted)
    )
    assert len(found) == 4 * orders
    assert len(set(found.values())) == 1


@pytest.mark.parametrize("size", [2, 3, 4, 5, 7, 8, 9, 11, 16])
def test_a_finite_field_is_one(size: int) -> None:
    field = FiniteField(size)
    elements = range(size)
    for a in elements:
        assert sorted(field.add(a, b) for b in elements) == list(elements)
        if a:
            assert sorted(field.multiply(a, b) for b in elements) == list(elements)
            assert field.multiply(field.divide(1, a), a) == 1
        for b in elements:
            assert field.multiply(a, b) == field.multiply(b, a)
            for c in range(0, size, 3):
                assert field.multiply(a, field.add(b, c)) == field.add(
                    field.multiply(a, b), field.multiply(a, c)
                )
                assert field.multiply(a, field.multiply(b, c)) == field.multiply(
                    field.multiply(a, b), c
                )


def test_there_are_fields_of_prime_powers_alone() -> None:
    assert [n for n in range(20) if prime_power(n) is None] == [0, 1, 6, 10, 12, 14, 15, 18]
    with pytest.raises(ValueError, match="no field of 6 elements"):
        FiniteField(6)
