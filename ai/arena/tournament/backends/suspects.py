"""Who was being asked when a worker ended, and when that is held to be the player's doing."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from tavolata.ai.arena.tournament.backends import Known, WorkerError
from tavolata.ai.arena.tournament.model import Fault, FaultKind, MatchPlan
from tavolata.ai.arena.tournament.notes import NOBODY, Note

# How often a worker may end at the same decision before the player is held to have done it: once
# may be somebody else's doing, and the result must not depend on that.
CRASHES = 3
HANGS = 2
LOSSES_MAX = 10  # workers that one match may take down, wherever in it

Plans = tuple[MatchPlan, ...]


class Suspects:
    """Counts the ends of workers until a fault is known."""

    def __init__(self) -> None:
        self._ends: Counter[tuple[MatchPlan, int, int, FaultKind]] = Counter()
        self._losses: Counter[MatchPlan] = Counter()
        self._known: defaultdict[MatchPlan, list[Fault]] = defaultdict(list)

    def known(self, plans: Sequence[MatchPlan]) -> Known:
        """The faults that are known to happen in these matches."""
        return {plan: tuple(self._known[plan]) for plan in plans if plan in self._known}

    def split(self, plans: Plans, note: Note | None, how: str | None) -> list[Plans]:
        """The parts in which to play again what a worker held when it ended.

        note: its last; how: it ended, None if it was ended for want of an answer. Raises
        WorkerError for a match that takes workers down outside its players' code.
        """
        place = max(note.position, 0) if note else 0
        plan = plans[place]
        self._losses[plan] += 1
        if note and note.position >= 0 and note.seat != NOBODY:
            self._suspect(plan, note, how)
        elif self._losses[plan] >= LOSSES_MAX:
            raise WorkerError(
                f"match {plan.id} has taken down {LOSSES_MAX} workers, and no player was being "
                f"asked; the last one: {how}"
            )
        return [part for part in (plans[:place], (plan,), plans[place + 1 :]) if part]

    def _suspect(self, plan: MatchPlan, note: Note, how: str | None) -> None:
        kind = FaultKind.HANG if how is None else FaultKind.CRASH
        key = (plan, note.seat, note.decision, kind)
        self._ends[key] += 1
        enough = HANGS if kind is FaultKind.HANG else CRASHES
        if self._ends[key] < enough and self._losses[plan] < LOSSES_MAX:
            return
        detail = "no answer within the patience" if how is None else f"its worker ended: {how}"
        label = plan.labels[note.seat]
        self._known[plan].append(Fault(kind, label, note.seat, note.decision, detail))
        del self._losses[plan]
