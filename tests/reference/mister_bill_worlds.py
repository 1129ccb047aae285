"""Hidden worlds of Mister Bill: from the facts on record, and from the whole public history.

A world is what every seat holds, a tuple in kind order a seat. Two distributions of worlds:

`worlds_by_facts`, "exact with respect to the facts recorded" (MB-27). Known are the viewer's own
hand, the sizes of the hands, the cards that have left play, that no hand holds two of a kind
(MB-11) and the viewer's facts. Cards of a kind are told apart. The weight of a world is the number
of physical deals of the unseen cards that give it, times, for each hidden hand, the number of
unseen draws that the record leaves open (a gift counts as a draw):

- A hand that is recorded with `k` cards lost unseen (the largest count of a held kind) has a list
  of k lost cards, the last one first, all different, none of them in the hand now. A held kind that
  is not in the hand now stands in it at one of the places 1..its own count: it can only have left
  when it was there. With count 0 it is in the hand.
- A hand that is recorded with `g` cards gained unseen (the largest count of an absent kind) has a
  list of g gained cards, the last one first, all different, each of them in the hand now or in the
  list of lost cards. An absent kind that is in the hand now stands in it at one of the places
  1..its own count. With count 0 it is not in the hand. Held kinds were there before: not in it.
- So a gained card may have been lost again, but not the other way round: the record doesn't tell
  the order of gains and losses, and gains are taken to come first.
- Counts can exceed the cards there are, when cards went to and fro: a list then ends when no card
  is left to be named, and the rest of it makes no difference.

Which worlds have a weight at all doesn't depend on the last two points: for every j, at most j of
the held kinds with a count up to j are gone, and at most j of the absent kinds with a count up to j
have come. `fits` is that test. While a single hand has a record with counts, of losses alone or of
gains alone, the weights are the true numbers of deals and draws. The lists of two hands are chosen
apart even where the card lost here is the one gained there: that would be a joint fact (MB-27).
`Weight` keeps the three factors apart.

`worlds_by_history` follows all the worlds that there can be through everything the viewer was told,
joint facts and dealt pairs included. The weight is the number of physical deals times that of the
draws and gifts that lead there, each card of a hand counted as one way to draw or give. Facts are
part of that knowledge, so its worlds are among those of `worlds_by_facts`, and not always all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, factorial
from random import Random
from typing import NamedTuple

from tests.reference.chance import Outcome, Script
from tests.reference.mister_bill import A, MisterBill, in_order
from tests.reference.mister_bill_facts import Record
from tests.reference.model import SPECTATOR, IllegalMove

World = tuple[tuple[str, ...], ...]
Seen = dict[str, object]
Actions = list[tuple[int, str]]
WORLDS_MAX = 300_000

# What is recorded


def fits(record: Record, hand: Sequence[str]) -> bool:
    """Whether a hand satisfies a record: what must have left or come had the chance to."""
    gone, come = _moved(record, hand)
    return _placings(gone) > 0 and _placings(come) > 0


def _moved(record: Record, hand: Sequence[str]) -> tuple[list[int], list[int]]:
    """The counts of the held kinds that are gone and of the absent kinds that have come."""
    gone = [lost for kind, lost in record.held.items() if kind not in hand]
    come = [gained for kind, gained in record.absent.items() if kind in hand]
    return gone, come


def _placings(counts: Sequence[int]) -> int:
    """Ways to give each a place of its own among the places 1..its count."""
    ways = 1
    for taken, count in enumerate(sorted(counts)):
        ways *= max(count - taken, 0)
    return ways


class Weight(NamedTuple):
    """What a world weighs: physical deals, and the ways to name the lost and the gained cards."""

    deals: int
    losses: int
    gains: int

    @property
    def product(self) -> int:
        return self.deals * self.losses * self.gains


def draw_ways(record: Record, hand: Sequence[str], elsewhere: int) -> tuple[int, int]:
    """Lists of lost and of gained cards that lead to the hand, out of `elsewhere` cards not there.

    A list of lost cards leaves the same number of lists of gained cards, whichever it is.
    """
    gone, come = _moved(record, hand)
    lost = max(record.held.values(), default=0)
    gained = max(record.absent.values(), default=0)
    free = [kind for kind in hand if kind not in record.held and kind not in record.absent]
    others_lost = max(lost - len(gone), 0)
    others_gained = max(gained - len(come), 0)
    losses = _placings(gone) * _lists(elsewhere - len(gone), others_lost)
    gains = _placings(come) * _lists(len(free) + others_lost, others_gained)
    return losses, gains


def _lists(cards: int, length: int) -> int:
    """Lists of that many different cards, as long as the cards last."""
    ways = 1
    for place in range(min(cards, length)):
        ways *= cards - place
    return ways


def cards_in_play(model: MisterBill) -> Counter[str]:
    """The cards in all hands together, from what everybody saw."""
    left = Counter(model.deck)
    for event in _round_events(model, SPECTATOR):
        if event["event"] == "pair_laid":
            left[str(event["kind"])] -= 2
        if event["event"] == "waiter_played":
            left[str(event["kind"])] -= 1
    return +left


def worlds_by_facts(model: MisterBill, viewer: int) -> dict[World, Weight]:
    """Every world that the viewer's facts allow, with its weight; ValueError if they are too many.

    Nothing is read but the viewer's view and what has left play.
    """
    view = model.view(viewer)
    sizes, records = _numbers(view["hand_sizes"]), _records(view["facts"])
    unseen = cards_in_play(model)
    own: list[str] = []
    if viewer != SPECTATOR:
        own = _texts(_items(view["hands"])[viewer])
        unseen -= Counter(own)
    hidden = [seat for seat in range(model.seats) if seat != viewer]
    cards = sum(unseen.values())
    physical = 1
    for count in unseen.values():
        physical *= factorial(count)
    worlds: dict[World, Weight] = {}
    for hands in _splits(sorted(unseen.items()), {seat: sizes[seat] for seat in hidden}):
        weight = Weight(physical, 1, 1)
        for seat in hidden:
            losses, gains = draw_ways(records[seat], hands[seat], cards - sizes[seat])
            weight = Weight(physical, weight.losses * losses, weight.gains * gains)
        if weight.product:
            if len(worlds) == WORLDS_MAX:
                raise ValueError(f"more than {WORLDS_MAX} worlds")
            everyone = [own if seat == viewer else hands[seat] for seat in range(model.seats)]
            worlds[tuple(tuple(in_order(hand)) for hand in everyone)] = weight
    return worlds


def _splits(
    unseen: Sequence[tuple[str, int]], room: dict[int, int]
) -> Iterator[dict[int, list[str]]]:
    """Every way to fill the hands so that none gets two of a kind (MB-11)."""
    if not unseen:
        yield {seat: [] for seat in room}
        return
    kind, count = unseen[0]
    for seats in combinations([seat for seat in room if room[seat]], count):
        smaller = {seat: left - (seat in seats) for seat, left in room.items()}
        for hands in _splits(unseen[1:], smaller):
            yield {seat: hand + [kind] * (seat in seats) for seat, hand in hands.items()}


# The whole history


@dataclass(frozen=True)
class Past:
    """How often a world comes about, and one of the ways: the deal, and what moved unseen.

    `secrets` has a (kind, place in the hand) for every `drew` and every `gave`, in their order.
    """

    ways: int
    deal: World
    secrets: tuple[tuple[str, int], ...]


Pasts = dict[World, Past]


def worlds_by_history(model: MisterBill, viewer: int) -> Pasts:
    """Every world that agrees with all the viewer was told in the round; ValueError if too many."""
    events = _round_events(model, viewer)
    pasts = _dealt(model, events)
    position, still_in = 0, model.seats
    while position < len(events):
        event = events[position]
        batch = [event]
        if event["event"] in ("gave", "hand_passed"):
            batch = _batch(events[position:], still_in)
        if event["event"] != "pair_laid":
            # Whoever has a pair lays it down, so a world in which one is left was another one.
            pasts = _without_pairs(pasts) if event["event"] not in BEFORE_PAIRS else pasts
        pasts = _after(pasts, batch)
        still_in -= event["event"] == "went_out"
        position += len(batch)
        if len(pasts) > WORLDS_MAX:
            raise ValueError(f"{len(pasts)} worlds, more than {WORLDS_MAX}")
    return _without_pairs(pasts)


BEFORE_PAIRS = ("round_started", "dealt")


def _dealt(model: MisterBill, events: list[Seen]) -> Pasts:
    """Every deal, seat by seat, with the number of physical ones."""
    dealt = [event for event in events if event["event"] == "dealt"]
    partial: list[tuple[list[tuple[str, ...]], Counter[str], int]] = [([], Counter(model.deck), 1)]
    known: Counter[str] = Counter()
    for event in dealt:
        if "kinds" in event:
            known = Counter(_texts(event["kinds"]))
    for event in dealt:
        longer = []
        for hands, left, ways in partial:
            if "kinds" in event:
                hand = Counter(_texts(event["kinds"]))
                choices = [(hand, 1)]
            else:
                owner_is_next = any("kinds" in later for later in dealt[len(hands) + 1 :])
                free = left - known if owner_is_next else left
                choices = list(_hands(sorted(free.items()), _number(event["count"])))
            for hand, more in choices:
                cards = tuple(in_order(list(hand.elements())))
                longer.append(([*hands, cards], left - hand, ways * more))
        partial = longer
        if len(partial) > WORLDS_MAX:
            raise ValueError(f"{len(partial)} deals, more than {WORLDS_MAX}")
    return {tuple(hands): Past(ways, tuple(hands), ()) for hands, _, ways in partial}


def _hands(left: Sequence[tuple[str, int]], size: int) -> Iterator[tuple[Counter[str], int]]:
    """Hands of that size out of the cards, with the number of physical ones."""
    if not left:
        if size == 0:
            yield Counter(), 1
        return
    kind, count = left[0]
    for taken in range(min(count, size) + 1):
        for hand, ways in _hands(left[1:], size - taken):
            yield hand + Counter({kind: taken}), ways * comb(count, taken)


def _batch(events: list[Seen], still_in: int) -> list[Seen]:
    """The gifts, or the whole hands, that moved at the same time: one from a seat."""
    batch: list[Seen] = []
    for event in events[:still_in]:
        repeated = any(event["from"] == earlier["from"] for earlier in batch if "from" in event)
        if event["event"] != events[0]["event"] or repeated:
            break
        batch.append(event)
    return batch


def _without_pairs(pasts: Pasts) -> Pasts:
    return {
        world: past
        for world, past in pasts.items()
        if all(len(hand) == len(set(hand)) for hand in world)
    }


def _after(pasts: Pasts, batch: list[Seen]) -> Pasts:
    """The worlds after one event, or after several of one moment."""
    after: dict[World, Past] = {}
    for world, past in pasts.items():
        for changed, secrets in _changed(world, batch):
            key = tuple(tuple(in_order(hand)) for hand in changed)
            ways = past.ways + (after[key].ways if key in after else 0)
            after[key] = Past(ways, past.deal, past.secrets + secrets)
    return after


Changed = tuple[list[list[str]], tuple[tuple[str, int], ...]]


def _changed(world: World, batch: list[Seen]) -> Iterator[Changed]:
    """What the world can become by the event; nothing if it can't have happened there."""
    event = batch[0]
    hands = [list(hand) for hand in world]
    match event["event"]:
        case "pair_laid" | "waiter_played":
            number = 2 if event["event"] == "pair_laid" else 1
            hand, kind = hands[_number(event["seat"])], str(event["kind"])
            if hand.count(kind) >= number:
                for _ in range(number):
                    hand.remove(kind)
                yield hands, ()
        case "drew":
            yield from _given(hands, [{**event, "to": event["seat"]}])
        case "gave":
            yield from _given(hands, batch)
        case "hands_swapped":
            one, other = _number(event["first"]), _number(event["second"])
            hands[one], hands[other] = hands[other], hands[one]
            if event.get("kinds") in (None, hands[one] + hands[other]):
                yield hands, ()
        case "hand_passed":
            for passed in batch:
                hand = list(world[_number(passed["from"])])
                if passed.get("kinds") not in (None, hand):
                    return
                hands[_number(passed["to"])] = hand
            yield hands, ()
        case "bills_shown":
            if [hand.count("mister_bill") for hand in hands] == event["counts"]:
                yield hands, ()
        case "went_out":
            if not hands[_number(event["seat"])]:
                yield hands, ()
        case _:
            yield hands, ()


