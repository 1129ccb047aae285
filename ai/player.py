"""What a player is: an observation in, a decision out, nothing kept in between.

The observation holds all of the position that a player ever gets: the blanked state and the seat's
own events of the round. The same observation, iteration limit and seed give the same decision.
"""

from __future__ import annotations

import array
from dataclasses import dataclass
from typing import Protocol

from tavolata.ai.stop import Stop
from tavolata.ext.core.game import Game
from tavolata.ext.core.match import Match

ITERATIONS_MAX, THINK_MS_MAX = 1_000_000_000, 3_600_000


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a player may think. A search ends at the first limit it reaches.

    iterations: playouts of the search; think_ms: wall time in milliseconds; nodes: tree nodes of
    32 bytes, beyond which the tree stops growing and the search goes on; threads: trees that
    are searched side by side and merged at the root.
    """

    iterations: int | None = None
    think_ms: float | None = None
    nodes: int = 1_000_000
    threads: int = 1

    def __post_init__(self) -> None:
        if self.iterations is None and self.think_ms is None:
            raise ValueError("limits need iterations or think_ms, or a turn might never end")
        if self.iterations is not None and not 1 <= self.iterations <= ITERATIONS_MAX:
            raise ValueError(f"iterations is {self.iterations}; allowed: 1 to {ITERATIONS_MAX}")
        if self.think_ms is not None and not 0 < self.think_ms <= THINK_MS_MAX:
            raise ValueError(f"think_ms is {self.think_ms}; allowed: above 0 to {THINK_MS_MAX}")
        if not 1_000 <= self.nodes <= 100_000_000:
            raise ValueError(f"nodes is {self.nodes}; allowed: 1000 to 100000000")
        if not 1 <= self.threads <= 64:
            raise ValueError(f"threads is {self.threads}; allowed: 1 to 64")


@dataclass(frozen=True, slots=True)
class Observation:
    """What one seat knows when it is to decide."""

    game: Game
    seat: int
    turn: int
    view_bytes: bytes  # the blanked state
    legal_actions: tuple[int, ...]  # ascending
    event_words: bytes  # the seat's events of this round, as Match.event_words gives them

    @property
    def view(self) -> object:
        """The position as the game's typed View."""
        return self.game.view(self.view_bytes, self.seat)

    @property
    def events(self) -> tuple[object, ...]:
        """The seat's events of the round, typed; hidden parts are None."""
        words = array.array("i", self.event_words)
        events: list[object] = []
        at = 0
        while at < len(words):
            size, kind, seen, public = words[at : at + 4]
            shown = tuple(words[at + 4 : at + 4 + public])
            secret = tuple(words[at + 4 + public : at + size]) if seen else None
            events.append(self.game.event(kind, shown, secret))
            at += size
        return tuple(events)

    def action_name(self, action: int) -> str:
        """The name of an action, like ``play QC``."""
        return self.game.action_name(action)


@dataclass(frozen=True, slots=True)
class ActionStatistics:
    """What a search found out about one action at the root."""

    action: int
    visits: int
    availability: int  # iterations in whose world the action could be taken
    share: (
        float  # of the final strategy: visits, or the average strategy of a simultaneous decision
    )
    mean: float  # utility of the seat, 0 to 1
    half_width: float  # of the 95 % interval of the mean; 0.5 (all values) below two visits
    utilities: tuple[float, ...]  # mean utility of every seat
    scores: tuple[float, ...]  # mean total of every seat at the horizon


@dataclass(frozen=True, slots=True)
class Decision:
    """An action and how it was found."""

    action: int
    iterations: int = 0
    nodes: int = 0
    elapsed_ms: float = 0.0
    statistics: tuple[ActionStatistics, ...] = ()


class Player(Protocol):
    """Anything that can fill a seat."""

    def decide(
        self, observation: Observation, limits: Limits, *, seed: int, stop: Stop
    ) -> Decision:
        """Pick one of ``observation.legal_actions``.

        seed: 64 bits of randomness for this decision; stop: set by the caller to end a search
        early. Must return within the limits and must not keep anything for the next call.
        """


def observe(match: Match, seat: int) -> Observation:
    """The observation of a seat that is to act; ValueError for any other."""
    legal = match.legal(seat)
    if not legal:
        raise ValueError(f"seat {seat} is not to act at turn {match.turn}")
    return Observation(
        game=match.game,
        seat=seat,
        turn=match.turn,
        view_bytes=match.view(seat),
        legal_actions=legal,
        event_words=match.event_words(seat, match.round_start),
    )
