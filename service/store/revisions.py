"""Which revisions of the schema there are, and what keeps this program from using a store.

Kept apart from schema.py so that opening a store that is there loads no SQLAlchemy.
"""

from __future__ import annotations

from urllib.parse import urlsplit

VERSION_TABLE = "alembic_version"
# Every revision in order; the last is the one this program works with.
REVISIONS = ("0001", "0002", "0003", "0004", "0005", "0006")
HEAD = REVISIONS[-1]


class NotOpened(Exception):
    """The database can't be used; the message says why."""


class UnknownSchema(Exception):
    """The database is no store of ours, or one that this program can't use as it is."""


def check(revision: str | None, where: str, hint: str) -> None:
    """UnknownSchema unless the revision is the one that this program works with.

    where: the database, for people; hint: the options of `tavolata migrate` that name it.
    """
    if revision == HEAD:
        return
    if revision is None:
        raise UnknownSchema(f"{where} is empty: make its tables with `tavolata migrate {hint}`")
    if revision in REVISIONS:
        raise UnknownSchema(
            f"{where} has schema {revision}, and this program needs {HEAD}: stop all servers on "
            f"it, make a backup, and bring it up to date with `tavolata migrate {hint}`"
        )
    raise UnknownSchema(
        f"{where} has schema {revision}, which this program doesn't know: it has been used by a "
        f"newer one; this one knows {', '.join(REVISIONS)}"
    )


def postgres_place(dsn: str) -> str:
    """Where a database is, without the password."""
    parts = urlsplit(dsn)
    user = f"{parts.username}@" if parts.username else ""
    host = parts.netloc.rpartition("@")[2]
    query = f"?{parts.query}" if parts.query and "password" not in parts.query else ""
    return f"{parts.scheme}://{user}{host}{parts.path}{query}"
