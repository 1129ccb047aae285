"""Whether this server can do its work: found out by writing, and told to who asks for health."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import structlog

from tavolata.service.ports import Clock, Conflict, Store, StoreError, StoreUnavailable

log = structlog.get_logger(__name__)
AGAIN_S = 0.5  # between probes while the store takes none

Tell = Callable[[bool], Awaitable[None]]
Took = Callable[[float], None]


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds between probes, and until one counts as failed."""

    every_s: float
    within_s: float


class Readiness:
    """Writes to the store now and then, whoever asks and however often.

    `tell` is awaited with every change; `took` is called with the seconds of a probe that went
    well; `distrust` with an error after which the store must not be used further.
    """

    def __init__(
        self,
        store: Store,
        clock: Clock,
        probe_id: str,
        pace: Pace,
        *,
        tell: Tell,
        took: Took,
        distrust: Callable[[StoreError], None],
    ) -> None:
        self._store, self._clock, self._probe_id, self._pace = store, clock, probe_id, pace
        self._tell, self._took, self._distrust = tell, took, distrust
        self._probe: asyncio.Task[None] | None = None
        self._doubted = asyncio.Event()
        self._error = ""
        self._closed = False
        self.ready = False
        self.why = "the store hasn't been probed yet"

    def doubt(self, error: StoreError) -> None:
        """A write has failed: probe at once, and be not ready until that succeeds."""
        if not isinstance(error, Conflict):
            self._error = str(error)
            self._doubted.set()

    async def run(self) -> None:
        """Probe again and again; ends by being cancelled."""
        while True:
            pause = self._pace.every_s if self.ready else min(AGAIN_S, self._pace.every_s)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._doubted.wait(), pause)
            if self._doubted.is_set():
                self._doubted.clear()
                await self._become(False, self._error)
                await self._clock.sleep(min(AGAIN_S, self._pace.every_s))
            await self.look()

    async def look(self) -> None:
        """Probe once, and tell if what came of it is new."""
        if self._probe is None:
            self._probe = asyncio.create_task(self._write())
        # One that is under way isn't given up: another one would wait behind it.
        done, _ = await asyncio.wait([self._probe], timeout=self._pace.within_s)
        if not done:
            await self._become(False, f"no write within {self._pace.within_s:g} s")
            return
        probe, self._probe = self._probe, None
        error = probe.exception()
        if error is None:
            await self._become(True, "")
            return
        await self._become(False, str(error) or type(error).__name__)
        if isinstance(error, StoreUnavailable):
            self._distrust(error)

    async def _write(self) -> None:
        began = self._clock.monotonic()
        await self._store.probe(self._probe_id, self._clock.now_us())
        self._took(self._clock.monotonic() - began)

    async def _become(self, ready: bool, why: str) -> None:
        if self._closed:
            return
        self.why = why
        if ready == self.ready:
            return
        self.ready = ready
        if ready:
            log.info("server.ready")
        else:
            log.warning("server.not_ready", why=why)
        await self._tell(ready)

    async def close(self) -> None:
        """Give up a probe that is under way."""
        self._closed = True
        self.ready, self.why = False, "the server is stopping"
        if self._probe is not None:
            self._probe.cancel()
            await asyncio.wait([self._probe])
