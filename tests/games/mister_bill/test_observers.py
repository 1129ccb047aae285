"""The search's nodes in Mister Bill: a decision hangs on what its seat was told, and on no more.

What a seat is told is the log's events as that seat gets them; who sees what in a position written
down by hand is in `told`.
"""

from __future__ import annotations

import array
from collections import defaultdict
from itertools import product
from random import Random

import pytest

from tavolata.ai.player import Limits, Observation, observe
from tavolata.ai.search import Searcher
from tavolata.ai.stop import Stop
from tavolata.ext.core.cpu import best_build
from tavolata.ext.core.game import Game
from tavolata.ext.core.match import Match, Position
from tavolata.ext.registry import GAMES
from tests.ai.situations import observations
from tests.games.mister_bill.told import (
    GIFT_TO_2,
    ONE_LEFT,
    PASS,
    SEATS,
    TWINS,
    TWO_EACH,
    Gifts,
    Twins,
    decision,
    gifts,
    moved,
    new_game,
    position,
)

SPEC = GAMES["mister_bill"]
KINDS_TOLD = SPEC.search.observed_events
ALL_KINDS = tuple(range(3, 14))  # all that happens between two decisions of a round
TAG_EVENT = 2
DREW, GAVE = 4, 8
NO_SUCH_EVENT = 31
EDGE_BYTES, SET_BYTES = 32, 16

Words = tuple[int, ...]
Told = tuple[object, ...]


def searcher(
    observation: Observation,
    *,
    apart: bool = True,
    kinds: tuple[int, ...] = KINDS_TOLD,
    others_by_rule: bool = True,
    depth: int = 0,
    iterations: int = 2_000,
    nodes: int = 1_000_000,
    exploration: float = 1.0,
) -> Searcher:
    loop: type[Searcher] = best_build("tavolata.ai", "_search").Loop
    game = observation.game
    return loop(
        game,
        game.dealer(observation.view_bytes, observation.seat),
        observation.seat,
        observation.legal_actions,
        Limits(iterations=iterations, nodes=nodes),
        Stop(),
        exploration,
        False,
        others_by_rule,
        sum(1 << kind for kind in kinds) if apart else 0,
        0.0,
        depth,
        1,
    )


def observed(game: Game, state: bytes, seat: int) -> Observation:
    """What a seat that is to act in a position knows of it."""
    at = Position(game, state)
    return Observation(game, seat, 0, at.blank(seat), at.legal(seat), b"")


def told(words: list[int], viewer: int) -> list[Words]:
    """The events in words of the log as a viewer may read them: kind, public and seen words."""
    events = []
    at = 0
    while at < len(words):
        size, tag, *entry = words[at : at + words[at]]
        at += size
        if tag == TAG_EVENT:
            kind, viewers, public, *rest = entry
            is_open = public < 0 or viewers >> viewer & 1
            events.append((kind, *(rest if is_open else rest[:public])))
    return events


def as_in_match(words: bytes) -> list[Words]:
    """The same of what a match gives to a viewer."""
    numbers = array.array("i", words)
    events = []
    at = 0
    while at < len(numbers):
        size, kind = numbers[at : at + 2]
        events.append((kind, *numbers[at + 4 : at + size]))
        at += size
    return events


def before_chance(events: list[Words], blind: bool) -> list[Words]:
    """The events up to the first that chance has a hand in."""
    for number, (kind, *_) in enumerate(events):
        if kind == DREW or (blind and kind == GAVE):
            return events[:number]
    return events


def some_decision(position: Position, draws: Random) -> dict[int, int]:
    return {seat: draws.choice(position.legal(seat)) for seat in position.to_act}


# -- the log is the judge --------------------------------------------------------------------------

COMBINATIONS = [
    dict(zip((option.name for option in SPEC.options), values, strict=True))
    for values in product(*(option.values for option in SPEC.options))
]


@pytest.mark.parametrize("number", range(len(COMBINATIONS)))
def test_a_seat_is_at_the_same_node_just_if_its_events_are_the_same(number: int) -> None:
    """From sampled worlds of a position some decisions are followed at random, and any two of these
    courses compared for every seat: nodes against the log's events as the seat gets them."""
    draws = Random(number)
    game = SPEC.make(3 + number % 6, COMBINATIONS[number])
    match = Match(game, number.to_bytes(32, "big"))
    while not match.over:
        if draws.random() < 0.1:
            compare_courses(match, draws)
        match.play(seat := draws.choice(match.to_act), draws.choice(match.legal(seat)))


