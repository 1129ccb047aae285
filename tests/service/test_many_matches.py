"""The short form of the many matches; `python -m tests.service.many_matches` is the long one."""

from __future__ import annotations

import asyncio
import gc
from pathlib import Path

import pytest

from tavolata.service.core import Core
from tavolata.service.tables.model import Table
from tests.service.campaign import Problems, Used
from tests.service.house import house_in
from tests.service.many_matches import (
    LOOKS,
    MATCH_BYTES,
    MATCHES,
    SLACK_BYTES,
    Look,
    judge,
    many_matches,
)

KEPT, ROUND = 4, 6
OBJECTS = 20.0  # a match, at most: a table has hundreds


async def objects_a_match(folder: Path, *, planted: bool = False) -> tuple[float, int]:
    """By how many objects a server grows with every match that has ended, and how many tables there
    are in the end."""
    kept: list[Table] = []
    counts: list[int] = []
    async with house_in(folder, over_in_memory_max=KEPT) as house:
        assert house.server is not None
        core: Core = house.server.core
        if planted:
            core.tables.on_change.append(kept.append)
        for _ in range(3):
            await many_matches(house.target, ROUND, lambda _: "", tables=4, quiet=True)
            await asyncio.sleep(0.05)
            gc.collect()
            counts.append(len(gc.get_objects()))
        for _ in range(100):  # what is under way holds on to its table
            gc.collect()
            tables = sum(isinstance(each, Table) for each in gc.get_objects())
            if tables <= KEPT or planted:
                break
            await asyncio.sleep(0.05)
    kept.clear()
    return (counts[-1] - counts[-2]) / ROUND, tables


async def test_matches_that_are_over_leave_nothing_behind(tmp_path: Path) -> None:
    objects, tables = await objects_a_match(tmp_path)
    assert tables <= KEPT
    assert objects <= OBJECTS


async def test_a_server_that_holds_on_to_its_matches_is_found(tmp_path: Path) -> None:
    objects, tables = await objects_a_match(tmp_path, planted=True)
    assert tables >= 3 * ROUND
    assert objects > OBJECTS


def looks(bytes_a_match: float, descriptors_more: int = 0, count: int = LOOKS) -> list[Look]:
    """What was seen of a server that loses so much with every match of the long form."""
    done = [number * MATCHES // count for number in range(1, count + 1)]
    return [
        Look(
            each,
            Used(
                (100 << 20) + round(each * bytes_a_match) + each % 7 * 4096,
                40 + descriptors_more * (each > 0.8 * MATCHES),
                12,
            ),
        )
        for each in done
    ]


@pytest.mark.parametrize(
    ("seen", "allowed"),
    [
        (looks(0), True),
        (looks(MATCH_BYTES), True),
        (looks(MATCH_BYTES + 1.2 * SLACK_BYTES / (MATCHES / 2)), False),
        (looks(0, descriptors_more=100), False),
        (looks(0, count=8), False),
    ],
)
def test_the_line_through_what_a_server_holds_may_hardly_rise(
    seen: list[Look], allowed: bool
) -> None:
    problems = Problems()
    text = judge(seen, problems)
    assert (problems.count == 0) == allowed, f"{text}\n{problems}"
