"""The players there are: built in, and from other packages by the entry point ``tavolata.players``.

An entry point names a factory ``(game: Game) -> Player``; its keyword-only parameters are the
player's settings, numbers with defaults. Players know no game: what they know of one comes through
the game interface.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from inspect import Parameter, signature

from tavolata.ai.baselines import InfosetUctPlayer, PimcPlayer
from tavolata.ai.basic import GreedyPlayer, RandomPlayer
from tavolata.ai.flat import FlatPlayer
from tavolata.ai.ismcts import IsmctsPlayer
from tavolata.ai.levels import SEPARATOR, at_level
from tavolata.ai.player import Limits, Player

ENTRY_POINT = "tavolata.players"


@dataclass(frozen=True, slots=True)
class PlayerSpec:
    """A player by its name, with the limits it plays at unless told otherwise.

    make: called with the game, and with settings by name where the player has any.
    """

    name: str
    description: str
    limits: Limits
    make: Callable[..., Player]
    settings: tuple[str, ...] = ()


BUILT_IN = (
    PlayerSpec("random", "any legal action", Limits(iterations=1), RandomPlayer),
    PlayerSpec("greedy", "the game's rule of thumb", Limits(iterations=1), GreedyPlayer),
    PlayerSpec(
        "flat",
        "compares actions by playouts, 4,000 of them",
        Limits(iterations=4_000),
        FlatPlayer,
        ("exploration",),
    ),
    PlayerSpec(
        "pimc",
        "determinized search: trees of 20 worlds with everything seen, 4,000 iterations together",
        Limits(iterations=4_000),
        PimcPlayer,
        ("exploration", "rule_playouts", "others_by_rule", "widening", "worlds"),
    ),
    PlayerSpec(
        "infoset_uct",
        "ISMCTS as OpenSpiel has it: UCT over information states, 4,000 iterations",
        Limits(iterations=4_000),
        InfosetUctPlayer,
        ("exploration", "whole_match"),
    ),
    PlayerSpec(
        "ismcts",
        "searches, 4,000 iterations",
        Limits(iterations=4_000),
        IsmctsPlayer,
        (
            "exploration",
            "rule_playouts",
            "others_by_rule",
            "per_observer",
            "widening",
            "belief",
            "slips",
            "temperature",
        ),
    ),
)
DEFAULT_PLAYER = "ismcts"


class UnknownPlayer(LookupError):
    """No player has this name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"there is no player {name!r}; there are: {', '.join(player_specs())}")
        self.name = name


def player_specs() -> dict[str, PlayerSpec]:
    """Every player by name; a built-in name can't be taken by another package."""
    specs = {entry.name: _from_package(entry) for entry in entry_points(group=ENTRY_POINT)}
    specs.update({spec.name: spec for spec in BUILT_IN})
    return specs


def _from_package(entry: EntryPoint) -> PlayerSpec:
    factory = entry.load()
    try:
        parameters = signature(factory).parameters.values()
    except ValueError:  # compiled without one
        parameters = {}.values()
    return PlayerSpec(
        entry.name,
        f"from {entry.value}",
        Limits(iterations=1_000),
        factory,
        tuple(each.name for each in parameters if each.kind is Parameter.KEYWORD_ONLY),
    )


def player_spec(name: str) -> PlayerSpec:
    """The player of this name, PLAYER or PLAYER@LEVEL; UnknownPlayer says which there are, and
    UnknownLevel which levels."""
    base, at, level = name.partition(SEPARATOR)
    if at:
        return at_level(player_spec(base), level)
    for spec in BUILT_IN:  # first, as a look at all that is installed takes milliseconds
        if spec.name == name:
            return spec
    try:
        return player_specs()[name]
    except KeyError:
        raise UnknownPlayer(name) from None