def compare_courses(match: Match, draws: Random) -> None:
    game = match.game
    seat = match.to_act[0]
    kinds = draws.choice([KINDS_TOLD, ALL_KINDS])
    search = searcher(observe(match, seat), kinds=kinds)
    worlds = Position(game, match.state_bytes()).redeals(seat, 3)
    nodes: dict[object, set[int]] = defaultdict(set)
    histories: dict[int, set[object]] = defaultdict(set)
    for _ in range(30):
        known = followed(game, search, kinds, draws.choice(worlds), draws)
        for viewer, (key, history) in enumerate(known):
            nodes[viewer, history].add(key)
            histories[key].add((viewer, history))
    assert all(len(keys) == 1 for keys in nodes.values()), "one history, several nodes"
    assert all(len(seen) == 1 for seen in histories.values()), "one node, several histories"


def followed(
    game: Game, search: Searcher, kinds: tuple[int, ...], root: bytes, draws: Random
) -> list[tuple[int, Told]]:
    """One to three decisions at random; each seat's node and what it has done and been told."""
    known: list[list[object]] = [[] for _ in range(game.seat_count)]
    state, keys = root, (0,) * game.seat_count
    for number in range(draws.randint(1, 3)):
        choices = some_decision(Position(game, state), draws)
        if not choices:
            break
        state, keys, words = search.follow(choices, None if number else root)
        for viewer in range(game.seat_count):
            own = (tuple(choices), choices.get(viewer))
            events = [event for event in told(words, viewer) if event[0] in kinds]
            known[viewer] += [own, *events]
    return [(key, tuple(history)) for key, history in zip(keys, known, strict=True)]


@pytest.mark.parametrize("number", range(len(COMBINATIONS)))
def test_a_search_hears_what_a_match_tells(number: int) -> None:
    draws = Random(number)
    options = COMBINATIONS[number]
    game = SPEC.make(3 + number % 6, options)
    match = Match(game, number.to_bytes(32, "big"))
    search = searcher(observe(match, match.to_act[0]))
    blind = options["swap_one"] == "blind"
    while not match.over:
        before, state = match.event_count, match.state_bytes()
        if game.unpack(state)["committed"]:
            match.play(seat := match.to_act[0], draws.choice(match.legal(seat)))
            continue
        choices = some_decision(Position(game, state), draws)
        words = search.follow(choices, state)[2]
        for seat, action in choices.items():
            match.play(seat, action)
        for viewer in range(game.seat_count):
            heard = before_chance(told(words, viewer), blind)
            assert (
                heard
                == before_chance(as_in_match(match.event_words(viewer, before)), blind)[
                    : len(heard)
                ]
            )
            assert heard


# -- who can tell what, by the rules ---------------------------------------------------------------


def differing(twins: Twins, turned: int, kinds: tuple[int, ...]) -> set[int]:
    """The seats that come to different nodes, turned back."""
    game = new_game()
    keys = []
    for course in (twins.one, twins.other):
        state = position(game, course, turned)
        search = searcher(observed(game, state, min(Position(game, state).to_act)), kinds=kinds)
        keys.append(search.follow(decision(game, course, turned), state)[1])
    return {seat for seat in range(SEATS) if len({key[moved(seat, turned)] for key in keys}) == 2}


@pytest.mark.parametrize("turned", range(SEATS))
@pytest.mark.parametrize("twins", TWINS, ids=lambda twins: twins.why)
def test_if_all_that_happens_counts_just_the_seats_that_see_it_are_at_different_nodes(
    twins: Twins, turned: int
) -> None:
    assert differing(twins, turned, ALL_KINDS) == twins.tell


@pytest.mark.parametrize("turned", range(SEATS))
@pytest.mark.parametrize("twins", TWINS, ids=lambda twins: twins.why)
def test_no_seat_is_at_different_nodes_by_what_it_can_not_see(twins: Twins, turned: int) -> None:
    """And what seats do is told apart by those who see them do it."""
    differ = differing(twins, turned, KINDS_TOLD)
    assert differ == twins.tell_doings
    assert differ <= twins.tell


# -- the same in the tree that was searched --------------------------------------------------------


def places_of_the_next_seat(
    hands: tuple[str, ...], waiter: Gifts, giver: int, turned: int, *, apart: bool, by_rule: bool
) -> int:
    """At how many nodes seat 1 decides, after the gifts of seat 0's waiter; ``giver`` searches."""
    game = new_game()
    course = gifts(hands, waiter, giver, *hands[giver].split())[0]
    state = position(game, course, turned, knowing=giver)
    search = searcher(
        observed(game, state, moved(giver, turned)),
        apart=apart,
        others_by_rule=by_rule,
        depth=2 if by_rule else len(waiter.givers) + 1,  # an edge a gift, and the next decision
        exploration=100.0,  # so that both gifts are followed
    )
    search.search()
    tree = search.tree()
    return len({row[0] for row in tree[1:] if row[0] and row[1] == moved(1, turned)})


