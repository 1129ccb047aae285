"""Outcomes of a tournament as columns, in canonical order: what every statistic starts from.

The order in which outcomes arrive is forgotten here, so that nothing later can depend on it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tavolata.ai.arena.duplicate import SeatResult
from tavolata.ai.arena.tournament.model import Fault, Field, MatchOutcome, MatchPlan

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]


class OutcomeError(ValueError):
    """Outcomes that do not belong to the tournament or to each other."""


@dataclass(frozen=True, slots=True)
class SeatTable:
    """One row for every seat of every match, matches in canonical order, seats ascending.

    labels: the entrants, ascending; a row's ``label`` is an index into them. match: number of the
    match, from 0; contest: of the field; deal: number of the deal over all contests, from 0,
    ascending by (contest, deal of the plan). Rows of one deal share its chance.
    """

    field: Field
    labels: tuple[str, ...]
    match: Ints
    contest: Ints
    deal: Ints
    label: Ints
    seat: Ints
    total: Floats
    place: Floats
    won: Floats
    utility: Floats
    decisions: Ints
    iterations: Ints
    think_ms: Floats
    think_bins: tuple[tuple[tuple[int, int], ...], ...]
    faults: tuple[tuple[int, int, Fault], ...]  # contest, number among all matches, fault

    @property
    def match_count(self) -> int:
        return int(self.match[-1]) + 1 if len(self.match) else 0

    @property
    def deal_count(self) -> int:
        return len(np.unique(self.deal))

    def where(self, chosen: Flags) -> SeatTable:
        """The rows that are chosen, whole matches of them, numbered anew."""
        columns: dict[str, Any] = {
            name: getattr(self, name)[chosen]
            for name in self.__dataclass_fields__
            if name not in ("field", "labels", "think_bins", "faults")
        }
        for name in ("match", "deal"):
            columns[name] = np.unique(columns[name], return_inverse=True)[1]
        contests = {int(number) for number in np.unique(columns["contest"])}
        return SeatTable(
            field=self.field,
            labels=self.labels,
            think_bins=tuple(self.think_bins[row] for row in np.flatnonzero(chosen)),
            faults=tuple(fault for fault in self.faults if fault[0] in contests),
            **columns,
        )

    def of_contest(self, contest: int) -> SeatTable:
        """The rows of one contest."""
        return self.where(self.contest == contest)


def gather(field: Field, outcomes: Iterable[MatchOutcome]) -> SeatTable:
    """The table of these outcomes, whatever order they come in.

    OutcomeError when a match comes twice, or names a contest or an entrant that the field has not.
    """
    kept = [(outcome.plan, outcome.seats, outcome.faults) for outcome in outcomes]
    kept.sort(key=lambda row: row[0])
    _check(field, [plan for plan, _, _ in kept])
    labels = tuple(sorted(field.entrants))
    number_of = {label: number for number, label in enumerate(labels)}
    deals = sorted({(plan.contest, plan.deal) for plan, _, _ in kept})
    deal_of = {key: number for number, key in enumerate(deals)}
    rows = [(number, plan, seat) for number, (plan, seats, _) in enumerate(kept) for seat in seats]
    results = [seat for _, _, seat in rows]
    return SeatTable(
        field=field,
        labels=labels,
        match=_ints([number for number, _, _ in rows]),
        contest=_ints([plan.contest for _, plan, _ in rows]),
        deal=_ints([deal_of[plan.contest, plan.deal] for _, plan, _ in rows]),
        label=_ints([number_of[seat.label] for seat in results]),
        seat=_ints([seat.seat for seat in results]),
        total=_floats(results, "total"),
        place=_floats(results, "place"),
        won=_floats(results, "won"),
        utility=_floats(results, "utility"),
        decisions=_ints([seat.decisions for seat in results]),
        iterations=_ints([seat.iterations for seat in results]),
        think_ms=_floats(results, "think_ms"),
        think_bins=tuple(seat.think_bins for seat in results),
        faults=tuple(
            (plan.contest, number, fault)
            for number, (plan, _, faults) in enumerate(kept)
            for fault in faults
        ),
    )


def _check(field: Field, plans: list[MatchPlan]) -> None:
    seen: set[str] = set()
    for plan in plans:
        if plan.id in seen:
            raise OutcomeError(f"match {plan.id} comes twice; each match has one outcome")
        seen.add(plan.id)
        if not 0 <= plan.contest < len(field.contests):
            raise OutcomeError(
                f"match {plan.id} is of contest {plan.contest}; "
                f"the field has contests 0 to {len(field.contests) - 1}"
            )
        for label in plan.labels:
            if label not in field.entrants:
                raise OutcomeError(
                    f"match {plan.id} seats {label!r}; "
                    f"the field has {', '.join(map(repr, sorted(field.entrants)))}"
                )


def _ints(values: list[int]) -> Ints:
    return np.array(values, dtype=np.int64)


def _floats(results: list[SeatResult], name: str) -> Floats:
    return np.array([getattr(seat, name) for seat in results], dtype=np.float64)
