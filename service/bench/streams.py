"""Durable actions per second over PlayStreams, with the events of all attached seats delivered."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc

from tavolata.service.bench import echo
from tavolata.service.bench.scripts import Script
from tavolata.v1 import play_pb2
from tavolata.v1.event_pb2 import CLOSING_REASON_MATCH_FINISHED
from tavolata.v1.table_service_pb2 import (
    PlayStreamRequest,
    PlayStreamRequestBatch,
    PlayStreamResponse,
)

PLAY_STREAM = "/tavolata.v1.TableService/PlayStream"
TABLES_A_STREAM = 32
_TICKS = os.sysconf("SC_CLK_TCK")


class Undelivered(AssertionError):
    """A server has not sent everything, or not as it should have."""


@dataclass(slots=True)
class StreamLoad:
    """What one run took. seconds: from the first action to the last; cpu_s: of the server."""

    actions: int = 0
    events: int = 0
    seconds: float = 0.0
    cpu_s: float = 0.0
    sent: int = 0  # messages of the client while it played
    received: list[int] = field(default_factory=list)  # bytes of each message of the server

    @property
    def rate(self) -> float:
        return self.actions / self.seconds

    @property
    def cpu_us(self) -> float:
        return 1e6 * self.cpu_s / self.actions


def cpu_seconds(process: int) -> float:
    """What a process has had of the processors so far."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


class _Table:
    """A match on its way: the move whose result is awaited, and what its seats have heard."""

    def __init__(self, script: Script, handle: int, streams: list[_Stream]) -> None:
        self.handle = handle
        self.script = script
        self._streams = streams
        self._played = 0
        self.last_event = 0

    def play(self) -> None:
        """Send the next move, if there is one."""
        if self._played == len(self.script.moves):
            return
        move = self.script.moves[self._played]
        self._streams[move.seat].send(
            PlayStreamRequest(
                play=play_pb2.PlayAttached(
                    handle=self.handle,
                    request_id=move.request_id,
                    turn=move.turn,
                    action=move.action,
                )
            )
        )

    def settle(self, result: play_pb2.PlayResult) -> None:
        """Take the result of the move that was sent last."""
        move = self.script.moves[self._played]
        if result.request_id != move.request_id or not result.HasField("receipt"):
            raise Undelivered(f"{move.request_id} came to {result}")
        self._played += 1
        self.last_event = result.receipt.event_number
        self.play()


