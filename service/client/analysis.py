"""Analyses as streams: begun again while nothing has come, and never in the middle."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from typing import Any

import grpc

from tavolata.service.client.errors import Refused, refused_call
from tavolata.service.client.retry import Patience, RetryPolicy, bearer
from tavolata.v1 import analysis_pb2, analysis_service_pb2_grpc
from tavolata.v1 import analysis_service_pb2 as pb
from tavolata.v1.player_pb2 import SearchLimits


async def analyze(
    stub: analysis_service_pb2_grpc.AnalysisServiceAsyncStub,
    policy: RetryPolicy,
    table_id: str,
    token: str = "",
    *,
    turn: int | None = None,
    seat: int | None = None,
    limits: SearchLimits | None = None,
    seed: int = 0,
) -> AsyncGenerator[analysis_pb2.Analysis, None]:
    """What is found out about a decision, as it grows; the last one is final."""
    request = pb.AnalyzeRequest(table_id=table_id, turn=turn, seat=seat, limits=limits, seed=seed)

    def opened() -> Any:
        return stub.Analyze(request, metadata=bearer(token))

    async for response in _told(opened, policy):
        yield response.analysis


async def review(
    stub: analysis_service_pb2_grpc.AnalysisServiceAsyncStub,
    policy: RetryPolicy,
    table_id: str,
    token: str = "",
    *,
    seats: tuple[int, ...] = (),
    hindsight: bool = False,
    limits: SearchLimits | None = None,
    seed: int = 0,
) -> AsyncGenerator[pb.ReviewMatchResponse, None]:
    """The start, every decision and the summary of a match that is over."""
    request = pb.ReviewMatchRequest(
        table_id=table_id, seats=seats, hindsight=hindsight, limits=limits, seed=seed
    )

    def opened() -> Any:
        return stub.ReviewMatch(request, metadata=bearer(token))

    async for response in _told(opened, policy):
        yield response


async def _told(opened: Callable[[], Any], policy: RetryPolicy) -> AsyncGenerator[Any, None]:
    """The messages of a stream. Refused, or Unreachable if none could be had in ``call_s``."""
    patience = Patience(policy, policy.call_s)
    while True:
        stream = opened()
        failure: Refused
        begun = False
        try:
            async for message in stream:
                begun = True
                yield message
            return
        except grpc.aio.AioRpcError as error:
            failure = refused_call(error)
        finally:
            stream.cancel()
        if begun:
            raise failure
        await patience.wait(failure)
