"""The refusals of the table service, each with what was wrong and what is allowed."""

from __future__ import annotations

from collections.abc import Sequence

from tavolata.ext.registry import GAMES, game_spec
from tavolata.service.refusals import Refused
from tavolata.service.tables.model import ABORTED, FINISHED, Table
from tavolata.v1.errors_pb2 import ErrorReason

HEADER = "authorization: Bearer TOKEN"
REQUEST_ID_FORMAT = "1 to 64 visible ASCII characters"


def table_not_found(table_id: str) -> Refused:
    """No such table."""
    return Refused(
        ErrorReason.ERROR_REASON_TABLE_NOT_FOUND,
        f"there is no table {table_id!r}, or no longer",
        {"table_id": table_id},
    )


def no_such_seat(seat: int, table: Table) -> Refused:
    """A seat number beyond the table's."""
    allowed = f"0 to {len(table.seats) - 1}"
    return Refused(
        ErrorReason.ERROR_REASON_NO_SUCH_SEAT,
        f"the table has no seat {seat}; seats are {allowed}",
        {"seat": seat, "allowed": allowed},
    )


def seat_taken(seat: int, table: Table, what: str = "isn't open") -> Refused:
    """A seat that somebody has."""
    seats = table.free_seats()
    shown = ", ".join(map(str, seats)) or "none"
    return Refused(
        ErrorReason.ERROR_REASON_SEAT_TAKEN,
        f"seat {seat} {what}; open seats: {shown}",
        {"seat": seat, "allowed": seats},
    )


def table_full(table: Table) -> Refused:
    """No seat is open."""
    return Refused(
        ErrorReason.ERROR_REASON_TABLE_FULL,
        f"all {len(table.seats)} seats are taken or held; anyone may watch",
        {"seats": len(table.seats)},
    )


def open_seats(seats: Sequence[int]) -> Refused:
    """Seats that nobody fills."""
    named = ", ".join(map(str, seats))
    which = f"seats {named} are" if len(seats) > 1 else f"seat {named} is"
    return Refused(
        ErrorReason.ERROR_REASON_OPEN_SEATS,
        f"{which} open and the table has no AI player to fill what is open; wait for people, or "
        "give it to AI players with SetSeat",
        {"seats": list(seats)},
    )


def missing_token(whose: str = "a seat") -> Refused:
    """No token where one is needed."""
    return Refused(
        ErrorReason.ERROR_REASON_MISSING_TOKEN,
        f"the call needs the token of {whose}; send it as the header `{HEADER}`",
        {"allowed": HEADER},
    )


def bad_token(table_id: str) -> Refused:
    """A token of something else, or of nothing."""
    return Refused(
        ErrorReason.ERROR_REASON_BAD_TOKEN,
        "the token isn't one of this table, or is void; CreateTable and JoinTable give tokens, "
        f"sent as the header `{HEADER}`",
        {"table_id": table_id},
    )


def not_owner(table_id: str) -> Refused:
    """The owner's business."""
    return Refused(
        ErrorReason.ERROR_REASON_NOT_OWNER,
        "only the table's owner may do this",
        {"table_id": table_id},
    )


def not_seated(table_id: str) -> Refused:
    """An owner without a seat."""
    return Refused(
        ErrorReason.ERROR_REASON_NOT_SEATED,
        "the token owns the table but has no seat at it; JoinTable takes one before the match",
        {"table_id": table_id},
    )


def seat_resigned(seat: int) -> Refused:
    """A seat that is the AI's for good."""
    return Refused(
        ErrorReason.ERROR_REASON_SEAT_RESIGNED,
        f"seat {seat} has resigned; the AI plays it for good",
        {"seat": seat},
    )


def request_id_required() -> Refused:
    """No usable request id."""
    return Refused(
        ErrorReason.ERROR_REASON_REQUEST_ID_REQUIRED,
        f"request_id is missing or malformed; allowed: {REQUEST_ID_FORMAT}, a random UUID is right",
        {"allowed": REQUEST_ID_FORMAT},
    )


def request_id_reused(request_id: str, why: str = "came with other content before") -> Refused:
    """A request id that stands for another request."""
    return Refused(
        ErrorReason.ERROR_REASON_REQUEST_ID_REUSED,
        f"request_id {request_id} {why}; use a new one for a new request",
        {"request_id": request_id},
    )


def not_started(table_id: str) -> Refused:
    """Before the match."""
    return Refused(
        ErrorReason.ERROR_REASON_MATCH_NOT_STARTED,
        "the match hasn't been started; the owner starts it with StartMatch",
        {"table_id": table_id},
    )


def started(table_id: str) -> Refused:
    """After the start."""
    return Refused(
        ErrorReason.ERROR_REASON_MATCH_STARTED,
        "the match has been started, and this is possible before that only",
        {"table_id": table_id},
    )


