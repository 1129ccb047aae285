"""The refusals of the tournament service, each with what was wrong and what is allowed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tavolata.service.refusals import FieldViolation, Refused
from tavolata.v1.errors_pb2 import ErrorReason

if TYPE_CHECKING:
    from tavolata.ai.arena.tournament.problems import Problem

SETTING = "tournaments_dir"
SPECIFICATION = "specification"
# Refusals travel in trailers, see refusals.py; what is wrong beyond this is told the next time.
PROBLEMS_BYTES_MAX = 2_000


def off() -> Refused:
    """A server without a folder for tournaments."""
    return Refused(
        ErrorReason.ERROR_REASON_TOURNAMENTS_OFF,
        f"this server runs no tournaments; its operator allows them with the setting {SETTING}",
        {"setting": SETTING},
    )


def not_found(tournament_id: str) -> Refused:
    """No such tournament."""
    return Refused(
        ErrorReason.ERROR_REASON_TOURNAMENT_NOT_FOUND,
        f"there is no tournament {tournament_id!r}; ListTournaments lists all",
        {"tournament_id": tournament_id},
    )


def over(tournament_id: str, state: str) -> Refused:
    """A tournament that has ended."""
    return Refused(
        ErrorReason.ERROR_REASON_TOURNAMENT_OVER,
        f"the tournament is {state}, and this is possible before its end only",
        {"tournament_id": tournament_id, "state": state},
    )


def bad_specification(problems: Sequence[Problem]) -> Refused:
    """INVALID_FIELD for every wrong key, with what is allowed; as many as there is room for."""
    violations: list[FieldViolation] = []
    size = 0
    for problem in problems:
        field = _field(problem)
        given = f"is {problem.given}" if problem.given else "is missing"
        text = f"{field} {given}; allowed: {problem.allowed}"
        size += len(field.encode()) + len(text.encode())
        if violations and size > PROBLEMS_BYTES_MAX:
            break
        violations.append(FieldViolation(field, text))
    return Refused(
        ErrorReason.ERROR_REASON_INVALID_FIELD,
        "; ".join(violation.description for violation in violations),
        {"field": violations[0].field, "allowed": problems[0].allowed},
        violations,
    )


def _field(problem: Problem) -> str:
    """Where it is in the request; a problem with the text as a whole has words for a key."""
    return SPECIFICATION if " " in problem.key else f"{SPECIFICATION}.{problem.key}"
