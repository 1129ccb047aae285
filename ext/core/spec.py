"""What a game is called, how many play it, and which options it has. Loaded from ``seeds/``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tavolata.ext.core import seeds
from tavolata.ext.core.errors import SeatCountError, SettingError, UnknownOption

if TYPE_CHECKING:
    from tavolata.ext.core.game import Game

OptionValue = bool | int | str
Options = dict[str, OptionValue]


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

    @property
    def allowed(self) -> str:
        """The allowed values in words."""
        if self.type == "bool":
            return "true, false"
        if self.values:
            return ", ".join(str(value) for value in self.values)
        return f"{self.minimum} to {self.maximum}"

    def check(self, value: OptionValue) -> OptionValue:
        """The value itself; SettingError if it is not allowed (G-1)."""
        wanted = {"bool": bool, "int": int, "enum": str}[self.type]
        fits = type(value) is wanted
        if fits and self.values:
            fits = value in self.values
        elif fits and self.type == "int":
            fits = self.minimum <= int(value) <= self.maximum
        if not fits:
            raise SettingError(self.name, value, self.allowed)
        return value


@dataclass(frozen=True, slots=True)
class SearchHints:
    """How a search plays this game best unless told otherwise, as measured in docs/strength.md.

    exploration: c of UCB in standard deviations of the seat's utility; rule_playouts: play out by
    the rule of thumb, not at random; others_by_rule: at simultaneous decisions other seats
    follow the rule of thumb.
    """

    exploration: float = 1.0
    rule_playouts: bool = False
    others_by_rule: bool = True


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

    def complete(self, seat_count: int, options: Mapping[str, OptionValue]) -> Options:
        """All options with their values; SettingError names what is refused (G-1)."""
        if not self.seats_min <= seat_count <= self.seats_max:
            raise SeatCountError("seats", seat_count, f"{self.seats_min} to {self.seats_max}")
        known = {option.name: option for option in self.options}
        for name in options:
            if name not in known:
                raise UnknownOption(name, options[name], ", ".join(known) or "no option")
        values = {
            name: option.check(options.get(name, option.default)) for name, option in known.items()
        }
        self.check(seat_count, values)
        return values

    def make(self, seat_count: int, options: Mapping[str, OptionValue] | None = None) -> Game:
        """The rules for a table with these seats and options; SettingError as ``complete``."""
        return self.build(self, seat_count, self.complete(seat_count, options or {}))


def options_of(game_id: str) -> tuple[OptionSpec, ...]:
    """The options of a game from its ``options.json``."""
    return tuple(
        OptionSpec(
            name=row["name"],
            type=row["type"],
            default=row["default"],
            values=tuple(row.get("values", ())),
            minimum=row.get("min", 0),
            maximum=row.get("max", 0),
            rule=row["rule"],
            description=row["description"],
        )
        for row in seeds.load_json(game_id, "options")
    )
