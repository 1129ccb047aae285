"""Over a network that breaks: every change once, every event once, in order."""

from __future__ import annotations

import asyncio
import random
from contextlib import aclosing
from pathlib import Path
from typing import Any

import grpc
import pytest

from tavolata.client import (
    Connection,
    Refused,
    RetryPolicy,
    Seat,
    Unreachable,
    ai_player,
    connect,
    new_request_id,
    open_seat,
    person,
    play_match,
    settings,
)
from tavolata.service.server import Server
from tavolata.v1 import event_pb2, game_pb2, replay_pb2, view_pb2
from tavolata.v1.table_service_pb2 import CreateTableRequest
from tests.client.conftest import started
from tests.client.proxy import Proxy

IMPATIENT = RetryPolicy(
    call_s=20.0, attempt_s=0.5, silence_s=20.0, first_wait_s=0.01, longest_wait_s=0.05
)
GREEDY = ai_player("greedy")


def first(view: view_pb2.View) -> game_pb2.Action:
    return view.legal_actions[0]


async def table(server: Connection, game_id: str = "mino_dice", seats: int = 3) -> Seat:
    return await server.create_table(settings(game_id), [person("Anna"), *[GREEDY] * (seats - 1)])


def events_of(replay: replay_pb2.Replay) -> list[int]:
    return [entry.event.event.number for entry in replay.entries if entry.HasField("event")]


def decisions_of(replay: replay_pb2.Replay, seat: int) -> list[replay_pb2.Decision]:
    decisions = [entry.decision for entry in replay.entries if entry.HasField("decision")]
    return [decision for decision in decisions if decision.seat == seat]


async def watched(seat: Seat, after: int | None, *, with_views: bool) -> list[int]:
    """The numbers of the events of a whole watch; a view is never older than the last of them."""
    numbers: list[int] = []
    async with aclosing(seat.watch(after, with_views=with_views)) as updates:
        async for update in updates:
            if isinstance(update, event_pb2.Event):
                numbers.append(update.number)
            elif isinstance(update, event_pb2.Snapshot) and numbers:
                assert update.event_number == numbers[-1]
    return numbers


def committed(view: view_pb2.View) -> bool:
    return view.game.mino_dice.seats[0].committed


async def events_to(seat: Seat, last: int) -> list[event_pb2.Event]:
    """All events from the first to this one."""
    events: list[event_pb2.Event] = []
    async with aclosing(seat.watch(0, with_views=False)) as updates:
        async for update in updates:
            assert isinstance(update, event_pb2.Event)
            events.append(update)
            if update.number >= last:
                break
    return events


@pytest.mark.parametrize("game_id", ["mino_dice", "bouillabaisse"])
async def test_a_match_over_a_breaking_connection_has_every_event_and_every_decision_once(
    service: Server, game_id: str
) -> None:
    async with (
        Proxy(service.port) as proxy,
        connect(proxy.target, policy=IMPATIENT) as server,
        connect(f"127.0.0.1:{service.port}") as direct,
    ):
        seat = await table(server, game_id)
        watches = [
            asyncio.create_task(watched(server.seat(seat.table_id, seat.token, 0), 0, with_views=w))
            for w in (True, False)
        ]
        await seat.start()
        breaking = asyncio.create_task(proxy.cut_often(0.02, 0.15))
        try:
            result = await play_match(seat, first)
            seen = await asyncio.gather(*watches)
        finally:
            breaking.cancel()
        replay = await direct.replay(seat.table_id)
    assert proxy.cuts > 3
    last = replay.table.last_event
    assert seen == [list(range(1, last + 1))] * 2
    assert events_of(replay) == list(range(1, last + 1))
    mine = decisions_of(replay, 0)
    assert len({decision.turn for decision in mine}) == len(mine)
    assert len({decision.request_id for decision in mine}) == len(mine)
    assert all(decision.made_by == replay_pb2.DECISION_MAKER_PERSON for decision in mine)
    assert [each.total for each in result.seats] == [
        each.total for each in replay.table.result.seats
    ]


async def test_an_action_whose_answer_is_lost_is_recorded_once(service: Server) -> None:
    async with (
        Proxy(service.port) as proxy,
        connect(proxy.target, policy=IMPATIENT) as server,
        connect(f"127.0.0.1:{service.port}") as direct,
    ):
        seat = await table(server)
        await seat.start()
        view = await seat.refresh()
        own = direct.seat(seat.table_id, seat.token, 0)
        bids = view.game.mino_dice
        assert not bids.seats[0].committed

        proxy.swallow = True
        playing = asyncio.create_task(seat.play(first(view), turn=view.turn))
        async with aclosing(own.watch()) as updates:
            async for update in updates:
                if isinstance(update, event_pb2.Snapshot) and committed(update.view):
                    break
        assert not playing.done()
        proxy.cut()
        proxy.swallow = False
        receipt = await playing

        commitments = [
            event.number
            for event in await events_to(own, receipt.event_number)
            if event.game.mino_dice.HasField("bid_committed")
            and event.game.mino_dice.bid_committed.seat == 0
        ]
        assert len(commitments) == 1
        assert commitments[0] <= receipt.event_number


