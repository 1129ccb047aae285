"""`tavolata tables`: the public tables of a server, to join or to watch."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tavolata.service.cli import reach

if TYPE_CHECKING:
    import grpc

    from tavolata.v1.table_pb2 import Table, TableState

_CALL_S = 10.0  # somebody is waiting
_STATES = ("open", "playing", "parked", "finished", "aborted")


def tables(
    server: Annotated[str, typer.Option(help="Server, as host:port.")] = "localhost:50051",
    game: Annotated[str, typer.Option(help="Only tables of this game, by its id.")] = "",
    state: Annotated[
        list[str] | None,
        typer.Option(help=f"Only tables in this state: {', '.join(_STATES)}; may be repeated."),
    ] = None,
    seats: Annotated[
        int, typer.Option(min=0, help="Only tables with at least so many seats to take.")
    ] = 0,
    limit: Annotated[int, typer.Option(min=1, help="The most tables to show.")] = 50,
    tls: Annotated[bool, typer.Option("--tls", help="The server is reached by TLS.")] = False,
    tls_ca: Annotated[
        Path | None,
        typer.Option(
            help="PEM file with the certificates to trust; implies --tls. Default: the public ones."
        ),
    ] = None,
    tls_cert: Annotated[
        Path | None,
        typer.Option(
            envvar=reach.CERT, help="PEM file with a certificate to show the server; implies --tls."
        ),
    ] = None,
    tls_key: Annotated[
        Path | None, typer.Option(envvar=reach.KEY, help="PEM file with its key.")
    ] = None,
) -> None:
    """List the public tables of a server, the newest first, each with the command that joins or
    watches it."""
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    from tavolata.service.client import ServiceError
    from tavolata.v1.table_pb2 import TableState

    for each in state or ():
        if each not in _STATES:
            allowed = ", ".join(_STATES)
            raise typer.BadParameter(f"{each!r}; allowed: {allowed}", param_hint="--state")
    reach.check(tls_ca, tls_cert, tls_key)
    credentials = reach.credentials(tls, tls_ca, tls_cert, tls_key)
    states = [TableState.Value(f"TABLE_STATE_{each.upper()}") for each in state or ()]
    try:
        found = asyncio.run(_found(server, credentials, game, states, seats, limit))
    except ServiceError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from None
    words = f"--server {server}"
    words += " --tls" if tls and not (tls_ca or tls_cert) else ""
    words += f" --tls-ca {tls_ca}" if tls_ca else ""
    words += f" --tls-cert {tls_cert} --tls-key {tls_key}" if tls_cert else ""
    for table in found:
        typer.echo(told(table))
        if (command := way_in(table)) is not None:
            typer.echo(f"    tavolata play {words} {command}")
    if not found:
        typer.echo("No public table fits.")


async def _found(
    server: str,
    credentials: grpc.ChannelCredentials | None,
    game: str,
    states: list[TableState.ValueType],
    seats: int,
    limit: int,
) -> list[Table]:
    from tavolata.service.client import RetryPolicy, connect

    policy = RetryPolicy(call_s=_CALL_S)
    async with connect(server, credentials=credentials, policy=policy) as connection:
        found: list[Table] = []
        async for table in connection.tables(game, states=states, min_open_seats=seats):
            found.append(table)
            if len(found) == limit:
                break
        return found


def told(table: Table) -> str:
    """A table in a line: game, state, who sits there, seats to take."""
    from tavolata.service.terminal.words import counted, listed

    people = [
        seat.occupant.person.display_name or f"seat {seat.seat}"
        for seat in table.seats
        if seat.occupant.HasField("person")
    ]
    ai = sum(seat.occupant.HasField("ai") for seat in table.seats)
    free = sum(
        seat.occupant.HasField("open") and not seat.occupant.open.HasField("held_for")
        for seat in table.seats
    )
    there = [*people, *([counted(ai, "AI player")] if ai else [])]
    line = f"{table.settings.game_id}, {_STATES[table.state - 1]}: {listed(there or ['nobody'])}"
    return f"{line}; {counted(free, 'seat')} to take" if free and table.state == 1 else line


def way_in(table: Table) -> str | None:
    """The options that join the table or, without a seat to take, watch it; None if it is over."""
    if table.state > _STATES.index("parked") + 1:
        return None
    return f"--{'join' if 'to take' in told(table) else 'watch'}={table.table_id}"
