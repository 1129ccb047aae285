"""Tables that keep spectators behind: nothing newer than the delay by any call."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration

from tavolata.service.clock import SystemClock
from tavolata.v1 import table_service_pb2 as pb
from tavolata.v1.event_pb2 import ClosingReason, Event
from tavolata.v1.play_pb2 import AttachSeat
from tavolata.v1.table_pb2 import Table, TableState
from tavolata.v1.view_pb2 import View
from tests.service.house import AI, CALLER, OPEN, House, bearer, fresh_id, refusal_of, refused
from tests.service.test_watch import events_of, gathered

WAITING = TableState.TABLE_STATE_OPEN
FINISHED = ClosingReason.CLOSING_REASON_MATCH_FINISHED
HOUR = Duration(seconds=3600)


class LaterClock(SystemClock):
    """The machine's clock, put forward."""

    def __init__(self) -> None:
        self.by_us = 0

    def now_us(self) -> int:
        return super().now_us() + self.by_us


def clock_of(house: House) -> LaterClock:
    """The clock by which the house's tables are shown, to be put forward."""
    assert house.server is not None
    tables = house.server.core.tables
    if not isinstance(tables.clock, LaterClock):
        tables.clock = LaterClock()
    return tables.clock


async def told_to(house: House, table_id: str, token: str | None = None) -> dict[str, Any]:
    """What reading calls say of a table, whatever is refused included."""
    told: dict[str, Any] = {"table": (await house.table(table_id))}
    for name, call in (("view", house.view), ("replay", house.replay)):
        try:
            told[name] = await call(table_id, token)
        except grpc.aio.AioRpcError as error:
            told[name] = refusal_of(error).reason
    watch = house.watch(table_id, token)
    first = await watch.read()
    watch.cancel()
    told["snapshot"] = first.snapshot
    return told


async def test_from_the_start_on_spectators_are_shown_the_table_before_it(house: House) -> None:
    sitting = await house.sitting(2, spectator_delay=HOUR, start=False)
    before = await house.table(sitting.table_id)
    assert before.seats[1].occupant.HasField("person")  # what comes before the match isn't late
    await house.start(sitting.table_id, sitting.owner)
    for again in (False, True):
        if again:
            await house.restart()
        await house.play_on(sitting, 5)
        told = await told_to(house, sitting.table_id)
        assert told["table"] == before
        assert told["view"] == told["replay"] == "MATCH_NOT_STARTED"
        assert told["snapshot"].event_number == before.last_event
        assert told["snapshot"].table == before
        assert not told["snapshot"].HasField("view")
        mine = await house.view(sitting.table_id, sitting.owner)
        assert mine.event_number > before.last_event
    await house.play_on(sitting)
    told = await told_to(house, sitting.table_id)
    assert told["table"] == before
    assert told["replay"] == "MATCH_NOT_STARTED"
    assert (await house.replay(sitting.table_id, sitting.owner)).entries


async def test_spectators_see_what_was_when_it_is_old_enough(house: House) -> None:
    clock = clock_of(house)
    sitting = await house.sitting(2, spectator_delay=HOUR)
    seen: list[tuple[int, View, Table]] = []
    while True:
        clock.by_us += 30 * 10**6  # half a minute before each look, and after it
        view = await house.view(sitting.table_id, sitting.owner)
        request = pb.GetTableRequest(table_id=sitting.table_id)
        answer = await house.stub.GetTable(request, metadata=bearer(sitting.owner))
        seen.append((clock.now_us(), view, answer.table))
        if not view.seats_to_act:
            break
        clock.by_us += 30 * 10**6
        await house.play_on(sitting, 1)
    late_us = 3600 * 10**6
    for at_us, mine, table in seen:
        clock.by_us += at_us + late_us + 1000 - clock.now_us()
        told = await house.view(sitting.table_id)
        assert told.event_number == mine.event_number
        assert (told.turn, told.scores, told.result) == (mine.turn, mine.scores, mine.result)
        assert abs(told.server_time.ToMicroseconds() - at_us) < 60 * 10**6
        shown = await house.table(sitting.table_id)
        assert (shown.last_event, shown.state) == (table.last_event, table.state)
        if shown.state == TableState.TABLE_STATE_PLAYING:
            late = await refused(house.replay(sitting.table_id))
            assert late.reason == "MATCH_LIVE"
    assert (await house.replay(sitting.table_id)).entries
    clock.by_us -= late_us  # what was shown once isn't taken back
    assert (await house.view(sitting.table_id)).result == mine.result


