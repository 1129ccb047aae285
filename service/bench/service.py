"""Durable actions per second over gRPC, against a bare echo of the same messages.

Server and client have a core each where there are two. The client is light: whole matches are
played beforehand from known seeds, so a request is bytes that lie ready, and what is measured is
the server. Each table plays one action at a time; all together keep `TABLES` outstanding.
"""

from __future__ import annotations

import asyncio
import os
import random
import statistics
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial

import grpc
import uvloop

from tavolata.ext.core.match import Match
from tavolata.ext.registry import GAMES
from tavolata.service import settings
from tavolata.service.bench import loop_lag
from tavolata.service.bench.echo import METHOD
from tavolata.service.bench.measurement import Measurement
from tavolata.service.codecs import codec_of
from tavolata.service.own_server import own_server
from tavolata.v1 import table_pb2, table_service_pb2, table_service_pb2_grpc

GAME = "bouillabaisse"
PLAY_ACTION = "/tavolata.v1.TableService/PlayAction"
TABLES = 64
RUNS = 3
GOAL = 0.60  # of the echo's requests/s
Metadata = tuple[tuple[str, str], ...]
Send = Callable[[bytes, Metadata], Awaitable[bytes]]


@dataclass(frozen=True, slots=True)
class Script:
    """All requests of one match in order, ready to send."""

    requests: list[tuple[bytes, Metadata]]


@dataclass(slots=True)
class Load:
    """What one run of all scripts took."""

    seconds: float = 0.0
    latencies_ms: list[float] = field(default_factory=list)

    @property
    def rate(self) -> float:
        return len(self.latencies_ms) / self.seconds

    def percentile(self, share: float) -> float:
        return sorted(self.latencies_ms)[int(share * (len(self.latencies_ms) - 1))]


def measurements() -> Iterator[Measurement]:
    """Requests/s and latencies of both servers, taken in turns, and the lag of an event loop."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        rows = runner.run(_measured())
    yield from rows


async def _measured() -> list[Measurement]:
    lag = await loop_lag.measured()
    cores = sorted(os.sched_getaffinity(0))
    server_core = cores[0] if len(cores) > 1 else None
    if len(cores) > 1:
        os.sched_setaffinity(0, {cores[1]})
    echoes, plays = [], []
    async with (
        own_server("--ai-floor", "0", "--ai-jitter", "0", core=server_core) as own,
        _echo_server(server_core) as echo,
    ):
        for run in range(RUNS):
            scripts = await _scripts(own.target, run)
            echoes.append(await _run(echo, METHOD, scripts))
            plays.append(await _run(own.target, PLAY_ACTION, scripts))
    return [*_rows(echoes, plays), lag]


def _rows(echoes: Sequence[Load], plays: Sequence[Load]) -> list[Measurement]:
    def median(loads: Sequence[Load], of: Callable[[Load], float]) -> float:
        return statistics.median(of(load) for load in loads)

    # What the server takes its settings from, too: TAVOLATA_STORE names another store.
    store = "PostgreSQL" if settings.load(None).store else "SQLite"
    rate = Measurement(
        f"unary PlayAction, {GAME}, {TABLES} outstanding, {store}",
        median(plays, lambda load: load.rate),
        "requests/s",
        "bare grpc.aio echo",
        median(echoes, lambda load: load.rate),
        GOAL,
    )
    latencies = [
        Measurement(
            f"unary PlayAction, latency p{share * 100:.0f}",
            median(plays, lambda load, at=share: load.percentile(at)),  # type: ignore[misc]
            "ms",
            "bare grpc.aio echo",
            median(echoes, lambda load, at=share: load.percentile(at)),  # type: ignore[misc]
        )
        for share in (0.5, 0.99)
    ]
    return [rate, *latencies]


async def _run(target: str, method: str, scripts: list[Script]) -> Load:
    """Play every script against a server, an action of each at a time."""
    load = Load()
    async with grpc.aio.insecure_channel(target) as channel:
        call: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(method)

        async def play(script: Script) -> None:
            for request, metadata in script.requests:
                sent = time.perf_counter()
                await call(request, metadata=metadata)
                load.latencies_ms.append(1000 * (time.perf_counter() - sent))

        started = time.perf_counter()
        await asyncio.gather(*(play(script) for script in scripts))
        load.seconds = time.perf_counter() - started
    return load


async def _scripts(target: str, run: int) -> list[Script]:
    """Tables with a person in every seat, and their matches played beforehand."""
    async with grpc.aio.insecure_channel(target) as channel:
        stub = table_service_pb2_grpc.TableServiceStub(channel)
        return [await _script(stub, 1 + run * TABLES + number) for number in range(TABLES)]


async def _script(stub: table_service_pb2_grpc.TableServiceAsyncStub, number: int) -> Script:
    spec = GAMES[GAME]
    seed = number.to_bytes(32, "big")
    open_seat = table_pb2.SeatPlan(open=table_pb2.OpenSeat())
    plans = [open_seat] * spec.seats_usual
    created = await stub.CreateTable(
        table_service_pb2.CreateTableRequest(
            request_id=f"create-{number}",
            settings=table_pb2.TableSettings(game_id=GAME),
            seats=plans,
            seed=seed,
        )
    )
    table_id = created.table.table_id
    tokens: list[Metadata] = []
    for seat in range(spec.seats_usual):
        joined = await stub.JoinTable(
            table_service_pb2.JoinTableRequest(
                request_id=f"join-{number}-{seat}", table_id=table_id, seat=seat
            )
        )
        tokens.append((("authorization", f"Bearer {joined.token}"),))
    await stub.StartMatch(
        table_service_pb2.StartMatchRequest(request_id="start", table_id=table_id),
        metadata=(("authorization", f"Bearer {created.token}"),),
    )
    return Script(list(_requests(Match(spec.make(spec.seats_usual), seed), table_id, tokens)))


def _requests(
    match: Match, table_id: str, tokens: list[Metadata]
) -> Iterator[tuple[bytes, Metadata]]:
    """The match by random legal actions, as the requests that play it."""
    codec = codec_of(GAME)
    draws = random.Random(table_id)  # noqa: S311 - any legal actions will do
    while not match.over:
        seat = match.to_act[0]
        action = draws.choice(match.legal(seat))
        request = table_service_pb2.PlayActionRequest(
            request_id=f"play-{match.decision_count}",
            table_id=table_id,
            turn=match.turn,
            action=codec.action_to(action),
        )
        yield request.SerializeToString(), tokens[seat]
        match.play(seat, action)


@asynccontextmanager
async def _echo_server(core: int | None) -> AsyncIterator[str]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tavolata.service.bench.echo"),
        stdout=asyncio.subprocess.PIPE,
        preexec_fn=None if core is None else partial(os.sched_setaffinity, 0, {core}),
    )
    try:
        printed = await process.stdout.readline() if process.stdout else b""
        yield f"127.0.0.1:{int(printed)}"
    finally:
        process.kill()
        await process.wait()
