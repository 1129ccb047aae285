"""PlayStream: many seats over one stream, with the code of PlayAction and WatchTable beneath.

What the watches tell is made when it can be sent: a stream that isn't read keeps its places in the
logs of its tables, not their events. There is one task for all that is sent, not one a seat; what
is ready at the same time goes into one message if the client takes that.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Coroutine, Sequence
from dataclasses import dataclass

from google.protobuf.message import Message

from tavolata.service.calls import fault_refusal
from tavolata.service.ports import Entropy
from tavolata.service.refusals import Refused, invalid_field, to_refusal
from tavolata.service.tables import refuse
from tavolata.service.tables.model import SPECTATOR
from tavolata.service.tables.playing import Playing
from tavolata.service.watch import Told, Watch, WatchHub
from tavolata.v1.event_pb2 import Closing, ClosingReason, Event, Snapshot
from tavolata.v1.play_pb2 import Attached, AttachSeat, PlayAttached, PlayResult, Pong
from tavolata.v1.table_service_pb2 import PlayStreamRequest, PlayStreamResponse

DUE_MAX = 256  # answers that wait for the client to read, and actions whose result is due
HANDLES_MAX = 1_000
GATHER_MAX = 256  # messages made at a time, about
GATHER_BYTES = 32 << 10  # of snapshots among them


@dataclass(slots=True, eq=False)
class _Handle:
    """An attached seat, and the bell of its watch. rung: it waits to be asked for what it has to
    tell; moving: its watch is; pausing: it will be rung by the clock."""

    session: PlayStreamSession
    number: int
    table_id: str
    token: str | None
    rung: bool = False
    moving: bool = False
    pausing: bool = False

    def set(self) -> None:
        """Ask its watch as soon as the client can take more."""
        if not self.rung:
            self.rung = True
            self.session.ring(self)


class PlayStreamSession:
    """One stream."""

    def __init__(
        self,
        playing: Playing,
        hub: WatchHub,
        entropy: Entropy,
        *,
        handles_max: int = HANDLES_MAX,
        address: str = "",
    ) -> None:
        """handles_max: attached at a time; address: where the caller is."""
        self._handles_max = handles_max
        self._address = address
        self._entropy = entropy
        self._playing = playing
        self._hub = hub
        self._in_batches = False
        self._handles: dict[int, tuple[_Handle, Watch]] = {}
        self._plays: set[asyncio.Task[None]] = set()
        self._others: set[asyncio.Task[None]] = set()
        self._ready: deque[tuple[int, str, Message]] = deque()  # before what the watches tell
        self._rung: deque[_Handle] = deque()
        self._waiting: asyncio.Future[None] | None = None  # for something to send
        self._full: asyncio.Future[None] | None = None  # until there is room for more

    async def answers(
        self, requests: AsyncIterator[PlayStreamRequest | Refused]
    ) -> AsyncIterator[PlayStreamResponse]:
        """What the server sends, until the client has half-closed or the server stops."""
        running = asyncio.create_task(self._run(requests))
        running.add_done_callback(lambda _: self._wake())
        try:
            while True:
                responses = self._gather()
                for response in responses:
                    yield response
                if responses:
                    continue
                if running.done() and (running.exception() is not None or not self._handles):
                    break
                await self._something()
            await running
            if self._hub.stopped.is_set():
                raise refuse.shutting_down()
        finally:
            tasks = [running, *self._plays, *self._others]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            for _, watch in self._handles.values():
                self._hub.close(watch)

    # -- sending ----------------------------------------------------------------------------------

    def ring(self, handle: _Handle) -> None:
        """There may be more to tell for a handle."""
        self._rung.append(handle)
        self._wake()

    def _send(self, handle: int, field: str, message: Message) -> None:
        self._ready.append((handle, field, message))
        self._wake()

    def _wake(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    async def _something(self) -> None:
        self._waiting = asyncio.get_running_loop().create_future()
        await self._waiting
        # Whatever the same commit has settled comes first, so that all of it is sent together.
        await asyncio.sleep(0)

    def _gather(self) -> Sequence[PlayStreamResponse]:
        """What there is to send at present, or the beginning of that."""
        answer = PlayStreamResponse()
        singles, size = answer.batch.responses, 0
        while self._ready and len(singles) < GATHER_MAX and size < GATHER_BYTES:
            number, field, message = self._ready.popleft()
            getattr(singles.add(handle=number), field).CopyFrom(message)
            size += message.ByteSize() if field == "snapshot" else 0
        while self._rung and len(singles) < GATHER_MAX and size < GATHER_BYTES:
            handle = self._rung.popleft()
            handle.rung = False
            for told in self._told(handle):
                response = singles.add(handle=handle.number)
                if isinstance(told, Event):
                    response.event.CopyFrom(told)
                else:
                    getattr(response, _field_of(told)).CopyFrom(told)
                    size += told.ByteSize()
        if self._full is not None and not self._is_full():
            self._full.set_result(None)
            self._full = None
        return (answer,) if self._in_batches and len(singles) > 1 else singles

    def _is_full(self) -> bool:
        return len(self._ready) + len(self._plays) >= DUE_MAX

    # -- taking -----------------------------------------------------------------------------------

    async def _run(self, requests: AsyncIterator[PlayStreamRequest | Refused]) -> None:
        """Take the client's messages to their end, or until the server stops; then let all handles
        end once the results that are due are there."""
        taking = asyncio.create_task(self._take_all(requests))
        stopped = asyncio.create_task(self._hub.stopped.wait())
        try:
            await asyncio.wait([taking, stopped], return_when=asyncio.FIRST_COMPLETED)
            if taking.done():
                taking.result()
        finally:
            taking.cancel()
            stopped.cancel()
            await asyncio.gather(taking, stopped, return_exceptions=True)
        while self._plays:
            await asyncio.wait(self._plays)
        for _, watch in list(self._handles.values()):
            watch.end(ClosingReason.CLOSING_REASON_DETACHED)

    async def _take_all(self, requests: AsyncIterator[PlayStreamRequest | Refused]) -> None:
        async for request in requests:
            if not isinstance(request, Refused) and request.HasField("batch"):
                self._in_batches = True
                for each in request.batch.requests:
                    await self._take(each)
            else:
                await self._take(request)

    async def _take(self, request: PlayStreamRequest | Refused) -> None:
        while self._is_full():
            self._full = asyncio.get_running_loop().create_future()
            await self._full
        handle = 0
        try:
            if isinstance(request, Refused):
                raise request
            match request.WhichOneof("message"):
                case "play":
                    self._start(self._play(request.play), self._plays)
                case "attach":
                    handle = request.attach.handle
                    await self._attach(request.attach)
                case "detach":
                    handle = request.detach.handle
                    self._handle(handle)[1].end(ClosingReason.CLOSING_REASON_DETACHED)
                case "ping":
                    pong = Pong(payload=request.ping.payload, server_time=self._hub.time())
                    self._send(0, "pong", pong)
                case "batch":
                    raise invalid_field("batch.requests", "hold a batch", "single messages")
                case _:
                    allowed = "attach, play, detach, ping or batch"
                    raise invalid_field("message", "is empty", allowed)
        except Refused as refused:
            self._send(handle, "refused", to_refusal(refused))

    def _start(self, work: Coroutine[None, None, None], tasks: set[asyncio.Task[None]]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    def _handle(self, number: int) -> tuple[_Handle, Watch]:
        found = self._handles.get(number)
        if found is None:
            raise refuse.unknown_handle(number)
        return found

    # -- watching ---------------------------------------------------------------------------------

    async def _attach(self, attach: AttachSeat) -> None:
        number = attach.handle
        if number == 0:
            raise invalid_field("attach.handle", "is 0", "1 to 4294967295")
        if number in self._handles:
            raise refuse.handle_in_use(number)
        if len(self._handles) >= self._handles_max:
            raise refuse.limit_exceeded("handles of one stream", self._handles_max, 1.0)
        handle = _Handle(self, number, attach.table_id, attach.token or None)
        watch = await self._hub.open(
            attach.table_id,
            handle.token,
            attach.after_event if attach.HasField("after_event") else None,
            attach.with_views,
            self._address,
            with_thinking=attach.with_thinking,
            wake=handle,
        )
        self._handles[number] = (handle, watch)
        seat = None if watch.viewer == SPECTATOR else watch.viewer
        self._send(number, "attached", Attached(seat=seat, last_event=watch.owed))
        handle.set()

    def _told(self, handle: _Handle) -> Sequence[Told]:
        """What a handle's watch tells; should it fail, the handle is free and its place refused."""
        kept, watch = self._handles.get(handle.number, (None, None))
        if kept is not handle or watch is None or handle.moving:
            return ()
        try:
            told = self._hub.next(watch)
            pause_s = self._hub.pause_s(watch)
        except Exception as error:  # noqa: BLE001 - told as a fault, with the whole of it in the log
            self._fail(handle, watch, error)
            return ()
        if watch.over:
            del self._handles[handle.number]
        elif watch.must_move:
            handle.moving = True
            self._start(self._move(handle, watch), self._others)
        elif watch.has_more:
            handle.set()
        elif pause_s is not None and not handle.pausing:
            handle.pausing = True
            self._start(self._pause(handle, pause_s), self._others)
        return told

    async def _pause(self, handle: _Handle, seconds: float) -> None:
        await self._hub.pause(seconds)
        handle.pausing = False
        handle.set()

    async def _move(self, handle: _Handle, watch: Watch) -> None:
        try:
            for told in await self._hub.move(watch):
                self._send(handle.number, _field_of(told), told)
        except Exception as error:  # noqa: BLE001 - told as a fault, with the whole of it in the log
            self._fail(handle, watch, error)
            return
        handle.moving = False
        if watch.over:
            del self._handles[handle.number]
        else:
            handle.set()

    def _fail(self, handle: _Handle, watch: Watch, error: Exception) -> None:
        self._hub.close(watch)
        del self._handles[handle.number]
        self._send(handle.number, "refused", to_refusal(self._refusal(error)))

    def _refusal(self, error: Exception) -> Refused:
        return error if isinstance(error, Refused) else fault_refusal(self._entropy, error)

    # -- playing ----------------------------------------------------------------------------------

    async def _play(self, play: PlayAttached) -> None:
        """Play and tell the result; nothing else waits for the commit."""
        result = PlayResult(request_id=play.request_id)
        try:
            handle, _ = self._handle(play.handle)
            if handle.token is None:
                raise refuse.missing_token()
            receipt = await self._playing.play(
                handle.table_id, handle.token, play.request_id, play.turn, play.action
            )
            result.receipt.CopyFrom(receipt)
        except Exception as error:  # noqa: BLE001 - told as a fault, with the whole of it in the log
            result.refused.CopyFrom(to_refusal(self._refusal(error)))
        self._send(play.handle, "result", result)


def _field_of(told: Told) -> str:
    """Where a response has what a watch tells."""
    match told:
        case Event():
            return "event"
        case Snapshot():
            return "snapshot"
        case Closing():
            return "closing"
    return "thinking"
