"""What was found, and what is to be done about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["ok", "warn", "fail"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One line. advice: what to do, empty if there is nothing to do."""

    level: Level
    check: str
    says: str
    advice: str = ""


def ok(check: str, says: str) -> Finding:
    """As it should be."""
    return Finding("ok", check, says)


def warn(check: str, says: str, advice: str) -> Finding:
    """A server runs, but something may be wrong."""
    return Finding("warn", check, says, advice)


def fail(check: str, says: str, advice: str) -> Finding:
    """A server doesn't start, or not for long."""
    return Finding("fail", check, says, advice)
