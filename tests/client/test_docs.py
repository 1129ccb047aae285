"""The screens in docs/terminal.md are what the terminal client says."""

from __future__ import annotations

import asyncio
import hashlib
import re
import shlex
import textwrap
from pathlib import Path

import pytest

import tavolata.client
from tavolata.client import connect
from tavolata.ext.registry import GAMES
from tavolata.service import client as client_library
from tavolata.service.server import Server
from tavolata.service.terminal.client import play_at
from tavolata.service.terminal.keys import Key
from tavolata.service.terminal.screen import Screen, UnknownScreen, screen_of
from tavolata.service.terminal.table import Wanted, make_table
from tavolata.service.terminal.voice import Voice
from tests.client.players import Reader

DOCS = Path(__file__).resolve().parents[2] / "docs" / "terminal.md"
PAGE = DOCS.read_text(encoding="utf-8") if DOCS.exists() else ""
COMMAND = "$ tavolata play "
# Bids are made at the same time, so they come in any order.
ANY_ORDER = re.compile(r"AI \d has bid\. ?")


def screens() -> dict[str, list[str]]:
    """The lines of each screen that begins with a command, by the command."""
    found: dict[str, list[str]] = {}
    lines: list[str] | None = None
    for line in PAGE.splitlines():
        text = line.removeprefix("    ")
        if text == line:
            lines = None
        elif text.startswith(COMMAND):
            lines = found[text.removeprefix(COMMAND)] = []
        elif lines is not None:
            lines.append(text)
    return found


def words(text: str) -> str:
    """The text without line breaks and without what comes in any order."""
    return ANY_ORDER.sub("", " ".join(text.split()))


class Reenactor:
    """Types what the screen says was typed, once all that stands before it has been said."""

    def __init__(self, screen: list[str], out: Reader) -> None:
        self._steps = [
            (line[1:].strip(), words("\n".join(screen[:place])))
            for place, line in enumerate(screen)
            if line.startswith(">")
        ]
        self._rest = words("\n".join(screen))
        self._out = out

    async def next(self) -> str | None:
        typed, before = self._steps.pop(0) if self._steps else (None, self._rest)
        while len(words(self._out.getvalue())) < len(before):
            await self._out.lines.get()
        if typed is not None:
            self._out.write(f"> {typed}\n")
        return typed


@pytest.mark.skipif(not PAGE, reason="there is no docs folder beside an installed package")
def test_every_game_of_the_terminal_has_a_screen_in_the_docs() -> None:
    games = Path(__file__).resolve().parents[2] / "service" / "terminal" / "games"
    names = {path.stem for path in games.glob("*.py")} - {"__init__"}
    assert {command.split()[0] for command in screens()} == names


@pytest.mark.parametrize("command", screens())
async def test_a_screen_of_the_docs_is_what_is_said(service: Server, command: str) -> None:
    screen = screens()[command]
    game_id, *flags = shlex.split(command)
    options = dict(zip(flags[::2], flags[1::2], strict=True))
    wanted = Wanted(
        game_id,
        seats=int(options["--seats"]),
        player=options["--ai"],
        name=options["--name"],
        seed=hashlib.sha256(options["--seed"].encode()).digest(),
    )
    out = Reader()
    voice = Voice(out, "never")
    async with connect(f"127.0.0.1:{service.port}") as server:
        reenactor = Reenactor(screen, out)
        seat = await make_table(server, wanted, reenactor, voice)
        out.blank = {seat.table_id: "TABLE"}
        async with asyncio.timeout(60):
            await play_at(server, seat, reenactor, voice)
    said = words(out.getvalue())
    wanted_words = words("\n".join(screen))
    assert said[: len(wanted_words)] == wanted_words


@pytest.mark.skipif(not PAGE, reason="there is no docs folder beside an installed package")
def test_every_key_is_explained_in_the_docs() -> None:
    others = (Key.ENTER, Key.NUMBER, Key.SAVE, Key.RESIGN)
    first = {key: key.value[0] for key in Key if key not in others}
    rows = [line for line in PAGE.splitlines() if line.startswith("| ")]
    assert all(any(f"`{each.upper()}`" in row for row in rows) for each in first.values())


def test_every_game_has_a_screen_with_all_that_the_client_asks_of_it() -> None:
    asked = {name for name in vars(Screen) if not name.startswith("_")}
    assert {"on_table", "led", "rules_now", "standing", "happened"} <= asked
    for game_id in GAMES:
        screen = screen_of(game_id)
        assert asked <= set(dir(screen)), game_id


def test_a_game_without_a_screen_is_refused_by_name() -> None:
    with pytest.raises(UnknownScreen, match="no screen for 'chess'"):
        screen_of("chess")


async def test_the_example_of_the_client_library_plays_a_match(service: Server) -> None:
    example = textwrap.dedent("    " + (client_library.__doc__ or "").partition("\n\n    ")[2])
    example = example.replace("localhost:50051", f"127.0.0.1:{service.port}")
    names = {name: getattr(tavolata.client, name) for name in tavolata.client.__all__}
    program = f"async def program():\n{textwrap.indent(example, '    ')}\n    return result\n"
    exec(program, names)  # noqa: S102 - our own page
    result = await names["program"]()
    assert len(result.seats) == 4
