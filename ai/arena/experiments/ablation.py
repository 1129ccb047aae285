"""Ablations: changes to a player from a declared list, each against the default.

All are compared on the same deals. Chances are corrected for the number of comparisons (Holm,
1979); where a sequential test ends them its error rates are divided by that number instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tavolata.ai.arena.experiments import keys
from tavolata.ai.arena.experiments.parts import DEFAULT, Challenger, Part, part
from tavolata.ai.arena.tournament.comparisons import Compared, finite, holm
from tavolata.ai.arena.tournament.keys import Game
from tavolata.ai.arena.tournament.problems import Problem, SpecificationError, given_text
from tavolata.ai.arena.tournament.specification import read_text, validated
from tavolata.ai.arena.tournament.stopping import Sprt, log_likelihood_ratio

SURE = 0.05  # chance, corrected, below which a difference is shown


@dataclass(frozen=True, slots=True)
class Study:
    """A list of ablations as it is run: a tournament for each [[games]] of the file."""

    title: str
    text: str
    parts: tuple[Part, ...]

    @property
    def comparison_count(self) -> int:
        """How many comparisons there are to correct for."""
        return sum(
            len(each.challengers) * len(each.specification.field.contests) for each in self.parts
        )


@dataclass(frozen=True, slots=True)
class Row:
    """What one ablation came to in one contest: ablation minus default.

    corrected: the chance of such a difference, corrected by Holm; None where a sequential test
    ended it; verdict: that test's, else None.
    """

    compared: Compared
    corrected: float | None
    verdict: str | None

    @property
    def said(self) -> str:
        """The result in words."""
        if self.verdict is not None:
            return self.verdict
        if self.corrected is None or self.corrected >= SURE:
            return "no difference shown"
        return "better" if self.compared.utility.mean > 0 else "worse"


def load_study(source: Path | str) -> Study:
    """The list in a file (a Path) or a text of TOML; errors as those of a tournament's file."""
    text = read_text(source) if isinstance(source, Path) else source
    read = validated(text, keys.Ablations)
    _check(read)
    stop = read.stop.model_dump()
    study = Study(read.title, text, _parts(read, stop))
    if "alpha" in stop:
        for rate in ("alpha", "beta"):
            stop[rate] = max(stop[rate] / study.comparison_count, 1e-6)
        study = Study(read.title, text, _parts(read, stop))
    return study


def _check(read: keys.Ablations) -> None:
    names = [_name(game) for game in read.games]
    problems = [
        Problem("games[].name", given_text(name), "a name of its own for every [[games]]")
        for name in dict.fromkeys(names)
        if names.count(name) > 1
    ]
    games = {game.game for game in read.games}
    for index, ablation in enumerate(read.ablations):
        if ablation.label == DEFAULT:
            allowed = f"a label other than {DEFAULT}"
            problems.append(Problem(f"ablations[{index}].label", given_text(DEFAULT), allowed))
        for game in ablation.games or ():
            if game not in games:
                allowed = f"games of the file: {', '.join(sorted(games))}"
                problems.append(Problem(f"ablations[{index}].games", given_text(game), allowed))
    if problems:
        raise SpecificationError(problems)


def _name(game: Game) -> str:
    return game.name or game.game


def _parts(read: keys.Ablations, stop: Mapping[str, Any]) -> tuple[Part, ...]:
    made = []
    for number, game in enumerate(read.games):
        challengers = [
            _challenger(read, ablation, index)
            for index, ablation in enumerate(read.ablations)
            if ablation.games is None or game.game in ablation.games
        ]
        if challengers:
            made.append(part(_name(game), read, [game], challengers, stop, read.seed, number))
    return tuple(made)


def _challenger(read: keys.Ablations, ablation: keys.Ablation, index: int) -> Challenger:
    """The default with the change, or another player with settings of its own."""
    other = ablation.player is not None and ablation.player != read.default.player
    before = {} if other else read.default.settings
    return Challenger(
        ablation.label,
        ablation.player or read.default.player,
        before | ablation.settings,
        f"ablations[{index}]",
    )


def rows(study: Study, folder: Path) -> list[Row]:
    """Every comparison of a study that is played to its end, in the order of the file."""
    found = [(each, row) for each in study.parts for row in each.compared(folder)]
    stopping = [each.specification.schedule().stopping for each, _ in found]
    if any(isinstance(rule, Sprt) for rule in stopping):
        return [
            Row(row, None, _verdict(row, rule))
            for (_, row), rule in zip(found, stopping, strict=True)
            if isinstance(rule, Sprt)
        ]
    corrected = holm([row.p for _, row in found])
    return [Row(row, p, None) for (_, row), p in zip(found, corrected, strict=True)]


def _verdict(row: Compared, rule: Sprt) -> str:
    ratio = log_likelihood_ratio(row.differences, rule.h0, rule.h1)
    lower, upper = rule.bounds
    if ratio <= lower:
        return f"h0 ({rule.h0:g}) is accepted"
    if ratio >= upper:
        return f"h1 ({rule.h1:g}) is accepted"
    return "undecided"


def markdown(study: Study, found: list[Row]) -> str:
    """The table of a study, for documents."""
    lines = [
        f"**{study.title}**: each minus the default",
        "",
        "| contest | ablation | deals | utility | Elo | p | p (Holm) | |",
        "|---|---|---|---|---|---|---|---|",
    ]
    return "\n".join([*lines, *(_line(row) for row in found)]) + "\n"


def _line(row: Row) -> str:
    one = row.compared
    elo, low, high = one.elo
    cells = [
        one.contest,
        one.first,
        f"{one.deals:,}",
        f"{one.utility.mean:+.3f} ± {one.utility.half_width:.3f}",
        f"{elo:+.0f} ({low:+.0f} to {high:+.0f})",
        "" if row.corrected is None else f"{one.p:.3f}",
        "" if row.corrected is None else f"{row.corrected:.3f}",
        row.said,
    ]
    return f"| {' | '.join(cells)} |"


def as_object(row: Row) -> dict[str, Any]:
    """A row for programs."""
    one = row.compared
    elo, low, high = (finite(each) for each in one.elo)
    return {
        "contest": one.contest,
        "ablation": one.first,
        "deals": one.deals,
        "matches": one.matches,
        "utility": one.utility.mean,
        "utility_half_width": finite(one.utility.half_width),
        "elo": elo,
        "elo_low": low,
        "elo_high": high,
        "p": one.p if row.corrected is not None else None,
        "p_holm": row.corrected,
        "result": row.said,
    }
