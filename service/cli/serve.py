"""`tavolata serve`: the server, until it is told to stop."""

from __future__ import annotations

import asyncio
import gc
import os
import sys
import threading
from pathlib import Path
from typing import Annotated

import typer

Flag = typer.Option
STOP_MAX_S = 28.0
STOPPED_BADLY = 4


def serve(
    ctx: typer.Context,
    config: Annotated[
        Path | None,
        Flag(help="TOML file with settings"),
    ] = None,
    list_settings: Annotated[
        bool, Flag("--list-settings", help="list every setting with its default, and end")
    ] = False,
    print_settings: Annotated[
        bool,
        Flag("--print-settings", help="print the settings as they are, as a file, and end"),
    ] = False,
    print_port: Annotated[
        bool, Flag("--print-port", help="print the port once listening; bind to port 0 to get any")
    ] = False,
) -> None:
    """Run the server.

    Every setting comes from its flag, or else from the environment as TAVOLATA_NAME, or else from a
    TOML file as name = value. docs/settings.md lists them.
    """
    # gRPC reads it when it is imported. What the server starts are other programs, without a part
    # in its connections: gRPC need not stand still for them.
    os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
    import uvloop

    from tavolata.service import logs, settings
    from tavolata.service.cli.setting_flags import as_toml, default_of, given
    from tavolata.service.cli.settings import load_or_exit, strangers

    if list_settings:
        for name, field in settings.Settings.model_fields.items():
            typer.echo(f"TAVOLATA_{name.upper()}  {field.description} [{default_of(field)}]")
        raise typer.Exit
    chosen = load_or_exit(config, **given(ctx))
    for problem in strangers(os.environ):
        typer.echo(f"tavolata: warning: {problem}", err=True)
    if print_settings:
        typer.echo(as_toml(chosen), nl=False)
        raise typer.Exit
    # What is loaded by now stays for good; and the logs of tables are many objects that live long,
    # which a collector that runs often would look through again and again while everybody waits.
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    logs.configure(chosen.log_format, chosen.log_level)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        raise typer.Exit(runner.run(_serve(chosen, print_port=print_port)))


async def _serve(chosen: object, *, print_port: bool) -> int:
    from tavolata.service.binding import BindRefused
    from tavolata.service.identity import IdentityRefused
    from tavolata.service.operation import TracesRefused
    from tavolata.service.players.opening import PlayersRefused
    from tavolata.service.probes import ProbesRefused
    from tavolata.service.server import Server
    from tavolata.service.settings import Settings
    from tavolata.service.store.revisions import NotOpened, UnknownSchema
    from tavolata.service.store.sqlite import FileInUse
    from tavolata.service.tournaments.opening import TournamentsRefused

    assert isinstance(chosen, Settings)  # noqa: S101
    server = Server(chosen)
    server.heed_signals()
    try:
        await server.start()
    except (
        FileInUse,
        UnknownSchema,
        NotOpened,
        BindRefused,
        IdentityRefused,
        PlayersRefused,
        ProbesRefused,
        TracesRefused,
        TournamentsRefused,
        OSError,
    ) as error:
        typer.echo(f"tavolata: {error}", err=True)
        return 1
    if print_port:
        sys.stdout.write(f"{server.port}\n")
        sys.stdout.flush()
    return 0 if await server.serve(leave_at_last) else 3


def leave_at_last() -> None:
    """End the process when a graceful stop has taken too long for its supervisor: a disk that
    doesn't answer, for one, can't be waited for. What was acknowledged is recorded."""

    def leave() -> None:
        os.write(2, f"tavolata: not stopped after {STOP_MAX_S:g} s; ending\n".encode())
        os._exit(STOPPED_BADLY)

    timer = threading.Timer(STOP_MAX_S, leave)
    timer.daemon = True
    timer.start()
