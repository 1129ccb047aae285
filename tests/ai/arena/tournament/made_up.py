"""Outcomes of planned matches without playing them, for tests of what is planned next."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tavolata.ai.arena.duplicate import SeatResult
from tavolata.ai.arena.tournament.model import Fault, FaultKind, MatchOutcome, MatchPlan
from tavolata.ai.arena.tournament.schedule import TournamentSchedule

Strength = Callable[[str, MatchPlan], float]


def outcome(plan: MatchPlan, utility: Strength, faults: Sequence[Fault] = ()) -> MatchOutcome:
    """A match in which every label has the utility that is given for it."""
    values = [utility(label, plan) for label in plan.labels]
    places = [1 + sum(other > value for other in values) for value in values]
    seats = tuple(
        SeatResult(
            label,
            seat,
            round(100 * values[seat]),
            places[seat],
            1 / places.count(1) if places[seat] == 1 else 0.0,
            values[seat],
            1,
            0,
            0.0,
        )
        for seat, label in enumerate(plan.labels)
    )
    return MatchOutcome(plan, seats, plan.id.encode(), b"", tuple(faults))


def crash(label: str) -> Fault:
    return Fault(FaultKind.CRASH, label, 0, 0, "fell over")


def play_all(
    schedule: TournamentSchedule,
    utility: Strength,
    faults: Callable[[MatchPlan], Sequence[Fault]] = lambda plan: (),
) -> list[MatchOutcome]:
    """Every match of a tournament."""
    done: list[MatchOutcome] = []
    while plans := schedule.next_block(done):
        done += [outcome(plan, utility, faults(plan)) for plan in plans]
    return done
