"""`tavolata backup`: a copy of a SQLite store, also while a server runs on it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Flag = typer.Option


def backup(
    target: Annotated[Path, typer.Argument(help="the file to write; must not exist")],
    config: Annotated[Path | None, Flag(help="TOML file with settings")] = None,
    db: Annotated[Path | None, Flag(help="SQLite file with all tables [tavolata.db]")] = None,
) -> None:
    """Copy a SQLite store as it is at one moment; a server on it goes on.

    The copy holds the seeds of matches in progress. docs/deploy.md says how to restore it, and how
    a PostgreSQL database is backed up.
    """
    import apsw

    from tavolata.service.cli.settings import load_or_exit
    from tavolata.service.store.revisions import UnknownSchema
    from tavolata.service.store.sqlite_backup import copy

    chosen = load_or_exit(config, db=db)
    if chosen.store and db is None:
        typer.echo("tavolata: the store is PostgreSQL: use pg_dump, see docs/deploy.md", err=True)
        raise typer.Exit(2)
    try:
        count = copy(chosen.db, target)
    except (UnknownSchema, OSError, apsw.Error) as error:
        typer.echo(f"tavolata: {error}", err=True)
        raise typer.Exit(1) from None
    typer.echo(f"{target}: {count} tables")