async def test_a_watch_of_a_spectator_gets_everything_once_and_late(house: House) -> None:
    late_us = 400_000
    delay = Duration()
    delay.FromMicroseconds(late_us)
    sitting = await house.sitting(2, spectator_delay=delay)
    clock = SystemClock()

    async def watch(**fields: Any) -> list[Event]:
        events = []
        async for message in house.watch(sitting.table_id, **fields):
            now_us = clock.now_us()
            if message.HasField("event"):
                event = message.event
                events.append(event)
                in_match = event.number > waiting.last_event
                assert not in_match or event.time.ToMicroseconds() + late_us <= now_us
            elif message.HasField("snapshot") and message.snapshot.HasField("view"):
                shown = message.snapshot.view
                assert shown.server_time.ToMicroseconds() + late_us <= now_us
        assert message.closing.reason == FINISHED
        assert message.closing.resume_after == events[-1].number
        return events

    waiting = await house.table(sitting.table_id)
    assert waiting.state == WAITING
    watching = [
        asyncio.create_task(watch(after_event=0)),
        asyncio.create_task(watch(after_event=0, with_views=True)),
        asyncio.create_task(watch(after_event=waiting.last_event + 9)),
    ]
    await house.play_on(sitting)
    own = events_of(await gathered(house.watch(sitting.table_id, sitting.owner, after_event=0)))
    whole, with_views, rest = await asyncio.gather(*watching)
    numbers = [event.number for event in own]
    assert [event.number for event in whole] == numbers
    assert with_views == whole
    assert rest == whole[waiting.last_event + 9 :]
    now = events_of(await gathered(house.watch(sitting.table_id, after_event=0)))
    assert now == whole


async def test_event_numbers_that_are_tried_tell_nothing(house: House) -> None:
    sitting = await house.sitting(2, spectator_delay=HOUR)
    await house.play_on(sitting, 5)
    assert house.server is not None
    last = house.server.core.tables._tables[sitting.table_id].durable_events
    for after in (last - 1, last, last + 1, 10**6):
        watch = house.watch(sitting.table_id, after_event=after)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(watch.read(), 0.1)
        watch.cancel()
    seat = await refused(
        gathered(house.watch(sitting.table_id, sitting.owner, after_event=last + 1))
    )
    assert seat.reason == "EVENT_OUT_OF_RANGE"
    stream: Any = house.stub.PlayStream()
    attach = AttachSeat(handle=1, table_id=sitting.table_id)
    await stream.write(pb.PlayStreamRequest(attach=attach))
    attached = await stream.read()
    before = (await house.table(sitting.table_id)).last_event
    assert attached.attached.last_event == before < last
    stream.cancel()
    # Once all is shown, a number that there never was is refused.
    await house.play_on(sitting)
    clock_of(house).by_us = 3700 * 10**6
    told = await refused(gathered(house.watch(sitting.table_id, after_event=10**6)))
    assert told.reason == "EVENT_OUT_OF_RANGE"


async def test_an_owner_without_a_seat_is_a_spectator_in_answers_to_changes_too(
    house: House,
) -> None:
    made = await house.create([AI, AI], spectator_delay=HOUR)
    table_id, owner = made.table.table_id, made.token
    start = pb.StartMatchRequest(request_id=fresh_id(), table_id=table_id)
    for _ in range(2):  # the same request again later, too
        begun = await house.stub.StartMatch(start, metadata=bearer(owner))
        assert begun.table == made.table
        await asyncio.sleep(0.05)
    request = pb.GetTableRequest(table_id=table_id)
    answer = await house.stub.GetTable(request, metadata=bearer(owner))
    assert answer.table == made.table
    assert (await refused(house.view(table_id, owner))).reason == "MATCH_NOT_STARTED"


async def test_a_token_that_is_void_shows_no_more_than_none(house: House) -> None:
    made = await house.create([CALLER, OPEN, AI], spectator_delay=HOUR, fill_empty_seats={})
    table_id = made.table.table_id
    joined = await house.join(table_id)
    leave = pb.LeaveTableRequest(request_id=fresh_id(), table_id=table_id)
    left = await house.stub.LeaveTable(leave, metadata=bearer(joined.token))
    await house.start(table_id, made.token)
    again = await house.stub.LeaveTable(leave, metadata=bearer(joined.token))
    assert again.table == left.table
    assert again.table.state == WAITING


async def test_equal_bytes_whatever_was_played_in_the_meantime(house: House) -> None:
    """Two matches that differ after the start alone, shown to spectators."""
    tables = []
    for which in (0, -1):
        sitting = await house.sitting(2, spectator_delay=HOUR)
        for _ in range(4):
            somebody = await house.view(sitting.table_id, sitting.owner)
            token = sitting.tokens[somebody.seats_to_act[0]]
            view = await house.view(sitting.table_id, token)
            await house.play(sitting.table_id, token, view, which=which)
        told = await told_to(house, sitting.table_id)
        for message in (told["table"], told["snapshot"].table):
            for name in ("table_id", "fairness", "create_time", "expire_time"):
                message.ClearField(name)
        tables.append(told)
    for one, other in itertools.pairwise(tables):
        assert one == other
