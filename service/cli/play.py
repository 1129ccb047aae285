"""`tavolata play`: the terminal client."""

from __future__ import annotations

import asyncio
import hashlib
import os
import sys
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tavolata.service.cli import reach

if TYPE_CHECKING:
    import grpc

    from tavolata.service.terminal.table import Wanted
    from tavolata.service.terminal.voice import Voice

_CALL_S = 10.0  # somebody is waiting


@dataclass(frozen=True, slots=True)
class Place:
    """Which server and table; empty or None: a server of one's own, a new table.

    tls_ca: PEM file with the certificates to trust; None: those that gRPC brings. is_watched: the
    table is looked at and no seat taken. tls_cert, tls_key: PEM files to show the server; identity:
    file with a JWT to show it.
    """

    server: str
    db: Path | None
    table_id: str
    seat: int | None
    token: str
    tls: bool = False
    tls_ca: Path | None = None
    is_watched: bool = False
    tls_cert: Path | None = None
    tls_key: Path | None = None
    identity: Path | None = None

    @property
    def lasting(self) -> str:
        """The options that lead to the same server again; empty if it ends with the client."""
        if self.server:
            words = [f"--server {self.server}"]
            words += ["--tls"] if self.tls and not (self.tls_ca or self.tls_cert) else []
            words += [f"--tls-ca {self.tls_ca}"] if self.tls_ca else []
            words += [f"--tls-cert {self.tls_cert} --tls-key {self.tls_key}"] * bool(self.tls_cert)
            return " ".join(words)
        return f"--db {self.db}" if self.db is not None else ""

    def credentials(self) -> grpc.ChannelCredentials | None:
        """What the server has to prove, and is shown; None: plain text."""
        return reach.credentials(self.tls, self.tls_ca, self.tls_cert, self.tls_key)


def play(
    game: Annotated[str, typer.Argument(help="Game to play; asked for if left out.")] = "",
    server: Annotated[
        str,
        typer.Option(help="Server, as host:port. Without one, a server of your own is started."),
    ] = "",
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
    db: Annotated[
        Path | None,
        typer.Option(help="File of your own server, to come back later. Default: a temporary one."),
    ] = None,
    join: Annotated[str, typer.Option("--join", help="Id of a table to join.")] = "",
    watch: Annotated[
        str, typer.Option("--watch", help="Id of a table to watch, without a seat at it.")
    ] = "",
    seat: Annotated[int | None, typer.Option(help="Seat to take when joining.")] = None,
    token: Annotated[str, typer.Option(help="Token of your seat, to come back to it.")] = "",
    name: Annotated[str, typer.Option(help="Your name at the table.")] = "",
    public: Annotated[
        bool, typer.Option("--public", help="Let `tavolata tables` show the new table to anyone.")
    ] = False,
    seats: Annotated[int | None, typer.Option(help="Number of seats at a new table.")] = None,
    people: Annotated[
        int, typer.Option(help="How many of them are for people, you included; AI in the others.")
    ] = 1,
    hints: Annotated[
        bool | None,
        typer.Option(
            "--hints/--no-hints",
            help="Whether the new table allows hints. Default: if all others are AI players.",
        ),
    ] = None,
    ai: Annotated[str, typer.Option(help="AI player of the others. Default: the server's.")] = "",
    level: Annotated[str, typer.Option(help="Its level. Default: the player's.")] = "",
    option: Annotated[
        list[str] | None,
        typer.Option("--option", "-o", help="Option of the game, name=value; may be repeated."),
    ] = None,
    seed: Annotated[
        str, typer.Option(help="Any text: the same text deals the same match. Not for fair play.")
    ] = "",
    color: Annotated[str, typer.Option(help="auto, never or always.")] = "auto",
) -> None:
    """Play at the terminal, in plain lines that a screen reader can follow.

    Makes a table, with AI players in the seats that are not for people, or joins or watches one by
    its id.
    """
    # gRPC reads it when it is imported: its own log would stand between the lines of the game.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    from tavolata.service.terminal.table import Wanted
    from tavolata.service.terminal.voice import Voice

    if color not in ("auto", "never", "always"):
        raise typer.BadParameter(f"{color!r}; allowed: auto, never, always", param_hint="--color")
    if server and db is not None:
        raise typer.BadParameter("--db is for a server of your own; leave out --server")
    is_tls = tls or tls_ca is not None or (tls_cert is not None and bool(server))
    if (tls or tls_ca is not None) and not server:
        raise typer.BadParameter("TLS is for a server elsewhere; name it with --server")
    if watch and (join or token or seat is not None):
        raise typer.BadParameter("--watch is without a seat; leave out --join, --seat and --token")
    if watch and not server:
        raise typer.BadParameter("--watch is for a server elsewhere; name it with --server")
    if server:
        reach.check(tls_ca, tls_cert, tls_key)
    wanted = Wanted(
        game_id=game,
        seats=seats,
        people=people,
        name=name,
        player=ai,
        level=level,
        options=tuple(option or ()),
        seed=hashlib.sha256(seed.encode()).digest() if seed else b"",
        is_public=public,
        hints=hints,
    )
    place = Place(
        *(server, db, join or watch, seat, token, is_tls, tls_ca, bool(watch)),
        *((tls_cert, tls_key, identity) if server else ()),
    )
    raise typer.Exit(_run(place, wanted, Voice(sys.stdout, color)))  # type: ignore[arg-type]