async def test_making_a_table_whose_answer_is_lost_makes_one(service: Server) -> None:
    async with (
        Proxy(service.port) as proxy,
        connect(proxy.target, policy=IMPATIENT) as server,
    ):
        await server.games()
        proxy.swallow = True
        request_id = new_request_id()
        making = asyncio.create_task(
            server.create_table(
                settings("mino_dice"), [person(), GREEDY, GREEDY], request_id=request_id
            )
        )
        await asyncio.sleep(0.1)
        proxy.cut()
        proxy.swallow = False
        made = await making
        await made.start()
        with pytest.raises(Refused) as used:
            await server.create_table(
                settings("mino_dice"), [person(), GREEDY, GREEDY], request_id=request_id
            )
        assert used.value.reason == "REQUEST_ID_REUSED"


async def test_a_token_that_a_late_copy_of_the_request_has_replaced_is_asked_for_again(
    service: Server,
) -> None:
    async with connect(f"127.0.0.1:{service.port}", policy=IMPATIENT) as server:
        wire = server._wire
        asked = 0

        async def create(request: object, **options: Any) -> Any:
            nonlocal asked
            asked += 1
            if asked == 1:
                nothing = grpc.aio.Metadata()
                raise grpc.aio.AioRpcError(grpc.StatusCode.UNAVAILABLE, nothing, nothing)
            answer = await wire.tables.CreateTable(request, **options)  # type: ignore[arg-type]
            if asked == 2:  # the first one arrives after all
                await wire.tables.CreateTable(request, **options)  # type: ignore[arg-type]
            return answer

        request = CreateTableRequest(
            request_id=new_request_id(),
            settings=settings("mino_dice"),
            seats=[person(), GREEDY, GREEDY],
        )
        made = await wire.ask_for_place(create, request)
        assert asked == 3
        await server.seat(made.table.table_id, made.token, made.seat).start()


async def test_a_match_goes_on_when_the_server_is_restarted(tmp_path: Path) -> None:
    db = tmp_path / "tavolata.db"
    server = await started(db)
    port = server.port
    turns = 0

    async def decide(view: view_pb2.View) -> game_pb2.Action:
        nonlocal server, turns
        turns += 1
        if turns in (3, 20):
            await server.stop()
            server = await started(db, port)
        return first(view)

    async with connect(f"127.0.0.1:{port}", policy=IMPATIENT) as connection:
        seat = await table(connection)
        watching = asyncio.create_task(
            watched(connection.seat(seat.table_id, seat.token, 0), 0, with_views=True)
        )
        await seat.start()
        await play_match(seat, decide)
        numbers = await watching
        replay = await connection.replay(seat.table_id)
    await server.stop()
    assert turns == len(decisions_of(replay, 0)) > 20
    assert numbers == list(range(1, replay.table.last_event + 1))


async def test_a_reader_that_is_too_slow_gets_every_event_all_the_same(tmp_path: Path) -> None:
    server = await started(tmp_path / "tavolata.db", backlog_max=16)
    async with (
        Proxy(server.port) as proxy,
        connect(f"127.0.0.1:{server.port}") as direct,
        connect(proxy.target, policy=IMPATIENT) as through_proxy,
    ):
        seat = await table(direct, "bouillabaisse", 12)
        slow = through_proxy.seat(seat.table_id, seat.token, 0)
        async with aclosing(slow.watch(with_views=True)) as updates:
            start = await anext(updates)
            assert isinstance(start, event_pb2.Snapshot)
            # More is sent than fits on the way, so the server comes to skip some of it.
            proxy.flowing.clear()
            await seat.start()
            await play_match(seat, first)
            proxy.flowing.set()
            numbers = [
                update.number async for update in updates if isinstance(update, event_pb2.Event)
            ]
        last = (await direct.table(seat.table_id)).last_event
    await server.stop()
    assert numbers == list(range(start.event_number + 1, last + 1))


