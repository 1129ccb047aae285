"""TableService: each rpc says what is asked and answers with a message; it decides nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from tavolata.service.calls import address_of, token_of
from tavolata.service.identity import Identities
from tavolata.service.play_stream import HANDLES_MAX, PlayStreamSession
from tavolata.service.ports import Entropy
from tavolata.service.refusals import Refused
from tavolata.service.tables.lobby import Lobby
from tavolata.service.tables.model import NO_SEAT, Table
from tavolata.service.tables.playing import Playing
from tavolata.service.tables.record import refuse_replay, replay_of
from tavolata.service.tables.requests import Person
from tavolata.service.watch import WatchHub
from tavolata.v1 import table_service_pb2 as pb
from tavolata.v1.event_pb2 import Closing, Event, Snapshot, Thinking
from tavolata.v1.table_pb2 import Table as TableMessage

Context = Any  # grpc.aio.ServicerContext; its stubs leave the type arguments open


class TableService:
    """The rpcs of tavolata.v1.TableService."""

    def __init__(
        self,
        lobby: Lobby,
        playing: Playing,
        hub: WatchHub,
        entropy: Entropy,
        handles_max: int = HANDLES_MAX,
        identities: Identities | None = None,
    ) -> None:
        self._handles_max = handles_max
        self._identities = identities or Identities()
        self._entropy = entropy
        self._replaying = asyncio.Lock()
        self._lobby = lobby
        self._playing = playing
        self._hub = hub

    async def _shown(self, table: Table, token: str | None) -> TableMessage:
        return await self._playing.table(table.table_id, token)

    async def _person(self, context: Context, *, needed: bool = True) -> Person:
        """Who calls; `needed`: where the server may require that to be known."""
        subject = await self._identities.subject_of(context, needed=needed)
        return Person(subject, address_of(context))

    async def CreateTable(  # noqa: N802
        self, request: pb.CreateTableRequest, context: Context
    ) -> pb.CreateTableResponse:
        """Make a table."""
        made = await self._lobby.create(request, await self._person(context))
        return pb.CreateTableResponse(
            table=await self._shown(made.table, made.token),
            seat=None if made.slot == NO_SEAT else made.slot,
            token=made.token,
        )

    async def GetTable(  # noqa: N802
        self, request: pb.GetTableRequest, context: Context
    ) -> pb.GetTableResponse:
        """The table."""
        table, viewer = await self._playing.viewer(request.table_id, token_of(context))
        return pb.GetTableResponse(table=self._playing.message(table, viewer))

    async def ListTables(  # noqa: N802
        self, request: pb.ListTablesRequest, context: Context
    ) -> pb.ListTablesResponse:
        """A page of public tables."""
        tables, token = await self._lobby.listing.page(request)
        return pb.ListTablesResponse(tables=tables, next_page_token=token)

    async def JoinTable(  # noqa: N802
        self, request: pb.JoinTableRequest, context: Context
    ) -> pb.JoinTableResponse:
        """Take a seat."""
        token = token_of(context)
        person = await self._person(context, needed=token is None)
        made = await self._lobby.join(request, token, person)
        return pb.JoinTableResponse(
            table=await self._shown(made.table, token or made.token),
            seat=made.slot,
            token=made.token,
        )

    async def LeaveTable(  # noqa: N802
        self, request: pb.LeaveTableRequest, context: Context
    ) -> pb.LeaveTableResponse:
        """Get up."""
        token = token_of(context)
        table = await self._lobby.leave(request, token)
        return pb.LeaveTableResponse(table=await self._shown(table, token))

    async def SetSeat(  # noqa: N802
        self, request: pb.SetSeatRequest, context: Context
    ) -> pb.SetSeatResponse:
        """Open a seat or give it to an AI player."""
        token = token_of(context)
        table = await self._lobby.set_seat(request, token)
        return pb.SetSeatResponse(table=await self._shown(table, token))

    async def StartMatch(  # noqa: N802
        self, request: pb.StartMatchRequest, context: Context
    ) -> pb.StartMatchResponse:
        """Start the match."""
        token = token_of(context)
        table = await self._lobby.start(request, token)
        return pb.StartMatchResponse(table=await self._shown(table, token))

    async def GetView(  # noqa: N802
        self, request: pb.GetViewRequest, context: Context
    ) -> pb.GetViewResponse:
        """What the caller may know."""
        view, explanations = await self._playing.view(
            request.table_id, token_of(context), request.explain
        )
        return pb.GetViewResponse(view=view, explanations=explanations)

    async def PlayAction(  # noqa: N802
        self, request: pb.PlayActionRequest, context: Context
    ) -> pb.PlayActionResponse:
        """Play for the caller's seat."""
        receipt = await self._playing.play(
            request.table_id, token_of(context), request.request_id, request.turn, request.action
        )
        return pb.PlayActionResponse(receipt=receipt)

    async def WatchTable(  # noqa: N802
        self, request: pb.WatchTableRequest, context: Context
    ) -> AsyncIterator[pb.WatchTableResponse]:
        """Tell what happens."""
        after = request.after_event if request.HasField("after_event") else None
        watch = await self._hub.open(
            request.table_id,
            token_of(context),
            after,
            request.with_views,
            address_of(context),
            with_thinking=request.with_thinking,
        )
        async for told in self._hub.told(watch):
            match told:
                case Event():
                    yield pb.WatchTableResponse(event=told)
                case Snapshot():
                    yield pb.WatchTableResponse(snapshot=told)
                case Closing():
                    yield pb.WatchTableResponse(closing=told)
                case Thinking():
                    yield pb.WatchTableResponse(thinking=told)

    async def PlayStream(  # noqa: N802
        self, requests: AsyncIterator[pb.PlayStreamRequest | Refused], context: Context
    ) -> AsyncIterator[pb.PlayStreamResponse]:
        """Play and watch any number of seats."""
        session = PlayStreamSession(
            self._playing,
            self._hub,
            self._entropy,
            handles_max=self._handles_max,
            address=address_of(context),
        )
        async for response in session.answers(requests):
            yield response

    async def Resign(  # noqa: N802
        self, request: pb.ResignRequest, context: Context
    ) -> pb.ResignResponse:
        """Resign the caller's seat."""
        token = token_of(context)
        table = await self._lobby.resign(request, token)
        return pb.ResignResponse(table=await self._shown(table, token))

    async def AbortMatch(  # noqa: N802
        self, request: pb.AbortMatchRequest, context: Context
    ) -> pb.AbortMatchResponse:
        """End the table."""
        token = token_of(context)
        table = await self._lobby.abort(request, token)
        return pb.AbortMatchResponse(table=await self._shown(table, token))

    async def Rematch(  # noqa: N802
        self, request: pb.RematchRequest, context: Context
    ) -> pb.RematchResponse:
        """Seat the caller at the rematch."""
        token, address = token_of(context), address_of(context)
        made = await self._lobby.rematches.take(request, token, address)
        table = await self._shown(made.table, made.token)
        return pb.RematchResponse(table=table, seat=made.slot, token=made.token)

    async def GetReplay(  # noqa: N802
        self, request: pb.GetReplayRequest, context: Context
    ) -> pb.GetReplayResponse:
        """The record of a match that is over."""
        table, viewer = await self._playing.viewer(request.table_id, token_of(context))
        shown = self._playing.shown(table, viewer)
        refuse_replay(shown)
        message = self._playing.message(table, viewer)
        # A long match takes a tenth of a second, for which nobody else is to wait. A table that is
        # over never changes, so another thread may read it.
        async with self._replaying:
            replay = await asyncio.to_thread(replay_of, shown, message, viewer)
        return pb.GetReplayResponse(replay=replay)
