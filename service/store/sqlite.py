"""Table logs in one SQLite file: one connection writes, in a thread of its own; one reads."""

from __future__ import annotations

import asyncio
import fcntl
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import apsw

from tavolata.service.clock import SystemClock
from tavolata.service.ports import (
    LISTED_LATE,
    Append,
    Claim,
    Clock,
    Conflict,
    StoreAway,
    StoredTable,
    StoreError,
    StoreFull,
    StoreUnavailable,
    Wanted,
)
from tavolata.service.store import sqlite_file, sqlite_work
from tavolata.service.store.probing import probe_sqlite
from tavolata.service.store.revisions import UnknownSchema
from tavolata.service.store.rows import COLUMNS, entry_of, row_of

_ROW = "(" + ", ".join("?" * 13) + ")"
# Every row of its own statement gives up and takes back the GIL; few statement sizes, so that they
# stay prepared.
LAST_MAX = 8_192  # tables whose last entries are remembered, a few hundred bytes each
_SIZES = (64, 32, 16, 8, 4, 2, 1)
_INSERTS = {
    size: f"INSERT INTO entries ({COLUMNS}) VALUES {', '.join([_ROW] * size)}"  # noqa: S608
    for size in _SIZES
}

Value = TypeVar("Value")


class FileInUse(Exception):
    """Another server has the file."""


