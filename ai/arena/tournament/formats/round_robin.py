"""Everybody against everybody, some against all the others, or each against the next."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise

from tavolata.ai.arena.tournament.formats import OneRound, Seats


def round_robin(labels: Sequence[str], seating: Seats) -> OneRound:
    """Every two entrants meet once, the first in order first."""
    return OneRound(seating, tuple(combinations(labels, 2)))


def gauntlet(labels: Sequence[str], challengers: Sequence[str], seating: Seats) -> OneRound:
    """Every challenger meets everybody who is none; the challenger is the first of the two."""
    others = [label for label in labels if label not in challengers]
    return OneRound(seating, tuple((one, other) for one in challengers for other in others))


def ladder(labels: Sequence[str], seating: Seats) -> OneRound:
    """Every entrant meets the next one in order, which is the first of the two."""
    return OneRound(seating, tuple((upper, lower) for lower, upper in pairwise(labels)))
