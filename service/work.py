"""Which matches this server acts for: claims under a lease, and loading what was claimed.

One server acts for a match: its AI players decide there, and its clocks run out there. A server
that stops renewing its lease loses all it had claimed to the others; what it still writes under its
old claims is refused by their epoch.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable, Coroutine
from typing import Any

import structlog

from tavolata.service.ports import FIRST_EPOCH, Claim, Clock, Entropy, Store, StoreError
from tavolata.service.refusals import Refused
from tavolata.service.tables.clocks import limits_us
from tavolata.service.tables.model import PARKED, PLAYING, Table
from tavolata.service.tables.requests import draft
from tavolata.service.tables.tables import Tables
from tavolata.service.telemetry import SILENCE, Telemetry

log = structlog.get_logger(__name__)
CLAIM_MAX = 200  # tables claimed at a time, so that several servers share what there is
LOOK_S = 1.0  # between looks for tables whose server has gone
RETRY_S = 0.5  # before a table is read again that couldn't be


class WorkLoop:
    """The claims of this server."""

    def __init__(
        self,
        tables: Tables,
        clock: Clock,
        entropy: Entropy,
        lease_s: float,
        telemetry: Telemetry = SILENCE,
        *,
        acts: bool = True,
        look_s: float = LOOK_S,
    ) -> None:
        """acts: False for a server that leaves all matches to others; look_s: between looks for
        tables that nobody acts for."""
        self._acts = acts
        self._look_s = look_s
        self._tables = tables
        self._telemetry = telemetry
        self._store: Store = tables.store
        self._clock = clock
        self._entropy = entropy
        self._lease_s = lease_s
        self.server_id = entropy.name()
        self._epochs: dict[str, int] = {}
        self._still: set[str] = set()  # claimed, and its clocks don't run yet
        self._unable: set[str] = set()  # can't be played by this program
        self._loading: dict[str, asyncio.Task[None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._renewed_at = float("-inf")
        self._closing = False

    # -- what tables ask --------------------------------------------------------------------------

    @property
    def claimant(self) -> str:
        """Who acts for a match that begins here; empty: whoever claims it first."""
        return self.server_id if self._acts else ""

    def holds(self, table_id: str) -> int | None:
        """The epoch of this server's claim on a table, None without one."""
        return self._epochs.get(table_id)

    @property
    def held_count(self) -> int:
        """Tables that this server acts for."""
        return len(self._epochs)

    async def rouse(self, table_id: str) -> bool:
        """Claim the table if nobody has it; whether its clocks are to begin anew."""
        if table_id not in self._epochs and self._acts and not self._closing:
            for claim in await self._ask_for(1, among=[table_id]):
                self._hold(claim)
        stood_still = table_id in self._still
        self._still.discard(table_id)
        return stood_still

    def begun(self, table_id: str) -> None:
        """A match has begun here: the claim on it is durable."""
        self._epochs[table_id] = FIRST_EPOCH

    def resumed(self, table_id: str) -> None:
        """A parked match goes on: its server, if it is still there, has claimed it before."""
        if table_id not in self._epochs and self._acts and not self._closing:
            self._do(lambda: self._claim(among=[table_id]))

    def seen(self, table: Table) -> None:
        """Keep what was claimed in memory while it is played, and forget what is over."""
        table_id = table.table_id
        if table_id not in self._epochs:
            return
        if table.dead:
            self._load(table_id)
        elif table.state not in (PLAYING, PARKED) and table.in_flight is None:
            del self._epochs[table_id]
            self._still.discard(table_id)

    def lost(self, table_id: str) -> None:
        """Another server has the table."""
        self._epochs.pop(table_id, None)

    def doubted(self) -> None:
        """This server may have been given a match, and will never know: it goes on as another, and
        whatever it had is free when the lease of this one ends."""
        self._lose_all()

    # -- claiming ---------------------------------------------------------------------------------

    async def take_up(self) -> None:
        """Renew the lease, and claim and load all that nobody has."""
        if not self._acts:
            return
        await self._renew()
        await self._claim_all()

    async def run(self) -> None:
        """Do so again and again; ends by being cancelled."""
        if not self._acts:
            return
        await self._try_to_renew()
        renewing = asyncio.get_running_loop().create_task(self._keep_renewing())
        try:
            while True:
                try:
                    await self._claim_all()
                except StoreError as error:
                    log.warning("work.not_claimed", error=str(error))
                except Exception:
                    log.exception("work.not_claimed")
                await self._clock.sleep(self._look_s)
        finally:
            renewing.cancel()

    async def _claim_all(self) -> None:
        while True:
            if await self._claim() < CLAIM_MAX:
                return

    async def _keep_renewing(self) -> None:
        while True:
            await self._clock.sleep(self._lease_s / 4)
            await self._try_to_renew()

    async def _try_to_renew(self) -> None:
        try:
            await self._renew()
        except StoreError as error:
            log.warning("work.lease_not_renewed", error=str(error))
        except Exception:
            log.exception("work.lease_not_renewed")
        else:
            return
        if self._clock.monotonic() - self._renewed_at >= self._lease_s:
            self._lose_all()

    async def _renew(self) -> None:
        asked_at = self._clock.monotonic()
        if not await self._store.renew(self.server_id, self._lease_s):
            log.warning("work.lease_lost", tables=len(self._epochs))
            self._lose_all()
            await self._store.renew(self.server_id, self._lease_s)
        self._renewed_at = asked_at

    def _lose_all(self) -> None:
        """Go on as another server: what this one had may be another's by now."""
        self._telemetry.lease_lost()
        self.server_id = self._entropy.name()
        self._renewed_at = float("-inf")
        held, self._epochs = list(self._epochs), {}
        self._still.clear()
        for table_id in held:
            self._tables.reconsider(table_id)

    async def _claim(self, among: list[str] | None = None) -> int:
        claims = await self._ask_for(CLAIM_MAX, among=among)
        for claim in claims:
            self._hold(claim)
        for claim in claims:
            self._load(claim.table_id)
            if loading := self._loading.get(claim.table_id):
                await asyncio.wait([loading])
        return len(claims)

    async def _ask_for(self, limit: int, among: list[str] | None) -> list[Claim]:
        """Claim tables. If the answer is lost some may have been claimed that this server would
        never act for: it goes on as another, and they are free when the lease of this one ends."""
        if self._renewed_at == float("-inf"):
            await self._renew()
        try:
            claims = await self._store.claim(
                self.server_id, limit, among=among, without=tuple(self._unable)
            )
        except StoreError:
            self._lose_all()
            raise
        if claims:
            self._telemetry.claimed(len(claims))
        return claims

    def _hold(self, claim: Claim) -> None:
        self._epochs[claim.table_id] = claim.epoch
        if not claim.first:
            self._still.add(claim.table_id)

    def _load(self, table_id: str) -> None:
        if table_id not in self._loading and not self._closing:
            task = self._do(lambda: self._loaded(table_id))
            self._loading[table_id] = task
            task.add_done_callback(lambda _: self._loading.pop(table_id, None))

    async def _loaded(self, table_id: str) -> None:
        """Get a claimed table into memory, as it is by now, and let its clocks run."""
        while table_id in self._epochs:
            try:
                table = await self._tables.settled(table_id)
            except Refused as refused:
                if refused.retry_delay is None:
                    await self._give_up(table_id, refused.reason_name)
                else:
                    await self._clock.sleep(RETRY_S)
                continue
            except Exception:
                log.exception("work.not_loaded", table_id=table_id)
                await self._give_up(table_id, "fault")
                continue
            if table.rules is None:
                await self._give_up(table_id, "RULES_VERSION")
                continue
            if table_id in self._still:
                self._still.discard(table_id)
                if table.state == PLAYING and limits_us(table) != (None, None):
                    self._tables.append(table, draft("awakened"))
            self._tables.reconsider(table_id)
            return

    async def _give_up(self, table_id: str, reason: str) -> None:
        """Leave a table to a server that can play it."""
        log.warning("work.given_up", table_id=table_id, reason=reason)
        self._unable.add(table_id)
        await self.give_back([table_id])

    async def give_back(self, table_ids: list[str]) -> None:
        """Let other servers have these tables."""
        held = [table_id for table_id in table_ids if self._epochs.pop(table_id, None) is not None]
        if held:
            await self._store.release(self.server_id, held)

    # -- the end ----------------------------------------------------------------------------------

    async def close(self) -> None:
        """Give everything back, so that others need not wait for the lease to run out."""
        if self._closing:
            return
        self._closing = True
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._epochs.clear()
        try:
            await self._store.release(self.server_id)
        except StoreError as error:
            log.warning("work.not_given_back", error=str(error))

    def _do(self, work: Callable[[], Coroutine[Any, Any, object]]) -> asyncio.Task[None]:
        async def done() -> None:
            try:
                await work()
            except StoreError as error:
                log.warning("work.not_done", error=str(error))

        # In a context of its own: it isn't part of the call that caused it.
        task = asyncio.get_running_loop().create_task(done(), context=contextvars.Context())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
