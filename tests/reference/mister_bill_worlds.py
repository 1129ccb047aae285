"""Hidden worlds of Mister Bill that the facts on record leave open, and what each weighs.

A world is what every seat holds, a tuple in kind order a seat.

`worlds_by_facts` is "exact with respect to the facts recorded" (MB-27). Known are the viewer's own
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
  is left to be named, and no kind stands at a place behind its end. The lost cards of a hand may
  have left play since, so there are places for all held kinds that can be gone.

Which worlds have a weight at all doesn't depend on the last two points: for every j, at most j of
the held kinds with a count up to j are gone, and at most j of the absent kinds with a count up to j
have come. `fits` is that test. While a single hand has a record with counts, of losses alone or of
gains alone, the weights are the true numbers of deals and draws. The lists of two hands are chosen
apart even where the card lost here is the one gained there: that would be a joint fact (MB-27).
`Weight` keeps the three factors apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from math import factorial
from typing import NamedTuple

from tests.reference.mister_bill import MisterBill, in_order
from tests.reference.mister_bill_facts import Record
from tests.reference.model import SPECTATOR

World = tuple[tuple[str, ...], ...]
Seen = dict[str, object]
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
    room = max(elsewhere, sum(count > 0 for count in record.held.values()))
    lost = min(max(record.held.values(), default=0), room)
    others_lost = max(lost - len(gone), 0)
    free = [kind for kind in hand if kind not in record.held and kind not in record.absent]
    others = len(free) + others_lost
    gained = min(max(record.absent.values(), default=0), others + len(come))
    losses = _placings([min(count, room) for count in gone])
    gains = _placings([min(count, others + len(come)) for count in come])
    return (
        losses * _lists(room - len(gone), others_lost),
        gains * _lists(others, max(gained - len(come), 0)),
    )


def _lists(cards: int, length: int) -> int:
    """Lists of that many different cards, as long as the cards last."""
    ways = 1
    for place in range(min(cards, length)):
        ways *= cards - place
    return ways


def cards_in_play(model: MisterBill) -> Counter[str]:
    """The cards in all hands together, from what everybody saw."""
    left = Counter(model.deck)
    for event in round_events(model, SPECTATOR):
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
    sizes, records = numbers_in(view["hand_sizes"]), _records(view["facts"])
    unseen = cards_in_play(model)
    own: list[str] = []
    if viewer != SPECTATOR:
        own = texts_in(items_in(view["hands"])[viewer])
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


# Reading a match


def true_world(model: MisterBill) -> World:
    return tuple(tuple(hand) for hand in model.hands)


def round_events(model: MisterBill, viewer: int | None) -> list[Seen]:
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


def _records(value: object) -> list[Record]:
    records = []
    for shown in items_in(value):
        assert isinstance(shown, dict)
        held, absent = (
            {str(kind): number_in(count) for kind, count in shown[name]}
            for name in ("held", "absent")
        )
        records.append(Record(held, absent))
    return records


def number_in(value: object) -> int:
    assert isinstance(value, int)
    return value


def items_in(value: object) -> list[object]:
    assert isinstance(value, list)
    return value


def numbers_in(value: object) -> list[int]:
    return [number_in(item) for item in items_in(value)]


def texts_in(value: object) -> list[str]:
    return [str(item) for item in items_in(value)]
