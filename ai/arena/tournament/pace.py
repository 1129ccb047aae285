"""How many matches make half a second: chunks sized by what matches took before.

Chunks are how plans travel and results are committed. Their sizes change no result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tavolata.ai.arena.tournament.backends import Played
from tavolata.ai.arena.tournament.model import Chunk, MatchPlan

CHUNK_S = 0.5


class Pace:
    """Mean durations of matches, by contest and players."""

    def __init__(self, chunk_s: float = CHUNK_S) -> None:
        self.chunk_s = chunk_s
        self._sums: dict[tuple[int, tuple[str, ...]], tuple[int, float]] = {}
        self._chunks = 0

    def learn(self, played: Played) -> None:
        """Take into account what matches took."""
        for outcome, seconds in zip(played.outcomes, played.seconds, strict=True):
            count, total = self._sums.get(_kind(outcome.plan), (0, 0.0))
            self._sums[_kind(outcome.plan)] = count + 1, total + seconds

    def seconds(self, plan: MatchPlan) -> float | None:
        """What such a match takes on average; None if none has been played."""
        count, total = self._sums.get(_kind(plan), (0, 0.0))
        return total / count if count else None

    def chunks(
        self, plans: Sequence[MatchPlan], stopped: Callable[[], bool] = lambda: False
    ) -> Iterator[Chunk]:
        """The plans in order, as chunks that last ``chunk_s`` or longer by what is known when each
        is taken; a kind of match not seen before ends its chunk. Ends early once ``stopped``.
        """
        begin = 0
        while begin < len(plans) and not stopped():
            end, seconds = begin, 0.0
            while end < len(plans) and seconds < self.chunk_s:
                known = self.seconds(plans[end])
                seconds += self.chunk_s if known is None else known
                end += 1
            yield Chunk(self._chunks, tuple(plans[begin:end]))
            self._chunks += 1
            begin = end


def _kind(plan: MatchPlan) -> tuple[int, tuple[str, ...]]:
    return plan.contest, tuple(sorted(plan.labels))
