"""Watching a table: from the log, for one viewer, everything once and in order.

A watch keeps no queue. It has the number of the last event it sent and reads on from the table's
log whenever more of it is durable; a reader that falls too far behind is moved ahead by a snapshot.
What comes at once, from another server's part of the log, is no reader's fault: however much it is,
it isn't held against one that was near the end before.
A spectator who is kept behind reads from the table as it was (tables/behind.py).
"""

from __future__ import annotations

import asyncio
import bisect
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from tavolata.service.ports import Clock
from tavolata.service.refusals import Refused
from tavolata.service.tables import refuse
from tavolata.service.tables.apply import apply
from tavolata.service.tables.behind import next_release_us
from tavolata.service.tables.making import made
from tavolata.service.tables.model import FINISHED, Bell, Table
from tavolata.service.tables.playing import Playing
from tavolata.service.tables.tables import Tables
from tavolata.service.tables.wire import (
    shared_event_messages,
    stamp,
    thinking_seats,
    view_message,
)
from tavolata.v1.errors_pb2 import ErrorReason
from tavolata.v1.event_pb2 import (
    Closing,
    ClosingReason,
    Event,
    Snapshot,
    SnapshotReason,
    Thinking,
)

Told = Snapshot | Event | Closing | Thinking
CHUNK = 64  # events read at a time
THINKING_S = 1.0  # between messages that say who is thinking, whatever happens in the match
LOOK_S = 5.0  # at most, before a watch that waits for a time looks at the clock again

START = SnapshotReason.SNAPSHOT_REASON_START
UPDATE = SnapshotReason.SNAPSHOT_REASON_UPDATE
OVERFLOW = SnapshotReason.SNAPSHOT_REASON_OVERFLOW


