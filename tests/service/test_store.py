"""The store in SQLite: what every store does, and what it refuses to open."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import apsw
import pytest
import pytest_asyncio

from tavolata.service.clock import SystemClock
from tavolata.service.committer import Committer
from tavolata.service.ports import Append, Conflict, StoreAway, StoreError, StoreFull
from tavolata.service.store import sqlite
from tavolata.service.store.revisions import UnknownSchema
from tavolata.service.store.sqlite import FileInUse, SqliteStore
from tests.service.drawn_ports import DrawnClock
from tests.service.store_conformance import Log, Shelf, StoreConformance


@pytest_asyncio.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    """An empty store."""
    made = SqliteStore(tmp_path / "tables.db")
    yield made
    await made.close()


def made(table_id: str, creation_id: str) -> Append:
    """The append that makes a table."""
    return Log(table_id).made(creation_id)


class TestSqlite(StoreConformance):
    """What every store does."""

    @pytest_asyncio.fixture
    async def shelf(self, tmp_path: Path) -> AsyncIterator[Shelf]:
        """An empty store."""
        clock = DrawnClock()
        stores = [SqliteStore(tmp_path / "tables.db", clock)]

        async def again() -> SqliteStore:
            await stores.pop().close()
            stores.append(SqliteStore(tmp_path / "tables.db", clock))
            return stores[0]

        async def move_on(seconds: float) -> None:
            await clock.sleep(seconds)

        yield Shelf(stores[0], again, move_on)
        await stores[0].close()


async def test_the_ends_of_few_logs_are_remembered_and_those_of_all_are_known(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "LAST_MAX", 3)
    logs = [Log(f"table-{number}") for number in range(9)]
    for log in logs:
        assert await store.write([log.made(f"creation {log.table_id}")]) == [None]
    for _ in range(2):
        for log in logs:
            assert await store.write([log.next()]) == [None]
            assert len(store._last) <= 4
    stale = logs[0].fork()
    stale.number -= 1
    assert [type(each) for each in await store.write([stale.next()])] == [Conflict]


async def test_a_full_disk_refuses_the_write_and_the_next_one_can_succeed(
    tmp_path: Path,
) -> None:
    store = SqliteStore(tmp_path / "tables.db")
    log = Log("t")
    await store.write([log.made()])
    writer = store._writer
    writer.pragma("max_page_count", writer.pragma("page_count"))
    big = log.next(body={"text": "x" * 100_000})
    outcomes = await store.write([big, made("u", "d")])
    assert [type(each) for each in outcomes] == [StoreFull, StoreFull]
    stored = await store.load("t")
    assert stored is not None
    assert len(stored.entries) == 1
    writer.pragma("max_page_count", 1_000_000)
    assert await store.write([big]) == [None]
    await store.close()


async def test_after_a_failure_that_says_nothing_no_write_is_tried_again() -> None:
    class Broken:
        calls = 0

        async def write(self, batch: object) -> object:
            self.calls += 1
            raise OSError("input/output error")

    broken, failures = Broken(), list[StoreError]()
    committer = Committer(broken, SystemClock(), failures.append)  # type: ignore[arg-type]
    outcomes: list[StoreError | None] = []
    for number in range(3):
        committer.submit(made(f"t{number}", f"c{number}"), outcomes.append)
        await committer.drain()
    assert broken.calls == 1
    assert len(failures) == 1
    assert all(isinstance(each, StoreError) for each in outcomes)


async def test_a_second_store_on_the_same_file_is_refused(
    store: SqliteStore, tmp_path: Path
) -> None:
    with pytest.raises(FileInUse, match=r"in use by another server \(process \d+\)"):
        SqliteStore(tmp_path / "tables.db")


async def test_a_file_of_another_kind_or_version_is_refused_and_left_alone(tmp_path: Path) -> None:
    foreign = tmp_path / "foreign.db"
    connection = apsw.Connection(str(foreign))
    connection.execute("CREATE TABLE things (x)")
    connection.close()
    with pytest.raises(UnknownSchema, match="no store of tavolata"):
        SqliteStore(foreign)
    newer = tmp_path / "newer.db"
    await SqliteStore(newer).close()
    connection = apsw.Connection(str(newer))
    connection.execute("UPDATE alembic_version SET version_num = '0099'")
    connection.close()
    with pytest.raises(UnknownSchema, match=r"schema 0099, which this program doesn't know"):
        SqliteStore(newer)
    text = tmp_path / "text.db"
    text.write_text("this is no database at all, but a text of some length\n" * 20)
    with pytest.raises(UnknownSchema):
        SqliteStore(text)
    broken = tmp_path / "broken.db"
    await SqliteStore(broken).close()
    whole = broken.read_bytes()
    broken.write_bytes(whole[:100] + b"\xff" * (len(whole) - 100))
    with pytest.raises(UnknownSchema, match="can't be opened"):
        SqliteStore(broken)
    with pytest.raises(OSError, match="Is a directory"):
        SqliteStore(tmp_path)


async def test_the_files_are_for_their_owner_alone(store: SqliteStore, tmp_path: Path) -> None:
    await store.write([made("t", "c")])
    modes = {each.name: each.stat().st_mode & 0o777 for each in os.scandir(tmp_path)}
    assert set(modes) >= {"tables.db", "tables.db-wal", "tables.db.lock"}
    assert set(modes.values()) == {0o600}


async def test_a_file_is_durable_in_write_ahead_mode(store: SqliteStore) -> None:
    await asyncio.sleep(0)
    assert store._writer.pragma("journal_mode") == "wal"
    assert store._writer.pragma("synchronous") == 2  # FULL


async def test_a_probe_fails_where_an_entry_would_and_leaves_one_row(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "tables.db")
    for time_us in range(3):
        await store.probe("server", time_us)
    writer = store._writer
    assert writer.execute("SELECT probe_id FROM probes").fetchall() == [("server-2",)]
    writer.pragma("max_page_count", writer.pragma("page_count"))
    number = 0
    outcomes: list[StoreError | None] = []
    while not outcomes:  # entries until the file has no page left for one
        (outcome,) = await store.write([made(f"t{number}", f"c{number}")])
        outcomes += [outcome] if outcome is not None else []
        number += 1
    assert isinstance(outcomes[0], StoreFull)
    with pytest.raises(StoreFull):
        await store.probe("server", 4)
    writer.pragma("max_page_count", 1_000_000)
    await store.probe("server", 5)
    writer.pragma("query_only", True)
    with pytest.raises(StoreAway, match="readonly"):
        await store.probe("server", 6)
    (outcome,) = await store.write([made("u", "u")])
    assert isinstance(outcome, StoreAway)
    writer.pragma("query_only", False)
    assert await store.write([made("u", "u")]) == [None]
    await store.close()
