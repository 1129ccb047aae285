"""One PlayStream for many seats: the fast way for programs that play much.

A message on an open stream costs a fraction of a call. When the connection breaks, the stream is
opened again, every seat is attached from where it was, and the actions without a result are sent
once more under their request ids.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Self

import grpc

from tavolata.service.client.errors import Refused, ServiceError, refused_call, refused_in_stream
from tavolata.service.client.retry import Patience
from tavolata.service.client.seat import Seat, Wire, new_request_id
from tavolata.service.client.watching import OutOfSequence, Sequence, Update, goes_on, pass_on
from tavolata.v1 import event_pb2, game_pb2, play_pb2, table_service_pb2, view_pb2

_Request = table_service_pb2.PlayStreamRequest
_Response = table_service_pb2.PlayStreamResponse
BATCH_MAX = 128  # requests in one message: far less than a server's limit of bytes
_Stream = grpc.aio.StreamStreamCall[_Request, _Response]


@dataclass(slots=True)
class _Pending:
    """An action on its way, and who waits for it."""

    play: play_pb2.PlayAttached
    receipt: asyncio.Future[play_pb2.ActionReceipt]


class AttachedSeat:
    """A seat on a stream. Its messages wait in memory until ``watch`` reads them."""

    def __init__(self, stream: PlayStream, seat: Seat, handle: int) -> None:
        self.handle = handle
        self.seat = seat
        self.sequence = Sequence(None, with_views=True)
        self.updates: asyncio.Queue[Update | ServiceError] = asyncio.Queue()
        self._stream = stream

    @property
    def number(self) -> int | None:
        return self.seat.number

    @property
    def view(self) -> view_pb2.View | None:
        return self.seat.view

    async def watch(self) -> AsyncGenerator[Update, None]:
        """As ``Seat.watch`` with views, once: what has been read doesn't come again."""
        while True:
            update = await self.updates.get()
            if isinstance(update, ServiceError):
                raise update
            yield update
            if isinstance(update, event_pb2.Closing):
                return

    async def play(
        self, action: game_pb2.Action, *, turn: int, request_id: str = ""
    ) -> play_pb2.ActionReceipt:
        """Play, and return when it is recorded for good. Raises as ``Seat.play``."""
        return await self._stream.play(self, action, turn, request_id)

    def detach(self) -> None:
        """Take the seat off the stream; ``watch`` ends with a closing message."""
        self._stream.detach(self)


