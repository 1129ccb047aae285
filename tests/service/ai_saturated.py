"""AI players who want ten times the threads there are: people's actions stay quick, refusals too.

First people play alone, then beside so many tables of AI players that ten searches want each
thread, at all times. The 99th percentile of PlayAction may be twice that of the first part at most,
or 10 ms if that is more. Meanwhile somebody goes on asking for more AI players than the caller's
limit allows: that must be refused at once, with a time to try again. Both parts take the time given
by --minutes.

    python -m tests.service.ai_saturated
    python -m tests.service.ai_saturated --minutes 0.3 --over 10
"""

from __future__ import annotations

import asyncio
import os
import re
import socket
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from urllib.request import urlopen

import grpc
import uvloop

from tavolata.service.own_server import own_server
from tavolata.v1 import table_service_pb2 as pb
from tavolata.v1.player_pb2 import AiPace, AiPlayer, SearchLimits
from tavolata.v1.table_pb2 import SeatPlan, TableSettings
from tests.service.audience import GAME, Hall, Place
from tests.service.campaign import Problems, Progress, conclude, parser_of, quantile
from tests.service.house import bearer, fresh_id, refusal_of

MINUTES, OVER = 5.0, 10
PLAYED, INTERVAL_S = 12, 0.1  # tables of people, and between their actions
THINK_MS = 200
SEATS = 4  # of AI players at a table: a match of so long decisions takes longer than a part
AI_S_PER_MIN = 3  # of one caller; used up soon after it began
ASK_S = 0.25  # between requests that are to be refused
WARM_SHARE = 0.2  # of each part, not measured
FACTOR, ENOUGH_MS = 2.0, 10.0
AT_ONCE_MS = 100.0

Waiting = Callable[[], Awaitable[float]]


@dataclass
class Crowd:
    """AI players beyond what there is room for. queue: decisions that waited, now and then;
    refused_s: how long refusals took."""

    hall: Hall
    problems: Problems
    started: list[tuple[str, str]] = field(default_factory=list)
    queue: list[float] = field(default_factory=list)
    refused_s: list[float] = field(default_factory=list)

    async def come(self, tables: int) -> None:
        """So many tables begin."""
        for _ in range(tables):
            self.started.append(await self._table())

    async def _table(self) -> tuple[str, str]:
        limits = SearchLimits()
        limits.think_time.FromMilliseconds(THINK_MS)
        pace = AiPace()
        pace.floor.SetInParent()
        pace.jitter.SetInParent()
        request = pb.CreateTableRequest(
            request_id=fresh_id(),
            settings=TableSettings(game_id=GAME, ai_pace=pace),
            seats=[SeatPlan(ai=AiPlayer(player="ismcts", limits=limits))] * SEATS,
        )
        stub = self.hall.stubs[0]
        made = await stub.CreateTable(request)
        began = time.monotonic()
        try:
            start = pb.StartMatchRequest(request_id=fresh_id(), table_id=made.table.table_id)
            await stub.StartMatch(start, metadata=bearer(made.token))
        except grpc.aio.AioRpcError:
            if self.hall.measures(time.time()):
                self.refused_s.append(time.monotonic() - began)
            abort = pb.AbortMatchRequest(request_id=fresh_id(), table_id=made.table.table_id)
            await stub.AbortMatch(abort, metadata=bearer(made.token))
            raise
        return made.table.table_id, made.token

    async def ask_for_more(self, waiting: Waiting) -> None:
        """Until the end: more than is allowed, and how long the queue is."""
        while self.hall.open:
            await asyncio.sleep(ASK_S)
            try:
                self.started.append(await self._table())
            except grpc.aio.AioRpcError as error:
                refusal = refusal_of(error)
                fits = refusal.reason == "LIMIT_EXCEEDED" and refusal.retry
                self.problems.check(fits, f"refused with {refusal}")
            if self.hall.measures(time.time()):
                self.queue.append(await waiting())

    async def go(self) -> None:
        """The tables are aborted."""
        for table_id, token in self.started:
            abort = pb.AbortMatchRequest(request_id=fresh_id(), table_id=table_id)
            with suppress(grpc.aio.AioRpcError):  # one may be over
                await self.hall.stubs[0].AbortMatch(abort, metadata=bearer(token))


