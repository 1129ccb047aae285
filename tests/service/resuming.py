"""Watchers that are cut off again and again and go on with the last number they have.

They keep what they get as bytes. Whatever comes twice must be the same bytes, and nothing may be
missing; numbers jump at an overflow snapshot only, and what was skipped is fetched.
"""

from __future__ import annotations

import asyncio
import hashlib
import random
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import grpc
from google.protobuf.message import Message

from tavolata.v1.event_pb2 import ClosingReason, Event, Snapshot, SnapshotReason
from tavolata.v1.play_pb2 import AttachSeat
from tavolata.v1.table_service_pb2 import PlayStreamRequest, WatchTableRequest
from tavolata.v1.table_service_pb2_grpc import TableServiceStub
from tests.service.campaign import Problems, Progress
from tests.service.house import bearer

ENDED = ClosingReason.CLOSING_REASON_MATCH_FINISHED
OVERFLOW = SnapshotReason.SNAPSHOT_REASON_OVERFLOW
PATIENCE_S = 0.4  # before a cut that nothing else has brought
STALL_S = 60.0  # nothing may take as long
# So that a server can't push much to a client that doesn't read.
NARROW = [
    ("grpc.http2.lookahead_bytes", 1024),
    ("grpc.http2.bdp_probe", 0),
    ("grpc.use_local_subchannel_pool", 1),
]


@dataclass
class Course:
    """What all watchers of a run share. targets: the servers; goal: resumes."""

    targets: Sequence[str]
    goal: int
    problems: Problems
    progress: Progress
    counts: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._channels = [grpc.aio.insecure_channel(target) for target in self.targets]
        self.stubs: list[Any] = [TableServiceStub(channel) for channel in self._channels]

    @property
    def cutting(self) -> bool:
        """Whether it goes on: until there were enough, or something is wrong."""
        return self.progress.done < self.goal and not self.problems.count

    async def close(self) -> None:
        """Hang up."""
        for channel in self._channels:
            await channel.close()

    def resumed(self, how: str) -> None:
        """One more."""
        self.counts[how] += 1
        self.progress.step()


@dataclass
class Follower:
    """One viewer's events over all interruptions, as bytes in their order."""

    course: Course
    name: str
    table_id: str
    token: str | None
    draws: random.Random
    events: list[bytes] = field(default_factory=list)
    over: bool = False
    _server: int = -1

    async def live(self) -> None:
        """Watch from the first event to the end of the match."""
        begun = False
        while not self.over:
            after = len(self.events)
            if after and self.draws.random() < 0.1:
                after = self.draws.randrange(after)  # once more from before, as if it were lost
            if begun:
                self.course.resumed("resumed")
            begun = True
            await self._for_a_while(after)

    def next_server(self) -> int:
        """Another server than the last, where there are several."""
        others = [each for each in range(len(self.course.stubs)) if each != self._server]
        self._server = self.draws.choice(others or [0])
        return self._server

    async def _for_a_while(self, after: int) -> None:
        """One connection from its beginning to where it is cut: after so many messages, or so long,
        by a cancelled call or a closed connection; or to the end."""
        server, cutting = self.next_server(), self.course.cutting
        with_stream, hang_up = self.draws.random() < 0.2, self.draws.random() < 0.05
        left = self.draws.choice((1, 1, 2, 3, 5, 8, 13, 40))
        patience = self.draws.random() * PATIENCE_S
        channel = None
        stub = self.course.stubs[server]
        if hang_up:
            channel = grpc.aio.insecure_channel(self.course.targets[server], options=NARROW)
            stub = TableServiceStub(channel)
        messages = self._streamed(stub, after) if with_stream else self._watched(stub, after)
        try:
            async with asyncio.timeout(patience if cutting else STALL_S):
                async for message in messages:
                    if is_overflow(message):
                        self.moved(message.snapshot)
                        return
                    after = self._take(message, after)
                    left -= 1
                    if self.over or (cutting and left <= 0):
                        return
            self.course.problems.add(f"{self} ended without a closing message at {after}")
        except TimeoutError:
            self.course.problems.check(cutting, f"{self} stalled at {after}")
        except grpc.aio.AioRpcError as error:
            self.course.problems.add(f"{self}: {error.code()} {error.details()} after {after}")
            await asyncio.sleep(0.1)
        finally:
            await messages.aclose()
            if channel is not None:
                self.course.counts["hung up"] += 1
                await channel.close()

    async def _watched(self, stub: Any, after: int) -> AsyncGenerator[Any, None]:
        request = WatchTableRequest(table_id=self.table_id, after_event=after)
        call = stub.WatchTable(request, metadata=bearer(self.token))
        try:
            async for message in call:
                yield message
        finally:
            call.cancel()

    async def _streamed(self, stub: Any, after: int) -> AsyncGenerator[Any, None]:
        attach = AttachSeat(
            handle=1, table_id=self.table_id, token=self.token or "", after_event=after
        )
        call = stub.PlayStream()
        self.course.counts["streams"] += 1
        try:
            await call.write(PlayStreamRequest(attach=attach))
            async for message in call:
                if message.WhichOneof("message") == "refused":
                    self.course.problems.add(f"{self}: {message.refused}")
                elif message.WhichOneof("message") != "attached":
                    yield message
        finally:
            call.cancel()

    def _take(self, message: Any, after: int) -> int:
        """Keep what came; the number of the last event by now."""
        check = self.course.problems.check
        if message.HasField("closing"):
            self.over = True
            closing = message.closing
            check(closing.reason == ENDED, f"{self} was closed: {closing}")
            last = len(self.events)
            check(closing.resume_after == after == last, f"{self}: {after}, {last}, {closing}")
        elif message.HasField("event"):
            event: Event = message.event
            check(event.number == after + 1, f"{self}: event {event.number} after {after}")
            keep(self, event)
            return event.number
        else:
            check(False, f"{self} did not ask for a {message.WhichOneof('message')}")
        return after

    def moved(self, snapshot: Snapshot) -> None:
        """It was moved ahead: it has been too far behind, or its server has. The events that were
        skipped are to be fetched."""
        number = snapshot.event_number
        self.course.counts["moved ahead"] += 1
        check = self.course.problems.check
        check(number > len(self.events), f"{self}: moved to {number} from {len(self.events)}")
        check(snapshot.view.event_number == number, f"{self}: a view of another event at {number}")

    def __str__(self) -> str:
        return f"{self.name} at {self.table_id}"


