"""Opening a SQLite file: a new one gets the schema, any other must have it."""

from __future__ import annotations

import apsw

from tavolata.service.store import revisions
from tavolata.service.store.revisions import UnknownSchema

APPLICATION_ID = 0x7461766F  # "tavo": tells our files from other SQLite files
# Of every file that has a revision; only the first schema had none, and this number was 1.
USER_VERSION = 2


def prepare(connection: apsw.Connection, path: str) -> None:
    """Make the schema in an empty file; UnknownSchema if the file holds anything else than it."""
    revision = revision_of(connection, path)
    if revision is not None:
        revisions.check(revision, path, f"--db {path}")
    be_durable(connection)
    if revision is None:
        _make(connection)


def revision_of(connection: apsw.Connection, path: str) -> str | None:
    """The file's revision, None if it is empty; UnknownSchema if it is no file of ours."""
    try:
        version = connection.pragma("user_version")
        application = connection.pragma("application_id")
        empty = connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone() is None
    except apsw.NotADBError:
        raise UnknownSchema(f"{path} is no SQLite file") from None
    if version == 0 and empty:
        return None
    if application != APPLICATION_ID:
        raise UnknownSchema(f"{path} is an SQLite file, but no store of tavolata")
    if version == 1:
        return revisions.REVISIONS[0]
    query = f"SELECT version_num FROM {revisions.VERSION_TABLE}"  # noqa: S608
    return str(connection.execute(query).fetchone()[0])  # type: ignore[index]


def _make(connection: apsw.Connection) -> None:
    from tavolata.service.store import schema  # SQLAlchemy is loaded where it is needed

    with connection:
        for statement in schema.sqlite_statements():
            connection.execute(statement)
        connection.pragma("application_id", APPLICATION_ID)
        connection.pragma("user_version", USER_VERSION)


def be_durable(connection: apsw.Connection) -> None:
    """What is committed is on the disk, whatever happens to process or machine."""
    connection.pragma("journal_mode", "wal")
    connection.pragma("synchronous", "full")
