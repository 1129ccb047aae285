"""Running hashes of logs, and who acts for which match."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
# Of tavolata.v1.TableState.
PLAYING, PARKED = 2, 3


def upgrade() -> None:
    """Entries from before have no running hash; every match in progress becomes work."""
    op.add_column("entries", sa.Column("chain", sa.LargeBinary))
    op.create_table(
        "work",
        sa.Column("table_id", sa.Text, primary_key=True),
        sa.Column("active", sa.Integer, nullable=False),
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("epoch", BIG, nullable=False),
        sqlite_with_rowid=False,
        sqlite_strict=True,
    )
    op.create_index("work_by_owner", "work", ["owner"])
    op.create_table(
        "servers",
        sa.Column("server_id", sa.Text, primary_key=True),
        sa.Column("lease_until_us", BIG, nullable=False),
        sqlite_with_rowid=False,
        sqlite_strict=True,
    )
    # An epoch that isn't 0: they have had a server, and their clocks stood still since.
    op.execute(
        "INSERT INTO work (table_id, active, owner, epoch)"  # noqa: S608 - constants
        f" SELECT table_id, CASE state WHEN {PLAYING} THEN 1 ELSE 0 END, '', 1 FROM tables"
        f" WHERE state IN ({PLAYING}, {PARKED})"
    )
    if op.get_context().dialect.name == "sqlite":
        # Files of the first revision don't have it written down.
        op.execute(
            "CREATE TABLE IF NOT EXISTS alembic_version"
            " (version_num VARCHAR(32) NOT NULL PRIMARY KEY)"
        )
        op.execute("INSERT OR IGNORE INTO alembic_version VALUES ('0001')")
        op.execute("PRAGMA user_version = 2")
