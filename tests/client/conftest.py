"""A real server in the test's process, on a socket and a file of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tavolata.service import settings
from tavolata.service.server import Server

QUICK_AI = {"ai_floor_s": 0.0, "ai_jitter_s": 0.0, "ai_threads": 1}


async def started(db: Path, port: int = 0, **others: object) -> Server:
    """A server that listens; AI players answer at once."""
    server = Server(
        settings.load(
            None, db=db, bind=f"127.0.0.1:{port}", **{**QUICK_AI, "stop_s": 5.0, **others}
        )
    )
    await server.start()
    return server


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[Server]:
    server = await started(tmp_path / "tavolata.db")
    yield server
    await server.stop()
