"""Table logs in one SQLite file: one connection writes, in a thread of its own; one reads."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import apsw

from tavolata.service.ports import (
    Append,
    Conflict,
    Entry,
    StoredTable,
    StoreError,
    StoreFull,
    StoreUnavailable,
)
from tavolata.service.store import schema

_COLUMNS = (
    "table_id, number, time_us, kind, slot, turn, action, maker, request_id, scope, digest, body"
)
_ROW = "(" + ", ".join("?" * 12) + ")"
# Every row of its own statement gives up and takes back the GIL; few statement sizes, so that they
# stay prepared.
_SIZES = (64, 32, 16, 8, 4, 2, 1)
_INSERTS = {
    size: f"INSERT INTO entries ({_COLUMNS}) VALUES {', '.join([_ROW] * size)}"  # noqa: S608
    for size in _SIZES
}

Value = TypeVar("Value")


class FileInUse(Exception):
    """Another server has the file."""


class SqliteStore:
    """A Store in a file. FileInUse if a server runs on it, UnknownSchema if it is no store of ours
    that can be read, OSError if it can't be opened."""

    def __init__(self, path: Path) -> None:
        # Made here, as it holds the seeds of matches in progress: they are for its owner alone.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        self._lock = _lock(path)
        self._last: dict[str, int] = {}
        try:
            self._writer = apsw.Connection(str(path))
            self._writer.set_busy_timeout(5000)
            schema.prepare(self._writer, str(path))
            self._reader = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
            self._reader.set_busy_timeout(5000)
        except apsw.Error as error:
            os.close(self._lock)
            raise schema.UnknownSchema(f"{path} can't be opened: {error}") from error
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
        try:
            outcomes = self._numbers(batch)
            fitting = [append for append, out in zip(batch, outcomes, strict=True) if out is None]
            try:
                self._transaction(fitting)
            except apsw.ConstraintError:
                # A creation id or request id that exists: rare, so find it by doing one at a time.
                return self._one_by_one(batch)
        except apsw.FullError as error:
            self._last.clear()
            return [StoreFull(str(error))] * len(batch)
        except apsw.Error as error:
            self._last.clear()
            return [StoreUnavailable(str(error))] * len(batch)
        return outcomes

    def _one_by_one(self, batch: Sequence[Append]) -> list[StoreError | None]:
        self._last.clear()
        outcomes: list[StoreError | None] = []
        for append in batch:
            outcome = self._numbers([append])[0]
            if outcome is None:
                try:
                    self._transaction([append])
                except apsw.ConstraintError as error:
                    self._last.pop(append.table_id, None)
                    outcome = Conflict(str(error))
            outcomes.append(outcome)
        return outcomes

    def _numbers(self, batch: Sequence[Append]) -> list[StoreError | None]:
        """Compare every entry's number with the log's, counting those before it in the batch."""
        outcomes: list[StoreError | None] = []
        for append in batch:
            table_id, number = append.table_id, append.entry.number
            last = self._last.get(table_id)
            if last is None:
                last = self._read_last(table_id)
            if number == last + 1:
                self._last[table_id] = number
                outcomes.append(None)
            else:
                self._last[table_id] = last
                outcomes.append(Conflict(f"entry {number} of {table_id}: the next is {last + 1}"))
        return outcomes

    def _read_last(self, table_id: str) -> int:
        query = "SELECT coalesce(max(number), 0) FROM entries WHERE table_id = ?"
        return int(self._writer.execute(query, (table_id,)).fetchone()[0])  # type: ignore[index]

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
        at = 0
        while at < len(batch):
            size = next(size for size in _SIZES if size <= len(batch) - at)
            values = [value for append in batch[at : at + size] for value in _row(append)]
            self._writer.execute(_INSERTS[size], values)
            at += size

    def _summarize(self, append: Append) -> None:
        summary, entry = append.summary, append.entry
        assert summary is not None  # noqa: S101
        if entry.number == 1:
            self._writer.execute(
                "INSERT INTO tables (table_id, state, created_us, expires_us, creation_id)"
                " VALUES (?, ?, ?, ?, ?)",
                (
                    append.table_id,
                    summary.state,
                    entry.time_us,
                    summary.expires_us,
                    summary.creation_id,
                ),
            )
        else:
            self._writer.execute(
                "UPDATE tables SET state = ?, expires_us = ? WHERE table_id = ?",
                (summary.state, summary.expires_us, append.table_id),
            )

    async def remove_expired(self, now_us: int) -> list[str]:
        """Remove up to 100 of the tables whose time has come; see Store."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._writing, self._remove_expired, now_us)

    def _remove_expired(self, now_us: int) -> list[str]:
        query = "SELECT table_id FROM tables WHERE expires_us > 0 AND expires_us <= ? LIMIT 100"
        with self._writer:
            gone = [str(row[0]) for row in self._writer.execute(query, (now_us,)).fetchall()]
            for table_id in gone:
                self._writer.execute("DELETE FROM entries WHERE table_id = ?", (table_id,))
                self._writer.execute("DELETE FROM tables WHERE table_id = ?", (table_id,))
                self._last.pop(table_id, None)
        return gone

    # -- reading ----------------------------------------------------------------------------------

    async def load(self, table_id: str) -> StoredTable | None:
        """A table with all its entries, or None."""

        def rows() -> list[tuple[object, ...]]:
            query = f"SELECT {_COLUMNS} FROM entries WHERE table_id = ? ORDER BY number"  # noqa: S608
            return self._reader.execute(query, (table_id,)).fetchall()

        found = await self._read(rows)
        return StoredTable(table_id, [_entry(row) for row in found]) if found else None

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


def _row(append: Append) -> tuple[object, ...]:
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
    )


def _entry(row: tuple[object, ...]) -> Entry:
    fields: list[Any] = list(row[1:])
    if fields[-1] is not None:
        fields[-1] = json.loads(fields[-1])
    return Entry(*fields)


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
