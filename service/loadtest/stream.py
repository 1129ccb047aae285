"""A PlayStream with many seats on it, in batches, that goes on by number when it is cut.

An action without a result is sent once more under its request id when the stream is opened again;
it is counted once, by its result.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import grpc

from tavolata.service.client.errors import Refused, refused_call, refused_in_stream
from tavolata.service.loadtest.follow import Follow
from tavolata.service.loadtest.pacer import Over
from tavolata.service.loadtest.wire import PAUSE_S, Wire
from tavolata.v1.play_pb2 import ActionReceipt, AttachSeat, DetachSeat, PlayAttached, PlayResult
from tavolata.v1.table_service_pb2 import (
    PlayStreamRequest,
    PlayStreamRequestBatch,
    PlayStreamResponse,
)

STREAM, ATTACH, PLAY = "PlayStream", "PlayStream attach", "PlayStream play"
BATCH_MAX = 128  # requests in one message: far less than a server's limit of bytes


@dataclass(slots=True)
class Place:
    """A seat on a stream. asked: when it was last to be attached, until it is."""

    follow: Follow
    token: str
    with_views: bool = False
    heard: Callable[[], None] | None = None
    handle: int = 0
    asked: float | None = None
    is_attached: asyncio.Event = field(default_factory=asyncio.Event)
    lost: Refused | None = None


class Unattached(Exception):
    """The seat went off its stream before the action was taken; a call can tell what came of it."""


class Stream:
    """One stream. `run` keeps it open; places are attached and played meanwhile."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._places: dict[int, Place] = {}
        self._pending: dict[str, tuple[PlayAttached, asyncio.Future[PlayResult]]] = {}
        self._waiting: list[PlayStreamRequest] = []
        self._wake = asyncio.Event()
        self._handles = 0
        self._call: Any = None
        self._is_cut = False

    def cut(self) -> None:
        """Lose the connection; it goes on at once."""
        if self._call is not None:
            self._is_cut = True
            self._call.cancel()

    async def attach(self, place: Place) -> None:
        """Attach a seat; returns when it is. Failed, Over."""
        self._handles += 1
        place.handle = self._handles
        self._places[place.handle] = place
        self._send(self._attaching(place))
        while True:
            await place.is_attached.wait()
            if place.lost is None:
                return
            refusal, place.lost = place.lost, None
            place.is_attached.clear()
            try:
                await self._wire.wait(refusal)
            except BaseException:
                self._places.pop(place.handle, None)
                raise
            self._send(self._attaching(place))

    def detach(self, place: Place) -> None:
        """Take a seat off the stream."""
        if self._places.pop(place.handle, None) is not None and not place.follow.over:
            self._send(PlayStreamRequest(detach=DetachSeat(handle=place.handle)))

    async def play(self, place: Place, request_id: str, turn: int, action: Any) -> ActionReceipt:
        """The receipt of an action. Refused, also where none came in time; Unattached."""
        play = PlayAttached(handle=place.handle, request_id=request_id, turn=turn, action=action)
        result: asyncio.Future[PlayResult] = asyncio.get_running_loop().create_future()
        self._pending[request_id] = (play, result)
        self._send(PlayStreamRequest(play=play))
        try:
            async with asyncio.timeout(self._wire.plan.timeout_s):
                found = await result
        except TimeoutError:
            code = grpc.StatusCode.DEADLINE_EXCEEDED
            raise Refused(code, "", "no result in time") from None
        finally:
            del self._pending[request_id]
        if found.HasField("receipt"):
            return found.receipt
        refusal = refused_in_stream(found.refused)
        if refusal.reason == "UNKNOWN_HANDLE":
            raise Unattached
        raise refusal

    async def run(self) -> None:
        """Open the stream, again and again. Failed, Over."""
        tally = self._wire.tally
        while True:
            began = time.monotonic()
            tally.open["streams"] += 1
            try:
                failure = await self._one_call()
            finally:
                tally.open["streams"] -= 1
                self._call = None
            if failure is not None:
                with suppress(Over):
                    await self._wire.wait(self._wire.refused(STREAM, "", began, failure))

    # -- one connection ---------------------------------------------------------------------------

    async def _one_call(self) -> Refused | None:
        """One connection, until it is cut; or why it failed."""
        self._is_cut = False
        self._call = call = self._wire.stub().PlayStream()
        places = [place for place in self._places.values() if not place.follow.over]
        self._waiting = [self._attaching(place) for place in places]
        self._waiting += [PlayStreamRequest(play=play) for play, _ in self._pending.values()]
        if self._waiting:
            self._wake.set()
        writing = asyncio.create_task(self._write(call))
        try:
            async for response in call:
                for each in _singles(response):
                    self._take(each)
        except grpc.aio.AioRpcError as error:
            return None if self._is_cut else refused_call(error)
        except asyncio.CancelledError:
            # gRPC raises it where a call was cut, too.
            task = asyncio.current_task()
            if not self._is_cut or (task is not None and task.cancelling()):
                raise
            return None
        finally:
            writing.cancel()
            call.cancel()
        code = grpc.StatusCode.UNAVAILABLE
        return None if self._is_cut else Refused(code, "", "the server ended the stream")

    def _attaching(self, place: Place) -> PlayStreamRequest:
        place.asked = time.monotonic()
        return PlayStreamRequest(
            attach=AttachSeat(
                handle=place.handle,
                table_id=place.follow.table_id,
                token=place.token,
                after_event=place.follow.begin(with_views=place.with_views),
                with_views=place.with_views,
            )
        )

    def _send(self, request: PlayStreamRequest) -> None:
        self._waiting.append(request)
        self._wake.set()

    async def _write(self, call: Any) -> None:
        with suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError):
            while True:
                await self._wake.wait()
                self._wake.clear()
                while self._waiting:
                    requests = self._waiting[:BATCH_MAX]
                    del self._waiting[:BATCH_MAX]
                    batch = PlayStreamRequestBatch(requests=requests)
                    await call.write(PlayStreamRequest(batch=batch))

    def _take(self, response: PlayStreamResponse) -> None:
        which = response.WhichOneof("message")
        if which == "result":
            pending = self._pending.get(response.result.request_id)
            if pending is not None and not pending[1].done():
                pending[1].set_result(response.result)
            return
        place = self._places.get(response.handle)
        if place is None:
            return
        if which == "attached":
            self._attached(place)
        elif which == "refused":
            self._refused(place, refused_in_stream(response.refused))
        else:
            place.follow.take(response)
            if place.heard is not None:
                place.heard()
            if which == "closing" and not place.follow.over:
                self._later(place, PAUSE_S)  # the server is stopping, or can't read its store

    def _attached(self, place: Place) -> None:
        if place.asked is not None:
            self._wire.tally.done(ATTACH, place.follow.game, place.asked)
            place.asked = None
        place.is_attached.set()

    def _refused(self, place: Place, refusal: Refused) -> None:
        asked = time.monotonic() if place.asked is None else place.asked
        self._wire.refused(ATTACH, place.follow.game, asked, refusal)
        if not place.is_attached.is_set():
            place.lost = refusal
            place.is_attached.set()
        elif refusal.passing:
            self._later(place, refusal.retry_delay_s or PAUSE_S)

    def _later(self, place: Place, wait_s: float) -> None:
        """Attach a seat again, unless by then a new connection has."""
        call = self._call

        def again() -> None:
            if self._call is call and self._places.get(place.handle) is place:
                self._send(self._attaching(place))

        asyncio.get_running_loop().call_later(wait_s, again)


def _singles(response: PlayStreamResponse) -> Sequence[PlayStreamResponse]:
    """The messages in one that was received."""
    return response.batch.responses if response.HasField("batch") else (response,)