async def _part(
    hall: Hall, progress: Progress, seed: int, interval_s: float, *beside: Awaitable[None]
) -> None:
    """People play until the time has come."""
    places = [Place(hall, number, seed, interval_s) for number in range(PLAYED)]

    async def show() -> None:
        before = time.time()
        while hall.open:
            await asyncio.sleep(min(1.0, max(0.0, hall.until - time.time())))
            now = time.time()
            progress.step(now - before, f"p99 {1000 * quantile(hall.play_s[-2000:], 0.99):.1f} ms")
            before = now

    await asyncio.gather(show(), hall.measure_lag(), *beside, *(place.play() for place in places))


async def ai_saturated(
    target: str,
    seconds: float,
    *,
    threads: int,
    over: int,
    waiting: Waiting,
    seed: int,
    interval_s: float = INTERVAL_S,
    quiet: bool = False,
) -> tuple[dict[str, float], str, Problems]:
    """Both parts, of so many seconds each: the times in milliseconds, a text, what is wrong.
    waiting: how many decisions no thread has begun."""
    problems, progress = Problems(), Progress("seconds", 2 * seconds, quiet=quiet)

    def hall() -> Hall:
        now = time.time()
        return Hall(target, problems, now + WARM_SHARE * seconds, now + seconds)

    idle = hall()
    await _part(idle, progress, seed, interval_s)
    await idle.close()
    busy = hall()
    crowd = Crowd(busy, problems)
    await crowd.come(threads * over)
    await _part(busy, progress, seed + 1, interval_s, crowd.ask_for_more(waiting))
    await crowd.go()
    await busy.close()
    progress.end()
    problems.check(bool(crowd.refused_s), "nothing was refused")
    queue = quantile(crowd.queue, 0.1)
    # One in `over` is being thought about; some of the rest are being recorded.
    problems.check(queue >= threads * (over - 1) * 0.8, f"the queue was at {queue}: not saturated")
    found = {
        "idle p50": 1000 * quantile(idle.play_s, 0.5),
        "idle p99": 1000 * quantile(idle.play_s, 0.99),
        "saturated p50": 1000 * quantile(busy.play_s, 0.5),
        "saturated p99": 1000 * quantile(busy.play_s, 0.99),
        "refusal p99": 1000 * quantile(crowd.refused_s, 0.99),
        "client's own p99 idle": 1000 * quantile(idle.lags_s, 0.99),
        "client's own p99 saturated": 1000 * quantile(busy.lags_s, 0.99),
    }
    times = ", ".join(f"{name} {value:.1f} ms" for name, value in found.items())
    text = (
        f"{over} searches for each of {threads} threads, queue {queue:.0f}, {len(idle.play_s)} and"
        f" {len(busy.play_s)} actions, {len(crowd.refused_s)} refusals: {times}"
    )
    return found, text, problems


async def _against_own_server(arguments: Any) -> tuple[str, Problems]:
    threads = len(os.sched_getaffinity(0))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        metrics = f"127.0.0.1:{free.getsockname()[1]}"
    flags = ("--caller-ai-s-per-min", str(AI_S_PER_MIN), "--caller-tables-per-min", "0")

    async def waiting() -> float:
        text = await asyncio.to_thread(partial(_fetched, f"http://{metrics}/metrics"))
        found = re.search(r"^tavolata_ai_queue (\S+)$", text, re.MULTILINE)
        assert found is not None, text
        return float(found[1])

    async with own_server(*flags, "--metrics-bind", metrics) as server:
        found, text, problems = await ai_saturated(
            server.target,
            60 * arguments.minutes,
            threads=threads,
            over=arguments.over,
            waiting=waiting,
            seed=arguments.seed,
        )
    allowed = max(ENOUGH_MS, FACTOR * found["idle p99"])
    p99, refusal = found["saturated p99"], found["refusal p99"]
    problems.check(p99 <= allowed, f"p99 {p99:.1f} ms when saturated; allowed: {allowed:.1f} ms")
    problems.check(refusal <= AT_ONCE_MS, f"refusals took {refusal:.1f} ms")
    return text, problems


def _fetched(address: str) -> str:
    with urlopen(address, timeout=10) as answer:  # noqa: S310 - our own
        return str(answer.read().decode())


def main() -> int:
    """The long form."""
    parser = parser_of(__doc__)
    parser.add_argument("--minutes", type=float, default=MINUTES, help=f"a part [{MINUTES:g}]")
    parser.add_argument("--over", type=int, default=OVER, help=f"searches a thread [{OVER}]")
    arguments = parser.parse_args()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        summary, problems = runner.run(_against_own_server(arguments))
    return conclude("ai_saturated", arguments, summary, problems)


if __name__ == "__main__":
    sys.exit(main())
