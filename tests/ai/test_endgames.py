"""Where a game is small enough to be solved, the search finds what solving finds.

La bouillabaisse with two players is open: both hands are known to both. Utilities of the two seats
add up to 1, so the last cards of a round can be solved by plain minimax over all plays.
"""

from __future__ import annotations

import pytest

from tavolata.ai.ismcts import IsmctsPlayer
from tavolata.ai.player import Limits, observe
from tavolata.ai.stop import Stop
from tavolata.ext.core.match import Match, Position
from tests.ai.situations import match_at

CARDS_LEFT = 4
ROUND_DECISIONS = 52


def endgame(seed: int) -> Match:
    """A two-seat match in which both seats hold the last four cards of some round."""
    return match_at("bouillabaisse", 2, seed, ROUND_DECISIONS * (1 + seed % 6) - 2 * CARDS_LEFT)


def solved(position: Position, seat: int) -> float:
    """The utility of ``seat`` at the end of the round when both play their best."""
    if not position.to_act:
        return position.utility()[seat]
    (mover,) = position.to_act
    values = [solved(after(position, mover, action), seat) for action in position.legal(mover)]
    return max(values) if mover == seat else min(values)


def after(position: Position, seat: int, action: int) -> Position:
    child = Position(position.game, position.state_bytes())
    child.apply(seat, action)
    return child


@pytest.mark.parametrize("seed", range(12))
def test_the_search_plays_the_last_cards_of_an_open_round_as_well_as_can_be(seed: int) -> None:
    match = endgame(seed)
    (seat,) = match.to_act
    position = Position(match.game, match.state_bytes())
    values = {action: solved(after(position, seat, action), seat) for action in match.legal(seat)}
    decision = IsmctsPlayer(match.game).analyse(
        observe(match, seat), Limits(iterations=30_000), seed=seed, stop=Stop()
    )
    assert values[decision.action] == pytest.approx(max(values.values()), abs=1e-9)
