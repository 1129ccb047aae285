"""What a tournament file says, against the games and players there are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from tavolata.ai.arena.duplicate import Entrant
from tavolata.ai.arena.tournament import keys, ranges
from tavolata.ai.arena.tournament.model import Contest
from tavolata.ai.arena.tournament.problems import Problem, SpecificationError, given_text
from tavolata.ai.arena.tournament.tables import NoDesign, tables
from tavolata.ai.levels import SEPARATOR, UnknownLevel
from tavolata.ai.player import Limits
from tavolata.ai.players import PlayerSpec, UnknownPlayer, player_spec, player_specs
from tavolata.ext.core.errors import SeatCountError, SettingError
from tavolata.ext.registry import GAMES

ENTRANTS_MAX = 1_000
LIMITS = ("iterations", "think_ms", "nodes", "threads")


@dataclass(frozen=True, slots=True)
class Checked:
    """What the file comes to: contests and entrants in its order, and a format that names
    labels instead of patterns."""

    contests: tuple[Contest, ...]
    entrants: dict[str, Entrant]
    format: keys.AnyFormat


class _Report:
    """The problems found so far."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def add(self, key: str, given: object, allowed: str) -> None:
        text = given if isinstance(given, str) else given_text(given)
        self.problems.append(Problem(key, text, allowed))

    def stop_if_any(self) -> None:
        if self.problems:
            raise SpecificationError(self.problems)


def check(read: keys.Tournament) -> Checked:
    """Contests, entrants and format; SpecificationError with every problem there is."""
    report = _Report()
    contests = tuple(
        contest
        for index, game in enumerate(read.games)
        for contest in _contests(f"games[{index}]", game, report)
    )
    _check_names(contests, report)
    entrants = _entrants(read, report)
    report.stop_if_any()
    made = _check_format(read.format, contests, list(entrants), report)
    _check_stop(read.stop, report)
    report.stop_if_any()
    return Checked(contests, entrants, made)


def _contests(path: str, game: keys.Game, report: _Report) -> Iterator[Contest]:
    spec = GAMES.get(game.game)
    if spec is None:
        report.add(f"{path}.game", given_text(game.game), ", ".join(GAMES))
        return
    given = game.seats if isinstance(game.seats, list) else [game.seats or spec.seats_usual]
    if not given or len(set(given)) != len(given):
        report.add(f"{path}.seats", given, "a number of seats, or a list of different ones")
        return
    for seats in given:
        try:
            options = spec.complete(seats, game.options)
        except SeatCountError as error:
            report.add(f"{path}.seats", seats, error.allowed)
        except SettingError as error:
            allowed = f"{error.allowed} (with {seats} seats, {error.rule})"
            report.add(f"{path}.options.{error.name}", error.given, allowed)
        else:
            name = game.name or spec.id
            yield Contest(name if len(given) == 1 else f"{name}-{seats}", spec.id, seats, options)


def _check_names(contests: tuple[Contest, ...], report: _Report) -> None:
    names = [contest.name for contest in contests]
    for name in dict.fromkeys(name for name in names if names.count(name) > 1):
        allowed = "a name of its own for every [[games]] whose game comes twice"
        report.add("games[].name", f"{given_text(name)} for {names.count(name)} contests", allowed)


def _entrants(read: keys.Tournament, report: _Report) -> dict[str, Entrant]:
    found: dict[str, Entrant] = {}
    for index, given in enumerate(read.entrants):
        path = f"entrants[{index}]"
        try:
            spec = player_spec(given.player)
        except UnknownPlayer:
            report.add(f"{path}.player", given_text(given.player), ", ".join(player_specs()))
            continue
        except UnknownLevel as unknown:
            allowed = ", ".join(f"{unknown.player}@{level}" for level in unknown.levels)
            report.add(f"{path}.player", given_text(given.player), allowed)
            continue
        for entrant in _expanded(path, given, spec, read.limits, report):
            if entrant.label in found:
                allowed = "a label of its own for every entrant"
                report.add(f"{path}.label", f"{given_text(entrant.label)}, taken", allowed)
            found[entrant.label] = entrant
    if len(found) > ENTRANTS_MAX:
        report.add("entrants", f"{len(found)} entrants", f"at most {ENTRANTS_MAX}")
    return found


