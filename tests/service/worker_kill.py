"""Workers that are killed while AI players think: no decision is lost, and none is made twice.

A server that leaves all matches to workers, and two workers beside it, on one PostgreSQL. One
worker at a time gets SIGKILL, mostly in the middle of decisions, and is started again. Every match
must come to its end; its record must have each decision once, and give the match again. The time
from a kill to the next decision at each table is what a takeover takes: the lease, and the look for
free matches.

    python -m tests.service.worker_kill --kills 20
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import random
import signal
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from tavolata.ext.core.record import replay
from tavolata.ext.registry import game_spec
from tavolata.service.replays import check_fairness, record_of_replay
from tavolata.v1.player_pb2 import AiPlayer, SearchLimits
from tavolata.v1.table_pb2 import SeatPlan, TableState
from tests.service.house import House, house_in
from tests.service.kill_loop import database_of
from tests.service.postgres import Cluster

GAMES = (("bouillabaisse", 2), ("mino_dice", 3), ("bids", 4), ("mister_bill", 4))


@dataclass
class Tally:
    """What a run came to. waits: seconds from a kill to the next decision at a table that stood
    still by it."""

    kills: int = 0
    tables: int = 0
    decisions: int = 0
    waits: list[float] = field(default_factory=list)


class Hand:
    """A worker process."""

    def __init__(self, folder: Path, store: str, name: str, lease_s: float) -> None:
        self.log = folder / name
        self._environment = os.environ | {"TAVOLATA_LEASE_S": str(lease_s)}
        self._store = store
        self.process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Start it, and return when it works."""
        with self.log.open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "tavolata", "worker", "--store", self._store),
                *("--threads", "1", "--print-ready"),
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                env=self._environment,
            )
        assert self.process.stdout is not None
        if not await asyncio.wait_for(self.process.stdout.readline(), 60):
            raise AssertionError(f"the worker did not start:\n{self.log.read_text()[-2000:]}")

    async def kill(self) -> None:
        """SIGKILL."""
        assert self.process is not None
        self.process.kill()
        await self.process.wait()

    async def stop(self) -> int:
        """SIGTERM; its exit code."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        return await asyncio.wait_for(self.process.wait(), 60)


async def worker_kill(
    folder: Path,
    kills: int,
    *,
    store: str,
    tables: int = 4,
    lease_s: float = 5.0,
    think_ms: int = 40,
    seed: int = 1,
) -> Tally:
    """Play at so many tables while workers are killed. AssertionError says what was wrong."""
    chance, tally = random.Random(seed), Tally()
    hands = [Hand(folder, store, f"worker-{number}", lease_s) for number in range(2)]
    enough = asyncio.Event()
    codes: list[int] = []
    async with house_in(folder, store=store, ai_threads=0, look_s=0.05) as house:
        turns: dict[str, int] = {}

        async def keep_playing(number: int) -> None:
            game, seats = GAMES[number % len(GAMES)]
            while not enough.is_set():
                await _played(house, game, seats, think_ms, turns, tally)

        await asyncio.gather(*(hand.start() for hand in hands))
        players = [asyncio.create_task(keep_playing(number)) for number in range(tables)]
        try:
            for _ in range(kills):
                await asyncio.sleep(chance.uniform(0.2, 1.0))
                for player in players:
                    if player.done():
                        player.result()
                hand = chance.choice(hands)
                await hand.kill()
                await _taken_over(turns, tally)
                await hand.start()
            enough.set()
            await asyncio.gather(*players)
        finally:
            for player in players:
                player.cancel()
            await asyncio.gather(*players, return_exceptions=True)
            for hand in hands:
                with contextlib.suppress(ProcessLookupError):
                    codes.append(await hand.stop())
    assert not any(codes), f"the workers ended with {codes}"
    return tally


async def _taken_over(turns: dict[str, int], tally: Tally) -> None:
    """Wait until every table that was in play at a kill has gone on, and keep the longest wait."""
    killed_at, before = time.monotonic(), dict(turns)
    tally.kills += 1
    async with asyncio.timeout(60):
        while any(turns.get(table_id) == turn for table_id, turn in before.items()):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    tally.waits.append(time.monotonic() - killed_at)


async def _played(
    house: House,
    game: str,
    seats: int,
    think_ms: int,
    turns: dict[str, int],
    tally: Tally,
) -> None:
    """Play a match of AI players to its end, and check its record."""
    limits = SearchLimits()
    limits.think_time.FromMilliseconds(think_ms)
    thinker = SeatPlan(ai=AiPlayer(player="ismcts", limits=limits))
    quick = SeatPlan(ai=AiPlayer(player="greedy"))
    made = await house.create([thinker, *[quick] * (seats - 1)], game=game)
    table_id = made.table.table_id
    await house.start(table_id, made.token)
    async for message in house.watch(table_id, with_views=True):
        if message.HasField("snapshot"):
            turns[table_id] = message.snapshot.view.turn
    del turns[table_id]
    assert (await house.table(table_id)).state == TableState.TABLE_STATE_FINISHED
    told = await house.replay(table_id)
    made_in = [(e.decision.turn, e.decision.seat) for e in told.entries if e.HasField("decision")]
    assert len(set(made_in)) == len(made_in), "a decision is recorded twice"
    record = record_of_replay(told)
    check_fairness(record)
    replay(record, game_spec)
    tally.tables += 1
    tally.decisions += len(made_in)


def main() -> None:
    """The long form."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--tables", type=int, default=4, help="tables played at a time")
    parser.add_argument("--lease", type=float, default=5.0, help="of the workers, seconds")
    chosen = parser.parse_args()
    cluster = Cluster()
    try:
        store = database_of(cluster)
        with tempfile.TemporaryDirectory(prefix="worker-kill-") as folder:
            tally = asyncio.run(
                worker_kill(
                    Path(folder),
                    chosen.kills,
                    store=store,
                    tables=chosen.tables,
                    lease_s=chosen.lease,
                    seed=chosen.seed,
                )
            )
    finally:
        cluster.stop()
    sys.stdout.write(
        f"{tally.kills} kills (seed {chosen.seed}): {tally.tables} matches played to their end,"
        f" {tally.decisions} decisions, each recorded once; taken over within"
        f" {max(tally.waits):.1f} s at most, lease {chosen.lease:g} s\n"
    )


if __name__ == "__main__":
    main()
