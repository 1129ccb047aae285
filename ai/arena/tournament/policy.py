"""What a tournament does about players that misbehave. Data only; playing by it is elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from tavolata.ai.player import Limits


class OnFault(StrEnum):
    """How a match goes on after an illegal action, a crash or a hang."""

    REPLACE = "replace"  # the rule of thumb plays on for that seat in this match
    FORFEIT = "forfeit"  # the match ends: the seat is last with utility 0, the others as they stand


class OnSlow(StrEnum):
    """What a late answer is."""

    COUNT = "count"  # counted and played: the clock changes no result
    FAULT = "fault"  # a fault like any other, dealt with as ``OnFault`` says


@dataclass(frozen=True, slots=True)
class FaultPolicy:
    """How faults are noticed, counted and scored.

    patience_ms: an answer that takes longer, beyond think_ms where there is a time limit, is a
    hang; slow_factor, slow_ms: an answer is slow when it takes more than think_ms x slow_factor
    + slow_ms, players without a time limit never are; faults_max: an entrant with this many
    faults (slow ones only under ``OnSlow.FAULT``) is withdrawn at the end of the block, and no
    more matches are planned with it; None: never. Blocks are complete before the next is
    planned, so that this does not depend on who ends first.
    """

    on_fault: OnFault = OnFault.REPLACE
    on_slow: OnSlow = OnSlow.COUNT
    patience_ms: float = 60_000.0
    slow_factor: float = 1.0
    slow_ms: float = 100.0
    faults_max: int | None = None

    def slow_after_ms(self, limits: Limits) -> float | None:
        """Milliseconds after which an answer under these limits is slow; None: never."""
        if limits.think_ms is None:
            return None
        return limits.think_ms * self.slow_factor + self.slow_ms
