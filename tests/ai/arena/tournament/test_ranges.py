"""Parameters with several values: what lists and ranges come to, and their labels."""

from __future__ import annotations

import pytest

from tavolata.ai.arena.tournament.ranges import (
    combinations,
    integers,
    label_of,
    numbers,
    settings,
    value_text,
)


def test_a_range_has_both_ends_and_equal_steps() -> None:
    assert settings({"from": 0.1, "to": 0.5, "steps": 5}) == (0.1, 0.2, 0.3, 0.4, 0.5)
    assert settings({"from": 3, "to": 1, "steps": 3}) == (3, 2, 1)
    assert numbers(0, 100)({"from": 1, "to": 100, "steps": 3, "scale": "log"}) == (1, 10, 100)


def test_a_range_of_integers_is_rounded_and_has_no_value_twice() -> None:
    read = integers(1, 1000)
    assert read({"from": 10, "to": 1000, "steps": 5, "scale": "log"}) == (10, 32, 100, 316, 1000)
    with pytest.raises(ValueError, match="the same value comes twice"):
        read({"from": 1, "to": 3, "steps": 9})
    with pytest.raises(ValueError, match="1001 is no integer from 1 to 1000"):
        read({"from": 1, "to": 1001, "steps": 2})


@pytest.mark.parametrize(
    "given", ["many", None, [[1]], {"from": 1}, {"from": 1, "to": 2, "steps": 2, "by": 1}, [True]]
)
def test_what_is_no_number_is_refused(given: object) -> None:
    with pytest.raises(ValueError, match=r"finite number|a range has from, to, steps|no integer"):
        numbers(0, 10)(given)


def test_true_is_a_setting_and_not_the_number_one() -> None:
    assert settings([True, 1]) == (True, 1)
    assert value_text(settings(True)[0]) == "true"
    with pytest.raises(ValueError, match="True is no integer"):
        integers(0, 5)(True)


def test_all_combinations_are_made_the_last_parameter_changing_fastest() -> None:
    assert combinations({"a": (1, 2), "b": (True, False)}) == [
        {"a": 1, "b": True}, {"a": 1, "b": False}, {"a": 2, "b": True}, {"a": 2, "b": False},
    ]  # fmt: skip
    assert combinations({}) == [{}]


@pytest.mark.parametrize(
    ("template", "label"),
    [
        (None, "search c=0.5"),
        ("{c}/{n}", "0.5/100"),
        ("fixed", "fixed c=0.5"),
        ("n {n}", "n 100 c=0.5"),
    ],
)
def test_labels_tell_all_that_differs(template: str | None, label: str) -> None:
    assert label_of(template, "search", {"c"}, {"c": 0.5, "n": 100}) == label
