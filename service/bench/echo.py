"""The bare echo that PlayAction is compared with: same messages, same server library, no work.

Run as a program: `python -m tavolata.service.bench.echo` prints its port and serves until killed.
"""

from __future__ import annotations

import asyncio
import sys

import grpc
import uvloop

from tavolata.v1 import play_pb2, table_service_pb2

METHOD = "/tavolata.bench.Echo/PlayAction"
_RESPONSE = table_service_pb2.PlayActionResponse(
    receipt=play_pb2.ActionReceipt(turn=7, event_number=77)
)


async def _echo(
    request: table_service_pb2.PlayActionRequest, context: object
) -> table_service_pb2.PlayActionResponse:
    return _RESPONSE


async def _serve() -> None:
    server = grpc.aio.server(options=[("grpc.so_reuseport", 0)])
    handler = grpc.unary_unary_rpc_method_handler(
        _echo,
        request_deserializer=table_service_pb2.PlayActionRequest.FromString,
        response_serializer=table_service_pb2.PlayActionResponse.SerializeToString,
    )
    generic = grpc.method_handlers_generic_handler("tavolata.bench.Echo", {"PlayAction": handler})
    server.add_generic_rpc_handlers((generic,))
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
