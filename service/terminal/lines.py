"""Lines that somebody types, without keeping the event loop from its work."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from typing import Protocol, TextIO


class Lines(Protocol):
    """Where a session gets what was typed."""

    async def next(self) -> str | None:
        """The next line without its end; None: there will be no more."""


class TypedLines:
    """Lines of a stream, read by a thread so that it works for terminals, pipes and files alike."""

    def __init__(self, source: TextIO) -> None:
        self._source = source
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        # A daemon: a thread that waits for a terminal cannot be stopped nor hold up the exit.
        threading.Thread(target=self._read, daemon=True, name="typed-lines").start()

    def _read(self) -> None:
        with suppress(OSError):  # the terminal is gone
            for line in self._source:
                self._pass(line.rstrip("\r\n"))
        self._pass(None)

    def _pass(self, line: str | None) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._lines.put_nowait, line)

    async def next(self) -> str | None:
        """See Lines."""
        return await self._lines.get()