class SqliteStore:
    """A Store in a file. FileInUse if a server runs on it, UnknownSchema if it is no store of ours
    that can be read, OSError if it can't be opened."""

    shared = False  # the lock keeps every other server away

    def __init__(self, path: Path, clock: Clock | None = None) -> None:
        """clock: what leases run by; the machine's if it is None."""
        # Made here, as it holds the seeds of matches in progress: they are for its owner alone.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        self._lock = _lock(path)
        self._clock = clock or SystemClock()
        self._last: dict[str, tuple[int, bytes]] = {}
        try:
            self._writer = apsw.Connection(str(path))
            self._writer.set_busy_timeout(5000)
            sqlite_file.prepare(self._writer, str(path))
            sqlite_work.forget_servers(self._writer)
            self._reader = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
            self._reader.set_busy_timeout(5000)
        except apsw.Error as error:
            os.close(self._lock)
            raise UnknownSchema(f"{path} can't be opened: {error}") from error
        except BaseException:
            os.close(self._lock)
            raise
        self._writing = ThreadPoolExecutor(1, "store-write")
        self._reading = ThreadPoolExecutor(1, "store-read")

    # -- writing: everything here runs in the writer's thread -------------------------------------

    async def write(self, batch: Sequence[Append]) -> Sequence[StoreError | None]:
        """Append all in one transaction; see Store."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._writing, self._write, batch)

    def _write(self, batch: Sequence[Append]) -> list[StoreError | None]:
        if len(self._last) > LAST_MAX:
            self._last.clear()  # they are read again
        try:
            outcomes = self._followed(batch, set())
            fitting = [append for append, out in zip(batch, outcomes, strict=True) if out is None]
            try:
                self._transaction(fitting)
            except apsw.ConstraintError:
                # A creation id or request id that exists: rare, so find it by doing one at a time.
                return self._one_by_one(batch)
        except apsw.Error as error:
            self._last.clear()
            return [_store_error(error)] * len(batch)
        return outcomes

    def _one_by_one(self, batch: Sequence[Append]) -> list[StoreError | None]:
        self._last.clear()
        outcomes: list[StoreError | None] = []
        failed: set[str] = set()
        for append in batch:
            outcome = self._followed([append], failed)[0]
            if outcome is None:
                try:
                    self._transaction([append])
                except apsw.ConstraintError as error:
                    self._last.pop(append.table_id, None)
                    failed.add(append.table_id)
                    outcome = Conflict(str(error))
            outcomes.append(outcome)
        return outcomes

    def _followed(self, batch: Sequence[Append], failed: set[str]) -> list[StoreError | None]:
        """Compare what every entry follows with the log's end, counting those before it in the
        batch; those of tables in `failed`, which grows, have been built on one that conflicts."""
        outcomes: list[StoreError | None] = []
        for append in batch:
            table_id, entry = append.table_id, append.entry
            last = self._last.get(table_id) or self._read_last(table_id)
            self._last[table_id] = last
            outcome: StoreError | None = None
            if table_id in failed or (entry.number - 1, append.previous) != last:
                outcome = Conflict(f"entry {entry.number} of {table_id}: the last is {last[0]}")
            else:
                outcome = sqlite_work.fence(self._writer, append)
            if outcome is None:
                self._last[table_id] = (entry.number, entry.chain)
            else:
                failed.add(table_id)
            outcomes.append(outcome)
        return outcomes

    def _read_last(self, table_id: str) -> tuple[int, bytes]:
        query = "SELECT number, chain FROM entries WHERE table_id = ? ORDER BY number DESC LIMIT 1"
        row = self._writer.execute(query, (table_id,)).fetchone()
        return (0, b"") if row is None else (int(row[0]), bytes(row[1] or b""))

    def _transaction(self, batch: Sequence[Append]) -> None:
        if not batch:
            return
        self._writer.execute("BEGIN IMMEDIATE")
        try:
            self._insert(batch)
            self._writer.execute("COMMIT")
        except BaseException:
            if self._writer.in_transaction:
                self._writer.execute("ROLLBACK")
            raise

    def _insert(self, batch: Sequence[Append]) -> None:
        for append in batch:
            if append.summary is not None:
                self._summarize(append)
                sqlite_work.follow(self._writer, append)
        at = 0
        while at < len(batch):
            size = next(size for size in _SIZES if size <= len(batch) - at)
            values = [value for append in batch[at : at + size] for value in row_of(append)]
            self._writer.execute(_INSERTS[size], values)
            at += size

    def _summarize(self, append: Append) -> None:
        summary, entry = append.summary, append.entry
        assert summary is not None  # noqa: S101
        if entry.number == 1:
            self._writer.execute(
                "INSERT INTO tables"
                " (table_id, state, created_us, expires_us, creation_id, listing, game_id)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    append.table_id,
                    summary.state,
                    entry.time_us,
                    summary.expires_us,
                    summary.creation_id,
                    summary.listing,
                    summary.game_id,
                ),
            )
        else:
            self._writer.execute(
                "UPDATE tables SET state = ?, expires_us = ? WHERE table_id = ?",
                (summary.state, summary.expires_us, append.table_id),
            )

    async def remove_expired(self, now_us: int) -> list[str]:
        """Remove up to 100 of the tables whose time has come; see Store."""
        return await self._change(lambda: self._remove_expired(now_us))

    def _remove_expired(self, now_us: int) -> list[str]:
        query = "SELECT table_id FROM tables WHERE expires_us > 0 AND expires_us <= ? LIMIT 100"
        gone = [str(row[0]) for row in self._writer.execute(query, (now_us,)).fetchall()]
        for table_id in gone:
            for name in ("entries", "work", "tables"):
                self._writer.execute(f"DELETE FROM {name} WHERE table_id = ?", (table_id,))  # noqa: S608
            self._last.pop(table_id, None)
        return gone

    async def probe(self, probe_id: str, time_us: int) -> None:
        """Write durably what takes the room of several entries; see Store."""
        loop = asyncio.get_running_loop()
        try:
            await loop.run_in_executor(self._writing, probe_sqlite, self._writer, probe_id, time_us)
        except apsw.Error as error:
            raise _store_error(error) from error

    # -- who acts: in the writer's thread, too ----------------------------------------------------

    async def renew(self, server_id: str, lease_s: float) -> bool:
        """Let a server's lease run from now; see Store."""
        now_us = self._clock.now_us()
        return await self._change(
            lambda: sqlite_work.renew(self._writer, server_id, now_us, round(lease_s * 1e6))
        )

    async def claim(
        self,
        server_id: str,
        limit: int,
        *,
        among: Sequence[str] | None = None,
        without: Sequence[str] = (),
    ) -> list[Claim]:
        """Give the server tables that need one; see Store."""
        now_us = self._clock.now_us()
        return await self._change(
            lambda: sqlite_work.claim(self._writer, server_id, now_us, limit, among, without)
        )

    async def release(self, server_id: str, table_ids: Sequence[str] | None = None) -> None:
        """Give claims back; see Store."""
        await self._change(lambda: sqlite_work.release(self._writer, server_id, table_ids))

    async def _change(self, change: Callable[[], Value]) -> Value:
        def transaction() -> Value:
            with self._writer:
                value = change()
            return value  # noqa: RET504 - a connection as context may swallow errors, says its type

        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._writing, transaction)
        except apsw.Error as error:
            raise StoreUnavailable(str(error)) from error

    # -- reading ----------------------------------------------------------------------------------

    async def load(self, table_id: str, after: int = 0) -> StoredTable | None:
        """A table with its entries after that number, or None."""

        def rows() -> list[tuple[object, ...]] | None:
            there = "SELECT 1 FROM tables WHERE table_id = ?"
            if self._reader.execute(there, (table_id,)).fetchone() is None:
                return None
            query = (
                f"SELECT {COLUMNS} FROM entries WHERE table_id = ? AND number > ? ORDER BY number"  # noqa: S608
            )
            return self._reader.execute(query, (table_id, after)).fetchall()

        found = await self._read(rows)
        return None if found is None else StoredTable(table_id, [entry_of(row) for row in found])

    async def last_numbers(self, table_ids: Sequence[str]) -> dict[str, int]:
        """The number of the last entry of each table."""
        query = "SELECT max(number) FROM entries WHERE table_id = ?"

        def numbers() -> dict[str, int]:
            rows = {each: self._reader.execute(query, (each,)).fetchone() for each in table_ids}
            return {each: int(row[0]) for each, row in rows.items() if row and row[0]}

        return await self._read(numbers)

    async def find_creation(self, creation_id: str) -> str | None:
        """The table made under this request id, or None."""
        query = "SELECT table_id FROM tables WHERE creation_id = ?"
        row = await self._read(lambda: self._reader.execute(query, (creation_id,)).fetchone())
        return None if row is None else str(row[0])

    async def tables_in(self, state: int) -> list[str]:
        """Ids of the tables in a state, oldest first."""
        query = "SELECT table_id FROM tables WHERE state = ? ORDER BY created_us"
        rows = await self._read(lambda: self._reader.execute(query, (state,)).fetchall())
        return [str(row[0]) for row in rows]

    async def listed(self, wanted: Wanted) -> list[tuple[int, str]]:
        """Places of listed tables, the newest first; see Store."""
        states = ", ".join(str(int(state)) for state in wanted.states)
        query = "SELECT created_us, table_id FROM tables WHERE listing > 0"
        bindings: list[int | str] = []
        if wanted.game_id:
            query += " AND game_id = ?"
            bindings.append(wanted.game_id)
        if states:
            query += f" AND (listing = {LISTED_LATE} OR state IN ({states}))"
        if wanted.before is not None:
            query += " AND (created_us, table_id) < (?, ?)"
            bindings += wanted.before
        query += " ORDER BY created_us DESC, table_id DESC LIMIT ?"
        bindings.append(wanted.limit)
        rows: list[Any] = await self._read(lambda: self._reader.execute(query, bindings).fetchall())
        return [(int(row[0]), str(row[1])) for row in rows]

    async def _read(self, query: Callable[[], Value]) -> Value:
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._reading, query)
        except apsw.Error as error:
            raise StoreUnavailable(str(error)) from error

    async def close(self) -> None:
        """Finish what was begun and close the file."""
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._writing, lambda: None)
        self._writing.shutdown()
        self._reading.shutdown()
        self._reader.close()
        self._writer.close()
        os.close(self._lock)


def _store_error(error: apsw.Error) -> StoreError:
    """What a write that failed means. The first two are found before anything is written."""
    if isinstance(error, apsw.FullError):
        return StoreFull(str(error))
    if isinstance(error, apsw.ReadOnlyError):
        return StoreAway(str(error))
    return StoreUnavailable(str(error))


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep servers away from a file, which is made if it isn't there. FileInUse if one has it."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    handle = _lock(path)
    try:
        yield
    finally:
        os.close(handle)


def _lock(path: Path) -> int:
    """A lock beside the file that the system lets go of when the process ends, however it ends."""
    beside = path.resolve().with_name(path.name + ".lock")
    handle = os.open(beside, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        holder = os.pread(handle, 32, 0).decode(errors="replace").strip()
        os.close(handle)
        raise FileInUse(
            f"{path} is in use by another server (process {holder or 'unknown'}); "
            "stop it first or name another file"
        ) from None
    os.ftruncate(handle, 0)
    os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
    return handle
