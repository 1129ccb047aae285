"""A server on scripted ports behind a real socket, whose matches deal what a test says.

Ids, tokens, seeds and times come from a number, so that two servers tell the same of two tables
unless the matches differ in what they tell.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from unittest.mock import patch

import grpc

from tavolata.ext.core.game import Game
from tavolata.ext.core.match import Match
from tavolata.ext.core.records import ChanceOutcome
from tavolata.service import settings
from tavolata.service.binding import transport_options
from tavolata.service.bus import LocalBus
from tavolata.service.calls import Calls, Limits
from tavolata.service.core import Core, make_core
from tavolata.service.handlers import TableService
from tavolata.service.ports import Append, StoreError, Wanted
from tavolata.service.tables import apply
from tavolata.service.watch import Watch
from tavolata.v1 import table_service_pb2
from tests.games.engine import coded_script
from tests.reference.chance import Key, Script
from tests.service.drawn_ports import KnownEntropy, MemoryStore, ThinkingHere

EPOCH_US = 1_700_000_000_000_000
TABLE_US = 10**9  # of the clock, for every table
PATIENCE_S = 60.0  # of the machine's time, for what has to happen by itself
_SERVICE = table_service_pb2.DESCRIPTOR.services_by_name["TableService"]


@dataclass(frozen=True)
class Course:
    """A match up to some decision: what chance gave, the seed of all that comes after, and every
    decision as (turn, seat, action)."""

    seed: bytes
    script: dict[Key, int | list[int]]
    decisions: list[tuple[int, int, int]]

    @classmethod
    def of(cls, match: Match) -> Course:
        """The course that this match has taken."""
        outcomes = [entry for entry in match.entries() if isinstance(entry, ChanceOutcome)]
        named: Script = {
            (each.purpose, each.round, each.index): each.values[0]
            if each.choices
            else list(each.items)
            for each in outcomes
        }
        return cls(match.seed, coded_script(match.game, named), match.decisions)


@contextmanager
def dealing(course: Course) -> Iterator[None]:
    """Let every match of the service be dealt like this one, whatever its seed is."""

    def dealt(game: Game, seed: bytes, *, commitment: str = "") -> Match:
        return Match(game, course.seed, script=course.script, commitment=commitment)

    with patch.object(apply, "Match", dealt):
        yield


class StepClock:
    """A clock that stands still until it is moved on. fell_asleep: set whenever somebody does."""

    def __init__(self, fell_asleep: asyncio.Event) -> None:
        self.us = EPOCH_US
        self._fell_asleep = fell_asleep
        self._sleeping: list[tuple[int, asyncio.Future[None]]] = []

    def now_us(self) -> int:
        return self.us

    def monotonic(self) -> float:
        return self.us / 1e6

    async def sleep(self, seconds: float) -> None:
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        until: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._sleeping.append((self.us + round(seconds * 1e6), until))
        self._fell_asleep.set()
        await until

    @property
    def sleepers(self) -> int:
        """How many sleep."""
        return sum(not until.done() for _, until in self._sleeping)

    def move(self, us: int) -> None:
        """Let so much time pass, and wake whoever has slept enough."""
        self.us += us
        due = [each for each in self._sleeping if each[0] <= self.us]
        self._sleeping = [each for each in self._sleeping if each[0] > self.us]
        for _, until in due:
            if not until.done():
                until.set_result(None)


class ListedStore(MemoryStore):
    """Logs in memory with a list of public tables, forgotten once they are over."""

    def __init__(self) -> None:
        super().__init__()
        self._over: list[str] = []

    async def write(self, batch: Sequence[Append]) -> Sequence[StoreError | None]:
        outcomes = await super().write(batch)
        for append, outcome in zip(batch, outcomes, strict=True):
            if outcome is None and append.summary is not None and append.summary.work is None:
                self._over += [append.table_id] * (append.entry.number > 1)
        return outcomes

    async def listed(self, wanted: Wanted) -> list[tuple[int, str]]:
        found = [(log[0].time_us, table_id) for table_id, log in self.logs.items()]
        return sorted(found, reverse=True)[: wanted.limit]

    async def remove_expired(self, now_us: int) -> list[str]:
        gone, self._over = self._over, []
        for table_id in gone:
            for kept in (self.logs, self.states, self.work):
                kept.pop(table_id, None)
        self.creations = {key: each for key, each in self.creations.items() if each in self.logs}
        return gone


class WireWorld:
    """The server, and a channel to it."""

    core: Core
    channel: grpc.aio.Channel

    def __init__(self) -> None:
        self.news = asyncio.Event()  # set with every message of a stream
        self.clock, self.entropy = StepClock(self.news), KnownEntropy(0)

    async def open(self) -> None:
        """Begin to serve."""
        chosen = settings.load(
            None,
            caller_tables_per_min=0,
            ai_floor_s=0.5,
            ai_jitter_s=1.0,
        )
        self.core = make_core(
            chosen,
            ListedStore(),
            LocalBus(),
            self.clock,
            self.entropy,
            ThinkingHere(),
            asyncio.Event(),
        )
        limits = Limits(
            chosen.calls_max, chosen.streams_max, chosen.message_bytes_max, chosen.call_s
        )
        calls = Calls(limits, self.entropy)
        service = TableService(self.core.lobby, self.core.playing, self.core.hub, self.entropy)
        self._server = grpc.aio.server(options=transport_options(chosen))
        self._server.add_generic_rpc_handlers((calls.handler_of(_SERVICE, service),))
        port = self._server.add_insecure_port("127.0.0.1:0")
        await self._server.start()
        self.channel = grpc.aio.insecure_channel(f"127.0.0.1:{port}")

    async def close(self) -> None:
        """Stop."""
        await self.channel.close()
        await self._server.stop(None)
        await self.core.close()

    def begin(self, number: int) -> None:
        """Make ids, tokens, seeds and times those of this number from now on."""
        self.clock.us = EPOCH_US + number * TABLE_US
        self.entropy.seed, self.entropy.count = number, 0

    async def clear(self) -> None:
        """Forget all tables that are over, in the store too."""
        await self.core.sweep()

    async def told_all(self) -> None:
        """Return when every watch has told all that there is by now, and those which wait for the
        clock are asleep."""
        hub = self.core.hub

        def owes(watch: Watch) -> bool:
            unsettled = watch.table.in_flight is not None or watch.begin_with_snapshot
            return unsettled or watch.sent < hub._shown(watch).durable_events

        def told() -> bool:
            watches = [watch for watch in hub._watches if not watch.over]
            if any(owes(watch) for watch in watches):
                return False
            waiting = sum(hub.pause_s(watch) is not None for watch in watches)
            return waiting <= self.clock.sleepers

        await self.until(told)

    async def until(self, condition: Callable[[], bool]) -> None:
        """Return when this holds, looked at with all news; TimeoutError if it doesn't come to
        that."""
        async with asyncio.timeout(PATIENCE_S):
            while not condition():
                self.news.clear()
                await self.news.wait()

    def in_time(self, work: Awaitable[object]) -> Awaitable[object]:
        """The same, with a TimeoutError if it takes too long."""
        return asyncio.wait_for(work, PATIENCE_S)
