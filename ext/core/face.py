"""The face of a game: what people and programs outside the rules see of it.

Plain Python over the unpacked state struct. Nothing here decides what is legal.
"""

from __future__ import annotations

from typing import Any, Protocol

from tavolata.ext.core.errors import Refusal

State = dict[str, Any]  # the fields of a game's state struct


class Face(Protocol):
    """Names, notation, typed views and events of one game at one table."""

    def action_name(self, action: int) -> str:
        """The action as text, like ``play QC``."""

    def action_number(self, name: str) -> int:
        """The number of an action given as text; ValueError says what is allowed."""

    def why_illegal(self, state: State, seat: int, action: int) -> Refusal:
        """The rule that forbids an action that is not legal."""

    def view(self, state: State, viewer: int) -> object:
        """The game's frozen View of a blanked state."""

    def event(self, kind: int, public: tuple[int, ...], secret: tuple[int, ...] | None) -> object:
        """The game's frozen event; ``secret`` is None for those who may not see it."""

    def format_state(self, state: State) -> str:
        """The position as one line of text."""

    def parse_state(self, text: str) -> State:
        """The position from its line; ValueError says what is wrong with it."""

    def chance_item(self, purpose: int, item: int) -> str:
        """The name of an item in a shuffle of this purpose."""
