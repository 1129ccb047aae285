"""The tables of rule cases and of leaf counts, by game."""

from __future__ import annotations

import importlib
from itertools import combinations, product
from random import Random

from tavolata.ext.core.errors import CombinationError, SettingError
from tavolata.ext.core.spec import OptionValue
from tavolata.ext.registry import game_spec
from tests.reference.casebook import Case


def rule_cases(game: str) -> list[Case]:
    """The table of `tests/games/<game>/cases.py`."""
    cases: list[Case] = importlib.import_module(f"tests.games.{game}.cases").CASES
    return cases


Setting = tuple[int, dict[str, OptionValue]]
"""Number of seats and all options."""


def option_values(game: str) -> dict[str, tuple[OptionValue, ...]]:
    """Every option with every value it may have, of a span of numbers the ends."""
    return {
        option.name: (False, True)
        if option.type == "bool"
        else option.values or tuple({option.minimum, option.maximum})
        for option in game_spec(game).options
    }


def all_settings(game: str) -> list[Setting]:
    """Every number of seats with every combination of options that is not refused."""
    spec = game_spec(game)
    values = option_values(game)
    settings = [
        (seats, dict(zip(values, row, strict=True)))
        for seats in range(spec.seats_min, spec.seats_max + 1)
        for row in product(*values.values())
    ]
    return [setting for setting in settings if _is_allowed(game, setting)]


def _is_allowed(game: str, setting: Setting) -> bool:
    try:
        game_spec(game).complete(*setting)
    except SettingError:
        return False
    return True


def plain_options(game: str, seats: int) -> dict[str, OptionValue]:
    """The options that a table of this size can't leave at their defaults, mostly none."""
    options: dict[str, OptionValue] = {}
    while True:
        try:
            game_spec(game).complete(seats, options)
        except CombinationError as refusal:
            values = option_values(game)[refusal.name]
            options[refusal.name] = next(value for value in values if value != refusal.given)
        else:
            return options


def covering_settings(game: str) -> list[Setting]:
    """Settings that show every pair: seats with each option value, and each two options' values.

    Greedy and the same every time: each row is the best of all settings, ties broken by a fixed
    shuffle so that a row doesn't stay near the defaults.
    """
    rows = all_settings(game)
    Random(game).shuffle(rows)
    missing = set().union(*(_pairs(row) for row in rows))
    chosen: list[Setting] = []
    while missing:
        best = max(rows, key=lambda row: len(_pairs(row) & missing))
        chosen.append(best)
        missing -= _pairs(best)
    return sorted(chosen, key=lambda row: (row[0], str(row[1])))


def _pairs(setting: Setting) -> set[tuple[tuple[str, OptionValue], tuple[str, OptionValue]]]:
    seats, options = setting
    facts: list[tuple[str, OptionValue]] = [("seats", seats), *options.items()]
    return set(combinations(facts, 2))


def setting_name(setting: Setting) -> str:
    """A setting as text that a command line and a test id can carry."""
    seats, options = setting
    return " ".join([f"seats={seats}", *(f"{name}={value}" for name, value in options.items())])
