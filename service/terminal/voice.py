"""The output: one paragraph a message, in the order of what happens; colour is only ornament."""

from __future__ import annotations

import os
import shutil
import textwrap
from enum import Enum
from typing import Literal, TextIO

Colour = Literal["auto", "never", "always"]


class Tone(Enum):
    """What kind of message it is; the value is its SGR colour code."""

    EVENT = ""
    ANSWER = "36"
    TURN = "1;32"
    SCORE = "1"
    TROUBLE = "33"


class Voice:
    """Writes messages to a stream.

    colour: `auto` colours a terminal unless NO_COLOR is set. A terminal gets lines broken at words;
    anything else gets one line a message.
    """

    def __init__(self, out: TextIO, colour: Colour = "auto") -> None:
        self._out = out
        self._terminal = out.isatty()
        wanted = self._terminal and not os.environ.get("NO_COLOR")
        self._coloured = colour == "always" or (colour == "auto" and wanted)

    @property
    def columns(self) -> int | None:
        """How wide a line may be; None: as wide as it is."""
        return shutil.get_terminal_size().columns if self._terminal else None

    def say(self, message: str, tone: Tone = Tone.ANSWER, *, whole: bool = False) -> None:
        """One message; nothing for an empty one.

        whole: not broken into lines, as something to be copied is not.
        """
        if not message:
            return
        text = self._wrapped(message) if self._terminal and not whole else message
        if self._terminal and tone is Tone.TURN:
            self._out.write("\n")  # what one is asked stands out without colours too
        if self._coloured and tone.value:
            text = f"\x1b[{tone.value}m{text}\x1b[0m"
        self._out.write(text + "\n")
        self._out.flush()

    def _wrapped(self, message: str) -> str:
        width = max(shutil.get_terminal_size().columns, 40)
        return "\n".join(
            textwrap.fill(line, width, break_long_words=False, break_on_hyphens=False)
            for line in message.splitlines()
        )
