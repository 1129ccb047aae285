"""The other ports of a simulated server: clock, chance, hints, thinking."""

from __future__ import annotations

import asyncio

from tavolata.ai.player import Decision, Limits, Observation
from tavolata.ai.players import PlayerSpec, player_spec
from tavolata.ai.stop import Stop
from tavolata.service.ports import Hint
from tests.simulation.world import START_US, SimLoop, World


class SimClock:
    """A server's clock; its wall time may jump, its monotonic time doesn't."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.offset_us = 0

    def now_us(self) -> int:
        return START_US + self.offset_us + round(self._world.now * 1e6)

    def monotonic(self) -> float:
        return self._world.now

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class SimEntropy:
    """Chance from the world's."""

    def __init__(self, world: World) -> None:
        self._world = world

    def bytes(self, count: int) -> bytes:
        return self._world.chance.randbytes(count)

    def name(self) -> str:
        return self.bytes(11).hex()

    def fraction(self) -> float:
        return self._world.chance.random()


class SimBus:
    """Hints between the servers: late, doubled, lost."""

    def __init__(self, world: World, loss: float) -> None:
        self._world = world
        self.loss = loss
        self.lines: list[BusLine] = []

    def spread(self, sender: BusLine, table_id: str, entry_number: int) -> None:
        """Tell everybody, the sender at once."""
        for line in self.lines:
            if line is sender:
                line.hear(table_id, entry_number)
                continue
            copies = 1 + (self._world.chance.random() < 0.05)
            for _ in range(copies):
                if self._world.chance.random() >= self.loss:
                    self._later(line, table_id, entry_number)

    def _later(self, line: BusLine, table_id: str, entry_number: int) -> None:
        self._world.after(self._world.delay(0.05), lambda: line.hear(table_id, entry_number))


class BusLine:
    """A server's Bus."""

    def __init__(self, bus: SimBus, loop: SimLoop) -> None:
        self._bus, self._loop = bus, loop
        self._listeners: list[Hint] = []
        bus.lines.append(self)

    def announce(self, table_id: str, entry_number: int) -> None:
        self._bus.spread(self, table_id, entry_number)

    def subscribe(self, heard: Hint) -> None:
        self._listeners.append(heard)

    def hear(self, table_id: str, entry_number: int) -> None:
        """Pass a hint on, in the server's loop."""
        for heard in self._listeners:
            self._loop.call_soon(heard, table_id, entry_number)


class SimThinking:
    """Players that decide after a while; in between the table may have gone on."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def decide(
        self,
        spec: PlayerSpec,
        observation: Observation,
        limits: Limits,
        *,
        seed: int,
        stop: Stop,
        urgent: bool,
    ) -> Decision:
        await asyncio.sleep(self._world.delay(0.4))
        player = player_spec("random").make(observation.game)
        return player.decide(observation, limits, seed=seed, stop=stop)

    def close(self) -> None:
        """Nothing to let go of."""
