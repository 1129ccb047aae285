"""Mister Bill's reference: whole matches, the facts that seats go on knowing, and hidden worlds."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations, permutations, product

import pytest

from tests.reference.chance import Outcome, seed_bytes
from tests.reference.mister_bill import BILL, OPTIONS, MisterBill
from tests.reference.mister_bill_facts import Record
from tests.reference.mister_bill_histories import worlds_by_history
from tests.reference.mister_bill_twins import exchanged, match_of
from tests.reference.mister_bill_worlds import (
    World,
    cards_in_play,
    draw_ways,
    fits,
    true_world,
    worlds_by_facts,
)
from tests.reference.model import SPECTATOR

SETTINGS = [
    (seats, dict(zip(OPTIONS, values, strict=True)))
    for seats in range(3, 9)
    for values in product(*OPTIONS.values())
]
# Two of a kind at most and few kinds: everything can be gone through.
SMALL_DECK = {
    "sushi": 2,
    "omelette": 2,
    "waiter_a": 1,
    "waiter_b": 1,
    "waiter_d": 2,
    "waiter_e": 1,
    "mister_bill": 1,
}
SHIFT_DECK = {"sushi": 2, "waiter_b": 1, "waiter_c": 2, "waiter_e": 2, BILL: 1, "shift_change": 2}
THREES_DECK = {"sushi": 3, "omelette": 3, "waiter_c": 2, "waiter_d": 1, BILL: 1}
SMALL_DECKS = [SMALL_DECK, SHIFT_DECK, THREES_DECK]


def random_action(model: MisterBill, choices: random.Random) -> tuple[int, str]:
    """Any action of any seat to act; waiters more often than their share."""
    seat = choices.choice(sorted(model.to_act()))
    names = model.legal(seat)
    if len(names) > 1 and names[0] == "decline" and choices.random() < 0.6:
        names = names[1:]
    return seat, choices.choice(names)


def random_positions(model: MisterBill, seed: int) -> Iterator[MisterBill]:
    """Every decision of a random match; the model moves on."""
    choices = random.Random(seed)
    while not model.over:
        yield model
        model.play(*random_action(model, choices))


def small_match(number: int, seats: int = 3) -> MisterBill:
    values = random.Random(number)
    options = {name: values.choice(list(allowed)) for name, allowed in OPTIONS.items()}
    deck = SMALL_DECKS[number % len(SMALL_DECKS)]
    return MisterBill(seats, options, seed_bytes(number), deck=deck)


def check_position(model: MisterBill) -> None:
    """What must be so at every decision."""
    assert cards_in_play(model) == Counter(card for hand in model.hands for card in hand)
    for seat, hand in enumerate(model.hands):
        assert len(set(hand)) == len(hand), "MB-11"
        assert bool(hand) == (seat not in model.out), "MB-19"
    assert sum(hand.count(BILL) for hand in model.hands) % 2 == 1, "MB-22"
    assert 0 <= model.stall < 10 * model.seats
    assert len(model.completed) < len(model.teams) - 1
    for (observer, holder), record in model.facts.records.items():
        assert observer != holder
        assert fits(record, model.hands[holder]), (observer, holder, record.held, record.absent)
        assert not record.held.keys() & record.absent.keys()
        if holder in model.out:
            assert not record.held
            assert not record.absent


@pytest.mark.parametrize("seats", range(3, 9))
def test_with_all_options_a_match_ends_and_the_truth_satisfies_every_fact(seats: int) -> None:
    for number, (_, options) in enumerate(s for s in SETTINGS if s[0] == seats):
        model = MisterBill(seats, options, seed_bytes(100 * seats + number))
        for position in random_positions(model, number):
            check_position(position)
        assert len(model.round_points) == 3
        assert model.totals() == [sum(points) for points in zip(*model.round_points, strict=True)]
        check_points(model, options)


def check_points(model: MisterBill, options: dict[str, object]) -> None:
    """What a round pays out, unless it stalled: the values of all teams but the last."""
    scored = [event for event in model.events(SPECTATOR) if event["event"] == "round_scored"]
    for number, (points, event) in enumerate(zip(model.round_points, scored, strict=True), 1):
        if event["stalled"]:
            continue
        if number == 3:
            paid = [8, 6, 5, 4, 3, 2, 1][: model.seats - 1]
            assert sorted(points, reverse=True) == [*paid, 0]
        elif options["teams"] == "solo":
            paid = [4, 4, 2, 2, 1, 1, 0][: model.seats - 1]
            assert sorted(points, reverse=True) == [*paid, 0]
        else:
            allowed = [4, 2, 1][: (model.seats + 1) // 2 - 1]
            assert set(points) == {*allowed, 0}
            assert all(points.count(value) <= 2 for value in allowed)


def test_seats_that_always_decline_reach_the_end_too() -> None:
    for seats, seed in product(range(3, 9), range(4)):
        model = MisterBill(seats, {}, seed_bytes(seed))
        while not model.over:
            model.play(model.active, "decline")
        assert len(model.round_points) == 3


def test_the_facts_stay_true_when_one_of_three_cards_of_a_kind_stays() -> None:
    # With C a seat can get two of a kind that it has: one stays, though a pair was laid down.
    stayed = 0
    deck = {**THREES_DECK, "pizza": 3}
    for number in range(25):
        model = MisterBill(5, {"teams": "solo"}, seed_bytes(number), deck=deck)
        for position in random_positions(model, number):
            check_position(position)
            stayed += keeps_one_of_three(position)
    assert stayed > 0


def keeps_one_of_three(model: MisterBill) -> bool:
    """Whether the last gifts gave a seat a third card that it still holds a draw later."""
    events = [(event.name, event.public) for event in model.log._events[-12:]]
    names = [name for name, _ in events]
    if "gave" not in names or names[-1] != "drew":
        return False
    laid = events[len(names) - names[::-1].index("gave") :]
    return any(
        name == "pair_laid" and shown["kind"] in model.hands[_seat(shown)]
        for name, shown in laid
        if laid[-1][1]["seat"] != shown.get("seat")
    )


def _seat(shown: dict[str, object]) -> int:
    seat = shown["seat"]
    assert isinstance(seat, int)
    return seat


# Worlds by the facts


def test_what_history_allows_the_facts_allow_and_the_truth_is_in_both() -> None:
    narrower = several = 0
    for number in range(6):
        for position in random_positions(small_match(number, 4 if number == 1 else 3), number):
            if position.turn % 4:
                continue
            for viewer in range(SPECTATOR, position.seats):
                by_history = worlds_by_history(position, viewer)
                by_facts = worlds_by_facts(position, viewer)
                assert true_world(position) in by_history
                assert by_history.keys() <= by_facts.keys()
                several += len(by_facts) > 1
                narrower += len(by_history) < len(by_facts)
    assert several > 50
    assert narrower > 0


@pytest.mark.parametrize("number", range(6))
def test_every_world_of_the_history_is_a_match_that_looks_the_same(number: int) -> None:
    model = small_match(number)
    differed = 0
    for position in random_positions(model, number):
        if position.turn % 3:
            continue
        for viewer in range(SPECTATOR, model.seats):
            for world, past in list(worlds_by_history(position, viewer).items())[:40]:
                other = match_of(position, viewer, world, past)
                assert true_world(other) == world
                assert other.events(viewer) == position.events(viewer)
                assert other.view(viewer) == position.view(viewer)
                assert other.to_act() == position.to_act()
                if viewer in position.to_act():
                    assert other.legal(viewer) == position.legal(viewer)
                differed += world != true_world(position)
    assert differed > 0


class ChoiceNeeded(Exception):
    """The tree goes on with each of that many outcomes."""


class ListedChance:
    """Draws as listed, everything else fixed; ChoiceNeeded where the list ends."""

    def __init__(self, order: Sequence[str], picks: Sequence[int]) -> None:
        self.order = list(order)
        self.picks = list(picks)
        self.outcomes: list[Outcome] = []

    def pick(self, purpose: str, round_number: int, n: int, index: int = 0) -> int:
        if purpose == "dealer":
            value = n - 1
        elif round_number > 1:
            value = 0
        elif self.picks:
            value = self.picks.pop(0)
        else:
            raise ChoiceNeeded(n)
        self.outcomes.append(Outcome(purpose, round_number, index, value))
        return value

    def shuffle(
        self, purpose: str, round_number: int, items: Sequence[str], index: int = 0
    ) -> list[str]:
        order = list(self.order if purpose == "deal" and round_number == 1 else items)
        self.outcomes.append(Outcome(purpose, round_number, index, tuple(order)))
        return order

    def copy(self) -> ListedChance:
        twin = ListedChance(self.order, self.picks)
        twin.outcomes = list(self.outcomes)
        return twin


def physical_deals(cards: Sequence[str]) -> Iterator[list[str]]:
    """An order of the cards for every way to deal them, all told apart, to seats 0, 1, 2."""
    numbers = set(range(len(cards)))
    sizes = [len(range(seat, len(cards), 3)) for seat in range(3)]
    for first in combinations(sorted(numbers), sizes[0]):
        for second in combinations(sorted(numbers - set(first)), sizes[1]):
            third = sorted(numbers - set(first) - set(second))
            order = [""] * len(cards)
            order[0::3] = [cards[number] for number in first]
            order[1::3] = [cards[number] for number in second]
            order[2::3] = [cards[number] for number in third]
            yield order


def all_pasts(
    deck: dict[str, int], options: dict[str, object], wanted: Sequence[str]
) -> Iterator[MisterBill]:
    """Every match of three seats with these turns' actions, each as likely as its draws were.

    Matches in which an action is not legal are left out, as are those whose round ends.
    """
    for order in physical_deals([kind for kind, count in deck.items() for _ in range(count)]):
        unfinished: list[tuple[list[int], list[str]]] = [([], [])]
        while unfinished:
            picks, gifts = unfinished.pop()
            try:
                model = MisterBill(3, options, chance=ListedChance(order, picks), deck=deck)
                needed = _play_on(model, wanted, gifts)
            except ChoiceNeeded as choice:
                unfinished += [([*picks, value], gifts) for value in range(choice.args[0])]
                continue
            unfinished += [(picks, [*gifts, name]) for name in needed]
            if not needed and model.round == 1 and model.turn >= len(wanted):
                yield model


def _play_on(model: MisterBill, wanted: Sequence[str], gifts: Sequence[str]) -> list[str]:
    """Play the actions and the gifts; returns the gifts to choose from where they run out."""
    actions, left = list(wanted), list(gifts)
    while model.round == 1 and (actions or model.pending_waiter is not None):
        seat = min(model.to_act())
        if model.pending_waiter is None:
            action = actions.pop(0)
            if action not in model.legal(seat):
                return []
            model.play(seat, action)
        elif left:
            model.play(seat, left.pop(0))
        else:
            return model.legal(seat)
    return []


@pytest.mark.parametrize(
    ("cards", "wanted"),
    [
        ("sushi sushi pizza paella waiter_e waiter_d", ["play e"]),
        ("sushi sushi pizza pizza waiter_a waiter_d", ["play a 1", "play d"]),
        ("sushi sushi pizza shift_change shift_change waiter_b waiter_c", ["play c 1", "decline"]),
        ("sushi sushi pizza pizza shift_change shift_change waiter_b", ["decline", "play b 2"]),
    ],
)
def test_weights_of_the_history_are_the_deals_draws_and_gifts_that_lead_there(
    cards: str, wanted: list[str]
) -> None:
    # Every past of every deal, sorted by what each viewer saw of it.
    deck = Counter([*cards.split(), BILL])
    groups: dict[tuple[int, str], Counter[World]] = defaultdict(Counter)
    example: dict[tuple[int, str], MisterBill] = {}
    options: dict[str, object] = {"teams": "solo", "swap_one": "blind"}
    for model in all_pasts(deck, options, wanted):
        for viewer in (SPECTATOR, 0, 2):
            key = (viewer, repr(model.events(viewer)))
            groups[key][true_world(model)] += 1
            example[key] = model
    chosen = random.Random(1).sample(sorted(groups), min(len(groups), 60))
    assert max(len(groups[key]) for key in chosen) > 2
    for key in chosen:
        counted = groups[key]
        weighed = {
            world: past.ways for world, past in worlds_by_history(example[key], key[0]).items()
        }
        # The same worlds in the same proportions.
        assert counted.keys() == weighed.keys()
        for world, count in counted.items():
            assert count * sum(weighed.values()) == weighed[world] * counted.total()


def lists_of(cards: Sequence[str], length: int) -> Iterator[tuple[str, ...]]:
    return permutations(cards, length)


def listed_ways(record: Record, hand: Sequence[str], elsewhere: Sequence[str]) -> int:
    """The lists of lost and gained cards, one by one, as the module's text describes them."""
    lost_count = max(record.held.values(), default=0)
    gained_count = max(record.absent.values(), default=0)
    ways = 0
    for lost in lists_of(elsewhere, lost_count):
        gone = [kind for kind in record.held if kind not in hand]
        if any(kind not in lost[: record.held[kind]] for kind in gone):
            continue
        sources = [kind for kind in [*hand, *lost] if kind not in record.held]
        for gained in lists_of(sources, gained_count):
            come = [kind for kind in record.absent if kind in hand]
            ways += all(kind in gained[: record.absent[kind]] for kind in come)
    return ways


