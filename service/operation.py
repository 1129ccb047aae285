"""What those who run a server see of it: gRPC health, readiness, metrics, HTTP probes.

Alive is a server whose event loop turns; ready is one whose store takes writes, too.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

from grpc_health.v1 import health, health_pb2

from tavolata.service.clock import SystemClock
from tavolata.service.metrics import Metrics
from tavolata.service.probes import Probes
from tavolata.service.readiness import Pace, Readiness
from tavolata.service.settings import Settings
from tavolata.service.thinking import ThinkingThreads

if TYPE_CHECKING:
    from tavolata.service.core import Core

LAG_EVERY_S = 0.25
_SERVING = health_pb2.HealthCheckResponse.SERVING
_NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


class TracesRefused(Exception):
    """Traces are asked for, and can't be sent."""


def metrics_of(settings: Settings) -> Metrics:
    """What measures, and draws traces if they are asked for. TracesRefused if that needs what isn't
    installed."""
    if settings.traces == "off":
        return Metrics()
    try:
        from tavolata.service.tracing import otlp
    except ModuleNotFoundError as error:
        raise TracesRefused(
            f"traces need a package that isn't installed ({error.name}): "
            "pip install 'tavolata[otel]'"
        ) from error
    return otlp()


class Operation:
    """Of one server. needing: names of the services that can't do without the store; others:
    of those that can."""

    def __init__(
        self,
        settings: Settings,
        core: Core,
        metrics: Metrics,
        thinking: ThinkingThreads,
        *,
        needing: tuple[str, ...],
        others: tuple[str, ...],
    ) -> None:
        self.health = health.aio.HealthServicer()
        self._settings, self._core, self._metrics, self._thinking = (
            settings,
            core,
            metrics,
            thinking,
        )
        self._needing, self._others = ("", *needing), others
        self._stopping = False
        self._probes: Probes | None = None
        self.readiness = Readiness(
            core.tables.store,
            SystemClock(),
            core.work.server_id,
            Pace(settings.probe_s, settings.probe_within_s),
            tell=self._tell,
            took=metrics.probe_seconds.observe,
            distrust=core.committer.distrust,
        )
        core.committer.doubts.append(self.readiness.doubt)

    def listen(self) -> None:
        """Let the HTTP probes be asked. ProbesRefused says what is wrong with their address."""
        if self._settings.metrics_bind:
            self._probes = Probes(
                self._settings.metrics_bind,
                text=self._metrics.text,
                refresh=self._refresh,
                why_not_ready=lambda: "" if self.readiness.ready else self.readiness.why,
            )

    @property
    def port(self) -> int:
        """Of the HTTP probes, 0 without them."""
        return self._probes.port if self._probes else 0

    async def begin(self) -> None:
        """Probe, and tell what came of it."""
        for name in self._others:
            await self.health.set(name, _SERVING)
        await self._tell_needing(_NOT_SERVING)
        await self.readiness.look()

    async def run(self) -> None:
        """Go on probing and measuring; ends by being cancelled."""
        await asyncio.gather(self.readiness.run(), self._measure_lag())

    async def _measure_lag(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + LAG_EVERY_S
            await asyncio.sleep(LAG_EVERY_S)
            self._metrics.loop_lag.observe(max(0.0, loop.time() - due))

    async def _tell(self, ready: bool) -> None:
        if not self._stopping:
            await self._tell_needing(_SERVING if ready else _NOT_SERVING)

    async def _tell_needing(self, status: Any) -> None:
        for name in self._needing:
            await self.health.set(name, status)

    def _refresh(self) -> None:
        """Bring the gauges up to date."""
        core, metrics = self._core, self._metrics
        metrics.count_tables(core.tables.states())
        metrics.claimed_tables.set(core.work.held_count)
        metrics.watchers.set(core.hub.count)
        metrics.ai_queue.set(self._thinking.waiting)
        metrics.ai_seats_deciding.set(core.ai_seats.thinking_count)
        metrics.players.standings = core.remote.roster.own()
        metrics.ready.set(self.readiness.ready)

    async def leave(self) -> None:
        """Tell that the server is stopping, and probe no more."""
        self._stopping = True
        for name in (*self._needing, *self._others):
            await self.health.set(name, _NOT_SERVING)
        await self.readiness.close()

    async def close(self) -> None:
        """Let go of the HTTP probes; send the last traces."""
        if self._probes is not None:
            with contextlib.suppress(OSError):
                await self._probes.close()
            self._probes = None
        await asyncio.to_thread(self._metrics.close)
