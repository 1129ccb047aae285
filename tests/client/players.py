"""Somebody at the terminal who reads what is printed and types what follows from it."""

from __future__ import annotations

import asyncio
import io
import re

CHOICE = re.compile(r"(#\d+|bid \d+)")


def answer_to(line: str) -> list[str]:
    """What is typed on a line that asks for something: the last thing that may be chosen."""
    if "Press Enter to start" in line:
        return [""]
    if not line.startswith("Your turn."):
        return []
    if "You can only choose" in line:
        return [""]
    if "Any may be chosen." in line:
        return ["#1", ""]
    return [CHOICE.findall(line.partition("Choose: ")[2])[-1], ""]


class Reader(io.StringIO):
    """An output that is read line by line by whoever types.

    blank: texts that are different each time, with what to show instead.
    """

    def __init__(self) -> None:
        super().__init__()
        self.blank: dict[str, str] = {}
        self.lines: asyncio.Queue[str] = asyncio.Queue()
        self._rest = ""

    def write(self, text: str) -> int:
        for each, shown in self.blank.items():
            text = text.replace(each, shown)
        *lines, self._rest = (self._rest + text).split("\n")
        for line in lines:
            self.lines.put_nowait(line)
        return super().write(text)


class Typist:
    """Lines typed in answer to what a reader shows; `at_end` when the match is over."""

    def __init__(self, reader: Reader, at_end: list[str], before: list[str] | None = None) -> None:
        self._reader = reader
        self._typed = list(before or [])
        self._at_end = at_end

    async def next(self) -> str | None:
        """The next line."""
        while not self._typed:
            line = await self._reader.lines.get()
            self._typed = answer_to(line)
            if line.startswith("Save saves the replay"):
                self._typed = self._at_end
        return self._typed.pop(0)
