"""Durable actions per second over gRPC, against a bare echo of the same messages.

Server and client have a core each where there are two. The client is light: whole matches are
played beforehand from known seeds, so a request is bytes that lie ready, and what is measured is
the server. Each table plays one action at a time; all together keep `TABLES` outstanding.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import grpc
import uvloop

from tavolata.service import settings
from tavolata.service.bench import echo, loop_lag, streams
from tavolata.service.bench.measurement import Measurement
from tavolata.service.bench.scripts import GAME, Script, scripts
from tavolata.service.bench.streams import StreamLoad
from tavolata.service.own_server import own_server
from tavolata.v1.table_service_pb2 import PlayActionRequest

PLAY_ACTION = "/tavolata.v1.TableService/PlayAction"
TABLES = 64
RUNS = 3
GOAL = 0.60  # of the echo's requests/s
STREAM_GOAL = 5_000  # actions/s
Metadata = tuple[tuple[str, str], ...]


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
    echoes: list[Load] = []
    plays: list[Load] = []
    streamed: dict[bool, list[tuple[StreamLoad, StreamLoad]]] = {True: [], False: []}
    async with (
        own_server("--ai-floor", "0", "--ai-jitter", "0", core=server_core) as own,
        echo.echo_server(server_core) as (echoing, echo_process),
    ):
        for run in range(RUNS):
            numbers = [range(TABLES * n, TABLES * (n + 1)) for n in range(3 * run, 3 * run + 3)]
            unary = await scripts(own.target, numbers[0])
            echoes.append(await _run(echoing, echo.PLAY_ACTION, unary))
            plays.append(await _run(own.target, PLAY_ACTION, unary))
            for in_batches, loads in streamed.items():
                played = await scripts(own.target, numbers[1 + in_batches])
                load = await streams.play(own.target, own.process, played, in_batches=in_batches)
                loads.append((load, await streams.echoed(echoing, echo_process, load)))
    rate = statistics.median(load.rate for load in plays)
    rows = [_stream_row(loads, batches, rate) for batches, loads in streamed.items()]
    return [*_rows(echoes, plays), *(row for pair in rows for row in pair), lag]


def _stream_row(
    loads: Sequence[tuple[StreamLoad, StreamLoad]], in_batches: bool, unary: float
) -> tuple[Measurement, Measurement]:
    """The rate beside a bare echo of as many and as long messages, and beside unary calls."""
    load, bare = sorted(loads, key=lambda pair: pair[0].rate)[len(loads) // 2]
    how = "in batches" if in_batches else "single messages"
    of_each = f"{load.events / load.actions:.1f} events and {load.cpu_us:.0f} us of CPU an action"
    case = f"PlayStream, {how}, every seat of {TABLES} tables, {of_each}"
    echoed = Measurement(
        case, load.rate, "actions/s", f"bare echo, {bare.cpu_us:.0f} us of CPU", bare.rate
    )
    goal = STREAM_GOAL / unary if in_batches else None
    case = f"PlayStream, {how}; the goal is {STREAM_GOAL:,}/s" if in_batches else case
    return echoed, Measurement(case, load.rate, "actions/s", "unary PlayAction", unary, goal)


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


async def _run(target: str, method: str, played: list[Script]) -> Load:
    """Play every script against a server, an action of each at a time."""
    load = Load()
    async with grpc.aio.insecure_channel(target) as channel:
        call: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(method)

        async def play(requests: list[tuple[bytes, Metadata]]) -> None:
            for request, metadata in requests:
                sent = time.perf_counter()
                await call(request, metadata=metadata)
                load.latencies_ms.append(1000 * (time.perf_counter() - sent))

        ready = [_requests(script) for script in played]
        started = time.perf_counter()
        await asyncio.gather(*(play(requests) for requests in ready))
        load.seconds = time.perf_counter() - started
    return load


def _requests(script: Script) -> list[tuple[bytes, Metadata]]:
    """All calls of a match in order, ready to send."""
    headers: list[Metadata] = [(("authorization", f"Bearer {each}"),) for each in script.tokens]
    return [
        (
            PlayActionRequest(
                request_id=move.request_id,
                table_id=script.table_id,
                turn=move.turn,
                action=move.action,
            ).SerializeToString(),
            headers[move.seat],
        )
        for move in script.moves
    ]
