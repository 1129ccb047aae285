"""One world from its seed: what is played, what goes wrong, and the judgement."""

from __future__ import annotations

import asyncio
import gc
import logging
from dataclasses import dataclass
from typing import Any

import structlog

from tavolata.service.refusals import Refused
from tavolata.v1.player_pb2 import AiPlayer
from tavolata.v1.table_pb2 import SeatPlan, TableSettings, TimeControl
from tests.simulation.network import NetTroubles, Network
from tests.simulation.people import Party, Temper
from tests.simulation.ports import SimBus
from tests.simulation.servers import Replica
from tests.simulation.store import SimStore, StoreTroubles
from tests.simulation.truth import Broken, require
from tests.simulation.world import START_US, SimLoop, World

RANDOM = AiPlayer(player="random")
# Games with the numbers of seats at which they are played here: few, as it is the service that is
# put to the test; Mister Bill and Mino Dice for decisions of several seats at once.
GAMES = (
    ("mino_dice", 3),
    ("bouillabaisse", 3),
    ("bids", 3),
    ("cafe_international", 2),
    ("mister_bill", 4),
)
PATIENCE_S = 900.0  # of simulated time, from when all troubles have ended
TROUBLE_S = 120.0
DECISION_S = 8
TOLD_S = 45.0  # less than a client waits before it asks anew, more than a slow one reads
# Of the seeds by sevens: those whose tables play single actions, and keep spectators behind.
SINGLES_AT, LATE_AT = 6, 5
SPECTATORS_LATE_S = 5
LATE_S = 12  # a lease, and the store's troubles


@dataclass(frozen=True, slots=True)
class Scenario:
    """What a seed stands for."""

    game: str
    seats: int
    people: int
    replicas: int
    timed: bool
    finish: bool  # play to the end, or only until the troubles are over and a while longer
    crashes: int
    stops: int
    jumps: int
    net: NetTroubles
    store: StoreTroubles
    bus_loss: float
    temper: Temper

    def __str__(self) -> str:
        return (
            f"{self.game}, {self.seats} seats, {self.people} people, {self.replicas} servers, "
            f"{self.crashes} crashes, {self.stops} stops, {self.jumps} clock jumps, {self.net}, "
            f"{self.store}, bus loss {self.bus_loss}, {self.temper}"
        )


def drawn(world: World) -> Scenario:
    """The scenario of a world; each kind of trouble is absent in some of them."""
    chance = world.chance

    def maybe(most: float) -> float:
        return most * chance.random() if chance.random() < 0.6 else 0.0

    game, seats = chance.choice(GAMES)
    return Scenario(
        game=game,
        seats=seats,
        people=chance.randint(1, seats),
        replicas=chance.choice((1, 2, 2, 3)),
        timed=chance.random() < 0.5,
        finish=chance.random() < 0.25,
        crashes=chance.choice((0, 0, 1, 2, 4, 8)),
        stops=chance.choice((0, 0, 1, 2)),
        jumps=chance.choice((0, 0, 0, 2)),
        net=NetTroubles(maybe(0.1), maybe(0.1), maybe(0.05), 0.3 * chance.random() + 0.001),
        store=StoreTroubles(maybe(0.05), maybe(0.01), maybe(0.03), 0.1 * chance.random() + 0.001),
        bus_loss=chance.choice((0.0, 0.0, 0.2, 1.0)),
        temper=Temper(
            twice=maybe(0.3), wrong=maybe(0.1), silent=maybe(0.05), away=maybe(0.05),
            resign=maybe(0.01), pause_s=2.0 * chance.random() ** 2,
        ),
    )  # fmt: skip


@dataclass(slots=True)
class Outcome:
    """What became of a world that held."""

    scenario: Scenario
    entries: int
    events: int
    acknowledged: int
    crashes: int
    steps: int
    seconds: float  # simulated


