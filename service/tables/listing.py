"""Lists of public tables, page by page, each table as spectators see it.

The store has the order and narrows down; whether a table belongs on the page is read from its
message, so that a list tells nothing that GetTable doesn't.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence

from tavolata.service.ports import Entry, StoreError, Wanted
from tavolata.service.refusals import Refused, invalid_field
from tavolata.service.tables import refuse
from tavolata.service.tables.apply import apply
from tavolata.service.tables.behind import shown_to
from tavolata.service.tables.making import made
from tavolata.service.tables.model import SPECTATOR, STATE_OPEN, Table
from tavolata.service.tables.tables import Tables
from tavolata.service.tables.wire import table_message
from tavolata.v1.errors_pb2 import ErrorReason
from tavolata.v1.table_pb2 import Table as TableMessage
from tavolata.v1.table_pb2 import TableState
from tavolata.v1.table_service_pb2 import ListTablesRequest

PAGE_USUAL, PAGE_MAX = 20, 100
LOOKED_AT_MAX = 300  # tables that are read for one page, whether they belong on it or not
_GONE = (ErrorReason.ERROR_REASON_TABLE_NOT_FOUND, ErrorReason.ERROR_REASON_TABLE_DAMAGED)
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")

Place = tuple[int, str]  # of a table in the list: when it was made, and its id


class Listing:
    """What there is to join and to watch."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def page(self, request: ListTablesRequest) -> tuple[list[TableMessage], str]:
        """The tables of a page, and the token of the next one, empty if this is the last. Refused
        with INVALID_FIELD."""
        size = _size(request.page_size)
        states = _states(request)
        place = _place(request)
        shown: list[TableMessage] = []
        if states is None:
            return shown, ""
        looked_at = 0
        while looked_at < LOOKED_AT_MAX:
            wanted = Wanted(request.game_id, states, place, size + 1)
            places = await self._places(wanted)
            tables = await asyncio.gather(*(self._message(each[1]) for each in places[:size]))
            for place, message in zip(places, tables, strict=False):
                if message is not None and _fits(message, request):
                    shown.append(message)
                    if len(shown) == size:
                        return shown, "" if place == places[-1] else _token(request, place)
            if len(places) <= size:
                return shown, ""
            looked_at += size
        assert place is not None  # noqa: S101
        return shown, _token(request, place)

    async def _places(self, wanted: Wanted) -> list[Place]:
        try:
            return await self._tables.store.listed(wanted)
        except StoreError as error:
            raise refuse.store_unavailable() from error

    async def _message(self, table_id: str) -> TableMessage | None:
        """The table as spectators see it; None if it is gone by now, or can't be read."""
        try:
            if self._tables.has_in_memory(table_id):
                table = await self._tables.settled(table_id)
            else:
                table = await self._glance(table_id)
        except Refused as refused:
            if refused.reason in _GONE:
                return None
            raise
        if 0 < self._tables.expires_us(table) <= self._tables.clock.now_us():
            return None  # about to be removed
        shown = shown_to(table, SPECTATOR, self._tables.clock.now_us())
        message = table_message(shown, self._tables.expires_us(shown))
        message.ClearField("last_event")  # a glance can't tell it
        return message

    async def _glance(self, table_id: str) -> Table:
        """A table from its log without the match, which costs little; it isn't kept."""
        try:
            stored = await self._tables.store.load(table_id)
        except StoreError as error:
            raise refuse.store_unavailable() from error
        if stored is None or not stored.entries:
            raise refuse.table_not_found(table_id)
        return _outline(table_id, stored.entries)


def _outline(table_id: str, entries: Sequence[Entry]) -> Table:
    table = made(table_id, entries[0], with_rules=False)
    for entry in entries[1:]:
        apply(table, entry)
    table.durable_entries = len(table.entries)
    return table


def _fits(table: TableMessage, request: ListTablesRequest) -> bool:
    if request.states and table.state not in request.states:
        return False
    if not request.min_open_seats:
        return True
    free = sum(
        seat.occupant.HasField("open") and not seat.occupant.open.HasField("held_for")
        for seat in table.seats
    )
    return table.state == STATE_OPEN and free >= request.min_open_seats


# -- the request --------------------------------------------------------------------------------


def _size(size: int) -> int:
    if size < 0:
        raise invalid_field("page_size", f"is {size}", f"0 to {PAGE_MAX}, and more as {PAGE_MAX}")
    return min(size or PAGE_USUAL, PAGE_MAX)


def _states(request: ListTablesRequest) -> tuple[int, ...] | None:
    """The states that are wanted, empty for any; None if no table can have what is asked."""
    known = [state for state in TableState.values() if state]
    for place, state in enumerate(request.states):
        if state not in known:
            raise invalid_field(f"states[{place}]", f"is {state}", f"{known[0]} to {known[-1]}")
    states = tuple(sorted(set(request.states)))
    if not request.min_open_seats:
        return states
    return None if states and STATE_OPEN not in states else (STATE_OPEN,)


def _place(request: ListTablesRequest) -> Place | None:
    """Where the page begins: after this place, None for the list's head."""
    if not request.page_token:
        return None
    try:
        text = urlsafe_b64decode(request.page_token.encode()).decode()
        made_us, filters, table_id = text.split(".")
        place = (int(made_us), table_id)
    except ValueError:
        raise _no_token("is no token of a page") from None
    if not (0 <= place[0] < 1 << 63 and _NAME.fullmatch(table_id)):
        raise _no_token("is no token of a page")
    if filters != _filters(request):
        raise _no_token("is of a list with other filters")
    return place


def _no_token(problem: str) -> Refused:
    allowed = "empty, or the next_page_token of a page with the same filters"
    return invalid_field("page_token", problem, allowed)


def _token(request: ListTablesRequest, place: Place) -> str:
    return urlsafe_b64encode(f"{place[0]}.{_filters(request)}.{place[1]}".encode()).decode()


def _filters(request: ListTablesRequest) -> str:
    text = f"{request.game_id}|{sorted(set(request.states))}|{request.min_open_seats}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]
