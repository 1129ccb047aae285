"""Whole random matches of the reference of Bids, and its hidden worlds."""

from __future__ import annotations

import random
from collections.abc import Iterator
from math import comb, factorial, prod

import pytest

from tests.reference import bids, bids_cards
from tests.reference.chance import Script, seed_bytes
from tests.reference.model import SPECTATOR
from tests.reference.registry import AnyModel, new_model
from tests.reference.worlds import (
    World,
    consistent,
    enumerate_worlds,
    history_of,
    replay_in,
    script_of,
    true_world,
    unseen_in,
)

ALL_CARDS: dict[str, object] = {"surprise": True, "lowest": True, "thief": True}
COLOURED: dict[str, object] = {"surprise": True, "lowest": True, "colours": True}

Table = tuple[int, dict[str, object]]


def tables() -> Iterator[Table]:
    """Every number of seats with every value of every option, and all special cards at once."""
    for seats in range(3, 7):
        yield seats, {}
        for name, values in bids_cards.OPTIONS.items():
            few = [1, 20] if name == "rounds" else values
            refused = [seats < 4, seats > 5] if name == "ally" else []
            for value in few:
                if not any(value is (not index) for index, no in enumerate(refused) if no):
                    yield seats, {name: value}
        yield seats, ALL_CARDS
        yield seats, {**ALL_CARDS, "thief_fallback": "next_worst", "minus_five": False}
        yield seats, COLOURED
    yield 5, {**ALL_CARDS, "five_player_max": 10, "ally": False}


def named(table: Table) -> str:
    seats, options = table
    return "-".join([str(seats), *(f"{name}={value}" for name, value in options.items())])


def match_of(table: Table, seed: int) -> bids.Bids:
    seats, options = table
    return bids.Bids(seats, options, seed_bytes(seed))


def random_step(model: AnyModel, choices: random.Random) -> None:
    seat = min(model.to_act())
    model.play(seat, choices.choice(model.legal(seat)))


def check_cards(model: bids.Bids) -> None:
    """Every card of the deck is in one place: a hand, the pile, left over, or seen and gone."""
    held = [card for hand in model.hands for card in hand]
    hidden = [card for card in model.pile if card not in model.buried]
    places = [*held, *hidden, *model.left_over, *model.played]
    assert sorted(places) == sorted(model.setting.deck)
    assert set(model.buried) <= set(model.pile) & set(model.played)
    won = [card for cards in model.won for card in cards]
    assert len(won) == len(set(won))
    assert set(won) <= set(model.played)
    assert all(bids_cards.can_be_stolen(card) for card in won)
    sizes = {len(hand) for hand in model.hands}
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize("table", list(tables()), ids=named)
def test_a_random_match_of_bids_keeps_its_cards_and_ends(table: Table) -> None:
    model = match_of(table, 11)
    seats = model.seats
    choices = random.Random(11)
    while not model.over:
        check_cards(model)
        random_step(model, choices)
    check_cards(model)
    assert len(model.round_points) == model.setting.rounds
    sums = [sum(column) for column in zip(*model.round_points, strict=True)]
    bonus = [30 * (count >= 3) for count in model.minus_fives]
    assert model.totals() == [a + b for a, b in zip(sums, bonus, strict=True)]
    assert sum(model.utility()) == pytest.approx(seats / 2)
    assert len([e for e in model.events(SPECTATOR) if e["event"] == "bonus_scored"]) == sum(
        count >= 3 for count in model.minus_fives
    )


def test_points_are_the_cards_won_where_nothing_doubles_or_moves() -> None:
    # Until the 2X is won, the points of the round are the numbers of the cards held.
    compared = 0
    for seed in range(30):
        model = match_of((4, {"thief": True, "surprise": True}), seed)
        choices = random.Random(seed)
        while model.round == 1:
            random_step(model, choices)
            names = [event["event"] for event in model.events(SPECTATOR)]
            if "points_doubled" in names or model.round > 1:
                break
            values = [sum(bids_cards.number_of(card) or 0 for card in cards) for cards in model.won]
            assert model.running_points() == values
            compared += any(values)
    assert compared > 300


def test_every_special_card_does_its_work_in_random_matches() -> None:
    seen: set[object] = set()
    for seed in range(12):
        model = match_of((6, ALL_CARDS), seed)
        choices = random.Random(seed)
        while not model.over:
            random_step(model, choices)
        seen |= {event["event"] for event in model.events(SPECTATOR)}
    assert seen >= {
        "allied",
        "card_taken",
        "centre_buried",
        "lowest_set",
        "points_doubled",
        "stolen",
        "trick_burnt",
    }


def points_of(table: Table, seeds: range) -> Iterator[tuple[bids.Bids, random.Random]]:
    """A random point of a random match for every seed."""
    for seed in seeds:
        choices = random.Random(seed)
        model = match_of(table, seed)
        for _ in range(choices.randrange(model.setting.hand * model.seats * 2)):
            random_step(model, choices)
        yield model, choices


