"""The life of tables: who sits where, what was played, and what anyone may see of it."""
