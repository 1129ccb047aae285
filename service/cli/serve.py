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
    config: Annotated[
        Path | None,
        Flag(help="TOML file with settings"),
    ] = None,
    db: Annotated[Path | None, Flag(help="SQLite file with all tables [tavolata.db]")] = None,
    store: Annotated[
        str | None,
        Flag(help="postgresql://USER@HOST/DATABASE in place of the file; see tavolata migrate"),
    ] = None,
    bind: Annotated[str | None, Flag(help="address and port [127.0.0.1:50051]")] = None,
    insecure_public: Annotated[
        bool | None,
        Flag("--insecure-public", help="listen beyond this machine without TLS"),
    ] = None,
    tls_cert: Annotated[Path | None, Flag(help="PEM file with the certificate chain")] = None,
    tls_key: Annotated[Path | None, Flag(help="PEM file with its key")] = None,
    tls_client_ca: Annotated[
        Path | None, Flag(help="PEM file of certificates that must vouch for every client's")
    ] = None,
    ai_threads: Annotated[int | None, Flag(help="threads for AI players [0: one a core]")] = None,
    ai_floor: Annotated[
        float | None, Flag(help="least seconds an AI seat takes to answer [0.4]; 0 for machines")
    ] = None,
    ai_jitter: Annotated[
        float | None, Flag(help="most seconds added at random [0.6]; 0 for machines")
    ] = None,
    tournaments_dir: Annotated[
        Path | None, Flag(help="folder of tournaments; without one the server runs none")
    ] = None,
    log_format: Annotated[str | None, Flag(help="json or console [console]")] = None,
    log_level: Annotated[str | None, Flag(help="debug, info, warning or error [info]")] = None,
    list_settings: Annotated[
        bool, Flag("--list-settings", help="list every setting with its default, and end")
    ] = False,
    print_port: Annotated[
        bool, Flag("--print-port", help="print the port once listening; bind to port 0 to get any")
    ] = False,
) -> None:
    """Run the server.

    Settings come from flags, then from the environment as TAVOLATA_NAME, then from a TOML file as
    name = value; --list-settings shows all of them, also those without a flag.
    """
    # gRPC reads it when it is imported. What the server starts are other programs, without a part
    # in its connections: gRPC need not stand still for them.
    os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
    import uvloop

    from tavolata.service import logs, settings
    from tavolata.service.cli.settings import load_or_exit

    if list_settings:
        for name, field in settings.Settings.model_fields.items():
            default = "none" if field.default is None else field.default
            typer.echo(f"TAVOLATA_{name.upper()}  {field.description} [{default}]")
        raise typer.Exit
    chosen = load_or_exit(
        config,
        db=db,
        store=store,
        bind=bind,
        insecure_public=insecure_public,
        tls_cert=tls_cert,
        tls_key=tls_key,
        tls_client_ca=tls_client_ca,
        ai_threads=ai_threads,
        ai_floor_s=ai_floor,
        ai_jitter_s=ai_jitter,
        tournaments_dir=tournaments_dir,
        log_format=log_format,
        log_level=log_level,
    )
    # What is loaded by now stays for good; and the logs of tables are many objects that live long,
    # which a collector that runs often would look through again and again while everybody waits.
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    logs.configure(chosen.log_format, chosen.log_level)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        raise typer.Exit(runner.run(_serve(chosen, print_port=print_port)))


async def _serve(chosen: object, *, print_port: bool) -> int:
    from tavolata.service.identity import IdentityRefused
    from tavolata.service.operation import TracesRefused
    from tavolata.service.probes import ProbesRefused
    from tavolata.service.server import BindRefused, Server
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
    return 0 if await server.serve(_leave_at_last) else 3


def _leave_at_last() -> None:
    """End the process when a graceful stop has taken too long for its supervisor: a disk that
    doesn't answer, for one, can't be waited for. What was acknowledged is recorded."""

    def leave() -> None:
        os.write(2, f"tavolata: not stopped after {STOP_MAX_S:g} s; ending\n".encode())
        os._exit(STOPPED_BADLY)

    timer = threading.Timer(STOP_MAX_S, leave)
    timer.daemon = True
    timer.start()
