"""Connections to the server, and calls each of which is counted once, by what came of it.

A call is one attempt: neither gRPC nor anything here tries again behind the count.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable
from typing import Any
from uuid import UUID

import grpc

from tavolata.service.cli.reach import credentials, identity_in
from tavolata.service.client.errors import Refused, refused_call
from tavolata.service.client.retry import bearer, known_by
from tavolata.service.loadtest.pacer import Over
from tavolata.service.loadtest.plan import Plan, Reach
from tavolata.service.loadtest.tally import ERROR, REFUSED, WRONG, Tally
from tavolata.v1.table_service_pb2_grpc import TableServiceStub

# Where a name stands for several servers, each connection goes to all of them, call by call.
OPTIONS: tuple[tuple[str, int | str], ...] = (
    ("grpc.lb_policy_name", "round_robin"),
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.enable_retries", 0),
    ("grpc.initial_reconnect_backoff_ms", 50),
    ("grpc.max_reconnect_backoff_ms", 1_000),
)
PAUSE_S = 0.1  # after what went wrong, where the server names no time
_IDENTIFIED = ("CreateTable", "JoinTable")


class Failed(Exception):
    """A call has failed for good; it is counted."""


def channel_to(reach: Reach) -> grpc.aio.Channel:
    """A connection of its own."""
    shown = credentials(reach.tls, reach.ca, reach.cert, reach.key)
    if shown is None:
        return grpc.aio.insecure_channel(reach.target, options=OPTIONS)
    return grpc.aio.secure_channel(reach.target, shown, options=OPTIONS)


class Wire:
    """The connections of a process, in turn, and its counts."""

    def __init__(self, plan: Plan, tally: Tally, draws: random.Random) -> None:
        self.plan, self.tally = plan, tally
        self._channels = [channel_to(plan.reach) for _ in range(plan.connections)]
        self._stubs: list[Any] = [TableServiceStub(channel) for channel in self._channels]
        self._identity = identity_in(plan.reach.identity)
        self._draws = draws
        self._turn = 0
        self.until = float("inf")  # time.monotonic: from then on nothing is tried again

    async def ready(self, within_s: float) -> None:
        """Return when all connections are open. TimeoutError."""
        async with asyncio.timeout(within_s):
            await asyncio.gather(*(channel.channel_ready() for channel in self._channels))

    async def close(self) -> None:
        """Hang up."""
        for channel in self._channels:
            await channel.close()

    def stub(self) -> Any:
        """That of the next connection."""
        self._turn += 1
        return self._stubs[self._turn % len(self._stubs)]

    def fresh_id(self) -> str:
        """A request id that nobody can guess."""
        return str(UUID(int=random.SystemRandom().getrandbits(128), version=4))

    async def once(
        self,
        what: str,
        game: str,
        request: Any,
        wrong: Callable[[Any], str],
        *,
        token: str = "",
        due: float | None = None,
    ) -> Any:
        """The answer of one attempt, which counts as a success if `wrong` finds nothing in it.

        due: from when its latency counts; None: from now. Raises Refused, Failed.
        """
        due = time.monotonic() if due is None else due
        metadata = bearer(token)
        if not token and what in _IDENTIFIED:
            metadata += known_by(self._identity)
        try:
            rpc = getattr(self.stub(), what)
            response = await rpc(request, timeout=self.plan.timeout_s, metadata=metadata)
        except grpc.aio.AioRpcError as error:
            raise self.refused(what, game, due, refused_call(error)) from None
        self.settle(what, game, due, wrong(response))
        return response

    def settle(self, what: str, game: str, due: float, wrong: str) -> None:
        """Count an answer. Failed, if something is wrong with it."""
        if wrong:
            self.tally.failed(what, game, due, WRONG, wrong)
            self.tally.problem("wrong answers", f"{what}, {game}: {wrong}")
            raise Failed(f"{what}: {wrong}")
        self.tally.done(what, game, due)

    def refused(self, what: str, game: str, due: float, refusal: Refused) -> Refused:
        """Count a refusal, or an error where the server itself has said nothing."""
        kind, reason = (REFUSED, refusal.reason) if refusal.reason else (ERROR, refusal.code.name)
        self.tally.failed(what, game, due, kind, reason)
        return refusal

    async def wait(self, refusal: Refused) -> None:
        """Return when what stands against a call may have passed. Failed, if it won't; Over."""
        if not refusal.passing:
            raise Failed(str(refusal)) from refusal
        pause = max(refusal.retry_delay_s or 0.0, PAUSE_S * self._draws.uniform(0.5, 1.5))
        if time.monotonic() + pause >= self.until:
            raise Over
        await asyncio.sleep(pause)

    async def insist(
        self, what: str, game: str, request: Any, wrong: Callable[[Any], str], *, token: str = ""
    ) -> Any:
        """The answer, after as many attempts as it takes; each counts. Failed, Over."""
        while True:
            try:
                return await self.once(what, game, request, wrong, token=token)
            except Refused as refusal:
                await self.wait(refusal)
