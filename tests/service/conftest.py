"""A house, or a database, for every test that asks for one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from tests.service.house import House, house_in
from tests.service.postgres import databases, postgres

__all__ = ["databases", "house", "postgres"]


@pytest_asyncio.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    """A running server on a file of its own."""
    async with house_in(tmp_path) as made:
        yield made
