"""Hidden worlds of Mister Bill that the whole public history leaves open.

`worlds_by_history` follows all the worlds that there can be through everything the viewer was told
in the round, joint facts and dealt pairs included. The weight is the number of physical deals times
that of the draws and gifts that lead there, each card of a hand counted as one way to draw or give.
Facts are part of that knowledge: its worlds are among those of `worlds_by_facts`, not always all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import comb

from tests.reference.mister_bill import MisterBill, in_order
from tests.reference.mister_bill_worlds import (
    WORLDS_MAX,
    Seen,
    World,
    number_in,
    round_events,
    texts_in,
)


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
    events = round_events(model, viewer)
    pasts = _dealt(model, events)
    position, still_in = 0, model.seats
    while position < len(events):
        event = events[position]
        batch = [event]
        if event["event"] in ("gave", "hand_passed"):
            batch = batch_of(events[position:], still_in)
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
            known = Counter(texts_in(event["kinds"]))
    for event in dealt:
        longer = []
        for hands, left, ways in partial:
            if "kinds" in event:
                hand = Counter(texts_in(event["kinds"]))
                choices = [(hand, 1)]
            else:
                owner_is_next = any("kinds" in later for later in dealt[len(hands) + 1 :])
                free = left - known if owner_is_next else left
                choices = list(_hands(sorted(free.items()), number_in(event["count"])))
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


def batch_of(events: list[Seen], still_in: int) -> list[Seen]:
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
            hand, kind = hands[number_in(event["seat"])], str(event["kind"])
            if hand.count(kind) >= number:
                for _ in range(number):
                    hand.remove(kind)
                yield hands, ()
        case "drew":
            yield from _given(hands, [{**event, "to": event["seat"]}])
        case "gave":
            yield from _given(hands, batch)
        case "hands_swapped":
            one, other = number_in(event["first"]), number_in(event["second"])
            hands[one], hands[other] = hands[other], hands[one]
            if event.get("kinds") in (None, [hands[one], hands[other]]):
                yield hands, ()
        case "hand_passed":
            for passed in batch:
                hand = list(world[number_in(passed["from"])])
                if passed.get("kinds") not in (None, hand):
                    return
                hands[number_in(passed["to"])] = hand
            yield hands, ()
        case "bills_shown":
            if [hand.count("mister_bill") for hand in hands] == event["counts"]:
                yield hands, ()
        case "went_out":
            if not hands[number_in(event["seat"])]:
                yield hands, ()
        case _:
            yield hands, ()


def _given(hands: list[list[str]], gifts: list[Seen]) -> Iterator[Changed]:
    """Every choice of one card for each gift, all out of the hands as they are."""
    if not gifts:
        yield [list(hand) for hand in hands], ()
        return
    gift = gifts[0]
    giver, taker = number_in(gift["from"]), number_in(gift["to"])
    for place, kind in enumerate(hands[giver]):
        if gift.get("kind") not in (None, kind):
            continue
        for changed, secrets in _given(hands, gifts[1:]):
            changed[giver].remove(kind)
            changed[taker].append(kind)
            yield changed, ((kind, place), *secrets)
