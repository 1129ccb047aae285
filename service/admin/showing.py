"""A table as an operator may see it: what anybody at it is shown, and nothing that is hidden."""

from __future__ import annotations

import time
from dataclasses import dataclass

from tavolata.service.ports import StoredTable
from tavolata.service.tables.making import rebuild
from tavolata.service.tables.memory import Lifetimes
from tavolata.service.tables.model import SPECTATOR, STATE_OPEN, Table
from tavolata.service.tables.record import refuse_replay, replay_of
from tavolata.service.tables.wire import table_message, view_message
from tavolata.v1.replay_pb2 import Replay
from tavolata.v1.table_pb2 import Table as TableMessage
from tavolata.v1.view_pb2 import View


@dataclass(frozen=True, slots=True)
class Shown:
    """A table's message, a spectator's view of its match if it has one that this program can show,
    and its log's length."""

    table: TableMessage
    view: View | None
    entries: int


def show(stored: StoredTable, lifetimes: Lifetimes) -> Shown:
    """What may be seen. DamagedLog if the log isn't what it was."""
    table = rebuild(stored.table_id, stored.entries)
    view = None
    if table.match is not None and table.rules is not None:
        view = view_message(table, table.match, SPECTATOR, time.time_ns() // 1000)
    return Shown(_message(table, lifetimes), view, len(stored.entries))


def replay(stored: StoredTable, lifetimes: Lifetimes) -> Replay:
    """The replay of a match that is over, as anybody may fetch it. Refused if there is none yet;
    DamagedLog if the log isn't what it was."""
    table = rebuild(stored.table_id, stored.entries)
    refuse_replay(table)
    return replay_of(table, _message(table, lifetimes), SPECTATOR)


def _message(table: Table, lifetimes: Lifetimes) -> TableMessage:
    expires_us = 0
    if table.state == STATE_OPEN:
        expires_us = table.created_us + lifetimes.open_us
    elif table.over:
        expires_us = table.ended_us + lifetimes.over_us
    return table_message(table, expires_us)
