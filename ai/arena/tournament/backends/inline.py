"""Matches in this process, for looking into a player with a debugger or a profiler.

A player that ends the process or never answers is not contained here.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable

from tavolata.ai.arena.tournament.backends import Played, play_all
from tavolata.ai.arena.tournament.model import Chunk, Field
from tavolata.ai.arena.tournament.play import Referee
from tavolata.ai.arena.tournament.policy import FaultPolicy


class Inline:
    """One chunk after the other."""

    workers = 1

    def __init__(self, field: Field, policy: FaultPolicy) -> None:
        self._referee = Referee(field, policy)

    def run(self, chunks: Iterable[Chunk]) -> Generator[Played, None, None]:
        for chunk in chunks:
            yield play_all(self._referee, chunk.plans)

    def close(self) -> None:
        """Nothing to end."""
