"""Schemas: what the migrations lead to, databases of an earlier program, `tavolata migrate`."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import apsw
import asyncpg
import pytest
from google.protobuf.duration_pb2 import Duration
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateIndex, CreateTable
from typer.testing import CliRunner

from tavolata.service import settings
from tavolata.service.cli.main import app
from tavolata.service.server import Server
from tavolata.service.store import schema
from tavolata.service.store.migrate import migrate_postgres, migrate_sqlite, script
from tavolata.service.store.revisions import HEAD, REVISIONS, UnknownSchema
from tavolata.service.store.sqlite import SqliteStore
from tavolata.v1.player_pb2 import AiPace
from tavolata.v1.table_pb2 import TableState
from tests.service.house import AI, CALLER, GREEDY, House, house_in, until
from tests.service.postgres import Databases

OLD_COLUMNS = (
    "table_id, number, time_us, kind, slot, turn, action, maker, request_id, scope, digest, body"
)
OLD_SUMMARIES = "table_id, state, created_us, expires_us, creation_id"
SLOW = AiPace(floor=Duration(nanos=20_000_000), jitter=Duration())
INDEX = "SELECT seqno, name FROM pragma_index_info(?)"
TABLES = ("tables", "entries", "work", "servers", "probes")


async def tavolata(*arguments: str) -> Any:
    """What the command says, run in a thread of its own as it has its own event loop."""
    return await asyncio.to_thread(CliRunner().invoke, app, list(arguments))


async def refused_at_start(**place: Any) -> str:
    """Why a server doesn't start."""
    with pytest.raises(UnknownSchema) as refused:
        await Server(settings.load(None, bind="127.0.0.1:0", **place)).start()
    return str(refused.value)


def sqlite_shape(path: Path) -> list[Any]:
    """Columns and indexes of a file, as SQLite tells them."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    told: list[Any] = [connection.pragma("application_id"), connection.pragma("user_version")]
    for name in (*TABLES, "alembic_version"):
        told.append(connection.execute(f"PRAGMA table_xinfo({name})").fetchall())
        indexes = connection.execute(f"PRAGMA index_list({name})").fetchall()
        told += [
            (name, *index[1:], *connection.execute(INDEX, (index[1],)).fetchall())
            for index in indexes
        ]
    kinds = "SELECT name, wr, strict FROM pragma_table_list WHERE schema = 'main' ORDER BY name"
    told.append(connection.execute(kinds).fetchall())
    connection.close()
    return sorted(told, key=str)


async def postgres_shape(dsn: str) -> list[Any]:
    """Columns and indexes of a database, as PostgreSQL tells them."""
    connection: Any = await asyncpg.connect(dsn)
    columns = await connection.fetch(
        "SELECT table_name, column_name, data_type, is_nullable, column_default"
        " FROM information_schema.columns WHERE table_schema = 'public' AND table_name = ANY($1)"
        " ORDER BY table_name, ordinal_position",
        list(TABLES),
    )
    indexes = await connection.fetch(
        "SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' AND tablename = ANY($1)"
        " ORDER BY indexname",
        list(TABLES),
    )
    await connection.close()
    return [tuple(row) for row in (*columns, *indexes)]


def test_migrations_lead_a_sqlite_file_to_the_schema_of_a_new_one(tmp_path: Path) -> None:
    new, stepwise = tmp_path / "new.db", tmp_path / "stepwise.db"
    SqliteStore(new)
    before: str | None = None
    for revision in REVISIONS:
        assert migrate_sqlite(stepwise, revision) == before
        before = revision
    assert sqlite_shape(stepwise) == sqlite_shape(new)


async def test_migrations_lead_a_postgresql_database_to_the_schema(databases: Databases) -> None:
    described, migrated = await databases.empty(), await databases.empty()
    connection: Any = await asyncpg.connect(described)
    dialect = postgresql.dialect()  # type: ignore[no-untyped-call]
    for table in schema.metadata.sorted_tables:
        await connection.execute(str(CreateTable(table).compile(dialect=dialect)))
        for index in table.indexes:
            await connection.execute(str(CreateIndex(index).compile(dialect=dialect)))
    await connection.close()
    connection = await asyncpg.connect(migrated)
    before: str | None = None
    for revision in REVISIONS:
        assert await migrate_postgres(connection, "here", revision) == before
        before = revision
    await connection.close()
    assert await postgres_shape(migrated) == await postgres_shape(described)


def first_revision(new: Path, old: Path) -> None:
    """The file that the first program would have made of the same tables."""
    connection = apsw.Connection(str(old))
    with connection:
        connection.execute(script("sqlite", None, "0001"))
        connection.execute("DROP TABLE alembic_version")
        connection.pragma("application_id", 0x7461766F)
        connection.pragma("user_version", 1)
    connection.execute("ATTACH ? AS new", (str(new),))
    connection.execute(f"INSERT INTO tables SELECT {OLD_SUMMARIES} FROM new.tables")  # noqa: S608
    connection.execute(f"INSERT INTO entries SELECT {OLD_COLUMNS} FROM new.entries")  # noqa: S608
    connection.close()


async def matches_in_the_middle(house: House) -> tuple[str, str, str]:
    """A table with people, one with AI players, and the token of the first one's owner."""
    sitting = await house.sitting(2, stand_in=GREEDY)
    await house.play_on(sitting, 7)
    made = await house.create([CALLER, AI, AI], game="mino_dice", stand_in=GREEDY)
    await house.start(made.table.table_id, made.token)
    return sitting.table_id, made.table.table_id, sitting.owner