def is_overflow(message: Any) -> bool:
    """Whether it is the snapshot that moves a watcher ahead."""
    return bool(message.HasField("snapshot") and message.snapshot.reason == OVERFLOW)


def keep(follower: Follower, event: Event) -> None:
    """Note an event; one that it had must have been the same."""
    written = event.SerializeToString(deterministic=True)
    held = follower.events
    if event.number == len(held) + 1:
        held.append(written)
    elif event.number <= len(held):
        follower.course.counts["seen again"] += 1
        same = held[event.number - 1] == written
        follower.course.problems.check(same, f"{follower}: event {event.number} is another now")
    else:
        follower.course.problems.add(f"{follower}: {event.number} after {len(held)}")


class Sleeper(Follower):
    """Asks for views and reads too slowly, so that it is moved ahead; then it fetches the rest."""

    async def live(self) -> None:
        """Watch from the first event to the end of the match."""
        begun = False
        while not self.over:
            if begun:
                self.course.resumed("resumed by sleepers")
            begun = True
            target = self.course.targets[self.next_server()]
            async with grpc.aio.insecure_channel(target, options=NARROW) as channel:
                try:
                    await self._doze(TableServiceStub(channel))
                except TimeoutError:
                    self.course.problems.add(f"{self} stalled at {len(self.events)}")
                except grpc.aio.AioRpcError as error:
                    self.course.problems.add(f"{self}: {error.code()} {error.details()}")
                    await asyncio.sleep(0.1)

    async def _doze(self, stub: Any) -> None:
        request = WatchTableRequest(
            table_id=self.table_id, after_event=len(self.events), with_views=True
        )
        call = stub.WatchTable(request, metadata=bearer(self.token))
        left = self.draws.randrange(20, 120)
        try:
            while not self.over and (left > 0 or not self.course.cutting):
                left -= 1
                if self.course.cutting and self.draws.random() < 0.04:
                    await asyncio.sleep(self.draws.uniform(0.3, 1.5))
                message = await asyncio.wait_for(call.read(), STALL_S)
                if message is grpc.aio.EOF:
                    self.course.problems.add(f"{self} ended without a closing message")
                    return
                if message.HasField("snapshot"):
                    await self._take_snapshot(message.snapshot)
                else:
                    self._take(message, len(self.events))
        finally:
            call.cancel()

    async def _take_snapshot(self, snapshot: Snapshot) -> None:
        number = snapshot.event_number
        if snapshot.reason != OVERFLOW:
            same = number == len(self.events) == snapshot.view.event_number
            self.course.problems.check(same, f"{self}: view {number} after {len(self.events)}")
            return
        self.moved(snapshot)
        messages = self._watched(self.course.stubs[self.next_server()], after := len(self.events))
        self.course.resumed("fetched what was skipped")
        async with asyncio.timeout(STALL_S):
            while after < number and not self.over:
                after = self._take(await anext(messages), after)
            await messages.aclose()


class Steady(Follower):
    """Is not cut: it goes on only where it was moved ahead."""

    async def live(self) -> None:
        """Watch from the first event to the end of the match."""
        while not self.over:
            await self._for_a_while(len(self.events))

    async def _for_a_while(self, after: int) -> None:
        messages = self._watched(self.course.stubs[self.next_server()], after)
        try:
            async for message in messages:
                if is_overflow(message):
                    self.moved(message.snapshot)
                    return
                after = self._take(message, after)
            self.course.problems.check(self.over, f"{self} ended without a closing message")
        except grpc.aio.AioRpcError as error:
            self.course.problems.add(f"{self}: {error.code()} {error.details()} after {after}")
        finally:
            await messages.aclose()
        self.over = True


def digest(events: Sequence[bytes], spectators: Sequence[bytes]) -> str:
    """A hash over the part of a viewer's events that is public: the fields that a spectator's event
    has, with the viewer's own values. Equal for all viewers of one match."""
    total = hashlib.sha256()
    for own, public in zip(events, spectators, strict=True):
        part, pattern = Event.FromString(own), Event.FromString(public)
        _reduce(part, pattern)
        total.update(part.SerializeToString(deterministic=True))
    return total.hexdigest()


def _reduce(message: Message, pattern: Message) -> None:
    """Clear what the pattern doesn't have."""
    held = {each.name for each, _ in pattern.ListFields()}
    for each, value in list(message.ListFields()):
        if each.name not in held:
            message.ClearField(each.name)
        elif each.message_type is None:
            continue
        elif each.is_repeated:
            with suppress(ValueError):
                for inner, other in zip(value, getattr(pattern, each.name), strict=True):
                    _reduce(inner, other)
        else:
            _reduce(value, getattr(pattern, each.name))
