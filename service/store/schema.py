"""The schema of every store, described once; migrations/ has the steps that lead to it.

Programs read the revision of a database before they use it: see revisions.py.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects import sqlite
from sqlalchemy.schema import CreateIndex, CreateTable

from tavolata.service.store.revisions import HEAD, VERSION_TABLE

# A strict table of SQLite's has one kind of whole number, as long as it needs to be.
BIG = BigInteger().with_variant(Integer(), "sqlite")

metadata = MetaData()

tables = Table(
    "tables",
    metadata,
    Column("table_id", Text, primary_key=True),
    Column("state", Integer, nullable=False),
    Column("created_us", BIG, nullable=False),
    Column("expires_us", BIG, nullable=False),
    Column("creation_id", Text, nullable=False),
    Column("listing", Integer, nullable=False, server_default=text("0")),
    Column("game_id", Text, nullable=False, server_default=text("''")),
    UniqueConstraint("creation_id", name="tables_creation_id_key"),
    sqlite_with_rowid=False,
    sqlite_strict=True,
)
Index("tables_by_state", tables.c.state, tables.c.created_us)
_EXPIRES = text("expires_us > 0")
Index(
    "tables_by_expiry",
    tables.c.expires_us,
    sqlite_where=_EXPIRES,
    postgresql_where=_EXPIRES,
)

_LISTED = text("listing > 0")
Index(
    "tables_listed",
    tables.c.created_us,
    tables.c.table_id,
    sqlite_where=_LISTED,
    postgresql_where=_LISTED,
)

entries = Table(
    "entries",
    metadata,
    Column("table_id", Text, primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("time_us", BIG, nullable=False),
    Column("kind", Text, nullable=False),
    Column("slot", Integer, nullable=False),
    Column("turn", Integer, nullable=False),
    Column("action", BIG, nullable=False),
    Column("maker", Integer, nullable=False),
    Column("request_id", Text, nullable=False),
    Column("scope", Integer, nullable=False),
    Column("digest", LargeBinary, nullable=False),
    Column("body", Text),
    Column("chain", LargeBinary),
    sqlite_with_rowid=False,
    sqlite_strict=True,
)
_REQUESTED = text("request_id <> ''")
Index(
    "entries_by_request",
    entries.c.table_id,
    entries.c.scope,
    entries.c.request_id,
    unique=True,
    sqlite_where=_REQUESTED,
    postgresql_where=_REQUESTED,
)

# Matches for which a server has to act by itself: AI players, clocks. owner: the server that does,
# while it has a lease; epoch: grows with every claim; active: 0 while the match is parked.
work = Table(
    "work",
    metadata,
    Column("table_id", Text, primary_key=True),
    Column("active", Integer, nullable=False),
    Column("owner", Text, nullable=False),
    Column("epoch", BIG, nullable=False),
    sqlite_with_rowid=False,
    sqlite_strict=True,
)
Index("work_by_owner", work.c.owner)

# Servers and how long their leases run.
servers = Table(
    "servers",
    metadata,
    Column("server_id", Text, primary_key=True),
    Column("lease_until_us", BIG, nullable=False),
    sqlite_with_rowid=False,
    sqlite_strict=True,
)

# What servers write, and remove again, to learn whether they can. filling: as much room as several
# entries take, so that what fits here tells that an entry would.
probes = Table(
    "probes",
    metadata,
    Column("probe_id", Text, primary_key=True),
    Column("time_us", BIG, nullable=False),
    Column("filling", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
    sqlite_strict=True,
)

# What servers tell each other of players that programs offer to them, and to which tables they call
# each other; see players/offers.py. A file is one server's alone: nothing is written here in one.
remote_players = Table(
    "remote_players",
    metadata,
    Column("server_id", Text, primary_key=True),
    Column("player", Text, primary_key=True),
    Column("told_us", BIG, nullable=False),
    Column("body", Text, nullable=False),
    sqlite_with_rowid=False,
    sqlite_strict=True,
)
remote_calls = Table(
    "remote_calls",
    metadata,
    Column("server_id", Text, primary_key=True),
    Column("table_id", Text, primary_key=True),
    Column("called_us", BIG, nullable=False),
    sqlite_with_rowid=False,
    sqlite_strict=True,
)


def sqlite_statements() -> list[str]:
    """What makes this schema in an empty SQLite file, its revision included."""
    dialect = sqlite.dialect()
    made = [str(CreateTable(each).compile(dialect=dialect)) for each in metadata.sorted_tables]
    made += [
        str(CreateIndex(index).compile(dialect=dialect))
        for each in metadata.sorted_tables
        for index in sorted(each.indexes, key=lambda index: str(index.name))
    ]
    made.append(f"CREATE TABLE {VERSION_TABLE} (version_num VARCHAR(32) NOT NULL PRIMARY KEY)")
    made.append(f"INSERT INTO {VERSION_TABLE} VALUES ('{HEAD}')")  # noqa: S608 - constants
    return made
