"""`tavolata worker`: acts for matches of a database in place of its servers."""

from __future__ import annotations

import asyncio
import gc
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

Flag = typer.Option


def worker(
    ctx: typer.Context,
    config: Annotated[Path | None, Flag(help="TOML file with settings")] = None,
    threads: Annotated[
        int | None, Flag(min=1, max=256, help="threads for AI players; default: one a core")
    ] = None,
    print_ready: Annotated[
        bool, Flag("--print-ready", help="print a line once it claims matches")
    ] = False,
) -> None:
    """Let AI players decide, and clocks run, for the matches of a database (--store).

    Give the servers ai_threads = 0, so that they leave it to workers. Settings are those of
    `tavolata serve`; docs/settings.md lists them.
    """
    os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
    import uvloop

    from tavolata.service import logs
    from tavolata.service.cli.setting_flags import given
    from tavolata.service.cli.settings import load_or_exit, strangers

    flags = given(ctx)
    if threads is not None:
        flags["ai_threads"] = threads
    elif "ai_threads" not in flags and os.environ.get("TAVOLATA_AI_THREADS") == "0":
        flags["ai_threads"] = -1  # the environment is that of servers that leave it to workers
    chosen = load_or_exit(config, **flags)
    for problem in strangers(os.environ):
        typer.echo(f"tavolata: warning: {problem}", err=True)
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    logs.configure(chosen.log_format, chosen.log_level)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        raise typer.Exit(runner.run(_work(chosen, print_ready=print_ready)))


async def _work(chosen: object, *, print_ready: bool) -> int:
    from tavolata.service.cli.serve import leave_at_last
    from tavolata.service.operation import TracesRefused
    from tavolata.service.players.opening import PlayersRefused
    from tavolata.service.probes import ProbesRefused
    from tavolata.service.settings import Settings
    from tavolata.service.store.revisions import NotOpened, UnknownSchema
    from tavolata.service.worker import Worker

    assert isinstance(chosen, Settings)  # noqa: S101
    running = Worker(chosen)
    running.heed_signals()
    try:
        await running.start()
    except (
        UnknownSchema,
        NotOpened,
        PlayersRefused,
        ProbesRefused,
        TracesRefused,
        OSError,
    ) as error:
        typer.echo(f"tavolata: {error}", err=True)
        return 1
    if print_ready:
        sys.stdout.write("working\n")
        sys.stdout.flush()
    return 0 if await running.serve(leave_at_last) else 3
