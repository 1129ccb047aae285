"""Best play against seats whose play is known, worked out in full over all worlds that are left.

Nothing of the search is used here: positions are copied and stepped one by one, and what a seat
knows is the blanked position, with all that it was shown on the way.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import cache

from tavolata.ext.core.game import Game
from tavolata.ext.core.match import Position

Belief = list[tuple[float, bytes]]
"""Positions that a seat can't tell apart, with weights."""
Policy = Callable[[Game, bytes, int], Mapping[int, float]]
"""What a seat does in a position: chances of its actions. It may look at nothing hidden from it."""

CHANCE_WAYS = {"mino_dice": 6}
"""Equally likely ways in which the one draw of an action can go; of other games: none is drawn."""
WORD = 1 << 64


def by_rule(game: Game, state: bytes, seat: int) -> Mapping[int, float]:
    """The rule of thumb, in games where it leaves nothing to chance."""
    return {Position(game, state).rule(seat): 1.0}


def worlds_of(game: Game, state: bytes, viewer: int, *, least: int = 2_000) -> Belief:
    """All worlds that fit what a viewer sees, found by dealing until for long there is no new one.

    Each has the weight 1, which is right where no two hidden cards are alike. ``least``: deals to
    make at least.
    """
    position = Position(game, state, 1)
    found: dict[bytes, None] = {}
    made = 0
    while made < max(least, 20 * len(found)):
        count = max(least, 20 * len(found)) - made
        found.update(dict.fromkeys(position.redeals(viewer, count)))
        made += count
    return [(1.0, world) for world in found]


def action_values(game: Game, belief: Belief, seat: int, others: Policy) -> dict[int, float]:
    """The utility to expect of each action of ``seat``, with the best play of it afterwards.

    belief: what the seat thinks possible; it is to act there.
    """
    weight = sum(share for share, _ in belief)
    legal = Position(game, belief[0][1]).legal(seat)
    return {
        action: sum(
            _best(game, told, seat, others)
            for told in _told(game, belief, seat, seat, _always(action))
        )
        / weight
        for action in legal
    }


def best_value(game: Game, belief: Belief, seat: int, others: Policy) -> float:
    """The utility to expect of the best play of ``seat`` from a position which each seat sees in
    its own way; belief: with the chance of each world, whatever the seat sees of it."""
    weight = sum(share for share, _ in belief)
    views = _by_view(game, seat, belief)
    return sum(_best(game, view, seat, others) for view in views) / weight


def _best(game: Game, belief: Belief, seat: int, others: Policy) -> float:
    """The same, times the weight of the belief, from one information set of ``seat``."""
    position = Position(game, belief[0][1])
    acting = position.to_act
    if not acting:
        return sum(share * Position(game, state).utility()[seat] for share, state in belief)
    if seat not in acting:
        told = _told(game, belief, acting[0], seat, others)
        return sum(_best(game, each, seat, others) for each in told)
    return max(
        sum(_best(game, each, seat, others) for each in _told(game, belief, seat, seat, take))
        for take in (_always(action) for action in position.legal(seat))
    )


def _always(action: int) -> Policy:
    return lambda game, state, seat: {action: 1.0}


def _told(game: Game, belief: Belief, mover: int, viewer: int, policy: Policy) -> list[Belief]:
    """What the viewer may find itself believing after the mover has acted."""
    after: Belief = []
    for share, state in belief:
        for action, chance in policy(game, state, mover).items():
            after += [
                (share * chance * part, outcome)
                for outcome, part in outcomes(game, state, mover, action).items()
            ]
    return _by_view(game, viewer, after)


def _by_view(game: Game, viewer: int, belief: Belief) -> list[Belief]:
    views: dict[bytes, dict[bytes, float]] = defaultdict(lambda: defaultdict(float))
    for share, state in belief:
        views[Position(game, state).blank(viewer)][state] += share
    return [[(share, state) for state, share in view.items()] for view in views.values()]


def outcomes(game: Game, state: bytes, seat: int, action: int) -> dict[bytes, float]:
    """The positions after an action, with their chances."""
    ways = CHANCE_WAYS.get(game.spec.id, 1)
    after_all: dict[bytes, float] = defaultdict(float)
    for seed in seeds_of_draws(ways):
        after = Position(game, state, seed)
        after.apply(seat, action)
        after_all[after.state_bytes()] += 1 / ways
    return after_all


@cache
def seeds_of_draws(ways: int) -> tuple[int, ...]:
    """Seeds of positions whose first draw from 0..ways-1 is 0, 1, ... ways-1."""
    seeds: dict[int, int] = {}
    seed = 0
    while len(seeds) < ways:
        seeds.setdefault(_first_word(seed) * ways // WORD, seed)
        seed += 1
    return tuple(seeds[draw] for draw in range(ways))


def _first_word(seed: int) -> int:
    """The first 64 bits that the generator of a search gives (wyrand)."""
    state = (seed + 0xA0761D6478BD642F) % WORD
    product = state * (state ^ 0xE7037ED1A0B428DB)
    return (product // WORD) ^ (product % WORD)
