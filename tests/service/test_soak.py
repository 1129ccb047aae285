"""The short form of the soak; `python -m tests.service.soak` is the long one."""

from __future__ import annotations

import asyncio
import os

from tavolata.service.tables.memory import OVER_MEMORY_S
from tests.service.campaign import Problems, Used
from tests.service.house import AI, House, until
from tests.service.soak import SLACK_BYTES, judge, soak

SECONDS, START_BYTES = 600.0, 100 << 20


async def test_nothing_is_left_of_watches_that_were_cut_and_matches_that_ended(
    house: House,
) -> None:
    done, _, problems = await soak(house.target, os.getpid(), 1.5, seed=1, tables=2, quiet=True)
    assert not problems.count, f"{done}\n{problems}"
    assert house.server is not None
    core = house.server.core

    async def nothing_left() -> bool:
        watched = any(table.watchers for table in core.tables._tables.values())
        return not (core.hub.count or watched or core.ai_seats.thinking_count)

    await until(nothing_left)


async def test_a_table_that_is_over_leaves_the_memory_long_before_an_idle_one(
    house: House,
) -> None:
    made = await house.create([AI] * 3, game="mino_dice")
    waiting = await house.create()
    await house.start(made.table.table_id, made.token)
    async for _ in house.watch(made.table.table_id):
        pass
    assert house.server is not None
    tables = house.server.core.tables
    held = [await tables.find(each.table.table_id) for each in (made, waiting)]
    await asyncio.sleep(0)  # the watch lets go
    for table in held:
        table.used_at = tables.clock.monotonic() - OVER_MEMORY_S - 1

    async def forgotten() -> list[str]:
        return tables.forget_idle()

    assert await until(forgotten) == [made.table.table_id]
    assert (await house.replay(made.table.table_id)).final_hash


def looks(bytes_a_stream: float, threads_more: int = 0) -> list[tuple[Used, int, int]]:
    """What was seen of a server that loses so much with every stream: 500 streams between looks."""
    used = [
        Used(START_BYTES + round(500 * n * bytes_a_stream), 40, 12 + threads_more * (n > 60))
        for n in range(100)
    ]
    return [(each, 500 * number, number) for number, each in enumerate(used)]


def test_a_soak_allows_what_grpc_leaks_and_finds_what_is_more() -> None:
    for looked_at, allowed in (
        (looks(0), True),
        (looks(200), True),
        (looks(220 + 1.2 * SLACK_BYTES / (40 * 500)), False),
        (looks(0, threads_more=1), False),
        (looks(0)[:6], False),
    ):
        problems = Problems()
        text = judge(looked_at, SECONDS, problems)
        assert (problems.count == 0) == allowed, f"{text}\n{problems}"
