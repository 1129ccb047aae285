"""Strengths of players from who came before whom: the Bradley-Terry model, by maximum likelihood.

A match of n seats is n(n-1)/2 comparisons of seats, each with the weight 1/(n-1), so that a seat
weighs the same at every table; a tie is half a win for each. Places drawn from a Plackett-Luce
model have exactly these pairwise chances, so the strengths are the same ones; and they are fitted
whatever the places come from: the expected share of opponents beaten is the observed one.
"""

from __future__ import annotations

from math import log

import numpy as np

from tavolata.ai.arena.tournament.table import Floats, Ints, SeatTable

ELO = 400 / log(10)  # Elo points in one unit of log odds
_STEP_MAX = 2.0
_STEPS = 200
_ENOUGH = 1e-7  # of the last step; what is left after it is about its square

UNBOUNDED = "strengths do not settle: somebody won or lost every comparison"


def wins_by(table: SeatTable, groups: Ints) -> Floats:
    """Who came before whom how often: (groups, labels, labels), [g, i, j] is weight of i over j.

    groups: for every row of the table the group its match belongs to, numbered from 0. Seats of
    one and the same entrant are not compared.
    """
    count = len(table.labels)
    shape = (int(groups.max()) + 1, count, count)
    wins = np.zeros(shape[0] * count * count)
    seats = np.bincount(table.match)[table.match]  # of the match of every row
    for size in np.unique(seats):
        rows = seats == size
        label = table.label[rows].reshape(-1, size)
        place = table.place[rows].reshape(-1, size)
        group = groups[rows].reshape(-1, size)[:, :1, None]
        ahead = (place[:, :, None] < place[:, None, :]) + 0.5 * (
            place[:, :, None] == place[:, None, :]
        )
        ahead *= label[:, :, None] != label[:, None, :]
        cells = (group * count + label[:, :, None]) * count + label[:, None, :]
        wins += np.bincount(cells.ravel(), ahead.ravel() / max(size - 1, 1), len(wins))
    return wins.reshape(shape)


def components(met: Floats) -> Ints:
    """Which entrants can be compared: the number of the part of the field each belongs to, from 0.

    met: (labels, labels), above 0 where two have met. Entrants in different parts have not met,
    not even by way of others.
    """
    part = np.full(len(met), -1, dtype=np.int64)
    number = 0
    for start in range(len(met)):
        if part[start] >= 0:
            continue
        waiting = [start]
        part[start] = number
        while waiting:
            one = waiting.pop()
            for other in np.flatnonzero((met[one] > 0) & (part < 0)):
                part[other] = number
                waiting.append(int(other))
        number += 1
    return part


def strengths(wins: Floats) -> Floats:
    """Log odds of every entrant by maximum likelihood; the mean of each part of the field is 0.

    wins: (..., labels, labels); finite only if in every part everyone can be reached from everyone
    by wins. Newton's method on all leading indices at once, with steps of bounded length.
    ArithmeticError when it doesn't settle, which is so for strengths without bound.
    """
    lead, count = wins.shape[:-2], wins.shape[-1]
    flat = wins.reshape(-1, count, count)
    met = flat + flat.transpose(0, 2, 1)
    part = components(met.sum(axis=0))
    same = (part[:, None] == part[None, :]).astype(np.float64)
    won = flat.sum(axis=2)
    found = np.zeros((len(flat), count))
    open_rows = np.arange(len(flat))
    for _ in range(_STEPS):
        try:
            step = _newton_step(found[open_rows], met[open_rows], won[open_rows], same)
        except np.linalg.LinAlgError:
            raise ArithmeticError(UNBOUNDED) from None
        size = np.abs(step).max(axis=1, keepdims=True)
        found[open_rows] += step * np.minimum(1.0, _STEP_MAX / np.maximum(size, _STEP_MAX))
        open_rows = open_rows[size[:, 0] > _ENOUGH]
        if not len(open_rows):
            break
    else:
        raise ArithmeticError(UNBOUNDED)
    found -= found @ (same / same.sum(axis=1))
    return found.reshape(*lead, count)


def _newton_step(found: Floats, met: Floats, won: Floats, same: Floats) -> Floats:
    """The step of Newton's method towards the maximum of the likelihood: (rows, labels)."""
    expected = 1 / (1 + np.exp(found[:, None, :] - found[:, :, None]))
    slope = won - (met * expected).sum(axis=2)
    curve = met * expected * (1 - expected)
    # Strengths of a part may all be shifted alike; adding `same` makes the shift of the step 0.
    system = same - curve
    diagonal = np.arange(found.shape[1])
    system[:, diagonal, diagonal] += curve.sum(axis=2)
    solved: Floats = np.linalg.solve(system, slope[:, :, None])[:, :, 0]
    return solved
