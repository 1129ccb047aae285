"""A tournament as it was asked for: read from TOML, checked whole, and made into a schedule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tavolata.ai.arena.tournament.model import Field, Schedule
from tavolata.ai.arena.tournament.policy import FaultPolicy


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a specification."""

    key: str  # where, like ``entrants[1].settings.exploration``
    given: str  # what stands there, in TOML's words; empty for a key that is missing
    allowed: str  # what may stand there

    def __str__(self) -> str:
        given = f"is {self.given}" if self.given else "is missing"
        return f"{self.key} {given}; allowed: {self.allowed}"


class SpecificationError(ValueError):
    """A specification that can't be run; every problem with its key and what is allowed."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = tuple(problems)


@dataclass(frozen=True, slots=True)
class Specification:
    """A tournament, checked: title, field and policy as its parts need them.

    text: the TOML it was read from.
    """

    title: str
    field: Field
    policy: FaultPolicy
    text: str

    def schedule(self) -> Schedule:
        """A fresh schedule, before the first block."""
        raise NotImplementedError

    def normalised(self) -> dict[str, Any]:
        """Everything results depend on, with defaults filled in and ranges expanded; JSON types."""
        raise NotImplementedError

    def digest(self) -> str:
        """SHA-256 of ``normalised()``, hexadecimal: equal for files that give equal results,
        whatever their layout, title and comments."""
        raise NotImplementedError

    def changes_from(self, other: Specification) -> list[str]:
        """What is different from another specification, a line each, like
        ``stop.deals: was 400, is 500``; empty when the digests are equal."""
        raise NotImplementedError


def load(source: Path | str) -> Specification:
    """The specification in a file (a Path) or in a text (a str) of TOML.

    SpecificationError names every key that is wrong and what is allowed there; OSError when there
    is no such file.
    """
    raise NotImplementedError
