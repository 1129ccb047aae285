"""Watching: everything once and in order, for each viewer what it may know."""

from __future__ import annotations

import asyncio
from typing import Any

import grpc
import pytest

from tavolata.service.calls import address_of
from tavolata.service.tables.wire import event_messages, shared_event_messages
from tavolata.v1 import table_service_pb2 as pb
from tavolata.v1.event_pb2 import ClosingReason, Event, SnapshotReason
from tests.service.house import (
    CALLER,
    GREEDY,
    OPEN,
    House,
    Sitting,
    bearer,
    fresh_id,
    house_in,
    refusal_of,
    until,
)

FINISHED = ClosingReason.CLOSING_REASON_MATCH_FINISHED
START = SnapshotReason.SNAPSHOT_REASON_START
UPDATE = SnapshotReason.SNAPSHOT_REASON_UPDATE
OVERFLOW = SnapshotReason.SNAPSHOT_REASON_OVERFLOW


async def gathered(watch: Any) -> list[pb.WatchTableResponse]:
    """Everything that a watch tells until it closes."""
    told = []
    while (message := await asyncio.wait_for(watch.read(), 30)) is not grpc.aio.EOF:
        told.append(message)
    return told


def events_of(messages: list[pb.WatchTableResponse]) -> list[Event]:
    """The events among messages."""
    return [message.event for message in messages if message.HasField("event")]


async def test_a_watch_begins_with_a_snapshot_and_ends_with_a_closing_message(
    house: House,
) -> None:
    made = await house.create()
    table_id = made.table.table_id
    watching = asyncio.create_task(gathered(house.watch(table_id)))
    joined = await house.join(table_id)
    await house.start(table_id, made.token)
    await house.play_on(Sitting(table_id, made.token, {0: made.token, 1: joined.token}))
    told = await watching
    assert told[0].snapshot.reason == START
    begun = told[0].snapshot.event_number
    table = await house.table(table_id)
    numbers = [event.number for event in events_of(told)]
    assert numbers == list(range(begun + 1, table.last_event + 1))
    assert told[-1].closing.reason == FINISHED
    assert told[-1].closing.resume_after == table.last_event
    assert told[-2].event.table.HasField("match_ended")
    assert told[-2].event.table.match_ended.result == table.result


