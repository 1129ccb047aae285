"""Games by what people write of them; the same table always gives the same object."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from tavolata.ext.core.game import Game
from tavolata.ext.core.spec import OptionValue
from tavolata.ext.registry import game_spec


def game_of(game_id: str, seats: int, options: Mapping[str, OptionValue]) -> Game:
    """The rules for a table; UnknownGame and SettingError say what is wrong and what is allowed."""
    # The type of a value belongs to the key: True and 1 are equal, but one may be refused.
    return _made(
        game_id, seats, tuple((name, type(value), value) for name, value in options.items())
    )


@lru_cache(maxsize=256)
def _made(game_id: str, seats: int, options: tuple[tuple[str, type, OptionValue], ...]) -> Game:
    return game_spec(game_id).make(seats, {name: value for name, _, value in options})
