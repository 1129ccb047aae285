"""Reading a position's line of text: words ``key=value``, and what stands in a value.

What the words of a game mean does not belong here. Every error is a ValueError that says what is
wanted; those out of ``Words.read`` name the word.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Value = TypeVar("Value")


class Words:
    """The words of a line by their keys."""

    def __init__(self, text: str) -> None:
        self._values = {
            key: value for key, _, value in (word.partition("=") for word in text.split())
        }

    def read(self, key: str, parse: Callable[[str], Value]) -> Value:
        """What ``parse`` makes of a word's value; ValueError, naming the word, if that raises one
        or the word is missing."""
        if key not in self._values:
            raise ValueError(f"the position has no word {key!r}")
        try:
            return parse(self._values[key])
        except ValueError as error:
            raise ValueError(f"{key}={self._values[key]}: {error}") from None


def items(text: str) -> list[str]:
    """What stands between dots; ``-`` is nothing."""
    return [] if text == "-" else text.split(".")


def split(text: str, mark: str, count: int) -> list[str]:
    """The parts between marks, of which there must be ``count``."""
    parts = text.split(mark)
    if len(parts) != count:
        raise ValueError(f"{text!r} has {len(parts)} parts between {mark!r}, {count} are wanted")
    return parts


def number(text: str, low: int, high: int) -> int:
    """A number from low to high."""
    try:
        value = int(text)
    except ValueError:
        raise ValueError(f"{text!r} is no number; numbers here are {low} to {high}") from None
    if not low <= value <= high:
        raise ValueError(f"{value} is not {low} to {high}")
    return value


def place(text: str, names: tuple[str, ...]) -> int:
    """The place of a name among those there are."""
    if text not in names:
        raise ValueError(f"{text!r} is none of {', '.join(names)}")
    return names.index(text)
