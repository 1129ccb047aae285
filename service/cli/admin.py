"""`tavolata admin`: what is in a store, ending a table, taking matches out as files."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

if TYPE_CHECKING:
    from tavolata.service.admin.reading import Row
    from tavolata.service.settings import Settings
    from tavolata.service.tables.memory import Lifetimes

Config = Annotated[Path | None, typer.Option(help="TOML file with settings")]
Db = Annotated[Path | None, typer.Option(help="SQLite file with all tables [tavolata.db]")]
Store = Annotated[str | None, typer.Option(help="postgresql://USER@HOST/DATABASE")]
AsJson = Annotated[bool, typer.Option("--json", help="JSON, for programs")]
Value = TypeVar("Value")
STATES = ("open", "playing", "parked", "finished", "aborted")

app = typer.Typer(
    name="admin",
    help="List, inspect, abort and export the tables of a store, while servers run on it or not.",
    no_args_is_help=True,
)


def _state(given: str) -> str:
    if given and given not in STATES:
        raise typer.BadParameter(f"is {given!r}; allowed: {', '.join(STATES)}")
    return given


State = Annotated[str, typer.Option(callback=_state, help="|".join(STATES))]


@app.command("list")
def list_tables(
    state: State = "",
    game: Annotated[str, typer.Option(help="a game's id")] = "",
    older_than_h: Annotated[float, typer.Option(min=0, help="made that many hours ago")] = 0.0,
    limit: Annotated[int, typer.Option(min=1, max=100_000)] = 100,
    config: Config = None,
    db: Db = None,
    store: Store = None,
    as_json: AsJson = False,
) -> None:
    """List tables, the newest first."""
    chosen = _settings(config, db, store)
    rows = _run(_rows(chosen, state, game, older_than_h, limit))
    shown = [_plain(row) for row in rows]
    if as_json:
        typer.echo(json.dumps(shown, indent=2))
        return
    for each in shown:
        typer.echo("  ".join(str(value) for value in each.values()))


@app.command()
def inspect(
    table: Annotated[str, typer.Argument(help="the table's id")],
    config: Config = None,
    db: Db = None,
    store: Store = None,
    as_json: AsJson = False,
) -> None:
    """Show a table as spectators see it: no hand, no seed, no token, whoever asks."""
    from google.protobuf.json_format import MessageToDict

    chosen = _settings(config, db, store)
    shown = _run(_shown(chosen, table))
    told: dict[str, Any] = {"table": MessageToDict(shown.table), "entries": shown.entries}
    if shown.view is not None:
        told["view"] = MessageToDict(shown.view)
    if as_json:
        typer.echo(json.dumps(told, indent=2))
        return
    from google.protobuf.text_format import MessageToString

    typer.echo(MessageToString(shown.table, as_utf8=True), nl=False)
    if shown.view is not None:
        typer.echo(f"view {{\n{MessageToString(shown.view, as_utf8=True, indent=2)}}}")
    typer.echo(f"entries: {shown.entries}")


@app.command()
def abort(
    table: Annotated[str, typer.Argument(help="the table's id")],
    config: Config = None,
    db: Db = None,
    store: Store = None,
) -> None:
    """Abort a table, as its owner could. Everybody at it is told; it can't be undone."""
    from tavolata.service.admin.aborting import abort_in

    _run(abort_in(_settings(config, db, store), table))
    typer.echo(f"{table}: aborted")


@app.command()
def export(
    folder: Annotated[Path, typer.Argument(help="folder for the files, made if it isn't there")],
    tables: Annotated[list[str] | None, typer.Argument(help="tables; all that are over")] = None,
    state: State = "finished",
    limit: Annotated[int, typer.Option(min=1)] = 100_000,
    config: Config = None,
    db: Db = None,
    store: Store = None,
) -> None:
    """Write the replays of matches that are over, as `tavolata verify` and `replay` read them.

    A file that is there is left as it is.
    """
    chosen = _settings(config, db, store)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        typer.echo(f"tavolata: {error}", err=True)
        raise typer.Exit(1) from None
    written, skipped, lines = _run(_export(chosen, folder, tables or [], state, limit))
    for line in lines:
        typer.echo(f"tavolata: {line}", err=True)
    typer.echo(f"{written} written to {folder}, {skipped} there already")
    raise typer.Exit(1 if lines else 0)


