"""A worker: what a server does for matches by itself, without its transport.

It claims matches under leases, lets their AI players decide and their clocks run, and appends what
comes of it, by the same code as a server that acts itself. Callers never reach it.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable

import structlog

from tavolata.service.clock import SystemClock
from tavolata.service.core import make_core
from tavolata.service.entropy import SystemEntropy
from tavolata.service.metrics import Metrics
from tavolata.service.operation import Operation, metrics_of
from tavolata.service.players.opening import replacement_of
from tavolata.service.settings import Settings
from tavolata.service.store.opening import board_of, open_store, place_of
from tavolata.service.store.revisions import NotOpened
from tavolata.service.thinking import ThinkingThreads

log = structlog.get_logger(__name__)
SWEEP_S = 30.0


class Worker:
    """A running worker."""

    def __init__(self, settings: Settings, metrics: Metrics | None = None) -> None:
        """metrics: what measures and traces; as the settings say if it is None."""
        self._settings = settings
        self._given_metrics = metrics
        self._asked = asyncio.Event()
        self._failed = asyncio.Event()
        self._background: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Open the database and begin to claim matches. NotOpened, UnknownSchema, PlayersRefused,
        ProbesRefused and TracesRefused say what is wrong."""
        settings = self._settings
        if not settings.store:
            raise NotOpened("a worker needs a database: set store = postgresql://...")
        if not settings.acts:
            raise NotOpened("a worker needs threads: set ai_threads to 1 or more, or -1")
        replacement_of(settings)
        metrics = self._given_metrics or metrics_of(settings)
        store, self._bus = await open_store(settings)
        thinking = ThinkingThreads(settings.thread_count, metrics)
        self.core = make_core(
            settings,
            store,
            self._bus,
            SystemClock(),
            SystemEntropy(),
            thinking,
            self._failed,
            metrics,
            board_of(store),
        )
        self.operation = Operation(settings, self.core, metrics, thinking, needing=(), others=())
        try:
            self.operation.listen()
        except BaseException:
            await self._let_go()
            raise
        await self.operation.begin()
        self._background = [
            asyncio.create_task(self.core.run()),
            asyncio.create_task(self._sweep()),
            asyncio.create_task(self.operation.run()),
        ]
        log.info("worker.working", store=place_of(settings), threads=settings.thread_count)

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(SWEEP_S)
            try:
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
        """Claim nothing any more, finish the last commit, and give all claims back, so that others
        go on at once."""
        log.info("worker.stopping")
        await self.operation.leave()
        for task in self._background:
            task.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)
        await self._let_go()
        log.info("worker.stopped")

    async def _let_go(self) -> None:
        await self.core.close()
        await self._bus.close()
        await self.operation.close()
