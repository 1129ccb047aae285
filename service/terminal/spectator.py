"""A table that one only looks at: what happens there, and the keys that ask."""

from __future__ import annotations

from tavolata.service.terminal.keys import Key, Line
from tavolata.service.terminal.session import Session
from tavolata.service.terminal.telling import scores_told, turn_told
from tavolata.v1 import view_pb2

_ASKING = frozenset(
    {
        Key.TABLE,
        Key.DRAW,
        Key.LED,
        Key.RULES,
        Key.SCORES,
        Key.TURN,
        Key.BEFORE,
        Key.WHO,
        Key.AGAIN,
        Key.SAVE,
        Key.REVIEW,
        Key.HELP,
    }
)


class Spectator(Session):
    """What everybody may see of a table; its seat has neither number nor token."""

    async def _do(self, line: Line) -> None:
        view = self.view
        if line.key is Key.LEAVE:
            self.gone = True  # nobody has to play in a spectator's place
        elif line.key in _ASKING:
            await super()._do(line)
        elif view is None:
            self._voice.say(self._waiting())
        elif line.key is Key.ENTER:
            self._voice.say(turn_told(view, self.screen, self.room))
        elif line.text.isdecimal():
            self._voice.say(self.screen.on_table_at(view, max(int(line.text), 1), self.room))
        else:
            self._voice.say("You are watching, so there is nothing to choose. ? explains the keys.")

    def _standing(self, view: view_pb2.View) -> str:
        low_wins = self._game.low_wins
        return (
            f"You are watching. {self.screen.on_table(view, self.room)} "
            f"{scores_told(view, self.screen, self.room, low_wins)}"
        )

    def _help(self) -> str:
        return f"You are watching: what chooses or plays does nothing.\n{super()._help()}"
