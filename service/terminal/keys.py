"""The keys: what a typed line asks for. Those of BO-20 come first and mean the same everywhere."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Key(Enum):
    """What can be asked for; the values are what can be typed, the shortest first."""

    ENTER = ("",)
    TABLE = ("c", "table", "cards")
    DRAW = ("d", "draw", "board")
    LED = ("f", "follow", "led")
    RULES = ("r", "rules")
    SCORES = ("s", "scores")
    TURN = ("t", "turn")
    LIST = ("l", "list", "hand")
    PLAY = ("p", "play", "roll")
    WHY = ("w", "why")
    BEFORE = ("b", "before", "last")
    WHO = ("n", "names", "who")
    AGAIN = ("a", "again")
    LEAVE = ("q", "leave", "quit", "exit")
    RESIGN = ("resign",)
    SAVE = ("save",)
    HELP = ("?", "h", "help")


@dataclass(frozen=True, slots=True)
class Line:
    """A line taken apart. key None: a name, a number or nonsense, to be looked up."""

    text: str
    key: Key | None
    rest: str = ""


_WORDS = {word: key for key in Key for word in key.value}
# Words that take something after them; of all others a longer line is a name ("red", "c" in "2 c").
_WITH_REST = (Key.PLAY, Key.WHY, Key.SAVE, Key.RULES)

HELP = """\
Keys; each is typed with Enter after it, small or capital.
Enter alone: start the match, or play what you have chosen.
C: what is on the table; if nothing is, the last trick and who took it.
1 to 9: the card or die on the table with that number. While bids are open: that bid.
D: the board drawn, in games that have one.
F: what is led and has to be followed.
R: the rules of this round and what was drawn for it. R and a number, such as R {rule}: that rule.
S: the scores, and how this round stands.
T: whose turn it is.
L: what you hold, numbered, with what you may do now.
To choose: a name such as {example}, or a number of the list such as #2. Then Enter.
P and a name: choose and play at once.
W and a name: why you may not do that; W alone: of everything that you may not do now.
B: the last trick. N: who sits where. A: the last messages again.
Q: leave, and perhaps come back. Resign: give your seat to the AI for good.
When the match is over: Save and a file name saves the replay.
? or H: this text."""


def read(line: str) -> Line:
    """The line taken apart."""
    text = " ".join(line.split())
    word, _, rest = text.partition(" ")
    key = _WORDS.get(text.casefold())
    if key is not None:
        return Line(text, key)
    key = _WORDS.get(word.casefold())
    if key in _WITH_REST:
        return Line(text, key, rest)
    return Line(text, None)
