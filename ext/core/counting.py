"""Leaf counts of the action tree: how many ways there are to go on from a point of a match.

Chance is the match's own, so a count is a number of the match and not of luck. Counts that two
implementations of the rules agree on show that both allow the same actions everywhere.
"""

from __future__ import annotations

from tavolata.ext.core.match import Match


def count_leaves(match: Match, depth: int) -> int:
    """Positions ``depth`` actions below; a match that ends earlier is one leaf.

    One seat's action is one step. Of several seats to act at once the lowest goes first.
    ValueError for a negative depth.
    """
    if depth < 0:
        raise ValueError(f"depth is {depth}; allowed: 0 and more")
    if depth == 0 or match.over:
        return 1
    if depth == 1:
        return len(match.legal(match.to_act[0]))
    return sum(leaves_by_action(match, depth).values())


def leaves_by_action(match: Match, depth: int) -> dict[str, int]:
    """The leaf count below each action of the lowest seat to act, in action order.

    depth: at least 1. Nothing is left to count at the end of a match: an empty dict.
    """
    if depth < 1:
        raise ValueError(f"depth is {depth}; allowed: 1 and more")
    leaves: dict[str, int] = {}
    for seat in match.to_act[:1]:
        for action in match.legal(seat):
            below = match.copy()
            below.play(seat, action)
            leaves[match.game.action_name(action)] = count_leaves(below, depth - 1)
    return leaves
