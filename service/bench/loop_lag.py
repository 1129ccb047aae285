"""How late the event loop runs while AI players search on every core."""

from __future__ import annotations

import asyncio
import os
import time

from tavolata.ai.player import Limits, observe
from tavolata.ai.players import DEFAULT_PLAYER, player_spec
from tavolata.ai.stop import Stop
from tavolata.ext.core.match import Match
from tavolata.ext.registry import GAMES
from tavolata.service.bench.measurement import Measurement
from tavolata.service.thinking import ThinkingThreads

SAMPLES = 2_000
SLEEP_S = 0.001
THINK_MS = 50.0  # decisions come and go, as they do at tables
LIMIT_MS = 20.0


async def measured() -> Measurement:
    """How often the 99th percentile of the loop's lag fits into the limit; idle lag beside it."""
    idle = await _lag_ms()
    threads = ThinkingThreads(len(os.sched_getaffinity(0)))
    searchers = [
        asyncio.create_task(_search_on(threads, seed))
        for seed in range(len(os.sched_getaffinity(0)))
    ]
    try:
        busy = await _lag_ms()
    finally:
        for searcher in searchers:
            searcher.cancel()
        await asyncio.gather(*searchers, return_exceptions=True)
        threads.close()
    case = f"event-loop lag p99 is {busy:.2f} ms while every core searches ({idle:.2f} ms idle)"
    return Measurement(case, LIMIT_MS / busy, f"times in {LIMIT_MS:.0f} ms", goal=1.0)


async def _lag_ms() -> float:
    """The 99th percentile of how much later than asked a sleeping task wakes, in milliseconds."""
    lags = []
    for _ in range(SAMPLES):
        asked = time.perf_counter()
        await asyncio.sleep(SLEEP_S)
        lags.append(1000 * (time.perf_counter() - asked - SLEEP_S))
    return sorted(lags)[int(0.99 * len(lags))]


async def _search_on(threads: ThinkingThreads, seed: int) -> None:
    """Decide the first move of one match again and again."""
    spec = next(iter(GAMES.values()))
    match = Match(spec.make(spec.seats_usual), seed.to_bytes(32, "big"))
    observation = observe(match, match.to_act[0])
    while True:
        await threads.decide(
            player_spec(DEFAULT_PLAYER),
            observation,
            Limits(think_ms=THINK_MS),
            seed=seed,
            stop=Stop(),
            urgent=True,
        )
