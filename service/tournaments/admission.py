"""Which tournaments the server takes on: a right specification within the operator's limits."""

from __future__ import annotations

from dataclasses import dataclass

from tavolata.ai.arena.duplicate import Entrant
from tavolata.ai.arena.tournament.dry_run import matches_most
from tavolata.ai.arena.tournament.problems import Problem, SpecificationError, given_text
from tavolata.ai.arena.tournament.specification import Specification, load
from tavolata.service.ai_levels import Ceiling
from tavolata.service.refusals import invalid_field
from tavolata.service.tournaments import refuse


@dataclass(frozen=True, slots=True)
class Caps:
    """The most that one tournament may ask; search: of each decision, threads: of each search."""

    matches: int
    processes: int
    search: Ceiling
    threads: int


def admitted(text: str, caps: Caps) -> Specification:
    """The tournament in this text. Refused with INVALID_FIELD for every key that is wrong.

    Entrants are built-in players and those of installed packages; what a text names as such it
    can't bring along.
    """
    try:
        specification = load(text)
    except SpecificationError as error:
        raise refuse.bad_specification(error.problems) from None
    problems = [
        problem
        for entrant in specification.field.entrants.values()
        for problem in _beyond(entrant, caps)
    ]
    if not problems:
        problems = _too_many(specification, caps)
    if problems:
        raise refuse.bad_specification(problems)
    return specification


def processes_for(asked: int, caps: Caps) -> int:
    """The number of worker processes; 0 asks for all there may be. Refused with INVALID_FIELD."""
    if asked > caps.processes:
        raise invalid_field("processes", f"is {asked}", f"0 to {caps.processes}")
    return asked or caps.processes


def _beyond(entrant: Entrant, caps: Caps) -> list[Problem]:
    """The limits of an entrant, its own or the file's, that are more than the server allows."""
    limits, most = entrant.limits, caps.search
    return [
        Problem(
            f"entrants[].{name}", f"{value:g} for {given_text(entrant.label)}", f"up to {limit}"
        )
        for name, value, limit in (
            ("iterations", limits.iterations, most.iterations),
            ("think_ms", limits.think_ms, most.think_ms),
            ("nodes", limits.nodes, most.nodes),
            ("threads", limits.threads, caps.threads),
        )
        if value is not None and value > limit
    ]


def _too_many(specification: Specification, caps: Caps) -> list[Problem]:
    most = matches_most(specification)
    if most <= caps.matches:
        return []
    given = f"{specification.stop.deals}, with which there can be {most} matches"
    return [Problem("stop.deals", given, f"what comes to at most {caps.matches} matches")]
