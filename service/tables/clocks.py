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


def running_since_us(table: Table, seat: Seat) -> int | None:
    """Since when the seat's clock runs; None if it doesn't. It runs while the person in the seat is
    to decide and is there, and a server has the table."""
    match = table.match
    if match is None or table.state != PLAYING or seat.kind != PERSON or seat.control != OCCUPANT:
        return None
    return max(table.opened_us, seat.back_us) if seat.number in match.to_act else None


def elapsed_us(table: Table, seat: Seat, now_us: int) -> int:
    """How long the seat's clock has been running."""
    since = running_since_us(table, seat)
    return 0 if since is None else max(0, now_us - since)


def charge(seat: Seat, turn: int, us: int) -> None:
    """Count time for the decision with this turn and for the match."""
    if seat.spent_turn != turn:
        seat.spent_turn, seat.spent_us = turn, 0
    seat.spent_us += us
    seat.used_us += us


def deadline_us(table: Table, seat: Seat) -> int | None:
    """When the stand-in takes the seat over; None if its clock doesn't run, or has no limit."""
    per_decision, per_match = limits_us(table)
    if per_decision is None and per_match is None:
        return None
    since = running_since_us(table, seat)
    if since is None:
        return None
    left = []
    if per_decision is not None:
        left.append(per_decision - (seat.spent_us if seat.spent_turn == table.turn else 0))
    if per_match is not None:
        left.append(per_match - seat.used_us)
    return since + max(0, min(left))


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
