"""By which a server that has its SQLite file to itself is asked to abort a table.

A socket beside the file, for its owner alone: the mode of the socket keeps others away, and who
connects is asked for by the system, too. One line of JSON each way.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import struct
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import structlog

from tavolata.service.refusals import Refused

log = structlog.get_logger(__name__)
LINE_BYTES = 1024
WAIT_S = 10.0
_CREDENTIALS = struct.Struct("3i")  # process, user, group

Abort = Callable[[str], Awaitable[None]]


class AskedInVain(Exception):
    """The server has refused, or doesn't answer; the message says why."""


def place_of_socket(db: Path) -> Path:
    """Where the socket of a file's server is."""
    return db.resolve().with_name(db.name + ".admin")


@contextlib.contextmanager
def _address(place: Path) -> Iterator[str]:
    """An address of the socket that is short enough, however deep its folder is."""
    folder = os.open(place.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{folder}/{place.name}"
    finally:
        os.close(folder)


class AdminSocket:
    """The server's end."""

    def __init__(self, db: Path, abort: Abort) -> None:
        self._place, self._abort = place_of_socket(db), abort
        self._server: asyncio.Server | None = None

    async def open(self) -> None:
        """Listen. One from before is nobody's: who has the file's lock is the only server."""
        if self._place.is_socket():
            self._place.unlink()
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        before = os.umask(0o177)
        try:
            with _address(self._place) as address:
                listening.bind(address)
        finally:
            os.umask(before)
        self._server = await asyncio.start_unix_server(
            self._answer, sock=listening, limit=LINE_BYTES
        )

    async def _answer(self, lines: asyncio.StreamReader, out: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, TimeoutError, ValueError):
            answer: dict[str, str] = {"error": "not allowed"}
            if _is_ours(out.get_extra_info("socket")):
                async with asyncio.timeout(WAIT_S):
                    answer = await self._done(await lines.readline())
            out.write(json.dumps(answer).encode() + b"\n")
            await out.drain()
        out.close()

    async def _done(self, line: bytes) -> dict[str, str]:
        try:
            table_id = json.loads(line)["abort"]
        except (ValueError, KeyError, TypeError):
            return {"error": 'allowed is {"abort": TABLE}'}
        if not isinstance(table_id, str):
            return {"error": "a table's id is a text"}
        try:
            await self._abort(table_id)
        except Refused as refused:
            return {"error": refused.message}
        log.info("table.aborted_by_operator", table_id=table_id)
        return {"aborted": table_id}

    async def close(self) -> None:
        """Listen no more."""
        if self._server is not None:
            self._server.close()
            self._place.unlink(missing_ok=True)
            self._server = None


def _is_ours(connection: Any) -> bool:
    """Whether the other end is of the user that the server runs as, or root."""
    told = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    return _CREDENTIALS.unpack(told)[1] in (0, os.getuid())


async def ask(place: Path, table_id: str) -> None:
    """Let the server abort a table. AskedInVain says why it hasn't."""
    try:
        async with asyncio.timeout(WAIT_S):
            with _address(place) as address:
                lines, out = await asyncio.open_unix_connection(address, limit=64 * LINE_BYTES)
            out.write(json.dumps({"abort": table_id}).encode() + b"\n")
            answer = json.loads(await lines.readline())
            out.close()
    except (OSError, TimeoutError, ValueError) as error:
        said = str(error) or type(error).__name__
        raise AskedInVain(
            f"the server that has the file can't be asked ({place}): {said}"
        ) from None
    if "error" in answer:
        raise AskedInVain(str(answer["error"]))
