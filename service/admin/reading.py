"""Reading a store beside the servers that run on it; nothing here can write."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import apsw

from tavolata.service.ports import StoredTable
from tavolata.service.settings import Settings
from tavolata.service.store import revisions, sqlite_file
from tavolata.service.store.migrate import postgres_revision
from tavolata.service.store.opening import connected, place_of
from tavolata.service.store.postgres_sql import LOAD
from tavolata.service.store.rows import COLUMNS, entry_of

_LIST = """
SELECT t.table_id, t.state, t.game_id, t.created_us, t.expires_us, coalesce(w.owner, ''),
    (SELECT max(number) FROM entries e WHERE e.table_id = t.table_id)
FROM tables t LEFT JOIN work w ON w.table_id = t.table_id
WHERE ({0} < 0 OR t.state = {0}) AND ({1} = '' OR t.game_id = {1}) AND t.created_us < {2}
ORDER BY t.created_us DESC, t.table_id LIMIT {3}
"""
SQLITE_LIST = _LIST.format("?1", "?2", "?3", "?4")
POSTGRES_LIST = _LIST.format("$1::int", "$2::text", "$3::bigint", "$4::int")


@dataclass(frozen=True, slots=True)
class Row:
    """A table in the list. owner: the server that acts for it, empty for none."""

    table_id: str
    state: int
    game_id: str
    created_us: int
    expires_us: int
    owner: str
    entries: int


class Reader(Protocol):
    """A store that can be read."""

    async def rows(self, state: int, game_id: str, before_us: int, limit: int) -> list[Row]:
        """The newest tables made before that time; state -1 and game "" stand for any."""

    async def load(self, table_id: str) -> StoredTable | None:
        """A table's log, None if there is no such table."""


@asynccontextmanager
async def reader(settings: Settings) -> AsyncIterator[Reader]:
    """The store of these settings. NotOpened, UnknownSchema, OSError and apsw.Error say what is
    wrong."""
    where = place_of(settings)
    if settings.store:
        async with connected(settings.store) as connection:
            revisions.check(await postgres_revision(connection), where, f"--store {where}")
            async with connection.transaction(readonly=True, isolation="repeatable_read"):
                yield _Postgres(connection)
        return
    if not settings.db.exists():
        raise FileNotFoundError(f"{where} isn't there")
    file = apsw.Connection(str(settings.db), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        file.set_busy_timeout(5000)
        revisions.check(sqlite_file.revision_of(file, where), where, f"--db {where}")
        yield _Sqlite(file)
    finally:
        file.close()


class _Sqlite:
    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    async def rows(self, state: int, game_id: str, before_us: int, limit: int) -> list[Row]:
        found: list[Any] = self._connection.execute(
            SQLITE_LIST, (state, game_id, before_us, limit)
        ).fetchall()
        return [Row(*each) for each in found]

    async def load(self, table_id: str) -> StoredTable | None:
        query = f"SELECT {COLUMNS} FROM entries WHERE table_id = ? ORDER BY number"  # noqa: S608
        rows = self._connection.execute(query, (table_id,)).fetchall()
        return StoredTable(table_id, [entry_of(row) for row in rows]) if rows else None


class _Postgres:
    def __init__(self, connection: Any) -> None:
        self._connection = connection

    async def rows(self, state: int, game_id: str, before_us: int, limit: int) -> list[Row]:
        found = await self._connection.fetch(POSTGRES_LIST, state, game_id, before_us, limit)
        return [Row(*each) for each in found]

    async def load(self, table_id: str) -> StoredTable | None:
        if "\0" in table_id:
            return None
        rows = await self._connection.fetch(LOAD, table_id, 0)
        return StoredTable(table_id, [entry_of(row) for row in rows]) if rows else None
