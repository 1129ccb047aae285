"""Where matches are played: in this process, in others, or on other machines.

A backend changes how long a tournament takes and which faults it survives, never its result.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from tavolata.ai.arena.tournament.model import Chunk, Fault, MatchOutcome, MatchPlan
from tavolata.ai.arena.tournament.play import Referee

Known = Mapping[MatchPlan, Sequence[Fault]]


@dataclass(frozen=True, slots=True)
class Played:
    """Outcomes with the seconds that each match took."""

    outcomes: tuple[MatchOutcome, ...]
    seconds: tuple[float, ...]


class WorkerError(RuntimeError):
    """Workers end for reasons that are no player's, again and again."""


class Backend(Protocol):
    """Something that plays chunks."""

    workers: int  # chunks that are played at the same time

    def run(self, chunks: Iterable[Chunk]) -> Generator[Played, None, None]:
        """Play chunks as workers become free, and give the outcomes in the order they come.

        A chunk is taken from ``chunks`` only when there is a worker for it. What took a worker down
        comes back in parts; every plan comes back once. Closing the iterator drops what is being
        played. Raises WorkerError when matches can't be played at all.
        """

    def close(self) -> None:
        """End the workers. The backend can't be used any more."""


def play_all(referee: Referee, plans: Sequence[MatchPlan], known: Known | None = None) -> Played:
    """Play plans one after the other; ``known`` faults are not suffered again."""
    outcomes, seconds = [], []
    for position, plan in enumerate(plans):
        started = time.perf_counter()
        referee.notes.match(position)
        outcomes.append(referee.play(plan, (known or {}).get(plan, ())))
        seconds.append(time.perf_counter() - started)
    return Played(tuple(outcomes), tuple(seconds))
