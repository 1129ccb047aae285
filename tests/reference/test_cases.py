"""The rule cases of both games, run on the reference."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.games.bouillabaisse import cases as bouillabaisse_cases
from tests.reference.casebook import Case, Engine, run_case
from tests.reference.chance import Script
from tests.reference.registry import new_model

CASES = bouillabaisse_cases.CASES


def reference(
    game: str, seats: int, options: Mapping[str, object], seed: bytes, script: Script
) -> Engine:
    return new_model(game, seats, options, seed, script)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_reference_does_what_the_case_says(case: Case) -> None:
    run_case(case, reference)
