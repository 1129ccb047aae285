"""Time to decide: when a person's time runs out, by the table's time control."""

from __future__ import annotations

from google.protobuf.timestamp_pb2 import Timestamp

from tavolata.service.tables.model import OCCUPANT, PERSON, PLAYING, Seat, Table
from tavolata.v1.view_pb2 import Clock


def limits_us(table: Table) -> tuple[int | None, int | None]:
    """Microseconds for a decision, and for all of a seat's decisions; None for no limit."""
    control = table.setup.settings.time_control
    per_decision = control.HasField("per_decision")
    per_match = control.HasField("per_match")
    return (
        control.per_decision.ToMicroseconds() if per_decision else None,
        control.per_match.ToMicroseconds() if per_match else None,
    )


def deadline_us(table: Table, seat: Seat) -> int | None:
    """When the stand-in takes the seat over; None if it has nothing to decide, or no limit.

    No clock runs while no server has the table.
    """
    match = table.match
    if match is None or table.state != PLAYING or seat.kind != PERSON or seat.control != OCCUPANT:
        return None
    per_decision, per_match = limits_us(table)
    if (per_decision is None and per_match is None) or seat.number not in match.to_act:
        return None
    left = [] if per_decision is None else [per_decision]
    if per_match is not None:
        left.append(max(0, per_match - seat.used_us))
    return table.opened_us + min(left)


def clocks_of(table: Table) -> list[Clock]:
    """The clocks of the people whose time is limited."""
    per_decision, per_match = limits_us(table)
    if (per_decision is None and per_match is None) or table.over:
        return []
    clocks = []
    for seat in table.seats:
        if seat.kind == PERSON:
            clock = Clock(seat=seat.number)
            deadline = deadline_us(table, seat)
            if deadline is not None:
                clock.deadline.CopyFrom(
                    Timestamp(seconds=deadline // 10**6, nanos=deadline % 10**6 * 1000)
                )
            if per_match is not None:
                clock.match_time_left.FromMicroseconds(max(0, per_match - seat.used_us))
            clocks.append(clock)
    return clocks