def another_world(model: bids.Bids, viewer: int, choices: random.Random) -> World:
    """The hands dealt anew from what the viewer can't place, with as many blacks and the Ally."""
    unseen = unseen_in(history_of(model, viewer))
    size = sum(unseen.sizes)
    hidden = [card for seat, hand in enumerate(model.hands) if unseen.sizes[seat] for card in hand]
    blacks = [card for card in unseen.cards if bids_cards.is_black(card)]
    coloured = [card for card in unseen.cards if card in model.setting.coloured]
    dealt = choices.sample(blacks, sum(bids_cards.is_black(card) for card in hidden))
    dealt += [card for card in unseen.cards if card == "Ally"]
    dealt += choices.sample(coloured, size - len(dealt))
    choices.shuffle(dealt)
    hands = []
    for seat, hand in enumerate(model.hands):
        drawn = [dealt.pop() for _ in range(unseen.sizes[seat])]
        hands.append(tuple(bids_cards.in_order(drawn or hand)))
    return tuple(hands)


def with_shuffled_pile(model: bids.Bids, script: Script, choices: random.Random) -> Script:
    """The script with the pile's cards that nobody has seen in another order."""
    order = script["pile", model.round, 0]
    assert isinstance(order, list)
    hidden = len([card for card in model.pile if card not in model.buried])
    unseen = order[len(order) - hidden :]
    choices.shuffle(unseen)
    return {**script, ("pile", model.round, 0): order[: len(order) - hidden] + unseen}


@pytest.mark.parametrize(
    "table",
    [(3, {}), (4, {**ALL_CARDS, "ally": True}), (5, COLOURED), (6, ALL_CARDS)],
    ids=named,
)
def test_views_of_bids_tell_nothing_of_hands_pile_and_left_over(table: Table) -> None:
    differed = piles = 0
    for model, choices in points_of(table, range(12)):
        for viewer in range(SPECTATOR, model.seats):
            history = history_of(model, viewer)
            world = another_world(model, viewer, choices)
            assert consistent(history, world, viewer)
            script, actions = script_of(history, world)
            script = with_shuffled_pile(model, script, choices)
            other = bids.Bids.with_deal(model.seats, model.options, script)
            for seat, action in actions:
                other.play(seat, action)
            assert other.view(viewer) == model.view(viewer)
            assert other.events(viewer) == model.events(viewer)
            assert other.to_act() == model.to_act()
            if viewer in model.to_act():
                assert other.legal(viewer) == model.legal(viewer)
            differed += true_world(other) != true_world(model)
            piles += other.pile != model.pile
    assert differed > 20
    assert piles > 20


def test_worlds_of_bids_are_every_hand_the_counts_allow() -> None:
    checked = with_blacks = 0
    for seed in range(30):
        model = match_of((3, {"surprise": True, "thief": True, "lowest": True}), seed)
        choices = random.Random(seed)
        while model.round == 1 and len(model.hands[0]) + len(model.hands[2]) > 3:
            random_step(model, choices)
        viewer = seed % 4 - 1
        if viewer == SPECTATOR and sum(map(len, model.hands)) > 4:
            continue
        history = history_of(model, viewer)
        unseen = unseen_in(history)
        # How many blacks the unseen hands hold is known: one was dealt.
        shown = [e["card"] for e in model.events(SPECTATOR) if e["event"] == "bid_made"]
        mine = [] if viewer == SPECTATOR else model.hands[viewer]
        blacks = 1 - sum(bids_cards.is_black(str(card)) for card in [*shown, *mine])
        black_cards = sum(bids_cards.is_black(card) for card in unseen.cards)
        size = sum(unseen.sizes)
        expected = comb(black_cards, blacks) * comb(len(unseen.cards) - black_cards, size - blacks)
        expected *= factorial(size) // prod(factorial(part) for part in unseen.sizes)
        worlds = enumerate_worlds(history)
        assert len(worlds) == expected
        assert set(worlds.values()) == {1}
        assert true_world(model) in worlds
        checked += 1
        with_blacks += blacks
    assert checked > 20
    assert with_blacks > 2


def test_a_world_of_bids_with_a_card_too_many_or_one_seen_is_none() -> None:
    model = match_of((4, ALL_CARDS), 5)
    choices = random.Random(5)
    for _ in range(17):
        random_step(model, choices)
    for viewer in range(SPECTATOR, 4):
        history = history_of(model, viewer)
        world = true_world(model)
        assert consistent(history, world, viewer)
        assert not consistent(history, (*world[1:], world[0]), viewer)
        seen = model.played[0]
        assert not consistent(history, ((seen, *world[0][1:]), *world[1:]), viewer)
        assert not consistent(history, (world[0][1:], *world[1:]), viewer)
        pile = [card for card in model.pile if card in ("Lowest", "Thief")]
        for card in pile:
            assert not consistent(history, ((card, *world[0][1:]), *world[1:]), viewer)


def test_bids_replayed_in_its_true_world_is_the_match_that_was_seen() -> None:
    for seed in range(4):
        model = new_model("bids", 5, ALL_CARDS, seed_bytes(seed))
        choices = random.Random(seed)
        while not model.over:
            if choices.random() < 0.05:
                for viewer in (SPECTATOR, 2):
                    other = replay_in(history_of(model, viewer), true_world(model))
                    assert other.view(viewer) == model.view(viewer)
            random_step(model, choices)
