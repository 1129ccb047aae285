"""`tavolata migrate`: the schema of a store, shown and brought up to date."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from tavolata.service.settings import Settings

Flag = typer.Option


def migrate(
    config: Annotated[Path | None, Flag(help="TOML file with settings")] = None,
    db: Annotated[Path | None, Flag(help="SQLite file with all tables [tavolata.db]")] = None,
    store: Annotated[str | None, Flag(help="postgresql://USER@HOST/DATABASE")] = None,
    check: Annotated[
        bool, Flag("--check", help="change nothing; exit with 1 if there is anything to do")
    ] = False,
) -> None:
    """Bring the schema of a store up to date.

    Stop all servers on it and make a backup before. A new SQLite file is made by the server itself;
    a new PostgreSQL database is made by this.
    """
    import apsw

    from tavolata.service.cli.settings import load_or_exit
    from tavolata.service.store.revisions import NotOpened, UnknownSchema
    from tavolata.service.store.sqlite import FileInUse

    chosen = load_or_exit(config, db=db, store=store)
    try:
        current = asyncio.run(_migrate(chosen, check=check))
    except (FileInUse, NotOpened, UnknownSchema, OSError, apsw.Error) as error:
        typer.echo(f"tavolata: {error}", err=True)
        raise typer.Exit(1) from None
    raise typer.Exit(0 if current or not check else 1)


async def _migrate(chosen: Settings, *, check: bool) -> bool:
    """Do it, or only look; whether the store was up to date before."""
    from tavolata.service.store.opening import place_of
    from tavolata.service.store.revisions import HEAD

    where = place_of(chosen)
    if chosen.store:
        revision = await _postgres(chosen.store, where, check=check)
    else:
        revision = _sqlite(chosen.db, check=check)
    typer.echo(f"{where}: schema {revision or 'none'}, this program's is {HEAD}")
    if revision == HEAD:
        typer.echo("nothing to do")
    elif not check:
        typer.echo(f"done: schema {HEAD}")
    return revision == HEAD


def _sqlite(path: Path, *, check: bool) -> str | None:
    from tavolata.service.store import migrate

    if not check:
        return migrate.migrate_sqlite(path)
    revision = migrate.sqlite_revision(path)
    migrate.check_known(revision, str(path))
    return revision


async def _postgres(dsn: str, where: str, *, check: bool) -> str | None:
    from tavolata.service.store import migrate
    from tavolata.service.store.opening import connected
    from tavolata.service.store.revisions import NotOpened

    async with connected(dsn) as connection:
        import asyncpg

        try:
            if not check:
                return await migrate.migrate_postgres(connection, where)
            revision = await migrate.postgres_revision(connection)
        except asyncpg.PostgresError as error:
            raise NotOpened(f"{where}: {error}") from error
        migrate.check_known(revision, where)
        return revision