def _given(hands: list[list[str]], gifts: list[Seen]) -> Iterator[Changed]:
    """Every choice of one card for each gift, all out of the hands as they are."""
    if not gifts:
        yield [list(hand) for hand in hands], ()
        return
    gift = gifts[0]
    giver, taker = _number(gift["from"]), _number(gift["to"])
    for place, kind in enumerate(hands[giver]):
        if gift.get("kind") not in (None, kind):
            continue
        for changed, secrets in _given(hands, gifts[1:]):
            changed[giver].remove(kind)
            changed[taker].append(kind)
            yield changed, ((kind, place), *secrets)


# Matches in other worlds


def match_of(model: MisterBill, viewer: int, world: World, past: Past) -> MisterBill:
    """The match that went the way of `past`, everything the viewer was told being the same.

    Gifts of others that are not shown yet are the lowest card they hold.
    """
    events = _round_events(model, viewer)
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
            active = _number(event["seat"])
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
                actions.append((_number(event["seat"]), "decline"))
            case "waiter_played":
                words = ["play", str(event["kind"])[-1]]
                if event["target"] is not None:
                    words.append(str(event["target"]))
                actions.append((_number(event["seat"]), " ".join(words)))
            case "gift_committed":
                seat = _number(event["seat"])
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
    events = _round_events(model, None)
    order = list(_dealt_order(model))
    tracked = _Tracked(model, events, order)
    hidden = [card for seat, hand in enumerate(tracked.hands) if seat != viewer for card in hand]
    if len(hidden) < 2:
        return None
    one, other = rng.sample(hidden, 2)
    order[one], order[other] = order[other], order[one]
    try:
        deal, moves, world = tracked.relabelled(order)
        match = _match(model, events_without_gifts(events, viewer), deal, moves, world)
    except (IllegalMove, ValueError):
        return None
    return match if match.events(viewer) == model.events(viewer) else None


