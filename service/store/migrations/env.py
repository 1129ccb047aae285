"""What Alembic runs: the migrations as a script in the language of one database."""

from __future__ import annotations

from alembic import context

from tavolata.service.store.revisions import VERSION_TABLE

context.configure(
    dialect_name=context.config.attributes["dialect"],
    output_buffer=context.config.attributes["script"],
    version_table=VERSION_TABLE,
    literal_binds=True,
    transactional_ddl=False,  # whoever runs the script begins and commits
)
with context.begin_transaction():
    context.run_migrations()
