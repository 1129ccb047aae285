"""`tavolata loadtest`: people by the thousand, and what a server makes of them."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tavolata.service.cli import reach

if TYPE_CHECKING:
    from tavolata.service.loadtest.plan import Plan
    from tavolata.service.loadtest.result import Result

# A server of one's own is asked by one address for everybody, and AI players answer at once.
OWN_FLAGS = (
    *("--ai-floor", "0", "--ai-jitter", "0", "--caller-tables-per-min", "0"),
    *("--caller-tables-max", "0", "--caller-streams-max", "0"),
)


def loadtest(
    server: Annotated[
        str,
        typer.Option(help="Server, as host:port. Without one, a server of your own is started."),
    ] = "",
    tables: Annotated[int, typer.Option(help="Tables played at the same time.")] = 32,
    players: Annotated[
        int | None, typer.Option(help="In place of --tables: as many as have so many seats.")
    ] = None,
    games: Annotated[
        str, typer.Option(help="Games by weight, as bids=2,mino_dice=1. Default: all alike.")
    ] = "",
    seats: Annotated[
        str, typer.Option(help="Seats of a table: usual, min or max of its game.")
    ] = "usual",
    rate: Annotated[
        float | None,
        typer.Option(
            help="Actions a second of all tables together, whatever the server answers (open loop)."
            " Default: as fast as answers come (closed loop)."
        ),
    ] = None,
    arrivals: Annotated[
        str, typer.Option(help="How actions of a rate are spread: poisson or even.")
    ] = "poisson",
    think: Annotated[
        float, typer.Option(help="Seconds that people think, in the mean (closed loop).")
    ] = 0.0,
    transport: Annotated[
        str, typer.Option(help="unary: a PlayAction for each; stream: PlayStreams, in batches.")
    ] = "unary",
    views: Annotated[
        bool,
        typer.Option(
            "--views",
            help="People follow the views that the server sends them, instead of playing along by"
            " the rules. Where AI players sit they always do.",
        ),
    ] = False,
    watchers: Annotated[int, typer.Option(help="Spectators of each table.")] = 0,
    storm_every: Annotated[
        float, typer.Option(help="Seconds between storms that cut connections; 0: none.")
    ] = 0.0,
    storm_share: Annotated[
        float, typer.Option(help="Share of watches and streams that a storm cuts.")
    ] = 0.5,
    ai_share: Annotated[
        float, typer.Option(help="Share of the seats, the first apart, for AI players.")
    ] = 0.0,
    ai: Annotated[str, typer.Option(help="The AI player. Default: the server's.")] = "",
    level: Annotated[str, typer.Option(help="Its level. Default: the player's.")] = "",
    duration: Annotated[float, typer.Option(help="Seconds that count.")] = 30.0,
    warmup: Annotated[float, typer.Option(help="Seconds of full load before them.")] = 2.0,
    ramp: Annotated[
        float, typer.Option(help="Seconds in which tables and rate grow, before that.")
    ] = 0.0,
    timeout: Annotated[float, typer.Option(help="Deadline of a call, in seconds.")] = 10.0,
    processes: Annotated[int, typer.Option(help="Processes of the tool.")] = 1,
    connections: Annotated[int, typer.Option(help="Connections of each process.")] = 4,
    streams: Annotated[int, typer.Option(help="PlayStreams of each process.")] = 8,
    seed: Annotated[int, typer.Option(help="Of all that is drawn: games, deals, actions.")] = 1,
    setting: Annotated[
        list[str] | None,
        typer.Option(
            "--setting",
            help="Setting of your own server, as name=value (docs/settings.md); may be repeated.",
        ),
    ] = None,
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
    identity: Annotated[
        Path | None,
        typer.Option(envvar=reach.IDENTITY, help="File with a JWT, for servers that want one."),
    ] = None,
    as_json: Annotated[
        Path | None, typer.Option("--json", help="File for the result, for programs.")
    ] = None,
    html: Annotated[
        Path | None, typer.Option("--html", help="File for the result, as a page with plots.")
    ] = None,
) -> None:
    """Load a server with people who play, watch and lose their connections, and say how long it
    took to answer. Only calls that truly succeeded count as such; all others are told by reason.

    Ctrl-C ends it early, with the results so far. The exit status is 1 if events were missing,
    doubled or changed, an answer was wrong, or no action succeeded. See docs/load.md.
    """
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    try:
        if html is not None:
            from tavolata.service.loadtest import page as paper
        from tavolata.service.loadtest.plan import Plan, Reach, WrongPlan, games_from, tables_for
        from tavolata.service.loadtest.run import LoadFailed
        from tavolata.service.loadtest.terminal import show
        from tavolata.service.own_server import ServerFailed
    except ModuleNotFoundError as error:
        typer.echo(f"this needs {error.name}, which comes with tavolata[load]", err=True)
        raise typer.Exit(1) from None
    for option, file in (("--json", as_json), ("--html", html)):
        if file is not None and not file.parent.is_dir():
            raise typer.BadParameter(f"there is no folder {file.parent}", param_hint=option)
    if not server and (tls or tls_ca is not None):
        raise typer.BadParameter("TLS is for a server elsewhere; name it with --server")
    if server and setting:
        raise typer.BadParameter("--setting is for a server of your own; leave out --server")
    if server:
        reach.check(tls_ca, tls_cert, tls_key)
    shown = (tls_ca, tls_cert, tls_key, identity) if server else (None,) * 4
    try:
        weights = games_from(games)
        plan = Plan(
            Reach(server, tls, *shown),
            tables=tables if players is None else tables_for(players, weights, seats),
            games=weights,
            seats=seats,
            rate=rate,
            arrivals=arrivals,
            think_s=think,
            transport=transport,
            views=views,
            watchers=watchers,
            storm_s=storm_every,
            storm_share=storm_share,
            ai_share=ai_share,
            ai_player=ai,
            ai_level=level,
            ramp_s=ramp,
            warmup_s=warmup,
            duration_s=duration,
            timeout_s=timeout,
            connections=connections,
            streams=streams,
            processes=processes,
            seed=seed,
        )
    except WrongPlan as wrong:
        raise typer.BadParameter(str(wrong)) from None
    try:
        result = asyncio.run(_run(plan, _flags(setting or [])))
    except (LoadFailed, ServerFailed) as failed:
        typer.echo(str(failed), err=True)
        raise typer.Exit(1) from None
    show(result)
    if as_json is not None:
        as_json.write_text(json.dumps(result.as_json(), indent=1) + "\n")
    if html is not None:
        html.write_text(paper.html(result))
    raise typer.Exit(0 if is_well(result) else 1)


def is_well(result: Result) -> bool:
    """Whether the server has done nothing that it must never do, and anything at all."""
    return not result.problems and result.actions().succeeded > 0


def _flags(settings: list[str]) -> list[str]:
    """Settings as flags of `tavolata serve`."""
    flags = [*OWN_FLAGS]
    for each in settings:
        name, equals, value = each.partition("=")
        if not equals:
            raise typer.BadParameter(f"{each!r}; it has to be name=value", param_hint="--setting")
        flags.append(f"--{name.strip().replace('_', '-')}={value.strip()}")
    return flags


async def _run(plan: Plan, flags: list[str]) -> Result:
    from dataclasses import replace

    from tavolata.service.loadtest.run import run
    from tavolata.service.loadtest.terminal import progress
    from tavolata.service.own_server import own_server

    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, stop.set)
    async with AsyncExitStack() as stack:
        process = None
        if not plan.reach.target:
            # Ctrl-C is for the tool, and the server is needed to the end.
            own = await stack.enter_async_context(own_server(*flags, apart=True))
            plan, process = replace(plan, reach=replace(plan.reach, target=own.target)), own.process
        with progress(plan) as observe:
            return await run(plan, observe, stop, process)
