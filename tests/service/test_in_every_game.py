"""What goes wrong in services of this kind, tried in every game at every kind of decision it has.

A kind is what the legal actions are of and whether several seats choose at once. A tour plays whole
matches with random actions and stops the first time that a decision of another kind is open.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from random import Random
from typing import Any

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration

from tavolata.ext.core.record import replay
from tavolata.ext.registry import GAMES, game_spec
from tavolata.service.codecs import codec_of
from tavolata.service.replays import check_fairness, record_of_replay
from tavolata.v1 import table_service_pb2 as pb
from tavolata.v1.game_pb2 import Action
from tavolata.v1.table_pb2 import SeatControl, TableState, TimeControl
from tavolata.v1.table_service_pb2_grpc import TableServiceStub
from tavolata.v1.view_pb2 import View
from tests.service.house import GREEDY, House, Sitting, bearer, fresh_id, refused, until

SEATS = {
    "bids": 3,
    "bouillabaisse": 3,
    "cafe_international": 2,
    "mino_dice": 3,
    "mister_bill": 4,
}
# What only an option or a rare position offers; a tour has to meet all other kinds of actions.
SELDOM = {"steal", "lower", "birthday", "decline"}
SPECTATOR = None
COPIES = 50
LEAST_TURNS = 30
GAME_IDS = pytest.mark.parametrize("game_id", list(GAMES))


@dataclass
class Stop:
    """A decision of a kind that the tour had not met."""

    kind: tuple[frozenset[str], bool]
    view: View  # of a seat that is to act
    seat: int


class Tour:
    """A match of people alone in one game, and the kinds of decision it has come to."""

    def __init__(self, house: House, game_id: str) -> None:
        self.house, self.game_id = house, game_id
        self.chance = Random(7)
        self.kinds: set[tuple[frozenset[str], bool]] = set()
        self.seen: dict[bytes, Action] = {}  # every action that was legal somewhere

    async def sit_down(self, **fields: Any) -> Sitting:
        """A match that has begun, with cards that are the same in every run."""
        options = game_spec(self.game_id).complete(SEATS[self.game_id], {})
        self.sitting = await self.house.sitting(
            SEATS[self.game_id],
            game=self.game_id,
            options=codec_of(self.game_id).options_to(options),
            stand_in=GREEDY,
            seed=self.chance.randbytes(32),
            **fields,
        )
        return self.sitting

    async def view(self, seat: int | None) -> View:
        """What a seat, or a spectator, is shown."""
        token = None if seat is SPECTATOR else self.sitting.tokens[seat]
        return await self.house.view(self.sitting.table_id, token)

    async def views(self) -> list[bytes]:
        """What everybody is shown, but for the time of day."""
        return [timeless(await self.view(viewer)) for viewer in [SPECTATOR, *self.sitting.tokens]]

    async def stops(self, *, whole: bool = False) -> AsyncIterator[Stop]:
        """The first decision of every kind; what the visitor leaves open is played at random.

        Not ``whole``: it ends as soon as all kinds have been met, or the match is over.
        """
        field = Action.DESCRIPTOR.fields_by_name[self.game_id]
        assert field.message_type is not None
        wanted = {each.name for each in field.message_type.oneofs[0].fields} - SELDOM
        while (shown := await self.view(SPECTATOR)).seats_to_act:
            met = frozenset().union(*(kind for kind, _ in self.kinds))
            if not whole and met >= wanted and shown.turn >= LEAST_TURNS:
                return
            seat = self.chance.choice(list(shown.seats_to_act))
            view = await self.view(seat)
            self.seen |= {
                each.SerializeToString(deterministic=True): each for each in view.legal_actions
            }
            kind = kind_of(view)
            if kind not in self.kinds:
                self.kinds.add(kind)
                yield Stop(kind, view, seat)
                view = await self.view(seat)
            if view.legal_actions:
                await self.play(seat, view, self.chance.choice(list(view.legal_actions)))
        assert frozenset().union(*(kind for kind, _ in self.kinds)) >= wanted

    def play(self, seat: int, view: View, action: Action, request_id: str | None = None) -> Any:
        """The call that plays an action for a seat."""
        return self.house.stub.PlayAction(
            pb.PlayActionRequest(
                request_id=request_id or fresh_id(),
                table_id=self.sitting.table_id,
                turn=view.turn,
                action=action,
            ),
            metadata=bearer(self.sitting.tokens[seat]),
        )

    async def check_the_end(self) -> None:
        """The match is over and its record can be dealt and played again."""
        table = await self.house.table(self.sitting.table_id)
        assert table.state == TableState.TABLE_STATE_FINISHED
        told = await self.house.replay(self.sitting.table_id)
        record = record_of_replay(told)
        check_fairness(record)
        assert replay(record, game_spec).hash == told.final_hash


def kind_of(view: View) -> tuple[frozenset[str], bool]:
    """What may be done, and whether several seats choose at once."""
    inner = [getattr(each, str(each.WhichOneof("action"))) for each in view.legal_actions]
    return frozenset(each.WhichOneof("action") for each in inner), len(view.seats_to_act) > 1


def timeless(view: View) -> bytes:
    """The view without the time of day."""
    copy = View()
    copy.CopyFrom(view)
    copy.ClearField("server_time")
    return copy.SerializeToString(deterministic=True)


@pytest.fixture
def tour(house: House, game_id: str) -> Tour:
    """A tour of the game of the test."""
    return Tour(house, game_id)


@GAME_IDS
async def test_after_a_lost_connection_or_a_restart_everybody_sees_the_same_and_can_choose(
    tour: Tour,
) -> None:
    await tour.sit_down()
    async for stop in tour.stops(whole=True):
        before = await tour.views()
        async with grpc.aio.insecure_channel(tour.house.target) as channel:
            tour.house.stub, stub = TableServiceStub(channel), tour.house.stub
            assert await tour.views() == before
            tour.house.stub = stub
        await tour.house.restart()
        assert await tour.views() == before
        # A choice that was open is still open, each of its actions with the turn known before.
        await tour.play(stop.seat, stop.view, stop.view.legal_actions[-1])
    await tour.check_the_end()


@GAME_IDS
async def test_what_is_sent_many_times_or_all_at_once_counts_once(tour: Tour) -> None:
    await tour.sit_down()
    async for stop in tour.stops():
        first, request_id = stop.view.legal_actions[0], fresh_id()
        copies = [tour.play(stop.seat, stop.view, first, request_id) for _ in range(COPIES)]
        receipts = {
            each.SerializeToString(deterministic=True) for each in await asyncio.gather(*copies)
        }
        assert len(receipts) == 1
        later = await refused(tour.play(stop.seat, stop.view, first))
        assert later.reason in ("STALE_TURN", "NOT_YOUR_TURN", "ALREADY_COMMITTED")

        shown = await tour.view(SPECTATOR)
        if not shown.seats_to_act:
            continue
        seat = shown.seats_to_act[0]
        view = await tour.view(seat)
        outcomes = await asyncio.gather(
            *(tour.play(seat, view, action) for action in view.legal_actions),
            return_exceptions=True,
        )
        answers = [each for each in outcomes if isinstance(each, pb.PlayActionResponse)]
        assert len(answers) == 1, "of several actions sent for one turn one counts"


@pytest.mark.parametrize("game_id", ["mino_dice", "mister_bill"])
async def test_seats_that_choose_at_the_same_time_are_never_too_late_for_each_other(
    tour: Tour,
) -> None:
    await tour.sit_down()
    together = 0
    async for stop in tour.stops():
        if len(stop.view.seats_to_act) < 2:
            continue
        views = [(seat, await tour.view(seat)) for seat in reversed(stop.view.seats_to_act)]
        answers = await asyncio.gather(
            *(tour.play(seat, view, view.legal_actions[0]) for seat, view in views)
        )
        # The turn told is that of the decision then open: another one for the last to choose.
        assert sorted(each.receipt.turn for each in answers)[:-1] == [stop.view.turn] * (
            len(views) - 1
        )
        together += 1
    assert together


@GAME_IDS
async def test_an_action_that_is_not_legal_now_is_refused_and_changes_nothing(tour: Tour) -> None:
    """Cards not held, played before, of a wrong suit or for another phase: all seen in a match."""
    await tour.sit_down()
    async for _ in tour.stops():
        pass
    tour.kinds = set()
    await tour.sit_down()
    tried = 0
    async for stop in tour.stops():
        legal = {each.SerializeToString(deterministic=True) for each in stop.view.legal_actions}
        before = await tour.views()
        for name in tour.chance.sample(sorted(set(tour.seen) - legal), 8):
            refusal = await refused(tour.play(stop.seat, stop.view, tour.seen[name]))
            assert refusal.reason == "ILLEGAL_ACTION"
            assert refusal.metadata["rule"]
            tried += 1
        assert await tour.views() == before
    assert tried >= 8


@GAME_IDS
@pytest.mark.parametrize("moment", ["before acting", "after acting"])
async def test_nobody_waits_for_a_seat_that_has_left(tour: Tour, moment: str) -> None:
    await tour.sit_down()
    async for stop in tour.stops(whole=True):
        if moment == "after acting":
            await tour.play(stop.seat, stop.view, stop.view.legal_actions[0])
        table_id, token = tour.sitting.table_id, tour.sitting.tokens[stop.seat]
        if (await tour.house.table(table_id)).state == TableState.TABLE_STATE_FINISHED:
            continue
        await tour.house.leave(table_id, token)

        async def gone_on(seat: int = stop.seat, turn: int = stop.view.turn) -> bool:
            shown = await tour.view(SPECTATOR)
            return seat not in shown.seats_to_act or shown.turn > turn

        await until(gone_on)
        if (await tour.house.table(table_id)).state != TableState.TABLE_STATE_FINISHED:
            joined = await tour.house.join(table_id, token=token)
            assert joined.table.seats[stop.seat].control == SeatControl.SEAT_CONTROL_OCCUPANT
    await tour.check_the_end()


@GAME_IDS
async def test_a_clock_of_a_millisecond_ends_the_match_and_then_stands_still(tour: Tour) -> None:
    control = TimeControl(per_decision=Duration(nanos=10**6), per_match=Duration(nanos=10**6))
    await tour.sit_down(time_control=control)
    left = [each.match_time_left.ToNanoseconds() for each in (await tour.view(SPECTATOR)).clocks]
    assert all(0 <= each <= 10**6 for each in left)

    async def finished() -> bool:
        table = await tour.house.table(tour.sitting.table_id)
        return table.state == TableState.TABLE_STATE_FINISHED

    await until(finished, within_s=60)
    over = await tour.views()
    await asyncio.sleep(0.05)
    assert await tour.views() == over
    assert not any(each.HasField("deadline") for each in (await tour.view(SPECTATOR)).clocks)
    await tour.check_the_end()


@GAME_IDS
async def test_who_comes_late_as_a_spectator_is_shown_what_one_who_was_there_is_shown(
    tour: Tour,
) -> None:
    await tour.sit_down()
    table_id = tour.sitting.table_id
    there = tour.house.watch(table_id, with_views=True)
    shown: dict[int, bytes] = {}
    async for _ in tour.stops():
        late = tour.house.watch(table_id)
        snapshot = (await anext(aiter(late))).snapshot
        late.cancel()
        number = snapshot.view.event_number
        while number not in shown:
            message = await anext(aiter(there))
            if message.HasField("snapshot"):
                shown[message.snapshot.view.event_number] = timeless(message.snapshot.view)
        assert timeless(snapshot.view) == shown[number]
        assert not snapshot.view.legal_actions
