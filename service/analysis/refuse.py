"""The refusals of the analysis service."""

from __future__ import annotations

from collections.abc import Sequence

from tavolata.service.refusals import Refused
from tavolata.service.tables.model import Table
from tavolata.v1.errors_pb2 import ErrorReason


def hints_forbidden(table_id: str) -> Refused:
    """A table without hints, whose match goes on."""
    return Refused(
        ErrorReason.ERROR_REASON_HINTS_FORBIDDEN,
        "the table was made without hints; any decision can be analyzed when the match is over",
        {"table_id": table_id},
    )


def not_revealed(table: Table, viewer: int) -> Refused:
    """Hands that nobody is shown, at a table made with `reveal` never."""
    allowed = f"decisions of seat {viewer}, from what it knew" if viewer >= 0 else "nothing"
    return Refused(
        ErrorReason.ERROR_REASON_NOT_REVEALED,
        "the hands of this match aren't revealed: only a seat's own decisions can be analyzed, "
        f"with its token, and nothing with hindsight; for this caller: {allowed}",
        {"table_id": table.table_id, "allowed": allowed},
    )


def no_decision(turn: int, count: int) -> Refused:
    """A decision that there wasn't."""
    allowed = f"0 to {count - 1}" if count else "none"
    return Refused(
        ErrorReason.ERROR_REASON_DECISION_NOT_FOUND,
        f"the match has no decision {turn}; there are: {allowed}",
        {"turn": turn, "allowed": allowed},
    )


def not_by_seat(turn: int, seat: int, seats: Sequence[int]) -> Refused:
    """A decision of other seats."""
    return Refused(
        ErrorReason.ERROR_REASON_DECISION_NOT_FOUND,
        f"seat {seat} didn't decide at turn {turn}; who did: {', '.join(map(str, seats))}",
        {"turn": turn, "allowed": list(seats)},
    )