@pytest.mark.parametrize("turned", range(SEATS))
@pytest.mark.parametrize("by_rule", [True, False])
@pytest.mark.parametrize("giver", [2, 3])
def test_the_next_seat_has_one_node_whatever_was_passed_unseen(
    giver: int, turned: int, by_rule: bool
) -> None:
    """The giver has two cards to choose from and knows all hands; the others have a card each, so
    that all the next seat doesn't see is which of the two it was. In one tree of actions its
    decision lies below either."""
    hands = tuple(hand if seat == giver else hand.split()[0] for seat, hand in enumerate(ONE_LEFT))
    assert places_of_the_next_seat(hands, PASS, giver, turned, apart=True, by_rule=by_rule) == 1
    assert places_of_the_next_seat(hands, PASS, giver, turned, apart=False, by_rule=by_rule) == 2


@pytest.mark.parametrize("turned", range(SEATS))
@pytest.mark.parametrize("giver", [3, 4])
def test_the_next_seat_has_one_node_whatever_was_given_to_another(giver: int, turned: int) -> None:
    """The same for waiter C; the others follow the rule of thumb."""
    where = (TWO_EACH, GIFT_TO_2, giver, turned)
    assert places_of_the_next_seat(*where, apart=True, by_rule=True) == 1
    assert places_of_the_next_seat(*where, apart=False, by_rule=True) == 2


@pytest.mark.parametrize("turned", range(SEATS))
def test_a_seat_that_knows_what_it_gave_has_a_node_for_either(turned: int) -> None:
    """Seat 1 passes one of two cards and is the next to act; its neighbour's card it draws is the
    one that was passed on to that neighbour, the same in any case."""
    hands = tuple(hand if seat == 1 else hand.split()[0] for seat, hand in enumerate(ONE_LEFT))
    assert places_of_the_next_seat(hands, PASS, 1, turned, apart=True, by_rule=True) == 2


ALL = observations("mister_bill", 8)


@pytest.mark.parametrize("others_by_rule", [True, False])
@pytest.mark.parametrize("number", range(len(ALL)))
def test_who_comes_to_a_node_leaves_it_by_one_edge_that_was_there(
    number: int, others_by_rule: bool
) -> None:
    search = searcher(ALL[number], others_by_rule=others_by_rule)
    search.search()
    tree = search.tree()
    below = defaultdict(list)
    for row in tree[1:]:
        if row[1] >= 0:
            below[row[0]].append(row)
    nodes = {index: row for index, row in enumerate(tree) if row[1] == -2}
    assert len({row[5] for row in nodes.values()}) == len(nodes)
    assert set(below) == {0, *nodes}
    for index, (_, _, seat, arrivals, _, _) in nodes.items():
        assert {row[1] for row in below[index]} == {seat}
        assert len({row[2] for row in below[index]}) == len(below[index])
        assert sum(row[3] for row in below[index]) == arrivals
        assert all(1 <= row[3] <= row[4] <= arrivals for row in below[index])
    assert sum(row[3] for row in below[0] if row[1] == ALL[number].seat) == 2_000


@pytest.mark.parametrize("nodes", [1_000, 1_360])  # where arena and table fill up first
def test_nodes_and_their_table_keep_to_the_memory_they_may_have(nodes: int) -> None:
    """The table is at most three quarters full, doubles, and then the half is there too."""
    most = 0
    for observation in ALL:
        search = searcher(observation, iterations=30_000, nodes=nodes)
        search.search()
        iterations, edges, _, rows = search.report()
        assert iterations == sum(row["visits"] for row in rows) == 30_000
        sets = sum(row[1] == -2 for row in search.tree())
        places = 1
        while 3 * places < 4 * sets:
            places *= 2
        most = max(most, edges * EDGE_BYTES + 3 * places * SET_BYTES // 2)
    assert nodes * EDGE_BYTES / 2 < most <= nodes * EDGE_BYTES


def test_a_seat_knows_what_it_did_itself_whatever_events_count() -> None:
    """Of a gift to another seat's hand, no event counting, only the giver's node hangs on it."""
    game = new_game()
    courses = gifts(TWO_EACH, GIFT_TO_2, 3, "paella", "D")
    keys = []
    for course in courses:
        state = position(game, course)
        search = searcher(observed(game, state, 0), kinds=(NO_SUCH_EVENT,))
        keys.append(search.follow(decision(game, course), state)[1])
    assert [one == other for one, other in zip(*keys, strict=True)] == [
        seat != 3 for seat in range(SEATS)
    ]
