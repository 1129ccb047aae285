"""What the terminal client needs to know of a game, and where it finds it.

A game's screen is the module `games/<game id>.py` with the functions of `Screen`. The client finds
it by the game's id, so a new game needs its module and nothing else.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, cast, runtime_checkable

from tavolata.service.terminal.keys import Key
from tavolata.v1 import catalog_pb2, game_pb2, table_pb2, view_pb2

BOARD_COLUMNS = 78  # letters of the widest line of a drawing
_GAMES = "tavolata.service.terminal.games"


@dataclass(frozen=True, slots=True)
class Choice:
    """Something a seat might do: `name` reads well, `short` is quick to type, as are `also`.

    count: how many of these the seat holds, as equal ones are one choice. is_held: it is something
    the seat holds, so that telling the hand tells the choice. among: a sentence without its full
    stop that many choices share, with {} for what tells this one (`item`) from the others.
    """

    name: str
    short: str
    action: game_pb2.Action
    also: tuple[str, ...] = ()
    count: int = 1
    is_held: bool = True
    among: str = ""
    item: str = ""

    def called(self, text: str) -> bool:
        """Whether the text is the choice's name in full."""
        return text.casefold() in map(str.casefold, (self.name, self.short, *self.also))

    def meant(self, text: str) -> bool:
        """Whether each word of the text begins a word of one of the names, in order.

        A number has to be there as it is: chair 2 is not chair 27.
        """
        parts = text.casefold().split()
        return any(_begin(parts, each) for each in (self.name, self.short, *self.also))


def _begin(parts: Sequence[str], name: str) -> bool:
    words = iter(name.casefold().split())
    return all(
        any(
            word.strip(",;:") == part if part.isdecimal() else word.startswith(part)
            for word in words
        )
        for part in parts
    )


@dataclass(frozen=True, slots=True)
class Room:
    """Who is there and what is played, for those who put things into words.

    me: the reader's seat; None: a spectator. rules: by number, as plain sentences.
    """

    game: catalog_pb2.Game
    table: table_pb2.Table
    me: int | None
    rules: Mapping[str, str]

    @property
    def options(self) -> game_pb2.GameOptions:
        return self.table.settings.options

    def who(self, seat: int) -> str:
        """`you`, the name of a person, or `AI 2`; the seat too where a name stands twice."""
        if seat == self.me:
            return "you"
        name = _name(self.table.seats[seat], seat)
        twins = [each for each in self.table.seats if _name(each, each.seat) == name]
        return name if len(twins) == 1 and name != "you" else f"{name} (seat {seat})"

    def Who(self, seat: int) -> str:  # noqa: N802 - `who` at the beginning of a sentence
        """`who` at the beginning of a sentence."""
        return "You" if seat == self.me else self.who(seat)

    def whose(self, seat: int) -> str:
        """`your` or the possessive of the name."""
        return "your" if seat == self.me else f"{self.who(seat)}'s"

    def each(self, values: Sequence[object]) -> str:
        """`you 3, AI 1 0, AI 2 1`: one value a seat."""
        return ", ".join(f"{self.who(seat)} {value}" for seat, value in enumerate(values))


def _name(seat: table_pb2.Seat, number: int) -> str:
    which = seat.occupant.WhichOneof("occupant")
    if which == "ai":
        return f"AI {number}"
    return seat.occupant.person.display_name or f"seat {number}"


class Screen(Protocol):
    """A game in words. Every function returns whole sentences; empty: nothing to say."""

    def happened(self, event: game_pb2.GameEvent, room: Room) -> str:
        """What an event tells the people at the table."""

    def step(self, event: game_pb2.GameEvent, room: Room) -> str:
        """The same at a glance, if it is a step of a trick: `AI 2 Q♣`."""

    def ends_trick(self, event: game_pb2.GameEvent) -> bool:
        """Whether a trick, or a set of simultaneous choices, is complete with it."""

    def task(self, view: view_pb2.View) -> str:
        """What the seats to act have to do, such as `play a card`."""

    def ask(self, view: view_pb2.View, room: Room) -> str:
        """What the reader, whose turn it is, needs to hear beside what it holds."""

    def choices(self, view: view_pb2.View, room: Room) -> Sequence[Choice]:
        """What the reader might choose, in the order in which it is numbered, legal or not."""

    def holding(self, view: view_pb2.View, room: Room) -> str:
        """What the reader holds."""

    def on_table(self, view: view_pb2.View, room: Room) -> str:
        """BO-20, key C: what lies on the table; if nothing, the last trick and its taker."""

    def on_table_at(self, view: view_pb2.View, place: int, room: Room) -> str:
        """BO-20, keys 1-9: what lies at this place of the table, from 1."""

    def led(self, view: view_pb2.View, room: Room) -> str:
        """BO-20, key F: what is to be followed."""

    def rules_now(self, view: view_pb2.View, room: Room) -> str:
        """BO-20, key R: the rules of the round in progress with all that was drawn for it."""

    def standing(self, view: view_pb2.View, room: Room) -> str:
        """BO-20, key S: how the round in progress stands; the totals are told beside it."""

    def last_trick(self, view: view_pb2.View, room: Room) -> str:
        """The last complete trick and its taker; empty in a game without tricks."""


@runtime_checkable
class Drawn(Protocol):
    """What the screen of a game with a board has besides."""

    def drawing(self, view: view_pb2.View) -> str:
        """The board in lines of BOARD_COLUMNS letters at most."""

    def legend(self, view: view_pb2.View) -> str:
        """What the drawing shows, in words."""


@runtime_checkable
class Explained(Protocol):
    """What the screen of a game has besides in which some keys tell something of their own."""

    HELP: Mapping[Key, str]


def help_of(screen: Screen) -> Mapping[Key, str]:
    """What a game says of keys in place of the usual; empty if nothing."""
    return screen.HELP if isinstance(screen, Explained) else {}


class UnknownScreen(LookupError):
    """The terminal client can't show this game."""


def screen_of(game_id: str) -> Screen:
    """The screen of a game; UnknownScreen if there is no module for it."""
    name = f"{_GAMES}.{game_id}"
    try:
        return cast("Screen", importlib.import_module(name))
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise UnknownScreen(f"the terminal client has no screen for {game_id!r}") from None