class Play:
    """One world."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.world = World(seed)
        self.scenario = drawn(self.world)
        self.clients = SimLoop(self.world, "clients")  # type: ignore[abstract]
        self.store = SimStore(self.world)
        self.bus = SimBus(self.world, self.scenario.bus_loss)
        self.replicas = [
            Replica(self.world, f"server{n}", self.store, self.bus, self.scenario.store)
            for n in range(self.scenario.replicas)
        ]
        self.network = Network(self.world, self.clients, self.scenario.net)
        self.party = Party(self.network, self.replicas, self.store, self.scenario.temper)

    def run(self) -> Outcome:
        """Play and judge; an AssertionError says what does not hold."""
        for replica in self.replicas:
            replica.start()
        self._plan_troubles()
        main = self.clients.create_task(self._main())
        try:
            self.world.run(main, TROUBLE_S + PATIENCE_S)
            main.result()
            self.party.truth.judge()
            self._judge_delay()
            require(len(self.store.logs) == 1, f"{len(self.store.logs)} tables were made")
            if self.world.faults:
                raise AssertionError("; ".join(self.world.faults[:3]))
        finally:
            self._bury()
        return self._outcome()

    def _judge_delay(self) -> None:
        """Once nothing goes wrong any more, everybody hears of the end soon."""
        ended = (self.party.truth.table().ended_us - START_US) / 1e6
        late = self.party.truth.heard_at - max(ended, TROUBLE_S)
        require(late < TOLD_S, f"the last to hear of the end heard of it after {late:.0f} s")

    def _outcome(self) -> Outcome:
        truth = self.party.truth
        table = truth.table()
        return Outcome(
            self.scenario, len(table.entries), len(table.happenings), len(truth.acknowledged),
            sum(each.crashes for each in self.replicas), self.world.steps, self.world.now,
        )  # fmt: skip

    # -- what goes wrong --------------------------------------------------------------------------

    def _plan_troubles(self) -> None:
        world, chance = self.world, self.world.chance
        for _ in range(self.scenario.crashes):
            world.at(TROUBLE_S * chance.random(), chance.choice(self.replicas).crash)
        for _ in range(self.scenario.stops):
            world.at(TROUBLE_S * chance.random(), chance.choice(self.replicas).stop)
        for _ in range(self.scenario.jumps):
            replica, jump = chance.choice(self.replicas), chance.uniform(-3e6, 3e6)
            world.at(TROUBLE_S * chance.random(), lambda r=replica, by=jump: self._jump(r, by))  # type: ignore[misc]
        for replica in self.replicas:
            self._look_after(replica)

    def _jump(self, replica: Replica, by_us: float) -> None:
        replica.clock.offset_us += round(by_us)

    def _look_after(self, replica: Replica) -> None:
        """Start a server again some time after it is gone."""
        if not replica.up:
            replica.start()
        self.world.after(0.5 + 2.0 * self.world.chance.random(), lambda: self._look_after(replica))

    def _heal(self) -> None:
        """From now on nothing goes wrong: what was begun must come to its end."""
        net, store = self.scenario.net, self.scenario.store
        net.lost = net.doubled = net.cut = store.full = store.lost = store.away = 0.0
        temper = self.scenario.temper
        temper.away = temper.silent = temper.resign = temper.stalls = 0.0

    # -- what is played ---------------------------------------------------------------------------

    async def _main(self) -> None:
        scenario, party = self.scenario, self.party
        settings = TableSettings(game_id=scenario.game, stand_in=RANDOM)
        if scenario.timed:
            settings.time_control.CopyFrom(TimeControl())
            settings.time_control.per_decision.FromSeconds(DECISION_S)
        settings.play_single_actions = self.seed % 7 == SINGLES_AT
        if self.seed % 7 == LATE_AT:
            settings.spectator_delay.FromSeconds(SPECTATORS_LATE_S)
        ai = [SeatPlan(ai=RANDOM)] * (scenario.seats - scenario.people)
        await party.sit_down(settings, scenario.people, ai)
        if scenario.timed and not (scenario.crashes or scenario.stops or scenario.jumps):
            party.truth.late_us = (DECISION_S + LATE_S) * 10**6
        work = [party.play(seat) for seat in party.tokens]
        chance = self.world.chance
        work += [
            party.watch(seat, token, stalls=chance.random() < 0.3, views=chance.random() < 0.3)
            for seat, token in party.tokens.items()
        ]
        work.append(party.watch(-1, None, stalls=False, views=False))
        tasks = [asyncio.get_running_loop().create_task(each) for each in work]
        tasks.append(asyncio.get_running_loop().create_task(self._see_to_the_end()))
        try:
            await asyncio.gather(*tasks)
        except Refused as refused:
            raise Broken(f"refused with {refused.reason_name}: {refused.message}") from refused
        finally:
            for task in tasks:
                task.cancel()

    async def _see_to_the_end(self) -> None:
        """The troubles end; then the match ends, or goes on for a while and is ended."""
        await asyncio.sleep(max(0.0, TROUBLE_S - self.world.now))
        self._heal()
        if self.scenario.finish:
            return
        before = self.party.truth.table().turn
        await asyncio.sleep(60.0)
        table = self.party.truth.table()
        if not table.over:
            assert table.turn > before, f"nothing was played in a minute at turn {before}"
            await self.party.abort()
            if not self.party.truth.table().over:  # the owner had resigned
                await self.party.over.wait()

    def _bury(self) -> None:
        for loop in self.world.loops:
            loop.crash()
        for loop in self.world.loops:
            loop.bury()
        gc.collect(0)


def play(seed: int) -> Outcome:
    """The world of a seed; an error that names seed and scenario if something breaks."""
    # Servers tell of every trouble that is made for them.
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    world: Any = Play(seed)
    try:
        return world.run()  # type: ignore[no-any-return]
    except Exception as failure:
        failure.add_note(f"seed {seed}: {world.scenario}")
        raise


def attempt(seed: int) -> tuple[int, Outcome | str]:
    """The outcome, or what broke."""
    try:
        return seed, play(seed)
    except Exception as failure:  # noqa: BLE001 - whatever it is, it is told
        notes = "\n  ".join(getattr(failure, "__notes__", ()))
        kind = "" if isinstance(failure, AssertionError) else f"{type(failure).__name__}: "
        return seed, f"{kind}{failure}\n  {notes}"
