"""What a game is called, how many play it, and which options it has. Loaded from ``seeds/``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tavolata.ext.core import seeds
from tavolata.ext.core.errors import (
    CombinationError,
    SeatCountError,
    SettingError,
    UnknownOption,
)

if TYPE_CHECKING:
    from tavolata.ext.core.game import Game

OptionValue = bool | int | str
Options = dict[str, OptionValue]


@dataclass(frozen=True, slots=True)
class OptionRefusal:
    """A value that is refused although the option allows it (G-1), and when."""

    value: OptionValue
    seats: tuple[int, ...]  # numbers of seats; empty: all
    others: Mapping[str, OptionValue]  # values of other options; empty: whatever they are
    text: str

    def applies(
        self, seat_count: int, value: OptionValue, values: Mapping[str, OptionValue]
    ) -> bool:
        """Whether it refuses `value` at a table with these seats and options."""
        return (
            value == self.value
            and (not self.seats or seat_count in self.seats)
            and all(values[name] == other for name, other in self.others.items())
        )


@dataclass(frozen=True, slots=True)
class OptionSpec:
    """One option: its values, its default, and the rule that it changes."""

    name: str
    type: str  # "bool", "int" or "enum"
    default: OptionValue
    values: tuple[OptionValue, ...]  # of an enum or a closed list of numbers, else empty
    minimum: int
    maximum: int
    rule: str
    description: str
    default_by_seats: Mapping[int, OptionValue] = field(default_factory=dict)
    seats_min: int | None = None  # without effect at tables with fewer seats
    seats_max: int | None = None  # without effect at tables with more
    refusals: tuple[OptionRefusal, ...] = ()

    def default_at(self, seat_count: int) -> OptionValue:
        """The default at a table with this number of seats."""
        return self.default_by_seats.get(seat_count, self.default)

    @property
    def allowed(self) -> str:
        """The allowed values in words, whatever seats and other options there are."""
        if self.type == "bool":
            return "true, false"
        if self.values:
            return ", ".join(str(value) for value in self.values)
        return f"{self.minimum} to {self.maximum}"

    def check(self, value: OptionValue) -> OptionValue:
        """The value itself; SettingError if it is not allowed (G-1)."""
        if self.type == "enum":
            fits = any(type(value) is type(known) and value == known for known in self.values)
        elif self.type == "int":
            fits = type(value) is int and self.minimum <= value <= self.maximum
        else:
            fits = type(value) is bool
        if not fits:
            raise SettingError(self.name, value, self.allowed)
        return value

    def check_combination(self, seat_count: int, values: Mapping[str, OptionValue]) -> None:
        """CombinationError if the seats or other options rule its value out (G-1).

        values: of all options of the game.
        """
        value = values[self.name]
        for refusal in self.refusals:
            if refusal.applies(seat_count, value, values):
                known = self.values or ((False, True) if self.type == "bool" else ())
                others = ", ".join(str(other).lower() for other in known if other != value)
                allowed = f"{others or self.allowed}, as {refusal.text}"
                raise CombinationError(self.name, value, allowed)


@dataclass(frozen=True, slots=True)
class Rung:
    """How well a search plays on purpose at one of the levels: its iterations, and how freely it
    chooses among the actions that it visited most (0: the first of them)."""

    iterations: int
    temperature: float = 0.0


@dataclass(frozen=True, slots=True)
class SearchHints:
    """How a search plays this game best unless told otherwise, as measured in docs/strength.md.

    exploration: c of UCB in standard deviations of the seat's utility; rule_playouts: play out by
    the rule of thumb, not at random; others_by_rule: at simultaneous decisions other seats
    follow the rule of thumb; widening: slow widening of the tree (0: none); observed_events: where
    some don't see every action, the kinds of events (0 to 31) by which a seat tells positions
    apart. What else happens is averaged over. Empty: everybody sees every action; levels: the
    ladder of a searching player, weakest first, a rung for each name in ``ai.levels``. Empty: the
    one there.
    """

    exploration: float = 1.0
    rule_playouts: bool = False
    others_by_rule: bool = True
    widening: float = 0.0
    observed_events: tuple[int, ...] = ()
    levels: tuple[Rung, ...] = ()


def _nothing_refused(seat_count: int, options: Options) -> None:
    """For games in which every combination may be played."""


@dataclass(frozen=True, slots=True)
class GameSpec:
    """A game by its id, and the one way to make its rules for a table."""

    id: str
    name: str
    seats_min: int
    seats_max: int
    seats_usual: int
    rules_version: str
    options: tuple[OptionSpec, ...]
    build: Callable[[GameSpec, int, Options], Game]
    check: Callable[[int, Options], None] = _nothing_refused
    search: SearchHints = SearchHints()
    low_wins: bool = False
    hides_single_actions: bool = False  # whether a seat has a choice is secret: think in any case
    summary: str = ""  # what the game is, in a sentence or two for people

    def complete(self, seat_count: int, options: Mapping[str, OptionValue]) -> Options:
        """All options with their values; SettingError names what is refused (G-1)."""
        if not self.seats_min <= seat_count <= self.seats_max:
            raise SeatCountError("seats", seat_count, f"{self.seats_min} to {self.seats_max}")
        known = {option.name: option for option in self.options}
        for name in options:
            if name not in known:
                raise UnknownOption(name, options[name], ", ".join(known) or "no option")
        values = {
            name: option.check(options.get(name, option.default_at(seat_count)))
            for name, option in known.items()
        }
        for option in self.options:
            option.check_combination(seat_count, values)
        self.check(seat_count, values)
        return values

    def make(self, seat_count: int, options: Mapping[str, OptionValue] | None = None) -> Game:
        """The rules for a table with these seats and options; SettingError as ``complete``."""
        return self.build(self, seat_count, self.complete(seat_count, options or {}))


def options_of(game_id: str) -> tuple[OptionSpec, ...]:
    """The options of a game from its ``options.json``."""
    return tuple(_option(row) for row in seeds.load_json(game_id, "options"))


def _option(row: Mapping[str, Any]) -> OptionSpec:
    return OptionSpec(
        name=row["name"],
        type=row["type"],
        default=row["default"],
        values=tuple(row.get("values", ())),
        minimum=row.get("min", 0),
        maximum=row.get("max", 0),
        rule=row["rule"],
        description=row["description"],
        default_by_seats={int(n): value for n, value in row.get("default_by_seats", {}).items()},
        seats_min=row.get("min_seats"),
        seats_max=row.get("max_seats"),
        refusals=tuple(
            OptionRefusal(
                refused["value"],
                tuple(refused.get("seats", ())),
                refused.get("with", {}),
                refused["text"],
            )
            for refused in row.get("refused", ())
        ),
    )
