"""PlayStream: many seats over one stream, with the results and guarantees of the single calls."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from tavolata.service.play_stream import DUE_MAX, PlayStreamSession
from tavolata.v1 import errors_pb2
from tavolata.v1 import table_service_pb2 as pb
from tavolata.v1.event_pb2 import ClosingReason
from tavolata.v1.play_pb2 import AttachSeat, DetachSeat, Ping, PlayAttached
from tests.service.house import House, Sitting, fresh_id, house_in, until

DETACHED = ClosingReason.CLOSING_REASON_DETACHED


class Stream:
    """A PlayStream with its messages sorted by handle."""

    def __init__(self, house: House) -> None:
        self.call: Any = house.stub.PlayStream()

    async def send(self, **message: Any) -> None:
        await self.call.write(pb.PlayStreamRequest(**message))

    async def read(self) -> pb.PlayStreamResponse:
        message = await asyncio.wait_for(self.call.read(), 20)
        assert message is not grpc.aio.EOF, "the stream ended"
        return message  # type: ignore[no-any-return]

    async def attach(self, handle: int, sitting: Sitting, seat: int | None, **more: Any) -> None:
        token = "" if seat is None else sitting.tokens[seat]
        await self.send(
            attach=AttachSeat(handle=handle, table_id=sitting.table_id, token=token, **more)
        )


async def test_one_stream_plays_whole_matches_in_all_seats_of_two_tables(house: House) -> None:
    sittings = [await house.sitting(2), await house.sitting(3, game="mino_dice")]
    stream = Stream(house)
    seats: dict[int, tuple[Sitting, int]] = {}
    for sitting in sittings:
        for seat in sitting.tokens:
            handle = len(seats) + 1
            seats[handle] = (sitting, seat)
            await stream.attach(handle, sitting, seat, with_views=True)
    asked: set[tuple[int, int]] = set()
    sent: dict[str, int] = {}
    receipts: dict[str, Any] = {}
    numbers: dict[int, list[int]] = defaultdict(list)
    closed = 0
    while closed < len(seats):
        message = await stream.read()
        handle = message.handle
        match message.WhichOneof("message"):
            case "attached":
                assert message.attached.seat == seats[handle][1]
            case "event":
                numbers[handle].append(message.event.number)
            case "snapshot":
                view = message.snapshot.view
                if view.legal_actions and (handle, view.turn) not in asked:
                    asked.add((handle, view.turn))
                    request_id = fresh_id()
                    sent[request_id] = handle
                    await stream.send(
                        play=PlayAttached(
                            handle=handle,
                            request_id=request_id,
                            turn=view.turn,
                            action=view.legal_actions[0],
                        )
                    )
            case "result":
                assert message.result.HasField("receipt"), message.result
                assert sent[message.result.request_id] == handle
                receipts[message.result.request_id] = message.result.receipt
            case "closing":
                assert message.closing.reason == ClosingReason.CLOSING_REASON_MATCH_FINISHED
                closed += 1
    while len(receipts) < len(sent):
        message = await stream.read()
        receipts[message.result.request_id] = message.result.receipt
    await stream.call.done_writing()
    assert await stream.call.read() is grpc.aio.EOF
    assert await stream.call.code() == grpc.StatusCode.OK
    for handle, (sitting, _) in seats.items():
        last = (await house.table(sitting.table_id)).last_event
        assert numbers[handle] == list(range(numbers[handle][0], last + 1))
    decisions = house.rows("SELECT count(*) FROM entries WHERE kind = 'played'")[0][0]
    assert decisions == len(sent)


async def test_a_refusal_leaves_the_stream_open_and_says_what_a_call_would_say(
    house: House,
) -> None:
    sitting = await house.sitting(2)
    mover = (await house.view(sitting.table_id)).seats_to_act[0]
    view = await house.view(sitting.table_id, sitting.tokens[mover])
    stream = Stream(house)

    async def refused(handle: int, **message: Any) -> Any:
        await stream.send(**message)
        while True:
            answer = await stream.read()
            assert answer.handle == handle or not answer.HasField("refused")
            if answer.HasField("refused"):
                return answer.refused
            if answer.HasField("result"):
                return answer.result.refused

    def play(handle: int, **fields: Any) -> PlayAttached:
        right: dict[str, Any] = {
            "handle": handle,
            "request_id": fresh_id(),
            "turn": view.turn,
            "action": view.legal_actions[0],
        }
        return PlayAttached(**(right | fields))

    reason = errors_pb2.ErrorReason
    found = await refused(0)
    assert found.reason == reason.ERROR_REASON_INVALID_FIELD
    found = await refused(7, play=play(7))
    assert found.reason == reason.ERROR_REASON_UNKNOWN_HANDLE
    assert found.metadata == {"handle": "7"}
    found = await refused(7, detach=DetachSeat(handle=7))
    assert found.reason == reason.ERROR_REASON_UNKNOWN_HANDLE
    found = await refused(0, attach=AttachSeat(table_id=sitting.table_id))
    assert found.reason == reason.ERROR_REASON_INVALID_FIELD
    found = await refused(1, attach=AttachSeat(handle=1, table_id="nowhere"))
    assert found.reason == reason.ERROR_REASON_TABLE_NOT_FOUND
    found = await refused(1, attach=AttachSeat(handle=1, table_id=sitting.table_id, token="A" * 43))
    assert found.reason == reason.ERROR_REASON_BAD_TOKEN
    assert found.code == grpc.StatusCode.UNAUTHENTICATED.value[0]
    await stream.attach(1, sitting, mover)
    found = await refused(1, attach=AttachSeat(handle=1, table_id=sitting.table_id))
    assert found.reason == reason.ERROR_REASON_HANDLE_IN_USE
    found = await refused(1, play=play(1, turn=5))
    assert found.reason == reason.ERROR_REASON_STALE_TURN
    assert found.metadata == {"turn": "5", "current_turn": "0"}
    found = await refused(1, play=play(1, request_id=""))
    assert found.reason == reason.ERROR_REASON_REQUEST_ID_REQUIRED
    await stream.attach(2, sitting, None)
    found = await refused(2, play=play(2))
    assert found.reason == reason.ERROR_REASON_MISSING_TOKEN
    assert house.rows("SELECT count(*) FROM entries WHERE kind = 'played'") == [(0,)]
    await stream.send(play=play(1))
    while not (answer := await stream.read()).HasField("result"):
        pass
    assert answer.result.receipt.turn == 1
    stream.call.cancel()


async def test_an_action_is_idempotent_across_the_stream_and_the_single_call(
    house: House,
) -> None:
    sitting = await house.sitting(2)
    mover = (await house.view(sitting.table_id)).seats_to_act[0]
    token = sitting.tokens[mover]
    view = await house.view(sitting.table_id, token)
    receipt = (await house.play(sitting.table_id, token, view, request_id="both")).receipt
    stream = Stream(house)
    await stream.attach(1, sitting, mover)
    for _ in range(2):
        await stream.send(
            play=PlayAttached(
                handle=1, request_id="both", turn=view.turn, action=view.legal_actions[0]
            )
        )
        while not (answer := await stream.read()).HasField("result"):
            pass
        assert answer.result.receipt == receipt
    stream.call.cancel()
    assert house.rows("SELECT count(*) FROM entries WHERE kind = 'played'") == [(1,)]


async def test_a_handle_that_was_detached_can_be_used_again_and_the_seat_is_kept(
    house: House,
) -> None:
    sitting = await house.sitting(2)
    stream = Stream(house)
    for seat in (0, 1):
        await stream.attach(5, sitting, seat)
        assert (await stream.read()).attached.seat == seat
        await stream.send(detach=DetachSeat(handle=5))
        while not (answer := await stream.read()).HasField("closing"):
            pass
        assert answer.closing.reason == DETACHED
    stream.call.cancel()
    table = await house.table(sitting.table_id)
    assert [seat.occupant.HasField("person") for seat in table.seats] == [True, True]


async def test_half_closing_brings_the_closings_and_status_ok(house: House) -> None:
    sitting = await house.sitting(2)
    stream = Stream(house)
    await stream.send(ping=Ping(payload=42))
    assert (await stream.read()).pong.payload == 42
    for handle in (1, 2):
        await stream.attach(handle, sitting, handle - 1)
    await stream.call.done_writing()
    closings = []
    while (message := await asyncio.wait_for(stream.call.read(), 20)) is not grpc.aio.EOF:
        if message.HasField("closing"):
            closings.append((message.handle, message.closing.reason))
    assert sorted(closings) == [(1, DETACHED), (2, DETACHED)]
    assert await stream.call.code() == grpc.StatusCode.OK


async def test_a_stopping_server_closes_the_handles_and_the_stream(house: House) -> None:
    sitting = await house.sitting(2)
    stream = Stream(house)
    await stream.attach(1, sitting, 0)
    assert (await stream.read()).HasField("attached")
    assert house.server is not None
    stopping = asyncio.create_task(house.server.stop())
    while not (message := await stream.read()).HasField("closing"):
        pass
    assert message.closing.reason == ClosingReason.CLOSING_REASON_SHUTTING_DOWN
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await stream.read()
    assert error.value.code() == grpc.StatusCode.UNAVAILABLE
    await stopping
    house.server = None
    await house.channel.close()


@pytest.mark.parametrize("message", ["ping", "attach"])
async def test_a_stream_that_nobody_reads_any_more_leaves_nothing_behind(
    house: House, message: str
) -> None:
    sitting = await house.sitting(2)
    assert house.server is not None
    core = house.server.core

    async def asked() -> AsyncIterator[pb.PlayStreamRequest]:
        for number in range(1, 4 * DUE_MAX):
            if message == "ping":
                yield pb.PlayStreamRequest(ping=Ping(payload=number))
            else:
                seat = AttachSeat(handle=number, table_id=sitting.table_id, after_event=0)
                yield pb.PlayStreamRequest(attach=seat)
        await asyncio.Event().wait()

    session = PlayStreamSession(core.playing, core.hub, core.tables.entropy)
    answers = session.answers(asked())
    await anext(answers)

    async def full() -> bool:
        return session._is_full()

    await until(full)
    await asyncio.wait_for(answers.aclose(), 20)  # type: ignore[attr-defined]
    assert core.hub.count == 0
    assert not (await core.tables.find(sitting.table_id)).watchers


async def test_a_watch_that_fails_is_told_and_frees_its_handle(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    sitting = await house.sitting(2)
    assert house.server is not None

    def broken(*_: object) -> None:
        raise ValueError("a fault of this server")

    stream = Stream(house)
    with monkeypatch.context() as patched:
        patched.setattr(house.server.core.hub, "_next", broken)
        await stream.attach(3, sitting, 0, after_event=0)
        while not (answer := await stream.read()).HasField("refused"):
            assert answer.HasField("attached")
    assert answer.handle == 3
    assert answer.refused.reason == errors_pb2.ErrorReason.ERROR_REASON_INTERNAL_FAULT
    await stream.attach(3, sitting, 0, after_event=0)
    assert (await stream.read()).attached.seat == 0
    assert (await stream.read()).event.number == 1
    stream.call.cancel()


async def test_a_stream_has_only_so_many_handles_and_a_detached_one_makes_room(
    tmp_path: Path,
) -> None:
    async with house_in(tmp_path, handles_max=2) as house:
        sitting = await house.sitting(2)
        stream = Stream(house)
        for handle, seat in ((1, 0), (2, 1)):
            await stream.attach(handle, sitting, seat, after_event=10**9)
            assert (await stream.read()).HasField("refused")  # takes no room
            last = (await house.table(sitting.table_id)).last_event
            await stream.attach(handle, sitting, seat, after_event=last)
            assert (await stream.read()).attached.seat == seat
        await stream.attach(3, sitting, None, after_event=last)
        answer = await stream.read()
        assert answer.handle == 3
        assert answer.refused.reason == errors_pb2.ErrorReason.ERROR_REASON_LIMIT_EXCEEDED
        assert answer.refused.code == grpc.StatusCode.RESOURCE_EXHAUSTED.value[0]
        assert dict(answer.refused.metadata) == {"limit": "handles of one stream", "allowed": "2"}
        assert answer.refused.HasField("retry_delay")
        await stream.send(detach=DetachSeat(handle=1))
        assert (await stream.read()).closing.reason == DETACHED
        await stream.attach(3, sitting, None, after_event=last)
        assert (await stream.read()).HasField("attached")
        stream.call.cancel()


async def test_who_sends_batches_is_answered_in_batches_and_told_the_same(house: House) -> None:
    sitting = await house.sitting(2)
    mover = (await house.view(sitting.table_id)).seats_to_act[0]
    view = await house.view(sitting.table_id, sitting.tokens[mover])
    stream = Stream(house)
    requests = [
        pb.PlayStreamRequest(
            attach=AttachSeat(
                handle=1 + seat,
                table_id=sitting.table_id,
                token=sitting.tokens[seat],
                after_event=0,
            )
        )
        for seat in range(2)
    ]
    play = PlayAttached(
        handle=1 + mover, request_id="one", turn=view.turn, action=view.legal_actions[0]
    )
    requests += [
        pb.PlayStreamRequest(play=play),
        pb.PlayStreamRequest(batch=pb.PlayStreamRequestBatch()),
        pb.PlayStreamRequest(),
        pb.PlayStreamRequest(ping=Ping(payload=9)),
    ]
    await stream.send(batch=pb.PlayStreamRequestBatch(requests=requests))
    told: list[pb.PlayStreamResponse] = []
    batches = 0

    def receipt() -> Any:
        return next((each.result.receipt for each in told if each.HasField("result")), None)

    def heard(handle: int) -> list[int]:
        events = (each for each in told if each.handle == handle and each.HasField("event"))
        return [each.event.number for each in events]

    while receipt() is None or any(
        len(heard(handle)) < receipt().event_number for handle in (1, 2)
    ):
        message = await stream.read()
        batches += message.HasField("batch")
        told += message.batch.responses if message.HasField("batch") else [message]
    assert batches
    assert not any(each.HasField("batch") for each in told)
    for handle in (1, 2):
        assert heard(handle) == list(range(1, receipt().event_number + 1))
        first = next(each for each in told if each.handle == handle)
        assert first.attached.seat == handle - 1
    refused = [each.refused.reason for each in told if each.HasField("refused")]
    assert refused == [errors_pb2.ERROR_REASON_INVALID_FIELD] * 2
    assert [each.pong.payload for each in told if each.HasField("pong")] == [9]
    stream.call.cancel()


async def test_who_sends_no_batches_gets_none(house: House) -> None:
    sitting = await house.sitting(2)
    stream = Stream(house)
    for seat in range(2):
        await stream.attach(1 + seat, sitting, seat, after_event=0)
    await stream.call.done_writing()
    closings = 0
    while (message := await asyncio.wait_for(stream.call.read(), 20)) is not grpc.aio.EOF:
        assert not message.HasField("batch")
        closings += message.HasField("closing")
    assert closings == 2
