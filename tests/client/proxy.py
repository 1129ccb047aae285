"""A TCP proxy that loses connections when told to."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Self


class Proxy:
    """Listens on a port of its own and passes bytes on to `target_port` of this machine.

    swallow: from then on nothing that the server says comes through. flowing: cleared, what the
    server says waits. cut: breaks what is open.
    """

    def __init__(self, target_port: int) -> None:
        self.port = 0
        self.swallow = False
        self.flowing = asyncio.Event()
        self.flowing.set()
        self.cuts = 0
        self._target_port = target_port
        self._open: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *exception: object) -> None:
        if self._server is not None:
            self._server.close()
        self.cut()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def target(self) -> str:
        return f"127.0.0.1:{self.port}"

    def cut(self) -> None:
        """Break every connection at once, with a reset."""
        self.cuts += bool(self._open)
        for writer in self._open:
            writer.transport.abort()
        self._open.clear()

    async def cut_often(self, least_s: float, most_s: float) -> None:
        """Go on cutting, at intervals that grow from the least to the most and begin anew."""
        while True:
            for part in range(5):
                await asyncio.sleep(least_s + (most_s - least_s) * part / 4)
                self.cut()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._target_port)
        except OSError:
            writer.transport.abort()
            return
        self._open |= {writer, far_writer}
        for source, sink, answers in ((reader, far_writer, False), (far_reader, writer, True)):
            task = asyncio.create_task(self._pump(source, sink, answers))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _pump(
        self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, answers: bool
    ) -> None:
        with suppress(OSError):
            while data := await source.read(65536):
                if answers and self.swallow:
                    continue
                if answers:
                    await self.flowing.wait()
                sink.write(data)
                await sink.drain()
        sink.transport.abort()
        self._open.discard(sink)