class PlayStream:
    """Seats are attached with ``attach``; leaving ``async with`` ends the stream."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._seats: dict[int, AttachedSeat] = {}
        self._pending: dict[str, _Pending] = {}
        self._outgoing: asyncio.Queue[_Request] = asyncio.Queue()
        self._handles = 0
        self._reader: asyncio.Task[None] | None = None
        self._broken: ServiceError | None = None

    async def __aenter__(self) -> Self:
        self._reader = asyncio.create_task(self._run())
        return self

    async def __aexit__(self, *exception: object) -> None:
        if self._reader is not None:
            self._reader.cancel()
            with suppress(asyncio.CancelledError):
                await self._reader
        self._fail(ServiceError("the stream was closed"))

    def attach(self, seat: Seat) -> AttachedSeat:
        """The seat on this stream. A refusal is raised by its ``watch``."""
        if self._broken is not None:
            raise self._broken
        self._handles += 1
        attached = AttachedSeat(self, seat, self._handles)
        self._seats[attached.handle] = attached
        self._outgoing.put_nowait(self._attaching(attached))
        return attached

    def detach(self, seat: AttachedSeat) -> None:
        """See ``AttachedSeat.detach``."""
        if self._seats.pop(seat.handle, None) is None:
            return
        seat.updates.put_nowait(event_pb2.Closing(reason=event_pb2.CLOSING_REASON_DETACHED))
        self._outgoing.put_nowait(_Request(detach=play_pb2.DetachSeat(handle=seat.handle)))

    async def play(
        self, seat: AttachedSeat, action: game_pb2.Action, turn: int, request_id: str
    ) -> play_pb2.ActionReceipt:
        """See ``AttachedSeat.play``."""
        if self._broken is not None:
            raise self._broken
        play = play_pb2.PlayAttached(
            handle=seat.handle,
            request_id=request_id or new_request_id(),
            turn=turn,
            action=action,
        )
        pending = _Pending(play, asyncio.get_running_loop().create_future())
        self._pending[play.request_id] = pending
        self._outgoing.put_nowait(_Request(play=play))
        try:
            return await pending.receipt
        except Refused as refusal:
            if refusal.reason != "UNKNOWN_HANDLE":
                raise
            # The seat is off the stream: not attached again yet, or the match ended with this very
            # action, whose result was lost. A call with the same id tells.
            return await seat.seat.play(action, turn=turn, request_id=play.request_id)
        finally:
            self._pending.pop(play.request_id, None)

    # --- the stream itself ----------------------------------------------------------------

    async def _run(self) -> None:
        clock = asyncio.get_running_loop().time
        patience = Patience(self._wire.policy, self._wire.policy.silence_s)
        while True:
            opened = clock()
            failure = await self._one_stream(patience)
            try:
                await patience.wait(failure, lasted_s=clock() - opened)
            except ServiceError as error:
                self._fail(error)
                return

    async def _one_stream(self, patience: Patience) -> Refused:
        """Open the stream, bring it up to date and read it until it breaks: why it broke."""
        outgoing: asyncio.Queue[_Request] = asyncio.Queue()
        self._outgoing = outgoing
        for seat in self._seats.values():
            outgoing.put_nowait(self._attaching(seat))
        for pending in self._pending.values():
            outgoing.put_nowait(_Request(play=pending.play))
        stream = self._wire.tables.PlayStream()
        writing = asyncio.create_task(_write(stream, outgoing))
        try:
            async for response in stream:
                if response.HasField("batch"):
                    for each in response.batch.responses:
                        self._receive(each, patience)
                else:
                    self._receive(response, patience)
        except grpc.aio.AioRpcError as error:
            return refused_call(error)
        except OutOfSequence as gap:
            return Refused(grpc.StatusCode.UNAVAILABLE, "", str(gap))
        finally:
            writing.cancel()
            stream.cancel()
        return Refused(grpc.StatusCode.UNAVAILABLE, "", "the server ended the stream")

    def _attaching(self, seat: AttachedSeat) -> _Request:
        return _Request(
            attach=play_pb2.AttachSeat(
                handle=seat.handle,
                table_id=seat.seat.table_id,
                token=seat.seat.token,
                after_event=seat.sequence.resume_after,
                with_views=True,
            )
        )

    def _receive(self, response: _Response, patience: Patience) -> None:
        which = response.WhichOneof("message")
        if which == "result":
            self._settle(response.result)
        elif which == "refused":
            self._lose(response.handle, refused_in_stream(response.refused))
        elif which in ("snapshot", "event", "closing"):
            seat = self._seats.get(response.handle)
            message = getattr(response, which)
            if seat is not None and self._pass_on(seat, message):
                patience.reset()

    def _pass_on(self, seat: AttachedSeat, message: Update) -> bool:
        if isinstance(message, event_pb2.Closing):
            failure = goes_on(message)
            if failure is not None:
                self._later(failure, lambda: self._attaching(seat))
                return False
            del self._seats[seat.handle]
        update = pass_on(seat.sequence, message)
        if update is None:
            return False
        seat.seat.heed(update)
        seat.updates.put_nowait(update)
        return True

    def _settle(self, result: play_pb2.PlayResult) -> None:
        pending = self._pending.get(result.request_id)
        if pending is None or pending.receipt.done():
            return
        if result.WhichOneof("outcome") == "receipt":
            pending.receipt.set_result(result.receipt)
            return
        failure = refused_in_stream(result.refused)
        if failure.passing:
            self._later(failure, lambda: _Request(play=pending.play))
        else:
            pending.receipt.set_exception(failure)

    def _lose(self, handle: int, failure: Refused) -> None:
        """An attachment was refused."""
        seat = self._seats.get(handle)
        if seat is None or failure.reason == "HANDLE_IN_USE":  # a new stream was faster
            return
        if failure.passing:
            self._later(failure, lambda: self._attaching(seat))
            return
        del self._seats[handle]
        seat.updates.put_nowait(failure)

    def _later(self, failure: Refused, request: Callable[[], _Request]) -> None:
        """Send a request when what stands against it may have passed."""

        def send() -> None:
            self._outgoing.put_nowait(request())

        wait = failure.retry_delay_s or self._wire.policy.longest_wait_s
        asyncio.get_running_loop().call_later(wait, send)

    def _fail(self, error: ServiceError) -> None:
        self._broken = error
        for pending in self._pending.values():
            if not pending.receipt.done():
                pending.receipt.set_exception(error)
        for seat in self._seats.values():
            seat.updates.put_nowait(error)
        self._seats.clear()


async def _write(stream: _Stream, outgoing: asyncio.Queue[_Request]) -> None:
    """Send what is to be sent, in batches, which the server answers with its own; a stream that
    breaks is the reader's to tell."""
    with suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError):
        while True:
            requests = [await outgoing.get()]
            while len(requests) < BATCH_MAX and not outgoing.empty():
                requests.append(outgoing.get_nowait())
            batch = table_service_pb2.PlayStreamRequestBatch(requests=requests)
            await stream.write(_Request(batch=batch))