def events_without_gifts(events: list[Seen], viewer: int) -> list[Seen]:
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
                batch = _batch(self.events[number:], still_in)
            self._step(event, batch, number)
            still_in -= event["event"] == "went_out"
            number += len(batch)

    def _step(self, event: Seen, batch: list[Seen], number: int) -> None:
        match event["event"]:
            case "pair_laid":
                self._take(_number(event["seat"]), str(event["kind"]))
                self._take(_number(event["seat"]), str(event["kind"]))
            case "waiter_played":
                self._take(_number(event["seat"]), str(event["kind"]))
            case "drew":
                self._give([{**event, "to": event["seat"]}], number)
            case "gave":
                self._give(batch, number)
            case "hands_swapped":
                one, other = _number(event["first"]), _number(event["second"])
                self.hands[one], self.hands[other] = self.hands[other], self.hands[one]
            case "hand_passed":
                before = list(self.hands)
                for passed in batch:
                    self.hands[_number(passed["to"])] = before[_number(passed["from"])]

    def _take(self, seat: int, kind: str) -> int:
        card = next(card for card in self.hands[seat] if self.order[card] == kind)
        self.hands[seat].remove(card)
        return card

    def _give(self, gifts: list[Seen], number: int) -> None:
        arrivals = []
        for offset, gift in enumerate(gifts):
            self.before[number + offset] = list(self.hands[_number(gift["from"])])
        for offset, gift in enumerate(gifts):
            card = self._take(_number(gift["from"]), str(gift["kind"]))
            self.moved[number + offset] = card
            arrivals.append((_number(gift["to"]), card))
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


# Reading a match


def true_world(model: MisterBill) -> World:
    return tuple(tuple(hand) for hand in model.hands)


def _round_events(model: MisterBill, viewer: int | None) -> list[Seen]:
    """The events of the round in progress, as the viewer got them; None sees everything."""
    if viewer is None:
        streams = [model.events(seat) for seat in range(SPECTATOR, model.seats)]
        events = [
            {key: value for event in same for key, value in event.items()}
            for same in zip(*streams, strict=True)
        ]
    else:
        events = model.events(viewer)
    start = max(i for i, event in enumerate(events) if event["event"] == "round_started")
    return events[start:]


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


def _records(value: object) -> list[Record]:
    records = []
    for shown in _items(value):
        assert isinstance(shown, dict)
        held, absent = (
            {str(kind): _number(count) for kind, count in shown[name]}
            for name in ("held", "absent")
        )
        records.append(Record(held, absent))
    return records


def _number(value: object) -> int:
    assert isinstance(value, int)
    return value


def _items(value: object) -> list[object]:
    assert isinstance(value, list)
    return value


def _numbers(value: object) -> list[int]:
    return [_number(item) for item in _items(value)]


def _texts(value: object) -> list[str]:
    return [str(item) for item in _items(value)]
