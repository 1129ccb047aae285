"""`tavolata tournament ... --server`: tournaments that a server runs."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, cast

import typer

from tavolata.service.cli import reach
from tavolata.service.cli.tournament_run import FAILED, REFUSED, SIGNALLED, stop

if TYPE_CHECKING:
    from tavolata.ai.arena.tournament.summary import Standing
    from tavolata.service.client import Connection, Refused
    from tavolata.v1.tournament_pb2 import Tournament

CALL_S = 20.0  # somebody is waiting

Answer = TypeVar("Answer")

Server = Annotated[
    str,
    typer.Option("--server", metavar="HOST:PORT", help="Ask this server; name it by its id."),
]
At = Annotated[str, typer.Option("--server", metavar="HOST:PORT", help="The server that runs it.")]
Tls = Annotated[bool, typer.Option("--tls", help="The server is reached by TLS.")]
TlsCa = Annotated[
    Path | None,
    typer.Option(
        help="PEM file with the certificates to trust; implies --tls. Default: the public ones."
    ),
]
Id = Annotated[str, typer.Argument(metavar="ID", help="Id of the tournament.")]


def submit(
    spec: Annotated[Path, typer.Argument(metavar="SPEC", help="The tournament's TOML file.")],
    server: At,
    processes: Annotated[
        int, typer.Option(min=0, help="Worker processes. 0: as many as the server allows.")
    ] = 0,
    tls: Tls = False,
    tls_ca: TlsCa = None,
) -> None:
    """Have a server run a tournament; prints its id."""
    try:
        text = spec.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        stop(str(error), REFUSED)

    async def ask(connection: Connection) -> str:
        made = await connection.tournaments.create(text, processes=processes)
        return made.tournament_id

    typer.echo(asked(server, tls, tls_ca, ask))


def watch(tournament_id: Id, server: At, tls: Tls = False, tls_ca: TlsCa = None) -> None:
    """Follow a server's tournament, a line at every change, until it is over.

    Ends with 1 if it is cancelled or fails.
    """

    async def ask(connection: Connection) -> Tournament:
        async for tournament in connection.tournaments.watch(tournament_id):
            typer.echo(_line(tournament))
        return tournament

    last = asked(server, tls, tls_ca, ask)
    if not last.result_hash:
        raise typer.Exit(FAILED)
    typer.echo(f"result hash: {last.result_hash}")


def cancel(tournament_id: Id, server: At, tls: Tls = False, tls_ca: TlsCa = None) -> None:
    """End a server's tournament for good; what was played is kept there."""
    ended = asked(server, tls, tls_ca, lambda each: each.tournaments.cancel(tournament_id))
    typer.echo(_line(ended))


def list_(server: At, tls: Tls = False, tls_ca: TlsCa = None) -> None:
    """The tournaments of a server, the newest first."""

    async def ask(connection: Connection) -> None:
        async for tournament in connection.tournaments.all():
            made = tournament.create_time.ToDatetime().strftime("%Y-%m-%d %H:%M")
            typer.echo(f"{tournament.tournament_id}  {made}  {_line(tournament)}")

    asked(server, tls, tls_ca, ask)


def status(server: str, tls: bool, tls_ca: Path | None, tournament_id: str, as_json: bool) -> None:
    """`tavolata tournament status --server`."""
    found = asked(server, tls, tls_ca, lambda each: each.tournaments.get(tournament_id))
    if as_json:
        typer.echo(json.dumps(_status(found)))
        return
    typer.echo(_line(found))
    for row in _faults(found):
        typer.echo(f"  {row['entrant']}: {row['count']} x {row['kind']}")
    if found.result_hash:
        typer.echo(f"result hash: {found.result_hash}")


def _status(found: Tournament) -> dict[str, Any]:
    """What `status --json` says of a folder, and what a server knows besides."""
    progress = found.progress
    return {
        "title": found.title,
        "state": _state(found),
        "matches": progress.matches_done,
        "planned": progress.matches_planned,
        "matches_per_second": progress.matches_per_second,
        "faults": _faults(found),
        "result_hash": found.result_hash or None,
        "failure": found.failure or None,
    }


