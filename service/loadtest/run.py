"""The first process of a load test: looks at the server, starts the others, and gathers what they
tell."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import platform
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import grpc

from tavolata.ext.registry import GAMES
from tavolata.service.bench.streams import cpu_seconds
from tavolata.service.client.errors import refused_call
from tavolata.service.loadtest.plan import Plan
from tavolata.service.loadtest.result import Machine, Result, Second, Server, result_of
from tavolata.service.loadtest.tally import Account, Slice
from tavolata.service.loadtest.wire import channel_to
from tavolata.service.loadtest.worker import READY_S, Go, work
from tavolata.v1.catalog_service_pb2 import GetServerInfoRequest
from tavolata.v1.catalog_service_pb2_grpc import CatalogServiceStub
from tavolata.v1.server_info_pb2 import ServerInfo

PROBES = 5
BEGIN_S = 0.2  # from the word to begin until it begins
GRACE_S = 20.0
Observe = Callable[[Second], None]


class LoadFailed(Exception):
    """The load test couldn't be made; the text says why."""


async def run(
    plan: Plan, observe: Observe, stop: asyncio.Event, own_process: int | None = None
) -> Result:
    """Load the server of the plan and say what came of it. LoadFailed.

    observe: called with each second when all processes have told of it; stop: set to end early;
    own_process: of the server, if it was started for this.
    """
    info, ahead_s = await _probe(plan)
    crew = _Crew(plan, observe, stop)
    try:
        return await crew.run(info, ahead_s, own_process)
    finally:
        crew.end()


async def _probe(plan: Plan) -> tuple[ServerInfo, float]:
    """The server, and how far its clock is ahead, by the quickest of several answers."""
    found: list[tuple[float, float, ServerInfo]] = []
    async with channel_to(plan.reach) as channel:
        stub: Any = CatalogServiceStub(channel)
        for _ in range(PROBES):
            sent = time.time()
            try:
                answer = await stub.GetServerInfo(GetServerInfoRequest(), timeout=READY_S)
            except grpc.aio.AioRpcError as error:
                raise LoadFailed(f"{plan.reach.target}: {refused_call(error)}") from None
            took, now = time.time() - sent, answer.info.server_time
            ahead = now.seconds + now.nanos / 1e9 - (sent + took / 2)
            found.append((took, ahead, answer.info))
    _, ahead_s, info = min(found, key=lambda each: each[0])
    _check_rules(plan, info)
    return info, ahead_s


def _check_rules(plan: Plan, info: ServerInfo) -> None:
    theirs = {each.game_id: each.rules_version for each in info.games}
    for game in plan.games:
        if game not in theirs:
            raise LoadFailed(f"the server has no game {game!r}; it has: {', '.join(theirs)}")
        ours = GAMES[game].rules_version
        if theirs[game] != ours and not plan.views:
            raise LoadFailed(
                f"the server plays version {theirs[game]} of the rules of {game}, and the tool"
                f" plays along by version {ours}: let people follow views instead (--views)"
            )


@dataclass
class _Usage:
    """What the server's process used while it counted, if the tool has started it."""

    process: int | None
    cpu_s: float | None = None
    rss_bytes: int | None = None
    _before: float = 0.0

    def begin(self) -> None:
        if self.process is not None:
            self._before = cpu_seconds(self.process)

    def end(self) -> None:
        if self.process is None or self.cpu_s is not None:
            return
        self.cpu_s = cpu_seconds(self.process) - self._before
        for line in Path(f"/proc/{self.process}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                self.rss_bytes = 1024 * int(line.split()[1])


class _Crew:
    """The other processes."""

    def __init__(self, plan: Plan, observe: Observe, stop: asyncio.Event) -> None:
        self._plan, self._observe, self._stop = plan, observe, stop
        self._timeline: dict[int, Second] = {}
        self._accounts: dict[int, Account] = {}
        self._processes: list[BaseProcess] = []
        self._pipes: list[Connection] = []
        self._told: asyncio.Queue[tuple[int, Any]] = asyncio.Queue()
        self._stopped_at = float("inf")

    async def run(self, info: ServerInfo, ahead_s: float, own_process: int | None) -> Result:
        """From the start of the processes to what they have found. LoadFailed."""
        plan, loop = self._plan, asyncio.get_running_loop()
        self._start()
        await self._all_ready()
        began, load = datetime.now(UTC), os.getloadavg()[0]
        usage = _Usage(own_process)
        since = BEGIN_S + plan.ramp_s + plan.warmup_s
        loop.call_later(since, usage.begin)
        loop.call_later(since + plan.duration_s, usage.end)
        begin = time.monotonic() + BEGIN_S
        for pipe in self._pipes:
            pipe.send(Go(begin, ahead_s))
        stopping = asyncio.create_task(self._pass_on_stop())
        try:
            async with asyncio.timeout(BEGIN_S + plan.total_s + 2 * plan.timeout_s + GRACE_S):
                await self._gather()
        except TimeoutError:
            raise LoadFailed("a process of the tool did not come to its end") from None
        finally:
            stopping.cancel()
        seconds = min(plan.duration_s, self._stopped_at - begin - plan.ramp_s - plan.warmup_s)
        if seconds <= 0:
            raise LoadFailed("it was ended before anything counted")
        usage.end()
        return result_of(
            plan,
            self._accounts.values(),
            self._timeline,
            server=Server(
                *(plan.reach.target, info.version, own_process is not None),
                *(usage.cpu_s, usage.rss_bytes),
            ),
            machine=Machine(
                os.cpu_count() or 1, platform.python_version(), (load, os.getloadavg()[0])
            ),
            began=began.isoformat(timespec="seconds"),
            seconds=seconds,
            ended_early=self._stop.is_set(),
        )

    def end(self) -> None:
        """Leave no process behind."""
        for pipe in self._pipes:
            asyncio.get_running_loop().remove_reader(pipe.fileno())
            pipe.close()
        for process in self._processes:
            process.join(1.0)
            if process.is_alive():
                process.kill()
                process.join()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        for number in range(self._plan.processes):
            ours, theirs = context.Pipe()
            process = context.Process(target=work, args=(self._plan, number, theirs), daemon=True)
            process.start()
            theirs.close()
            self._processes.append(process)
            self._pipes.append(ours)
            asyncio.get_running_loop().add_reader(ours.fileno(), self._receive, number)

    def _receive(self, number: int) -> None:
        try:
            self._told.put_nowait((number, self._pipes[number].recv()))
        except (EOFError, OSError):
            asyncio.get_running_loop().remove_reader(self._pipes[number].fileno())
            self._told.put_nowait((number, None))

    async def _all_ready(self) -> None:
        for _ in self._pipes:
            _, told = await self._told.get()
            if not isinstance(told, int):
                raise LoadFailed(told or "a process of the tool has ended before it was ready")

    async def _gather(self) -> None:
        while len(self._accounts) < self._plan.processes:
            number, told = await self._told.get()
            if isinstance(told, Slice):
                self._add(told)
            elif isinstance(told, Account):
                self._accounts[number] = told
            elif number not in self._accounts:
                raise LoadFailed("a process of the tool has ended too soon; see above")

    def _add(self, part: Slice) -> None:
        second = self._timeline.setdefault(part.number, Second(part.number))
        second.add(part)
        if second.parts == self._plan.processes:
            self._observe(second)

    async def _pass_on_stop(self) -> None:
        await self._stop.wait()
        self._stopped_at = time.monotonic()
        for pipe in self._pipes:
            with suppress(OSError):
                pipe.send("stop")
