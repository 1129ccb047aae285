"""A tournament as it was asked for: read from TOML, checked whole, and made into a schedule."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from tavolata.ai.arena.tournament import keys
from tavolata.ai.arena.tournament.checks import Checked, check
from tavolata.ai.arena.tournament.model import Field
from tavolata.ai.arena.tournament.policy import FaultPolicy, OnFault, OnSlow
from tavolata.ai.arena.tournament.problems import (
    Problem,
    SpecificationError,
    given_text,
    problems_of,
)
from tavolata.ai.arena.tournament.schedule import TournamentSchedule, format_for
from tavolata.ai.arena.tournament.stopping import stopping_rule
from tavolata.ai.levels import SEPARATOR, levels_of
from tavolata.ai.players import player_spec
from tavolata.ext.registry import game_spec

__all__ = ["Problem", "Specification", "SpecificationError", "load"]

BYTES_MAX = 1 << 20
AnyKeys = TypeVar("AnyKeys", bound=keys.Keys)


@dataclass(frozen=True, slots=True)
class Specification:
    """A tournament, checked: title, field and policy as its parts need them.

    format, stop: the tables of the file; text: the TOML it was read from.
    """

    title: str
    field: Field
    format: keys.AnyFormat
    stop: keys.AnyStop
    policy: FaultPolicy
    text: str

    def schedule(self) -> TournamentSchedule:
        """A fresh schedule, before the first block."""
        labels = tuple(self.field.entrants)
        return TournamentSchedule(
            formats=[
                format_for(self.format, labels, contest.seats) for contest in self.field.contests
            ],
            stopping=stopping_rule(self.stop),
            policy=self.policy,
        )

    def normalised(self) -> dict[str, Any]:
        """Everything results depend on, with defaults filled in and ranges expanded; JSON types."""
        return {
            "seed": self.field.seed,
            "games": {
                contest.name: {
                    "game": contest.game,
                    "rules_version": game_spec(contest.game).rules_version,
                    "seats": contest.seats,
                    "options": contest.options,
                }
                for contest in self.field.contests
            },
            "entrants": {
                label: {
                    "player": entrant.player,
                    "limits": asdict(entrant.limits),
                    "settings": dict(entrant.settings),
                }
                | self._rungs(entrant.player)
                for label, entrant in self.field.entrants.items()
            },
            "order": {
                "games": [contest.name for contest in self.field.contests],
                "entrants": list(self.field.entrants),
            },
            "format": self.format.model_dump(mode="json"),
            "stop": self.stop.model_dump(mode="json"),
            "faults": asdict(self.policy),
        }

    def _rungs(self, player: str) -> dict[str, Any]:
        """What a player at a level, PLAYER@LEVEL, plays at in each game."""
        name, at, level = player.partition(SEPARATOR)
        if not at:
            return {}
        games = dict.fromkeys(contest.game for contest in self.field.contests)
        found = {game: levels_of(player_spec(name), game_spec(game))[level] for game in games}
        return {"level": {game: asdict(each) for game, each in found.items()}}

    def digest(self) -> str:
        """SHA-256 of ``normalised()``, hexadecimal: equal for files that give equal results,
        whatever their layout, title and comments."""
        text = json.dumps(self.normalised(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def changes_from(self, other: Specification) -> list[str]:
        """What is different from another specification, a line each, like
        ``stop.deals: was 400, is 500``; empty when the digests are equal."""
        return list(_changes("", other.normalised(), self.normalised()))


def _changes(path: str, before: object, after: object) -> Iterator[str]:
    """What is different, with its path; a table that only one side has is told once."""
    if before == after:
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for key in {**before, **after}:
            inner = f"{path}.{key}" if path else str(key)
            yield from _changes(inner, before.get(key, _ABSENT), after.get(key, _ABSENT))
        return
    yield f"{path}: was {_shown(before)}, is {_shown(after)}"


_ABSENT = object()


def _shown(value: object) -> str:
    if value is _ABSENT:
        return "not there"
    return "there" if isinstance(value, dict) else json.dumps(value, ensure_ascii=False)


def load(source: Path | str) -> Specification:
    """The specification in a file (a Path) or in a text (a str) of TOML.

    SpecificationError names every key that is wrong and what is allowed there; OSError when there
    is no such file.
    """
    text = read_text(source) if isinstance(source, Path) else source
    read = validated(text, keys.Tournament)
    return _specification(check(read), read, text)


def validated(text: str, whole: type[AnyKeys]) -> AnyKeys:
    """A text of TOML as the tables of ``whole``; SpecificationError as in ``load``."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SpecificationError([Problem("the file", "no TOML", f"TOML 1.0; {error}")]) from None
    try:
        return whole.model_validate(data)
    except ValidationError as error:
        raise SpecificationError(problems_of(error, whole)) from None


def read_text(path: Path) -> str:
    """What is in a file, if it can be a specification: text in UTF-8 that is not too long."""
    with path.open("rb") as file:
        content = file.read(BYTES_MAX + 1)
    if len(content) > BYTES_MAX:
        given = f"longer than {BYTES_MAX} bytes"
        raise SpecificationError([Problem("the file", given, "a tournament file in TOML")])
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        problem = Problem("the file", given_text(str(error)), "text in UTF-8")
        raise SpecificationError([problem]) from None


def _specification(checked: Checked, read: keys.Tournament, text: str) -> Specification:
    faults = read.faults
    return Specification(
        title=read.title,
        field=Field(checked.contests, checked.entrants, read.seed),
        format=checked.format,
        stop=read.stop,
        policy=FaultPolicy(
            on_fault=OnFault(faults.on_fault),
            on_slow=OnSlow(faults.on_slow),
            patience_ms=faults.patience_ms,
            slow_factor=faults.slow_factor,
            slow_ms=faults.slow_ms,
            faults_max=faults.faults_max,
        ),
        text=text,
    )
