"""The service without its transport: everything above the ports put together."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import structlog

from tavolata.service.ai_levels import ceiling_of
from tavolata.service.ai_seats import AiSeats
from tavolata.service.committer import Committer
from tavolata.service.players.asking import RemotePlayers
from tavolata.service.players.offers import Board, NoBoard
from tavolata.service.players.opening import remote_players, roster_of
from tavolata.service.ports import Bus, Clock, Entropy, Store, StoreError
from tavolata.service.refusals import Refused
from tavolata.service.settings import Settings
from tavolata.service.tables.lobby import Lobby
from tavolata.service.tables.makers import Allowance, Makers
from tavolata.service.tables.memory import Lifetimes
from tavolata.service.tables.playing import Playing
from tavolata.service.tables.settings_check import Defaults
from tavolata.service.tables.tables import Tables
from tavolata.service.telemetry import SILENCE, Telemetry
from tavolata.service.thinking import Thinking
from tavolata.service.watch import WatchHub
from tavolata.service.work import WorkLoop

log = structlog.get_logger(__name__)
CHECKED_MAX = 20  # tables at a time that may have ended on other servers
# Nobody finds an expired table any more. That long after, nothing can be on its way to it either.
GRACE_US = 60 * 10**6


@dataclass(slots=True)
class Core:
    """The service without its transport: what a simulation drives."""

    tables: Tables
    lobby: Lobby
    playing: Playing
    hub: WatchHub
    ai_seats: AiSeats
    committer: Committer
    work: WorkLoop
    look_s: float
    makers: Makers
    remote: RemotePlayers

    async def take_up(self) -> None:
        """Claim and load the matches that nobody acts for, so that their AI players and clocks go
        on."""
        await self.work.take_up()

    async def run(self) -> None:
        """Do so again and again, and follow what other servers do; ends by being cancelled."""
        await asyncio.gather(self.work.run(), self._follow(), self.remote.run())

    async def _follow(self) -> None:
        while True:
            await self.tables.clock.sleep(self.look_s)
            try:
                await self.tables.look()
            except StoreError as error:
                log.warning("tables.not_looked_at", error=str(error))
            except Exception:
                log.exception("tables.not_looked_at")

    async def sweep(self) -> None:
        """Remove tables whose time has come, and drop idle ones from memory."""
        now_us = self.tables.clock.now_us()
        if self.tables.store.shared:
            now_us -= GRACE_US
        while gone := await self.tables.store.remove_expired(now_us):
            self.tables.remove(gone)
            self.makers.gone(gone)
        self.makers.sweep()
        if self.tables.store.shared:
            await self._check_makers()
        await self.work.give_back(self.tables.forget_idle())

    async def _check_makers(self) -> None:
        """Find out which tables that were made here have ended, or gone, elsewhere."""
        for table_id in self.makers.next_to_check(CHECKED_MAX):
            try:
                self.makers.seen(await self.tables.settled(table_id))
            except Refused as refused:
                if refused.retry_delay is None:
                    self.makers.gone([table_id])

    async def close(self) -> None:
        """Stop thinking, finish the last commit, give claims back, close the store."""
        await self.ai_seats.close()
        await self.remote.close()
        await self.committer.drain()
        await self.work.close()
        await self.tables.store.close()


def make_core(
    settings: Settings,
    store: Store,
    bus: Bus,
    clock: Clock,
    entropy: Entropy,
    thinking: Thinking,
    on_store_failure: asyncio.Event,
    telemetry: Telemetry = SILENCE,
    board: Board | None = None,
) -> Core:
    """The service above these ports. The event is set when the store can't be trusted any more.
    board: by which the servers of the store know each other's remote players. PlayersRefused says
    what is wrong with the settings about those."""

    def failed(error: StoreError) -> None:
        log.error("store.failed", error=str(error))
        on_store_failure.set()

    ceiling = ceiling_of(settings)
    committer = Committer(store, clock, failed, telemetry)
    lifetimes = Lifetimes(
        settings.open_table_s * 10**6, settings.over_table_s * 10**6, settings.over_in_memory_max
    )
    tables = Tables(store, committer, bus, clock, entropy, lifetimes)
    tables.telemetry = telemetry
    playing = Playing(tables)
    allowance = Allowance(
        settings.caller_tables_per_min, settings.caller_tables_max, settings.caller_ai_s_per_min
    )
    makers = Makers(clock, allowance)
    roster = roster_of(settings, clock, entropy)
    remote = remote_players(settings, roster, board or NoBoard(), tables)
    defaults = Defaults(
        ceiling, settings.ai_floor_s, settings.ai_jitter_s, remote_games=roster.games_of
    )
    lobby = Lobby(tables, defaults, makers)
    hub = WatchHub(
        tables,
        playing,
        clock,
        backlog_max=settings.backlog_max,
        watchers_max=settings.watchers_max,
        caller_watchers_max=settings.caller_watchers_max,
    )
    tables.on_let_go.append(hub.let_go)
    work = WorkLoop(tables, clock, entropy, settings.lease_s, telemetry, acts=settings.acts)
    tables.work = work
    ai_seats = AiSeats(playing, thinking, clock, entropy, ceiling, work, telemetry, makers, remote)
    tables.on_change += [work.seen, remote.seen, ai_seats.consider, makers.seen]
    return Core(
        tables, lobby, playing, hub, ai_seats, committer, work, settings.look_s, makers, remote
    )
