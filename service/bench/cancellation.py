"""How soon a search ends that nobody waits for any more: its call cancelled, or past its deadline.

Server and client are in this process, the call goes over a socket, and the search runs where those
of tables do. Beside it, in turns, a bare thread of the same priority that waits for a flag: what
the machine needs for waking one. First with the machine to itself, then while every core searches.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import grpc
import uvloop

from tavolata.ai.player import Decision, Limits, Observation, Player, observe
from tavolata.ai.players import DEFAULT_PLAYER, PlayerSpec, player_spec
from tavolata.ai.stop import Stop
from tavolata.ext.core.game import Game
from tavolata.ext.core.match import Match
from tavolata.ext.registry import GAMES
from tavolata.service.bench.measurement import Measurement
from tavolata.service.calls import Calls
from tavolata.service.calls import Limits as CallLimits
from tavolata.service.entropy import SystemEntropy
from tavolata.service.thinking import NICE, ThinkingThreads
from tavolata.v1 import catalog_service_pb2 as pb
from tavolata.v1.catalog_service_pb2_grpc import CatalogServiceStub

GAME = "bouillabaisse"
SAMPLES = 200
SEARCHED_S = 0.02  # before it is cancelled, or its deadline comes
THINK_MS = 50.0  # of the searches besides, which come and go as they do at tables
LIMIT_MS = 5.0
HOUR = Limits(think_ms=3_600_000)
SERVICE = pb.DESCRIPTOR.services_by_name["CatalogService"]


class _Timed:
    """A player, and when its search ended, by the performance counter."""

    def __init__(self, spec: PlayerSpec) -> None:
        self._spec = spec
        self.ended_at = 0.0
        self.begun = threading.Event()
        self.ended = threading.Event()

    def forget(self) -> None:
        """Be ready for the next search."""
        self.begun.clear()
        self.ended.clear()

    def make(self, game: Game) -> Player:
        """The player for a game."""
        self._player: Player = self._spec.make(game)
        return self

    def decide(
        self, observation: Observation, limits: Limits, *, seed: int, stop: Stop
    ) -> Decision:
        """What the player decides."""
        self.begun.set()
        began = time.perf_counter()
        decision = self._player.decide(observation, limits, seed=seed, stop=stop)
        self.ended_at = began + decision.elapsed_ms / 1000
        self.ended.set()
        return decision


@dataclass(slots=True)
class _Service:
    """A call that waits for a search of an hour."""

    threads: ThinkingThreads
    observation: Observation
    timed: _Timed = field(default_factory=lambda: _Timed(player_spec(DEFAULT_PLAYER)))

    async def GetGame(  # noqa: N802
        self, request: pb.GetGameRequest, context: object
    ) -> pb.GetGameResponse:
        """Search; the name is one that the API has."""
        await self.search(self.timed, HOUR, urgent=True)
        return pb.GetGameResponse()

    async def search(self, player: _Timed, limits: Limits, *, urgent: bool) -> None:
        """A search in the service's threads."""
        spec = PlayerSpec("timed", "", limits, player.make)
        await self.threads.decide(
            spec, self.observation, limits, seed=1, stop=Stop(), urgent=urgent
        )


def measurements() -> Iterator[Measurement]:
    """Percentiles of the time until a search has ended, idle and busy, each beside a bare thread's
    wake-up."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        rows = runner.run(_measured())
    yield from rows


async def _measured() -> list[Measurement]:
    rows = []
    for load, searchers in (("idle", 0), ("every core searches", len(os.sched_getaffinity(0)))):
        async with _running(searchers) as (service, stub):
            for what, once in (("cancelled", _cancelled), ("past its deadline", _overdue)):
                rows += await _compared(f"{what}, {load}", lambda o=once: o(service, stub))  # type: ignore[misc]
    return rows


@asynccontextmanager
async def _running(searchers: int) -> AsyncIterator[tuple[_Service, Any]]:
    match = Match(GAMES[GAME].make(GAMES[GAME].seats_usual), bytes(32))
    threads = ThinkingThreads(1 + len(os.sched_getaffinity(0)))
    service = _Service(threads, observe(match, match.to_act[0]))
    server = grpc.aio.server()
    around = Calls(CallLimits(10, 10, 65_536, 60.0), SystemEntropy())
    server.add_generic_rpc_handlers((around.handler_of(SERVICE, service),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    busy = [asyncio.create_task(_search_on(service)) for _ in range(searchers)]
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        yield service, CatalogServiceStub(channel)
    for task in busy:
        task.cancel()
    await asyncio.gather(*busy, return_exceptions=True)
    await server.stop(None)
    threads.close()


async def _search_on(service: _Service) -> None:
    player = _Timed(player_spec(DEFAULT_PLAYER))
    while True:
        await service.search(player, Limits(think_ms=THINK_MS), urgent=False)


async def _compared(case: str, once: Callable[[], Awaitable[float]]) -> list[Measurement]:
    """Rows of one case; what is compared is measured in turns."""
    searches, wakes = [], []
    for _ in range(SAMPLES):
        searches.append(await once())
        wakes.append(await _woken())
    made = [
        Measurement(
            f"search of a call {case}: ended after, p{share * 100:g}",
            _at(searches, share),
            "ms",
            "bare thread's wake-up",
            _at(wakes, share),
        )
        for share in (0.5, 0.9, 0.99)
    ]
    reached = Measurement(
        f"search of a call {case}: p50", LIMIT_MS / max(_at(searches, 0.5), 1e-3),
        f"times in {LIMIT_MS:g} ms", goal=1.0,
    )  # fmt: skip
    return [*made, reached]


def _at(samples: list[float], share: float) -> float:
    return sorted(samples)[round(share * (len(samples) - 1))]


async def _cancelled(service: _Service, stub: Any) -> float:
    """Milliseconds from the client's cancelling to the end of the search."""
    service.timed.forget()
    call = stub.GetGame(pb.GetGameRequest())
    waiting = asyncio.ensure_future(_silently(call))
    await _set(service.timed.begun)
    await asyncio.sleep(SEARCHED_S)
    began = time.perf_counter()
    call.cancel()
    await waiting
    return await _until_ended(service, began)


async def _overdue(service: _Service, stub: Any) -> float:
    """Milliseconds from the deadline to the end of the search; 0 if it ended before, or if there
    was no thread for it until then."""
    service.timed.forget()
    deadline = time.perf_counter() + SEARCHED_S
    await _silently(stub.GetGame(pb.GetGameRequest(), timeout=SEARCHED_S))
    await asyncio.sleep(0.01)
    if not service.timed.begun.is_set():
        return 0.0
    return max(0.0, await _until_ended(service, deadline))


async def _silently(call: Awaitable[object]) -> None:
    with contextlib.suppress(grpc.aio.AioRpcError, asyncio.CancelledError):
        await call


async def _until_ended(service: _Service, began: float) -> float:
    await _set(service.timed.ended)
    return 1000 * (service.timed.ended_at - began)


async def _set(event: threading.Event) -> None:
    while not event.is_set():  # noqa: ASYNC110 - a thread sets it
        await asyncio.sleep(0.001)


async def _woken() -> float:
    """Milliseconds until a thread of the same priority runs that waits for a flag."""
    flag, done, woken = threading.Event(), threading.Event(), [0.0]

    def wait() -> None:
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE)
        flag.wait()
        woken[0] = time.perf_counter()
        done.set()

    threading.Thread(target=wait, daemon=True).start()
    await asyncio.sleep(SEARCHED_S)
    began = time.perf_counter()
    flag.set()
    await _set(done)
    return 1000 * (woken[0] - began)
