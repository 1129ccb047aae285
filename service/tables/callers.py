"""What a caller may do at a table."""

from __future__ import annotations

from tavolata.service.tables import refuse
from tavolata.service.tables.model import NO_SEAT, RESIGNED, Table
from tavolata.service.tables.requests import Caller


def seat_of(table: Table, caller: Caller | None) -> Caller:
    """The caller, who must have a seat."""
    if caller is None:
        raise refuse.missing_token()
    if caller.slot == NO_SEAT:
        raise refuse.not_seated(table.table_id)
    return caller


def owner_of(table: Table, caller: Caller | None) -> Caller:
    """The caller, who must own the table."""
    if caller is None:
        raise refuse.missing_token("the owner")
    if caller.slot != table.owner:
        raise refuse.not_owner(table.table_id)
    return caller


def refuse_resigned(table: Table, slot: int) -> None:
    """Refuse what a seat that resigned can't do any more."""
    if table.seats[slot].control == RESIGNED:
        raise refuse.seat_resigned(slot)
