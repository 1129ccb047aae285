"""Log entries as rows of a database."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from tavolata.service.ports import Append, Entry

COLUMNS = (
    "table_id, number, time_us, kind, slot, turn, action, maker, request_id, scope, digest, body,"
    " chain"
)


def row_of(append: Append) -> tuple[object, ...]:
    """An append's entry as the values of COLUMNS."""
    entry = append.entry
    body = None if entry.body is None else json.dumps(entry.body, separators=(",", ":"))
    return (
        append.table_id,
        entry.number,
        entry.time_us,
        entry.kind,
        entry.slot,
        entry.turn,
        entry.action,
        entry.maker,
        entry.request_id,
        entry.scope,
        entry.digest,
        body,
        entry.chain,
    )


def entry_of(row: Sequence[Any]) -> Entry:
    """The entry in a row of COLUMNS."""
    fields = list(row[1:])
    if fields[10] is not None:
        fields[10] = json.loads(fields[10])
    fields[11] = fields[11] or b""  # logs from before there was one have none
    return Entry(*fields)
