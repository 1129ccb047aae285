"""Random matches on the compiled rules and the reference, compared step by step.

Settings cover every number of seats with every value of every option, and every pair of values of
two options. `python -m tests.games.campaign` is the long form: all combinations, many matches.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tavolata.ext.registry import GAMES
from tests.games.comparison import Plan, compare_match
from tests.games.tables import covering_settings
from tests.reference.bouillabaisse import Bouillabaisse
from tests.reference.mino_dice import MinoDice
from tests.reference.registry import GAMES as REFERENCES

SORTED_DEALS = {"mino_dice": 3}  # matches a setting, 1 unless said: bonuses stay rare even so

PLANS = [
    Plan(game, seats, tuple(options.items()), 1000 * seats + number + 100 * repeat, repeat > 0)
    for game in GAMES
    for number, (seats, options) in enumerate(covering_settings(game))
    for repeat in range(1 + SORTED_DEALS.get(game, 1))
]


@pytest.mark.parametrize("plan", PLANS, ids=str)
def test_compiled_rules_and_reference_play_a_match_alike(plan: Plan) -> None:
    # Sorted deals are there for what they score; honest ones compare every view.
    assert compare_match(plan, every_view=not plan.sorted_deals) > 0


@pytest.mark.parametrize(
    "model, method, wrong",
    [
        (Bouillabaisse, "legal", lambda self, seat: []),
        (Bouillabaisse, "_took_everything", lambda self, seat: False),
        (Bouillabaisse, "_takes_over", lambda self, card, best: False),
        (MinoDice, "_must_follow", lambda self, seat: False),
        (MinoDice, "_bonus", lambda self, seat: 0),
        (MinoDice, "_note_colour", lambda self, seat, kind: None),
    ],
    ids=["legality", "sweeps", "tricks", "following", "bonuses", "led colours"],
)
def test_a_difference_is_reported_with_the_command_that_shows_it(
    monkeypatch: pytest.MonkeyPatch,
    model: type[Bouillabaisse | MinoDice],
    method: str,
    wrong: Callable[..., object],
) -> None:
    """The matches of the suite are enough to notice a rule that one side doesn't know."""
    game = next(game for game, known in REFERENCES.items() if known is model)
    monkeypatch.setattr(model, method, wrong)
    shown = [found for plan in PLANS if plan.game == game and (found := difference_in(plan))]
    assert shown, f"nothing in the suite notices {model.__name__}.{method}"
    assert all(command in text for command, text in shown)


def difference_in(plan: Plan) -> tuple[str, str] | None:
    """The command and the message of a difference in a match of a small table, if there is one."""
    if plan.seats > 4:
        return None
    try:
        compare_match(plan, every_view=False)
    except AssertionError as difference:
        return str(plan), str(difference)
    return None
