"""The steps from each revision of the schema to the next, for Alembic."""
