"""The tournaments of a server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import grpc

from tavolata.service.client.errors import Refused, ServiceError, refused_call
from tavolata.service.client.retry import Identity, Patience, RetryPolicy, call
from tavolata.service.client.seat import new_request_id
from tavolata.v1 import tournament_service_pb2 as pb
from tavolata.v1.tournament_pb2 import Tournament, TournamentState
from tavolata.v1.tournament_service_pb2_grpc import TournamentServiceStub

OVER = (
    TournamentState.TOURNAMENT_STATE_FINISHED,
    TournamentState.TOURNAMENT_STATE_CANCELLED,
    TournamentState.TOURNAMENT_STATE_FAILED,
)


class TournamentFailed(ServiceError):
    """A tournament ended before all matches were played; ``tournament`` has what there is."""

    def __init__(self, tournament: Tournament) -> None:
        state = TournamentState.Name(tournament.state).removeprefix("TOURNAMENT_STATE_").lower()
        why = f": {tournament.failure}" if tournament.failure else ""
        super().__init__(f"tournament {tournament.tournament_id} is {state}{why}")
        self.tournament = tournament


class Tournaments:
    """``Connection.tournaments``. Calls raise Refused or Unreachable."""

    def __init__(
        self, channel: grpc.aio.Channel, policy: RetryPolicy, identity: Identity | None = None
    ) -> None:
        self._stub = TournamentServiceStub(channel)
        self._policy = policy
        self._identity = identity

    async def create(
        self, specification: str, *, processes: int = 0, request_id: str = ""
    ) -> Tournament:
        """A new tournament. specification: the text of a tournament file; processes: 0 for as many
        as the server allows."""
        request = pb.CreateTournamentRequest(
            request_id=request_id or new_request_id(),
            specification=specification,
            processes=processes,
        )
        made = await call(
            self._stub.CreateTournament, request, policy=self._policy, identity=self._identity
        )
        return made.tournament

    async def get(self, tournament_id: str) -> Tournament:
        """A tournament as it is now."""
        return (await self._get(tournament_id)).tournament

    async def specification(self, tournament_id: str) -> str:
        """The text that a tournament was made with."""
        return (await self._get(tournament_id)).specification

    async def _get(self, tournament_id: str) -> pb.GetTournamentResponse:
        request = pb.GetTournamentRequest(tournament_id=tournament_id)
        return await call(self._stub.GetTournament, request, policy=self._policy)

    async def all(self, page_size: int = 0) -> AsyncGenerator[Tournament, None]:
        """All tournaments of the server, the newest first."""
        token = ""
        while True:
            request = pb.ListTournamentsRequest(page_size=page_size, page_token=token)
            page = await call(self._stub.ListTournaments, request, policy=self._policy)
            for tournament in page.tournaments:
                yield tournament
            token = page.next_page_token
            if not token:
                return

    async def watch(self, tournament_id: str) -> AsyncGenerator[Tournament, None]:
        """A tournament whenever it has changed, until it is over; the server may restart."""
        clock = asyncio.get_running_loop().time
        patience = Patience(self._policy, self._policy.silence_s)
        while True:
            opened = clock()
            request = pb.WatchTournamentRequest(tournament_id=tournament_id)
            stream = self._stub.WatchTournament(request)
            failure = Refused(grpc.StatusCode.UNAVAILABLE, "", "the watch ended before its time")
            try:
                async for response in stream:
                    patience.reset()
                    yield response.tournament
                    if response.tournament.state in OVER:
                        return
            except grpc.aio.AioRpcError as error:
                failure = refused_call(error)
            finally:
                stream.cancel()
            await patience.wait(failure, lasted_s=clock() - opened)

    async def finished(self, tournament_id: str) -> Tournament:
        """The tournament once all matches are played. TournamentFailed if that will not be."""
        async for tournament in self.watch(tournament_id):
            if tournament.state == TournamentState.TOURNAMENT_STATE_FINISHED:
                return tournament
        raise TournamentFailed(await self.get(tournament_id))

    async def cancel(self, tournament_id: str) -> Tournament:
        """End a tournament for good; what was played is kept."""
        request = pb.CancelTournamentRequest(tournament_id=tournament_id)
        ended = await call(
            self._stub.CancelTournament, request, policy=self._policy, identity=self._identity
        )
        return ended.tournament

    async def export(
        self, tournament_id: str, form: pb.TournamentExport.ValueType
    ) -> AsyncGenerator[tuple[str, bytes], None]:
        """The results so far: file names with pieces of the files, in order.

        A connection that is lost on the way is raised: nobody could tell what was changed between.
        """
        request = pb.ExportTournamentRequest(tournament_id=tournament_id, format=form)
        stream = self._stub.ExportTournament(request)
        try:
            async for response in stream:
                yield response.file_name, response.content
        except grpc.aio.AioRpcError as error:
            raise refused_call(error) from error
        finally:
            stream.cancel()