@pytest.mark.parametrize("seed", [1, 2])
async def test_many_seats_on_one_play_stream_survive_its_breaking(
    service: Server, seed: int
) -> None:
    chance = random.Random(seed)

    def any_action(view: view_pb2.View) -> game_pb2.Action:
        return chance.choice(view.legal_actions)

    async with (
        Proxy(service.port) as proxy,
        connect(proxy.target, policy=IMPATIENT) as server,
        server.play_stream() as stream,
    ):
        own = await server.create_table(
            settings("mino_dice"), [person("Anna"), open_seat(), GREEDY]
        )
        other = await server.join(own.table_id, "Bruno")
        cards = await table(server, "bouillabaisse", 2)
        for owner in (own, cards):
            await owner.start()
        attached = [stream.attach(seat) for seat in (own, other, cards)]
        breaking = asyncio.create_task(proxy.cut_often(0.03, 0.15))
        try:
            results = await asyncio.gather(*(play_match(each, any_action) for each in attached))
        finally:
            breaking.cancel()
        assert proxy.cuts > 1
        assert results[0] == results[1]
        for seat, result in ((own, results[0]), (cards, results[2])):
            replay = await server.replay(seat.table_id)
            assert replay.table.result == result
            ids = [each.request_id for each in decisions_of(replay, 0)]
            assert len(set(ids)) == len(ids)


async def test_refusals_on_a_play_stream_are_raised_and_leave_it_open(service: Server) -> None:
    async with (
        connect(f"127.0.0.1:{service.port}", policy=IMPATIENT) as server,
        server.play_stream() as stream,
    ):
        seat = await table(server)
        attached = stream.attach(seat)
        with pytest.raises(Refused) as early:
            await attached.play(bid(0), turn=0)
        assert early.value.reason == "MATCH_NOT_STARTED"
        nobody = stream.attach(server.seat(seat.table_id, "x", 0))
        with pytest.raises(Refused) as stranger:
            await anext(nobody.watch())
        assert stranger.value.reason == "BAD_TOKEN"
        await seat.start()
        with pytest.raises(Refused) as late:
            await attached.play(bid(0), turn=7)
        assert late.value.reason == "STALE_TURN"
        assert late.value.metadata["current_turn"] == "0"
        result = await play_match(attached, first)
        assert len(result.seats) == 3


async def test_a_seat_that_is_detached_is_off_the_stream_and_can_be_attached_again(
    service: Server,
) -> None:
    async with (
        connect(f"127.0.0.1:{service.port}", policy=IMPATIENT) as server,
        server.play_stream() as stream,
    ):
        seat = await table(server)
        await seat.start()
        attached = stream.attach(seat)
        updates = attached.watch()
        assert isinstance(await anext(updates), event_pb2.Snapshot)
        attached.detach()
        async for update in updates:
            if isinstance(update, event_pb2.Closing):
                assert update.reason == event_pb2.CLOSING_REASON_DETACHED
        result = await play_match(stream.attach(seat), first)
        assert result == (await server.table(seat.table_id)).result


async def test_a_seat_never_goes_back_to_an_older_view(service: Server) -> None:
    async with connect(f"127.0.0.1:{service.port}", policy=IMPATIENT) as server:
        seat = await table(server)
        await seat.start()
        view = await seat.refresh()
        table_now = await server.table(seat.table_id)
        older = event_pb2.Snapshot(
            event_number=view.event_number - 1,
            view=view_pb2.View(event_number=view.event_number - 1, turn=99),
        )
        seat.table = table_now
        seat.heed(older)
        assert seat.view is view
        assert seat.table is table_now


def bid(tricks: int) -> game_pb2.Action:
    action = game_pb2.Action()
    action.mino_dice.bid.tricks = tricks
    return action


async def test_refusals_have_reason_code_and_metadata(service: Server) -> None:
    async with connect(f"127.0.0.1:{service.port}", policy=IMPATIENT) as server:
        with pytest.raises(Refused) as unknown:
            await server.game("chess")
        assert unknown.value.reason == "UNKNOWN_GAME"
        assert unknown.value.code == grpc.StatusCode.NOT_FOUND
        assert unknown.value.metadata["game_id"] == "chess"
        assert {"mino_dice", "bouillabaisse"} <= set(
            unknown.value.metadata["allowed"].replace(" ", "").split(",")
        )

        seat = await table(server)
        await seat.start()
        with pytest.raises(Refused) as illegal:
            await seat.play(bid(2))  # hand 1 has one trick
        assert illegal.value.reason == "ILLEGAL_ACTION"
        assert illegal.value.metadata["rule"] == "MD-4"

        with pytest.raises(Refused) as fields:
            await server.create_table(settings(""), [])
        assert fields.value.field_violations


async def test_nobody_at_the_other_end_is_said_when_the_time_is_up() -> None:
    policy = RetryPolicy(call_s=0.3, attempt_s=0.1, silence_s=0.3, first_wait_s=0.01)
    async with connect("127.0.0.1:9", policy=policy) as server:
        with pytest.raises(Unreachable):
            await server.games()
        with pytest.raises(Unreachable):
            await anext(server.watch("T"))
