"""The screens in docs/terminal.md are what the terminal client says."""

from __future__ import annotations

import asyncio
import hashlib
import re
import shlex
import textwrap
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import tavolata.client
from tavolata.client import connect
from tavolata.ext.registry import GAMES
from tavolata.service import client as client_library
from tavolata.service import server as server_module
from tavolata.service.entropy import SystemEntropy
from tavolata.service.server import Server
from tavolata.service.terminal.client import play_at
from tavolata.service.terminal.keys import Key
from tavolata.service.terminal.screen import Screen, UnknownScreen, screen_of
from tavolata.service.terminal.table import Wanted, make_table
from tavolata.service.terminal.voice import Voice
from tests.client.conftest import started
from tests.client.players import Reader

DOCS = Path(__file__).resolve().parents[2] / "docs" / "terminal.md"
PAGE = DOCS.read_text(encoding="utf-8") if DOCS.exists() else ""
COMMAND = "$ tavolata play "
LEFT_OUT = "... "  # before lines that were typed, with semicolons between them
SEARCH_SEED = 8  # bytes
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
    return ANY_ORDER.sub("", " ".join(text.split())).strip()


@dataclass(frozen=True, slots=True)
class Scene:
    """Lines of a screen, and what was typed before them without being answered on the page."""

    left_out: list[str]
    lines: list[str]


def scenes(screen: list[str]) -> list[Scene]:
    """A screen taken apart where it says what was typed without what was said to it."""
    found = [Scene([], [])]
    for line in screen:
        if not line.startswith(LEFT_OUT):
            found[-1].lines.append(line)
            continue
        if found[-1].lines:
            found.append(Scene([], []))
        found[-1].left_out.extend(each.strip() for each in line[len(LEFT_OUT) :].split(";"))
    return [Scene([each for each in scene.left_out if each], scene.lines) for scene in found]


class Reenactor:
    """Types what the page says was typed, once all that stands before it has been said.

    said: the words of each scene; complete when nothing more is typed.
    """

    def __init__(self, scenes: list[Scene], out: Reader) -> None:
        self.said: list[str] = []
        self._out = out
        self._lines = self._typed(scenes)

    async def next(self) -> str | None:
        return await anext(self._lines, None)

    async def _typed(self, scenes: list[Scene]) -> AsyncIterator[str]:
        start = 0
        for scene in scenes:
            for typed in scene.left_out:
                while not self._out.lines.empty():
                    self._out.lines.get_nowait()
                yield typed
                while not (await self._out.lines.get()).startswith("Your turn."):
                    pass
                start = len(self._out.getvalue())
            for place, line in enumerate(scene.lines):
                if line.startswith(">"):
                    await self._until(scene.lines[:place], start)
                    self._out.write(f"{line}\n")
                    yield line[1:].strip()
            await self._until(scene.lines, start)
            self.said.append(words(self._out.getvalue()[start:]))

    async def _until(self, lines: list[str], start: int) -> None:
        """Wait until as much has been said as these lines say."""
        enough = len(words("\n".join(lines)))
        while len(words(self._out.getvalue()[start:])) < enough:
            await self._out.lines.get()


class Settled(SystemEntropy):
    """Entropy whose seeds of the AI players' decisions are always the same."""

    def bytes(self, count: int) -> bytes:
        return bytes(count) if count == SEARCH_SEED else super().bytes(count)


@pytest.fixture
async def settled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Server]:
    """A server at which AI players that are asked the same answer the same."""
    monkeypatch.setattr(server_module, "SystemEntropy", Settled)
    server = await started(tmp_path / "tavolata.db")
    yield server
    await server.stop()


@pytest.mark.skipif(not PAGE, reason="there is no docs folder beside an installed package")
def test_every_game_of_the_terminal_has_a_screen_in_the_docs() -> None:
    games = Path(__file__).resolve().parents[2] / "service" / "terminal" / "games"
    names = {path.stem for path in games.glob("*.py")} - {"__init__"}
    assert {command.split()[0] for command in screens()} == names


@pytest.mark.parametrize("command", screens())
async def test_a_screen_of_the_docs_is_what_is_said(settled: Server, command: str) -> None:
    screen = scenes(screens()[command])
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
    async with connect(f"127.0.0.1:{settled.port}") as server:
        reenactor = Reenactor(screen, out)
        seat = await make_table(server, wanted, reenactor, voice)
        out.blank = {seat.table_id: "TABLE"}
        async with asyncio.timeout(60):
            await play_at(server, seat, reenactor, voice)
    assert len(reenactor.said) == len(screen)
    for said, scene in zip(reenactor.said, screen, strict=True):
        wanted_words = words("\n".join(scene.lines))
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
