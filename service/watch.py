"""Watching a table: from the log, for one viewer, everything once and in order.

A watch keeps no queue. It has the number of the last event it sent and reads on from the table's
log whenever more of it is durable; a reader that falls too far behind is moved ahead by a snapshot.
"""

from __future__ import annotations

import asyncio
import bisect
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from tavolata.service.ports import Clock
from tavolata.service.refusals import Refused
from tavolata.service.tables import refuse
from tavolata.service.tables.apply import apply
from tavolata.service.tables.making import made
from tavolata.service.tables.model import FINISHED, Table
from tavolata.service.tables.playing import Playing
from tavolata.service.tables.tables import Tables
from tavolata.service.tables.wire import event_messages, stamp, view_message
from tavolata.v1.errors_pb2 import ErrorReason
from tavolata.v1.event_pb2 import (
    Closing,
    ClosingReason,
    Event,
    Snapshot,
    SnapshotReason,
)

Told = Snapshot | Event | Closing
CHUNK = 64  # events read at a time

START = SnapshotReason.SNAPSHOT_REASON_START
UPDATE = SnapshotReason.SNAPSHOT_REASON_UPDATE
OVERFLOW = SnapshotReason.SNAPSHOT_REASON_OVERFLOW


@dataclass(slots=True, eq=False)
class Watch:
    """One viewer's watch. sent: number of the last event sent; owed: up to here nothing may be
    skipped; version: of the public table that the viewer has; ended: why it was told to end."""

    table: Table
    viewer: int
    token_hash: bytes
    sent: int
    owed: int
    with_views: bool
    begin_with_snapshot: bool
    place: tuple[
        str, bytes | str
    ]  # what it counts as: the table, and the caller's token or address
    version: int = -1
    ended: ClosingReason.ValueType | None = None
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    behind: Table | None = None  # the table as it was at `sent`, while more has happened since

    def end(self, reason: ClosingReason.ValueType) -> None:
        """Let it close with this reason after what it is sending."""
        if self.ended is None:
            self.ended = reason
        self.wake.set()


