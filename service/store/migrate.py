"""Bringing a database's schema up to this program's: reading its revision, running the steps.

Alembic writes the steps as a script, and the library that the store uses runs it, in one
transaction.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import apsw
from alembic import command
from alembic.config import Config

from tavolata.service.store import sqlite_file
from tavolata.service.store.revisions import HEAD, REVISIONS, VERSION_TABLE, UnknownSchema
from tavolata.service.store.sqlite import locked

_ONE_AT_A_TIME = 0x7461766F  # a lock in the database: two of these commands don't meet


def script(dialect: str, revision: str | None, target: str = HEAD) -> str:
    """The steps from a revision, None for an empty database, to another, as SQL for `sqlite` or
    `postgresql`."""
    written = io.StringIO()
    config = Config(output_buffer=written)
    config.set_main_option("script_location", "tavolata.service.store:migrations")
    config.set_main_option("path_separator", "os")
    config.attributes |= {"dialect": dialect, "script": written}
    command.upgrade(config, f"{revision or 'base'}:{target}", sql=True)
    return written.getvalue()


def check_known(revision: str | None, where: str) -> None:
    """UnknownSchema for a revision that this program has never heard of."""
    if revision is not None and revision not in REVISIONS:
        raise UnknownSchema(
            f"{where} has schema {revision}, which this program doesn't know: it has been used by "
            f"a newer one; this one knows {', '.join(REVISIONS)}"
        )


def sqlite_revision(path: Path) -> str | None:
    """The revision of a SQLite file, None if it is empty or isn't there. UnknownSchema if it is no
    file of ours."""
    if not path.exists():
        return None
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        return sqlite_file.revision_of(connection, str(path))
    finally:
        connection.close()


def migrate_sqlite(path: Path, target: str = HEAD) -> str | None:
    """Bring a SQLite file up to date; the revision that it had. FileInUse if a server runs on it,
    UnknownSchema if it is none of ours or newer."""
    with locked(path):
        connection = apsw.Connection(str(path))
        try:
            revision = sqlite_file.revision_of(connection, str(path))
            check_known(revision, str(path))
            sqlite_file.be_durable(connection)
            if revision != target:
                with connection:
                    connection.pragma("application_id", sqlite_file.APPLICATION_ID)
                    connection.execute(script("sqlite", revision, target))
        finally:
            connection.close()
    return revision


async def postgres_revision(connection: Any) -> str | None:
    """The revision of a database, None if it has no tables of ours."""
    if await connection.fetchval("SELECT to_regclass($1)", VERSION_TABLE) is None:
        return None
    revision = await connection.fetchval(f"SELECT version_num FROM {VERSION_TABLE}")  # noqa: S608
    return None if revision is None else str(revision)


async def migrate_postgres(connection: Any, where: str, target: str = HEAD) -> str | None:
    """Bring a database up to date; the revision that it had. UnknownSchema if it is newer."""
    async with connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock($1)", _ONE_AT_A_TIME)
        revision = await postgres_revision(connection)
        check_known(revision, where)
        if revision != target:
            await connection.execute(script("postgresql", revision, target))
    return revision
