"""A place at a table: what its token may see and do."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar
from uuid import uuid4

from tavolata.service.client.analysis import analyze, review
from tavolata.service.client.errors import Refused
from tavolata.service.client.retry import Identity, RetryPolicy, bearer, call
from tavolata.service.client.watching import OnThinking, Update, follow
from tavolata.service.client.watching import Sequence as Numbers
from tavolata.v1 import (
    analysis_pb2,
    analysis_service_pb2,
    analysis_service_pb2_grpc,
    catalog_service_pb2_grpc,
    event_pb2,
    game_pb2,
    play_pb2,
    player_pb2,
    table_pb2,
    table_service_pb2,
    table_service_pb2_grpc,
    view_pb2,
)

Response = TypeVar("Response")


class _WithTable(Protocol):
    @property
    def table(self) -> table_pb2.Table: ...


class _WithToken(_WithTable, Protocol):
    @property
    def token(self) -> str: ...


Place = TypeVar("Place", bound=_WithToken)


def new_request_id() -> str:
    """An id that nobody can guess. Make it once for each thing to be done, not for each attempt."""
    return str(uuid4())


@dataclass(frozen=True, slots=True)
class Wire:
    """The stubs of a connection and its policy of retries."""

    catalog: catalog_service_pb2_grpc.CatalogServiceAsyncStub
    tables: table_service_pb2_grpc.TableServiceAsyncStub
    policy: RetryPolicy
    identity: Identity | None
    analysis: analysis_service_pb2_grpc.AnalysisServiceAsyncStub

    async def call(
        self, rpc: Callable[..., Awaitable[Response]], request: object, token: str = ""
    ) -> Response:
        """See ``retry.call``."""
        return await call(rpc, request, policy=self.policy, token=token)

    async def ask_for_place(
        self, rpc: Callable[..., Awaitable[Place]], request: object, token: str = ""
    ) -> Place:
        """As ``call``, with the identity where there is no token, for an answer whose token works.

        Where attempts failed, one that was long on its way may have put another token in the place
        of that of the answer; asking again gives one that holds, as a token in use stays.
        """
        attempts = 0

        async def counted(*arguments: object, **options: object) -> Place:
            nonlocal attempts
            attempts += 1
            return await rpc(*arguments, **options)

        identity = None if token else self.identity
        while True:
            place = await call(counted, request, policy=self.policy, token=token, identity=identity)
            if attempts == 1 or not place.token or await self._works(place):
                return place

    async def _works(self, place: _WithToken) -> bool:
        request = table_service_pb2.GetTableRequest(table_id=place.table.table_id)
        try:
            await self.call(self.tables.GetTable, request, place.token)
        except Refused as refused:
            if refused.reason != "BAD_TOKEN":
                raise
            return False
        return True

    def watch(
        self,
        table_id: str,
        token: str,
        after_event: int | None,
        *,
        with_views: bool,
        on_thinking: OnThinking | None = None,
    ) -> AsyncGenerator[Update, None]:
        """See ``Seat.watch``."""

        def open_watch(resume_after: int | None) -> Any:
            request = table_service_pb2.WatchTableRequest(
                table_id=table_id,
                after_event=resume_after,
                with_views=with_views,
                with_thinking=on_thinking is not None,
            )
            return self.tables.WatchTable(request, metadata=bearer(token))

        return follow(
            open_watch, Numbers(after_event, with_views=with_views), self.policy, on_thinking
        )

    def analyze(
        self, table_id: str, token: str, **asked: Any
    ) -> AsyncGenerator[analysis_pb2.Analysis, None]:
        """See ``analysis.analyze``."""
        return analyze(self.analysis, self.policy, table_id, token, **asked)

    def review(
        self, table_id: str, token: str, **asked: Any
    ) -> AsyncGenerator[analysis_service_pb2.ReviewMatchResponse, None]:
        """See ``analysis.review``."""
        return review(self.analysis, self.policy, table_id, token, **asked)


class Seat:
    """A seat, or the owner's place beside the table if ``number`` is None.

    table and view hold what was last heard; ``watch`` and the calls keep them current. Calls raise
    Refused or Unreachable. Those that change something take a ``request_id``: leave it out, unless
    an earlier program may have made the same call.
    """

    def __init__(self, wire: Wire, table_id: str, token: str, number: int | None) -> None:
        self.table_id = table_id
        self.token = token
        self.number = number
        self.table: table_pb2.Table | None = None
        self.view: view_pb2.View | None = None
        self._wire = wire

    # --- seeing ---------------------------------------------------------------------------

    async def watch(
        self,
        after_event: int | None = None,
        *,
        with_views: bool = True,
        on_thinking: OnThinking | None = None,
    ) -> AsyncGenerator[Update, None]:
        """Snapshots and events, each once and in order over any number of lost connections.

        Begins with a snapshot, or after event ``after_event``. With views, a snapshot follows the
        events of each action. The last item is the closing message, when match or seat are gone.
        on_thinking: called every second while AI players think.
        """
        updates = self._wire.watch(
            self.table_id,
            self.token,
            after_event,
            with_views=with_views,
            on_thinking=on_thinking,
        )
        async with aclosing(updates) as source:
            async for update in source:
                self.heed(update)
                yield update

    def heed(self, update: Update) -> None:
        """Take over table and view from a message, unless a call has brought later ones."""
        if isinstance(update, event_pb2.Event) and update.HasField("table"):
            self.table = _after(self.table, update)
        if not isinstance(update, event_pb2.Snapshot):
            return
        if self.table is None or update.event_number >= self.table.last_event:
            self.table = update.table
        seen = self.view.event_number if self.view is not None else 0
        if update.HasField("view") and update.event_number >= seen:
            self.view = update.view

    async def refresh(self) -> view_pb2.View:
        """The view as it is now."""
        request = table_service_pb2.GetViewRequest(table_id=self.table_id)
        response = await self._wire.call(self._wire.tables.GetView, request, self.token)
        self.view = response.view
        return response.view

    async def explain(
        self, actions: Sequence[game_pb2.Action]
    ) -> Sequence[view_pb2.ActionExplanation]:
        """For each action whether it is legal, and if not by which rule. At most 64."""
        request = table_service_pb2.GetViewRequest(table_id=self.table_id, explain=actions)
        response = await self._wire.call(self._wire.tables.GetView, request, self.token)
        self.view = response.view
        return response.explanations

    # --- playing --------------------------------------------------------------------------

    async def play(
        self, action: game_pb2.Action, *, turn: int | None = None, request_id: str = ""
    ) -> play_pb2.ActionReceipt:
        """Play, and return when it is recorded for good.

        turn: the decision it answers; None: that of ``view``.
        """
        request = table_service_pb2.PlayActionRequest(
            request_id=request_id or new_request_id(),
            table_id=self.table_id,
            turn=await self._open_turn() if turn is None else turn,
            action=action,
        )
        response = await self._wire.call(self._wire.tables.PlayAction, request, self.token)
        return response.receipt

    async def _open_turn(self) -> int:
        return (self.view or await self.refresh()).turn

    async def resign(self, *, request_id: str = "") -> table_pb2.Table:
        """Give the seat to the stand-in for good."""
        request = table_service_pb2.ResignRequest(**self._named(request_id))
        return await self._change(self._wire.tables.Resign, request)

    async def leave(self, *, request_id: str = "") -> table_pb2.Table:
        """Get up: for good before the match, until the seat acts again during it."""
        request = table_service_pb2.LeaveTableRequest(**self._named(request_id))
        return await self._change(self._wire.tables.LeaveTable, request)

    async def come_back(self, *, request_id: str = "") -> table_pb2.Table:
        """Take the seat back from the stand-in."""
        request = table_service_pb2.JoinTableRequest(**self._named(request_id))
        response = await self._wire.call(self._wire.tables.JoinTable, request, self.token)
        self.table, self.number = response.table, response.seat
        return response.table

    def analyze(
        self,
        turn: int | None = None,
        *,
        limits: player_pb2.SearchLimits | None = None,
        seed: int = 0,
    ) -> AsyncGenerator[analysis_pb2.Analysis, None]:
        """What a search finds out about the seat's open decision, at a table with hints allowed, or
        about decision ``turn`` of a match that is over. See ``Connection.analyze``."""
        return self._wire.analyze(
            self.table_id, self.token, turn=turn, seat=self.number, limits=limits, seed=seed
        )

    def review(
        self,
        seats: Sequence[int] = (),
        *,
        hindsight: bool = False,
        limits: player_pb2.SearchLimits | None = None,
        seed: int = 0,
    ) -> AsyncGenerator[analysis_service_pb2.ReviewMatchResponse, None]:
        """As ``Connection.review``; at a table whose hands aren't revealed, of the seat itself."""
        return self._wire.review(
            self.table_id,
            self.token,
            seats=tuple(seats),
            hindsight=hindsight,
            limits=limits,
            seed=seed,
        )

    async def rematch(
        self, *, rotate_seats: int = 0, nonce: bytes = b"", request_id: str = ""
    ) -> Seat:
        """The seat at a new table with the same settings and seats, after the match; everybody who
        asks comes to the same one. rotate_seats: by how many seats everybody moves on, as the first
        who asks says."""
        request = table_service_pb2.RematchRequest(
            **self._named(request_id), rotate_seats=rotate_seats, nonce=nonce
        )
        made = await self._wire.ask_for_place(self._wire.tables.Rematch, request, self.token)
        seat = Seat(self._wire, made.table.table_id, made.token, made.seat)
        seat.table = made.table
        return seat

    # --- owning ---------------------------------------------------------------------------

    async def start(self, *, nonce: bytes = b"", request_id: str = "") -> table_pb2.Table:
        """Deal. The owner's."""
        request = table_service_pb2.StartMatchRequest(**self._named(request_id), nonce=nonce)
        return await self._change(self._wire.tables.StartMatch, request)

    async def abort(self, *, request_id: str = "") -> table_pb2.Table:
        """End the table without a result. The owner's."""
        request = table_service_pb2.AbortMatchRequest(**self._named(request_id))
        return await self._change(self._wire.tables.AbortMatch, request)

    async def set_seat(
        self, seat: int, ai: player_pb2.AiPlayer | None, *, request_id: str = ""
    ) -> table_pb2.Table:
        """Give a seat to an AI player, or open it (None), before the match. The owner's."""
        request = table_service_pb2.SetSeatRequest(**self._named(request_id), seat=seat)
        if ai is None:
            request.open.SetInParent()
        else:
            request.ai.CopyFrom(ai)
        return await self._change(self._wire.tables.SetSeat, request)

    def _named(self, request_id: str) -> dict[str, Any]:
        return {"request_id": request_id or new_request_id(), "table_id": self.table_id}

    async def _change(
        self, rpc: Callable[..., Awaitable[_WithTable]], request: object
    ) -> table_pb2.Table:
        response = await self._wire.call(rpc, request, self.token)
        self.table = response.table
        return response.table


def _after(table: table_pb2.Table | None, event: event_pb2.Event) -> table_pb2.Table | None:
    """The table after an event has changed who sits there; before a match no snapshot tells."""
    if table is None or event.number <= table.last_event:
        return table
    changed = table_pb2.Table()
    changed.CopyFrom(table)
    changed.last_event = event.number
    which = event.table.WhichOneof("event")
    if which == "seat_changed":
        seat = event.table.seat_changed.seat
        changed.seats[seat.seat].CopyFrom(seat)
    elif which == "owner_changed":
        changed.owner_seat = event.table.owner_changed.owner_seat
    elif which == "match_started":
        del changed.seats[:]
        changed.seats.extend(event.table.match_started.seats)
    return changed