class WatchHub:
    """All watches of this server."""

    def __init__(
        self,
        tables: Tables,
        playing: Playing,
        clock: Clock,
        *,
        backlog_max: int,
        watchers_max: int,
        caller_watchers_max: int,
    ) -> None:
        """backlog_max: events that a watcher may be behind before it is moved ahead; watchers_max:
        watches of one table; caller_watchers_max: of one table by one caller, who is known by the
        token or, without one, by the address."""
        self._tables = tables
        self._playing = playing
        self._clock = clock
        self._backlog_max = backlog_max
        self._watchers_max = watchers_max
        self._caller_watchers_max = caller_watchers_max
        self._places: Counter[tuple[str, bytes | str]] = Counter()
        self._watches: dict[Watch, None] = {}  # in their order
        self.stopped = asyncio.Event()

    async def open(
        self,
        table_id: str,
        token: str | None,
        after: int | None,
        with_views: bool,
        address: str = "",
    ) -> Watch:
        """Begin to watch. Refused as WatchTable says; `told` gives the messages. address: where the
        caller is."""
        if self.stopped.is_set():
            raise refuse.shutting_down()
        table, viewer = await self._playing.viewer(table_id, token)
        refuse.unless_rules(table)
        last = table.durable_events
        if after is not None and after > last:
            raise refuse.event_out_of_range(after, last)
        if len(table.watchers) >= self._watchers_max:
            raise refuse.limit_exceeded("watchers of one table", self._watchers_max, 5.0)
        caller = self._tables.authenticate(table, token)
        place = (table_id, address if caller is None else caller.token_hash)
        if self._places[place] >= self._caller_watchers_max:
            limit = "watchers of one table by one caller"
            raise refuse.limit_exceeded(limit, self._caller_watchers_max, 5.0)
        sent = last if after is None else after
        watch = Watch(
            table,
            viewer,
            b"" if caller is None else caller.token_hash,
            sent,
            last,
            with_views,
            after is None,
            place,
        )
        self._watches[watch] = None
        self._places[place] += 1
        table.watchers[watch.wake] = None
        return watch

    def close(self, watch: Watch) -> None:
        """Forget a watch."""
        watch.table.watchers.pop(watch.wake, None)
        if watch not in self._watches:
            return
        del self._watches[watch]
        self._places[watch.place] -= 1
        if not self._places[watch.place]:
            del self._places[watch.place]

    def end_all(self) -> None:
        """Let every watch end with a closing message, and begin no other."""
        self.stopped.set()
        for watch in self._watches:
            watch.end(ClosingReason.CLOSING_REASON_SHUTTING_DOWN)

    def time(self) -> Timestamp:
        """The server's time."""
        return stamp(self._clock.now_us())

    @property
    def count(self) -> int:
        """Watches that are open."""
        return len(self._watches)

    # -- what is told -----------------------------------------------------------------------------

    async def told(self, watch: Watch) -> AsyncIterator[Told]:
        """Everything the watch tells, to its closing message."""
        try:
            if watch.begin_with_snapshot:
                yield await self._first_snapshot(watch)
            while True:
                watch.wake.clear()
                for message in self._next(watch):
                    yield message
                reason = self._reason_to_end(watch)
                if reason is not None:
                    yield _closing(reason, watch.sent)
                    return
                if watch.table.dead:
                    reason = await self._renew(watch)
                    if reason is not None:
                        yield _closing(reason, watch.sent)
                        return
                elif watch.sent >= watch.table.durable_events:
                    await watch.wake.wait()
        finally:
            self.close(watch)

    def _next(self, watch: Watch) -> list[Told]:
        """The next messages, few enough to be made at once; all are events that are durable."""
        table = watch.table
        last = table.durable_events
        if last - watch.sent > self._backlog_max and watch.sent >= watch.owed:
            return self._overflow(watch)
        until = min(last, watch.sent + CHUNK)
        if until <= watch.sent:
            return []
        if not watch.with_views:
            events = event_messages(table, watch.viewer, watch.sent, until)
            watch.sent = until
            return list(events)
        return self._next_with_view(watch)

    def _next_with_view(self, watch: Watch) -> list[Told]:
        """The rest of the events of one entry, and the view after it."""
        table = watch.table
        place = bisect.bisect_right(table.event_ends, watch.sent)
        until = table.event_ends[place]
        told: list[Told] = list(event_messages(table, watch.viewer, watch.sent, until))
        watch.sent = until
        then = self._as_of(watch, place + 1)
        if then.match is not None:
            told.append(self._snapshot(watch, then, UPDATE))
        return told

    def _as_of(self, watch: Watch, entries: int) -> Table:
        """The table after that many entries: itself, or one made from the log for this watch."""
        table = watch.table
        if entries == len(table.entries):
            watch.behind = None
            return table
        then = watch.behind
        if then is None or len(then.entries) > entries:
            then = made(table.table_id, table.entries[0])
        for entry in table.entries[len(then.entries) : entries]:
            apply(then, entry)
        watch.behind = then
        return then

    def _overflow(self, watch: Watch) -> list[Told]:
        table = watch.table
        then = self._as_of(watch, table.durable_entries)
        watch.sent = table.durable_events
        return [self._snapshot(watch, then, OVERFLOW)]

    async def _first_snapshot(self, watch: Watch) -> Snapshot:
        await self._move(watch)
        watch.sent = watch.owed = watch.table.durable_events
        return self._snapshot(watch, watch.table, START)

    def _snapshot(self, watch: Watch, table: Table, reason: SnapshotReason.ValueType) -> Snapshot:
        made_of = Snapshot(reason=reason, event_number=len(table.happenings))
        if reason != UPDATE or watch.version != table.public_version:
            made_of.table.CopyFrom(self._playing.message(table))
            watch.version = table.public_version
        if table.match is not None:
            made_of.view.CopyFrom(
                view_message(table, table.match, watch.viewer, self._clock.now_us())
            )
        return made_of

    # -- ending -----------------------------------------------------------------------------------

    def _reason_to_end(self, watch: Watch) -> ClosingReason.ValueType | None:
        table = watch.table
        if watch.ended is not None:
            return watch.ended
        if table.dead or table.in_flight is not None:
            return None  # what is in memory may never have been
        if watch.token_hash:
            token = table.tokens.get(watch.token_hash)
            if token is None or token.void:
                return ClosingReason.CLOSING_REASON_TOKEN_VOID
        if table.over and watch.sent >= table.durable_events:
            if table.state == FINISHED:
                return ClosingReason.CLOSING_REASON_MATCH_FINISHED
            return ClosingReason.CLOSING_REASON_MATCH_ABORTED
        return None

    async def _renew(self, watch: Watch) -> ClosingReason.ValueType | None:
        """Go on with the table as it is in the store, or why that can't be."""
        try:
            await self._move(watch)
        except Refused as refused:
            if refused.reason == ErrorReason.ERROR_REASON_TABLE_NOT_FOUND:
                return ClosingReason.CLOSING_REASON_TABLE_REMOVED
            return ClosingReason.CLOSING_REASON_STORE_UNAVAILABLE
        return None

    async def _move(self, watch: Watch) -> None:
        """Watch the table that is in memory by now, settled. Refused if it can't be read."""
        watch.table.watchers.pop(watch.wake, None)
        watch.table = await self._tables.settled(watch.table.table_id)
        watch.table.watchers[watch.wake] = None
        watch.behind = None


def _closing(reason: ClosingReason.ValueType, sent: int) -> Closing:
    closing = Closing(reason=reason, resume_after=sent)
    waits = {
        ClosingReason.CLOSING_REASON_SHUTTING_DOWN: 1,
        ClosingReason.CLOSING_REASON_STORE_UNAVAILABLE: 5,
    }
    if reason in waits:
        closing.retry_delay.CopyFrom(Duration(seconds=waits[reason]))
    return closing
