"""Enumerated worlds against closed forms, and equal views of worlds nobody could tell apart."""

from __future__ import annotations

import random
from math import comb, factorial

import pytest

from tests.reference import mino_dice
from tests.reference.chance import Script, seed_bytes
from tests.reference.counts import play_first_legal
from tests.reference.model import SPECTATOR
from tests.reference.registry import AnyModel, new_model
from tests.reference.worlds import (
    World,
    consistent,
    enumerate_worlds,
    history_of,
    physical_deal_count,
    replay_in,
    true_world,
    unseen_in,
)


def play(model: AnyModel, *moves: str) -> None:
    for move in moves:
        seat, _, action = move.partition(" ")
        model.play(int(seat), action)


def play_randomly(model: AnyModel, steps: int, seed: int) -> None:
    choices = random.Random(seed)
    for _ in range(steps):
        seat = choices.choice(sorted(model.to_act()))
        model.play(seat, choices.choice(model.legal(seat)))


def test_one_die_each_gives_a_world_its_product_of_dice() -> None:
    model = new_model(
        "mino_dice", 3, {}, script=mino_dice.draw_script(1, [["red"], ["red"], ["gray"]])
    )
    worlds = enumerate_worlds(history_of(model, 0))
    # 35 dice unseen, six of them red, for two places: 35 x 34 physical deals.
    assert sum(worlds.values()) == 35 * 34
    counts = {
        "minotaur": 1,
        "griffin": 3,
        "mermaid": 2,
        "red": 6,
        "yellow": 7,
        "purple": 8,
        "gray": 8,
    }
    for (own, left, right), count in worlds.items():
        assert own == ("red",)
        (a,), (b,) = left, right
        assert count == counts[a] * (counts[b] - (a == b))
    # All pairs but a second minotaur.
    assert len(worlds) == 7 * 7 - 1


def test_a_die_that_did_not_follow_leaves_no_die_of_the_led_colour() -> None:
    dice = [["red", "gray"], ["purple", "yellow"], ["purple", "gray"]]
    script: Script = {("first", 0, 0): 2, **mino_dice.draw_script(2, dice)}
    model = new_model("mino_dice", 3, {}, seed_bytes(2), script)
    play_first_legal(model, 6)
    play(model, "0 bid 0", "1 bid 0", "2 bid 0", "0 roll red", "1 roll purple")
    worlds = enumerate_worlds(history_of(model, 0))
    # Unseen: 36 - 2 own - 1 rolled = 33, of which 6 red. Seat 1 has one, not red; seat 2 two.
    assert all("red" not in world[1] for world in worlds)
    assert sum(worlds.values()) == 27 * comb(32, 2)
    play(model, "2 roll purple")
    worlds = enumerate_worlds(history_of(model, 0))
    # Seat 2 has one die left and has shown that it is not red either: 32 unseen, 26 not red.
    assert sum(worlds.values()) == 26 * 25
    assert true_world(model) in worlds


def test_a_special_die_leaves_everything_open() -> None:
    dice = [["red", "gray"], ["griffin", "red"], ["purple", "gray"]]
    script: Script = {("first", 0, 0): 2, **mino_dice.draw_script(2, dice)}
    model = new_model("mino_dice", 3, {}, seed_bytes(2), script)
    play_first_legal(model, 6)
    play(model, "0 bid 0", "1 bid 0", "2 bid 0", "0 roll red", "1 roll griffin", "2 roll purple")
    worlds = enumerate_worlds(history_of(model, 0))
    # 32 unseen: seat 1 any, seat 2 none of the 6 red; counted from seat 2's place.
    assert sum(worlds.values()) == 26 * 31


@pytest.mark.parametrize("viewer", [SPECTATOR, 0, 1, 2, 3])
def test_open_bids_tell_nothing_and_stay_unknown(viewer: int) -> None:
    model = new_model("mino_dice", 4, {}, seed_bytes(4))
    before = enumerate_worlds(history_of(model, viewer)) if viewer >= 0 else None
    play(model, "3 bid 1", "1 bid 0")
    history = history_of(model, viewer)
    assert consistent(history, true_world(model), viewer)
    if before is not None:
        assert enumerate_worlds(history) == before


def test_hands_left_are_any_split_that_no_void_forbids() -> None:
    rng = random.Random(5)
    checked = 0
    for seed in range(40):
        model = new_model("bouillabaisse", 4, {}, seed_bytes(seed))
        play_randomly(model, 44, seed)
        viewer = rng.randrange(4)
        history = history_of(model, viewer)
        worlds = enumerate_worlds(history)
        voids = model.view(SPECTATOR)["voids"]
        assert isinstance(voids, list)
        # With the voids as the only thing known, every split of the unseen cards that gives no
        # seat a card of a suit it is void of is one world (one deck: all cards differ).
        unseen = unseen_in(history)
        expected = splits(unseen.cards, unseen.sizes, voids)
        assert len(worlds) == expected
        assert set(worlds.values()) == {1}
        assert true_world(model) in worlds
        checked += expected < physical_deal_count(unseen)
    assert checked > 5


