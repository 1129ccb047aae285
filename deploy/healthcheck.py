"""Exit 0 when the service at ADDRESS reports SERVING: python healthcheck.py 127.0.0.1:50051."""

from __future__ import annotations

import sys

import grpc
from grpc_health.v1 import health_pb2

TIMEOUT_SECONDS = 2.0


def main(arguments: list[str]) -> int:
    """Return 0 for SERVING, 1 for anything else, 2 for a wrong call."""
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    with grpc.insecure_channel(arguments[0]) as channel:
        check = channel.unary_unary(
            "/grpc.health.v1.Health/Check",
            request_serializer=health_pb2.HealthCheckRequest.SerializeToString,
            response_deserializer=health_pb2.HealthCheckResponse.FromString,
        )
        try:
            answer = check(health_pb2.HealthCheckRequest(), timeout=TIMEOUT_SECONDS)
        except grpc.RpcError as error:
            print(f"{arguments[0]}: {error}", file=sys.stderr)
            return 1
    status = health_pb2.HealthCheckResponse.ServingStatus.Name(answer.status)
    print(status)
    return 0 if answer.status == health_pb2.HealthCheckResponse.SERVING else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
