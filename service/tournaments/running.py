"""The process of one tournament as the server sees it: started, heard, ended."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tavolata.service.tournaments.process import CANCEL, LENGTH_BYTES, STOP
from tavolata.v1.tournament_pb2 import Tournament

MODULE = "tavolata.service.tournaments.process"
ERRORS_KEPT = 2_000  # bytes of what it writes to standard error
END_S = 8.0  # what a process gets to end by itself


class Running:
    """A process. ``heard`` is called with every frame."""

    def __init__(self, heard: Callable[[Tournament], None]) -> None:
        self._heard = heard
        self._process: asyncio.subprocess.Process | None = None
        self._told = b""  # what it was told to do before it was there
        self.errors = b""  # the last that it wrote to standard error

    async def play(self, folder: Path, processes: int) -> int:
        """Run the process to its end; its exit code, below 0 for a signal."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", MODULE, str(folder), str(processes)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,  # a Ctrl-C at the server's terminal is the server's
        )
        self._process = process
        if self._told:
            self._tell(self._told)
        assert process.stdout is not None and process.stderr is not None  # noqa: S101, PT018
        errors = asyncio.create_task(self._keep_errors(process.stderr))
        try:
            await self._hear(process.stdout)
            # Its standard error may be held open by what a player has started.
            ended = asyncio.create_task(process.wait())
            await asyncio.wait([ended, errors], timeout=END_S)
            ended.cancel()
            return process.returncode if process.returncode is not None else -signal.SIGKILL
        finally:
            errors.cancel()
            self.kill()

    async def _hear(self, stream: asyncio.StreamReader) -> None:
        with suppress(asyncio.IncompleteReadError):
            while True:
                length = int.from_bytes(await stream.readexactly(LENGTH_BYTES), "big")
                self._heard(Tournament.FromString(await stream.readexactly(length)))

    async def _keep_errors(self, stream: asyncio.StreamReader) -> None:
        while data := await stream.read(4096):
            self.errors = (self.errors + data)[-ERRORS_KEPT:]

    def stop(self) -> None:
        """Have it play what has begun, and end."""
        self._tell(STOP)

    def cancel(self) -> None:
        """Have it end at once."""
        self._tell(CANCEL)

    def _tell(self, word: bytes) -> None:
        self._told = word
        if self._process is not None and self._process.stdin is not None:
            with suppress(OSError, RuntimeError):  # it has ended
                self._process.stdin.write(word)

    def kill(self) -> None:
        """End it, if it is still there; its workers end with it."""
        if self._process is not None and self._process.returncode is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)

    @property
    def last_words(self) -> str:
        """The last line that it wrote to standard error."""
        lines = self.errors.decode(errors="replace").split("\n")
        return next((line for line in reversed(lines) if line.strip()), "")
