"""The rule cases of all games, run on the reference."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.games.bids import cases as bids_cases
from tests.games.bouillabaisse import cases as bouillabaisse_cases
from tests.games.cafe_international import cases as cafe_cases
from tests.games.mino_dice import cases as mino_dice_cases
from tests.games.mister_bill import cases as mister_bill_cases
from tests.reference.casebook import Case, Engine, run_case
from tests.reference.chance import Script
from tests.reference.registry import new_model

CASES = [
    *bids_cases.CASES,
    *bouillabaisse_cases.CASES,
    *cafe_cases.CASES,
    *mino_dice_cases.CASES,
    *mister_bill_cases.CASES,
]


def reference(
    game: str, seats: int, options: Mapping[str, object], seed: bytes, script: Script
) -> Engine:
    return new_model(game, seats, options, seed, script)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_reference_does_what_the_case_says(case: Case) -> None:
    run_case(case, reference)


@pytest.mark.parametrize(
    ("cases", "rules"),
    [
        (bids_cases.CASES, [f"BI-{number}" for number in range(1, 24)]),
        (bouillabaisse_cases.CASES, [f"BO-{number}" for number in range(1, 21)]),
        (cafe_cases.CASES, [f"CI-{number}" for number in range(27)]),
        (mino_dice_cases.CASES, [f"MD-{number}" for number in range(1, 21)]),
        (mister_bill_cases.CASES, [f"MB-{number}" for number in range(1, 28)]),
    ],
)
def test_every_rule_has_a_case_and_every_cited_rule_exists(
    cases: list[Case], rules: list[str]
) -> None:
    cited = {rule for case in cases for rule in case.rules}
    assert cited == {*rules, "G-1", "G-2"}


@pytest.mark.parametrize(
    ("other_options", "other_script", "failure"),
    [
        # The expectations of the case below fail on a match that goes otherwise.
        ({"twin_rule": "last"}, {}, "last trick_taken"),
        ({}, {("dealer", 0, 0): 0}, "not to act"),
    ],
)
def test_a_case_fails_on_a_match_that_goes_otherwise(
    other_options: dict[str, object], other_script: Script, failure: str
) -> None:
    case = next(c for c in bouillabaisse_cases.CASES if c.title == "of twins the first takes")

    def otherwise(
        game: str, seats: int, options: Mapping[str, object], seed: bytes, script: Script
    ) -> Engine:
        return reference(
            game, seats, {**options, **other_options}, seed, {**script, **other_script}
        )

    with pytest.raises(AssertionError, match=failure):
        run_case(case, otherwise)
