"""The dealer against enumeration on small decks, and what sampled worlds leave to other seats."""

from __future__ import annotations

import itertools
from collections import Counter
from math import prod
from random import Random

import pytest

from tavolata.ai.player import Limits, observe
from tavolata.ai.players import player_spec
from tavolata.ai.stop import Stop
from tavolata.ext.core.match import Position
from tavolata.ext.mister_bill.cards import KINDS
from tavolata.ext.mister_bill.worlds import NoDeal, Worlds, satisfies
from tests.games.dealing import fit
from tests.games.engine import new_fast
from tests.games.positions import random_points
from tests.games.secrecy import decisions_on
from tests.games.tables import covering_settings
from tests.reference.chance import seed_bytes
from tests.reference.mister_bill_facts import Record
from tests.reference.mister_bill_worlds import draw_ways, fits

ROW = 16
SETTINGS = covering_settings("mister_bill")

Hands = tuple[int, ...]


def random_facts(hand: int, kinds: int, choice: Random) -> Record:
    """Facts that the hand satisfies, about the first kinds only."""
    record = Record()
    for kind in range(kinds):
        here = hand >> kind & 1
        word = choice.choice(["nothing", "held", "absent"])
        if word == "held":
            record.held[KINDS[kind]] = choice.randrange(0 if here else 1, 4)
        if word == "absent":
            record.absent[KINDS[kind]] = choice.randrange(1 if here else 0, 4)
    return record if fits(record, names(hand)) else random_facts(hand, kinds, choice)


def names(hand: int) -> list[str]:
    return [name for kind, name in enumerate(KINDS) if hand >> kind & 1]


def row_of(record: Record) -> bytes:
    row = bytearray(ROW)
    for kind, lost in record.held.items():
        row[KINDS.index(kind)] = 1 + lost
    for kind, gained in record.absent.items():
        row[KINDS.index(kind)] = 128 + gained
    return bytes(row)


def enumerated(unseen: list[int], sizes: list[int], records: list[Record]) -> dict[Hands, int]:
    """Every way to fill the hands, one of a kind in each, with its weight by the reference."""
    kinds = [kind for kind, copies in enumerate(unseen) if copies]
    rows = [list(itertools.combinations(range(len(sizes)), unseen[kind])) for kind in kinds]
    worlds: dict[Hands, int] = {}
    for placing in itertools.product(*rows):
        hands = [
            sum(1 << kind for kind, row in zip(kinds, placing, strict=True) if hand in row)
            for hand in range(len(sizes))
        ]
        if [hand.bit_count() for hand in hands] == sizes:
            weight = prod(
                prod(draw_ways(record, names(hand), sum(sizes) - hand.bit_count()))
                for record, hand in zip(records, hands, strict=True)
            )
            if weight:
                worlds[tuple(hands)] = weight
    return worlds


def small_deck(seed: int) -> tuple[list[int], list[int], list[Record], Hands]:
    """Up to six kinds in two to five hands, facts that are true, and the hands themselves."""
    choice = Random(f"{seed} small deck")
    seats, kinds = choice.randrange(2, 6), choice.randrange(3, 7)
    while True:
        hands = [choice.randrange(1, 1 << kinds) for _ in range(seats)]
        unseen = [sum(hand >> kind & 1 for hand in hands) for kind in range(len(KINDS))]
        if max(unseen) <= 4:
            break
    records = [random_facts(hand, kinds, choice) for hand in hands]
    return unseen, [hand.bit_count() for hand in hands], records, tuple(hands)


@pytest.mark.parametrize("seed", range(40))
def test_worlds_of_a_small_deck_come_in_proportion_to_their_weights(seed: int) -> None:
    unseen, sizes, records, true = small_deck(seed)
    expected = enumerated(unseen, sizes, records)
    assert true in expected
    worlds = Worlds(unseen, sizes, [row_of(record) for record in records])
    counts = Counter(worlds.sample_hands(seed, 30_000))
    assert set(counts) <= set(expected), "a world that does not fit"
    result = fit(
        {tuple(map(str, world)): times for world, times in counts.items()},  # type: ignore[arg-type]
        {tuple(map(str, world)): weight for world, weight in expected.items()},  # type: ignore[arg-type]
    )
    assert result.z < 5, f"chi-square is {result.z:.1f} deviations off"
    assert result.distance < 1.5 * result.distance_expected + 0.002