KINDS_OF_SIX = ["sushi", "omelette", "pizza", "paella", "couscous", "goulash"]


@pytest.mark.parametrize(
    ("held", "absent"),
    [
        ({}, {}),
        ({"sushi": 1}, {}),
        ({"sushi": 2}, {}),
        ({"sushi": 1, "omelette": 2}, {}),
        ({"sushi": 2, "omelette": 2, "pizza": 2}, {}),
        ({"sushi": 0, "omelette": 1}, {}),
        ({}, {"goulash": 1}),
        ({}, {"goulash": 1, "couscous": 2}),
        ({"sushi": 1}, {"goulash": 1}),
        ({"sushi": 1, "omelette": 1, "pizza": 2}, {"goulash": 1, "couscous": 0}),
        ({"sushi": 2, "omelette": 2}, {"paella": 1, "goulash": 1, "couscous": 1}),
    ],
)
def test_ways_of_unseen_draws_are_those_that_can_be_listed(
    held: dict[str, int], absent: dict[str, int]
) -> None:
    # A hand of three out of six different cards; an absent kind elsewhere may have come and gone.
    record = Record(held, absent)
    possible = 0
    for hand in combinations(KINDS_OF_SIX, 3):
        elsewhere = [kind for kind in KINDS_OF_SIX if kind not in hand]
        losses, gains = draw_ways(record, hand, len(elsewhere))
        if listable(record, hand):
            assert losses * gains == listed_ways(record, hand, elsewhere)
        assert (losses * gains > 0) == fits(record, hand)
        possible += losses * gains > 0
    assert possible > 0


