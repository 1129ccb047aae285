"""Whole random matches of the reference of Café International, and its seatings by brute force."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import permutations, product

import pytest

from tests.reference.cafe_board import (
    ALL_TILES,
    BAR,
    CHAIRS,
    CHAIRS_OF,
    SEX_OF,
    TABLE_NATION,
    TABLES_OF,
    fits,
    nations_of,
)
from tests.reference.cafe_international import OPTIONS, CafeInternational
from tests.reference.chance import seed_bytes
from tests.reference.worlds import (
    consistent,
    enumerate_worlds,
    history_of,
    replay_in,
    script_of,
    true_world,
)

Table = tuple[int, dict[str, object]]
Seating = dict[int, str]
"""Chair -> kind, for the chairs that are taken."""

EVERYTHING: dict[str, object] = {
    "regulars": True,
    "birthday": True,
    "birthday_threshold": 12,
    "joker_identity": "declared",
    "swap_same_sex": True,
    "draw_less": "automatic",
    "bag_low": 3,
}


def tables() -> Iterator[Table]:
    """Every number of seats with every value of every option, and all of them at once."""
    for seats in range(2, 6):
        five: dict[str, object] = {"five_players": True} if seats == 5 else {}
        yield seats, five
        for name, values in OPTIONS.items():
            few = [1, 30, 999] if name == "birthday_threshold" else list(values)[1:]
            for value in few:
                birthday = {"birthday": True} if name == "birthday_threshold" else {}
                yield seats, {**five, **birthday, name: value}
        yield seats, {**five, **EVERYTHING}
        yield seats, {**five, "regulars": True, "joker_identity": "declared"}


def named(table: Table) -> str:
    seats, options = table
    return "-".join([str(seats), *(f"{name}={value}" for name, value in options.items())])


def match_of(table: Table, seed: int) -> CafeInternational:
    seats, options = table
    return CafeInternational(seats, options, seed_bytes(seed))


def random_step(model: CafeInternational, choices: random.Random) -> None:
    """A random action; the bar a quarter as often as it would be."""
    names = model.legal(model.active)
    others = [name for name in names if not name.startswith("bar")]
    if others and choices.random() < 0.75:
        names = others
    model.play(model.active, choices.choice(names))


def seating_of(model: CafeInternational) -> Seating:
    return {chair: guest.kind for chair, guest in model.chairs.items() if guest is not None}


def wrong_with(seating: Seating, waived: list[int], exempt: int | None) -> list[str]:
    """CI-7 over the whole board."""
    wrong = []
    for table, chairs in CHAIRS_OF.items():
        sexes = [SEX_OF[seating[chair]] for chair in chairs if chair in seating]
        if abs(sexes.count("woman") - sexes.count("man")) > 1 and table not in waived:
            wrong.append(f"table {table}")
    for chair in seating:
        company = [other for table in TABLES_OF[chair] for other in CHAIRS_OF[table]]
        if not any(other in seating for other in company if other != chair) and chair != exempt:
            wrong.append(f"chair {chair}")
    return wrong


def check_board(model: CafeInternational) -> None:
    """All 100 tiles are somewhere; between turns CI-7 holds everywhere."""
    held = [kind for hand in model.hands for kind in hand]
    placed = [*seating_of(model).values(), *model.bar]
    assert sorted([*held, *placed, *model.bag]) == sorted(ALL_TILES)
    if not model.seated_now:
        assert wrong_with(seating_of(model), model.parties, model.exempt_chair) == []


def test_the_board_is_that_of_the_rules() -> None:
    # CI-1 to CI-3; where the chairs stand follows from the grid.
    assert len(TABLE_NATION) == 24
    assert len(CHAIRS) == 68
    shared = [chair for chair in CHAIRS if len(TABLES_OF[chair]) == 2]
    assert len(shared) == 28
    assert sum(len(nations_of(chair)) == 2 for chair in shared) == 18
    assert all(len(chairs) == 4 for chairs in CHAIRS_OF.values())
    for table, chairs in CHAIRS_OF.items():
        assert all(table in TABLES_OF[chair] for chair in chairs)
    nations = list(TABLE_NATION.values())
    assert all(nations.count(nation) == 2 for nation in nations)
    assert len(ALL_TILES) == 100
    assert (len(BAR), sum(BAR)) == (20, -105)


@pytest.mark.parametrize("table", list(tables()), ids=named)
def test_a_random_match_of_the_cafe_keeps_its_tiles_and_ends(table: Table) -> None:
    model = match_of(table, 21)
    choices = random.Random(21)
    while not model.over:
        check_board(model)
        random_step(model, choices)
    check_board(model)
    events = model.events(-1)
    booked = [0] * model.seats
    for event in events:
        if event["event"] in ("seated", "put_at_bar"):
            seat, points = event["seat"], event["points"]
            assert isinstance(seat, int)
            assert isinstance(points, int)
            booked[seat] += points
    penalties = events[-2]["penalties"]
    assert isinstance(penalties, list)
    assert [a - b for a, b in zip(booked, penalties, strict=True)] == model.totals()
    assert sum(model.utility()) == pytest.approx(model.seats / 2)
    assert all(0 <= limit <= 5 for limit in model.limits)
    named_events = [event["event"] for event in events]
    assert named_events.count("birthday_named") == (model.birthday_state in ("named", "declined"))


def legal_by_brute_force(model: CafeInternational) -> set[tuple[str, int]]:
    """First guests of a turn that CI-7 allows, alone or with any second guest anywhere."""
    seating, hand = seating_of(model), model.hands[model.active]
    found = set()
    for kind, chair in product(set(hand), CHAIRS):
        if chair in seating or not fits(kind, chair):
            continue
        one = {**seating, chair: kind}
        if not wrong_with(one, model.parties, model.exempt_chair):
            found.add((kind, chair))
            continue
        left = list(hand)
        left.remove(kind)
        for second, other in product(set(left), CHAIRS):
            if other in one or not fits(second, other):
                continue
            if not wrong_with({**one, other: second}, model.parties, model.exempt_chair):
                found.add((kind, chair))
                break
    return found


def offered_seats(model: CafeInternational) -> set[tuple[str, int]]:
    words = [name.split() for name in model.legal(model.active)]
    return {(word[1], int(word[2])) for word in words if word[0] == "seat"}


def test_first_guests_are_those_that_trying_everything_finds() -> None:
    compared = offered = 0
    for seed in range(14):
        model = match_of((3, {}), seed)
        choices = random.Random(seed)
        for _ in range(choices.randrange(3, 60)):
            if not model.over:
                random_step(model, choices)
        while not model.over and (model.seated_now or model.phase != "turn"):
            random_step(model, choices)
        if model.over or model.first_turn:
            continue
        brute = legal_by_brute_force(model)
        assert offered_seats(model) == brute
        compared += 1
        offered += len(brute)
    assert compared > 8
    assert offered > 50


def test_second_guests_are_those_that_leave_the_board_in_order() -> None:
    compared = 0
    for seed in range(40):
        model = match_of((4, {}), seed)
        choices = random.Random(seed)
        while not model.over:
            if len(model.seated_now) == 1 and model.phase == "turn" and not model.first_turn:
                seating, hand = seating_of(model), model.hands[model.active]
                brute = {
                    (kind, chair)
                    for kind, chair in product(set(hand), CHAIRS)
                    if chair not in seating
                    and fits(kind, chair)
                    and not wrong_with({**seating, chair: kind}, model.parties, None)
                }
                if model.exempt_chair is None:
                    assert offered_seats(model) == brute
                    stops = not wrong_with(seating, model.parties, None)
                    assert ("stop" in model.legal(model.active)) == stops
                    compared += 1
            if compared > 60:
                return
            random_step(model, choices)
    raise AssertionError(f"only {compared} turns with a choice of a second guest")


def parties_by_brute_force(model: CafeInternational) -> set[tuple[str, int]]:
    """Guests of every way to fill a table with four women or four men in this turn (CI-25)."""
    seating, hand = seating_of(model), model.hands[model.active]
    found: set[tuple[str, int]] = set()
    for table, sex in product(CHAIRS_OF, ("woman", "man")):
        there = [SEX_OF[seating[chair]] for chair in CHAIRS_OF[table] if chair in seating]
        free = [chair for chair in CHAIRS_OF[table] if chair not in seating]
        if there not in ([], [sex]):
            continue
        alike = [kind for kind in hand if SEX_OF[kind] == sex]
        for guests in set(permutations(alike, len(free))):
            placed = dict(zip(free, guests, strict=True))
            if not all(fits(kind, chair) for chair, kind in placed.items()):
                continue
            waived = [*model.parties, table]
            if not wrong_with({**seating, **placed}, waived, model.exempt_chair):
                found |= {(kind, chair) for chair, kind in placed.items()}
    return found


def test_parties_are_offered_where_trying_everything_finds_them() -> None:
    compared = only_parties = 0
    for seed in range(12):
        choices = random.Random(seed)
        # Women first in the bag, so that there is something to try.
        bag = sorted(choices.sample(ALL_TILES, 100), key=lambda kind: SEX_OF[kind] == "man")
        model = CafeInternational.with_deal(
            2, {"regulars": True}, {("bag", 0, 0): bag}, seed_bytes(seed)
        )
        while not model.over and model.turn < 24:
            if model.phase == "turn" and not model.seated_now and not model.first_turn:
                parties = parties_by_brute_force(model)
                if parties:
                    plain = legal_by_brute_force(model)
                    assert offered_seats(model) == plain | parties
                    compared += 1
                    only_parties += len(parties - plain)
                    break
            random_step(model, choices)
    assert compared > 8
    assert only_parties > 20


@pytest.mark.parametrize("seats", [2, 4])
def test_the_order_of_the_bag_changes_nothing_that_anybody_sees(seats: int) -> None:
    differed = 0
    for seed in range(8):
        model = match_of((seats, EVERYTHING), seed)
        choices = random.Random(seed)
        for _ in range(choices.randrange(60)):
            if not model.over:
                random_step(model, choices)
        history = history_of(model, -1)
        script, actions = script_of(history, true_world(model))
        order = script["bag", 0, 0]
        assert isinstance(order, list)
        drawn = len(ALL_TILES) - len(model.bag)
        unseen = order[drawn:]
        choices.shuffle(unseen)
        script["bag", 0, 0] = order[:drawn] + unseen
        other = CafeInternational.with_deal(seats, model.options, script)
        for seat, action in actions:
            other.play(seat, action)
        for viewer in range(-1, seats):
            assert other.view(viewer) == model.view(viewer)
            assert other.events(viewer) == model.events(viewer)
        assert other.legal(other.active) == model.legal(model.active)
        differed += other.bag != model.bag
    assert differed > 5


def test_hands_of_the_cafe_are_open_so_other_hands_are_no_world() -> None:
    model = match_of((3, {}), 4)
    choices = random.Random(4)
    for _ in range(9):
        random_step(model, choices)
    history = history_of(model, 1)
    world = true_world(model)
    assert enumerate_worlds(history) == {world: 1}
    assert consistent(history, world, 1)
    assert replay_in(history, world).view(0) == model.view(0)
    assert not consistent(history, (*world[1:], world[0]), 1)


def test_the_last_out_is_better_than_those_before_and_worse_than_all_who_finish() -> None:
    compared = 0
    for seed in range(25):
        model = match_of((4, {}), seed)
        choices = random.Random(seed)
        while not model.over:
            bar = [name for name in model.legal(model.active) if name.startswith("bar")]
            model.play(model.active, choices.choice(bar or model.legal(model.active)))
        places = model.placement()
        finished = [seat for seat in range(4) if seat not in model.out]
        assert min(places[seat] for seat in finished) == 1
        worst = [places[seat] for seat in model.out]
        assert worst == [4 - number for number in range(len(worst))]
        compared += len(worst)
    assert compared > 40
