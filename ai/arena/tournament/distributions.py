"""How results are spread: totals, places by seat, decision times, faults by kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from tavolata.ai.arena.timing import quantile
from tavolata.ai.arena.tournament.estimates import clustered_share
from tavolata.ai.arena.tournament.model import FaultKind
from tavolata.ai.arena.tournament.ratings import deal_groups
from tavolata.ai.arena.tournament.summary import Faults, SeatPlaces, SeatScore, Times, Totals
from tavolata.ai.arena.tournament.table import Floats, SeatTable

BINS = 40
_QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)


def total_edges(table: SeatTable) -> tuple[float, ...]:
    """Edges of at most BINS bins of equal width, whole points wide, that hold all totals."""
    low, high = int(table.total.min()), int(table.total.max())
    width = max(1, -(-(high - low + 1) // BINS))
    count = -(-(high - low + 1) // width)
    return tuple(low - 0.5 + width * number for number in range(count + 1))


def totals(table: SeatTable, order: Sequence[int], edges: Sequence[float]) -> tuple[Totals, ...]:
    """The spread of every entrant's totals."""
    made = []
    for label in order:
        values = table.total[table.label == label]
        counts = np.histogram(values, bins=np.array(edges))[0]
        low, p5, p25, median, p75, p95, high = map(float, np.quantile(values, _QUANTILES))
        bins = tuple(int(count) for count in counts)
        made.append(Totals(table.labels[label], low, p5, p25, median, p75, p95, high, bins))
    return tuple(made)


def places(table: SeatTable, order: Sequence[int]) -> tuple[SeatPlaces, ...]:
    """How often each entrant ended in which place, seat by seat; every seat is in it."""
    seats = int(table.seat.max()) + 1
    counts = np.zeros((len(table.labels), seats, seats), dtype=np.int64)
    np.add.at(counts, (table.label, table.seat, table.place.astype(np.int64) - 1), 1)
    return tuple(
        SeatPlaces(table.labels[label], seat, tuple(int(count) for count in counts[label, seat]))
        for label in order
        for seat in range(seats)
    )


def beaten(table: SeatTable) -> Floats:
    """The share of the other seats that every seat beat, a tie half: one value a row."""
    shares = np.full(len(table.match), 0.5)
    seats = np.bincount(table.match)[table.match]
    for size in np.unique(seats[seats > 1]):
        rows = seats == size
        place = table.place[rows].reshape(-1, size)
        ahead = (place[:, :, None] < place[:, None, :]).sum(axis=2)
        level = (place[:, :, None] == place[:, None, :]).sum(axis=2) - 1
        shares[rows] = ((ahead + level / 2) / (size - 1)).ravel()
    return shares


def seat_scores(table: SeatTable, replicates: int, stream: int) -> tuple[SeatScore, ...]:
    """What each seat is worth, whoever sits there."""
    shares = beaten(table)
    groups, strata = deal_groups(table)
    return tuple(
        SeatScore(
            int(seat),
            clustered_share(
                shares[table.seat == seat],
                groups[table.seat == seat],
                strata,
                replicates,
                stream + int(seat),
            ),
        )
        for seat in np.unique(table.seat)
    )


def times(table: SeatTable, order: Sequence[int]) -> tuple[Times, ...]:
    """Decision times of every entrant that made a decision."""
    made = []
    for label in order:
        rows = np.flatnonzero(table.label == label)
        decisions = int(table.decisions[rows].sum())
        if not decisions:
            continue
        bins: Counter[int] = Counter()
        for row in rows:
            bins.update(dict(table.think_bins[row]))
        made.append(
            Times(
                label=table.labels[label],
                decisions=decisions,
                mean=float(table.think_ms[rows].sum()) / decisions,
                p50=quantile(bins, 0.5) if bins else None,
                p99=quantile(bins, 0.99) if bins else None,
                slowest=quantile(bins, 1.0) if bins else None,
                iterations=float(table.iterations[rows].sum()) / decisions,
            )
        )
    return tuple(made)


def faults(table: SeatTable, order: Sequence[int]) -> tuple[Faults, ...]:
    """Faults by kind, for every entrant of the order."""
    counted = Counter((fault.label, fault.kind) for _, _, fault in table.faults)
    matches = Counter(
        label for label, _ in {(fault.label, number) for _, number, fault in table.faults}
    )
    return tuple(
        Faults(
            label=table.labels[label],
            counts={kind: counted[table.labels[label], kind] for kind in FaultKind},
            matches=matches[table.labels[label]],
        )
        for label in order
    )
