"""Group commit: whatever was appended while the last transaction ran goes into the next one."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable, Collection

from tavolata.service.ports import Append, Clock, Store, StoreError, StoreUnavailable
from tavolata.service.telemetry import SILENCE, Telemetry

BATCH_MAX = 512
# Every transaction has its price in CPU, whatever its size. When several callers commit at the same
# time, waiting a little for more of them serves all better; a lone caller is never kept waiting.
CROWDED = 3
GATHER_S = 0.002

Settle = Callable[[StoreError | None], None]


class Committer:
    """Hands appends to the store in their order, many at a time.

    `on_failure` is called once, when the store can no longer be trusted; from then on every append
    fails, as an fsync that failed must not be tried again. `doubts` are called with every error.
    """

    def __init__(
        self,
        store: Store,
        clock: Clock,
        on_failure: Callable[[StoreError], None],
        telemetry: Telemetry = SILENCE,
    ) -> None:
        self._store = store
        self._clock = clock
        self._on_failure = on_failure
        self._telemetry = telemetry
        self.doubts: list[Callable[[StoreError], None]] = []
        self._waiting: list[tuple[Append, Settle]] = []
        self._running: asyncio.Task[None] | None = None
        self._failure: StoreError | None = None
        self.batches = 0
        self.appends = 0

    def submit(self, append: Append, settle: Settle) -> None:
        """Append in the order of calls; `settle` is called with None when the entry is durable, or
        with the StoreError that prevented it."""
        self._waiting.append((append, settle))
        if self._running is None:
            # In a context of its own, as it works for all calls alike.
            self._running = asyncio.get_running_loop().create_task(
                self._run(), context=contextvars.Context()
            )

    async def _run(self) -> None:
        crowded = False
        while self._waiting:
            if crowded and len(self._waiting) < BATCH_MAX:
                await self._clock.sleep(GATHER_S)
            batch, self._waiting = self._waiting[:BATCH_MAX], self._waiting[BATCH_MAX:]
            outcomes = await self._write([append for append, _ in batch])
            self.batches += 1
            self.appends += len(batch)
            crowded = len(batch) >= CROWDED
            failed = {
                append.table_id: outcome
                for (append, _), outcome in zip(batch, outcomes, strict=True)
                if outcome is not None
            }
            if failed:
                batch += (orphans := self._orphans(failed))
                outcomes += [failed[append.table_id] for append, _ in orphans]
            for (_, settle), outcome in zip(batch, outcomes, strict=True):
                settle(outcome)
            # Those who wait run now, so that what they append next shares the next transaction.
            await asyncio.sleep(0)
        self._running = None

    def _orphans(self, failed: Collection[str]) -> list[tuple[Append, Settle]]:
        """Take out what waits to be appended to these tables: it was built on what has failed, and
        might fit by its number what another server has written in that place."""
        orphans = [each for each in self._waiting if each[0].table_id in failed]
        self._waiting = [each for each in self._waiting if each[0].table_id not in failed]
        return orphans

    async def _write(self, batch: list[Append]) -> list[StoreError | None]:
        if self._failure is not None:
            return [self._failure] * len(batch)
        began = self._clock.monotonic()
        try:
            outcomes = list(await self._store.write(batch))
        except Exception as error:  # noqa: BLE001 - whatever it was, the outcome is unknown
            outcomes = [StoreUnavailable(repr(error))] * len(batch)
        self._telemetry.committed(len(batch), self._clock.monotonic() - began)
        for outcome in outcomes:
            if outcome is not None:
                self._failed(outcome)
        return outcomes

    def _failed(self, error: StoreError) -> None:
        self._telemetry.store_error(error)
        for doubt in self.doubts:
            doubt(error)
        if isinstance(error, StoreUnavailable):
            self.distrust(error)

    def distrust(self, error: StoreError) -> None:
        """Write nothing any more."""
        if self._failure is None:
            self._failure = error
            self._on_failure(error)

    async def drain(self) -> None:
        """Return when everything submitted so far has its outcome."""
        while self._running is not None:
            await asyncio.wait([self._running])
