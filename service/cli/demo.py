"""`tavolata demo`: the real service, and every game played over gRPC to its end."""

from __future__ import annotations

import asyncio
import sys
import time
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from tavolata.service.cli.demo_match import Wish

_PAUSE_S = 0.25  # a trick can be read, and both games take half a minute


def demo(
    seats: Annotated[
        int | None, typer.Option(help="Seats at each table. Default: what is usual for the game.")
    ] = None,
    games: Annotated[
        list[str] | None, typer.Option("--games", "-g", help="A game to play; may be repeated.")
    ] = None,
    level: Annotated[str, typer.Option(help="Level of the AI players.")] = "master",
    seed: Annotated[
        str, typer.Option(help="Any text: the same text deals the same matches again.")
    ] = "",
    pause: Annotated[
        float | None,
        typer.Option(min=0, help="Seconds after each trick. Default: 0.25 at a terminal, else 0."),
    ] = None,
) -> None:
    """Start the service in a temporary place and play every game to the end over gRPC.

    One seat is a script's, which always takes the middle one of its legal actions; ISMCTS has the
    others. Ends with 0 if every match was played to its end and its replay checked.
    """
    from rich.console import Console

    from tavolata.service.cli.demo_match import Wish

    terminal = sys.stdout.isatty()
    console = Console(highlight=False, soft_wrap=not terminal, width=None if terminal else 100)
    pause_s = pause if pause is not None else _PAUSE_S * terminal
    wish = Wish(seats=seats, level=level, seed=seed, pause_s=pause_s)
    raise typer.Exit(asyncio.run(_demo(console, wish, games or ())))


async def _demo(console: Console, wish: Wish, games: Sequence[str]) -> int:
    """The exit code."""
    from tavolata.ext.core.record import RecordError, RecordMismatch
    from tavolata.service.cli.demo_match import DemoFailed
    from tavolata.service.client import ServiceError
    from tavolata.service.own_server import ServerFailed, own_server
    from tavolata.service.terminal.screen import UnknownScreen

    began = time.monotonic()
    try:
        async with own_server() as server:
            console.print(f"Tavolata serves at [bold]{server.target}[/], store {server.store}")
            await _play_all(console, server.target, wish, games)
    except (
        *(ServiceError, ServerFailed, DemoFailed, UnknownScreen),
        *(RecordError, RecordMismatch),
    ) as error:
        console.print("The demo failed.", style="bold red", end=" ")
        console.print(str(error), markup=False, soft_wrap=True)
        return 1
    console.print(f"\nThe whole demo took {time.monotonic() - began:.1f} s.")
    return 0


async def _play_all(console: Console, target: str, wish: Wish, games: Sequence[str]) -> None:
    from rich.table import Table

    from tavolata.service.cli.demo_match import play_one
    from tavolata.service.client import connect

    async with connect(target) as server:
        offered = [game.game_id for game in await server.games()]
        played = [await play_one(console, server, each, wish) for each in games or offered]
    summary = Table(title="Summary", title_justify="left", box=None, pad_edge=False)
    for column in ("game", "seats", "decisions", "by AI", "iterations", "events", "time"):
        summary.add_column(column, justify="left" if column == "game" else "right")
    for match in played:
        summary.add_row(*match.summary())
    console.print()
    console.print(summary)
