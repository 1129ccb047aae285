"""The server: everything put together on one port, from its start to a graceful stop."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Awaitable, Callable
from functools import partial

import grpc
import structlog
from grpc_channelz.v1 import channelz
from grpc_health.v1 import health, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from tavolata.service.admin.aborting import abort
from tavolata.service.admin.socket import AdminSocket
from tavolata.service.ai_levels import ceiling_of
from tavolata.service.analysis.handlers import AnalysisService
from tavolata.service.analysis.searching import Searching
from tavolata.service.binding import BindRefused, check_bind, transport_options
from tavolata.service.calls import Calls, Limits
from tavolata.service.catalog import CatalogHandlers
from tavolata.service.clock import SystemClock
from tavolata.service.core import make_core
from tavolata.service.entropy import SystemEntropy
from tavolata.service.handlers import TableService
from tavolata.service.identity import identities
from tavolata.service.metrics import Metrics
from tavolata.service.operation import Operation, metrics_of
from tavolata.service.players.admission import Admission
from tavolata.service.players.handlers import PlayerService
from tavolata.service.players.opening import replacement_of
from tavolata.service.ports import Entropy
from tavolata.service.server_info import server_info
from tavolata.service.settings import Settings
from tavolata.service.store.opening import board_of, open_store, place_of
from tavolata.service.thinking import ThinkingThreads
from tavolata.service.tournaments.handlers import TournamentService
from tavolata.service.tournaments.opening import tournament_service
from tavolata.v1 import (
    analysis_service_pb2,
    catalog_service_pb2,
    player_service_pb2,
    table_service_pb2,
    tournament_service_pb2,
)

log = structlog.get_logger(__name__)
_CATALOG = catalog_service_pb2.DESCRIPTOR.services_by_name["CatalogService"]
_TABLES = table_service_pb2.DESCRIPTOR.services_by_name["TableService"]
_ANALYSIS = analysis_service_pb2.DESCRIPTOR.services_by_name["AnalysisService"]
_PLAYERS = player_service_pb2.DESCRIPTOR.services_by_name["PlayerService"]
_TOURNAMENTS = tournament_service_pb2.DESCRIPTOR.services_by_name["TournamentService"]
SERVICES = (
    _CATALOG.full_name,
    _TABLES.full_name,
    _ANALYSIS.full_name,
    _PLAYERS.full_name,
    _TOURNAMENTS.full_name,
)
CHANNELZ = "grpc.channelz.v1.Channelz"
SWEEP_S = 30.0
LAST_GRACE_S = 0.25
LOOK_S = 0.2  # between looks whether gRPC still takes calls


class Server:
    """A running server."""

    def __init__(self, settings: Settings, metrics: Metrics | None = None) -> None:
        """metrics: what measures and traces; as the settings say if it is None."""
        self._settings = settings
        self._given_metrics = metrics
        self._asked = asyncio.Event()
        self._failed = asyncio.Event()
        self._background: list[asyncio.Task[None]] = []
        self._given_up: list[grpc.aio.Server] = []  # calls may be open on them
        self._tournaments = TournamentService()
        self._admin: AdminSocket | None = None
        self.port = 0

    async def start(self) -> None:
        """Open the store and listen. FileInUse, UnknownSchema, NotOpened, TournamentsRefused,
        IdentityRefused, PlayersRefused, ProbesRefused, TracesRefused and BindRefused say what is
        wrong."""
        settings = self._settings
        check_bind(settings)
        self._identities = identities(settings)
        self._admission = Admission(settings, self._identities)
        replacement_of(settings)
        self._metrics = self._given_metrics or metrics_of(settings)
        entropy = SystemEntropy()
        store, self._bus = await open_store(settings)
        thinking = ThinkingThreads(settings.thread_count, self._metrics)
        self.core = make_core(
            settings,
            store,
            self._bus,
            SystemClock(),
            entropy,
            thinking,
            self._failed,
            self._metrics,
            board_of(store),
        )
        limits = Limits(
            settings.calls_max,
            settings.streams_max,
            settings.message_bytes_max,
            settings.call_s,
            settings.caller_streams_max,
            settings.caller_calls_per_s,
        )
        self._calls = Calls(limits, entropy, self._metrics)
        self._searching = Searching(
            thinking if settings.thread_count else ThinkingThreads(1),
            self.core.makers,
            SystemClock(),
            most=settings.analyses_max,
            most_of_caller=settings.caller_analyses_max,
        )
        self.operation = Operation(
            settings,
            self.core,
            self._metrics,
            thinking,
            needing=(
                _TABLES.full_name,
                _ANALYSIS.full_name,
                _PLAYERS.full_name,
            ),
            others=(_CATALOG.full_name, _TOURNAMENTS.full_name),
        )
        try:
            self._tournaments = tournament_service(
                settings, SystemClock(), entropy, self._identities
            )
            self._open_transport(settings.bind)
            self.operation.listen()
            if not settings.store:
                self._admin = AdminSocket(settings.db, partial(abort, self.core.tables))
                await self._admin.open()
            await self._tournaments.take_up()
        except BaseException:
            await self._let_go()
            raise
        await self.operation.begin()
        await self._server.start()
        self._background = [
            asyncio.create_task(self.core.run()),
            asyncio.create_task(self._sweep()),
            asyncio.create_task(self.operation.run()),
            asyncio.create_task(self._keep_listening()),
        ]
        log.info("server.serving", bind=settings.bind, port=self.port, store=place_of(settings))

    def _open_transport(self, address: str) -> None:
        self._server = grpc.aio.server(options=transport_options(self._settings))
        self._add_services(SystemEntropy())
        self.port = self._listen(address)

    async def _keep_listening(self) -> None:
        """Listen again whenever gRPC has given up.

        It does when the name of a method is no UTF-8: it takes no call any more, and those that are
        open go on. Anybody who reaches the port can send such a name.
        """
        while True:
            try:
                if await self._server.wait_for_termination(LOOK_S):  # the time is over
                    continue
                cause = "ended"
            except Exception as error:  # noqa: BLE001 - what it raises is what it gave up for
                cause = repr(error)
            # A stop of ours ends this task first.
            log.error("transport.failed", cause=cause)
            self._given_up.append(self._server)
            await self._listen_again()

    async def _listen_again(self) -> None:
        address, bind = self._settings.bind, self._settings.bind
        if not bind.startswith("unix:"):
            address = f"{bind.rpartition(':')[0]}:{self.port}"
        while True:
            try:
                self._open_transport(address)
                break
            except BindRefused as error:  # the port isn't free yet
                log.warning("transport.not_listening", error=str(error))
                await asyncio.sleep(LOOK_S)
        await self._server.start()
        log.info("transport.listening", port=self.port)

    def _add_services(self, entropy: Entropy) -> None:
        core = self.core
        handlers = TableService(
            core.lobby,
            core.playing,
            core.hub,
            entropy,
            self._settings.handles_max,
            self._identities,
        )
        ceiling, info = ceiling_of(self._settings), server_info(self._settings)
        catalog = CatalogHandlers(ceiling, info, core.tables.clock, core.remote.roster)
        players = PlayerService(
            core.remote,
            self._admission,
            core.tables.clock,
            self._settings.players_answer_s,
            core.hub.stopped,
        )
        analysis = AnalysisService(core.playing, self._searching, ceiling)
        self._server.add_generic_rpc_handlers(
            (
                self._calls.handler_of(_CATALOG, catalog),
                self._calls.handler_of(_TABLES, handlers),
                self._calls.handler_of(_ANALYSIS, analysis),
                self._calls.handler_of(_PLAYERS, players),
                self._calls.handler_of(_TOURNAMENTS, self._tournaments),
            )
        )
        health_pb2_grpc.add_HealthServicer_to_server(self.operation.health, self._server)
        names = [*SERVICES, health.SERVICE_NAME, reflection.SERVICE_NAME]
        if self._settings.channelz:
            channelz.add_channelz_servicer(self._server)
            names.append(CHANNELZ)
        reflection.enable_server_reflection(names, self._server)

    def _listen(self, address: str) -> int:
        settings = self._settings
        try:
            if settings.tls_cert and settings.tls_key:
                pair = (settings.tls_key.read_bytes(), settings.tls_cert.read_bytes())
                clients = settings.tls_client_ca
                credentials = grpc.ssl_server_credentials(
                    [pair],
                    root_certificates=clients.read_bytes() if clients else None,
                    require_client_auth=clients is not None,
                )
                port = self._server.add_secure_port(address, credentials)
            else:
                port = self._server.add_insecure_port(address)
        except RuntimeError as error:
            raise BindRefused(f"can't listen on {address}: {error}") from error
        if port == 0:
            raise BindRefused(f"can't listen on {address}")
        return port

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(SWEEP_S)
            try:
                self._calls.forget_idle()
                await self.core.sweep()
            except Exception:
                log.exception("sweep.failed")

    def heed_signals(self) -> None:
        """Let SIGTERM and SIGINT end `serve`; to be called before anybody knows the process."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._asked.set)

    async def serve(self, stopping: Callable[[], None] = lambda: None) -> bool:
        """Run until told to stop, then stop in good order; False if the store has failed.

        stopping: called when the stop begins.
        """
        waiting = [asyncio.create_task(each.wait()) for each in (self._asked, self._failed)]
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        for task in waiting:
            task.cancel()
        stopping()
        await self.stop()
        return not self._failed.is_set()

    async def stop(self) -> None:
        """Say so, claim nothing any more, end the streams with closing messages, finish the last
        commit, let go; in `stop_s` and a little, whatever callers and store do."""
        log.info("server.stopping")
        until = asyncio.get_running_loop().time() + self._settings.stop_s
        # The streams of those who don't read are waited for in vain; what comes after needs time.
        calls_until = until - self._settings.stop_s / 4
        await self.operation.leave()
        self._calls.stopping = True
        for task in self._background:
            task.cancel()
        self.core.hub.end_all()
        tournaments_end = asyncio.create_task(self._tournaments.close())
        await _by(calls_until, self._stop_acting())
        await _by(calls_until, self._calls.idle.wait())
        await _by(until, tournaments_end)
        # Still open are streams of the standard services, which never end by themselves.
        for transport in (*self._given_up, self._server):
            await _by(until, transport.stop(LAST_GRACE_S))
        await _by(until, self._let_go())
        log.info("server.stopped")

    async def _stop_acting(self) -> None:
        self._searching.close()
        await self.core.ai_seats.close()
        await self.core.work.close()

    async def _let_go(self) -> None:
        if self._admin is not None:
            await self._admin.close()
        await self._tournaments.close()
        await self.core.close()
        await self._bus.close()
        await self.operation.close()


async def _by(until: float, work: Awaitable[object]) -> None:
    """Await it, but not for longer than until that time of the event loop, or a moment."""
    left = max(LAST_GRACE_S * 2, until - asyncio.get_running_loop().time())
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(work, left)
