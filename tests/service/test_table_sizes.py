"""Whole matches at tables of many sizes: they end, they can be played again, and secrets are kept.

Seats are of every sort: a person who plays, AI players, and people who have got up, so that the
stand-in plays for them while their tokens still show what their seats may see.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import asdict
from random import Random
from typing import Any

import pytest

from tavolata.ext.core.match import Match
from tavolata.ext.core.record import replay
from tavolata.ext.core.records import MatchEnded
from tavolata.ext.registry import GAMES, game_spec
from tavolata.service.codecs import codec_of
from tavolata.service.replays import check_fairness, record_of_replay
from tavolata.v1.event_pb2 import Event
from tavolata.v1.player_pb2 import AiPlayer
from tavolata.v1.replay_pb2 import Replay
from tavolata.v1.score_pb2 import MatchResult
from tavolata.v1.table_pb2 import SeatPlan, TableState
from tavolata.v1.view_pb2 import View
from tests.service.from_messages import action_name, event_fields, view_fields
from tests.service.house import CALLER, GREEDY, OPEN, House

SPECTATOR = -1
RANDOM = AiPlayer(player="random")
AROUND = {"to_act", "totals", "points", "round_points"}  # of a game's view, in the View around it
SIZES = (2, 5, 6, 8, 12)
TABLES = [
    pytest.param(game_id, seats, id=f"{game_id}-{seats}")
    for game_id, spec in GAMES.items()
    for seats in SIZES
    if spec.seats_min <= seats <= spec.seats_max
]
# What a game has to be told to be played at these tables, or to be done sooner.
OPTIONS: dict[tuple[str, int], dict[str, bool | int | str]] = {
    ("bids", 5): {"rounds": 2},
    ("bids", 6): {"rounds": 2},
    ("cafe_international", 5): {"five_players": True},
}
# Where a view keeps what a seat has in its hand, and the secrets of events, which the seats named
# in these fields see and nobody else. Guests lie open (CI-3).
HANDS = {
    "bids": ("hands",),
    "bouillabaisse": ("hands",),
    "cafe_international": (),
    "mino_dice": ("dice",),
    "mister_bill": ("hands",),
}
SECRETS = {
    ("bids", "Dealt"): ("cards", ("seat",)),
    ("bouillabaisse", "Dealt"): ("cards", ("seat",)),
    ("mino_dice", "Dealt"): ("dice", ("seat",)),
    ("mino_dice", "BidCommitted"): ("bid", ("seat",)),
    ("mister_bill", "Dealt"): ("kinds", ("seat",)),
    ("mister_bill", "Drew"): ("kind", ("seat", "from_seat")),
    ("mister_bill", "GiftCommitted"): ("kind", ("seat",)),
    ("mister_bill", "Gave"): ("kind", ("from_seat", "to_seat")),
    ("mister_bill", "HandsSwapped"): ("kinds", ("first", "second")),
    ("mister_bill", "HandPassed"): ("kinds", ("from_seat", "to_seat")),
}


@pytest.mark.parametrize("game_id, seats", TABLES)
async def test_a_match_at_a_table_of_this_size_ends_replays_and_keeps_its_secrets(
    house: House, game_id: str, seats: int
) -> None:
    table_id, tokens = await seated(house, game_id, seats)
    for seat in set(tokens) - {SPECTATOR, 0}:
        await house.leave(table_id, tokens[seat])
    async with asyncio.timeout(120):
        views = await play_to_the_end(house, table_id, tokens, Random(seats))
    table = await house.table(table_id)
    assert table.state == TableState.TABLE_STATE_FINISHED

    told = await house.replay(table_id)
    record = record_of_replay(told)
    check_fairness(record)
    match = replay(record, game_spec)
    assert match.hash == told.final_hash
    last: Any = match.game.view(match.view(SPECTATOR), SPECTATOR)
    assert_placed(table.result, match, getattr(last, "out", ()) if not HANDS[game_id] else ())

    shown = {viewer: await events_of(house, table_id, token) for viewer, token in tokens.items()}
    assert {len(events) for events in shown.values()} == {table.last_event}
    for each in zip(*shown.values(), strict=True):
        assert len({(event.number, event.turn, event.time.ToNanoseconds()) for event in each}) == 1
    for viewer, events in shown.items():
        assert_events(match, viewer, events)
    truth = Truth(told, match)
    assert {viewer for viewer, _ in views} == set(tokens)
    for viewer, view in views:
        assert_view(truth.at(view), viewer, view)


async def seated(house: House, game_id: str, seats: int) -> tuple[str, dict[int, str | None]]:
    """A table whose match has begun; the tokens of the seats with people, and of spectators."""
    plan = [CALLER, SeatPlan(ai=RANDOM), SeatPlan(ai=GREEDY), *[OPEN] * (seats - 3)][:seats]
    options = game_spec(game_id).complete(seats, OPTIONS.get((game_id, seats), {}))
    made = await house.create(
        plan, game=game_id, stand_in=RANDOM, options=codec_of(game_id).options_to(options)
    )
    tokens: dict[int, str | None] = {SPECTATOR: None, 0: made.token}
    for _ in range(seats - 3):
        joined = await house.join(made.table.table_id)
        tokens[joined.seat] = joined.token
    await house.start(made.table.table_id, made.token)
    return made.table.table_id, tokens


async def play_to_the_end(
    house: House, table_id: str, tokens: dict[int, str | None], chance: Random
) -> list[tuple[int, View]]:
    """Let seat 0 play random legal actions; some views that it and the other viewers are shown."""
    views: list[tuple[int, View]] = []
    turns: set[int] = set()
    async for message in house.watch(table_id, tokens[0], with_views=True):
        if not message.HasField("snapshot"):
            continue
        view = message.snapshot.view
        if view.state == TableState.TABLE_STATE_FINISHED or chance.random() < 0.2:
            views.append((0, view))
        if not view.legal_actions or view.turn in turns:
            continue
        viewer = list(tokens)[len(turns) % len(tokens)]
        views.append((viewer, await house.view(table_id, tokens[viewer])))
        turns.add(view.turn)
        action = chance.randrange(len(view.legal_actions))
        await house.play(table_id, tokens[0], view, which=action)
    return views


async def events_of(house: House, table_id: str, token: str | None) -> list[Event]:
    """Everything that one viewer has been told, from the making of the table on."""
    watch = house.watch(table_id, token, after_event=0)
    return [message.event async for message in watch if message.HasField("event")]


class Truth:
    """The match at every event of the table."""

    def __init__(self, told: Replay, match: Match) -> None:
        self._numbers = [
            entry.event.event.number
            for entry in told.entries
            if entry.event.event.HasField("game") or entry.event.event.table.HasField("match_ended")
        ]
        again = Match(match.game, match.seed, commitment=told.table.fairness.commitment.hex())
        self._matches = {again.event_count: again.copy()}
        for turn, seat, action in match.decisions:
            again.play(seat, action, turn)
            self._matches[again.event_count] = again.copy()

    def at(self, view: View) -> Match:
        """The match when the last event of the view was the last that there was."""
        return self._matches[bisect_right(self._numbers, view.event_number)]


def assert_placed(result: MatchResult, match: Match, out: Iterable[int]) -> None:
    """Totals are those of the match; places follow from them, and seats that are out come last."""
    totals = [each.total for each in result.seats]
    assert tuple(totals) == match.totals()
    sign = -1 if match.game.spec.low_wins else 1
    rank = {seat: (0, place) for place, seat in enumerate(out)}
    keys = [rank.get(seat, (1, sign * total)) for seat, total in enumerate(totals)]
    places = [1 + sum(other > key for other in keys) for key in keys]
    assert [each.place for each in result.seats] == places


def assert_view(match: Match, viewer: int, view: View) -> None:
    """A view is what its viewer may know of the match just then."""
    game_id = match.game.spec.id
    right: Any = match.game.view(match.view(viewer), viewer)
    fields = view_fields(game_id, view.game)
    assert fields == {key: value for key, value in asdict(right).items() if key not in AROUND}
    assert (view.turn, tuple(view.seats_to_act)) == (match.turn, match.to_act)
    legal = match.legal(viewer) if viewer != SPECTATOR else ()
    assert [action_name(game_id, action) for action in view.legal_actions] == [
        match.game.action_name(action) for action in legal
    ]
    for name in HANDS[game_id]:
        for seat, hand in enumerate(fields[name]):
            assert (hand is not None) == may_see(game_id, match.game.seat_count, viewer, {seat})


def assert_events(match: Match, viewer: int, events: list[Event]) -> None:
    """The events are what their viewer may know; a secret is there for its seats alone."""
    game_id = match.game.spec.id
    right: list[Any] = [each.event for each in match.events(viewer)]
    assert isinstance(right.pop(), MatchEnded)
    told = [event_fields(game_id, event.game) for event in events if event.HasField("game")]
    assert told == [
        (
            type(event).__name__,
            {key: value for key, value in asdict(event).items() if value is not None},
        )
        for event in right
    ]
    for name, fields in told:
        if (game_id, name) in SECRETS:
            secret, owners = SECRETS[game_id, name]
            seats = {fields[owner] for owner in owners}
            assert (secret in fields) == may_see(game_id, match.game.seat_count, viewer, seats)


def may_see(game_id: str, seat_count: int, viewer: int, seats: set[int]) -> bool:
    """Whether secrets of some seats are for a viewer; BO-19: two players can work them out."""
    if (game_id, seat_count) == ("bouillabaisse", 2):
        return viewer != SPECTATOR
    return viewer in seats
