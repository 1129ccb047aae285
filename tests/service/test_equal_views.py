"""The short form of the equal views; `python -m tests.service.equal_views` is the long one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import islice

import pytest

from tavolata.ext.registry import GAMES
from tests.service.campaign import Problems
from tests.service.equal_views import compare, equal_views, pairs_of
from tests.service.wire_plants import PLANTS, Plant
from tests.service.wire_world import WireWorld

PAIRS = 8
SEED = 5


@asynccontextmanager
async def two_worlds() -> AsyncIterator[tuple[WireWorld, WireWorld]]:
    """A server for each of a pair."""
    one, other = WireWorld(), WireWorld()
    await one.open()
    await other.open()
    try:
        yield one, other
    finally:
        await one.close()
        await other.close()


@pytest.mark.parametrize("game", GAMES)
async def test_matches_that_a_viewer_cannot_tell_apart_give_it_the_same_bytes(game: str) -> None:
    problems = Problems()
    async with two_worlds() as worlds:
        await equal_views(worlds, game, PAIRS, seed=SEED, problems=problems, short=True)
    assert not problems.count, str(problems)


@pytest.mark.parametrize(
    ("game", "plant"), [pytest.param(*each, id=each[1].__name__) for each in PLANTS]
)
async def test_a_planted_leak_is_found(game: str, plant: Plant) -> None:
    async with two_worlds() as worlds:
        with plant():
            for pair in islice(pairs_of(game, SEED, short=True), PAIRS):
                if (await compare(worlds, pair))[0]:
                    return
    pytest.fail(f"no pair shows {plant.__name__}")
