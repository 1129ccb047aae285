"""TournamentService: each rpc says what is asked and answers with a message; it decides nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from tavolata.service.identity import Identities
from tavolata.service.tournaments import refuse
from tavolata.service.tournaments.pages import page_of
from tavolata.v1 import tournament_service_pb2 as pb

if TYPE_CHECKING:
    from tavolata.service.tournaments.exporting import Exporting
    from tavolata.service.tournaments.tournaments import Tournaments

Context = Any  # grpc.aio.ServicerContext; its stubs leave the type arguments open


class TournamentService:
    """The rpcs of tavolata.v1.TournamentService. Without tournaments all are refused."""

    def __init__(
        self,
        tournaments: Tournaments | None = None,
        exporting: Exporting | None = None,
        identities: Identities | None = None,
    ) -> None:
        self._identities = identities or Identities()
        self._given = tournaments
        self._exporting = exporting

    @property
    def _tournaments(self) -> Tournaments:
        if self._given is None:
            raise refuse.off()
        return self._given

    async def take_up(self) -> None:
        """Go on with the tournaments that have not ended."""
        if self._given is not None:
            await self._given.take_up()

    async def close(self) -> None:
        """End the watches and exports, and the tournaments' processes; they go on another time."""
        if self._exporting is not None:
            self._exporting.close()
        if self._given is not None:
            await self._given.close()

    async def CreateTournament(  # noqa: N802
        self, request: pb.CreateTournamentRequest, context: Context
    ) -> pb.CreateTournamentResponse:
        """Make a tournament."""
        await self._identities.subject_of(context)
        made = await self._tournaments.create(
            request.request_id, request.specification, request.processes
        )
        return pb.CreateTournamentResponse(tournament=made.message)

    async def GetTournament(  # noqa: N802
        self, request: pb.GetTournamentRequest, context: Context
    ) -> pb.GetTournamentResponse:
        """The tournament and what it was made with."""
        entry = self._tournaments.find(request.tournament_id)
        read = self._tournaments.shelf.specification
        text = await asyncio.to_thread(read, request.tournament_id)
        return pb.GetTournamentResponse(tournament=entry.message, specification=text)

    async def ListTournaments(  # noqa: N802
        self, request: pb.ListTournamentsRequest, context: Context
    ) -> pb.ListTournamentsResponse:
        """A page of tournaments."""
        entries = self._tournaments.newest_first()
        page, token = page_of(entries, request.page_size, request.page_token)
        return pb.ListTournamentsResponse(
            tournaments=[entry.message for entry in page], next_page_token=token
        )

    async def WatchTournament(  # noqa: N802
        self, request: pb.WatchTournamentRequest, context: Context
    ) -> AsyncIterator[pb.WatchTournamentResponse]:
        """Tell how far it is."""
        async for message in self._tournaments.watch(request.tournament_id):
            yield pb.WatchTournamentResponse(tournament=message)

    async def CancelTournament(  # noqa: N802
        self, request: pb.CancelTournamentRequest, context: Context
    ) -> pb.CancelTournamentResponse:
        """End it for good."""
        await self._identities.subject_of(context)
        entry = await self._tournaments.cancel(request.tournament_id)
        return pb.CancelTournamentResponse(tournament=entry.message)

    async def ExportTournament(  # noqa: N802
        self, request: pb.ExportTournamentRequest, context: Context
    ) -> AsyncIterator[pb.ExportTournamentResponse]:
        """Its results as files."""
        entry = self._tournaments.find(request.tournament_id)
        if self._exporting is None:
            raise refuse.off()
        exported = self._exporting.pieces(entry.message.tournament_id, request.format)
        async for name, content in exported:
            yield pb.ExportTournamentResponse(file_name=name, content=content)
