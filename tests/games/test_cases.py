"""The rule cases of the games, run on the compiled rules.

`tests/reference/test_cases.py` runs the same tables on the reference models.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tavolata.ext.registry import GAMES
from tests.games.engine import new_fast
from tests.games.tables import rule_cases
from tests.reference.casebook import Case, Engine, run_case
from tests.reference.chance import Script


def fast(
    game: str, seats: int, options: Mapping[str, object], seed: bytes, script: Script
) -> Engine:
    return new_fast(game, seats, options, seed, script)


@pytest.mark.parametrize("case", [case for game in GAMES for case in rule_cases(game)], ids=str)
def test_the_compiled_rules_do_what_the_case_says(case: Case) -> None:
    run_case(case, fast)
