"""A server of its own for a test, on a real socket and a real file, and short ways to call it."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw
import grpc
from google.rpc import error_details_pb2
from grpc_status import rpc_status

from tavolata.service import settings
from tavolata.service.server import Server
from tavolata.v1 import table_service_pb2 as pb
from tavolata.v1.player_pb2 import AiPlayer
from tavolata.v1.replay_pb2 import Replay
from tavolata.v1.table_pb2 import CallerSeat, OpenSeat, SeatPlan, Table, TableSettings
from tavolata.v1.table_service_pb2_grpc import TableServiceStub
from tavolata.v1.view_pb2 import View

GREEDY = AiPlayer(player="greedy")
CALLER = SeatPlan(caller=CallerSeat(display_name="Ada"))
OPEN = SeatPlan(open=OpenSeat())
AI = SeatPlan(ai=GREEDY)
_IDS = itertools.count(1)


def fresh_id() -> str:
    """A request id that no other call of this process has."""
    return f"request-{next(_IDS)}"


@dataclass(frozen=True)
class Refusal:
    """What a refused call came back with."""

    code: grpc.StatusCode
    reason: str
    message: str
    metadata: dict[str, str]
    fields: tuple[str, ...]
    retry: bool


def refusal_of(error: grpc.aio.AioRpcError) -> Refusal:
    """The refusal in a failed call; it must have exactly one ErrorInfo."""
    status = rpc_status.from_call(error)  # type: ignore[arg-type]
    assert status is not None, f"no details: {error.code()} {error.details()}"
    info, bad, retry = (
        error_details_pb2.ErrorInfo(),
        error_details_pb2.BadRequest(),
        error_details_pb2.RetryInfo(),
    )
    infos = sum(detail.Unpack(info) for detail in status.details)
    assert infos == 1
    assert info.domain == "tavolata.v1"
    for detail in status.details:
        detail.Unpack(bad)
    return Refusal(
        error.code(),
        info.reason,
        error.details() or "",
        dict(info.metadata),
        tuple(each.field for each in bad.field_violations),
        any(detail.Unpack(retry) for detail in status.details),
    )


async def refused(call: Any) -> Refusal:
    """The refusal of a call that must be refused."""
    try:
        answer = await call
    except grpc.aio.AioRpcError as error:
        return refusal_of(error)
    raise AssertionError(f"not refused: {answer}")


def bearer(token: str | None) -> tuple[tuple[str, str], ...]:
    """The metadata that carries a token."""
    return () if token is None else (("authorization", f"Bearer {token}"),)


@dataclass
class Sitting:
    """A table made by a test: its id and the tokens of its seats, the owner's first."""

    table_id: str
    owner: str
    tokens: dict[int, str]


