"""Who reads is never moved ahead, however much comes at once; who doesn't read is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence

import pytest_asyncio

from tavolata.service.play_stream import PlayStreamSession
from tavolata.service.watch import OVERFLOW, Told
from tavolata.v1 import table_service_pb2 as pb
from tavolata.v1.event_pb2 import Closing, Event, Snapshot
from tavolata.v1.play_pb2 import AttachSeat
from tests.service.drawn_ports import DrawnClock, KnownEntropy, MemoryStore, core_on
from tests.service.test_following import DeafBus, Pair

GAME = "bouillabaisse"
BACKLOG = 64  # events that a watcher may be behind
MUCH = 100


@pytest_asyncio.fixture
async def servers() -> AsyncIterator[Pair]:
    """Two servers that hear nothing of each other: the second one looks when a test tells it to."""
    store, clock = MemoryStore(shared=True), DrawnClock()
    cores = [
        core_on(store, clock, KnownEntropy(number), DeafBus(), backlog_max=BACKLOG)
        for number in (1, 2)
    ]
    pair = Pair(store, (cores[0], cores[1]))
    yield pair
    for core in pair.cores:
        await core.close()


async def played(servers: Pair, table_id: str, tokens: Sequence[str], events: int) -> None:
    """Play at the first server until there are so many events more, or the match is over."""
    first = servers.cores[0]
    table = await first.tables.find(table_id)
    goal = table.durable_events + events
    while not table.over and table.durable_events < goal:
        assert table.match is not None
        await servers.play(first, table_id, tokens[table.match.to_act[0]])


async def looked(servers: Pair, table_id: str) -> None:
    """Let the second server look at its tables, and carry this one on."""
    second = servers.cores[1]
    count = (await servers.cores[0].tables.find(table_id)).durable_entries
    await second.tables.look()
    await until(lambda: second.tables._tables[table_id].durable_entries >= count)


async def until(condition: Callable[[], bool]) -> None:
    """Return when this holds; TimeoutError if it doesn't come to that."""
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110 - nothing tells of it
            await asyncio.sleep(0)


def numbers_of(told: Sequence[object]) -> list[int]:
    """Numbers of the events."""
    return [each.number for each in told if isinstance(each, Event)]


def is_moved_ahead(told: object) -> bool:
    """Whether this skips events."""
    return isinstance(told, Snapshot) and told.reason == OVERFLOW


async def test_a_reader_is_told_everything_that_one_look_brings(servers: Pair) -> None:
    table_id, tokens = await servers.sit_down(game=GAME)
    hub = servers.cores[1].hub
    told: list[Told] = []

    async def read() -> None:
        async for each in hub.told(await hub.open(table_id, tokens[0], 0, False)):
            told.append(each)  # noqa: PERF401 - they are looked at on the way

    reading = asyncio.create_task(read())
    await until(lambda: bool(told))
    while not await servers.is_over(servers.cores[0], table_id):
        await played(servers, table_id, tokens, MUCH)
        await looked(servers, table_id)
        await asyncio.sleep(0)
    await asyncio.wait_for(reading, 20)
    last = servers.cores[1].tables._tables[table_id].durable_events
    assert last > MUCH
    assert not any(map(is_moved_ahead, told))
    assert numbers_of(told) == list(range(1, last + 1))
    assert isinstance(told[-1], Closing)


async def test_a_play_stream_that_is_read_is_told_everything_that_one_look_brings(
    servers: Pair,
) -> None:
    table_id, tokens = await servers.sit_down(game=GAME)
    second = servers.cores[1]
    session = PlayStreamSession(second.playing, second.hub, KnownEntropy(3))
    told: list[pb.PlayStreamResponse] = []
    done = asyncio.Event()

    async def requests() -> AsyncIterator[pb.PlayStreamRequest]:
        attach = AttachSeat(handle=1, table_id=table_id, token=tokens[0], after_event=0)
        yield pb.PlayStreamRequest(attach=attach)
        await done.wait()

    async def read() -> None:
        async for response in session.answers(requests()):
            told.append(response)
            if response.HasField("closing"):
                done.set()

    reading = asyncio.create_task(read())
    await until(lambda: len(told) > 1)
    while not await servers.is_over(servers.cores[0], table_id):
        await played(servers, table_id, tokens, MUCH)
        await looked(servers, table_id)
        await asyncio.sleep(0)
    await asyncio.wait_for(reading, 20)
    numbers = [each.event.number for each in told if each.HasField("event")]
    assert numbers == list(range(1, second.tables._tables[table_id].durable_events + 1))


async def test_one_that_does_not_read_is_moved_ahead_however_the_events_came(
    servers: Pair,
) -> None:
    for at_once in (MUCH, 10):  # of which it is forgiven the first
        table_id, tokens = await servers.sit_down(game=GAME)
        hub = servers.cores[1].hub
        telling = hub.told(await hub.open(table_id, tokens[0], None, False))
        first = await anext(telling)
        assert isinstance(first, Snapshot)
        while not await servers.is_over(servers.cores[0], table_id):
            await played(servers, table_id, tokens, at_once)
            await looked(servers, table_id)
        told = [each async for each in telling]
        jumps = [each for each in told if isinstance(each, Snapshot) and is_moved_ahead(each)]
        assert len(jumps) == 1
        sent = first.event_number
        for each in told:
            if isinstance(each, Event):
                assert each.number == sent + 1
                sent = each.number
            elif isinstance(each, Snapshot):
                sent = each.event_number
        assert isinstance(told[-1], Closing)
        assert told[-1].resume_after == sent
