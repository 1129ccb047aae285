"""Trying again: until when, after how long, and calls that do it.

A call that changes something carries its request id in the request, so sending the same request
again can't do the thing twice: that is what makes every retry here safe.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

import grpc

from tavolata.service.client.errors import Refused, Unreachable, refused_call

Response = TypeVar("Response")
Metadata = tuple[tuple[str, str], ...]
Identity = Callable[[], str]  # a JWT that is valid now


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How long to go on trying; all times in seconds.

    call_s: for a call with all its attempts; attempt_s: for one attempt; silence_s: for a watch or
    a stream that gets nothing but failures; first_wait_s doubles with each failure up to
    longest_wait_s, and each wait is drawn between half of it and all of it.
    """

    call_s: float = 30.0
    attempt_s: float = 5.0
    silence_s: float = 120.0
    first_wait_s: float = 0.05
    longest_wait_s: float = 2.0


class Patience:
    """The waits between attempts, and when to give up: ``until``, or ``limit_s`` after failing."""

    def __init__(self, policy: RetryPolicy, limit_s: float, until: float | None = None) -> None:
        self._policy = policy
        self._limit_s = limit_s
        self._failures = 0
        self._until = until  # by the clock of the event loop

    def reset(self) -> None:
        """Begin anew: something has worked."""
        self._failures = 0
        self._until = None

    async def wait(self, failure: Refused, *, lasted_s: float = 0.0) -> None:
        """Wait as long as the failure asks for, or longer than last time; or raise.

        lasted_s: how long what has failed had been open; a stream can be in order and say nothing.
        A failure that won't pass is raised itself; one that would not pass in time as Unreachable.
        """
        if not failure.passing:
            raise failure
        policy = self._policy
        if lasted_s > 2 * policy.attempt_s:
            self.reset()
        now = asyncio.get_running_loop().time()
        if self._until is None:
            self._until = now + self._limit_s
        wait = min(policy.longest_wait_s, policy.first_wait_s * 2**self._failures)
        wait *= random.uniform(0.5, 1.0)  # noqa: S311 - it spreads load, it protects nothing
        wait = max(wait, failure.retry_delay_s or 0.0)
        self._failures = min(self._failures + 1, 30)
        if now + wait >= self._until:
            raise Unreachable(f"no answer in {self._limit_s:g} s; last: {failure}") from failure
        await asyncio.sleep(wait)


def bearer(token: str) -> Metadata:
    """The header that says who calls; nothing for a spectator."""
    return (("authorization", f"Bearer {token}"),) if token else ()


def known_by(identity: Identity | None) -> Metadata:
    """The header that says who somebody is; nothing for somebody without identity."""
    return () if identity is None else (("x-tavolata-identity", f"Bearer {identity()}"),)


async def call(
    rpc: Callable[..., Awaitable[Response]],
    request: object,
    *,
    policy: RetryPolicy,
    token: str = "",
    identity: Identity | None = None,
) -> Response:
    """The response of a unary ``rpc``, after as many attempts as it takes.

    Raises Refused, or Unreachable when ``policy.call_s`` is over.
    """
    clock = asyncio.get_running_loop().time
    until = clock() + policy.call_s
    patience = Patience(policy, policy.call_s, until=until)
    while True:
        timeout = min(policy.attempt_s, max(until - clock(), 0.001))
        try:
            metadata = bearer(token) + known_by(identity)
            return await rpc(request, timeout=timeout, metadata=metadata)
        except grpc.aio.AioRpcError as error:
            failure = refused_call(error)
        await patience.wait(failure)
