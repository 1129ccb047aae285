"""The connection to a server: what can be played there, and tables to make, join and watch."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import TYPE_CHECKING, Self

import grpc

from tavolata.service.client.retry import Identity, RetryPolicy
from tavolata.service.client.seat import Seat, Wire, new_request_id
from tavolata.service.client.serving import OnFault, Serving, offer_of
from tavolata.service.client.stream import PlayStream
from tavolata.service.client.tournaments import Tournaments
from tavolata.service.client.watching import OnThinking, Update
from tavolata.v1 import (
    analysis_pb2,
    analysis_service_pb2,
    analysis_service_pb2_grpc,
    catalog_pb2,
    catalog_service_pb2,
    catalog_service_pb2_grpc,
    game_pb2,
    player_pb2,
    player_service_pb2,
    player_service_pb2_grpc,
    remote_player_pb2,
    replay_pb2,
    server_info_pb2,
    table_pb2,
    table_service_pb2,
    table_service_pb2_grpc,
    view_pb2,
)

if TYPE_CHECKING:
    from tavolata.ai.player import Limits, Player

# A dead peer is noticed within two minutes; a channel of its own for each connection, so that many
# of them spread over the processes of a server; and no long waits before it reconnects.
_OPTIONS: tuple[tuple[str, int], ...] = (
    ("grpc.keepalive_time_ms", 60_000),
    ("grpc.keepalive_timeout_ms", 20_000),
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.initial_reconnect_backoff_ms", 50),
    ("grpc.min_reconnect_backoff_ms", 5_000),
    ("grpc.max_reconnect_backoff_ms", 1_000),
)


def connect(
    target: str,
    *,
    credentials: grpc.ChannelCredentials | None = None,
    policy: RetryPolicy | None = None,
    identity: str | Identity | None = None,
) -> Connection:
    """A connection to ``target``, such as ``localhost:50051``; the first call opens it.

    credentials: for TLS; None: plain. policy: how long calls and watches go on trying. identity: a
    JWT, or what gives one that is valid now, for servers that know people by it.
    """
    channel = (
        grpc.aio.insecure_channel(target, options=_OPTIONS)
        if credentials is None
        else grpc.aio.secure_channel(target, credentials, options=_OPTIONS)
    )
    known = (lambda: identity) if isinstance(identity, str) else identity
    return Connection(channel, policy or RetryPolicy(), known)


class Connection:
    """Use it in ``async with``, or ``close`` it. Calls raise Refused or Unreachable."""

    def __init__(
        self, channel: grpc.aio.Channel, policy: RetryPolicy, identity: Identity | None = None
    ) -> None:
        self._channel = channel
        self._wire = Wire(
            catalog_service_pb2_grpc.CatalogServiceStub(channel),
            table_service_pb2_grpc.TableServiceStub(channel),
            policy,
            identity,
            analysis_service_pb2_grpc.AnalysisServiceStub(channel),
        )
        self.tournaments = Tournaments(channel, policy, identity)
        self._identity = identity
        self._players = player_service_pb2_grpc.PlayerServiceStub(channel)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the channel; what is under way ends with an error."""
        await self._channel.close()

    # --- the catalog ----------------------------------------------------------------------

    async def games(self) -> Sequence[catalog_pb2.Game]:
        """All games, by id."""
        request = catalog_service_pb2.ListGamesRequest()
        response = await self._wire.call(self._wire.catalog.ListGames, request)
        return response.games

    async def game(self, game_id: str) -> catalog_pb2.Game:
        """One game: seats, options, AI players."""
        request = catalog_service_pb2.GetGameRequest(game_id=game_id)
        response = await self._wire.call(self._wire.catalog.GetGame, request)
        return response.game

    async def rules(self, game_id: str, *rule_ids: str) -> Sequence[catalog_pb2.Rule]:
        """The rules with these numbers, or all of a game."""
        request = catalog_service_pb2.GetRulesRequest(game_id=game_id, rule_ids=rule_ids)
        response = await self._wire.call(self._wire.catalog.GetRules, request)
        return response.rules

    async def server_info(self) -> server_info_pb2.ServerInfo:
        """Versions, limits and the time of the server."""
        request = catalog_service_pb2.GetServerInfoRequest()
        response = await self._wire.call(self._wire.catalog.GetServerInfo, request)
        return response.info

    # --- players --------------------------------------------------------------------------

    async def players(self, game_id: str = "") -> Sequence[remote_player_pb2.PlayerStatus]:
        """Who can be seated, or who plays a game: the server's own players and remote ones."""
        request = player_service_pb2.ListPlayersRequest(game_id=game_id)
        return (await self._wire.call(self._players.ListPlayers, request)).players

    async def serve_player(
        self,
        name: str,
        player: Player,
        games: Sequence[str],
        *,
        limits: Limits | None = None,
        version: str = "",
        summary: str = "",
        decisions_at_once: int = 1,
        token: str = "",
        on_fault: OnFault | None = None,
    ) -> None:
        """Offer a player for these games and play every seat that it is given, until cancelled.

        player: anything with the ``decide`` of ``tavolata.ai.player.Player``; by several threads at
        a time if ``decisions_at_once`` is above 1. limits: what it may spend on a decision, within
        the time that the server leaves; None: that time alone. token: the server's for players.
        on_fault: called with what the server counts as faults. Raises Refused if the offer is
        refused, Unreachable if the server stays away for as long as the policy waits.
        """
        from tavolata.ai.player import Limits

        offer = offer_of(name, games, version, summary, decisions_at_once)
        serving = Serving(
            self._channel,
            self._wire.policy,
            offer,
            player,
            limits or Limits(think_ms=3_600_000),
            token=token,
            identity=self._identity,
            on_fault=on_fault,
        )
        await serving.run()

    # --- tables ---------------------------------------------------------------------------

    async def create_table(
        self,
        settings: table_pb2.TableSettings,
        seats: Sequence[table_pb2.SeatPlan],
        *,
        seed: bytes = b"",
        request_id: str = "",
    ) -> Seat:
        """A new table, and the caller's seat at it or the owner's place beside it.

        seats: one plan a seat, as ``person``, ``ai_player`` and ``open_seat`` make them; seed:
        32 bytes for a match that can be repeated.
        """
        request = table_service_pb2.CreateTableRequest(
            request_id=request_id or new_request_id(), settings=settings, seats=seats, seed=seed
        )
        made = await self._wire.ask_for_place(self._wire.tables.CreateTable, request)
        seat = self.seat(
            made.table.table_id, made.token, made.seat if made.HasField("seat") else None
        )
        seat.table = made.table
        return seat

    async def join(
        self,
        table_id: str,
        name: str = "",
        *,
        seat: int | None = None,
        nonce: bytes = b"",
        request_id: str = "",
    ) -> Seat:
        """An open seat of a table: number ``seat``, or the first; or the seat at it that somebody
        with the connection's identity has already, whose tokens of before are void then."""
        request = table_service_pb2.JoinTableRequest(
            request_id=request_id or new_request_id(),
            table_id=table_id,
            seat=seat,
            display_name=name,
            nonce=nonce,
        )
        joined = await self._wire.ask_for_place(self._wire.tables.JoinTable, request)
        place = self.seat(table_id, joined.token, joined.seat)
        place.table = joined.table
        return place

    def seat(self, table_id: str, token: str, number: int | None) -> Seat:
        """A seat whose token is known from before."""
        return Seat(self._wire, table_id, token, number)

    async def table(self, table_id: str) -> table_pb2.Table:
        """A table as it is now."""
        request = table_service_pb2.GetTableRequest(table_id=table_id)
        response = await self._wire.call(self._wire.tables.GetTable, request)
        return response.table

    async def view(self, table_id: str) -> view_pb2.View:
        """A spectator's view."""
        request = table_service_pb2.GetViewRequest(table_id=table_id)
        response = await self._wire.call(self._wire.tables.GetView, request)
        return response.view

    async def tables(
        self,
        game_id: str = "",
        *,
        states: Sequence[table_pb2.TableState.ValueType] = (),
        min_open_seats: int = 0,
        page_size: int = 0,
    ) -> AsyncGenerator[table_pb2.Table, None]:
        """The public tables that fit, the newest first; pages are fetched as they are needed."""
        request = table_service_pb2.ListTablesRequest(
            page_size=page_size, game_id=game_id, states=states, min_open_seats=min_open_seats
        )
        while True:
            page = await self._wire.call(self._wire.tables.ListTables, request)
            for table in page.tables:
                yield table
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    def watch(
        self,
        table_id: str,
        after_event: int | None = None,
        *,
        with_views: bool = True,
        on_thinking: OnThinking | None = None,
    ) -> AsyncGenerator[Update, None]:
        """A table as a spectator sees it; otherwise as ``Seat.watch``."""
        return self._wire.watch(
            table_id, "", after_event, with_views=with_views, on_thinking=on_thinking
        )

    async def replay(self, table_id: str) -> replay_pb2.Replay:
        """The record of a match that is over."""
        request = table_service_pb2.GetReplayRequest(table_id=table_id)
        response = await self._wire.call(self._wire.tables.GetReplay, request)
        return response.replay

    def analyze(
        self,
        table_id: str,
        turn: int,
        seat: int | None = None,
        *,
        limits: player_pb2.SearchLimits | None = None,
        seed: int = 0,
    ) -> AsyncGenerator[analysis_pb2.Analysis, None]:
        """What a search finds out about a decision of a match that is over, as it grows.

        turn: its number; seat: whose, if several decided at once; limits: 20,000 iterations if left
        out. The last one is final.
        """
        return self._wire.analyze(table_id, "", turn=turn, seat=seat, limits=limits, seed=seed)

    def review(
        self,
        table_id: str,
        seats: Sequence[int] = (),
        *,
        hindsight: bool = False,
        limits: player_pb2.SearchLimits | None = None,
        seed: int = 0,
    ) -> AsyncGenerator[analysis_service_pb2.ReviewMatchResponse, None]:
        """Every decision of a match that is over, judged by what it cost.

        seats: whose, all if empty; limits: of each search, 1,000 iterations if left out. First
        comes the start, with how many decisions will follow; last the summary.
        """
        return self._wire.review(
            table_id, "", seats=tuple(seats), hindsight=hindsight, limits=limits, seed=seed
        )

    def play_stream(self) -> PlayStream:
        """One stream for many seats; use it in ``async with``."""
        return PlayStream(self._wire)


def settings(
    game_id: str, options: game_pb2.GameOptions | None = None, **others: object
) -> table_pb2.TableSettings:
    """Settings of a table; ``others`` are further fields of TableSettings by name."""
    return table_pb2.TableSettings(game_id=game_id, options=options, **others)  # type: ignore[arg-type]


def person(name: str = "") -> table_pb2.SeatPlan:
    """The seat of whoever makes the table."""
    return table_pb2.SeatPlan(caller=table_pb2.CallerSeat(display_name=name))


def open_seat() -> table_pb2.SeatPlan:
    """A seat that somebody may join."""
    return table_pb2.SeatPlan(open=table_pb2.OpenSeat())


def ai_player(player: str = "", level: str = "") -> table_pb2.SeatPlan:
    """An AI player's seat; left out: the server's default player, the player's default level."""
    return table_pb2.SeatPlan(ai=player_pb2.AiPlayer(player=player, level=level))