async def test_after_an_event_number_come_exactly_the_events_after_it(house: House) -> None:
    sitting = await house.sitting(2)
    await house.play_on(sitting)
    whole = events_of(await gathered(house.watch(sitting.table_id, after_event=0)))
    assert [event.number for event in whole] == list(range(1, len(whole) + 1))
    for after in (1, 7, len(whole) // 2, len(whole) - 1, len(whole)):
        told = await gathered(house.watch(sitting.table_id, after_event=after))
        assert events_of(told) == whole[after:]
        assert told[-1].closing.reason == FINISHED


async def test_a_watch_goes_on_across_a_restart_without_gap_or_duplicate(house: House) -> None:
    sitting = await house.sitting(2)
    seen: list[Event] = []

    async def watch() -> ClosingReason.ValueType:
        after = seen[-1].number if seen else 0
        async for message in house.watch(sitting.table_id, sitting.tokens[0], after_event=after):
            if message.HasField("closing"):
                assert message.closing.resume_after == (seen[-1].number if seen else 0)
                reason: ClosingReason.ValueType = message.closing.reason
                return reason
            seen.append(message.event)
        raise AssertionError("the watch ended without a closing message")

    for _ in range(3):
        watching = asyncio.create_task(watch())
        await house.play_on(sitting, 6)
        closing = asyncio.create_task(house.server.stop())  # type: ignore[union-attr]
        assert await watching == ClosingReason.CLOSING_REASON_SHUTTING_DOWN
        await closing
        house.server = None
        await house.channel.close()
        await house.open()
    watching = asyncio.create_task(watch())
    await house.play_on(sitting)
    assert await watching == FINISHED
    assert [event.number for event in seen] == list(range(1, len(seen) + 1))
    again = await gathered(house.watch(sitting.table_id, sitting.tokens[0], after_event=0))
    assert events_of(again) == seen


async def test_every_viewer_gets_the_same_numbers_and_nobody_elses_hand(house: House) -> None:
    sitting = await house.sitting(3)
    await house.play_on(sitting, 4)
    tokens = [None, *(sitting.tokens[seat] for seat in range(3))]
    await house.abort(sitting.table_id, sitting.owner)
    told = [
        events_of(await gathered(house.watch(sitting.table_id, token, after_event=0)))
        for token in tokens
    ]
    assert len({len(each) for each in told}) == 1
    for events in zip(*told, strict=True):
        assert len({(each.number, each.turn, each.time.nanos) for each in events}) == 1
    dealt = [
        [each.game.bouillabaisse.dealt for each in events
         if each.game.bouillabaisse.HasField("dealt")]
        for events in told
    ]  # fmt: skip
    spectator, *seats = dealt
    assert [len(each.cards.cards) for each in spectator] == [0, 0, 0]
    for seat, hands in enumerate(seats):
        assert [len(each.cards.cards) > 0 for each in hands] == [
            each.seat == seat for each in hands
        ]


async def test_a_spectators_view_holds_no_hand_and_no_action(house: House) -> None:
    sitting = await house.sitting(3)
    view = await house.view(sitting.table_id)
    assert not view.HasField("viewer_seat")
    assert not view.legal_actions
    seats = view.game.bouillabaisse.seats
    assert [seat.HasField("hand") for seat in seats] == [False] * 3
    assert all(seat.hand_size for seat in seats)
    own = await house.view(sitting.table_id, sitting.tokens[1])
    assert [seat.HasField("hand") for seat in own.game.bouillabaisse.seats] == [False, True, False]


@pytest.mark.parametrize("game", ["bouillabaisse", "mino_dice"])
async def test_with_views_comes_the_view_as_it_was_after_each_action(
    house: House, game: str
) -> None:
    sitting = await house.sitting(3, game=game)
    token = sitting.tokens[1]

    async def live() -> list[pb.WatchTableResponse]:
        return await gathered(house.watch(sitting.table_id, token, with_views=True, after_event=0))

    watching = asyncio.create_task(live())
    await house.play_on(sitting, 25)
    await house.abort(sitting.table_id, sitting.owner)
    then, later = await watching, await live()
    for told in (then, later):
        for message in told:
            if message.HasField("snapshot"):
                message.snapshot.view.ClearField("server_time")
                message.snapshot.ClearField("table")
    updates = [message.snapshot for message in then if message.HasField("snapshot")]
    assert len(updates) == 27  # the deal, 25 actions, the end
    assert {each.reason for each in updates} == {UPDATE}
    assert [each.view.event_number for each in updates] == [each.event_number for each in updates]
    # Read from the log afterwards, it is told as it was told then.
    assert later == then


async def test_an_update_has_the_table_only_when_that_has_changed(house: House) -> None:
    sitting = await house.sitting(2, stand_in=GREEDY)
    watch = house.watch(sitting.table_id, sitting.tokens[0], with_views=True)
    first = await watch.read()
    assert first.snapshot.HasField("table")
    await house.play_on(sitting, 1)
    update: Any = None
    while update is None:
        message = await watch.read()
        if message.HasField("snapshot"):
            update = message.snapshot
    assert not update.HasField("table")
    await house.resign(sitting.table_id, sitting.tokens[1])
    update = None
    while update is None:
        message = await watch.read()
        if message.HasField("snapshot"):
            update = message.snapshot
    assert update.HasField("table")
    watch.cancel()


async def test_a_watcher_that_does_not_read_is_moved_ahead_by_a_snapshot(
    tmp_path: Any,
) -> None:
    async with house_in(tmp_path, backlog_max=16) as house:
        sitting = await house.sitting(2)
        # Small windows, so that the server can't push much to a client that doesn't read.
        options = [
            ("grpc.http2.lookahead_bytes", 1024),
            ("grpc.http2.bdp_probe", 0),
            ("grpc.use_local_subchannel_pool", 1),
        ]
        channel = grpc.aio.insecure_channel(house.target, options=options)
        call: Any = channel.unary_stream(
            "/tavolata.v1.TableService/WatchTable",
            pb.WatchTableRequest.SerializeToString,
            pb.WatchTableResponse.FromString,
        )
        watch = call(
            pb.WatchTableRequest(table_id=sitting.table_id, with_views=True),
            metadata=bearer(sitting.tokens[0]),
        )
        first = await watch.read()
        assert first.snapshot.reason == START
        await house.play_on(sitting)
        await asyncio.sleep(0.1)
        told = await gathered(watch)
        await channel.close()
        table = await house.table(sitting.table_id)
        jumps = [m.snapshot for m in told if m.snapshot.reason == OVERFLOW]
        assert jumps
        sent = first.snapshot.event_number
        for message in told:
            if message.HasField("event"):
                assert message.event.number == sent + 1
                sent += 1
            elif message.snapshot.reason == OVERFLOW:
                assert message.snapshot.event_number > sent
                sent = message.snapshot.event_number
        assert told[-1].closing.resume_after == sent == table.last_event
        # What was skipped can be fetched.
        fetched = events_of(await gathered(house.watch(sitting.table_id, after_event=0)))
        assert [event.number for event in fetched] == list(range(1, sent + 1))


async def test_an_event_that_has_not_happened_is_out_of_range(house: House) -> None:
    made = await house.create()
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await gathered(house.watch(made.table.table_id, after_event=5))
    found = refusal_of(error.value)
    assert (found.code, found.reason) == (grpc.StatusCode.OUT_OF_RANGE, "EVENT_OUT_OF_RANGE")
    assert found.metadata == {"after_event": "5", "last_event": "0"}


async def test_a_watch_ends_when_its_token_becomes_void(house: House) -> None:
    made = await house.create()
    table_id = made.table.table_id
    joined = await house.join(table_id)
    watch = house.watch(table_id, joined.token)
    await watch.read()
    request = pb.SetSeatRequest(request_id=fresh_id(), table_id=table_id, seat=1, ai=GREEDY)
    await house.stub.SetSeat(request, metadata=bearer(made.token))
    told = await gathered(watch)
    assert told[-1].closing.reason == ClosingReason.CLOSING_REASON_TOKEN_VOID


async def test_a_watch_of_an_aborted_table_closes(house: House) -> None:
    made = await house.create([CALLER, OPEN])
    watching = asyncio.create_task(gathered(house.watch(made.table.table_id)))
    await house.abort(made.table.table_id, made.token)
    told = await watching
    assert told[-1].closing.reason == ClosingReason.CLOSING_REASON_MATCH_ABORTED


async def test_watchers_that_go_away_leave_nothing_behind(house: House) -> None:
    made = await house.create()
    watches = [house.watch(made.table.table_id) for _ in range(20)]
    for watch in watches:
        await watch.read()
    assert house.server is not None
    hub = house.server.core.hub
    assert hub.count == 20
    for watch in watches:
        watch.cancel()

    async def none_left() -> bool:
        return hub.count == 0

    await until(none_left)


async def test_only_so_many_may_watch_one_table(tmp_path: Any) -> None:
    async with house_in(tmp_path, watchers_max=2) as house:
        made = await house.create()
        watches = [house.watch(made.table.table_id) for _ in range(2)]
        for watch in watches:
            await watch.read()
        with pytest.raises(grpc.aio.AioRpcError) as error:
            await house.watch(made.table.table_id).read()
        found = refusal_of(error.value)
        assert (found.code, found.reason) == (
            grpc.StatusCode.RESOURCE_EXHAUSTED,
            "LIMIT_EXCEEDED",
        )
        assert found.metadata["allowed"] == "2"
        assert found.retry
        for watch in watches:
            watch.cancel()


async def test_a_watch_goes_on_with_the_table_that_is_loaded_anew_before_its_first_message(
    house: House,
) -> None:
    sitting = await house.sitting(2)
    assert house.server is not None
    core = house.server.core
    watch = await core.hub.open(sitting.table_id, None, None, False)
    core.tables._drop(watch.table)
    told = core.hub.told(watch)
    last = (await anext(told)).event_number  # type: ignore[union-attr]
    await house.play_on(sitting, 1)
    event = await asyncio.wait_for(anext(told), 20)
    assert isinstance(event, Event)
    assert event.number == last + 1
    await told.aclose()  # type: ignore[attr-defined]
    assert core.hub.count == 0


async def test_one_caller_cant_take_all_places_of_a_table(tmp_path: Any) -> None:
    async with house_in(tmp_path, watchers_max=4, caller_watchers_max=1) as house:
        sitting = await house.sitting(2)
        callers = [None, sitting.tokens[0], sitting.tokens[1]]
        watches = [house.watch(sitting.table_id, token) for token in callers]
        for watch in watches:
            await watch.read()
        for token in callers:
            with pytest.raises(grpc.aio.AioRpcError) as error:
                await house.watch(sitting.table_id, token).read()
            found = refusal_of(error.value)
            assert (found.code, found.reason) == (
                grpc.StatusCode.RESOURCE_EXHAUSTED,
                "LIMIT_EXCEEDED",
            )
            assert found.metadata["limit"] == "watchers of one table by one caller"
            assert found.retry
        other = await house.sitting(2)
        elsewhere = house.watch(other.table_id)
        assert await elsewhere.read()
        watches[0].cancel()

        async def watched_again() -> bool:
            watch = house.watch(sitting.table_id)
            try:
                await watch.read()
            except grpc.aio.AioRpcError:
                return False  # the place isn't free yet
            watch.cancel()
            return True

        await until(watched_again)
        for watch in [*watches, elsewhere]:
            watch.cancel()


async def test_watches_of_a_table_that_is_removed_say_so(tmp_path: Any) -> None:
    async with house_in(tmp_path, open_table_s=1) as house:
        made = await house.create()
        table_id = made.table.table_id
        watches = [house.watch(table_id, token) for token in (None, made.token)]
        for watch in watches:
            assert (await watch.read()).snapshot.event_number == made.table.last_event
        assert house.server is not None
        sweep = house.server.core.sweep

        async def is_gone() -> bool:
            await sweep()
            return house.rows("SELECT count(*) FROM tables") == [(0,)]

        await until(is_gone)
        for watch in watches:
            closing = (await watch.read()).closing
            assert closing.reason == ClosingReason.CLOSING_REASON_TABLE_REMOVED
            assert closing.resume_after == made.table.last_event
            assert not closing.HasField("retry_delay")
            assert await watch.read() is grpc.aio.EOF


@pytest.mark.parametrize(
    "peer, address",
    [
        ("ipv4:10.1.2.3:50123", "10.1.2.3"),
        ("ipv6:%5B2001:db8:0:1:2:3:4:5%5D:50123", "2001:db8:0:1::/64"),
        ("ipv6:[2001:db8:0:1::9]:50124", "2001:db8:0:1::/64"),
        ("ipv6:[fe80::1%25eth0]:1", "fe80::/64"),
        ("ipv6:%5B::ffff:10.1.2.3%5D:7", "10.1.2.3"),
        ("unix:", "unix:"),
    ],
)
def test_a_callers_address_is_without_port_and_in_ipv6_a_network(peer: str, address: str) -> None:
    class Context:
        def peer(self) -> str:
            return peer

    assert address_of(Context()) == address


async def test_viewers_share_messages_only_where_they_may_see_the_same(house: House) -> None:
    sitting = await house.sitting(4, game="bouillabaisse")
    await house.play_on(sitting, 3)
    assert house.server is not None
    table = await house.server.core.tables.settled(sitting.table_id)
    last = len(table.happenings)
    viewers = range(-1, 4)
    shared_by_deal = set()
    for after, end in ((0, last), (last - 1, last), (last - 2, last - 1), (0, 2), (last, last)):
        for viewer in viewers:
            own = event_messages(table, viewer, after, end)
            shared = shared_event_messages(table, viewer, after, end)
            assert [bytes(each.SerializeToString()) for each in shared] == [
                bytes(each.SerializeToString()) for each in own
            ]
            if (after, end) == (0, last):
                shared_by_deal.add(id(shared))
    newest = {id(shared_event_messages(table, viewer, last - 1, last)) for viewer in viewers}
    assert len(shared_by_deal) == 5  # each seat its own hand, a spectator none
    assert len(newest) == 1  # everybody sees a card played