def _run(place: Place, wanted: Wanted, voice: Voice) -> int:
    """The exit code: 0, or 1 after saying what was wrong."""
    from tavolata.service.client import Refused, ServiceError
    from tavolata.service.terminal.embedded import NoServer
    from tavolata.service.terminal.options import WrongOption
    from tavolata.service.terminal.screen import UnknownScreen
    from tavolata.service.terminal.table import NoTable
    from tavolata.service.terminal.voice import Tone

    try:
        asyncio.run(_play(place, wanted, voice))
    except OSError:  # nobody reads what is said: the terminal or the next program of a pipe is gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        voice.say("Stopped.")
    except Refused as refusal:
        allowed = refusal.metadata.get("allowed")
        more = f" Allowed: {allowed}." if allowed and allowed not in refusal.message else ""
        voice.say(f"Refused: {refusal.message}.{more}", Tone.TROUBLE)
        return 1
    except (ServiceError, NoServer, WrongOption, UnknownScreen, NoTable) as error:
        voice.say(str(error), Tone.TROUBLE)
        return 1
    return 0


async def _play(place: Place, wanted: Wanted, voice: Voice) -> None:
    from tavolata.service.client import RetryPolicy, connect
    from tavolata.service.terminal.client import play_at, watch_at
    from tavolata.service.terminal.embedded import embedded_server
    from tavolata.service.terminal.lines import TypedLines
    from tavolata.service.terminal.table import make_table, sit_down

    async with AsyncExitStack() as stack:
        target = place.server or await stack.enter_async_context(embedded_server(place.db))
        connection = await stack.enter_async_context(
            connect(
                target,
                credentials=place.credentials(),
                policy=RetryPolicy(call_s=_CALL_S),
                identity=reach.identity_in(place.identity),
            )
        )
        lines = TypedLines(sys.stdin)
        if place.is_watched:
            await watch_at(connection, place.table_id, lines, voice)
            return
        if place.table_id:
            seat = await sit_down(connection, place.table_id, wanted.name, place.seat, place.token)
        else:
            seat = await make_table(connection, wanted, lines, voice)
        places = [seat]
        try:
            unfinished = await play_at(connection, seat, lines, voice, places.append)
            seat = places[-1]
        except asyncio.CancelledError:  # Ctrl-C, the last thing done here
            voice.say("You have left the table.")
            seat = places[-1]
            unfinished = seat.view is not None and not seat.view.result.seats
        if unfinished and place.lasting:
            voice.say(
                # With "=", as an id may begin with a dash.
                f"To come back: tavolata play {place.lasting} --join={seat.table_id} "
                f"--token={seat.token}",
                whole=True,
            )