@dataclass(slots=True, eq=False)
class Watch:
    """One viewer's watch. sent: number of the last event sent; owed: up to here nothing may be
    skipped; bursts: how many of the table's it has seen; version: of the public table that the
    viewer has; ended: why it was told to end; has_more: it can tell more at once; over: it has told
    its closing message."""

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
    wake: Bell
    with_thinking: bool = False
    has_more: bool = False
    over: bool = False
    version: int = -1
    ended: ClosingReason.ValueType | None = None
    bursts: int = 0
    behind: Table | None = None  # the table as it was at `sent`, while more has happened since
    thinking_turn: int = -1  # the decision that somebody is thinking about
    thinking_at: float = 0.0  # when to say so next, on the monotonic clock

    def end(self, reason: ClosingReason.ValueType) -> None:
        """Let it close with this reason after what it is sending."""
        if self.ended is None:
            self.ended = reason
        self.wake.set()

    @property
    def must_move(self) -> bool:
        """Whether it can tell nothing before it has moved to the table as it is by now."""
        return not self.over and (self.begin_with_snapshot or self.table.dead)


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
        *,
        with_thinking: bool = False,
        wake: Bell | None = None,
    ) -> Watch:
        """Begin to watch. Refused as WatchTable says; `told` gives the messages. address: where the
        caller is; wake: of a caller that asks with `next` and `move` instead."""
        if self.stopped.is_set():
            raise refuse.shutting_down()
        table, viewer = await self._playing.viewer(table_id, token)
        refuse.unless_rules(table)
        shown = self._playing.shown(table, viewer)
        last = shown.durable_events
        # To refuse it while something may be kept back would tell how much has happened.
        if after is not None and after > last and (shown is table or shown.over):
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
            wake or asyncio.Event(),
            with_thinking,
        )
        watch.bursts = len(table.bursts)
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
        """Everything that a watch opened without a bell tells, to its closing message."""
        woken = watch.wake
        assert isinstance(woken, asyncio.Event)  # noqa: S101
        try:
            while not watch.over:
                woken.clear()
                for message in self.next(watch):
                    yield message
                if watch.must_move:
                    for message in await self.move(watch):
                        yield message
                elif not (watch.has_more or watch.over):
                    await self._wait(watch, woken)
        finally:
            self.close(watch)

    def next(self, watch: Watch) -> Sequence[Told]:
        """What the watch can tell at once, or the beginning of that, to its closing message."""
        if watch.begin_with_snapshot or watch.over:
            return ()
        if not watch.table.entries:  # let go of, and to be read again
            watch.has_more = False
            return () if watch.ended is None else (self._closing(watch, watch.ended),)
        shown = self._shown(watch)
        messages = self._next(watch, shown)
        reason = self._reason_to_end(watch, shown)
        if reason is not None:
            return [*messages, self._closing(watch, reason)]
        watch.has_more = watch.sent < shown.durable_events
        if watch.has_more or watch.table.dead or not watch.with_thinking:
            return messages
        return [*messages, *self._thinking(watch, shown)]

    async def move(self, watch: Watch) -> Sequence[Told]:
        """Go on with the table as it is by now, and what the watch tells of that. Refused if it has
        told nothing yet and the table can't be read."""
        if watch.begin_with_snapshot:
            snapshot = await self._first_snapshot(watch)
            watch.begin_with_snapshot = False
            return (snapshot,)
        reason = await self._renew(watch)
        return () if reason is None else (self._closing(watch, reason),)

    def _closing(self, watch: Watch, reason: ClosingReason.ValueType) -> Closing:
        """The last message; the watch is forgotten."""
        watch.over, watch.has_more = True, False
        self.close(watch)
        return _closing(reason, watch.sent)

    def _shown(self, watch: Watch) -> Table:
        """The table as the watcher may see it by now."""
        return self._playing.shown(watch.table, watch.viewer)

    def pause_s(self, watch: Watch) -> float | None:
        """After how many seconds there may be more to tell by the clock alone; None: never."""
        waits = []
        release_us = next_release_us(watch.table, watch.viewer)
        if release_us is not None:
            waits.append((release_us - self._clock.now_us()) / 1e6)
        if watch.thinking_turn >= 0:
            waits.append(watch.thinking_at - self._clock.monotonic())
        return min(max(0.0, min(waits)), LOOK_S) if waits else None

    async def pause(self, seconds: float) -> None:
        """Wait by this server's clock."""
        await self._clock.sleep(seconds)

    async def _wait(self, watch: Watch, woken: asyncio.Event) -> None:
        """Return when there may be more to tell."""
        pause_s = self.pause_s(watch)
        if pause_s is None:
            await woken.wait()
            return
        loop = asyncio.get_running_loop()
        waiting = [loop.create_task(each) for each in (self._clock.sleep(pause_s), woken.wait())]
        try:
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in waiting:
                task.cancel()

    def _thinking(self, watch: Watch, table: Table) -> Sequence[Thinking]:
        """Who is thinking, if that is to be told now: by the clock alone."""
        if not watch.with_thinking or table.durable_entries < len(table.entries):
            return []
        seats = thinking_seats(table)
        if not seats:
            watch.thinking_turn = -1
            return []
        now = self._clock.monotonic()
        if watch.thinking_turn != table.turn:
            watch.thinking_turn, watch.thinking_at = table.turn, now
        if now < watch.thinking_at:
            return []
        missed = int((now - watch.thinking_at) / THINKING_S)
        watch.thinking_at += THINKING_S * (missed + 1)
        time = stamp(self._playing.now_us(table, watch.viewer))
        return [Thinking(seats=seats, turn=table.turn, server_time=time)]

    def _next(self, watch: Watch, table: Table) -> Sequence[Told]:
        """The next messages, few enough to be made at once; all are events that are durable."""
        last = table.durable_events
        self._forgive_bursts(watch, last)
        if last - watch.sent > self._backlog_max and watch.sent >= watch.owed:
            return self._overflow(watch, table)
        until = min(last, watch.sent + CHUNK)
        if until <= watch.sent:
            return []
        if not watch.with_views:
            events = shared_event_messages(table, watch.viewer, watch.sent, until)
            watch.sent = until
            return events
        return self._next_with_view(watch, table)

    def _forgive_bursts(self, watch: Watch, last: int) -> None:
        """Let nothing be skipped, of events up to the last, of what came at once while the watch
        was near the end."""
        table = watch.table
        table.note_burst()
        while watch.bursts < len(table.bursts) and table.bursts[watch.bursts][1] <= last:
            before, after = table.bursts[watch.bursts]
            if before - watch.sent <= self._backlog_max:
                watch.owed = max(watch.owed, after)
            watch.bursts += 1

    def _next_with_view(self, watch: Watch, table: Table) -> list[Told]:
        """The rest of the events of one entry, and the view after it."""
        place = bisect.bisect_right(table.event_ends, watch.sent)
        until = table.event_ends[place]
        told: list[Told] = list(shared_event_messages(table, watch.viewer, watch.sent, until))
        watch.sent = until
        then = self._as_of(watch, table, place + 1)
        if then.match is not None:
            told.append(self._snapshot(watch, then, UPDATE))
        return told

    def _as_of(self, watch: Watch, table: Table, entries: int) -> Table:
        """The table after that many entries: itself, or one made from the log for this watch."""
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

    def _overflow(self, watch: Watch, table: Table) -> list[Told]:
        then = self._as_of(watch, table, table.durable_entries)
        watch.sent = table.durable_events
        return [self._snapshot(watch, then, OVERFLOW)]

    async def _first_snapshot(self, watch: Watch) -> Snapshot:
        await self._move(watch)
        shown = self._shown(watch)
        watch.sent = watch.owed = shown.durable_events
        return self._snapshot(watch, shown, START)

    def _snapshot(self, watch: Watch, table: Table, reason: SnapshotReason.ValueType) -> Snapshot:
        made_of = Snapshot(reason=reason, event_number=len(table.happenings))
        if reason != UPDATE or watch.version != table.public_version:
            made_of.table.CopyFrom(self._playing.message_of(table))
            watch.version = table.public_version
        if table.match is not None:
            made_of.view.CopyFrom(
                view_message(
                    table, table.match, watch.viewer, self._playing.now_us(table, watch.viewer)
                )
            )
        return made_of

    # -- ending -----------------------------------------------------------------------------------

    def _reason_to_end(self, watch: Watch, table: Table) -> ClosingReason.ValueType | None:
        if watch.ended is not None:
            return watch.ended
        if watch.table.dead or table.in_flight is not None:
            return None  # what is in memory may never have been
        if watch.token_hash:
            token = table.tokens.get(watch.token_hash)
            if token is None or token.void:
                return ClosingReason.CLOSING_REASON_TOKEN_VOID
        if table.over and watch.sent >= table.durable_events:
            if watch.sent > table.durable_events:  # a spectator's, see `open`
                raise refuse.event_out_of_range(watch.sent, table.durable_events)
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
        was_near = watch.table.durable_events - watch.sent <= self._backlog_max
        watch.table.watchers.pop(watch.wake, None)
        watch.table = await self._tables.settled(watch.table.table_id)
        watch.table.watchers[watch.wake] = None
        watch.behind = None
        watch.bursts = len(watch.table.bursts)
        if was_near:
            watch.owed = max(watch.owed, watch.table.durable_events)

    def let_go(self, table: Table) -> None:
        """Hold a table no longer that has left the memory; what is left to tell is read again."""
        husk = table.husk()
        for watch in self._watches:
            if watch.table is table:
                watch.table, watch.behind = husk, None
                husk.watchers[watch.wake] = None


def _closing(reason: ClosingReason.ValueType, sent: int) -> Closing:
    closing = Closing(reason=reason, resume_after=sent)
    waits = {
        ClosingReason.CLOSING_REASON_SHUTTING_DOWN: 1,
        ClosingReason.CLOSING_REASON_STORE_UNAVAILABLE: 5,
    }
    if reason in waits:
        closing.retry_delay.CopyFrom(Duration(seconds=waits[reason]))
    return closing
