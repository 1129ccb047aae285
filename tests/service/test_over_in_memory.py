"""How many tables that are over a server keeps in memory, and who watches one that has left it."""

from __future__ import annotations

import asyncio

import pytest
from pydantic import ValidationError

from tavolata.service import settings
from tavolata.service.core import Core
from tavolata.v1 import table_service_pb2 as pb
from tavolata.v1.event_pb2 import Closing, Event
from tavolata.v1.table_pb2 import TableSettings
from tests.service.drawn_ports import DrawnClock, KnownEntropy, MemoryStore, core_on
from tests.service.house import AI, OPEN, fresh_id

KEPT = 3


async def finished(core: Core) -> str:
    """A match of AI players that is over."""
    create = pb.CreateTableRequest(
        request_id=fresh_id(), settings=TableSettings(game_id="mino_dice"), seats=[AI] * 3
    )
    made = await core.lobby.create(create)
    table = made.table
    await core.lobby.start(
        pb.StartMatchRequest(request_id=fresh_id(), table_id=table.table_id), made.token
    )
    async with asyncio.timeout(20):
        while not (table.over and table.in_flight is None):  # noqa: ASYNC110 - nothing tells of it
            await asyncio.sleep(0)
    return table.table_id


def held(core: Core) -> list[str]:
    """Ids of the tables in memory."""
    return list(core.tables._tables)


async def test_the_longest_unasked_for_of_those_that_are_over_leave_the_memory() -> None:
    core = core_on(MemoryStore(), DrawnClock(), KnownEntropy(1), over_in_memory_max=KEPT)
    create = pb.CreateTableRequest(
        request_id=fresh_id(), settings=TableSettings(game_id="mino_dice"), seats=[AI, OPEN, OPEN]
    )
    waiting = (await core.lobby.create(create)).table.table_id
    ids = [await finished(core) for _ in range(KEPT)]
    assert set(held(core)) == {waiting, *ids}
    await core.playing.table(ids[0], None)
    ids.append(await finished(core))
    assert set(held(core)) == {waiting, ids[0], ids[2], ids[3]}
    assert (await core.playing.table(ids[1], None)).result.seats
    assert set(held(core)) == {waiting, ids[0], ids[1], ids[3]}
    await core.close()


async def test_who_watches_a_match_that_has_left_the_memory_misses_nothing() -> None:
    core = core_on(MemoryStore(), DrawnClock(), KnownEntropy(1), over_in_memory_max=KEPT)
    table_id = await finished(core)
    for with_views in (False, True):
        watch = await core.hub.open(table_id, None, 0, with_views)
        telling = core.hub.told(watch)
        told = [await anext(telling) for _ in range(5)]
        for _ in range(KEPT):
            await finished(core)
        assert table_id not in held(core)
        assert watch.table.match is None, "the watch still holds the match"
        told += [each async for each in telling]
        numbers = [each.number for each in told if isinstance(each, Event)]
        assert numbers == list(range(1, len(numbers) + 1))
        assert isinstance(told[-1], Closing)
        assert told[-1].resume_after == numbers[-1]
        assert table_id in held(core)
        assert len(held(core)) == KEPT
    assert not core.hub.count
    await core.close()


async def test_a_stream_ended_from_outside_closes_though_its_match_has_left_the_memory() -> None:
    core = core_on(MemoryStore(), DrawnClock(), KnownEntropy(1), over_in_memory_max=KEPT)
    table_id = await finished(core)
    watch = await core.hub.open(table_id, None, 0, False)
    telling = core.hub.told(watch)
    await anext(telling)
    for _ in range(KEPT):
        await finished(core)
    core.hub.end_all()
    told = [each async for each in telling]
    assert isinstance(told[-1], Closing)
    assert not core.hub.count
    await core.close()


def test_at_least_one_match_that_is_over_is_kept() -> None:
    with pytest.raises(ValidationError, match="over_in_memory_max"):
        settings.load(None, over_in_memory_max=0)
