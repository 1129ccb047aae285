"""Clients: people who sit down, play, err, go away and come back, and those who watch."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from google.protobuf.message import Message

from tavolata.service.refusals import Refused
from tavolata.v1 import table_service_pb2 as pb
from tavolata.v1.game_pb2 import Action
from tavolata.v1.table_pb2 import CallerSeat, OpenSeat, SeatPlan, TableSettings, TableState
from tavolata.v1.view_pb2 import View
from tests.simulation.network import Gone, Network
from tests.simulation.servers import Replica
from tests.simulation.store import SimStore
from tests.simulation.truth import Acknowledged, Broken, Truth, Watched, require

# Refusals after which the same request may be sent again.
AGAIN = ("STORE_UNAVAILABLE", "STORE_FULL", "SHUTTING_DOWN", "LIMIT_EXCEEDED")
# Refusals that say the decision is closed to the seat.
CLOSED = ("STALE_TURN", "ALREADY_COMMITTED", "NOT_YOUR_TURN", "MATCH_FINISHED", "MATCH_ABORTED")
OVER = (TableState.TABLE_STATE_FINISHED, TableState.TABLE_STATE_ABORTED)


@dataclass(slots=True)
class Temper:
    """How likely people are to do what makes a server's life hard, at each of their decisions."""

    twice: float = 0.1  # send the same request over two servers at once
    wrong: float = 0.05  # send something that must be refused
    silent: float = 0.0  # let the time run out
    away: float = 0.02  # leave, and come back later
    resign: float = 0.002
    pause_s: float = 0.5
    stalls: float = 0.01  # of those who watch and stall at times: not to read for a while


