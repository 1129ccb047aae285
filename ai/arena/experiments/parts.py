"""Tournaments that are made from experiments: what is played in them, and where they are kept."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tavolata.ai.arena.experiments import keys
from tavolata.ai.arena.experiments.toml_text import toml_text
from tavolata.ai.arena.tournament import folder as folders
from tavolata.ai.arena.tournament.comparisons import Compared, comparisons
from tavolata.ai.arena.tournament.folder import Tournament
from tavolata.ai.arena.tournament.keys import Game
from tavolata.ai.arena.tournament.problems import Problem, SpecificationError
from tavolata.ai.arena.tournament.specification import Specification, load

DEFAULT = "default"  # label of what everything is compared with


@dataclass(frozen=True, slots=True)
class Challenger:
    """Who meets the default. key: where it stands in the file, for what is wrong with it."""

    label: str
    player: str
    settings: Mapping[str, keys.Setting]
    key: str


@dataclass(frozen=True, slots=True)
class Part:
    """One tournament of an experiment: challengers against the default. name: of its folder."""

    name: str
    specification: Specification
    challengers: tuple[str, ...]

    def open(self, folder: Path) -> Tournament:
        """The part's tournament in its place in the experiment's folder, to begin or to go on with.
        FolderError if something else is there, or its rules have changed."""
        place = folder / self.name
        if (place / folders.SPECIFICATION).exists():
            return folders.open_to_run(place)
        return folders.create(place, self.specification)

    def is_over(self, folder: Path) -> bool:
        """Whether all of it is played."""
        if not (folder / self.name / folders.RESULTS).exists():
            return False
        tournament = folders.open_to_read(folder / self.name)
        try:
            return tournament.result_hash is not None
        finally:
            tournament.close()

    def compared(self, folder: Path) -> list[Compared]:
        """Every challenger with the default in every contest, as far as it is played."""
        tournament = folders.open_to_read(folder / self.name)
        try:
            pairs = [(label, DEFAULT) for label in self.challengers]
            outcomes = tournament.store.outcomes(records=False)
            return comparisons(tournament.field, outcomes, pairs)
        finally:
            tournament.close()


def part(
    name: str,
    experiment: keys.Experiment,
    games: Sequence[Game],
    challengers: Sequence[Challenger],
    stop: Mapping[str, Any],
    seed: int,
    first_game: int = 0,
) -> Part:
    """The tournament of these challengers; SpecificationError names the keys of the experiment.

    first_game: which of the experiment's games is the first of these.
    """
    default = experiment.default
    entrants = [
        {"player": default.player, "label": DEFAULT, "settings": dict(default.settings)},
        *(
            {"player": each.player, "label": each.label, "settings": dict(each.settings)}
            for each in challengers
        ),
    ]
    text = toml_text(
        {
            "title": experiment.title,
            "seed": seed,
            "limits": experiment.limits.model_dump(),
            "games": [game.model_dump() for game in games],
            "entrants": entrants,
            "format": {
                "kind": "gauntlet",
                "challengers": [each.label for each in challengers],
            },
            "stop": stop,
        }
    )
    try:
        specification = load(text)
    except SpecificationError as error:
        places = ["default", *(each.key for each in challengers)]
        raise SpecificationError(
            [_where(found, places, first_game) for found in error.problems]
        ) from None
    return Part(name, specification, tuple(each.label for each in challengers))


def _where(problem: Problem, places: Sequence[str], first_game: int) -> Problem:
    """The problem with the key that stands in the experiment's file."""
    if found := re.match(r"games\[(\d+)\]", problem.key):
        place = f"games[{int(found.group(1)) + first_game}]"
        return replace(problem, key=place + problem.key[found.end() :])
    found = re.match(r"entrants\[(\d+)\]", problem.key)
    if found is None:
        return problem
    return replace(problem, key=places[int(found.group(1))] + problem.key[found.end() :])
