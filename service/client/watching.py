"""Following a table over lost connections: every event once, in order, whatever breaks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

import grpc

from tavolata.service.client.errors import Refused, refused_call
from tavolata.service.client.retry import Patience, RetryPolicy
from tavolata.v1 import event_pb2, table_pb2, table_service_pb2

OnThinking = Callable[[event_pb2.Thinking], None]
Update = event_pb2.Snapshot | event_pb2.Event | event_pb2.Closing

# Reasons of a closing message after which the table can be watched again.
_GOES_ON = (
    event_pb2.CLOSING_REASON_SHUTTING_DOWN,
    event_pb2.CLOSING_REASON_STORE_UNAVAILABLE,
)


class OutOfSequence(Exception):
    """What came doesn't continue what has been passed on: ask again from there."""


class Sequence:
    """Passes on what continues the sequence, and says from where to resume.

    A connection can break after an event and before the view that follows it. So with views the
    watch is resumed from the last snapshot, and the events passed on since then are dropped.
    """

    def __init__(self, after_event: int | None, *, with_views: bool) -> None:
        self._last = after_event
        self._viewed = after_event
        self._with_views = with_views
        self._table: table_pb2.Table | None = None

    @property
    def resume_after(self) -> int | None:
        """For `after_event` of the next watch; None: begin with a snapshot."""
        return self._viewed if self._with_views else self._last

    def event(self, event: event_pb2.Event) -> event_pb2.Event | None:
        """The event, or None if it has been passed on; OutOfSequence where one is missing."""
        if self._last is not None and event.number <= self._last:
            return None
        if self._last is not None and event.number > self._last + 1:
            raise OutOfSequence(f"event {event.number} came after event {self._last}")
        self._last = event.number
        return event

    def snapshot(self, snapshot: event_pb2.Snapshot) -> event_pb2.Snapshot | None:
        """The snapshot with its table filled in, or None if it is older than what was passed on.

        OutOfSequence where it skips events, as it does when the reader was too slow.
        """
        if snapshot.HasField("table"):
            self._table = snapshot.table
        if self._last is not None and snapshot.event_number != self._last:
            if snapshot.event_number < self._last:
                return None
            raise OutOfSequence(f"snapshot {snapshot.event_number} came after event {self._last}")
        self._last = self._viewed = snapshot.event_number
        if self._table is not None and not snapshot.HasField("table"):
            snapshot.table.CopyFrom(self._table)
        snapshot.table.last_event = max(snapshot.table.last_event, snapshot.event_number)
        return snapshot


def goes_on(closing: event_pb2.Closing) -> Refused | None:
    """The failure to wait out, if the table can be watched again; None: that was all."""
    if closing.reason not in _GOES_ON:
        return None
    delay = closing.retry_delay.ToTimedelta().total_seconds()
    reason = event_pb2.ClosingReason.Name(closing.reason).removeprefix("CLOSING_REASON_")
    return Refused(
        grpc.StatusCode.UNAVAILABLE, reason, "the server ended the watch", retry_delay_s=delay
    )


Stream = grpc.aio.UnaryStreamCall[
    table_service_pb2.WatchTableRequest, table_service_pb2.WatchTableResponse
]


async def follow(
    open_watch: Callable[[int | None], Stream],
    sequence: Sequence,
    policy: RetryPolicy,
    on_thinking: OnThinking | None = None,
) -> AsyncGenerator[Update, None]:
    """Snapshots and events of a table, and the closing message as the last of all.

    open_watch: starts a WatchTable call with the `after_event` it is given. Raises Refused, or
    Unreachable after ``policy.silence_s`` with nothing but failures.
    """
    clock = asyncio.get_running_loop().time
    patience = Patience(policy, policy.silence_s)
    while True:
        opened = clock()
        stream = open_watch(sequence.resume_after)
        failure = Refused(grpc.StatusCode.UNAVAILABLE, "", "the watch ended without a closing")
        try:
            async with aclosing(_messages(stream)) as messages:
                async for message in messages:
                    if isinstance(message, event_pb2.Thinking):
                        if on_thinking is not None:
                            on_thinking(message)
                        continue
                    closing = message if isinstance(message, event_pb2.Closing) else None
                    ended = goes_on(closing) if closing is not None else None
                    if ended is not None:
                        failure = ended
                        break
                    update = pass_on(sequence, message)
                    if update is not None:
                        patience.reset()
                        yield update
                    if closing is not None:
                        return
        except grpc.aio.AioRpcError as error:
            failure = refused_call(error)
        except OutOfSequence as gap:
            failure = Refused(grpc.StatusCode.UNAVAILABLE, "", str(gap))
        await patience.wait(failure, lasted_s=clock() - opened)


def pass_on(sequence: Sequence, message: Update) -> Update | None:
    """What is new in a message of a watch."""
    if isinstance(message, event_pb2.Event):
        return sequence.event(message)
    if isinstance(message, event_pb2.Snapshot):
        return sequence.snapshot(message)
    return message


async def _messages(stream: Stream) -> AsyncGenerator[Update | event_pb2.Thinking, None]:
    try:
        async for response in stream:
            which = response.WhichOneof("message")
            if which is not None:
                yield getattr(response, which)
    finally:
        stream.cancel()