def live(table_id: str) -> Refused:
    """Before the end."""
    return Refused(
        ErrorReason.ERROR_REASON_MATCH_LIVE,
        "the match isn't over, and this is possible after the end only",
        {"table_id": table_id},
    )


def aborted(table_id: str) -> Refused:
    """An aborted table."""
    return Refused(
        ErrorReason.ERROR_REASON_MATCH_ABORTED,
        "the table has been aborted; make a new one with CreateTable",
        {"table_id": table_id},
    )


def finished(table_id: str) -> Refused:
    """A match that was played to its end."""
    return Refused(
        ErrorReason.ERROR_REASON_MATCH_FINISHED,
        "the match has been played to its end; GetReplay gives its record",
        {"table_id": table_id},
    )


def damaged(table_id: str) -> Refused:
    """A log that doesn't give what it gave when it was written."""
    return Refused(
        ErrorReason.ERROR_REASON_TABLE_DAMAGED,
        "the table's record has been altered, or doesn't give what it gave when it was made; it "
        "can't be shown or played on",
        {"table_id": table_id},
    )


def unless_rules(table: Table) -> None:
    """Refuse what isn't possible without the rules that the table is played by."""
    if table.rules is not None:
        return
    setup = table.setup
    spec = GAMES.get(setup.settings.game_id)
    here = "" if spec is None else game_spec(setup.settings.game_id).rules_version
    raise Refused(
        ErrorReason.ERROR_REASON_RULES_VERSION,
        f"the table is played by version {setup.rules_version} of {setup.settings.game_id}, and "
        f"this server has {f'version {here}' if here else 'no such game'}; possible are GetTable, "
        "AbortMatch and, once it is over, GetReplay",
        {
            "table_id": table.table_id,
            "game_id": setup.settings.game_id,
            "rules_version": setup.rules_version,
            "allowed": here,
        },
    )


def unless_over(table: Table) -> None:
    """Refuse what isn't possible any more once a table is over."""
    if table.state == FINISHED:
        raise finished(table.table_id)
    if table.state == ABORTED:
        raise aborted(table.table_id)


def event_out_of_range(after: int, last: int) -> Refused:
    """An event that hasn't happened."""
    return Refused(
        ErrorReason.ERROR_REASON_EVENT_OUT_OF_RANGE,
        f"there is no event {after} yet; the last is {last}",
        {"after_event": after, "last_event": last},
    )


def handle_in_use(handle: int) -> Refused:
    """A handle that is attached."""
    return Refused(
        ErrorReason.ERROR_REASON_HANDLE_IN_USE,
        f"handle {handle} is attached; detach it first or choose another",
        {"handle": handle},
    )


def unknown_handle(handle: int) -> Refused:
    """A handle that isn't attached."""
    return Refused(
        ErrorReason.ERROR_REASON_UNKNOWN_HANDLE,
        f"handle {handle} isn't attached; attach a seat under it first",
        {"handle": handle},
    )


def limit_exceeded(limit: str, allowed: int, retry_s: float) -> Refused:
    """A limit of the server."""
    return Refused(
        ErrorReason.ERROR_REASON_LIMIT_EXCEEDED,
        f"the server's limit {limit} is reached: {allowed}; try again in {retry_s:g} s",
        {"limit": limit, "allowed": allowed},
        retry_delay=retry_s,
    )


def too_large(size: int, allowed: int) -> Refused:
    """A request that is too large."""
    return Refused(
        ErrorReason.ERROR_REASON_MESSAGE_TOO_LARGE,
        f"the request has {size} bytes; allowed: at most {allowed}",
        {"bytes": size, "allowed": allowed},
    )


def shutting_down() -> Refused:
    """The server is stopping."""
    return Refused(
        ErrorReason.ERROR_REASON_SHUTTING_DOWN,
        "the server is stopping; try again with the same request_id",
        retry_delay=1.0,
    )


def out_of_time(call_s: float) -> Refused:
    """A call without a deadline took longer than the server lets it."""
    return Refused(
        ErrorReason.ERROR_REASON_OUT_OF_TIME,
        f"no answer within {call_s:g} s; a change may or may not have been recorded: repeat the "
        "call with the same request_id, and with a deadline of your own if you can wait longer",
        {"allowed": f"{call_s:g} s"},
        retry_delay=1.0,
    )


def store_unavailable() -> Refused:
    """The store's answer is unknown."""
    return Refused(
        ErrorReason.ERROR_REASON_STORE_UNAVAILABLE,
        "the change may or may not have been recorded; repeat the call with the same request_id",
        retry_delay=1.0,
    )


def store_full() -> Refused:
    """No room."""
    return Refused(
        ErrorReason.ERROR_REASON_STORE_FULL,
        "nothing can be recorded at present: the store has no room left; reads and streams go on",
        retry_delay=10.0,
    )
