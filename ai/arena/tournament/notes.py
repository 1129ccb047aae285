"""What a worker is doing, written where the one that started it can read it after its end.

A player that takes its worker down or never answers can't be reported by that worker. So the worker
notes whom it asks before it asks, in memory that both share.
"""

from __future__ import annotations

import struct
import time
from dataclasses import dataclass
from typing import Any

NOBODY = -1


@dataclass(frozen=True, slots=True)
class Note:
    """The last thing a worker noted.

    position: the match, as a place in the plans it was given, -1 before the first; seat: who is
    being asked, NOBODY outside players' code; decision: its number in the match; since: of
    ``time.monotonic``, the same clock in all processes.
    """

    position: int
    seat: int
    decision: int
    since: float


class Notes:
    """The shared memory of one worker. Each side makes its own on the same buffer.

    ``arena.native`` writes the same layout for players that it asks.
    """

    _LAYOUT = struct.Struct("=qqqqdq")  # a count before and after, to tell a note half written
    SIZE = _LAYOUT.size

    def __init__(self, buffer: Any = None) -> None:
        """buffer: writable, SIZE bytes; None for notes that nobody else reads."""
        self.buffer = bytearray(self.SIZE) if buffer is None else buffer
        self._count = 0
        self._position = -1

    def clear(self) -> None:
        """Nothing has begun."""
        self.match(-1)

    def match(self, position: int) -> None:
        """A match begins; nobody is asked yet."""
        self._position = position
        self._write(NOBODY, 0)

    def asking(self, seat: int, decision: int) -> None:
        """A player is about to be asked."""
        self._write(seat, decision)

    def answered(self) -> None:
        """The player is done, one way or the other."""
        self._write(NOBODY, 0)

    def read(self) -> Note | None:
        """The last note, None in the moment in which one is being written."""
        before, position, seat, decision, since, after = self._LAYOUT.unpack_from(self.buffer)
        return Note(position, seat, decision, since) if before == after else None

    def _write(self, seat: int, decision: int) -> None:
        self._count += 1
        self._LAYOUT.pack_into(
            self.buffer,
            0,
            self._count,
            self._position,
            seat,
            decision,
            time.monotonic(),
            self._count,
        )
