"""The SQLite schema, and which versions of it this program can open."""

from __future__ import annotations

import apsw

VERSION = 1
APPLICATION_ID = 0x7461766F  # "tavo": tells our files from other SQLite files

_SCHEMA = """
CREATE TABLE tables (
    table_id    TEXT PRIMARY KEY,
    state       INTEGER NOT NULL,
    created_us  INTEGER NOT NULL,
    expires_us  INTEGER NOT NULL,
    creation_id TEXT NOT NULL UNIQUE
) WITHOUT ROWID, STRICT;
CREATE INDEX tables_by_state ON tables (state, created_us);
CREATE INDEX tables_by_expiry ON tables (expires_us) WHERE expires_us > 0;
CREATE TABLE entries (
    table_id   TEXT NOT NULL,
    number     INTEGER NOT NULL,
    time_us    INTEGER NOT NULL,
    kind       TEXT NOT NULL,
    slot       INTEGER NOT NULL,
    turn       INTEGER NOT NULL,
    action     INTEGER NOT NULL,
    maker      INTEGER NOT NULL,
    request_id TEXT NOT NULL,
    scope      INTEGER NOT NULL,
    digest     BLOB NOT NULL,
    body       TEXT,
    PRIMARY KEY (table_id, number)
) WITHOUT ROWID, STRICT;
CREATE UNIQUE INDEX entries_by_request ON entries (table_id, scope, request_id)
    WHERE request_id <> '';
"""


class UnknownSchema(Exception):
    """The file is no store of ours, or one that this version can't read."""


def prepare(connection: apsw.Connection, path: str) -> None:
    """Make the schema in an empty file; UnknownSchema if the file holds anything else."""
    try:
        version = connection.pragma("user_version")
        application = connection.pragma("application_id")
        empty = connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone() is None
    except apsw.NotADBError:
        raise UnknownSchema(f"{path} is no SQLite file") from None
    if version == 0 and empty:
        _be_durable(connection)
        with connection:
            connection.execute(_SCHEMA)
            connection.pragma("application_id", APPLICATION_ID)
            connection.pragma("user_version", VERSION)
        return
    if application != APPLICATION_ID:
        raise UnknownSchema(f"{path} is an SQLite file, but no store of tavolata")
    if version != VERSION:
        raise UnknownSchema(
            f"{path} has schema version {version}; this program can open version {VERSION}"
        )
    _be_durable(connection)


def _be_durable(connection: apsw.Connection) -> None:
    """What is committed is on the disk, whatever happens to process or machine."""
    connection.pragma("journal_mode", "wal")
    connection.pragma("synchronous", "full")
