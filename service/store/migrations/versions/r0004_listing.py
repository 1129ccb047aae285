"""What lists of tables are made from: who may find a table, and its game."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

_WHERE = "FROM entries e WHERE e.table_id = tables.table_id AND e.number = 1"


def _first_entry(dialect: str, *path: str) -> str:
    """A text of the entry that made a table."""
    if dialect == "sqlite":
        return f"(SELECT json_extract(e.body, '$.{'.'.join(path)}') {_WHERE})"
    steps = "->".join(f"'{step}'" for step in path[:-1])
    return f"(SELECT e.body::json->{steps}->>'{path[-1]}' {_WHERE})"


def upgrade() -> None:
    """Public tables are found from now on; none of them keeps spectators behind."""
    op.add_column(
        "tables", sa.Column("listing", sa.Integer, nullable=False, server_default=sa.text("0"))
    )
    op.add_column(
        "tables", sa.Column("game_id", sa.Text, nullable=False, server_default=sa.text("''"))
    )
    dialect = op.get_context().dialect.name
    game = _first_entry(dialect, "settings", "game_id")
    visibility = _first_entry(dialect, "settings", "visibility")
    op.execute(
        f"UPDATE tables SET game_id = coalesce({game}, ''),"  # noqa: S608 - constants
        f" listing = CASE {visibility} WHEN 'VISIBILITY_PUBLIC' THEN 1 ELSE 0 END"
    )
    listed = sa.text("listing > 0")
    op.create_index(
        "tables_listed",
        "tables",
        ["created_us", "table_id"],
        sqlite_where=listed,
        postgresql_where=listed,
    )
