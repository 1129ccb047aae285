"""A proxy for gRPC that loses, doubles, delays and reorders messages, by chance from a seed.

It stands between a client and a server and knows of the API only which methods are streams. What it
has accepted it delivers even if the client has given up meanwhile, as a network would.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine
from enum import StrEnum
from typing import Any

import grpc

from tavolata.v1.table_service_pb2 import PlayStreamRequest, PlayStreamResponse
from tests.service.campaign import METHODS

DELAY_S = 0.4  # the longest; longer than the clients' patience
LATE_S = 0.6  # the latest that a copy comes after the first
UPSTREAM_S = 20.0  # without an answer of the server for that long, it hangs


class Fault(StrEnum):
    """What happens to a message."""

    NONE = "as it should be"
    LOST_REQUEST = "request lost"
    LOST_RESPONSE = "response lost"
    DOUBLED = "doubled"
    LATE_COPY = "copy comes late"
    DELAYED = "delayed"
    SWAPPED = "overtaken"
    CUT = "stream cut"


UNARY = (Fault.LOST_REQUEST, Fault.LOST_RESPONSE, Fault.DOUBLED, Fault.LATE_COPY, Fault.DELAYED)
UP = (Fault.LOST_REQUEST, Fault.DOUBLED, Fault.LATE_COPY, Fault.SWAPPED)
DOWN = (Fault.LOST_RESPONSE, Fault.DOUBLED, Fault.CUT)

# Path, request, and the answer or error that the server gave to one copy of it.
Answered = Callable[[str, bytes, bytes | grpc.aio.AioRpcError], None]


class FaultyWire(grpc.GenericRpcHandler):
    """The proxy. share: of the messages that something happens to."""

    def __init__(self, target: str, seed: int, share: float, answered: Answered) -> None:
        self.counts: Counter[tuple[str, Fault]] = Counter()
        self._random = random.Random(f"{seed} wire")
        self._share = share
        self._answered = answered
        self._channel = grpc.aio.insecure_channel(target)
        self._server = grpc.aio.server()
        self._tasks: set[asyncio.Task[Any]] = set()

    async def start(self) -> str:
        """Where it listens."""
        self._server.add_generic_rpc_handlers((self,))
        port = self._server.add_insecure_port("127.0.0.1:0")
        await self._server.start()
        return f"127.0.0.1:{port}"

    async def close(self) -> None:
        """Deliver what is under way, and stop."""
        while self._tasks:
            await asyncio.wait(self._tasks)
        await self._server.stop(0)
        await self._channel.close()

    def service(self, handler_call_details: Any) -> Any:
        """The handler of a method."""
        path: str = handler_call_details.method
        method = METHODS[path]
        if method.client_streaming:
            return grpc.stream_stream_rpc_method_handler(self._streaming(path))
        if method.server_streaming:
            return grpc.unary_stream_rpc_method_handler(self._watching(path))
        return grpc.unary_unary_rpc_method_handler(self._unary(path))

    def _draw(self, path: str, faults: tuple[Fault, ...]) -> Fault:
        drawn = self._random.random() < self._share
        fault = self._random.choice(faults) if drawn else Fault.NONE
        self.counts[path, fault] += 1
        return fault

    def _do(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    # -- calls ------------------------------------------------------------------------------------

    def _unary(self, path: str) -> Callable[..., Any]:
        call: Any = self._channel.unary_unary(path)

        async def deliver(request: bytes, metadata: Any, after_s: float = 0.0) -> Any:
            if after_s:
                await asyncio.sleep(after_s)
            outcome: bytes | grpc.aio.AioRpcError
            try:
                outcome = await call(request, metadata=metadata, timeout=UPSTREAM_S)
            except grpc.aio.AioRpcError as error:
                outcome = error
            self._answered(path, request, outcome)
            return outcome

        async def carry(request: bytes, context: Any) -> bytes:
            fault = self._draw(path, UNARY)
            metadata = _of_caller(context)
            if fault == Fault.LOST_REQUEST:
                await context.abort(grpc.StatusCode.UNAVAILABLE, "lost on the way")
            delay = self._random.uniform(0, DELAY_S) if fault == Fault.DELAYED else 0.0
            copies = [self._do(deliver(request, metadata, delay))]
            if fault == Fault.DOUBLED:
                copies.append(self._do(deliver(request, metadata)))
            if fault == Fault.LATE_COPY:
                self._do(deliver(request, metadata, self._random.uniform(0, LATE_S)))
            outcomes = [await asyncio.shield(copy) for copy in copies]
            outcome = self._random.choice(outcomes)
            if fault == Fault.LOST_RESPONSE:
                await context.abort(grpc.StatusCode.UNAVAILABLE, "lost on the way back")
            if isinstance(outcome, grpc.aio.AioRpcError):
                trailing = tuple(outcome.trailing_metadata() or ())
                await context.abort(outcome.code(), outcome.details() or "", trailing)
            return bytes(outcome)

        return carry

    def _watching(self, path: str) -> Callable[..., Any]:
        call: Any = self._channel.unary_stream(path)

        async def carry(request: bytes, context: Any) -> AsyncIterator[bytes]:
            async for message in call(request, metadata=_of_caller(context)):
                yield message

        return carry

    # -- the stream of plays ----------------------------------------------------------------------

    def _streaming(self, path: str) -> Callable[..., Any]:
        call: Any = self._channel.stream_stream(path)

        async def carry(requests: AsyncIterator[bytes], context: Any) -> AsyncIterator[bytes]:
            up = call(metadata=_of_caller(context))
            sending = asyncio.get_running_loop().create_task(self._send(path, requests, up))
            try:
                async for message in up:
                    fault = Fault.NONE
                    if PlayStreamResponse.FromString(message).WhichOneof("message") == "result":
                        fault = self._draw(f"{path}/results", DOWN)
                    if fault == Fault.CUT:
                        await context.abort(grpc.StatusCode.UNAVAILABLE, "cut")
                    for _ in range({Fault.LOST_RESPONSE: 0, Fault.DOUBLED: 2}.get(fault, 1)):
                        yield message
            finally:
                sending.cancel()
                up.cancel()

        return carry

    async def _send(self, path: str, requests: AsyncIterator[bytes], up: Any) -> None:
        """Send on what comes; a message that is overtaken goes after the next one."""
        one_at_a_time = asyncio.Lock()
        held: list[bytes] = []

        async def write(message: bytes, after_s: float = 0.0) -> None:
            await asyncio.sleep(after_s)
            async with one_at_a_time:
                if not up.done():
                    await up.write(message)

        async for message in requests:
            fault = Fault.NONE
            if PlayStreamRequest.FromString(message).WhichOneof("message") == "play":
                fault = self._draw(path, UP)
            if fault == Fault.SWAPPED:
                held.append(message)
                continue
            for _ in range({Fault.LOST_REQUEST: 0, Fault.DOUBLED: 2}.get(fault, 1)):
                await write(message)
            while held:
                await write(held.pop())
            if fault == Fault.LATE_COPY:
                self._do(_heedless(write(message, self._random.uniform(0, LATE_S))))
        await up.done_writing()


async def _heedless(work: Coroutine[Any, Any, None]) -> None:
    """A late copy that finds the stream gone is lost."""
    try:
        await work
    except (grpc.aio.UsageError, grpc.aio.AioRpcError, asyncio.InvalidStateError):
        return


def _of_caller(context: Any) -> tuple[tuple[str, str], ...]:
    metadata = context.invocation_metadata() or ()
    return tuple((key, value) for key, value in metadata if key == "authorization")
