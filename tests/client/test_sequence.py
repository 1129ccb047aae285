"""What continues a watch and what doesn't, message by message."""

from __future__ import annotations

import pytest

from tavolata.service.client.watching import OutOfSequence, Sequence, goes_on
from tavolata.v1 import event_pb2, table_pb2

UPDATE = event_pb2.SNAPSHOT_REASON_UPDATE


def event(number: int) -> event_pb2.Event:
    return event_pb2.Event(number=number)


def snapshot(
    number: int,
    reason: event_pb2.SnapshotReason.ValueType = UPDATE,
    table: table_pb2.Table | None = None,
) -> event_pb2.Snapshot:
    return event_pb2.Snapshot(event_number=number, reason=reason, table=table)


def test_a_watch_begins_with_a_snapshot_and_resumes_after_it() -> None:
    sequence = Sequence(None, with_views=False)
    before = sequence.resume_after
    assert before is None
    assert sequence.snapshot(snapshot(4, event_pb2.SNAPSHOT_REASON_START)) is not None
    assert sequence.resume_after == 4
    assert sequence.event(event(5)) is not None
    assert sequence.resume_after == 5


def test_what_came_before_is_dropped_and_what_is_missing_is_noticed() -> None:
    sequence = Sequence(4, with_views=False)
    assert sequence.event(event(4)) is None
    assert sequence.event(event(5)) is not None
    assert sequence.event(event(5)) is None
    with pytest.raises(OutOfSequence, match="event 7 came after event 5"):
        sequence.event(event(7))
    assert sequence.event(event(6)) is not None


def test_a_view_lost_behind_its_events_is_asked_for_again_without_telling_them_twice() -> None:
    sequence = Sequence(None, with_views=True)
    sequence.snapshot(snapshot(4, event_pb2.SNAPSHOT_REASON_START))
    assert sequence.event(event(5)) is not None
    assert sequence.event(event(6)) is not None
    # The connection breaks before the view after event 6 has come.
    assert sequence.resume_after == 4
    assert sequence.event(event(5)) is None
    assert sequence.snapshot(snapshot(5)) is None, "older than what was told"
    assert sequence.event(event(6)) is None
    assert sequence.snapshot(snapshot(6)) is not None
    assert sequence.resume_after == 6


def test_a_snapshot_that_skips_events_is_not_passed_on() -> None:
    sequence = Sequence(4, with_views=True)
    with pytest.raises(OutOfSequence, match="snapshot 300 came after event 4"):
        sequence.snapshot(snapshot(300, event_pb2.SNAPSHOT_REASON_OVERFLOW))
    assert sequence.resume_after == 4


def test_a_snapshot_without_its_table_gets_the_last_one() -> None:
    sequence = Sequence(None, with_views=True)
    table = table_pb2.Table(table_id="T", last_event=4)
    sequence.snapshot(snapshot(4, event_pb2.SNAPSHOT_REASON_START, table))
    sequence.event(event(5))
    sequence.event(event(6))
    renamed = table_pb2.Table(table_id="T", last_event=5, owner_seat=2)
    assert sequence.snapshot(snapshot(5, UPDATE, renamed)) is None
    shown = sequence.snapshot(snapshot(6))
    assert shown is not None
    assert (shown.table.table_id, shown.table.owner_seat, shown.table.last_event) == ("T", 2, 6)


@pytest.mark.parametrize(
    ("reason", "again"),
    [
        (event_pb2.CLOSING_REASON_MATCH_FINISHED, False),
        (event_pb2.CLOSING_REASON_MATCH_ABORTED, False),
        (event_pb2.CLOSING_REASON_TOKEN_VOID, False),
        (event_pb2.CLOSING_REASON_DETACHED, False),
        (event_pb2.CLOSING_REASON_SHUTTING_DOWN, True),
        (event_pb2.CLOSING_REASON_STORE_UNAVAILABLE, True),
    ],
)
def test_a_closing_says_whether_to_watch_again(
    reason: event_pb2.ClosingReason.ValueType, again: bool
) -> None:
    closing = event_pb2.Closing(reason=reason)
    closing.retry_delay.seconds = 5
    failure = goes_on(closing)
    assert (failure is not None) == again
    if failure is not None:
        assert failure.passing
        assert failure.retry_delay_s == 5
