"""The bare echo that playing is compared with: same messages, same server library, no work.

Run as a program: `python -m tavolata.service.bench.echo` prints its port and serves until killed.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import grpc
import uvloop

from tavolata.v1 import play_pb2, table_service_pb2

_SERVICE = "tavolata.bench.Echo"
PLAY_ACTION = f"/{_SERVICE}/PlayAction"
PLAY_STREAM = f"/{_SERVICE}/PlayStream"
REPLY_BYTES = "reply-bytes"  # of a stream, as metadata: sizes of the replies to every message
_RESPONSE = table_service_pb2.PlayActionResponse(
    receipt=play_pb2.ActionReceipt(turn=7, event_number=77)
)


@asynccontextmanager
async def echo_server(core: int | None) -> AsyncIterator[tuple[str, int]]:
    """An echo in a process of its own, on one core if that is asked for: where it listens, and the
    number of the process."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", __name__),
        stdout=asyncio.subprocess.PIPE,
        preexec_fn=None if core is None else partial(os.sched_setaffinity, 0, {core}),
    )
    try:
        printed = await process.stdout.readline() if process.stdout else b""
        yield f"127.0.0.1:{int(printed)}", process.pid
    finally:
        process.kill()
        await process.wait()


async def _echo(
    request: table_service_pb2.PlayActionRequest, context: object
) -> table_service_pb2.PlayActionResponse:
    return _RESPONSE


async def _echo_stream(
    requests: AsyncIterator[table_service_pb2.PlayStreamRequest], context: Any
) -> AsyncIterator[bytes]:
    """For every message as many replies, and as long ones, as the metadata says."""
    sizes = dict(context.invocation_metadata())[REPLY_BYTES]
    replies = [bytes(int(size)) for size in sizes.split()]
    async for _ in requests:
        for reply in replies:
            yield reply


async def _serve() -> None:
    server = grpc.aio.server(options=[("grpc.so_reuseport", 0)])
    unary: grpc.RpcMethodHandler[Any, Any] = grpc.unary_unary_rpc_method_handler(
        _echo,
        request_deserializer=table_service_pb2.PlayActionRequest.FromString,
        response_serializer=table_service_pb2.PlayActionResponse.SerializeToString,
    )
    stream: grpc.RpcMethodHandler[Any, Any] = grpc.stream_stream_rpc_method_handler(
        _echo_stream, request_deserializer=table_service_pb2.PlayStreamRequest.FromString
    )
    handlers = {"PlayAction": unary, "PlayStream": stream}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(_SERVICE, handlers),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    print(port, flush=True)
    await server.wait_for_termination()


def main() -> int:
    """Serve until killed."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve())
    return 0


if __name__ == "__main__":
    sys.exit(main())
