"""Tables of different entrants, as many as there are seats."""

from __future__ import annotations

from collections.abc import Sequence

from tavolata.ai.arena.tournament.formats import OneRound, Seats
from tavolata.ai.arena.tournament.tables import tables


def mixed(labels: Sequence[str], which: str, seating: Seats) -> OneRound:
    """All combinations of entrants, or a set in which every two meet equally often.

    which: "all", "balanced" or "auto", as in tables; NoDesign if there are too many.
    """
    chosen = tables(len(labels), seating.seats, which)
    meetings = tuple(tuple(labels[number] for number in table) for table in chosen)
    return OneRound(seating, meetings, joint=True)