def _settings(config: Path | None, db: Path | None, store: str | None) -> Settings:
    from tavolata.service.cli.settings import load_or_exit

    # A file that is named is meant, whatever store the environment names.
    return load_or_exit(config, db=db, store="" if db is not None and store is None else store)


def _run(work: Coroutine[Any, Any, Value]) -> Value:
    """What it gives, or the end with what is wrong."""
    import apsw

    from tavolata.service.admin.socket import AskedInVain
    from tavolata.service.ports import StoreError
    from tavolata.service.refusals import Refused
    from tavolata.service.store.revisions import NotOpened, UnknownSchema
    from tavolata.service.tables.making import DamagedLog

    known = (AskedInVain, DamagedLog, NotOpened, OSError, Refused, StoreError, UnknownSchema)
    try:
        return asyncio.run(work)
    except (*known, apsw.Error) as error:
        typer.echo(f"tavolata: {error}", err=True)
        raise typer.Exit(1) from None


def _lifetimes(chosen: Settings) -> Lifetimes:
    from tavolata.service.tables.memory import Lifetimes

    return Lifetimes(chosen.open_table_s * 10**6, chosen.over_table_s * 10**6)


async def _rows(chosen: Settings, state: str, game: str, hours: float, limit: int) -> list[Row]:
    from tavolata.service.admin.reading import reader
    from tavolata.v1.table_pb2 import TableState

    number = TableState.Value(f"TABLE_STATE_{state.upper()}") if state else -1
    before = datetime.now(UTC).timestamp() - hours * 3600
    async with reader(chosen) as read:
        return await read.rows(number, game, round(before * 1e6) + 1, limit)


async def _shown(chosen: Settings, table_id: str) -> Any:
    from tavolata.service.admin.reading import reader
    from tavolata.service.admin.showing import show
    from tavolata.service.tables import refuse

    async with reader(chosen) as read:
        stored = await read.load(table_id)
    if stored is None:
        raise refuse.table_not_found(table_id)
    return show(stored, _lifetimes(chosen))


async def _export(
    chosen: Settings, folder: Path, tables: list[str], state: str, limit: int
) -> tuple[int, int, list[str]]:
    from google.protobuf.json_format import MessageToJson

    from tavolata.service.admin.reading import reader
    from tavolata.service.admin.showing import replay
    from tavolata.service.refusals import Refused
    from tavolata.service.tables.making import DamagedLog

    wanted = tables or [row.table_id for row in await _rows(chosen, state, "", 0.0, limit)]
    written, skipped, lines = 0, 0, []
    async with reader(chosen) as read:
        for table_id in wanted:
            stored = await read.load(table_id)
            if stored is None:
                lines.append(f"{table_id}: there is no such table")
                continue
            file = folder / f"{stored.table_id}.json"
            if file.exists():
                skipped += 1
                continue
            try:
                text = MessageToJson(replay(stored, _lifetimes(chosen)))
            except (Refused, DamagedLog) as error:
                lines.append(f"{table_id}: {error}")
                continue
            part = file.with_name(file.name + ".part")
            part.write_text(text)
            part.rename(file)
            written += 1
    return written, skipped, lines


def _plain(row: Row) -> dict[str, Any]:
    from tavolata.v1.table_pb2 import TableState

    name = TableState.Name(row.state)  # type: ignore[arg-type]
    return {
        "table_id": row.table_id,
        "state": name.removeprefix("TABLE_STATE_").lower(),
        "game": row.game_id,
        "created": _time(row.created_us),
        "expires": _time(row.expires_us) if row.expires_us else "-",
        "entries": row.entries,
        "server": row.owner or "-",
    }


def _time(us: int) -> str:
    return datetime.fromtimestamp(us / 1e6, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