class _Stream:
    """One stream: a seat at many tables."""

    def __init__(self, channel: grpc.aio.Channel, load: StreamLoad, in_batches: bool) -> None:
        self._in_batches = in_batches
        self._call: Any = channel.stream_stream(PLAY_STREAM)()
        self._load = load
        self._waiting: list[PlayStreamRequest] = []
        self._wake = asyncio.Event()
        self._tables: dict[int, _Table] = {}
        self._heard: dict[int, int] = {}
        self._writing: asyncio.Task[None] | None = None

    async def attach(self, table: _Table, seat: int) -> None:
        """Attach a seat of a table, with the events from now on."""
        script = table.script
        attach = play_pb2.AttachSeat(
            handle=table.handle, table_id=script.table_id, token=script.tokens[seat], after_event=0
        )
        await self._call.write(PlayStreamRequest(attach=attach).SerializeToString())
        self._tables[table.handle] = table

    def begin(self) -> None:
        """Write whatever is to be sent from now on."""
        self._writing = asyncio.create_task(self._write())

    def send(self, request: PlayStreamRequest) -> None:
        self._waiting.append(request)
        self._wake.set()

    async def _write(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            requests, self._waiting = self._waiting, []
            if self._in_batches:
                batch = PlayStreamRequestBatch(requests=requests)
                requests = [PlayStreamRequest(batch=batch)]
            for request in requests:
                self._load.sent += 1
                await self._call.write(request.SerializeToString())

    async def attached(self) -> None:
        """Return when every seat has been told what has happened so far."""
        last: dict[int, int] = {}
        while len(last) < len(self._tables) or any(
            self._heard.get(handle, 0) < number for handle, number in last.items()
        ):
            for response in _singles(await self._call.read()):
                if response.HasField("attached"):
                    last[response.handle] = response.attached.last_event
                else:
                    self._take(response)

    async def read(self) -> None:
        """Take what comes until every table is over."""
        while self._tables:
            data = await self._call.read()
            if data is grpc.aio.EOF:
                raise Undelivered(f"a stream ended with {len(self._tables)} tables on it")
            self._load.received.append(len(data))
            for response in _singles(data):
                self._take(response)
        if self._writing is not None:
            self._writing.cancel()
        self._call.cancel()

    def _take(self, response: PlayStreamResponse) -> None:
        handle = response.handle
        table = self._tables[handle]
        match response.WhichOneof("message"):
            case "result":
                table.settle(response.result)
                self._load.actions += 1
            case "event":
                self._load.events += 1
                expected = self._heard.get(handle, 0) + 1
                if response.event.number != expected:
                    raise Undelivered(f"event {response.event.number} came for {expected}")
                self._heard[handle] = expected
            case "closing" if response.closing.reason == CLOSING_REASON_MATCH_FINISHED:
                if self._heard[handle] < table.last_event:
                    raise Undelivered(f"the last event heard is {self._heard[handle]}")
                del self._tables[handle]
            case _:
                raise Undelivered(f"nobody asked for {response}")


def _singles(data: bytes) -> Sequence[PlayStreamResponse]:
    """The messages in one that was received."""
    response = PlayStreamResponse.FromString(data)
    return response.batch.responses if response.HasField("batch") else (response,)


async def play(
    target: str, process: int, scripts: Sequence[Script], *, in_batches: bool
) -> StreamLoad:
    """Play all scripts at the same time, an action of each under way. The seats of 32 tables are on
    as many streams as a table has seats, each seat on its own."""
    load = StreamLoad()
    async with grpc.aio.insecure_channel(target) as channel:
        streams: list[_Stream] = []
        tables: list[_Table] = []
        for first in range(0, len(scripts), TABLES_A_STREAM):
            group = [_Stream(channel, load, in_batches) for _ in scripts[first].tokens]
            for handle, script in enumerate(scripts[first : first + TABLES_A_STREAM], start=1):
                table = _Table(script, handle, group)
                tables.append(table)
                for seat, stream in enumerate(group):
                    await stream.attach(table, seat)
            streams += group
        for stream in streams:
            await stream.attached()
            stream.begin()
        load.events = 0
        await _timed(load, process, lambda: _play_all(tables, streams))
    if load.actions != sum(len(script.moves) for script in scripts):
        raise Undelivered(f"{load.actions} actions have a result")
    return load


async def _play_all(tables: list[_Table], streams: list[_Stream]) -> None:
    for table in tables:
        table.play()
    await asyncio.gather(*(stream.read() for stream in streams))


async def _timed(load: StreamLoad, process: int, run: Callable[[], Any]) -> None:
    cpu, started = cpu_seconds(process), time.perf_counter()
    await run()
    load.seconds = time.perf_counter() - started
    load.cpu_s = cpu_seconds(process) - cpu


async def echoed(target: str, process: int, like: StreamLoad, streams: int = 8) -> StreamLoad:
    """The same number of messages of the same sizes from a bare echo."""
    a_message = max(1, round(len(like.received) / like.sent))
    size = round(sum(like.received) / len(like.received))
    metadata = ((echo.REPLY_BYTES, " ".join([str(size)] * a_message)),)
    load = StreamLoad(actions=like.actions)
    left = like.sent
    async with grpc.aio.insecure_channel(target) as channel:
        calls: list[Any] = [
            channel.stream_stream(echo.PLAY_STREAM)(metadata=metadata) for _ in range(streams)
        ]
        play = PlayStreamRequest(play=play_pb2.PlayAttached(handle=1, request_id="play-77"))
        plays = [play] * max(1, round(like.actions / like.sent))
        batch = PlayStreamRequest(batch=PlayStreamRequestBatch(requests=plays))
        data = (batch if len(plays) > 1 else play).SerializeToString()

        async def exchange(call: Any) -> None:
            nonlocal left
            for _ in range(8):
                await call.write(data)
            while left > 0:
                left -= 1
                for _ in range(a_message):
                    await call.read()
                await call.write(data)
            call.cancel()

        async def run() -> None:
            await asyncio.gather(*(exchange(call) for call in calls))

        await _timed(load, process, run)
    return load
