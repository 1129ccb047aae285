"""The logs of tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the tables of an empty database."""
    op.create_table(
        "tables",
        sa.Column("table_id", sa.Text, primary_key=True),
        sa.Column("state", sa.Integer, nullable=False),
        sa.Column("created_us", BIG, nullable=False),
        sa.Column("expires_us", BIG, nullable=False),
        sa.Column("creation_id", sa.Text, nullable=False),
        sa.UniqueConstraint("creation_id", name="tables_creation_id_key"),
        sqlite_with_rowid=False,
        sqlite_strict=True,
    )
    op.create_index("tables_by_state", "tables", ["state", "created_us"])
    expires = sa.text("expires_us > 0")
    op.create_index(
        "tables_by_expiry",
        "tables",
        ["expires_us"],
        sqlite_where=expires,
        postgresql_where=expires,
    )
    op.create_table(
        "entries",
        sa.Column("table_id", sa.Text, primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("time_us", BIG, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("slot", sa.Integer, nullable=False),
        sa.Column("turn", sa.Integer, nullable=False),
        sa.Column("action", BIG, nullable=False),
        sa.Column("maker", sa.Integer, nullable=False),
        sa.Column("request_id", sa.Text, nullable=False),
        sa.Column("scope", sa.Integer, nullable=False),
        sa.Column("digest", sa.LargeBinary, nullable=False),
        sa.Column("body", sa.Text),
        sqlite_with_rowid=False,
        sqlite_strict=True,
    )
    requested = sa.text("request_id <> ''")
    op.create_index(
        "entries_by_request",
        "entries",
        ["table_id", "scope", "request_id"],
        unique=True,
        sqlite_where=requested,
        postgresql_where=requested,
    )
