"""What somebody has been told of a table, over any number of connections: nothing may be missing
and nothing may come twice."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from tavolata.service.loadtest.tally import Tally
from tavolata.v1.event_pb2 import (
    CLOSING_REASON_MATCH_ABORTED,
    CLOSING_REASON_MATCH_FINISHED,
    SNAPSHOT_REASON_OVERFLOW,
    Closing,
    Event,
    Snapshot,
)
from tavolata.v1.view_pb2 import View

MISSING, DOUBLED, CHANGED = "events missing", "events doubled", "events changed"


class Follow:
    """One viewer of one table.

    A resume asks for the last event once more. So the server answers at once whatever happens at
    the table, which tells how long the resume took, and the event has to be the same as before.
    ahead_s: of the server's clock.
    """

    def __init__(self, tally: Tally, game: str, table_id: str, ahead_s: float) -> None:
        self.game, self.table_id = game, table_id
        self.last = 0
        self.over = False
        self.view: View | None = None
        self.closed = asyncio.Event()
        self.task: asyncio.Task[None] | None = None  # that keeps it up to date
        self._tally, self._ahead_s = tally, ahead_s
        self._next = 1
        self._kept: Event | None = None
        self._viewed = 0
        self._asked: float | None = None
        self._live_from = time.time() + ahead_s

    def begin(self, *, with_views: bool) -> int:
        """The number after which a connection has to go on; it begins now."""
        after = max(0, min(self.last - 1, self._viewed if with_views else self.last))
        self._asked = time.monotonic() if self.last else None
        self._live_from = time.time() + self._ahead_s
        self._next = after + 1
        return after

    def take(self, message: Any) -> None:
        """A message of a watch or a stream about this table."""
        which = message.WhichOneof("message")
        if which == "event":
            self._event(message.event)
        elif which == "snapshot":
            self._snapshot(message.snapshot)
        elif which == "closing":
            self._closing(message.closing)

    def ended_at(self, event: int) -> None:
        """The match is known to have had this event."""
        if self.over and self.last < event:
            self._problem(MISSING, f"the last one told is {self.last} of {event}")

    def _event(self, event: Event) -> None:
        number, tally = event.number, self._tally
        if number != self._next:
            kind = MISSING if number > self._next else DOUBLED
            self._problem(kind, f"{number} came for {self._next}")
        self._next = number + 1
        if self._asked is not None:
            tally.done("resume", self.game, self._asked)
            self._asked = None
        if number <= self.last:
            if number == self.last and event != self._kept:
                self._problem(CHANGED, f"{number} is another one than before")
            return
        self.last, self._kept = number, event
        tally.count("events")
        at = event.time.seconds + event.time.nanos / 1e9
        if at >= self._live_from and tally.counts_at(time.monotonic()):
            tally.took("event told", self.game, max(0.0, time.time() + self._ahead_s - at))

    def _snapshot(self, snapshot: Snapshot) -> None:
        if snapshot.reason == SNAPSHOT_REASON_OVERFLOW:
            self._tally.count("moved ahead")
            self.last, self._next = snapshot.event_number, snapshot.event_number + 1
            self._kept = None
        self._viewed = snapshot.event_number
        if snapshot.HasField("view"):
            self.view = snapshot.view

    def _closing(self, closing: Closing) -> None:
        if closing.reason not in (CLOSING_REASON_MATCH_FINISHED, CLOSING_REASON_MATCH_ABORTED):
            return
        self.over = True
        self.closed.set()
        if closing.resume_after != self.last:
            self._problem(MISSING, f"it closed at {closing.resume_after} after {self.last}")

    def _problem(self, kind: str, text: str) -> None:
        self._tally.problem(kind, f"{self.game} at {self.table_id}: {text}")
