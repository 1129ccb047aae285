"""Choosing what to play: finding what was meant, and telling what there is to choose from."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import zip_longest

from tavolata.service.terminal.screen import Choice, Room, Screen
from tavolata.service.terminal.words import listed
from tavolata.v1 import view_pb2

_MANY = 4  # choices, beyond which they are told by what they have in common
TOO_MANY = 12  # to be told unasked


class NotFound(LookupError):
    """The text means none of the choices, or more than one; says what to do."""


class Choosing:
    """The choices of one seat in a game."""

    def __init__(self, screen: Screen) -> None:
        self.chosen: Choice | None = None
        self._screen = screen

    def begin_turn(self, view: view_pb2.View, room: Room) -> None:
        """Choose what is the only thing allowed; what was chosen ahead stays if it is allowed."""
        legal = [choice for _, choice in self._marked(view, room)[0]]
        if len(legal) == 1:
            self.chosen = legal[0]
        elif self.chosen not in legal:
            self.chosen = None

    def find(self, text: str, view: view_pb2.View, room: Room) -> Choice:
        """The choice that is meant: by `#` and its number, its name, or the beginnings of words.

        Raises NotFound. What is allowed comes before what is not, if a text fits both.
        """
        choices = self._screen.choices(view, room)
        found: list[Choice] = []
        if text.startswith("#"):
            place = text[1:].strip()
            if place.isdecimal() and 1 <= int(place) <= len(choices):
                found = [choices[int(place) - 1]]
        else:
            found = [choice for choice in choices if choice.called(text)]
            found = found or [choice for choice in choices if choice.meant(text)]
        if len(found) > 1:
            found = [each for each in found if each.action in view.legal_actions] or found
        if len(found) > TOO_MANY:
            raise NotFound(f"{text!r} fits {len(found)} choices, {found[0].name} for one. L lists.")
        if len(found) > 1:
            raise NotFound(f"Which one: {_several(found)}?")
        if not found:
            raise NotFound(f"There is no choice {text!r}. L lists them; ? explains the keys.")
        return found[0]

    def is_name(self, text: str, view: view_pb2.View, room: Room) -> bool:
        """Whether a choice is called so in full."""
        return any(choice.called(text) for choice in self._screen.choices(view, room))

    def forbidden(self, view: view_pb2.View, room: Room) -> list[Choice]:
        """What is not allowed now."""
        return [choice for _, choice in self._marked(view, room)[1]]

    def needs_hand(self, view: view_pb2.View, room: Room) -> bool:
        """Whether what one holds is to be told with the choices: they don't tell it, or all of it.

        They don't where they are about something else, and all of it is allowed where nothing is
        forbidden.
        """
        legal, other = self._marked(view, room)
        return not all(choice.is_held for _, choice in legal) or (len(legal) > 1 and not other)

    def may(self, view: view_pb2.View, room: Room) -> str:
        """What can be chosen now, in a sentence."""
        legal, other = self._marked(view, room)
        if len(legal) == 1:
            return f"You can only choose {legal[0][1].name}. Press Enter."
        ahead = f"You have chosen {self.chosen.name}. " if self.chosen is not None else ""
        if not other and len(legal) > _MANY and all(choice.is_held for _, choice in legal):
            return f"{ahead}Any may be chosen."
        if len(legal) > TOO_MANY:
            return f"{ahead}There are {len(legal)} things to choose from; L lists them."
        return f"{ahead}Choose: {_items(legal)}."

    def listing(self, view: view_pb2.View, room: Room) -> str:
        """What the seat holds, numbered; what is not allowed now comes last.

        Choices that share a sentence have a line for each sentence, and no numbers.
        """
        holding = self._screen.holding(view, room)
        if not view.legal_actions:
            return holding
        legal, other = self._marked(view, room)
        task = self._screen.task(view)
        if any(choice.among for _, choice in legal):
            told = clauses((each for _, each in legal), (_item(*each) for each in legal))
            lines = [f"{holding} You may {task}:", *(f"{each}." for each in told)]
            why = _others(len(other))
            return "\n".join([*lines, why] if other else lines)
        rest = f" Not allowed now: {_items(other)}." if other else ""
        if len(other) > TOO_MANY:
            rest = f" {_others(len(other))}"
        return f"{holding} You may {task}: {_items(legal)}.{rest}"

    def _marked(
        self, view: view_pb2.View, room: Room
    ) -> tuple[list[tuple[int, Choice]], list[tuple[int, Choice]]]:
        """The choices that are allowed and those that are not, with their numbers."""
        legal: list[tuple[int, Choice]] = []
        other: list[tuple[int, Choice]] = []
        for place, choice in enumerate(self._screen.choices(view, room), 1):
            (legal if choice.action in view.legal_actions else other).append((place, choice))
        return legal, other


def clauses(choices: Iterable[Choice], names: Iterable[str] = ()) -> list[str]:
    """`Cuba man on chair 31, 36 or 37`: one for all that differ in one item only, or the name.

    names: instead of the choices' own.
    """
    told: dict[str, list[str]] = {}
    for choice, name in zip_longest(choices, names):
        told.setdefault(choice.among or name or choice.name, []).append(choice.item)
    return [clause.format(listed(items, "or")) for clause, items in told.items()]


def _others(count: int) -> str:
    others = "1 other is" if count == 1 else f"{count} others are"
    return f"{others} not allowed now; W and a name says why."


def _several(choices: list[Choice]) -> str:
    """The clauses with `or`, set apart by semicolons if there are commas in them."""
    told = clauses(choices)
    if any("," in each for each in told):
        return "; ".join([*told[:-1], f"or {told[-1]}"]) if len(told) > 1 else told[0]
    return listed(told, "or")


def _items(numbered: list[tuple[int, Choice]]) -> str:
    return "; ".join(_item(place, choice) for place, choice in numbered)


def _item(place: int, choice: Choice) -> str:
    """A choice with the number that it can be chosen by, unless it is a number itself."""
    name = choice.name + (f" ({choice.count} of them)" if choice.count > 1 else "")
    return name if choice.short.isdecimal() else f"#{place} {name}"