def splits(cards: list[str], sizes: list[int], voids: list[list[str]]) -> int:
    """Ways to hand the cards out one by one to seats that have room and no void."""
    if not cards:
        return 1
    total = 0
    for seat, size in enumerate(sizes):
        if size and cards[0][1] not in voids[seat]:
            smaller = [size - (other == seat) for other, size in enumerate(sizes)]
            total += splits(cards[1:], smaller, voids)
    return total


def test_twin_cards_are_told_apart_in_the_counts() -> None:
    rng = random.Random(6)
    twins = 0
    for seed in range(3):
        model = new_model("bouillabaisse", 7, {}, seed_bytes(seed))
        play_randomly(model, 7 * 13, seed)
        viewer = rng.randrange(7)
        history = history_of(model, viewer)
        unseen = unseen_in(history)
        worlds = enumerate_worlds(history)
        for world, count in worlds.items():
            # Six places of one card: a card that is unseen twice makes two physical deals of one.
            pairs = sum(unseen.cards.count(card) == 2 for card in set(unseen.cards))
            assert count == 2**pairs
            assert sorted(card for hand in world for card in hand) == sorted(
                unseen.cards + unseen.known[viewer]
            )
            twins += pairs
    assert twins > 0
    assert factorial(6) == physical_deal_count(unseen)


def test_with_two_players_a_seat_knows_the_one_world_and_a_spectator_does_not() -> None:
    open_deals = 0
    for seed in range(12):
        model = new_model("bouillabaisse", 2, {}, seed_bytes(seed))
        play_randomly(model, 46, seed)
        assert enumerate_worlds(history_of(model, 0)) == {true_world(model): 1}
        assert enumerate_worlds(history_of(model, 1)) == {true_world(model): 1}
        history = history_of(model, SPECTATOR)
        seen = enumerate_worlds(history)
        assert true_world(model) in seen
        unseen = unseen_in(history)
        voids = model.view(SPECTATOR)["voids"]
        assert isinstance(voids, list)
        assert len(seen) == splits(unseen.cards, unseen.sizes, voids)
        open_deals += len(seen) > 1
    assert open_deals > 2


def exchanged(history_world: World, model: AnyModel, rng: random.Random, viewer: int) -> World:
    """The true world with what the viewer can't see dealt anew at random."""
    unseen = unseen_in(history_of(model, viewer))
    cards = list(unseen.cards)
    rng.shuffle(cards)
    hands = []
    for seat, size in enumerate(unseen.sizes):
        own = unseen.known[seat] + [cards.pop() for _ in range(size)]
        hands.append(tuple(own))
    assert [len(hand) for hand in hands] == [len(hand) for hand in history_world]
    return tuple(hands)


@pytest.mark.parametrize(
    ("game", "seats"),
    [
        ("bouillabaisse", 3),
        ("bouillabaisse", 5),
        ("bouillabaisse", 8),
        ("mino_dice", 3),
        ("mino_dice", 6),
    ],
)
def test_worlds_that_differ_only_in_the_unseen_give_equal_views_and_actions(
    game: str, seats: int
) -> None:
    rng = random.Random(seats)
    differed = 0
    for seed in range(30):
        model = new_model(game, seats, {}, seed_bytes(seed))
        play_randomly(model, rng.randrange(seats * 20), seed)
        for viewer in range(-1, seats):
            history = history_of(model, viewer)
            world = exchanged(true_world(model), model, rng, viewer)
            if not consistent(history, world, viewer):
                continue
            other = replay_in(history, world)
            assert other.view(viewer) == model.view(viewer)
            assert other.events(viewer) == model.events(viewer)
            assert other.to_act() == model.to_act()
            if viewer in model.to_act():
                assert other.legal(viewer) == model.legal(viewer)
            differed += any(other.view(seat) != model.view(seat) for seat in range(seats))
    assert differed > 10


@pytest.mark.parametrize("game", ["bouillabaisse", "mino_dice"])
def test_the_true_world_is_consistent_all_through_a_match_and_a_wrong_one_is_not(game: str) -> None:
    model = new_model(game, 3, {}, seed_bytes(12))
    choices = random.Random(12)
    while not model.over:
        if model.turn % 11 == 0:
            for viewer in range(-1, 3):
                history = history_of(model, viewer)
                world = true_world(model)
                assert consistent(history, world, viewer)
                turned = (*world[1:], world[0])
                if viewer >= 0 and turned[viewer] != world[viewer]:
                    assert not consistent(history, turned, viewer)
        seat = choices.choice(sorted(model.to_act()))
        model.play(seat, choices.choice(model.legal(seat)))
    assert consistent(history_of(model, 0), true_world(model), 0)


def test_too_many_worlds_are_refused_by_their_number() -> None:
    model = new_model("bouillabaisse", 4, {}, seed_bytes(1))
    expected = comb(39, 13) * comb(26, 13)
    with pytest.raises(ValueError, match=str(expected)):
        enumerate_worlds(history_of(model, 0))
