"""The store in PostgreSQL: what every store does, broken connections, what it refuses to open."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest
import pytest_asyncio

from tavolata.service import settings
from tavolata.service.ports import Conflict, StoreAway, StoreFull
from tavolata.service.store import postgres_line
from tavolata.service.store.opening import open_store
from tavolata.service.store.postgres import PostgresStore
from tavolata.service.store.postgres_bus import PostgresBus
from tavolata.service.store.revisions import NotOpened, UnknownSchema, postgres_place
from tests.service.house import until
from tests.service.postgres import Databases, execute
from tests.service.store_conformance import Log, Shelf, StoreConformance, entries_in


@pytest_asyncio.fixture
async def store(postgres: str) -> AsyncIterator[PostgresStore]:
    """An empty store."""
    made = await PostgresStore.open(postgres)
    yield made
    await made.close()


class TestPostgres(StoreConformance):
    """What every store does."""

    @pytest_asyncio.fixture
    async def shelf(self, postgres: str) -> AsyncIterator[Shelf]:
        """An empty store."""
        stores = [await PostgresStore.open(postgres)]

        async def again() -> PostgresStore:
            stores.append(await PostgresStore.open(postgres))
            return stores[-1]

        async def move_on(seconds: float) -> None:
            # The clock is the database's: what it is compared with is moved back.
            query = "UPDATE servers SET lease_until_us = lease_until_us - $1"
            await execute(postgres, query, round(seconds * 1e6))

        yield Shelf(stores[0], again, move_on)
        for store in stores:
            await store.close()


async def test_servers_that_append_at_the_same_time_lose_nothing_and_double_nothing(
    postgres: str,
) -> None:
    stores = [await PostgresStore.open(postgres) for _ in range(3)]
    logs = [Log(f"t{number}") for number in range(8)]
    await stores[0].write([log.made() for log in logs])
    done = {log.table_id: 0 for log in logs}

    async def append_on(store: PostgresStore, salt: str) -> None:
        """Append to all tables at a time, each time on what is there by then."""
        for turn in range(12):
            batch = []
            for log in logs:
                kept = await entries_in(store, log.table_id)
                mine = Log(log.table_id, kept[-1].chain, len(kept), salt=f"{salt}{turn}")
                batch += [mine.next(), mine.next()]
            for append, outcome in zip(batch, await store.write(batch), strict=True):
                assert outcome is None or isinstance(outcome, Conflict)
                done[append.table_id] += outcome is None

    await asyncio.gather(*(append_on(store, f"s{n}") for n, store in enumerate(stores)))
    for log in logs:
        kept = await entries_in(stores[0], log.table_id)
        assert [each.number for each in kept] == list(range(1, done[log.table_id] + 2))
    assert sum(done.values()) >= 8 * 12 * 2
    for store in stores:
        await store.close()


async def test_after_a_broken_connection_a_write_is_done_once(
    store: PostgresStore, postgres: str
) -> None:
    log = Log("t")
    await store.write([log.made()])
    # Two thirds of the batch are there already, as after a commit whose answer was lost.
    batch = [log.next(request_id=f"r{number}") for number in range(3)]
    before = await PostgresStore.open(postgres)
    assert await before.write(batch[:2]) == [None, None]
    await before.close()
    assert await store.write(batch) == [None] * 3
    assert await store.write(batch) == [None] * 3
    assert await entries_in(store, "t") == log.kept
    # What another server has put there instead is a conflict.
    fork = log.fork()
    await store.write([log.next()])
    assert isinstance((await store.write([fork.next()]))[0], Conflict)


async def test_connections_that_the_database_ends_are_made_anew(
    store: PostgresStore, postgres: str
) -> None:
    log = Log("t")
    await store.write([log.made()])
    for _ in range(3):
        end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> $1 AND"
        connection: Any = await asyncpg.connect(postgres)
        mine = connection.get_server_pid()
        ended = await connection.fetch(f"{end} datname = current_database()", mine)
        await connection.close()
        assert len(ended) >= 2
        assert await store.write([log.next()]) == [None]
        assert await entries_in(store, "t") == log.kept


async def test_a_database_that_stays_away_leaves_the_outcome_open_and_may_come_back(
    databases: Databases, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = await databases.fresh()
    store, log = await PostgresStore.open(own), Log("t")
    await store.write([log.made()])
    monkeypatch.setattr(postgres_line, "AWAY_S", 0.2)
    name = own.partition("?")[0].rpartition("/")[2]
    other = databases.named("postgres")
    await execute(other, f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
    await execute(
        other, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1", name
    )
    append = log.next()
    outcomes = await store.write([append, Log("u").made()])
    assert [type(each) for each in outcomes] == [StoreAway, StoreAway]
    with pytest.raises(StoreAway):
        await store.load("t")
    await execute(other, f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
    assert await store.write([append]) == [None]
    assert await entries_in(store, "t") == log.kept
    await store.close()


async def test_a_session_is_durable_though_the_database_is_set_not_to_be(
    databases: Databases,
) -> None:
    own = await databases.fresh()
    name = own.partition("?")[0].rpartition("/")[2]
    await execute(own, f"ALTER DATABASE {name} SET synchronous_commit = off")
    store = await PostgresStore.open(own)
    for line in (store._writing, store._reading):
        assert await line.use(lambda c: c.fetchval("SHOW synchronous_commit")) == "on"
    await store.close()


async def test_a_database_without_our_tables_or_with_newer_ones_is_refused(
    databases: Databases,
) -> None:
    with pytest.raises(UnknownSchema, match="tavolata migrate --store"):
        await PostgresStore.open(await databases.empty())
    own = await databases.fresh()
    await execute(own, "UPDATE alembic_version SET version_num = '0099'")
    with pytest.raises(UnknownSchema, match="schema 0099, which this program doesn't know"):
        await PostgresStore.open(own)
    await execute(own, "UPDATE alembic_version SET version_num = '0001'")
    with pytest.raises(UnknownSchema, match="bring it up to date with `tavolata migrate"):
        await PostgresStore.open(own)


@pytest.mark.parametrize(
    "dsn",
    [
        "postgresql://u:secret@127.0.0.1:1/x",
        "postgresql:///x?host=/nowhere&password=secret",
        "postgresql://u:secret@127.0.0.1:port/x",
    ],
)
async def test_a_database_that_is_not_there_is_refused_without_its_password(dsn: str) -> None:
    with pytest.raises(NotOpened, match="can't be opened") as refused:
        await PostgresStore.open(dsn)
    assert "secret" not in str(refused.value)
    assert "secret" not in postgres_place(dsn)


async def test_hints_reach_every_server_together_and_a_broken_bus_mends_itself(
    postgres: str,
) -> None:
    first, second = PostgresBus(postgres), PostgresBus(postgres)
    heard: list[tuple[str, int]] = []
    second.subscribe(lambda table_id, number: heard.append((table_id, number)))
    for bus in (first, second):
        await asyncio.wait_for(bus.connected.wait(), 20)
    payloads: list[str] = []
    listener: Any = await asyncpg.connect(postgres)
    await listener.add_listener("tavolata", lambda *said: payloads.append(said[3]))
    names = [f"table-{number:020}" for number in range(600)]
    for number in (1, 2, 3):
        for name in names:
            first.announce(name, number)

    async def all_heard() -> bool:
        return {(name, 3) for name in names} <= set(heard)

    await until(all_heard)
    assert len(payloads) < 10  # 600 tables: three messages are enough
    await execute(postgres, "SELECT pg_notify('tavolata', 'nonsense a:b :: x:-1')")
    ended = await execute(
        postgres,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE application_name = 'tavolata bus' AND datname = current_database()",
    )
    assert len(ended) == 2

    async def heard_again() -> bool:
        first.announce("late", 7)
        return ("late", 7) in heard

    await until(heard_again)
    await listener.close()
    for bus in (first, second):
        await bus.close()


async def test_a_claim_whose_answer_is_lost_is_not_asked_for_again(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = Log("t")
    await store.write([log.made(), log.started()])
    assert await store.renew("first", 30)
    fetch = asyncpg.pool.PoolConnectionProxy.fetch

    async def lost(connection: Any, query: str, *values: object) -> Any:
        await fetch(connection, query, *values)
        connection.terminate()
        raise asyncpg.ConnectionDoesNotExistError("connection was closed in the middle") from None

    monkeypatch.setattr(asyncpg.pool.PoolConnectionProxy, "fetch", lost)
    # Asked again it would seem that there was nothing, and nobody would act for the table.
    with pytest.raises(StoreAway, match="closed in the middle"):
        await store.claim("first", 10)
    monkeypatch.undo()
    assert await store.renew("second", 30)
    await store.release("first")
    assert [claim.table_id for claim in await store.claim("second", 10)] == ["t"]


async def test_a_database_without_room_refuses_the_write_and_the_next_one_can_succeed(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = Log("t")
    await store.write([log.made()])
    # There is no telling a database how much room it has: the error is raised by a statement of
    # its own, in the place of ours.
    full = "DO $$ BEGIN RAISE EXCEPTION 'no space left on device' USING ERRCODE = '53100'; END $$"
    append = log.next()
    with monkeypatch.context() as patched:
        patched.setattr("tavolata.service.store.postgres.APPEND", full)
        patched.setattr("tavolata.service.store.postgres._columns", lambda runs: [])
        outcomes = await store.write([append])
    assert [type(each) for each in outcomes] == [StoreFull]
    assert await store.write([append]) == [None]


async def test_without_its_package_the_store_is_refused_with_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in list(sys.modules):
        if name.startswith("tavolata.service.store.postgres"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "asyncpg", None)
    chosen = settings.load(None, store="postgresql://127.0.0.1/x")
    with pytest.raises(NotOpened, match=r"asyncpg.*pip install 'tavolata\[postgres\]'"):
        await open_store(chosen)
