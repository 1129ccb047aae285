"""The command `tavolata`.

A command is a function in a module of its own and one line here. The modules are imported for every
call, `--help` included, so what is heavy (games, search, gRPC) they import inside the function.
"""

from __future__ import annotations

from typing import Annotated

import typer

from tavolata.service.cli import (
    admin,
    backup,
    bench,
    demo,
    doctor,
    experiments,
    loadtest,
    match,
    migrate,
    play,
    replay,
    review,
    serve,
    tables,
    tournament,
    verify,
    worker,
)
from tavolata.service.cli.setting_flags import SettingsCommand

app = typer.Typer(
    name="tavolata",
    help="Table games with hidden information, over gRPC, with AI players in the empty seats.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,  # they may hold seeds and tokens
)


def _version(wanted: bool) -> None:
    if wanted:
        from tavolata import __version__

        typer.echo(f"tavolata {__version__}")
        raise typer.Exit


@app.callback()
def tavolata(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Table games with hidden information, over gRPC, with AI players in the empty seats."""


app.command("replay")(replay.replay)
app.command("review")(review.review)
app.command("verify")(verify.verify)
app.command("match")(match.match)
app.command("ablate")(experiments.ablate)
app.command("tune")(experiments.tune)
app.command("bench")(bench.bench)
app.command("loadtest")(loadtest.loadtest)
app.command("serve", cls=SettingsCommand)(serve.serve)
app.command("worker", cls=SettingsCommand)(worker.worker)
app.command("doctor", cls=SettingsCommand)(doctor.doctor)
app.command("migrate")(migrate.migrate)
app.command("backup")(backup.backup)
app.command("tables")(tables.tables)
app.command("play")(play.play)
app.command("demo")(demo.demo)
app.add_typer(admin.app)
app.add_typer(tournament.app)
