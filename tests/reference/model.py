"""What every reference model offers, and the parts of the README that all games share.

The README's rules: G-1 (options), G-2 (refusals), placement, utility, secrecy of events.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol, Self

from tests.reference.chance import Outcome

SPECTATOR = -1


class IllegalMove(Exception):
    """An action refused under G-2; `rule_id` names the rule, and nothing has changed."""

    def __init__(self, rule_id: str, text: str) -> None:
        super().__init__(f"{rule_id}: {text}")
        self.rule_id = rule_id
        self.text = text


class BadOption(Exception):
    """A table refused under G-1; `name` is the option, `allowed` the values it may have.

    A wrong number of seats has the name `seats`. For an unknown option, `allowed` is the list
    of the options that there are.
    """

    def __init__(self, name: str, allowed: Iterable[object]) -> None:
        self.name = name
        self.allowed = list(allowed)
        super().__init__(f"{name}: allowed are {', '.join(map(str, self.allowed))}")


class Model(Protocol):
    """A match of one game, played by the rules document, with everything in plain sight.

    Models are made by `Model(seats, options, seed)` or `Model.with_deal(seats, options, script)`.
    """

    @property
    def seats(self) -> int:
        """Number of seats."""

    @property
    def turn(self) -> int:
        """Number of the decision point, from 0; a simultaneous decision is one."""

    @property
    def over(self) -> bool:
        """Whether the match has ended."""

    @property
    def outcomes(self) -> list[Outcome]:
        """Every chance outcome so far."""

    def to_act(self) -> set[int]:
        """Seats that have to choose now; empty at the end."""

    def legal(self, seat: int) -> list[str]:
        """Names of the seat's legal actions in action-number order; empty if not to act."""

    def play(self, seat: int, action: str) -> None:
        """Carry out an action; raises IllegalMove and changes nothing if refused (G-2)."""

    def totals(self) -> list[int]:
        """Points of the finished rounds, a seat."""

    def running_points(self) -> list[int]:
        """Points of the round in progress before end-of-round effects, a seat."""

    def placement(self) -> list[int]:
        """Competition ranking of the totals, a seat."""

    def utility(self) -> list[float]:
        """Placement utility 0..1 a seat; only at the end."""

    def view(self, viewer: int) -> dict[str, object]:
        """The position as the viewer (a seat, or SPECTATOR) may see it."""

    def events(self, viewer: int) -> list[dict[str, object]]:
        """Every event of the match so far, with the secret parts the viewer may see."""

    def copy(self) -> Self:
        """A match in the same position that goes its own way."""


def checked_options(
    given: Mapping[str, object], known: Mapping[str, Sequence[object]]
) -> dict[str, object]:
    """All options with their values, the first allowed value being the default; G-1."""
    for name, value in given.items():
        if name not in known:
            raise BadOption(name, known)
        # 1 == True in Python, but a number is no boolean.
        if not any(type(value) is type(right) and value == right for right in known[name]):
            raise BadOption(name, known[name])
    return {name: given.get(name, allowed[0]) for name, allowed in known.items()}


def checked_seats(seats: int, allowed: range) -> int:
    """The number of seats; G-1."""
    if type(seats) is not int or seats not in allowed:
        raise BadOption("seats", allowed)
    return seats


def competition_ranking(scores: Sequence[int], *, high_wins: bool) -> list[int]:
    """Places 1, 2, 2, 4: one more than the number of seats that did better."""
    places = []
    for mine in scores:
        better = [other for other in scores if (other > mine if high_wins else other < mine)]
        places.append(1 + len(better))
    return places


def placement_utility(places: Sequence[int]) -> list[float]:
    """(n - p) / (n - 1), p being the mean of the places the seat's tied group occupies."""
    n = len(places)
    utilities = []
    for place in places:
        tied = places.count(place)
        occupied = range(place, place + tied)
        mean_place = sum(occupied) / tied
        utilities.append((n - mean_place) / (n - 1))
    return utilities


class Event(NamedTuple):
    """An event: its public part, its secret part and the viewers of the secret part."""

    name: str
    public: dict[str, object]
    secret: dict[str, object]
    viewers: frozenset[int]


class EventLog:
    """Every event of a match in order; each viewer gets all of them (README, Secrecy)."""

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self._events = list(events)

    def add(
        self,
        name: str,
        public: dict[str, object],
        secret: dict[str, object] | None = None,
        viewers: Iterable[int] = (),
    ) -> None:
        self._events.append(Event(name, public, secret or {}, frozenset(viewers)))

    def seen_by(self, viewer: int) -> list[dict[str, object]]:
        seen = []
        for event in self._events:
            shown: dict[str, object] = {"event": event.name, **event.public}
            if viewer in event.viewers:
                shown.update(event.secret)
            seen.append({key: _fresh(value) for key, value in shown.items()})
        return seen

    def copy(self) -> EventLog:
        return EventLog(self._events)


def _fresh(value: object) -> object:
    """A list as a list of its own, so that no caller can change the log."""
    return list(value) if isinstance(value, list) else value
