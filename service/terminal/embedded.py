"""A server of one's own, in the client's process."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tavolata.service import logs, settings
from tavolata.service.binding import BindRefused
from tavolata.service.server import Server
from tavolata.service.store.revisions import UnknownSchema
from tavolata.service.store.sqlite import FileInUse


class NoServer(Exception):
    """The server can't be started; says why."""


@asynccontextmanager
async def embedded_server(db: Path | None) -> AsyncIterator[str]:
    """The address of a server that runs as long as the block.

    db: its file; None: a temporary one, gone at the end. It listens on this machine only. Raises
    NoServer if the file can't be used.
    """
    logs.configure("console", "error")
    with tempfile.TemporaryDirectory(prefix="tavolata-") as folder:
        chosen = settings.load(None, db=db or Path(folder) / "tavolata.db", bind="127.0.0.1:0")
        server = Server(chosen)
        try:
            await server.start()
        except (FileInUse, UnknownSchema, BindRefused, OSError) as error:
            raise NoServer(str(error)) from error
        try:
            yield f"127.0.0.1:{server.port}"
        finally:
            await server.stop()
