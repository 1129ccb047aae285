"""What the client library and the terminal have for finding tables and playing again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from typer.testing import CliRunner

from tavolata.client import Connection, ai_player, connect, open_seat, person, settings
from tavolata.service.cli.main import app
from tavolata.service.server import Server
from tavolata.v1 import event_pb2, table_pb2


@pytest.fixture
async def server(service: Server) -> AsyncIterator[Connection]:
    async with connect(f"127.0.0.1:{service.port}") as connection:
        yield connection


def public(game_id: str, **others: Any) -> table_pb2.TableSettings:
    """Settings of a table that lists show."""
    return settings(game_id, visibility=table_pb2.VISIBILITY_PUBLIC, **others)


async def run(*arguments: str) -> Any:
    """What the command says, run in a thread of its own as it has its own event loop."""
    return await asyncio.to_thread(CliRunner().invoke, app, list(arguments))


async def test_tables_are_found_over_any_number_of_pages(server: Connection) -> None:
    made = [
        await server.create_table(public("bouillabaisse"), [person("Ada"), open_seat()])
        for _ in range(5)
    ]
    await server.create_table(settings("bouillabaisse"), [person(), open_seat()])
    found = [table.table_id async for table in server.tables(page_size=2)]
    assert found == [seat.table_id for seat in reversed(made)]
    await server.join(made[2].table_id)
    free = [table.table_id async for table in server.tables(min_open_seats=1)]
    assert free == [made[n].table_id for n in (4, 3, 1, 0)]


async def test_a_seat_is_taken_again_at_the_rematch(server: Connection) -> None:
    seat = await server.create_table(
        settings("bouillabaisse"), [person("Ada"), open_seat(), ai_player("greedy")]
    )
    other = await server.join(seat.table_id, "Grace")
    await seat.start()
    await seat.abort()
    again = await other.rematch(rotate_seats=1)
    mine = await seat.rematch()
    assert again.table_id == mine.table_id != seat.table_id
    assert (again.number, mine.number) == (2, 1)
    assert mine.table is not None
    assert mine.table.owner_seat == again.number
    await again.start()
    assert (await mine.refresh()).viewer_seat == 1


async def test_the_server_tells_of_itself(server: Connection) -> None:
    info = await server.server_info()
    assert {game.game_id for game in info.games} == {game.game_id for game in await server.games()}


async def test_who_thinks_is_heard_beside_the_updates(server: Connection) -> None:
    pace = {"floor": {"seconds": 50}}
    seat = await server.create_table(
        table_pb2.TableSettings(game_id="bouillabaisse", ai_pace=pace),  # type: ignore[arg-type]
        [ai_player("greedy"), person()],
    )
    await seat.start()
    heard: list[event_pb2.Thinking] = []
    updates = seat.watch(on_thinking=heard.append)
    first = await anext(updates)
    view = first.view  # type: ignore[union-attr]
    waiting = asyncio.ensure_future(anext(updates))
    if view.seats_to_act != [0]:
        await seat.play(view.legal_actions[0])
    while not heard:
        if waiting.done():
            waiting = asyncio.ensure_future(anext(updates))
        await asyncio.sleep(0.01)
    assert list(heard[0].seats) == [0]
    waiting.cancel()


async def test_the_command_shows_tables_with_the_way_in(
    server: Connection, service: Server
) -> None:
    place = ("--server", f"127.0.0.1:{service.port}")
    told = await run("tables", *place)
    assert (told.exit_code, told.stdout) == (0, "No public table fits.\n")
    waiting = await server.create_table(
        public("bouillabaisse"), [person("Ada"), open_seat(), ai_player("greedy")]
    )
    playing = await server.create_table(public("bids"), [person("Grace"), open_seat(), open_seat()])
    for _ in range(2):
        await server.join(playing.table_id)
    await playing.start()
    over = await server.create_table(public("mino_dice"), [person(), *[open_seat()] * 2])
    await over.abort()
    told = await run("tables", *place)
    assert told.exit_code == 0
    lines = told.stdout.splitlines()
    assert lines == [
        "mino_dice, aborted: seat 0",
        "bids, playing: Grace, seat 1 and seat 2",
        f"    tavolata play {' '.join(place)} --watch={playing.table_id}",
        "bouillabaisse, open: Ada and 1 AI player; 1 seat to take",
        f"    tavolata play {' '.join(place)} --join={waiting.table_id}",
    ]
    told = await run("tables", *place, "--state", "open", "--game", "bouillabaisse", "--seats", "1")
    assert told.stdout.splitlines() == lines[3:]
    told = await run("tables", *place, "--limit", "1")
    assert told.stdout.splitlines() == lines[:1]
    told = await run("tables", *place, "--state", "closed")
    assert told.exit_code == 2
    assert "allowed: open, playing" in " ".join(told.stderr.split())
