"""Entries of a match's log as Python values."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MatchEnded:
    """The match is over."""

    placement: tuple[int, ...]
    totals: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class NumberedEvent:
    """An event with its number, from 1, which is the same for every viewer."""

    number: int
    event: object


@dataclass(frozen=True, slots=True)
class Decision:
    """A seat's answer to the decision with this turn."""

    turn: int
    seat: int
    action: str


@dataclass(frozen=True, slots=True)
class ChanceOutcome:
    """What chance gave: a pick out of ``choices`` (one number in ``values``), or a shuffle
    (``choices`` 0, all ``items`` in their final order)."""

    purpose: str
    round: int
    index: int
    choices: int
    values: tuple[int, ...]
    items: tuple[str, ...]
