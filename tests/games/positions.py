"""Points of random matches, on the compiled rules and the reference at once; equal-view pairs.

A pair is made by the reference: hidden cards or dice change places, the public actions are
replayed, and the reference's own views and events have to be equal for the viewer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from tavolata.ext.core.game import Game
from tavolata.ext.core.match import Match
from tests.games.engine import FastEngine, new_fast
from tests.games.mister_bill import unseen as mister_bill
from tests.games.tables import Setting
from tests.reference.chance import Script, seed_bytes
from tests.reference.mister_bill import MisterBill
from tests.reference.model import Model
from tests.reference.registry import AnyModel, new_model
from tests.reference.worlds import (
    ORDERS,
    Actions,
    History,
    World,
    consistent,
    history_of,
    script_of,
    true_world,
    unseen_in,
)

OPEN_HANDS = ("cafe_international",)
"""Games in which only the order of a bag is hidden."""


@dataclass(frozen=True)
class Point:
    """A point of a match, on both."""

    fast: FastEngine
    model: AnyModel

    @property
    def match(self) -> Match:
        return self.fast.match


def random_points(
    game: str, setting: Setting, seed: int, *, mostly_first: bool = False
) -> Iterator[Point]:
    """Every decision of a random match in turn; the point moves on, so copy what is to stay.

    mostly_first: nine actions of ten are the first legal one. Then alike cards, the high ones of
    two decks, are left at the end of a round, and many seats have shown what they are out of.
    """
    seats, options = setting
    point = Point(
        new_fast(game, seats, options, seed_bytes(seed)),
        new_model(game, seats, options, seed_bytes(seed)),
    )
    choice = Random(f"{seed} moves")
    while not point.model.over:
        yield point
        seat = choice.choice(sorted(point.model.to_act()))
        actions = point.model.legal(seat)
        action = choice.choice(actions)
        if mostly_first and choice.random() < 0.9:
            action = actions[0]
        point.model.play(seat, action)
        point.fast.play(seat, action)


def holdings(game: Game, state: bytes) -> World:
    """What every seat holds in a state with nothing blanked."""
    held = []
    for seat in range(game.seat_count):
        view = game.view(state, seat)
        hands = getattr(view, "hands", None) or getattr(view, "dice", None)
        assert hands is not None, f"{game.spec.id} has neither hands nor dice in its view"
        held.append(tuple(hands[seat]))
    return tuple(held)


def exchanged_match(point: Point, viewer: int, choice: Random) -> Match | None:
    """Another match that the viewer can't tell from this one, or None if none was found.

    Of the others' hidden cards or dice (and the bag's) some have changed places, open bids of
    others are different ones, and so is the seed of all chance still to come.
    """
    history = history_of(point.model, viewer)
    if isinstance(point.model, MisterBill):
        return mister_bill.exchanged_match(point.model, viewer, choice)
    if history.game in OPEN_HANDS:
        return _with_another_bag(point, history, choice)
    for swaps in (6, 3, 2, 1, 1, 1):
        world = _swapped(point.model, history, swaps, choice)
        if world == true_world(point.model) or not consistent(history, world, viewer):
            continue
        script, actions = script_of(history, world)
        actions = _with_open_bids(point.model, viewer, actions, choice)
        _confirm_equal(point.model, _replayed(history, script, actions), viewer)
        seed = choice.randbytes(32)
        engine = new_fast(history.game, history.seats, history.options, seed, script)
        for seat, action in actions:
            engine.play(seat, action)
        return engine.match
    return None


def _with_another_bag(point: Point, history: History, choice: Random) -> Match | None:
    """The match with the bag in another order, where all else is open."""
    script, actions = script_of(history, true_world(point.model))
    bag = script["bag", 0, 0]
    size = point.model.view(-1)["bag_size"]
    assert isinstance(bag, list)
    assert isinstance(size, int)
    rest = choice.sample(bag[-size:], size)
    script["bag", 0, 0] = [*bag[:-size], *rest]
    _confirm_equal(point.model, _replayed(history, script, actions), history.viewer)
    engine = new_fast(history.game, history.seats, history.options, choice.randbytes(32), script)
    for seat, action in actions:
        engine.play(seat, action)
    return engine.match


def _swapped(model: AnyModel, history: History, swaps: int, choice: Random) -> World:
    """The true world after some cards or dice have changed places, the viewer's own staying."""
    unseen = unseen_in(history)
    places = [list(hand) for hand in true_world(model)]
    bag = list(unseen.cards)
    hidden = [seat for seat in range(history.seats) if unseen.sizes[seat]]
    for seat in hidden:
        for card in places[seat]:
            bag.remove(card)
    pools = [places[seat] for seat in hidden] + ([bag] if bag else [])
    for _ in range(swaps):
        if len(pools) < 2:
            break
        one, other = choice.sample(pools, 2)
        i, j = choice.randrange(len(one)), choice.randrange(len(other))
        one[i], other[j] = other[j], one[i]
    order = {card: place for place, card in enumerate(ORDERS[history.game])}
    return tuple(tuple(sorted(hand, key=order.__getitem__)) for hand in places)


def _with_open_bids(model: AnyModel, viewer: int, actions: Actions, choice: Random) -> Actions:
    """Other seats' bids that are still secret, as any others.

    While bids are open they are the last actions of the match.
    """
    shown = model.view(viewer)
    if shown.get("phase") != "bid" or "committed" not in shown:
        return actions
    committed = shown["committed"]
    hand = shown["hand"]
    assert isinstance(committed, list)
    assert isinstance(hand, int)
    past = len(actions) - len(committed)
    return actions[:past] + [
        (seat, action if seat == viewer else f"bid {choice.randint(0, hand)}")
        for seat, action in actions[past:]
    ]


def _replayed(history: History, script: Script, actions: Actions) -> Model:
    model = new_model(history.game, history.seats, history.options, script=script)
    for seat, action in actions:
        model.play(seat, action)
    return model


def _confirm_equal(one: AnyModel, other: Model, viewer: int) -> None:
    assert one.view(viewer) == other.view(viewer), "the reference's views of the pair differ"
    assert one.events(viewer) == other.events(viewer), "the reference's events of the pair differ"
