"""Parameters with several values: lists and ranges in a tournament file, and their combinations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product
from math import isfinite

Value = bool | int | float
VALUES_MAX = 1_000  # of one parameter


def integers(least: int, most: int) -> Callable[[object], tuple[Value, ...]]:
    """Reader of a parameter whose values are integers; ValueError for anything else."""

    def one(value: object) -> Value:
        if type(value) is not int or not least <= value <= most:
            raise ValueError(f"{value!r} is no integer from {least} to {most}")
        return value

    return lambda given: tuple(one(value) for value in _spread(given, whole=True))


def numbers(least: float, most: float) -> Callable[[object], tuple[Value, ...]]:
    """Reader of a parameter whose values are numbers above `least`; ValueError as above."""

    def one(value: object) -> Value:
        number = _number(value)
        if not least < number <= most:
            raise ValueError(f"{value!r} is no number above {least} up to {most}")
        return number

    return lambda given: tuple(one(value) for value in _spread(given, whole=False))


def settings(given: object) -> tuple[Value, ...]:
    """The values of a player's setting: finite numbers, true or false."""
    return tuple(
        value if isinstance(value, bool) else _number(value)
        for value in _spread(given, whole=False)
    )


def _number(value: object) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise ValueError(f"{value!r} is no finite number")
    return value


def _spread(given: object, *, whole: bool) -> list[object]:
    """One value, a list, or a range as a list of different values."""
    if isinstance(given, Mapping):
        values: list[object] = list(_range(given, whole=whole))
    elif isinstance(given, list | tuple):
        values = list(given)
    else:
        return [given]
    if not 1 <= len(values) <= VALUES_MAX:
        raise ValueError(f"{len(values)} values; a parameter has 1 to {VALUES_MAX}")
    if len(set(map(repr, values))) != len(values):
        raise ValueError("the same value comes twice")
    return values


def _range(given: Mapping[str, object], *, whole: bool) -> list[Value]:
    """The values of ``{ from, to, steps, scale }``, both ends included."""
    unknown = sorted(set(given) - {"from", "to", "steps", "scale"})
    missing = [key for key in ("from", "to", "steps") if key not in given]
    if unknown or missing:
        raise ValueError(f"a range has from, to, steps and perhaps scale, not {', '.join(given)}")
    first, last, steps = _number(given["from"]), _number(given["to"]), given["steps"]
    scale = given.get("scale", "linear")
    if type(steps) is not int or not 2 <= steps <= VALUES_MAX:
        raise ValueError(f"steps is {steps!r}; allowed: 2 to {VALUES_MAX}")
    if scale not in ("linear", "log"):
        raise ValueError(f'scale is {scale!r}; allowed: "linear", "log"')
    if scale == "log" and min(first, last) <= 0:
        raise ValueError("from and to of a log scale are above 0")
    shares = [step / (steps - 1) for step in range(steps)]
    if scale == "log":
        values = [first * (last / first) ** share for share in shares]
    else:
        values = [first + (last - first) * share for share in shares]
    # Twelve digits, so that 0.1 + 0.2 is labelled 0.3.
    return [round(value) if whole else float(f"{value:.12g}") for value in values]


def combinations(parameters: Mapping[str, tuple[Value, ...]]) -> list[dict[str, Value]]:
    """Every combination of the parameters' values, the last parameter changing fastest."""
    return [dict(zip(parameters, values, strict=True)) for values in product(*parameters.values())]


def value_text(value: Value) -> str:
    """A value in a label: ``true``, ``500``, ``0.3``."""
    return str(value).lower() if isinstance(value, bool) else f"{value:.12g}"


def label_of(
    template: str | None, player: str, several: set[str], values: Mapping[str, Value]
) -> str:
    """The label of one combination; ValueError for a ``{name}`` that is no parameter.

    several: the parameters that have more than one value. Those the template does not name are
    added, so that labels differ.
    """
    label = template or player
    for name, value in values.items():
        if f"{{{name}}}" in label:
            label = label.replace(f"{{{name}}}", value_text(value))
        elif name in several:
            label += f" {name}={value_text(value)}"
    if "{" in label:
        raise ValueError(f"{template!r} names a parameter that the entrant does not set")
    return label