def listable(record: Record, hand: Sequence[str]) -> bool:
    """Whether there are cards enough for the whole list of gained ones."""
    lost = max(record.held.values(), default=0)
    gone = sum(kind not in hand for kind in record.held)
    free = sum(kind not in record.held for kind in hand)
    return max(record.absent.values(), default=0) <= free + lost - gone


def test_a_card_seen_in_a_hand_of_which_one_card_left_is_still_there_three_times_of_four() -> None:
    # By hand: four cards, one of them drawn unseen; each was as likely to be drawn.
    cards = KINDS_OF_SIX
    total = still = 0
    for hand in combinations(cards, 3):
        losses, _ = draw_ways(Record({"sushi": 1}), hand, 3)
        total += losses
        still += losses * ("sushi" in hand)
    assert 4 * still == 3 * total


def test_an_absent_kind_came_with_the_one_card_gained_as_often_as_any_other_of_the_rest() -> None:
    # By hand: two cards, neither goulash; the third is any of the other four: once in four.
    total = come = 0
    for hand in combinations(KINDS_OF_SIX, 3):
        _, gains = draw_ways(Record({}, {"goulash": 1}), hand, 3)
        total += gains
        come += gains * ("goulash" in hand)
    assert 4 * come == total


# What can't be told apart


@pytest.mark.parametrize("seats", range(3, 9))
def test_worlds_that_differ_only_in_the_unseen_give_equal_views_and_actions(seats: int) -> None:
    rng = random.Random(seats)
    differed = facts = 0
    settings = [options for count, options in SETTINGS if count == seats]
    for number, options in enumerate(rng.sample(settings, 3)):
        model = MisterBill(seats, options, seed_bytes(number))
        for position in random_positions(model, number):
            if rng.random() < 0.92:
                continue
            for viewer in range(SPECTATOR, seats):
                other = exchanged(position, viewer, rng)
                if other is None:
                    continue
                assert other.view(viewer) == position.view(viewer)
                assert other.to_act() == position.to_act()
                if viewer in position.to_act():
                    assert other.legal(viewer) == position.legal(viewer)
                differed += any(other.view(seat) != position.view(seat) for seat in range(seats))
                facts += any(record.held for record in position.facts.records.values())
    assert differed > 5
    assert facts > 5
