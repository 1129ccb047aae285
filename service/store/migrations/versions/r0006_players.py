"""What servers tell each other of players that programs offer to them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """No row of what was there before changes."""
    op.create_table(
        "remote_players",
        sa.Column("server_id", sa.Text, primary_key=True),
        sa.Column("player", sa.Text, primary_key=True),
        sa.Column("told_us", BIG, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sqlite_with_rowid=False,
        sqlite_strict=True,
    )
    op.create_table(
        "remote_calls",
        sa.Column("server_id", sa.Text, primary_key=True),
        sa.Column("table_id", sa.Text, primary_key=True),
        sa.Column("called_us", BIG, nullable=False),
        sqlite_with_rowid=False,
        sqlite_strict=True,
    )
