"""Analyses of a decision: a search that is told while it grows.

What searches here are generators that search for some hundredths of a second between two yields, so
that whoever runs them can do other things in between, or stop.
"""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Iterator
from dataclasses import dataclass

from tavolata.ai.ismcts import IsmctsPlayer, statistics_of
from tavolata.ai.player import Decision, Limits, Observation
from tavolata.ai.search import Searcher
from tavolata.ai.stop import Stop

SLICE_MS = 40.0
FIRST_TOLD = 250  # iterations


@dataclass(frozen=True, slots=True)
class Findings:
    """What a search knows by now. found: its choice without chance, and statistics of every legal
    action; final: it is over."""

    found: Decision
    final: bool


def seed_for(observation: Observation, seed: int, purpose: bytes) -> int:
    """64 bits for a search, from what the seat knows, a number of the caller's and the purpose."""
    digest = hashlib.sha256(b"tavolata.analysis.v1\x00" + purpose + b"\x00")
    digest.update(seed.to_bytes(8, "big"))
    for part in (observation.view_bytes, observation.event_words):
        digest.update(len(part).to_bytes(8, "big") + part)
    return int.from_bytes(digest.digest()[:8], "big")


def analysing(
    observation: Observation, limits: Limits, *, seed: int, stop: Stop
) -> Iterator[Findings | None]:
    """A search of a decision, a single legal action included.

    Told after FIRST_TOLD iterations, whenever they have doubled, and at the end; in between None.
    Of one thread, whatever ``limits`` says. The same observation, iterations and seed give the
    same, but for times.
    """
    game = observation.game
    searcher = IsmctsPlayer(game).searcher(
        observation,
        game.dealer(observation.view_bytes, observation.seat),
        limits,
        seed_for(observation, seed, b"analyse"),
        stop,
    )
    until = FIRST_TOLD
    while not searcher.search_on(until, SLICE_MS):
        if searcher.report()[0] < until:
            yield None
            continue
        until *= 2
        yield Findings(found_by(searcher, observation.seat), final=False)
    yield Findings(found_by(searcher, observation.seat), final=True)


def searching(searcher: Searcher, seat: int) -> Generator[None, None, Decision]:
    """A search to its end; what it has found."""
    while not searcher.search_on(0, SLICE_MS):
        yield None
    return found_by(searcher, seat)


def found_by(searcher: Searcher, seat: int) -> Decision:
    """What a search of this seat's decision has found so far."""
    iterations, nodes, elapsed_ms, rows = searcher.report()
    statistics = statistics_of(rows, seat)
    best = max(statistics, key=lambda row: (row.share, row.mean))
    return Decision(best.action, iterations, nodes, elapsed_ms, statistics)