async def played_to_the_end(house: House, table_id: str) -> None:
    """Wait until AI players have finished a match."""

    async def over() -> bool:
        return (await house.table(table_id)).state == TableState.TABLE_STATE_FINISHED

    await until(over)


async def test_matches_of_the_first_program_go_on_after_the_migration_of_their_file(
    tmp_path: Path,
) -> None:
    async with house_in(tmp_path) as house:
        people, ai, owner = await matches_in_the_middle(house)
    old = tmp_path / "old"
    old.mkdir()
    first_revision(tmp_path / "tables.db", old / "tables.db")
    place = ("--db", str(old / "tables.db"))
    looked = await tavolata("migrate", "--check", *place)
    assert looked.exit_code == 1
    assert f"schema 0001, this program's is {HEAD}" in looked.stdout
    why = await refused_at_start(db=old / "tables.db")
    assert f"tavolata migrate {' '.join(place)}" in why
    done = await tavolata("migrate", *place)
    assert (done.exit_code, done.stderr) == (0, "")
    assert f"done: schema {HEAD}" in done.stdout
    again = await tavolata("migrate", "--check", *place)
    assert (again.exit_code, "nothing to do" in again.stdout) == (0, True)
    async with house_in(old) as house:
        await house.abort(people, owner)
        assert (await house.replay(people)).entries
        assert (await house.table(ai)).state == TableState.TABLE_STATE_PLAYING
        # Every match in progress became work: this server acts for it.
        assert house.rows("SELECT active, epoch > 1 FROM work WHERE table_id = ?", ai) == [(1, 1)]


async def test_matches_of_the_first_program_go_on_after_the_migration_of_their_database(
    databases: Databases, tmp_path: Path
) -> None:
    async with house_in(tmp_path) as house:
        made = await house.create([AI, AI, AI], game="mino_dice", ai_pace=SLOW)
        await house.start(made.table.table_id, made.token)
    own = await databases.empty()
    connection: Any = await asyncpg.connect(own)
    await connection.execute(script("postgresql", None, "0001"))
    for name, columns in (("tables", OLD_SUMMARIES), ("entries", OLD_COLUMNS)):
        rows = house.rows(f"SELECT {columns} FROM {name}")  # noqa: S608
        await connection.copy_records_to_table(name, records=rows)
    await connection.close()
    place = ("--store", own)
    assert (await tavolata("migrate", "--check", *place)).exit_code == 1
    assert "tavolata migrate --store" in await refused_at_start(store=own)
    assert (await tavolata("migrate", *place)).exit_code == 0
    assert (await tavolata("migrate", "--check", *place)).exit_code == 0
    async with house_in(tmp_path, store=own) as house:
        await played_to_the_end(house, made.table.table_id)


async def test_a_log_with_running_hashes_of_another_making_goes_on_after_its_migration(
    tmp_path: Path,
) -> None:
    async with house_in(tmp_path) as house:
        sitting = await house.sitting(2)
        await house.play_on(sitting, 7)
    house.execute("UPDATE entries SET chain = randomblob(16)")
    for later in ("remote_players", "remote_calls"):
        house.execute(f"DROP TABLE {later}")
    house.execute("UPDATE alembic_version SET version_num = '0004'")
    assert "tavolata migrate" in await refused_at_start(db=house.db)
    assert (await tavolata("migrate", "--db", str(house.db))).exit_code == 0
    for _ in range(2):  # what is added has its running hash, and the next program finds it right
        async with house_in(tmp_path) as house:
            assert await house.play_on(sitting, 2) == 2
    assert house.rows("SELECT count(*) FROM entries WHERE chain IS NOT NULL") == [(4,)]


async def test_a_newer_schema_is_left_alone(databases: Databases, tmp_path: Path) -> None:
    file = tmp_path / "newer.db"
    await SqliteStore(file).close()
    connection = apsw.Connection(str(file))
    connection.execute("UPDATE alembic_version SET version_num = '0099'")
    connection.close()
    own = await databases.fresh()
    link: Any = await asyncpg.connect(own)
    await link.execute("UPDATE alembic_version SET version_num = '0099'")
    await link.close()
    what = "schema 0099, which this program doesn't know"
    for place in (("--db", str(file)), ("--store", own)):
        for command in (("migrate",), ("migrate", "--check")):
            told = await tavolata(*command, *place)
            assert told.exit_code == 1
            assert what in told.stderr
    assert what in await refused_at_start(db=file)
    assert what in await refused_at_start(store=own)


async def test_a_file_in_use_is_not_migrated_and_a_store_that_is_none_is_named(
    house: House, tmp_path: Path
) -> None:
    told = await tavolata("migrate", "--db", str(house.db))
    assert told.exit_code == 1
    assert "in use by another server" in told.stderr
    for place, what in (
        (("--store", "mysql://x"), "setting store"),
        (("--store", "postgresql://127.0.0.1:1/x"), "can't be opened"),
        (("--db", str(tmp_path)), "irectory"),
    ):
        told = await tavolata("migrate", *place)
        assert told.exit_code in (1, 2)
        assert what in told.stderr


def test_there_is_one_module_for_each_revision_in_order() -> None:
    assert tuple(sorted(REVISIONS)) == REVISIONS
    assert script("sqlite", REVISIONS[-1], HEAD).strip() == ""
    with pytest.raises(Exception, match="0099"):
        script("sqlite", "0001", "0099")
