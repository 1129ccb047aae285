"""Random matches on the compiled rules and the reference, compared step by step.

Settings cover every number of seats with every value of every option, and every pair of values of
two options. `python -m tests.games.campaign` is the long form: all combinations, many matches.
"""

from __future__ import annotations

import pytest

from tavolata.ext.registry import GAMES
from tests.games.comparison import Plan, compare_match
from tests.games.tables import covering_settings

PLANS = [
    Plan(game, seats, tuple(options.items()), 1000 * seats + number, sorted_deals)
    for game in GAMES
    for number, (seats, options) in enumerate(covering_settings(game))
    for sorted_deals in (False, True)
]


@pytest.mark.parametrize("plan", PLANS, ids=str)
def test_compiled_rules_and_reference_play_a_match_alike(plan: Plan) -> None:
    # Sorted deals are there for what they score; honest ones compare every view.
    assert compare_match(plan, every_view=not plan.sorted_deals) > 0
