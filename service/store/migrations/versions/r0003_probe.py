"""A table that a server writes to in order to learn whether it can."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """No row of what was there before changes."""
    op.create_table(
        "probes",
        sa.Column("probe_id", sa.Text, primary_key=True),
        sa.Column("time_us", BIG, nullable=False),
        sa.Column("filling", sa.LargeBinary, nullable=False),
        sqlite_with_rowid=False,
        sqlite_strict=True,
    )
