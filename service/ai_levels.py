"""The AI players with their levels: what an `AiPlayer` message means.

The levels themselves are in ``ai.levels``; a server may allow less than they have.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache, partial

from google.protobuf.duration_pb2 import Duration

from tavolata.ai.levels import DEFAULT_LEVEL, UnknownLevel, level_names, levels_of
from tavolata.ai.player import Limits
from tavolata.ai.players import DEFAULT_PLAYER, PlayerSpec, UnknownPlayer, player_specs
from tavolata.ext.core.spec import GameSpec
from tavolata.service.refusals import Refused, invalid_field, of_unknown_player
from tavolata.service.settings import Settings
from tavolata.v1.errors_pb2 import ErrorReason
from tavolata.v1.player_pb2 import AiPlayer, SearchLimits

NODES_UNASKED = 1_000_000  # of a search that somebody asks for without saying: 32 MB


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The most that a search may spend, whether a table asks for it or a level has it."""

    iterations: int = 1_000_000
    nodes: int = 4_000_000
    think_ms: int = 30_000


def ceiling_of(settings: Settings) -> Ceiling:
    """The most that a search may spend by the settings."""
    return Ceiling(settings.ai_iterations_max, settings.ai_nodes_max, settings.ai_think_ms_max)


@lru_cache(maxsize=1)
def players() -> dict[str, PlayerSpec]:
    """Every player by name; read once, as entry points are looked up on disk."""
    return player_specs()


def searches(spec: PlayerSpec) -> bool:
    """Whether a player spends iterations at all."""
    return spec.limits.iterations != 1


def within(ceiling: Ceiling, limits: Limits) -> Limits:
    """A level's limits, none of them above what the server allows, its time never open."""
    iterations, think_ms = limits.iterations, limits.think_ms
    return replace(
        limits,
        iterations=None if iterations is None else min(iterations, ceiling.iterations),
        think_ms=float(ceiling.think_ms) if think_ms is None else min(think_ms, ceiling.think_ms),
        nodes=min(limits.nodes, ceiling.nodes),
    )


def resolve(given: AiPlayer, ceiling: Ceiling, field: str) -> AiPlayer:
    """The player with name and level filled in. Refused with UNKNOWN_PLAYER or INVALID_FIELD."""
    name = given.player or DEFAULT_PLAYER
    spec = players().get(name)
    if spec is None:
        raise of_unknown_player(UnknownPlayer(name), level=given.level)
    names = level_names(spec)
    # Limits alone ask for the best within them.
    level = given.level or (names[-1] if given.HasField("limits") else DEFAULT_LEVEL)
    if level not in names:
        raise Refused(
            ErrorReason.ERROR_REASON_UNKNOWN_PLAYER,
            str(UnknownLevel(name, level, names)),
            {"player": name, "level": level, "allowed": list(names)},
        )
    made = AiPlayer(player=name, level=level)
    if given.HasField("limits"):
        _check_limits(given.limits, ceiling, f"{field}.limits")
        made.limits.CopyFrom(given.limits)
    return made


def check_nanos(field: str, given: Duration) -> None:
    """Refused with INVALID_FIELD if the nanoseconds of a time that can't be below zero are out of
    range: such a Duration can be received, but not written as JSON."""
    if not 0 <= given.nanos < 10**9:
        raise invalid_field(f"{field}.nanos", f"is {given.nanos}", f"0 to {10**9 - 1}")


def limits_asked(
    given: SearchLimits | None, iterations: int, ceiling: Ceiling, field: str
) -> Limits:
    """What a search may spend that somebody asks for: so many iterations if they don't say. Refused
    with INVALID_FIELD."""
    asked = SearchLimits(nodes=min(NODES_UNASKED, ceiling.nodes))
    if given is None:
        asked.iterations = min(iterations, ceiling.iterations)
    else:
        _check_limits(given, ceiling, field)
        asked.MergeFrom(given)
    return _given(asked, ceiling)


def _check_limits(limits: SearchLimits, ceiling: Ceiling, field: str) -> None:
    check_nanos(f"{field}.think_time", limits.think_time)
    think_ms = _milliseconds(limits)
    for name, value, least, most in (
        ("iterations", limits.iterations, 1, ceiling.iterations),
        ("nodes", limits.nodes, 1_000, ceiling.nodes),
        ("think_time", think_ms, 1, ceiling.think_ms),
    ):
        if limits.HasField(name) and not least <= value <= most:  # type: ignore[arg-type]
            unit = " ms" if name == "think_time" else ""
            raise invalid_field(
                f"{field}.{name}", f"is {value:g}{unit}", f"{least} to {most}{unit}"
            )
    if not limits.HasField("iterations") and not limits.HasField("think_time"):
        raise invalid_field(field, "has neither iterations nor think_time", "at least one of them")


def seated(
    player: AiPlayer, spec: PlayerSpec, game: GameSpec, ceiling: Ceiling
) -> tuple[PlayerSpec, Limits]:
    """What a resolved player plays with in a game: the player with its level's settings, and what
    it may spend on a decision; every limit is finite.

    A table that is taken up again may name a level that there was once; it goes on at the default.
    """
    levels = levels_of(spec, game)
    level = levels.get(player.level, levels[DEFAULT_LEVEL])
    settings = dict(level.settings)
    made = replace(spec, make=partial(spec.make, **settings)) if settings else spec
    return made, _limits_of(player, level.limits, ceiling)


def _limits_of(player: AiPlayer, of_level: Limits, ceiling: Ceiling) -> Limits:
    if not player.HasField("limits"):
        return within(ceiling, of_level)
    return _given(player.limits, ceiling)


def _given(given: SearchLimits, ceiling: Ceiling) -> Limits:
    return Limits(
        iterations=given.iterations if given.HasField("iterations") else None,
        think_ms=_milliseconds(given) if given.HasField("think_time") else ceiling.think_ms,
        nodes=given.nodes if given.HasField("nodes") else ceiling.nodes,
    )


def _milliseconds(limits: SearchLimits) -> float:
    return limits.think_time.ToNanoseconds() / 1e6
