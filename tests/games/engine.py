"""The compiled rules with the face of a reference model, so that both can be asked the same things.

Actions, cards and dice are text, views and events are dicts with the keys of the decisions page
(docs/decisions/0001). What a game is called and what its items are called comes from its own face.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache

from tavolata.ext.core.errors import IllegalAction, RulesError, SettingError
from tavolata.ext.core.game import Game
from tavolata.ext.core.match import Match
from tavolata.ext.core.records import ChanceOutcome, NumberedEvent
from tavolata.ext.core.spec import OptionValue
from tavolata.ext.registry import game_spec
from tests.reference.chance import Key, Outcome, Script
from tests.reference.model import BadOption, IllegalMove

Shown = dict[str, object]
RESERVED = {"from_seat": "from", "to_seat": "to"}
"""Fields whose names on the decisions page Python keeps for itself, and their partners."""


def make_game(game: str, seats: int, options: Mapping[str, object]) -> Game:
    """The rules of a table; BadOption where the spec refuses it (G-1)."""
    values: dict[str, OptionValue] = {}
    for name, value in options.items():
        assert isinstance(value, bool | int | str)
        values[name] = value
    try:
        return game_spec(game).make(seats, values)
    except SettingError as refusal:
        raise BadOption(refusal.name, _allowed_values(refusal.allowed)) from refusal


def _allowed_values(words: str) -> list[object]:
    """What a refusal says is allowed, as values; of a combination without the reason."""
    words = words.partition(", as ")[0]
    span = re.fullmatch(r"(\d+) to (\d+)", words)
    if span:
        return list(range(int(span[1]), int(span[2]) + 1))
    booleans: dict[str, object] = {"true": True, "false": False}
    return [int(word) if word.isdigit() else booleans.get(word, word) for word in words.split(", ")]


class FastEngine:
    """A match of the compiled rules; see `tests.reference.model.Model` for every method."""

    def __init__(self, match: Match) -> None:
        self.match = match
        self.game = match.game
        self.seats = match.game.seat_count
        self._whole: list[NumberedEvent] = []

    @property
    def turn(self) -> int:
        return self.match.turn

    @property
    def over(self) -> bool:
        return self.match.over

    @property
    def outcomes(self) -> list[Outcome]:
        return [
            Outcome(
                entry.purpose,
                entry.round,
                entry.index,
                entry.values[0] if entry.choices else entry.items,
            )
            for entry in self.match.entries()
            if isinstance(entry, ChanceOutcome)
        ]

    def to_act(self) -> set[int]:
        return set(self.match.to_act)

    def legal(self, seat: int) -> list[str]:
        return [self.game.action_name(action) for action in self.match.legal(seat)]

    def play(self, seat: int, action: str) -> None:
        try:
            number = self.game.action_number(action)
        except ValueError as refusal:
            raise IllegalMove("G-2", str(refusal)) from refusal
        try:
            self.match.play(seat, number)
        except IllegalAction as refusal:
            raise IllegalMove(refusal.rule, refusal.text) from refusal
        except RulesError as refusal:
            raise IllegalMove("G-2", str(refusal)) from refusal

    def totals(self) -> list[int]:
        return list(self.match.totals())

    def running_points(self) -> list[int]:
        return list(self.match.running_points())

    def placement(self) -> list[int]:
        return list(self.match.placement())

    def utility(self) -> list[float]:
        """The placement utility, without the score difference folded into it.

        Placement utilities are multiples of 1/(2(n-1)), the fold is below 1/(4n): the nearest
        multiple is the placement's.
        """
        steps = 2 * (self.seats - 1)
        return [round(value * steps) / steps for value in self.match.utility()]

    def view(self, viewer: int) -> Shown:
        return shown_view(self.game, self.match.view(viewer), viewer)

    def events(self, viewer: int, after: int = 0) -> list[Shown]:
        if len(self._whole) != self.match.event_count:
            self._whole = self.match.full_events()
        return [
            shown_event(entry, self._whole[entry.number - 1])
            for entry in self.match.events(viewer, after)
        ]

    def copy(self) -> FastEngine:
        return FastEngine(self.match.copy())


def new_fast(
    game: str,
    seats: int,
    options: Mapping[str, object],
    seed: bytes = bytes(32),
    script: Script | None = None,
) -> FastEngine:
    """A match of the compiled rules at its first decision; BadOption if it is refused (G-1)."""
    rules = make_game(game, seats, options)
    return FastEngine(Match(rules, seed, script=coded_script(rules, script or {})))


def coded_script(game: Game, script: Script) -> dict[Key, int | list[int]]:
    """A script with item names as one with the rules' item codes."""
    coded: dict[Key, int | list[int]] = {}
    for (purpose, round_number, index), outcome in script.items():
        if isinstance(outcome, int):
            coded[purpose, round_number, index] = outcome
        else:
            codes = item_codes(game.spec.id, purpose)
            coded[purpose, round_number, index] = [codes[name] for name in outcome]
    return coded


@cache
def item_codes(game: str, purpose: str) -> dict[str, int]:
    """The code of every item that a shuffle of this purpose can hold, by name, at any table."""
    rules = make_game(game, game_spec(game).seats_usual, {})
    number = rules.purposes.index(purpose)
    codes: dict[str, int] = {}
    for code in range(256):
        try:
            codes[rules.chance_item(number, code)] = code
        except (IndexError, KeyError, ValueError):
            continue
    return codes


def shown_view(game: Game, view: bytes, viewer: int) -> Shown:
    """A view with the keys of the decisions page, tuples as lists."""
    return _shown_fields(game.view(view, viewer))


def shown_event(entry: NumberedEvent, whole: NumberedEvent) -> Shown:
    """An event by its name with its fields; a secret part that is not shown is left out.

    whole: the event with its secrets, which tells what is hidden from what is none.
    """
    name = re.sub(r"(?<!^)(?=[A-Z])", "_", type(entry.event).__name__).lower()
    everything = _shown_fields(whole.event)
    known = {
        key: value
        for key, value in _shown_fields(entry.event).items()
        if value is not None or everything[key] is None
    }
    return {"event": name, **known}


@cache
def _field_names(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


def _shown_fields(value: object) -> Shown:
    assert is_dataclass(value), f"{value!r} is no dataclass"
    assert not isinstance(value, type)
    return {
        RESERVED.get(name, name): _as_lists(getattr(value, name))
        for name in _field_names(type(value))
    }


def _as_lists(value: object) -> object:
    if is_dataclass(value):
        return _shown_fields(value)
    return [_as_lists(item) for item in value] if isinstance(value, tuple | list) else value
