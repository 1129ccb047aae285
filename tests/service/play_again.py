"""A stream of plays that several tables share, over a wire that may lose, double or cut it."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import grpc

from tavolata.v1.errors_pb2 import ErrorReason
from tavolata.v1.game_pb2 import Action
from tavolata.v1.play_pb2 import ActionReceipt, AttachSeat, DetachSeat, PlayAttached
from tavolata.v1.table_service_pb2 import PlayStreamRequest
from tavolata.v1.table_service_pb2_grpc import TableServiceStub
from tests.service.campaign import Problems

TRIES_MAX = 200
UNKNOWN_HANDLE = ErrorReason.ERROR_REASON_UNKNOWN_HANDLE


class MatchOver(Exception):
    """The match is over and the handle with it: what became of the action PlayAction tells."""


@dataclass
class _Place:
    table_id: str
    token: str
    last_event: int = 0
    detached: bool = False
    closed: bool = False
    attached: asyncio.Event = field(default_factory=asyncio.Event)


class SharedStream:
    """Plays until there is a receipt. The events of every handle must come without gap or duplicate
    over all cuts."""

    def __init__(self, channel: grpc.aio.Channel, problems: Problems, patience_s: float) -> None:
        self.cuts = 0
        self.repeats = 0
        self._stub: Any = TableServiceStub(channel)
        self._problems = problems
        self._patience_s = patience_s
        self._places: dict[int, _Place] = {}
        self._handles = 0
        self._due: dict[str, asyncio.Future[ActionReceipt]] = {}
        self._receipts: dict[str, bytes] = {}
        self._writing = asyncio.Lock()
        self._call: Any = None
        self._reading: asyncio.Task[None] | None = None

    async def attach(self, table_id: str, token: str) -> int:
        """The handle of a seat."""
        self._handles += 1
        handle = self._handles
        place = self._places[handle] = _Place(table_id, token)
        if not await self._open():
            await self._write(self._attachment(handle, place))
        for _ in range(TRIES_MAX):
            with suppress(TimeoutError):
                await asyncio.wait_for(place.attached.wait(), self._patience_s)
                return handle
            await self._open()  # it attaches all again if there was a cut
        raise AssertionError(f"not attached: {place}")

    async def detach(self, handle: int) -> None:
        """Give a handle up."""
        self._places[handle].detached = True
        await self._write(PlayStreamRequest(detach=DetachSeat(handle=handle)))

    async def play(self, handle: int, request_id: str, turn: int, action: Action) -> ActionReceipt:
        """Play until there is a receipt. MatchOver, or AssertionError for any other refusal."""
        message = PlayStreamRequest(
            play=PlayAttached(handle=handle, request_id=request_id, turn=turn, action=action)
        )
        due = self._due[request_id] = asyncio.get_running_loop().create_future()
        try:
            for tries in range(TRIES_MAX):
                if tries and self._places[handle].closed:
                    raise MatchOver
                self.repeats += bool(tries)
                await self._write(message)
                with suppress(TimeoutError):
                    return await asyncio.wait_for(asyncio.shield(due), self._patience_s)
        finally:
            del self._due[request_id]
        raise AssertionError(f"no result {TRIES_MAX} times for {message}")

    async def close(self) -> None:
        """Hang up."""
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)
        if self._call is not None:
            self._call.cancel()

    def _attachment(self, handle: int, place: _Place) -> PlayStreamRequest:
        return PlayStreamRequest(
            attach=AttachSeat(
                handle=handle,
                table_id=place.table_id,
                token=place.token,
                after_event=place.last_event,
            )
        )

    async def _open(self) -> bool:
        """Open a stream with all handles attached, unless one is open."""
        async with self._writing:
            if self._call is not None and not self._call.done():
                return False
            if self._reading is not None:
                await self._reading
            call = self._call = self._stub.PlayStream()
            self._reading = asyncio.create_task(self._read(call))
            for handle, place in list(self._places.items()):
                if not place.detached:
                    with suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError):
                        await call.write(self._attachment(handle, place))
            return True

    async def _write(self, message: PlayStreamRequest) -> None:
        await self._open()
        async with self._writing:
            with suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError):
                await self._call.write(message)

    async def _read(self, call: Any) -> None:
        try:
            async for message in call:
                self._take(message)
        except grpc.aio.AioRpcError as error:
            self.cuts += 1
            # Core's own word for a write that met the cut.
            cut = error.details() in ("cut", "Internal error from Core")
            self._problems.check(cut, f"the stream ended with {error.code()} {error.details()}")

    def _take(self, message: Any) -> None:
        match message.WhichOneof("message"):
            case "attached":
                self._places[message.handle].attached.set()
            case "event":
                place = self._places[message.handle]
                number = message.event.number
                self._problems.check(
                    number == place.last_event + 1, f"event {number} after {place.last_event}"
                )
                place.last_event = number
            case "closing":
                self._places[message.handle].closed = True
            case "result":
                self._take_result(message.result)
            case "refused":
                place = self._places[message.handle]
                over = place.detached or place.closed
                self._problems.check(over, f"refused: {message.refused}")

    def _take_result(self, result: Any) -> None:
        due = self._due.get(result.request_id)
        if result.WhichOneof("outcome") == "receipt":
            written = result.receipt.SerializeToString()
            first = self._receipts.setdefault(result.request_id, written)
            self._problems.check(first == written, f"two receipts for {result.request_id}")
            if due is not None and not due.done():
                due.set_result(result.receipt)
        elif due is not None and not due.done() and result.refused.reason != UNKNOWN_HANDLE:
            # Of an unknown one: the new stream has not attached it yet, or the match is over.
            due.set_exception(AssertionError(f"refused: {result}"))
