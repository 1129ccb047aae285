"""PlayStream: many seats over one stream, with the code of PlayAction and WatchTable beneath."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

from tavolata.service.calls import fault_refusal
from tavolata.service.ports import Entropy
from tavolata.service.refusals import Refused, invalid_field, to_refusal
from tavolata.service.tables import refuse
from tavolata.service.tables.model import SPECTATOR
from tavolata.service.tables.playing import Playing
from tavolata.service.watch import Watch, WatchHub
from tavolata.v1.event_pb2 import Closing, ClosingReason, Event, Snapshot
from tavolata.v1.play_pb2 import Attached, AttachSeat, PlayAttached, PlayResult, Pong
from tavolata.v1.table_service_pb2 import PlayStreamRequest, PlayStreamResponse

QUEUE_MAX = 128  # messages that wait for the client to read; the watches wait beyond that
HANDLES_MAX = 1_000
ACTIONS_MAX = 256  # actions whose result is due


@dataclass(slots=True)
class _Handle:
    table_id: str
    token: str | None
    watch: Watch
    telling: asyncio.Task[None]


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
        self._handles: dict[int, _Handle] = {}
        self._results: set[asyncio.Task[None]] = set()
        self._out: asyncio.Queue[PlayStreamResponse | None] = asyncio.Queue(QUEUE_MAX)

    async def answers(
        self, requests: AsyncIterator[PlayStreamRequest | Refused]
    ) -> AsyncIterator[PlayStreamResponse]:
        """What the server sends, until the client has half-closed or the server stops."""
        reading = asyncio.create_task(self._read(requests))
        try:
            while (response := await self._out.get()) is not None:
                yield response
            await reading
            if self._hub.stopped.is_set():
                raise refuse.shutting_down()
        finally:
            tasks = [reading, *self._results, *(each.telling for each in self._handles.values())]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            for handle in self._handles.values():
                self._hub.close(handle.watch)  # a task that never began has closed nothing

    async def _read(self, requests: AsyncIterator[PlayStreamRequest | Refused]) -> None:
        """Take the client's messages to the end, then mark the end of what is to be sent."""
        try:
            await self._take_all(requests)
        except Exception:
            await self._out.put(None)
            raise
        await self._out.put(None)

    async def _take_all(self, requests: AsyncIterator[PlayStreamRequest | Refused]) -> None:
        """Take the client's messages in order; at the end send what is due and the closings."""
        stopped = asyncio.create_task(self._hub.stopped.wait())
        coming: asyncio.Future[PlayStreamRequest | Refused | None] | None = None
        try:
            while True:
                coming = asyncio.ensure_future(anext(requests, None))
                await asyncio.wait([coming, stopped], return_when=asyncio.FIRST_COMPLETED)
                if not coming.done():
                    break
                request = coming.result()
                if request is None:
                    break
                await self._take(request)
        finally:
            stopped.cancel()
            if coming is not None:
                coming.cancel()
        await self._finish()

    async def _finish(self) -> None:
        while self._results:
            await asyncio.wait(self._results)
        for handle in list(self._handles.values()):
            handle.watch.end(ClosingReason.CLOSING_REASON_DETACHED)
        await asyncio.gather(*(each.telling for each in list(self._handles.values())))

    async def _take(self, request: PlayStreamRequest | Refused) -> None:
        handle = 0
        try:
            if isinstance(request, Refused):
                raise request
            match request.WhichOneof("message"):
                case "play":
                    await self._begin_play(request.play)
                case "attach":
                    handle = request.attach.handle
                    await self._attach(request.attach)
                case "detach":
                    handle = request.detach.handle
                    self._handle(handle).watch.end(ClosingReason.CLOSING_REASON_DETACHED)
                case "ping":
                    await self._send(0, pong=self._pong(request.ping.payload))
                case _:
                    raise invalid_field("message", "is empty", "attach, play, detach or ping")
        except Refused as refused:
            await self._send(handle, refused=to_refusal(refused))

    def _pong(self, payload: int) -> Pong:
        return Pong(payload=payload, server_time=self._hub.time())

    def _handle(self, number: int) -> _Handle:
        handle = self._handles.get(number)
        if handle is None:
            raise refuse.unknown_handle(number)
        return handle

    async def _send(self, handle: int, **message: object) -> None:
        await self._out.put(PlayStreamResponse(handle=handle, **message))  # type: ignore[arg-type]

    # -- watching ---------------------------------------------------------------------------------

    async def _attach(self, attach: AttachSeat) -> None:
        number = attach.handle
        if number == 0:
            raise invalid_field("attach.handle", "is 0", "1 to 4294967295")
        if number in self._handles:
            raise refuse.handle_in_use(number)
        if len(self._handles) >= self._handles_max:
            raise refuse.limit_exceeded("handles of one stream", self._handles_max, 1.0)
        token = attach.token or None
        after = attach.after_event if attach.HasField("after_event") else None
        watch = await self._hub.open(
            attach.table_id, token, after, attach.with_views, self._address
        )
        seat = None if watch.viewer == SPECTATOR else watch.viewer
        last = watch.table.durable_events
        try:
            await self._send(number, attached=Attached(seat=seat, last_event=last))
        except asyncio.CancelledError:
            self._hub.close(watch)
            raise
        telling = asyncio.create_task(self._tell(number, watch))
        self._handles[number] = _Handle(attach.table_id, token, watch, telling)

    async def _tell(self, number: int, watch: Watch) -> None:
        """Tell what the watch tells; should it fail, the handle is free and its place refused."""
        try:
            async for told in self._hub.told(watch):
                match told:
                    case Event():
                        await self._send(number, event=told)
                    case Snapshot():
                        await self._send(number, snapshot=told)
                    case Closing():
                        del self._handles[number]
                        await self._send(number, closing=told)
            return
        except Refused as refused:
            failure = refused
        except Exception as error:  # noqa: BLE001 - told as a fault, with the whole of it in the log
            failure = fault_refusal(self._entropy, error)
        del self._handles[number]
        await self._send(number, refused=to_refusal(failure))

    # -- playing ----------------------------------------------------------------------------------

    async def _begin_play(self, play: PlayAttached) -> None:
        """Play without keeping other messages waiting for the commit."""
        while len(self._results) >= ACTIONS_MAX:
            await asyncio.wait(self._results, return_when=asyncio.FIRST_COMPLETED)
        task = asyncio.create_task(self._play(play))
        self._results.add(task)
        task.add_done_callback(self._results.discard)

    async def _play(self, play: PlayAttached) -> None:
        result = PlayResult(request_id=play.request_id)
        try:
            handle = self._handle(play.handle)
            if handle.token is None:
                raise refuse.missing_token()
            receipt = await self._playing.play(
                handle.table_id, handle.token, play.request_id, play.turn, play.action
            )
            result.receipt.CopyFrom(receipt)
        except Refused as refused:
            result.refused.CopyFrom(to_refusal(refused))
        except Exception as error:  # noqa: BLE001 - told as a fault, with the whole of it in the log
            result.refused.CopyFrom(to_refusal(fault_refusal(self._entropy, error)))
        await self._send(play.handle, result=result)
