"""The write by which a server learns whether its store takes writes.

It needs the room of several entries anew each time, and frees what the one before took: where it
fits, so do entries.
"""

from __future__ import annotations

import os

import apsw

FILLING_BYTES = 8192
_DAY_US = 86_400_000_000

# Of servers that are gone nothing stays for longer than a day.
POSTGRES = f"""
WITH gone AS (DELETE FROM probes WHERE time_us < $2::bigint - {_DAY_US} AND probe_id <> $1)
INSERT INTO probes (probe_id, time_us, filling) VALUES ($1, $2, $3)
ON CONFLICT (probe_id) DO UPDATE SET time_us = excluded.time_us, filling = excluded.filling
"""  # noqa: S608 - constants


def filling() -> bytes:
    """Bytes that nothing can make smaller."""
    return os.urandom(FILLING_BYTES)


def probe_sqlite(connection: apsw.Connection, probe_id: str, time_us: int) -> None:
    """Probe, in one transaction; raises what SQLite does."""
    row_id = f"{probe_id}-{time_us}"
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.execute("INSERT INTO probes VALUES (?, ?, ?)", (row_id, time_us, filling()))
        connection.execute("DELETE FROM probes WHERE probe_id <> ?", (row_id,))
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
