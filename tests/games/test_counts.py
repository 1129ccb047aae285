"""Leaf counts of the action tree; the reference gave the numbers in `*/counts.txt`."""

from __future__ import annotations

import pytest

from tavolata.ext.core.counting import count_leaves, leaves_by_action
from tavolata.ext.registry import GAMES
from tests.games.engine import new_fast
from tests.reference.chance import seed_bytes
from tests.reference.counts import CountCase, play_first_legal, read_counts
from tests.reference.counts import leaves_by_action as reference_leaves

CASES = [case for game in GAMES for case in read_counts(game)]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_way_to_go_on_from_a_deal_is_counted(case: CountCase) -> None:
    engine = new_fast(case.game, case.seats, dict(case.options), seed_bytes(case.seed))
    play_first_legal(engine, case.after)
    leaves = count_leaves(engine.match, case.depth)
    assert leaves == case.leaves, (
        f"{case} # {case.why}\n{leaves} leaves, {case.leaves} expected; below each action\n"
        f"  compiled  {leaves_by_action(engine.match, case.depth)}\n"
        f"  reference {reference_leaves(case.root(), case.depth)}"
    )


@pytest.mark.parametrize("game", GAMES)
def test_counts_of_a_depth_are_the_sums_of_their_subtotals(game: str) -> None:
    match = new_fast(game, 3, {}, seed_bytes(1)).match
    assert count_leaves(match, 0) == 1
    for depth in (1, 2, 3):
        subtotals = leaves_by_action(match, depth)
        assert sum(subtotals.values()) == count_leaves(match, depth)
    names = [match.game.action_name(action) for action in match.legal(match.to_act[0])]
    assert list(leaves_by_action(match, 2)) == names


@pytest.mark.parametrize("game", GAMES)
def test_a_finished_match_is_one_leaf_and_a_negative_depth_is_refused(game: str) -> None:
    engine = new_fast(game, 3, {}, seed_bytes(1))
    with pytest.raises(ValueError, match="allowed: 0 and more"):
        count_leaves(engine.match, -1)
    with pytest.raises(ValueError, match="allowed: 1 and more"):
        leaves_by_action(engine.match, 0)
    while not engine.over:
        seat = engine.match.to_act[0]
        engine.match.play(seat, engine.match.legal(seat)[0])
    assert count_leaves(engine.match, 3) == 1
    assert leaves_by_action(engine.match, 3) == {}
