"""Outcomes of matches between players of known strength, to try estimates on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import log
from random import Random

from tavolata.ai.arena.duplicate import Entrant, SeatResult
from tavolata.ai.arena.tournament.model import Contest, Fault, Field, MatchOutcome, MatchPlan
from tavolata.ai.player import Limits

ELO = 400 / log(10)
PlacesOf = Callable[[tuple[str, ...], int, int], Sequence[int]]


def field(labels: Sequence[str], seats: int, contests: int = 1) -> Field:
    return Field(
        tuple(Contest(f"contest {number}", "bids", seats, {}) for number in range(contests)),
        {label: Entrant(label, "random", Limits(iterations=1)) for label in labels},
        1,
    )


def placed(plan: MatchPlan, places: Sequence[int], faults: Sequence[Fault] = ()) -> MatchOutcome:
    """A match that ended with these places, seat by seat."""
    seats = tuple(
        SeatResult(
            label=label,
            seat=seat,
            total=-place,
            place=place,
            won=1 / list(places).count(1) if place == 1 else 0.0,
            utility=1 - (place - 1) / max(len(places) - 1, 1),
            decisions=10,
            iterations=20,
            think_ms=5.0,
            think_bins=((-8, 10),),
        )
        for seat, (label, place) in enumerate(zip(plan.labels, places, strict=True))
    )
    return MatchOutcome(plan, seats, plan.id.encode(), b"", tuple(faults))


def tournament(
    labels: Sequence[str], deals: int, places_of: PlacesOf, contest: int = 0
) -> list[MatchOutcome]:
    """Everybody at one table, every deal in all rotations; places by (seated, deal, rotation)."""
    made = []
    for deal in range(deals):
        for rotation in range(len(labels)):
            seated = (*labels[rotation:], *labels[:rotation])
            plan = MatchPlan(0, contest, 0, 0, deal, rotation, seated)
            made.append(placed(plan, places_of(seated, deal, rotation)))
    return made


def by_strength(strength: dict[str, float], luck: float, seed: int) -> PlacesOf:
    """Places drawn from a Plackett-Luce model with these log strengths; with ``luck``, each seat of
    a deal has an advantage with that standard deviation, the same in every rotation."""
    random = Random(f"{strength} {luck} {seed}")
    advantage: dict[tuple[int, int], float] = {}

    def places(seated: tuple[str, ...], deal: int, rotation: int) -> list[int]:
        values = []
        for seat, label in enumerate(seated):
            if (deal, seat) not in advantage:
                advantage[deal, seat] = random.gauss(0, luck)
            # Values with Gumbel noise are in Plackett-Luce order.
            noise = -log(random.expovariate(1))
            values.append(strength[label] + advantage[deal, seat] + noise)
        return [1 + sum(other > value for other in values) for value in values]

    return places


def repaired(outcomes: Sequence[MatchOutcome], seed: int) -> list[MatchOutcome]:
    """The same matches, but rotations of different deals taken for those of one."""
    random = Random(seed)
    deals = sorted({one.plan.deal for one in outcomes})
    moved = {}
    for rotation in {one.plan.rotation for one in outcomes}:
        shuffled = random.sample(deals, len(deals))
        moved.update({(deal, rotation): to for deal, to in zip(deals, shuffled, strict=True)})
    return [
        replace(one, plan=replace(one.plan, deal=moved[one.plan.deal, one.plan.rotation]))
        for one in outcomes
    ]
