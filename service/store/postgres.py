"""Table logs in PostgreSQL, for any number of servers.

A batch is one statement, and a transaction of its own: an entry goes in if the log's last entry is
the one that it follows, and the primary key decides between servers that append at the same time.
When the connection breaks and the outcome is unknown, the batch is sent again: what is there
already is known by its running hash.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import asyncpg

from tavolata.service.ports import (
    FIRST_EPOCH,
    NO_EPOCH,
    Append,
    Claim,
    Conflict,
    Fenced,
    StoreAway,
    StoredTable,
    StoreError,
    StoreFull,
    StoreUnavailable,
    Wanted,
)
from tavolata.service.store import probing, revisions
from tavolata.service.store.postgres_board import PostgresBoard
from tavolata.service.store.postgres_line import Line
from tavolata.service.store.postgres_runs import Run, outcomes_of, runs_of
from tavolata.service.store.postgres_sql import (
    APPEND,
    APPEND_AND_SUMMARIZE,
    CLAIM,
    LAST_NUMBERS,
    LISTED,
    LOAD,
    RELEASE,
    REMOVE_EXPIRED,
    RENEW,
)
from tavolata.service.store.revisions import NotOpened
from tavolata.service.store.rows import entry_of, row_of

READERS = 4
VERSION_MIN = 15
_FIRST = ((1 << 63) - 1, "")  # before every table in a list


class PostgresStore:
    """A Store in a database; `open` makes it."""

    shared = True

    def __init__(self, writing: Line, reading: Line) -> None:
        self._writing = writing
        self._reading = reading

    @classmethod
    async def open(cls, dsn: str) -> PostgresStore:
        """Connect. NotOpened if that fails, UnknownSchema if the database has other tables than
        this program's."""
        reading = await Line.open(dsn, READERS)
        try:
            await reading.use(lambda connection: _check(connection, dsn))
            return cls(await Line.open(dsn, 1), reading)
        except StoreAway as error:
            await reading.close()
            raise NotOpened(str(error)) from error
        except BaseException:
            await reading.close()
            raise

    # -- writing ----------------------------------------------------------------------------------

    async def write(self, batch: Sequence[Append]) -> Sequence[StoreError | None]:
        """Append all, in one transaction unless some conflict; see Store."""
        runs = runs_of(batch)
        if not runs:
            return []
        try:
            await self._writing.use(lambda connection: self._put(connection, runs))
        except asyncpg.DiskFullError as error:
            return outcomes_of(batch, runs, StoreFull(str(error)))
        except StoreAway as error:
            return outcomes_of(batch, runs, error)
        except asyncpg.PostgresError as error:
            return outcomes_of(batch, runs, StoreUnavailable(str(error)))
        return outcomes_of(batch, runs, None)

    async def _put(self, connection: Any, runs: Sequence[Run]) -> None:
        """Append what fits of these runs, each of another table, and settle all of them."""
        try:
            rows = await _append(connection, runs)
        except asyncpg.UniqueViolationError:
            # Another server was faster, or a request id or creation id exists: rare, so find out
            # which by halves.
            if len(runs) > 1:
                half = len(runs) // 2
                await self._put(connection, runs[:half])
                await self._put(connection, runs[half:])
                return
            rows = []
        put = {str(row[0]) for row in rows}
        for run in runs:
            if run.table_id in put:
                run.settle(None)
            elif len(run.appends) > 1:
                await self._put_singly(connection, run)
            else:
                run.settle(await _why_not(connection, run.appends[0]))

    async def _put_singly(self, connection: Any, run: Run) -> None:
        for single in run.singles():
            await self._put(connection, [single])
            if single.outcomes[0] is not None:
                return  # the rest was built on it

    async def remove_expired(self, now_us: int) -> list[str]:
        """Remove up to 100 of the tables whose time has come; see Store."""
        rows = await self._read(lambda connection: connection.fetch(REMOVE_EXPIRED, now_us))
        return [str(row[0]) for row in rows]

    async def probe(self, probe_id: str, time_us: int) -> None:
        """Write durably what takes the room of several entries; see Store."""
        values = (probe_id, time_us, probing.filling())
        try:
            await self._reading.use(lambda line: line.execute(probing.POSTGRES, *values))
        except asyncpg.DiskFullError as error:
            raise StoreFull(str(error)) from error
        except asyncpg.PostgresError as error:
            raise StoreUnavailable(str(error)) from error

    # -- who acts ---------------------------------------------------------------------------------

    async def renew(self, server_id: str, lease_s: float) -> bool:
        """Let a server's lease run from now, by the database's clock; see Store."""
        lease_us = round(lease_s * 1e6)
        row = await self._read(lambda connection: connection.fetchrow(RENEW, server_id, lease_us))
        return row is not None

    async def claim(
        self,
        server_id: str,
        limit: int,
        *,
        among: Sequence[str] | None = None,
        without: Sequence[str] = (),
    ) -> list[Claim]:
        """Give the server tables that need one; see Store."""
        rows = await self._read(
            lambda connection: connection.fetch(CLAIM, server_id, limit, among, list(without)),
            again=False,  # what was claimed wouldn't be given out a second time
        )
        return [Claim(str(row[0]), row[1], row[1] == 1) for row in rows]

    async def release(self, server_id: str, table_ids: Sequence[str] | None = None) -> None:
        """Give claims back; see Store."""
        await self._read(lambda connection: connection.execute(RELEASE, server_id, table_ids))
        if table_ids is None:
            query = "DELETE FROM servers WHERE server_id = $1"
            await self._read(lambda connection: connection.execute(query, server_id))

    # -- reading ----------------------------------------------------------------------------------

    async def load(self, table_id: str, after: int = 0) -> StoredTable | None:
        """A table with its entries after that number, or None."""
        if "\0" in table_id:
            return None  # the database has no such text
        rows = await self._read(lambda connection: connection.fetch(LOAD, table_id, after))
        if not rows:
            query = "SELECT 1 FROM tables WHERE table_id = $1"
            there = await self._read(lambda connection: connection.fetchrow(query, table_id))
            return None if there is None else StoredTable(table_id)
        return StoredTable(table_id, [entry_of(row) for row in rows])

    async def last_numbers(self, table_ids: Sequence[str]) -> dict[str, int]:
        """The number of the last entry of each table."""
        wanted = [table_id for table_id in table_ids if "\0" not in table_id]
        rows = await self._read(lambda connection: connection.fetch(LAST_NUMBERS, wanted))
        return {str(row[0]): int(row[1]) for row in rows}

    async def find_creation(self, creation_id: str) -> str | None:
        """The table made under this request id, or None."""
        query = "SELECT table_id FROM tables WHERE creation_id = $1"
        row = await self._read(lambda connection: connection.fetchrow(query, creation_id))
        return None if row is None else str(row[0])

    async def tables_in(self, state: int) -> list[str]:
        """Ids of the tables in a state, oldest first."""
        query = "SELECT table_id FROM tables WHERE state = $1 ORDER BY created_us"
        rows = await self._read(lambda connection: connection.fetch(query, state))
        return [str(row[0]) for row in rows]

    async def listed(self, wanted: Wanted) -> list[tuple[int, str]]:
        """Places of listed tables, the newest first; see Store."""
        before = wanted.before or _FIRST
        if "\0" in wanted.game_id or "\0" in before[1]:
            return []  # the database has no such text
        asked = (wanted.game_id, list(wanted.states), *before, wanted.limit)
        rows = await self._read(lambda connection: connection.fetch(LISTED, *asked))
        return [(int(row[0]), str(row[1])) for row in rows]

    async def _read(self, act: Any, *, again: bool = True) -> Any:
        try:
            return await self._reading.use(act, again=again)
        except asyncpg.PostgresError as error:
            raise StoreUnavailable(str(error)) from error

    def board(self) -> PostgresBoard:
        """Where the servers of this database tell each other of remote players."""
        return PostgresBoard(self._read)

    async def close(self) -> None:
        """Let go of the connections."""
        await self._writing.close()
        await self._reading.close()


