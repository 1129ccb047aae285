"""Levels of the players: how well they play on purpose.

A level is a limit in iterations, so that it plays alike on every machine and under any load, and a
temperature: actions with a tenth of the best one's visits or more are drawn with the chances
visits^(1 / temperature), after Wu et al. (AAAI 2019); so a weak level errs where actions are close
and leaves alone what its search found bad. A game may have a ladder of its own in its
``SearchHints``, as measured in docs/strength.md. ``PLAYER@LEVEL`` names a player at a level.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from tavolata.ai.player import (
    ITERATIONS_MAX,
    THINK_MS_MAX,
    Decision,
    Limits,
    Observation,
    Player,
)
from tavolata.ai.stop import Stop
from tavolata.ext.core.game import Game
from tavolata.ext.core.spec import GameSpec, Rung

if TYPE_CHECKING:
    from tavolata.ai.players import PlayerSpec

Number = TypeVar("Number", int, float)

NAMES = ("beginner", "easy", "standard", "strong", "expert", "master")  # of a ladder, weakest first
DEFAULT_LEVEL = "standard"
SEPARATOR = "@"  # between a player's name and a level's
TEMPERATURE = "temperature"  # the setting of players that have a ladder
LADDER = (  # of games without one of their own
    Rung(10, 1.0),
    Rung(30, 0.5),
    Rung(100),
    Rung(400),
    Rung(2_000),
    Rung(10_000),
)
_SHARES = (("easy", 1, 8), (DEFAULT_LEVEL, 1, 1), ("strong", 8, 1))


class UnknownLevel(ValueError):
    """The player has no level of this name."""

    def __init__(self, player: str, level: str, levels: tuple[str, ...]) -> None:
        super().__init__(
            f"the player {player!r} has no level {level!r}; it has: {', '.join(levels)}"
        )
        self.player, self.level, self.levels = player, level, levels


@dataclass(frozen=True, slots=True)
class Level:
    """What a player plays at: its limits, and settings by name."""

    limits: Limits
    settings: tuple[tuple[str, float], ...] = ()

    @property
    def temperature(self) -> float:
        """How freely it chooses; 0: always the best."""
        return dict(self.settings).get(TEMPERATURE, 0.0)


def level_names(player: PlayerSpec) -> tuple[str, ...]:
    """The levels of a player, weakest first; the same in every game."""
    if TEMPERATURE in player.settings:
        return NAMES
    if player.limits.iterations == 1:
        return (DEFAULT_LEVEL,)
    return tuple(name for name, _, _ in _SHARES)


def levels_of(player: PlayerSpec, game: GameSpec) -> dict[str, Level]:
    """The levels of a player in a game by name, weakest first.

    Players that do not search have one, their own limits. Those that search but choose no freer
    at a temperature have a lighter and a stronger one besides.
    """
    if TEMPERATURE in player.settings:
        rungs = game.search.levels or LADDER
        return {
            name: Level(
                replace(player.limits, iterations=rung.iterations, think_ms=None),
                ((TEMPERATURE, rung.temperature),),
            )
            for name, rung in zip(NAMES, rungs, strict=True)
        }
    if player.limits.iterations == 1:
        return {DEFAULT_LEVEL: Level(player.limits)}
    return {name: Level(_scaled(player.limits, times, over)) for name, times, over in _SHARES}


def _scaled(limits: Limits, times: int, over: int) -> Limits:
    iterations, think_ms = limits.iterations, limits.think_ms
    return replace(
        limits,
        iterations=None if iterations is None else max(1, iterations * times // over),
        think_ms=None if think_ms is None else max(1.0, think_ms * times / over),
    )


def at_level(player: PlayerSpec, name: str) -> PlayerSpec:
    """The player at a level, under the name PLAYER@LEVEL. UnknownLevel if it has none of the name.

    Its limits are no limits of the level but what it may spend at most: the level's own hold in
    every game.
    """
    names = level_names(player)
    if name not in names:
        raise UnknownLevel(player.name, name, names)
    return replace(
        player,
        name=player.name + SEPARATOR + name,
        description=f"{player.name} at the level {name}",
        limits=beyond(player.limits),
        make=partial(LevelPlayer, player=player, level=name),
        settings=tuple(setting for setting in player.settings if setting != TEMPERATURE),
    )


def beyond(limits: Limits) -> Limits:
    """Limits of the same kind that no level reaches."""
    if limits.iterations is None:
        return replace(limits, think_ms=THINK_MS_MAX)
    return replace(limits, iterations=ITERATIONS_MAX)


class LevelPlayer:
    """A player at one of its levels, whatever more it is allowed."""

    def __init__(self, game: Game, *, player: PlayerSpec, level: str, **settings: float) -> None:
        self.level = levels_of(player, game.spec)[level]
        make: Callable[..., Player] = player.make
        self._player = make(game, **dict(self.level.settings), **settings)

    def decide(
        self, observation: Observation, limits: Limits, *, seed: int, stop: Stop
    ) -> Decision:
        """See ``Player``: within the level's limits and those given."""
        return self._player.decide(
            observation, within(limits, self.level.limits), seed=seed, stop=stop
        )


def within(most: Limits, limits: Limits) -> Limits:
    """Limits, none of them above ``most``."""
    return replace(
        limits,
        iterations=_least(limits.iterations, most.iterations),
        think_ms=_least(limits.think_ms, most.think_ms),
        nodes=min(limits.nodes, most.nodes),
        threads=most.threads,
    )


def _least(one: Number | None, other: Number | None) -> Number | None:
    return min((each for each in (one, other) if each is not None), default=None)
