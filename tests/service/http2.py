"""Just enough HTTP/2 to see what a server says of a connection, and to misbehave on it."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
SETTINGS, PING, GOAWAY = 4, 6, 7  # types of frames
ACK = 1
MAX_CONCURRENT_STREAMS, MAX_HEADER_LIST_SIZE = 3, 6  # settings
NO_ERROR, ENHANCE_YOUR_CALM = 0, 11


@dataclass(frozen=True)
class Frame:
    """A frame."""

    kind: int
    flags: int
    payload: bytes

    @property
    def settings(self) -> dict[int, int]:
        """What a SETTINGS frame sets."""
        found = struct.iter_unpack("!HI", self.payload)
        return dict(found)

    @property
    def error(self) -> tuple[int, bytes]:
        """The error of a GOAWAY frame, and what is said about it."""
        return int.from_bytes(self.payload[4:8], "big"), self.payload[8:]


class Connection:
    """A connection over which no call is made."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    def send(self, kind: int, flags: int = 0, payload: bytes = b"") -> None:
        """Send a frame."""
        head = len(payload).to_bytes(3, "big") + bytes([kind, flags]) + bytes(4)
        if not self._writer.is_closing():
            self._writer.write(head + payload)

    async def until(self, kind: int) -> Frame:
        """The next frame of a kind that is no acknowledgement; pings are answered."""
        async with asyncio.timeout(20):
            while True:
                head = await self._reader.readexactly(9)
                payload = await self._reader.readexactly(int.from_bytes(head[:3], "big"))
                frame = Frame(head[3], head[4], payload)
                if frame.flags & ACK and frame.kind in (SETTINGS, PING):
                    continue
                if frame.kind == PING:
                    self.send(PING, ACK, payload)
                if frame.kind == kind:
                    return frame


@asynccontextmanager
async def connected(target: str) -> AsyncIterator[Connection]:
    """A connection to HOST:PORT."""
    host, _, port = target.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    made = Connection(reader, writer)
    writer.write(PREFACE)
    made.send(SETTINGS)
    try:
        yield made
    finally:
        writer.close()
