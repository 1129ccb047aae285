"""Tables at a steady pace and those who watch them: readers, and some who don't read."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import grpc

from tavolata.v1 import table_service_pb2 as pb
from tavolata.v1.event_pb2 import ClosingReason
from tavolata.v1.table_pb2 import TableSettings
from tavolata.v1.table_service_pb2_grpc import TableServiceStub
from tests.service.campaign import KnownMatch, Problems
from tests.service.house import CALLER, OPEN, bearer, fresh_id
from tests.service.resuming import ENDED, NARROW, is_overflow

GAME, SEATS = "bouillabaisse", 2
CHANNELS = 8
TICK_S = 0.01
AHEAD_MAX = 100  # actions; about a match


@dataclass
class Hall:
    """What all share. since, until: between which it is measured; at the latter it ends. actions,
    events: played and received; delays_s: from an event's time to its arrival at a reader."""

    target: str
    problems: Problems
    since: float
    until: float
    actions: int = 0
    matches: int = 0
    events: int = 0
    overflows: int = 0
    delays_s: list[float] = field(default_factory=list)
    play_s: list[float] = field(default_factory=list)
    lags_s: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        own = [("grpc.use_local_subchannel_pool", 1)]
        self._channels = [
            grpc.aio.insecure_channel(self.target, options=own) for _ in range(CHANNELS)
        ]
        self.stubs: list[Any] = [TableServiceStub(channel) for channel in self._channels]

    @property
    def open(self) -> bool:
        """Whether it isn't time to end yet."""
        return time.time() < self.until

    def measures(self, at: float) -> bool:
        """Whether what happens at that time is measured."""
        return self.since <= at < self.until

    async def close(self) -> None:
        """Hang up."""
        for channel in self._channels:
            await channel.close()

    async def measure_lag(self) -> None:
        """How late this process itself is: what the delays can't be better than."""
        loop = asyncio.get_running_loop()
        while self.open:
            due = loop.time() + TICK_S
            await asyncio.sleep(TICK_S)
            if self.measures(time.time()):
                self.lags_s.append(loop.time() - due)


class Place:
    """A table, and another one when its match is over."""

    def __init__(self, hall: Hall, number: int, seed: int, interval_s: float) -> None:
        self._hall, self._interval_s = hall, interval_s
        self._stub = hall.stubs[number % CHANNELS]
        self._draws = random.Random(f"{seed} {number}")
        # Matches that began together would end together, and all watches with them.
        self._ahead = self._draws.randrange(AHEAD_MAX)  # actions of the first one, without a pause
        self._now: tuple[str, str] | None = None
        self._next: asyncio.Future[tuple[str, str]] = asyncio.get_running_loop().create_future()

    async def table(self, last: str = "") -> tuple[str, str] | None:
        """The table that is played at, another than `last`, and the token of a seat, once there is
        one; None when there will be none any more."""
        if self._now is not None and self._now[0] != last:
            return self._now
        following = self._next
        await asyncio.wait([following])
        return None if following.cancelled() else following.result()

    async def play(self) -> None:
        """Play match after match, an action at a time."""
        await asyncio.sleep(self._draws.random() * self._interval_s)
        while self._hall.open:
            await self._match()
            self._hall.matches += 1
        self._now = None
        self._next.cancel()

    async def _match(self) -> None:
        known = KnownMatch(GAME, SEATS, self._draws.randbytes(32), self._draws)
        made = await self._stub.CreateTable(
            pb.CreateTableRequest(
                request_id=fresh_id(),
                settings=TableSettings(game_id=GAME),
                seats=[CALLER, *[OPEN] * (SEATS - 1)],
                seed=known.seed,
            )
        )
        table_id, tokens = made.table.table_id, {0: made.token}
        for _ in range(SEATS - 1):
            join = pb.JoinTableRequest(request_id=fresh_id(), table_id=table_id)
            joined = await self._stub.JoinTable(join)
            tokens[joined.seat] = joined.token
        before, self._now = self._next, (table_id, made.token)
        self._next = asyncio.get_running_loop().create_future()
        before.set_result(self._now)
        start = pb.StartMatchRequest(request_id=fresh_id(), table_id=table_id)
        await self._stub.StartMatch(start, metadata=bearer(made.token))
        while actions := known.next_actions():
            if self._ahead:
                self._ahead -= 1
            else:
                await self._pace()
            if not self._hall.open:
                abort = pb.AbortMatchRequest(request_id=fresh_id(), table_id=table_id)
                await self._stub.AbortMatch(abort, metadata=bearer(made.token))
                return
            for turn, seat, _, action in actions:
                await self._act(table_id, tokens[seat], turn, action)
            known.played(actions)

    async def _pace(self) -> None:
        await asyncio.sleep(self._interval_s * self._draws.uniform(0.9, 1.1))

    async def _act(self, table_id: str, token: str, turn: int, action: Any) -> None:
        request = pb.PlayActionRequest(
            request_id=fresh_id(), table_id=table_id, turn=turn, action=action
        )
        began = time.monotonic()
        await self._stub.PlayAction(request, metadata=bearer(token))
        if self._hall.measures(time.time()):
            self._hall.play_s.append(time.monotonic() - began)
        self._hall.actions += 1


async def read(hall: Hall, place: Place, number: int) -> None:
    """Watch what is played at a place; every event must come, in order."""
    stub = hall.stubs[number % CHANNELS]
    table_id = ""
    while (found := await place.table(table_id)) is not None:
        table_id, _ = found
        sent, begun = 0, time.time()
        async for message in stub.WatchTable(
            pb.WatchTableRequest(table_id=table_id, after_event=0)
        ):
            if message.HasField("event"):
                now, event = time.time(), message.event
                hall.problems.check(event.number == sent + 1, f"{event.number} after {sent}")
                sent = event.number
                hall.events += 1
                at = event.time.seconds + event.time.nanos / 1e9
                if at > begun and hall.measures(at):
                    hall.delays_s.append(now - at)
            elif message.HasField("closing"):
                check_closing(hall, message.closing, sent)
            else:
                hall.problems.add(f"a reader was sent a {message.WhichOneof('message')}")


async def stall(hall: Hall, place: Place) -> None:
    """Ask for everything that a seat may see, views as well, and read none of it before the match
    is over; then all that comes must fit: numbers jump at a snapshot only."""
    table_id = ""
    while (found := await place.table(table_id)) is not None:
        table_id, token = found
        async with grpc.aio.insecure_channel(hall.target, options=NARROW) as channel:
            stub: Any = TableServiceStub(channel)
            request = pb.WatchTableRequest(table_id=table_id, after_event=0, with_views=True)
            watch = stub.WatchTable(request, metadata=bearer(token))
            await watch.read()
            await place.table(table_id)
            sent = 1
            while (message := await watch.read()) is not grpc.aio.EOF:
                if message.HasField("event"):
                    number = message.event.number
                    hall.problems.check(number == sent + 1, f"stalled: {number} after {sent}")
                    sent = number
                elif is_overflow(message):
                    hall.overflows += 1
                    sent = message.snapshot.event_number
                elif message.HasField("closing"):
                    check_closing(hall, message.closing, sent)


def check_closing(hall: Hall, closing: Any, sent: int) -> None:
    """The last message must say why, and where."""
    aborted = ClosingReason.CLOSING_REASON_MATCH_ABORTED
    ended = closing.reason == ENDED or (closing.reason == aborted and not hall.open)
    hall.problems.check(ended and closing.resume_after == sent, f"{closing} after {sent}")


def seated(places: Sequence[Place], number: int) -> Place:
    """Where somebody watches."""
    return places[number % len(places)]