def _faults(found: Tournament) -> list[dict[str, Any]]:
    from tavolata.v1.tournament_pb2 import TournamentFaultKind

    return [
        {
            "entrant": row.label,
            "kind": TournamentFaultKind.Name(row.kind).rpartition("_")[2].lower(),
            "count": row.count,
        }
        for row in found.progress.faults
    ]


def standings(
    server: str, tls: bool, tls_ca: Path | None, tournament_id: str, as_json: bool
) -> None:
    """`tavolata tournament standings --server`."""
    if as_json:
        for content in _exported(server, tls, tls_ca, tournament_id, "json").values():
            typer.echo(content.decode(), nl=False)
        return
    from rich.console import Console

    from tavolata.service.cli.tournament_progress import table_of

    found = asked(server, tls, tls_ca, lambda each: each.tournaments.get(tournament_id))
    typer.echo(_line(found))
    rows = cast("Sequence[Standing]", found.progress.standings)  # a message with the same names
    try:
        Console(highlight=False).print(table_of(rows))
    except ModuleNotFoundError as error:
        stop(
            f"{error.name} is not installed; it comes with the extra: tavolata[tournament]", REFUSED
        )


def export(
    server: str, tls: bool, tls_ca: Path | None, tournament_id: str, to: Path, form: str
) -> None:
    """`tavolata tournament export --server`."""
    files = _exported(server, tls, tls_ca, tournament_id, form)
    try:
        for name, content in files.items():
            path = to if form == "json" else to / Path(name).name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    except OSError as error:
        stop(str(error), FAILED)


def _exported(
    server: str, tls: bool, tls_ca: Path | None, tournament_id: str, form: str
) -> dict[str, bytes]:
    """The files by name; all of them, or none."""
    from tavolata.v1.tournament_service_pb2 import TournamentExport

    wanted = TournamentExport.Value(f"TOURNAMENT_EXPORT_{form.upper()}")

    async def ask(connection: Connection) -> dict[str, bytes]:
        files: dict[str, list[bytes]] = {}
        async for name, content in connection.tournaments.export(tournament_id, wanted):
            files.setdefault(name, []).append(content)
        return {name: b"".join(pieces) for name, pieces in files.items()}

    return asked(server, tls, tls_ca, ask)


def _state(found: Tournament) -> str:
    from tavolata.v1.tournament_pb2 import TournamentState

    return TournamentState.Name(found.state).removeprefix("TOURNAMENT_STATE_").lower()


def _line(found: Tournament) -> str:
    """A tournament in a line."""
    from tavolata.service.cli.tournament_progress import duration

    progress = found.progress
    parts = [f"{progress.matches_done:,} of {progress.matches_planned:,} matches"]
    if progress.matches_per_second:
        parts.append(f"{progress.matches_per_second:,.1f} a second")
    if progress.HasField("time_left"):
        parts.append(f"{duration(progress.time_left.ToTimedelta().total_seconds())} left")
    parts += [found.failure] if found.failure else []
    return f"{found.title}: {_state(found)}, {', '.join(parts)}"


def asked(
    server: str,
    tls: bool,
    tls_ca: Path | None,
    ask: Callable[[Connection], Coroutine[Any, Any, Answer]],
) -> Answer:
    """What the server answers; says why not, and ends, if it doesn't."""
    # gRPC reads it when it is imported: its own log would stand between the lines.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    from tavolata.service.client import Refused, RetryPolicy, Unreachable, connect

    cert, key = reach.from_environment(reach.CERT), reach.from_environment(reach.KEY)
    identity = reach.identity_in(reach.from_environment(reach.IDENTITY))

    async def call() -> Answer:
        reached = connect(
            server,
            credentials=reach.credentials(tls, tls_ca, cert, key),
            policy=RetryPolicy(call_s=CALL_S),
            identity=identity,
        )
        async with reached as connection:
            return await ask(connection)

    try:
        return asyncio.run(call())
    except Refused as error:
        stop(_told(error), REFUSED)
    except (Unreachable, OSError) as error:
        stop(f"{server}: {error}", FAILED)
    except KeyboardInterrupt:
        stop("stopped; the tournament goes on", SIGNALLED + signal.SIGINT)


def _told(refused: Refused) -> str:
    """A refusal in lines: a wrong specification has one for every key."""
    return "\n".join(refused.field_violations.values()) or refused.message