def _expanded(
    path: str, given: keys.Entrant, spec: PlayerSpec, common: keys.Limits, report: _Report
) -> Iterator[Entrant]:
    """An entrant for every combination of the parameters' values."""
    unknown = [name for name in given.settings if name not in spec.settings]
    for name in unknown:
        allowed = ", ".join(spec.settings) or f"no setting of {spec.name}"
        report.add(f"{path}.settings.{name}", "no setting of this player", allowed)
    limits = {name: getattr(given, name) for name in LIMITS if getattr(given, name) is not None}
    parameters = limits | given.settings
    total = 1
    for values in parameters.values():
        total *= len(values)
    if total > ENTRANTS_MAX:
        report.add(path, f"{total} combinations", f"at most {ENTRANTS_MAX}")
    if unknown or total > ENTRANTS_MAX:
        return
    several = {name for name, values in parameters.items() if len(values) > 1}
    for values in ranges.combinations(parameters):
        try:
            label = ranges.label_of(given.label, given.player, several, values)
        except ValueError as error:
            allowed = f"in braces {', '.join(parameters) or 'nothing'}"
            report.add(f"{path}.label", f"{given_text(given.label)} ({error})", allowed)
            return
        if len(label) > 60 or not label.isprintable() or label != label.strip():
            allowed = "1 to 60 printable characters, none of them a space at an end"
            report.add(f"{path}.label", given_text(label), allowed)
            return
        settings = tuple((name, float(values[name])) for name in sorted(given.settings))
        yield Entrant(label, given.player, _limits(values, spec, common), settings)


def _limits(values: dict[str, ranges.Value], spec: PlayerSpec, common: keys.Limits) -> Limits:
    """The entrant's own limits, else the file's, else the player's; nodes and threads each. A
    player at a level has its limits from there."""
    ends = ("iterations", "think_ms")
    sources: list[Callable[[str], Any]] = [
        values.get,
        lambda name: None if SEPARATOR in spec.name else getattr(common, name),
        lambda name: getattr(spec.limits, name),
    ]
    source = next(each for each in sources if any(each(name) is not None for name in ends))
    return Limits(
        iterations=source("iterations"),
        think_ms=source("think_ms"),
        nodes=int(values.get("nodes", common.nodes)),
        threads=int(values.get("threads", common.threads)),
    )


def _check_format(
    given: keys.AnyFormat, contests: tuple[Contest, ...], labels: list[str], report: _Report
) -> keys.AnyFormat:
    count = len(labels)
    if count < 2:
        report.add("entrants", f"{count} entrant", "two or more, ranges expanded")
    if isinstance(given, keys.Gauntlet):
        return _named_challengers(given, labels, report)
    if isinstance(given, keys.Swiss):
        most = count if count % 2 else count - 1
        if given.rounds > most:
            report.add("format.rounds", given.rounds, f"1 to {most} with {count} entrants")
    if isinstance(given, keys.Mixed):
        for contest in contests:
            if contest.seats > count:
                allowed = (
                    f"mixed where there are at least as many entrants as seats; {contest.name} has "
                    f"{contest.seats} seats, and there are {count} entrants"
                )
                report.add("format.kind", given_text(given.kind), allowed)
            else:
                _check_tables(given, contest, count, report)
    return given


def _check_tables(given: keys.Mixed, contest: Contest, count: int, report: _Report) -> None:
    try:
        tables(count, contest.seats, given.tables)
    except NoDesign as error:
        report.add("format.tables", given_text(given.tables), f"{error} in {contest.name}")


def _named_challengers(given: keys.Gauntlet, labels: list[str], report: _Report) -> keys.AnyFormat:
    named = []
    for index, pattern in enumerate(given.challengers):
        found = [label for label in labels if _matches(label, pattern)]
        if not found:
            allowed = f"a label, * for any characters; there are {', '.join(labels)}"
            report.add(f"format.challengers[{index}]", given_text(pattern), allowed)
        named += found
    chosen = [label for label in labels if label in named]
    if len(chosen) == len(labels):
        report.add("format.challengers", "all entrants", "some of the entrants, not all")
    return given.model_copy(update={"challengers": chosen})


def _matches(label: str, pattern: str) -> bool:
    """Whether the pattern stands for the label; of its characters only * is special."""
    escaped = pattern.replace("[", "[[]").replace("?", "[?]")
    return label == pattern or fnmatchcase(label, escaped)


def _check_stop(stop: keys.AnyStop, report: _Report) -> None:
    if isinstance(stop, keys.EarlyStop) and stop.deals_min > stop.deals:
        report.add("stop.deals_min", stop.deals_min, f"2 to {stop.deals}, the number of deals")
    if isinstance(stop, keys.Sprt) and stop.h1 <= stop.h0:
        report.add("stop.h1", stop.h1, f"above h0, which is {stop.h0}")