@pytest.mark.parametrize("seed", range(40))
def test_a_hand_satisfies_facts_where_the_reference_says_so(seed: int) -> None:
    choice = Random(f"{seed} facts")
    kinds = choice.randrange(2, 8)
    record = random_facts(choice.randrange(1 << kinds), kinds, choice)
    for hand in range(1 << kinds):
        assert satisfies(row_of(record), hand) == fits(record, names(hand))


def test_facts_that_no_deal_satisfies_are_an_error() -> None:
    sushi = row_of(Record({KINDS[0]: 0}))
    nothing = bytes(ROW)
    one_sushi = [1, 1, *[0] * 11]
    assert Worlds(one_sushi, [1, 1], [sushi, nothing]).sample_hands(1, 2) == [(1, 2)] * 2
    with pytest.raises(NoDeal):
        Worlds(one_sushi, [1, 1], [sushi, sushi])
    with pytest.raises(NoDeal):
        Worlds(one_sushi, [1, 2], [nothing, nothing])
    # Two kinds seen, one card lost: not both can be missing.
    pair = row_of(Record({KINDS[0]: 1, KINDS[1]: 1}))
    both = row_of(Record({KINDS[0]: 0, KINDS[1]: 0}))
    with pytest.raises(NoDeal):
        Worlds([1, 1, 1, *[0] * 10], [1, 2], [pair, both])


@pytest.mark.parametrize("number", range(len(SETTINGS)))
def test_other_seats_know_what_everybody_knows_in_a_sampled_world(number: int) -> None:
    choice = Random(number)
    for point in random_points("mister_bill", SETTINGS[number], 40 + number):
        if choice.random() > 0.05:
            continue
        match = point.match
        seats = match.game.seat_count
        viewer = choice.randrange(seats)
        true = match.game.unpack(match.state_bytes())
        for state in Position(match.game, match.state_bytes(), number).redeals(viewer, 3):
            world = match.game.unpack(state)
            assert world["facts"][viewer] == true["facts"][viewer]
            assert world["facts"][seats] == true["facts"][seats]
            for seat in set(range(seats)) - {viewer}:
                public = [
                    [0] * ROW if holder == seat else row
                    for holder, row in enumerate(true["facts"][seats])
                ]
                assert world["facts"][seat] == public
            for observer in range(seats + 1):
                for holder in range(seats):
                    row = bytes(world["facts"][observer][holder])
                    assert satisfies(row, world["hands"][holder])


@pytest.mark.parametrize("name", ["ismcts", "flat"])
def test_a_search_takes_as_long_where_there_is_nothing_to_decide(name: str) -> None:
    """MB-10: else the time that an answer takes tells that a seat holds no waiter."""
    match = new_fast("mister_bill", 4, {}, seed_bytes(1)).match
    alone = 0
    while not match.over and alone < 10:
        seat = match.to_act[0]
        if match.legal(seat) == (0,):
            player = player_spec(name).make(match.game)
            decision = player.decide(
                observe(match, seat), Limits(iterations=50), seed=1, stop=Stop()
            )
            assert (decision.action, decision.iterations) == (0, 50)
            alone += 1
        match.play(seat, match.legal(seat)[0])
    assert alone == 10


def test_open_gifts_of_other_seats_are_withdrawn_and_change_no_decision() -> None:
    seen = 0
    for seed in range(60):
        choice = Random(seed)
        match = new_fast("mister_bill", 5, {}, seed_bytes(seed)).match
        while not match.over and len(match.to_act) < 3:
            seat = choice.choice(match.to_act)
            match.play(seat, choice.choice(match.legal(seat)[-4:]))
        if match.over:
            continue
        viewer, *others = choice.sample(match.to_act, len(match.to_act))
        alone = observe(match, viewer)
        worlds = Position(match.game, match.state_bytes(), 5).redeals(viewer, 10)
        for other in others:
            match.play(other, choice.choice(match.legal(other)))
            later = observe(match, viewer)
            assert later.view_bytes != alone.view_bytes
            assert decisions_on(later) == decisions_on(alone)
            assert Position(match.game, match.state_bytes(), 5).redeals(viewer, 10) == worlds
            seen += 1
    assert seen > 20