@dataclass
class Party:
    """The people of one table and what they share."""

    network: Network
    replicas: list[Replica]
    store: SimStore
    temper: Temper
    table_id: str = ""
    owner: str = ""  # the owner's token
    tokens: dict[int, str] = field(default_factory=dict)
    truth: Truth = field(init=False)
    over: asyncio.Event = field(default_factory=asyncio.Event)
    _ids: Any = field(default_factory=lambda: itertools.count(1))

    @property
    def chance(self) -> Any:
        """The world's chance."""
        return self.network.world.chance

    def new_id(self) -> str:
        """A request id."""
        return f"r{next(self._ids)}"

    def some_replica(self) -> Replica:
        """A server, running or not."""
        chosen: Replica = self.chance.choice(self.replicas)
        return chosen

    async def insist(self, method: str, request: Message, token: str | None = None) -> Any:
        """The same request again and again, to any server, until it is answered or refused."""
        while True:
            try:
                return await self.network.call(self.some_replica(), method, request, token)
            except Gone:
                await asyncio.sleep(0.05)
            except Refused as refused:
                if refused.reason_name not in AGAIN:
                    raise
                await asyncio.sleep(0.2)

    # -- sitting down -----------------------------------------------------------------------------

    async def sit_down(self, settings: TableSettings, people: int, ai: list[SeatPlan]) -> None:
        """Make the table, take the seats, start the match."""
        caller = SeatPlan(caller=CallerSeat(display_name="0"))
        opened = [SeatPlan(open=OpenSeat())] * (people - 1)
        create = pb.CreateTableRequest(
            request_id=self.new_id(), settings=settings, seats=[caller, *opened, *ai]
        )
        made, self.owner = await self._with_token("CreateTable", create)
        self.table_id = made.table.table_id
        self.truth = Truth(self.network.world, self.store, self.table_id)
        self.tokens[0] = self.owner
        joins = [self._join() for _ in range(people - 1)]
        for seat, token in await asyncio.gather(*joins):
            require(seat not in self.tokens, f"two people were given seat {seat}")
            self.tokens[seat] = token
        start = pb.StartMatchRequest(request_id=self.new_id(), table_id=self.table_id)
        await self.insist("StartMatch", start, self.owner)

    async def _join(self) -> tuple[int, str]:
        join = pb.JoinTableRequest(request_id=self.new_id(), table_id=self.table_id)
        joined, token = await self._with_token("JoinTable", join)
        return joined.seat, token

    async def _with_token(self, method: str, request: Any) -> tuple[Any, str]:
        """A seat and a token that works: an answer that came first may hold one that a second
        copy of the request has replaced."""
        while True:
            made = await self.insist(method, request)
            try:
                await self.insist(
                    "GetTable", pb.GetTableRequest(table_id=made.table.table_id), made.token
                )
            except Refused as refused:
                require(refused.reason_name == "BAD_TOKEN", f"GetTable: {refused.reason_name}")
                continue
            return made, made.token

    # -- playing ----------------------------------------------------------------------------------

    async def play(self, seat: int) -> None:
        """Play a seat to the end of the match."""
        temper, token = self.temper, self.tokens[seat]
        refused_at = -1
        while not self.over.is_set():
            shown = await self._view(token)
            if shown.state in OVER:
                self.over.set()
                return
            self.truth.told_view(seat, shown)
            if not shown.legal_actions:
                await asyncio.sleep(0.3 + self.chance.random())
                continue
            drawn = self.chance.random()
            if drawn < temper.resign:
                await self._simply(pb.ResignRequest, "Resign", token)
                return
            if drawn < temper.resign + temper.away:
                await self._go_away(token)
            elif drawn < temper.resign + temper.away + temper.silent:
                await asyncio.sleep(30.0)
            elif self.chance.random() < temper.wrong and refused_at != shown.turn:
                refused_at = shown.turn
                await self._err(seat, token, shown)
            else:
                await asyncio.sleep(temper.pause_s * self.chance.random())
                await self._act(seat, token, shown)

    async def _view(self, token: str) -> View:
        answer = await self.insist("GetView", pb.GetViewRequest(table_id=self.table_id), token)
        view: View = answer.view
        return view

    def _request(self, turn: int, action: Action) -> pb.PlayActionRequest:
        return pb.PlayActionRequest(
            request_id=self.new_id(), table_id=self.table_id, turn=turn, action=action
        )

    async def _act(self, seat: int, token: str, shown: View) -> None:
        """Play one of the legal actions, maybe over two servers at once."""
        action = self.chance.choice(shown.legal_actions)
        request = self._request(shown.turn, action)
        sends = 1 + (self.chance.random() < self.temper.twice)
        await asyncio.gather(*(self._send(seat, token, shown, request) for _ in range(sends)))

    async def _send(
        self, seat: int, token: str, shown: View, request: pb.PlayActionRequest
    ) -> None:
        try:
            answer = await self.insist("PlayAction", request, token)
        except Refused as refused:
            require(
                refused.reason_name in CLOSED,
                f"a legal action was refused with {refused.reason_name}: {refused.message}",
            )
            self.truth.told_stale(seat, shown.turn, refused.reason_name)
            return
        number = self.truth.table().codec.action_from(request.action)
        told = Acknowledged(seat, shown.turn, number, answer.receipt)
        self.truth.told_receipt(request.request_id, told)

    async def _err(self, seat: int, token: str, shown: View) -> None:
        """Something that has to be refused."""
        kind = self.chance.choice(("stale", "early", "forged", "id"))
        action = self.chance.choice(shown.legal_actions)
        request = self._request(shown.turn, action)
        if kind == "stale":
            request.turn = max(0, shown.turn - 1)
        elif kind == "early":
            request.turn = shown.turn + 1
        elif kind == "forged":
            token = "A" * len(token)
        else:
            request.request_id = ""
        if kind == "stale" and shown.turn == 0:
            return
        try:
            await self.insist("PlayAction", request, token)
        except Refused:
            return
        raise Broken(f"a {kind} action of seat {seat} was taken")

    async def _go_away(self, token: str) -> None:
        """Leave, and take the seat back later."""
        await self._simply(pb.LeaveTableRequest, "LeaveTable", token)
        await asyncio.sleep(10.0 * self.chance.random())
        await self._simply(pb.JoinTableRequest, "JoinTable", token)

    async def _simply(self, request: Callable[..., Any], method: str, token: str) -> None:
        made = request(request_id=self.new_id(), table_id=self.table_id)
        try:
            await self.insist(method, made, token)
        except Refused as refused:
            expected = ("MATCH_FINISHED", "MATCH_ABORTED", "NOT_OWNER")
            require(refused.reason_name in expected, f"{method}: {refused.reason_name}")

    async def abort(self) -> None:
        """End the table, if the owner still is its owner."""
        await self._simply(pb.AbortMatchRequest, "AbortMatch", self.owner)

    # -- watching ---------------------------------------------------------------------------------

    async def watch(self, viewer: int, token: str | None, *, stalls: bool, views: bool) -> None:
        """Watch to the end over any number of streams, resuming after the last event each time."""
        watched = Watched(viewer)
        self.truth.watched.append(watched)
        fresh = self.chance.random() < 0.5
        while not watched.ended:
            request = pb.WatchTableRequest(table_id=self.table_id, with_views=views)
            if not fresh:
                request.after_event = watched.sent
            stream = self.network.stream(self.some_replica(), "WatchTable", request, token)
            try:
                async for answer in stream:
                    self.truth.told(watched, getattr(answer, answer.WhichOneof("message")))
                    fresh = False
                    if stalls and self.chance.random() < self.temper.stalls:
                        await asyncio.sleep(20.0)
            except Gone:
                await asyncio.sleep(0.05)
            except Refused as refused:
                require(refused.reason_name in AGAIN, f"WatchTable: {refused.reason_name}")
                await asyncio.sleep(0.2)
            finally:
                await stream.aclose()  # type: ignore[attr-defined]
