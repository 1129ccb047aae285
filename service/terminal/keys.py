"""The keys: what a typed line asks for. Those of BO-20 come first and mean the same everywhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum


class Key(Enum):
    """What can be asked for; the values are what can be typed, the shortest first."""

    ENTER = ("",)
    NUMBER = ()
    TABLE = ("c", "table", "cards")
    DRAW = ("d", "draw", "board")
    LED = ("f", "follow", "led")
    RULES = ("r", "rules")
    SCORES = ("s", "scores")
    TURN = ("t", "turn")
    LIST = ("l", "list", "hand")
    PLAY = ("p", "play", "roll")
    WHY = ("w", "why")
    HINT = ("hint",)
    FORGET = ("u", "undo", "forget")
    BEFORE = ("b", "before", "last")
    WHO = ("n", "names", "who")
    AGAIN = ("a", "again")
    LEAVE = ("q", "leave", "quit", "exit")
    RESIGN = ("resign",)
    SAVE = ("save",)
    REVIEW = ("review",)
    REMATCH = ("rematch",)
    HELP = ("?", "h", "help")


@dataclass(frozen=True, slots=True)
class Line:
    """A line taken apart. key None: a name, a number or nonsense, to be looked up."""

    text: str
    key: Key | None
    rest: str = ""


_WORDS = {word: key for key in Key for word in key.value}
# Words that take something after them; of all others a longer line is a name ("red", "c" in "2 c").
_WITH_REST = (Key.PLAY, Key.WHY, Key.SAVE, Key.REVIEW, Key.RULES, Key.DRAW)

_HELP: tuple[tuple[Key, str, str], ...] = (
    (Key.ENTER, "Enter alone", "start the match, or play what you have chosen."),
    (Key.TABLE, "C", "what is on the table; if nothing is, the last trick and who took it."),
    (
        Key.NUMBER,
        "1 to 9",
        "the card or die on the table with that number. While bids are open: that bid.",
    ),
    (Key.DRAW, "D", "the board drawn, in games that have one."),
    (Key.LED, "F", "what is led and has to be followed."),
    (
        Key.RULES,
        "R",
        "the rules of this round, and what was drawn for it. R and a number, such as R {rule}: it.",
    ),
    (Key.SCORES, "S", "the scores, and how this round stands."),
    (Key.TURN, "T", "whose turn it is."),
    (Key.LIST, "L", "what you hold, numbered, with what you may do now."),
    (
        Key.PLAY,
        "To choose",
        "a name such as {example}, or a number of the list such as #2. Then Enter.",
    ),
    (Key.PLAY, "P and a name", "choose and play at once."),
    (Key.FORGET, "U", "forget what you have chosen."),
    (
        Key.WHY,
        "W and a name",
        "why you may not do that; W alone: of everything that you may not do now.",
    ),
    (Key.HINT, "Hint", "what a search would do in your place, where the table allows hints."),
    (
        Key.BEFORE,
        "B",
        "the last trick; in games without tricks, what has happened since you chose.",
    ),
    (Key.WHO, "N", "who sits where."),
    (Key.AGAIN, "A", "the last messages again."),
    (
        Key.LEAVE,
        "Q",
        "leave, and perhaps come back. Resign: give your seat to the AI for good.",
    ),
    (
        Key.SAVE,
        "When the match is over",
        "Save and a file name saves the replay. Review: what decisions cost. Rematch: play again.",
    ),
    (Key.HELP, "? or H", "this text."),
)


def help_text(of_game: Mapping[Key, str], *, is_drawn: bool, rule: str, example: str) -> str:
    """What the keys do, a line a key; what a game says of a key stands in place of the usual."""
    lines = ["Keys; each is typed with Enter after it, small or capital."]
    for key, name, usual in _HELP:
        if key is not Key.DRAW or is_drawn:
            lines.append(f"{name}: {of_game.get(key, usual)}".format(rule=rule, example=example))
    return "\n".join(lines)


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
