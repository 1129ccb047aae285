"""The store in SQLite: compare-and-set, one transaction for many, what it refuses to open."""

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
from tavolata.service.ports import Append, Conflict, Entry, StoreError, StoreFull, Summary
from tavolata.service.store.schema import UnknownSchema
from tavolata.service.store.sqlite import FileInUse, SqliteStore


@pytest_asyncio.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    """An empty store."""
    made = SqliteStore(tmp_path / "tables.db")
    yield made
    await made.close()


def entry(number: int, **fields: object) -> Entry:
    """An entry that says little."""
    return Entry(number, 1_000_000 + number, "played", 1, 2, 3, **fields)  # type: ignore[arg-type]


def made(table_id: str, creation_id: str, expires_us: int = 0) -> Append:
    """The append that makes a table."""
    return Append(table_id, entry(1), Summary(1, expires_us, creation_id))


async def test_what_was_written_is_read_back_as_it_was(store: SqliteStore) -> None:
    rich = entry(
        2, maker=1, request_id="r", scope=4, digest=b"\x00\xff", body={"name": "Zoë", "n": [1, 2]}
    )
    assert await store.write([made("t", "c"), Append("t", rich)]) == [None, None]
    stored = await store.load("t")
    assert stored is not None
    assert stored.entries == [entry(1), rich]
    assert await store.load("nothing") is None
    assert await store.find_creation("c") == "t"
    assert await store.find_creation("d") is None


async def test_only_the_next_number_is_taken_and_the_rest_of_the_batch_stays(
    store: SqliteStore,
) -> None:
    await store.write([made("a", "1"), made("b", "2")])
    outcomes = await store.write(
        [
            Append("a", entry(2)),
            Append("b", entry(3)),  # leaves a gap
            Append("a", entry(3)),
            Append("a", entry(3)),  # is taken
            Append("b", entry(2)),
            Append("c", entry(2)),  # begins in the middle
        ]
    )
    assert [type(each) for each in outcomes] == [
        type(None), Conflict, type(None), Conflict, type(None), Conflict,
    ]  # fmt: skip
    for table_id, count in (("a", 3), ("b", 2)):
        stored = await store.load(table_id)
        assert stored is not None
        assert [each.number for each in stored.entries] == list(range(1, count + 1))
    assert await store.load("c") is None


async def test_a_creation_id_or_request_id_is_taken_once(store: SqliteStore) -> None:
    outcomes = await store.write([made("a", "same"), made("b", "same"), made("c", "other")])
    assert [type(each) for each in outcomes] == [type(None), Conflict, type(None)]
    assert await store.load("b") is None
    outcomes = await store.write(
        [
            Append("a", entry(2, request_id="r")),
            Append("a", entry(3, request_id="r")),
            Append("c", entry(2, request_id="r")),
        ]
    )
    assert [type(each) for each in outcomes] == [type(None), Conflict, type(None)]


async def test_batches_of_every_size_are_written_whole(store: SqliteStore) -> None:
    await store.write([made("t", "c")])
    number = 1
    for size in (1, 2, 3, 5, 63, 64, 65, 130):
        batch = [Append("t", entry(number + n)) for n in range(1, size + 1)]
        assert await store.write(batch) == [None] * size
        number += size
    stored = await store.load("t")
    assert stored is not None
    assert [each.number for each in stored.entries] == list(range(1, number + 1))


async def test_summaries_change_with_the_entries_and_expired_tables_are_removed(
    store: SqliteStore,
) -> None:
    await store.write([made("a", "1", 50), made("b", "2", 500), made("c", "3")])
    assert await store.tables_in(1) == ["a", "b", "c"]
    await store.write([Append("b", entry(2), Summary(2, 0))])
    assert await store.tables_in(2) == ["b"]
    assert await store.remove_expired(100) == ["a"]
    assert await store.remove_expired(10**9) == []
    assert await store.load("a") is None
    assert (await store.write([made("a", "1")])) == [None]


async def test_what_is_appended_together_shares_a_transaction(store: SqliteStore) -> None:
    failures: list[StoreError] = []
    committer = Committer(store, SystemClock(), failures.append)
    outcomes: list[StoreError | None] = []
    for number in range(200):
        committer.submit(made(f"t{number}", f"c{number}"), outcomes.append)
    await committer.drain()
    assert outcomes == [None] * 200
    assert committer.appends == 200
    assert committer.batches < 10
    assert not failures


async def test_a_full_disk_refuses_the_write_and_the_next_one_can_succeed(
    tmp_path: Path,
) -> None:
    store = SqliteStore(tmp_path / "tables.db")
    await store.write([made("t", "c")])
    writer = store._writer
    writer.pragma("max_page_count", writer.pragma("page_count"))
    big = Append("t", entry(2, body={"text": "x" * 100_000}))
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
    connection.pragma("user_version", 99)
    connection.close()
    with pytest.raises(UnknownSchema, match="version 99"):
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
