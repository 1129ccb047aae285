"""How soon a server with very many live tables serves again, beside one with none.

The tables are made, and their matches begun, over gRPC by the service itself. A start is counted
from the launch of the process to the answer to a seat's GetView; then every kind of longest match
is read for the first time, that is played again from its log.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import grpc
import uvloop

from tavolata.ext.registry import GAMES
from tavolata.service.bench.measurement import Measurement
from tavolata.service.own_server import own_server
from tavolata.v1 import table_pb2
from tavolata.v1 import table_service_pb2 as pb
from tavolata.v1.player_pb2 import AiPlayer
from tavolata.v1.table_service_pb2_grpc import TableServiceStub

if TYPE_CHECKING:
    from tavolata.v1.table_service_pb2_grpc import TableServiceAsyncStub

TABLES = 10_000
AT_A_TIME = 64
LONGEST = 20  # matches of each game that are read
WITHIN_S = 2.0
QUICK = (
    "--ai-floor",
    "0",
    "--ai-jitter",
    "0",
    "--caller-tables-per-min",
    "0",
    "--caller-tables-max",
    "0",
)


def measurements() -> Iterator[Measurement]:
    """The starts, and the first view of a match of each game that is nearly over."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        rows = runner.run(_measured())
    yield from rows


async def _measured() -> list[Measurement]:
    with tempfile.TemporaryDirectory(prefix="tavolata-restart-") as folder:
        empty, full = Path(folder) / "empty.db", Path(folder) / "full.db"
        nobody = await _made(empty, 1)
        tables = await _made(full, TABLES)
        without = await _start_s(empty, nobody[0])
        within = await _start_s(full, tables[-1])
        rows = [
            Measurement(
                f"start with {TABLES} live tables, to the first view",
                within, "s", "with one", without,
            ),
            Measurement(
                f"start with {TABLES} live tables: times in {WITHIN_S:g} s",
                WITHIN_S / within, "times", goal=1.0,
            ),
        ]  # fmt: skip
        return rows + await _first_views(Path(folder))


async def _made(store: Path, count: int) -> list[tuple[str, str]]:
    """Begun matches of all games in turn, two seats of them people's: tables and tokens."""
    made: list[tuple[str, str]] = []
    async with (
        own_server("--db", str(store), *QUICK) as own,
        grpc.aio.insecure_channel(own.target) as channel,
    ):
        stub = TableServiceStub(channel)
        games = list(GAMES)
        for first in range(0, count, AT_A_TIME):
            numbers = range(first, min(first + AT_A_TIME, count))
            made += await asyncio.gather(
                *(_begun(stub, games[number % len(games)], number) for number in numbers)
            )
            if first % (20 * AT_A_TIME) == 0 and count > 1:
                print(f"{len(made)} of {count} tables made", file=sys.stderr)
    return made


async def _begun(stub: TableServiceAsyncStub, game: str, number: int) -> tuple[str, str]:
    ai = table_pb2.SeatPlan(ai=AiPlayer(player="random"))
    caller = table_pb2.SeatPlan(caller=table_pb2.CallerSeat())
    created = await stub.CreateTable(
        pb.CreateTableRequest(
            request_id=f"create-{number}-{game}",
            settings=table_pb2.TableSettings(game_id=game),
            seats=[caller, *[ai] * (GAMES[game].seats_usual - 1)],
        )
    )
    table_id, token = created.table.table_id, created.token
    await stub.StartMatch(
        pb.StartMatchRequest(request_id="start", table_id=table_id), metadata=_bearer(token)
    )
    return table_id, token


async def _start_s(store: Path, table: tuple[str, str]) -> float:
    """Seconds from the launch to the answer."""
    table_id, token = table
    launched = time.perf_counter()
    async with (
        own_server("--db", str(store), *QUICK) as own,
        grpc.aio.insecure_channel(own.target) as channel,
    ):
        request = pb.GetViewRequest(table_id=table_id)
        await TableServiceStub(channel).GetView(request, metadata=_bearer(token))
        return time.perf_counter() - launched


async def _first_views(folder: Path) -> list[Measurement]:
    """Matches of AI players to their end; then the time of the first view after a restart."""
    store = folder / "longest.db"
    ended = {game: await _played(store, game) for game in GAMES}
    rows = []
    async with (
        own_server("--db", str(store), *QUICK) as own,
        grpc.aio.insecure_channel(own.target) as channel,
    ):
        stub = TableServiceStub(channel)
        for game, tables in ended.items():
            first = [await _view_ms(stub, table_id) for table_id in tables]
            again = [await _view_ms(stub, table_id) for table_id in tables]
            rows.append(
                Measurement(
                    f"{game}, {_seats(game)} seats: first view of a whole match",
                    sorted(first)[len(first) // 2], "ms",
                    "a view of it in memory", sorted(again)[len(again) // 2],
                )
            )  # fmt: skip
    return rows


async def _played(store: Path, game: str) -> list[str]:
    """Whole matches at the largest table of a game."""
    ai = table_pb2.SeatPlan(ai=AiPlayer(player="random"))
    async with (
        own_server("--db", str(store), *QUICK) as own,
        grpc.aio.insecure_channel(own.target) as channel,
    ):
        stub = TableServiceStub(channel)
        tables = []
        for number in range(LONGEST):
            created = await stub.CreateTable(
                pb.CreateTableRequest(
                    request_id=f"longest-{number}-{game}",
                    settings=table_pb2.TableSettings(game_id=game),
                    seats=[ai] * _seats(game),
                )
            )
            table_id = created.table.table_id
            await stub.StartMatch(
                pb.StartMatchRequest(request_id="start", table_id=table_id),
                metadata=_bearer(created.token),
            )
            tables.append(table_id)
        for table_id in tables:
            async for _ in stub.WatchTable(pb.WatchTableRequest(table_id=table_id, after_event=0)):
                pass  # until the closing message at the end of the match
        return tables


def _seats(game: str) -> int:
    """The largest table that the default options allow."""
    return {"cafe_international": 4}.get(game, GAMES[game].seats_max)


async def _view_ms(stub: TableServiceAsyncStub, table_id: str) -> float:
    asked = time.perf_counter()
    await stub.GetView(pb.GetViewRequest(table_id=table_id))
    return 1000 * (time.perf_counter() - asked)


def _bearer(token: str) -> tuple[tuple[str, str], ...]:
    return (("authorization", f"Bearer {token}"),)
