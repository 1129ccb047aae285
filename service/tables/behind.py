"""Spectators who are kept behind: the table as it was a while ago, for everybody without a seat.

Before the match everything is shown at once. From the entry that starts it on, an entry is shown
once it and all before it are old enough, by the times that the log has for them.
"""

from __future__ import annotations

from tavolata.service.ports import LISTED, LISTED_LATE, UNLISTED
from tavolata.service.tables.apply import apply
from tavolata.service.tables.making import made
from tavolata.service.tables.model import SPECTATOR, Table
from tavolata.v1.table_pb2 import Visibility


def listing_of(table: Table) -> int:
    """Who finds a table: of its summary in the store."""
    settings = table.setup.settings
    if settings.visibility != Visibility.VISIBILITY_PUBLIC:
        return UNLISTED
    return LISTED_LATE if delay_us(table, SPECTATOR) else LISTED


def delay_us(table: Table, viewer: int) -> int:
    """How far this viewer is behind, in microseconds."""
    if viewer != SPECTATOR:
        return 0
    return int(table.setup.settings.spectator_delay.ToMicroseconds())


def shown_to(table: Table, viewer: int, now_us: int) -> Table:
    """The table as this viewer may see it now: itself, or what it was. Nothing in the latter is
    newer than durable, and what was shown once stays shown whatever the clock does."""
    delay = delay_us(table, viewer)
    if not delay or table.past is table:
        return table
    count = _count(table, now_us - delay)
    if table.over and count == len(table.entries):
        table.past = table
        return table
    then = table.past
    if then is None:
        then = made(table.table_id, table.entries[0], with_rules=table.rules is not None)
    for entry in table.entries[len(then.entries) : count]:
        apply(then, entry)
    then.durable_entries = len(then.entries)
    table.past = then
    return then


def next_release_us(table: Table, viewer: int) -> int | None:
    """When the next entry may be shown that is durable and kept back; None if there is none."""
    delay, then = delay_us(table, viewer), table.past
    if not delay or then is None or len(then.entries) >= table.durable_entries:
        return None
    return table.entries[len(then.entries)].time_us + delay


def _count(table: Table, until_us: int) -> int:
    """How many entries are old enough."""
    count = max(1, 0 if table.past is None else len(table.past.entries))
    while count < table.durable_entries:
        in_match = 0 < table.start_entry <= count + 1
        if in_match and table.entries[count].time_us > until_us:
            break
        count += 1
    return count
