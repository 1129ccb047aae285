"""`tavolata doctor`: what may keep a server from running well here."""

from __future__ import annotations

import asyncio
import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from tavolata.service.doctor.finding import Finding
    from tavolata.service.settings import Settings


def doctor(
    ctx: typer.Context,
    config: Annotated[Path | None, typer.Option(help="TOML file with settings")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="one JSON array, for programs")] = False,
) -> None:
    """Look at machine, settings and store, as `tavolata serve` with the same flags would find them.

    It writes one row to a store that no server runs on or that servers share, and nothing else.
    Exit code 0: nothing that keeps a server from running; 1: something does; 2: the settings can't
    be read.
    """
    from tavolata.service.cli.setting_flags import given
    from tavolata.service.cli.settings import load_or_exit

    chosen = load_or_exit(config, **given(ctx))
    findings = asyncio.run(_findings(chosen))
    if as_json:
        typer.echo(json.dumps([asdict(each) for each in findings], indent=2))
    else:
        for each in findings:
            typer.echo(f"{each.level:<4}  {each.check}: {each.says}")
            if each.advice:
                typer.echo(f"      -> {each.advice}")
    raise typer.Exit(1 if any(each.level == "fail" for each in findings) else 0)


async def _findings(chosen: Settings) -> list[Finding]:
    from tavolata.service.doctor import environment

    found = list(environment.look(chosen, os.environ))
    if any(each.check == "processor" and each.level == "fail" for each in found):
        return found  # nothing else can be loaded
    from tavolata.service.doctor import settings, store

    found += settings.look(chosen)
    found += [finding async for finding in store.look(chosen)]
    return found