async def _check(connection: Any, dsn: str) -> None:
    """NotOpened or UnknownSchema unless this is a database that can be used."""
    where = revisions.postgres_place(dsn)
    version = connection.get_server_version()
    if version.major < VERSION_MIN:
        raise NotOpened(f"{where} is PostgreSQL {version.major}; needed is {VERSION_MIN} or newer")
    revision = None
    if await connection.fetchval("SELECT to_regclass($1)", revisions.VERSION_TABLE) is not None:
        query = f"SELECT version_num FROM {revisions.VERSION_TABLE}"  # noqa: S608
        revision = await connection.fetchval(query)
    revisions.check(revision, where, f"--store {where}")


async def _append(connection: Any, runs: Sequence[Run]) -> list[Any]:
    """Send what these runs hold; the tables of those that fitted."""
    columns = _columns(runs)
    summaries = [run.summary(FIRST_EPOCH) for run in runs if run.has_summary]
    if not summaries:
        return list(await connection.fetch(APPEND, *columns))
    columns += zip(*summaries, strict=True)
    return list(await connection.fetch(APPEND_AND_SUMMARIZE, *columns))


def _columns(runs: Sequence[Run]) -> list[Sequence[object]]:
    """The entries of runs, and their heads, column by column."""
    rows = [row_of(append) for run in runs for append in run.appends]
    heads = [(run.table_id, run.head.entry.number, run.head.previous, run.epoch) for run in runs]
    return [*zip(*rows, strict=True), *zip(*heads, strict=True)]


async def _why_not(connection: Any, append: Append) -> StoreError | None:
    """Why a single append didn't go in; None if it had gone in before."""
    table_id, entry = append.table_id, append.entry
    query = "SELECT chain FROM entries WHERE table_id = $1 AND number = $2"
    chain = await connection.fetchval(query, table_id, entry.number)
    if chain and bytes(chain) == entry.chain:
        return None
    if append.epoch != NO_EPOCH:
        query = "SELECT epoch FROM work WHERE table_id = $1"
        if await connection.fetchval(query, table_id) != append.epoch:
            return Fenced(f"{table_id} is claimed under another epoch than {append.epoch}")
    return Conflict(f"entry {entry.number} of {table_id} does not follow the log's last")
