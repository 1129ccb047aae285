"""Matches of Mister Bill that look the same to one viewer and in which others hold other cards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from tests.reference.chance import Outcome, Script
from tests.reference.mister_bill import A, MisterBill, in_order
from tests.reference.mister_bill_histories import Past, batch_of
from tests.reference.mister_bill_worlds import Seen, World, number_in, round_events
from tests.reference.model import IllegalMove

Actions = list[tuple[int, str]]


def match_of(model: MisterBill, viewer: int, world: World, past: Past) -> MisterBill:
    """The match that went the way of `past`, everything the viewer was told being the same.

    Gifts of others that are not shown yet are the lowest card they hold.
    """
    events = round_events(model, viewer)
    secrets = list(past.secrets)
    moves: dict[int, tuple[str, int]] = {}
    for number, event in enumerate(events):
        if event["event"] in ("drew", "gave"):
            moves[number] = secrets.pop(0)
    return _match(model, events, past.deal, moves, world)


def _match(
    model: MisterBill,
    events: list[Seen],
    deal: Sequence[Sequence[str]],
    moves: Mapping[int, tuple[str, int]],
    world: World,
) -> MisterBill:
    script = _script_before(model)
    order = list(_dealt_order(model))
    for seat, hand in enumerate(deal):
        places = [
            number
            for number in range(len(order))
            if (model.dealer + 1 + number) % model.seats == seat
        ]
        for place, card in zip(places, hand, strict=True):
            order[place] = card
    script["deal", model.round, 0] = order
    turns = -1
    for number, event in enumerate(events):
        if event["event"] == "drew":
            turns += 1
            active = number_in(event["seat"])
            script["draw", model.round, turns] = moves[number][1]
        if event["event"] == "gave" and not _was_committed(events, number):
            index = 2 * turns + (event["from"] == active)
            script["blind", model.round, index] = moves[number][1]
    match = MisterBill.with_deal(model.seats, model.options, script, deck=model.deck)
    actions = [action for earlier in model.actions[:-1] for action in earlier]
    for seat, action in actions + _actions(events, moves, world):
        match.play(seat, action)
    return match


def _actions(events: list[Seen], moves: Mapping[int, tuple[str, int]], world: World) -> Actions:
    """The actions of the round, gifts as in `moves`, or out of the world if still to come."""
    actions: Actions = []
    for number, event in enumerate(events):
        match event["event"]:
            case "declined":
                actions.append((number_in(event["seat"]), "decline"))
            case "waiter_played":
                words = ["play", str(event["kind"])[-1]]
                if event["target"] is not None:
                    words.append(str(event["target"]))
                actions.append((number_in(event["seat"]), " ".join(words)))
            case "gift_committed":
                seat = number_in(event["seat"])
                kind = event.get("kind") or _kind_given(events, number, moves) or world[seat][0]
                actions.append((seat, f"give {kind}"))
    return actions


def _kind_given(
    events: list[Seen], committed: int, moves: Mapping[int, tuple[str, int]]
) -> str | None:
    """What the seat that committed at that event gave, if the gifts have been carried out."""
    seat = events[committed]["seat"]
    for number in range(committed + 1, len(events)):
        if events[number]["event"] == "gave" and events[number]["from"] == seat:
            return moves[number][0]
    return None


def _was_committed(events: list[Seen], gave: int) -> bool:
    """Whether the gift was chosen (or taken blindly) by its giver."""
    for event in reversed(events[:gave]):
        if event["event"] == "gift_committed":
            return True
        if event["event"] == "waiter_played":
            assert event["kind"] == A
            return False
    raise AssertionError("no waiter was played before the gift")


def exchanged(model: MisterBill, viewer: int, rng: Random) -> MisterBill | None:
    """A match that is the same to the viewer, two hidden cards having changed places all along.

    The cards moved as they did; None if the chosen two would have shown.
    """
    events = round_events(model, None)
    order = list(_dealt_order(model))
    tracked = _Tracked(model, events, order)
    hidden = [card for seat, hand in enumerate(tracked.hands) if seat != viewer for card in hand]
    if len(hidden) < 2:
        return None
    one, other = rng.sample(hidden, 2)
    order[one], order[other] = order[other], order[one]
    try:
        deal, moves, world = tracked.relabelled(order)
        match = _match(model, _without_open_gifts(events, viewer), deal, moves, world)
    except (IllegalMove, ValueError):
        return None
    return match if match.events(viewer) == model.events(viewer) else None


def _without_open_gifts(events: list[Seen], viewer: int) -> list[Seen]:
    """The events, what other seats have committed left open."""
    return [
        {key: value for key, value in event.items() if key != "kind"}
        if event["event"] == "gift_committed" and event["seat"] != viewer
        else event
        for event in events
    ]


class _Tracked:
    """The cards of a round, each followed by its number in the deal through all that happened."""

    def __init__(self, model: MisterBill, events: list[Seen], order: Sequence[str]) -> None:
        self.model = model
        self.events = events
        self.order = list(order)
        self.moved: dict[int, int] = {}
        self.before: dict[int, list[int]] = {}
        self.hands: list[list[int]] = [
            [
                number
                for number in range(len(order))
                if (model.dealer + 1 + number) % model.seats == seat
            ]
            for seat in range(model.seats)
        ]
        self.deal = [list(hand) for hand in self.hands]
        self._follow()

    def _follow(self) -> None:
        number, still_in = 0, self.model.seats
        while number < len(self.events):
            event = self.events[number]
            batch = [event]
            if event["event"] in ("gave", "hand_passed"):
                batch = batch_of(self.events[number:], still_in)
            self._step(event, batch, number)
            still_in -= event["event"] == "went_out"
            number += len(batch)

    def _step(self, event: Seen, batch: list[Seen], number: int) -> None:
        match event["event"]:
            case "pair_laid":
                self._take(number_in(event["seat"]), str(event["kind"]))
                self._take(number_in(event["seat"]), str(event["kind"]))
            case "waiter_played":
                self._take(number_in(event["seat"]), str(event["kind"]))
            case "drew":
                self._give([{**event, "to": event["seat"]}], number)
            case "gave":
                self._give(batch, number)
            case "hands_swapped":
                one, other = number_in(event["first"]), number_in(event["second"])
                self.hands[one], self.hands[other] = self.hands[other], self.hands[one]
            case "hand_passed":
                before = list(self.hands)
                for passed in batch:
                    self.hands[number_in(passed["to"])] = before[number_in(passed["from"])]

    def _take(self, seat: int, kind: str) -> int:
        card = next(card for card in self.hands[seat] if self.order[card] == kind)
        self.hands[seat].remove(card)
        return card

    def _give(self, gifts: list[Seen], number: int) -> None:
        arrivals = []
        for offset, gift in enumerate(gifts):
            self.before[number + offset] = list(self.hands[number_in(gift["from"])])
        for offset, gift in enumerate(gifts):
            card = self._take(number_in(gift["from"]), str(gift["kind"]))
            self.moved[number + offset] = card
            arrivals.append((number_in(gift["to"]), card))
        for taker, card in arrivals:
            self.hands[taker].append(card)

    def relabelled(
        self, order: Sequence[str]
    ) -> tuple[list[list[str]], dict[int, tuple[str, int]], World]:
        """The deal, the moves and the world if the cards are those of another order."""
        moves = {}
        for number, card in self.moved.items():
            hand = in_order([order[other] for other in self.before[number]])
            moves[number] = (order[card], hand.index(order[card]))
        deal = [[order[card] for card in hand] for hand in self.deal]
        world = tuple(tuple(in_order([order[card] for card in hand])) for hand in self.hands)
        return deal, moves, world


def _dealt_order(model: MisterBill) -> tuple[str, ...]:
    value = _outcome(model, "deal").value
    assert isinstance(value, tuple)
    return value


def _outcome(model: MisterBill, purpose: str) -> Outcome:
    return next(
        outcome
        for outcome in model.outcomes
        if outcome.purpose == purpose and outcome.round == model.round
    )


def _script_before(model: MisterBill) -> Script:
    """Everything chance gave in the match, the unseen of the round in progress left out."""
    return {
        (outcome.purpose, outcome.round, outcome.index): (
            list(outcome.value) if isinstance(outcome.value, tuple) else outcome.value
        )
        for outcome in model.outcomes
        if outcome.round < model.round or outcome.purpose in ("dealer", "teams")
    }
