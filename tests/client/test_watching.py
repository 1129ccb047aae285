"""Watching a table at the terminal, over a real socket: what is public, live, to a clean end."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tavolata.client import Connection, Refused, Seat, ai_player, connect, open_seat, settings
from tavolata.ext.core.record import loads, replay
from tavolata.ext.registry import GAMES, game_spec
from tavolata.service.server import Server
from tavolata.service.terminal.client import watch_at
from tavolata.service.terminal.voice import Voice
from tavolata.v1.table_pb2 import SEAT_CONTROL_OCCUPANT, TABLE_STATE_OPEN
from tests.client.players import Reader

KEYS = ("c", "1", "9", "d", "f", "r", "s", "t", "n", "b", "a", "?", "", "l", "w", "p red", "#1")
NOTHING_TO_CHOOSE = "You are watching, so there is nothing to choose."


class Onlooker:
    """Types a key after every few lines, and `at_end` when the match is over."""

    def __init__(self, out: Reader, at_end: list[str]) -> None:
        self._out = out
        self._keys = list(KEYS)
        self._at_end = at_end
        self._is_over = False

    async def next(self) -> str | None:
        read = 0
        while not self._is_over:
            line = await self._out.lines.get()
            self._is_over = line.startswith("Save saves the replay")
            read += 1
            if self._keys and read >= 3:
                return self._keys.pop(0)
        return self._at_end.pop(0) if self._at_end else None


async def until(out: Reader, said: str) -> None:
    """Read on to a line with this in it."""
    while said not in await out.lines.get():
        pass


class Nobody:
    """No lines, as of a closed input."""

    async def next(self) -> str | None:
        return None


async def ai_table(server: Connection, game_id: str, seats: int = 4) -> Seat:
    return await server.create_table(settings(game_id), [ai_player("greedy")] * seats)


@pytest.mark.parametrize("game_id", GAMES)
async def test_a_match_is_watched_from_before_its_beginning_to_its_end(
    service: Server, tmp_path: Path, game_id: str
) -> None:
    path = tmp_path / "match.json"
    out = Reader()
    async with connect(f"127.0.0.1:{service.port}") as server:
        owner = await ai_table(server, game_id)

        class Starting(Onlooker):
            async def next(self) -> str | None:
                if (await server.table(owner.table_id)).state == TABLE_STATE_OPEN:
                    await until(out, "The owner starts the match.")
                    await owner.start()
                return await super().next()

        async with asyncio.timeout(30):
            await watch_at(
                server, owner.table_id, Starting(out, [f"save {path}", "q"]), Voice(out, "never")
            )
        result = (await server.table(owner.table_id)).result
    text = out.getvalue()
    assert "The match begins." in text
    assert "The match is over." in text
    assert text.count(NOTHING_TO_CHOOSE) == 4, "L, W, P and #1 are typed during the match"
    assert not re.search(r"\bYou (hold|drew|were dealt|played|took|bid)\b", text)
    assert "Your turn" not in text
    assert list(replay(loads(path.read_text()), game_spec).totals()) == [
        each.total for each in result.seats
    ]


async def test_who_comes_late_hears_how_the_table_stands(service: Server) -> None:
    out = Reader()
    async with connect(f"127.0.0.1:{service.port}") as server:
        seats = [open_seat(), *[ai_player("greedy")] * 2]
        owner = await server.create_table(settings("mino_dice"), seats)
        anna = await server.join(owner.table_id, "Anna")
        await owner.start()

        class Leaving(Onlooker):
            async def next(self) -> str | None:
                await until(out, "You are watching. ")
                return "q"

        async with asyncio.timeout(30):
            await watch_at(server, owner.table_id, Leaving(out, []), Voice(out, "never"))
        table = await server.table(owner.table_id)
    assert "No dice are on the table." in out.getvalue()
    assert "Hand 1, bids are open; in: " in out.getvalue()
    assert anna.number == 0
    assert table.seats[0].control == SEAT_CONTROL_OCCUPANT, (
        "Anna is still there: a spectator takes nobody along"
    )


async def test_without_anybody_at_the_keys_the_match_is_told_to_its_end(service: Server) -> None:
    out = Reader()
    async with connect(f"127.0.0.1:{service.port}") as server:
        owner = await ai_table(server, "mino_dice", 3)
        await owner.start()
        async with asyncio.timeout(30):
            await watch_at(server, owner.table_id, Nobody(), Voice(out, "never"))
    assert out.getvalue().rstrip().endswith("The match is over.")


async def test_a_match_that_is_over_is_told_with_its_result(service: Server) -> None:
    out = Reader()
    async with connect(f"127.0.0.1:{service.port}") as server:
        owner = await ai_table(server, "mino_dice", 3)
        await owner.start()
        async with asyncio.timeout(30):
            await watch_at(server, owner.table_id, Nobody(), Voice(Reader(), "never"))
            await watch_at(server, owner.table_id, Nobody(), Voice(out, "never"))
    assert re.search(r" won\. Place 1: AI \d with \d+; ", out.getvalue())
    assert out.getvalue().rstrip().endswith("The match is over.")


async def test_the_command_watches_a_table_of_a_server(service: Server) -> None:
    async with connect(f"127.0.0.1:{service.port}") as server:
        owner = await ai_table(server, "mino_dice", 3)
        await owner.start()
        done = await asyncio.to_thread(
            play, "--server", f"127.0.0.1:{service.port}", "--watch", owner.table_id
        )
        with pytest.raises(Refused, match="TABLE_NOT_FOUND"):
            await watch_at(server, "nowhere", Nobody(), Voice(Reader(), "never"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "The match is over." in done.stdout.splitlines()  # while it was watched, or before


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--watch", "T"), "name it with --server"),
        (("--watch", "T", "--server", "a:1", "--token", "x"), "--watch is without a seat"),
        (("--watch", "T", "--server", "a:1", "--join", "T"), "--watch is without a seat"),
    ],
)
def test_watching_is_refused_with_what_does_not_go_with_it(
    arguments: tuple[str, ...], why: str
) -> None:
    done = play(*arguments)
    assert done.returncode == 2
    assert why in " ".join(done.stderr.split())


def play(*arguments: str) -> subprocess.CompletedProcess[str]:
    """`tavolata play` with nobody at the keys."""
    return subprocess.run(
        [sys.executable, "-m", "tavolata", "play", *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