class House:
    """A running server and a client's stub for it."""

    def __init__(self, folder: Path, **flags: Any) -> None:
        self.db = folder / "tables.db"
        machine: dict[str, Any] = {"bind": "127.0.0.1:0", "ai_threads": 2}
        self.flags = machine | {"ai_floor_s": 0.0, "ai_jitter_s": 0.0} | flags
        self.server: Server | None = None

    async def open(self) -> None:
        """Start the server, on the file of the one before if there was one."""
        chosen = settings.load(None, db=self.db, **self.flags)
        self.server = Server(chosen)
        await self.server.start()
        self.target = f"127.0.0.1:{self.server.port}"
        self.channel = grpc.aio.insecure_channel(self.target)
        self.stub = TableServiceStub(self.channel)

    async def close(self) -> None:
        """Stop the server in good order."""
        if self.server is not None:
            server, self.server = self.server, None
            await server.stop()
            await self.channel.close()

    async def restart(self) -> None:
        """Stop the server and start another on the same file."""
        await self.close()
        await self.open()

    # -- calls ------------------------------------------------------------------------------------

    async def create(
        self,
        seats: Sequence[SeatPlan] = (CALLER, OPEN),
        *,
        game: str = "bouillabaisse",
        request_id: str | None = None,
        seed: bytes = b"",
        **fields: Any,
    ) -> pb.CreateTableResponse:
        """Make a table."""
        return await self.stub.CreateTable(
            pb.CreateTableRequest(
                request_id=request_id or fresh_id(),
                settings=TableSettings(game_id=game, **fields),
                seats=seats,
                seed=seed,
            )
        )

    async def join(
        self,
        table_id: str,
        *,
        seat: int | None = None,
        token: str | None = None,
        request_id: str | None = None,
        name: str = "",
        nonce: bytes = b"",
    ) -> pb.JoinTableResponse:
        """Take a seat, or take it back."""
        return await self.stub.JoinTable(
            pb.JoinTableRequest(
                request_id=request_id or fresh_id(),
                table_id=table_id,
                seat=seat,
                display_name=name,
                nonce=nonce,
            ),
            metadata=bearer(token),
        )

    async def start(self, table_id: str, token: str | None, **fields: Any) -> Table:
        """Start the match."""
        request = pb.StartMatchRequest(request_id=fresh_id(), table_id=table_id, **fields)
        return (await self.stub.StartMatch(request, metadata=bearer(token))).table

    async def leave(self, table_id: str, token: str | None, request_id: str | None = None) -> Table:
        """Get up."""
        request = pb.LeaveTableRequest(request_id=request_id or fresh_id(), table_id=table_id)
        return (await self.stub.LeaveTable(request, metadata=bearer(token))).table

    async def resign(self, table_id: str, token: str | None) -> Table:
        """Resign."""
        request = pb.ResignRequest(request_id=fresh_id(), table_id=table_id)
        return (await self.stub.Resign(request, metadata=bearer(token))).table

    async def abort(self, table_id: str, token: str | None) -> Table:
        """Abort."""
        request = pb.AbortMatchRequest(request_id=fresh_id(), table_id=table_id)
        return (await self.stub.AbortMatch(request, metadata=bearer(token))).table

    async def table(self, table_id: str) -> Table:
        """The table."""
        return (await self.stub.GetTable(pb.GetTableRequest(table_id=table_id))).table

    async def view(self, table_id: str, token: str | None = None) -> View:
        """A view."""
        request = pb.GetViewRequest(table_id=table_id)
        return (await self.stub.GetView(request, metadata=bearer(token))).view

    async def replay(self, table_id: str, token: str | None = None) -> Replay:
        """The record of a match that is over."""
        request = pb.GetReplayRequest(table_id=table_id)
        return (await self.stub.GetReplay(request, metadata=bearer(token))).replay

    async def play(
        self,
        table_id: str,
        token: str | None,
        view: View,
        *,
        which: int = 0,
        request_id: str | None = None,
        turn: int | None = None,
    ) -> pb.PlayActionResponse:
        """Play one of the legal actions of a view."""
        return await self.stub.PlayAction(
            pb.PlayActionRequest(
                request_id=request_id or fresh_id(),
                table_id=table_id,
                turn=view.turn if turn is None else turn,
                action=view.legal_actions[which],
            ),
            metadata=bearer(token),
        )

    def watch(self, table_id: str, token: str | None = None, **fields: Any) -> Any:
        """A watch, as an async iterator of messages."""
        request = pb.WatchTableRequest(table_id=table_id, **fields)
        return self.stub.WatchTable(request, metadata=bearer(token))

    async def sitting(self, people: int = 2, *, start: bool = True, **fields: Any) -> Sitting:
        """A table with that many people and nobody else, its match begun unless told otherwise."""
        made = await self.create([CALLER, *[OPEN] * (people - 1)], **fields)
        table_id, tokens = made.table.table_id, {0: made.token}
        for _ in range(people - 1):
            joined = await self.join(table_id)
            tokens[joined.seat] = joined.token
        if start:
            await self.start(table_id, made.token)
        return Sitting(table_id, made.token, tokens)

    async def play_on(self, sitting: Sitting, decisions: int = 10**6) -> int:
        """Let the people play their first legal actions; how many were played until the end."""
        somebody = next(iter(sitting.tokens.values()))
        for played in range(decisions):
            shown = await self.view(sitting.table_id, somebody)
            if not shown.seats_to_act:
                return played
            seat = shown.seats_to_act[0]
            token = sitting.tokens[seat]
            await self.play(sitting.table_id, token, await self.view(sitting.table_id, token))
        return decisions

    async def play_as_told(self, table_id: str, token: str) -> int:
        """Play a seat by the views of a watch to the end of the match; how many decisions."""
        turns: set[int] = set()
        async for message in self.watch(table_id, token, with_views=True):
            view = message.snapshot.view
            # Views come for every action of anybody: several may ask for the same decision.
            if view.legal_actions and view.turn not in turns:
                turns.add(view.turn)
                await self.play(table_id, token, view)
        return len(turns)

    def execute(self, statement: str) -> None:
        """Change the file behind the back of a server that isn't there."""
        connection = apsw.Connection(str(self.db))
        try:
            connection.execute(statement)
        finally:
            connection.close()

    def rows(self, query: str, *bindings: Any) -> list[Any]:
        """What is in the file now."""
        connection = apsw.Connection(str(self.db), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            return connection.execute(query, bindings).fetchall()
        finally:
            connection.close()


@asynccontextmanager
async def house_in(folder: Path, **flags: Any) -> AsyncIterator[House]:
    """A house that is closed at the end."""
    house = House(folder, **flags)
    await house.open()
    try:
        yield house
    finally:
        await house.close()


async def until(condition: Any, *, within_s: float = 20.0) -> Any:
    """The first truthy value that an async condition gives; fails when it gives none in time."""
    async with asyncio.timeout(within_s):
        while True:
            value = await condition()
            if value:
                return value
            await asyncio.sleep(0.01)
