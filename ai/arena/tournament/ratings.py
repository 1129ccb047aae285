"""Elo-like ratings, crosstable and ranks of a tournament, with intervals over deals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tavolata.ai.arena.tournament.estimates import (
    Estimate,
    deal_weights,
    half_deal_weights,
    interval_of,
    share_of,
    widening,
)
from tavolata.ai.arena.tournament.strength import ELO, components, strengths, wins_by
from tavolata.ai.arena.tournament.table import Flags, Floats, Ints, SeatTable

GROUPS_MAX = 500  # of deals in a contest; independent, as deals are, and quick to weigh
_CELLS_MAX = 4_000_000  # numbers in one block of replicates
_EQUAL = 1e-6  # Elo points
_WIDEST = 12.0  # about what `widening` says for two deals; ranks need a number


@dataclass(frozen=True, slots=True)
class Ratings:
    """What comparing places says about the entrants that took part.

    labels: indices into the table's, ascending; all else is in their order. elo: the mean of each
    part is 0, and 400 points are odds of 10 to 1 of coming before an opponent; score: share of
    opponents beaten, a tie half; cells: the same of the row's entrant against the column's, None if
    they have not met; weights: comparisons in a cell, each match of two seats one; rank_low,
    rank_high: 95 % of the ranks; ahead: how sure it is that the row is the stronger one, 0 to 1
    (0.5 where nothing is known);
    part: entrants whose ratings and ranks can be compared have the same number.
    """

    labels: tuple[int, ...]
    elo: tuple[Estimate, ...]
    score: tuple[Estimate, ...]
    cells: tuple[tuple[Estimate | None, ...], ...]
    weights: tuple[tuple[float, ...], ...]
    rank: tuple[int, ...]
    rank_low: tuple[int, ...]
    rank_high: tuple[int, ...]
    ahead: tuple[tuple[float, ...], ...]
    part: tuple[int, ...]


def rate(table: SeatTable, replicates: int, stream: int) -> Ratings:
    """Ratings of everybody in the table, which has a match or more.

    Contests weigh the same, however many deals they have. Between any two who have met stands half
    a win for each besides what was played, so that ratings are finite.
    """
    present = np.unique(table.label)
    groups, strata = deal_groups(table)
    wins = wins_by(table, groups)[:, present][:, :, present]
    wins *= _contest_weights(wins, strata)[:, None, None]
    total = wins.sum(axis=0)
    unseen = _match_weights(table, present, total + total.T)
    draws_of_wins = _replicates(wins, strata, unseen, replicates, stream)
    logits = level(ELO * strengths(total + unseen / 2))
    draws = ELO * strengths(draws_of_wins)
    met: Flags = wins + wins.transpose(0, 2, 1) > 0
    stretch = _stretches(np.asarray(met.any(axis=2)), strata)
    wide = logits + np.minimum(stretch, _WIDEST) * (draws - logits)
    part = components(total + total.T)
    comparable = part[:, None] == part[None, :]
    ranks = 1 + ((wide[:, None, :] > wide[:, :, None]) & comparable).sum(axis=2)
    return Ratings(
        labels=tuple(int(label) for label in present),
        elo=tuple(
            interval_of(float(logits[i]), draws[:, i], float(stretch[i]))
            for i in range(len(present))
        ),
        score=_scores(total, draws_of_wins, stretch),
        cells=_cells(total, draws_of_wins, met, strata),
        weights=tuple(tuple(float(cell) for cell in row) for row in total + total.T),
        rank=_whole(1 + ((logits[None, :] > logits[:, None]) & comparable).sum(axis=1)),
        rank_low=_whole(np.quantile(ranks, 0.025, axis=0, method="lower")),
        rank_high=_whole(np.quantile(ranks, 0.975, axis=0, method="higher")),
        ahead=_ahead(wide, comparable),
        part=_whole(part),
    )


def level(values: Floats) -> Floats:
    """The values, with those that differ by rounding alone made equal."""
    order = np.argsort(values)
    step = np.diff(values[order], prepend=-np.inf) > _EQUAL
    groups = np.empty(len(values), dtype=np.int64)
    groups[order] = np.cumsum(step) - 1
    means: Floats = np.bincount(groups, values) / np.bincount(groups)
    return means[groups]


def deal_groups(table: SeatTable) -> tuple[Ints, Ints]:
    """The group of deals every row belongs to, numbered from 0, and the contest of every group.

    A group is one deal, or several that follow each other in a contest with very many.
    """
    contest_of = np.zeros(table.deal_count, dtype=np.int64)
    contest_of[table.deal] = table.contest
    group_of = np.zeros_like(contest_of)
    strata: list[int] = []
    for contest in np.unique(contest_of):
        deals = np.flatnonzero(contest_of == contest)
        count = min(len(deals), GROUPS_MAX)
        group_of[deals] = len(strata) + np.arange(len(deals)) * count // len(deals)
        strata += [int(contest)] * count
    return group_of[table.deal], np.array(strata, dtype=np.int64)


def _contest_weights(wins: Floats, strata: Ints) -> Floats:
    """A factor for every group, so that each contest adds up to the same; the sum of all stays."""
    played = wins.sum(axis=(1, 2))
    numbers, inverse = np.unique(strata, return_inverse=True)
    sums = np.bincount(inverse, played)
    wanted = played.sum() / max(int((sums > 0).sum()), 1)
    factors: Floats = (wanted / np.where(sums > 0, sums, 1.0))[inverse]
    return factors if len(numbers) > 1 else np.ones(len(strata))


def _match_weights(table: SeatTable, present: Ints, met: Floats) -> Floats:
    """The mean weight of one match between two entrants: (labels, labels), 0 if they never met."""
    seated = np.zeros((table.match_count, len(present)))
    seated[table.match, np.searchsorted(present, table.label)] = 1
    weights: Floats = met / np.maximum(seated.T @ seated, 1)
    return weights


def _replicates(wins: Floats, strata: Ints, unseen: Floats, replicates: int, stream: int) -> Floats:
    """Wins under random weights of the deals: (replicates, labels, labels)."""
    count = len(unseen)
    made = np.empty((replicates, count, count))
    weights = deal_weights(strata, replicates, stream)
    halves = half_deal_weights(count * count, replicates, stream)
    rows = max(1, _CELLS_MAX // (count * count))
    for start in range(0, replicates, rows):
        block = slice(start, start + rows)
        drawn = weights[block] @ wins.reshape(len(wins), -1)
        made[block] = (drawn + halves[block] * unseen.ravel()).reshape(-1, count, count)
    return made


def _stretches(took_part: Flags, strata: Ints) -> Floats:
    """``widening`` for every column: took_part is (groups, ...), whether the group has it."""
    flat = took_part.reshape(len(strata), -1)
    return np.array(
        [widening(int(one.sum()), len(np.unique(strata[one]))) for one in flat.T]
    ).reshape(took_part.shape[1:])


def _scores(total: Floats, draws: Floats, stretch: Floats) -> tuple[Estimate, ...]:
    won, met = total.sum(axis=1), (total + total.T).sum(axis=1)
    drawn = draws.sum(axis=2) / np.maximum(draws.sum(axis=2) + draws.sum(axis=1), 1e-300)
    return tuple(
        share_of(float(won[i] / met[i]), drawn[:, i], float(stretch[i]))
        if met[i] > 0
        else Estimate(0.5, 0.0, 1.0)
        for i in range(len(total))
    )


def _cells(
    total: Floats, draws: Floats, met: Flags, strata: Ints
) -> tuple[tuple[Estimate | None, ...], ...]:
    stretch = _stretches(met, strata)
    count = len(total)

    def cell(i: int, j: int) -> Estimate | None:
        both = total[i, j] + total[j, i]
        if both == 0:
            return None
        drawn = draws[:, i, j] / (draws[:, i, j] + draws[:, j, i])
        return share_of(float(total[i, j] / both), drawn, float(stretch[i, j]))

    return tuple(tuple(cell(i, j) for j in range(count)) for i in range(count))


def _ahead(draws: Floats, comparable: Flags) -> tuple[tuple[float, ...], ...]:
    above = draws[:, :, None] - draws[:, None, :]
    shares = np.where(comparable, (1 + np.sign(above).mean(axis=0)) / 2, 0.5)
    return tuple(tuple(float(cell) for cell in row) for row in shares)


def _whole(values: Floats | Ints) -> tuple[int, ...]:
    return tuple(int(value) for value in values)
