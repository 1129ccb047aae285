"""Sentences: lists, numbers of things, and rules read aloud."""

from __future__ import annotations

import re
from collections.abc import Iterable


def listed(items: Iterable[str], last: str = "and") -> str:
    """`a`, `a and b`, `a, b and c`; `nothing` for none."""
    *first, end = list(items) or ["nothing"]
    return f"{', '.join(first)} {last} {end}" if first else end


def counted(number: int, thing: str, things: str = "") -> str:
    """`1 card`, `3 cards`, `no cards`."""
    return f"{number or 'no'} {thing if number == 1 else things or thing + 's'}"


def number(points: int) -> str:
    """`20`, `minus 5`."""
    return f"minus {-points}" if points < 0 else str(points)


def capital(sentence: str) -> str:
    """The sentence with its first letter large."""
    return sentence[:1].upper() + sentence[1:]


def without_option(rule: str) -> str:
    """A plain rule without the sentences on its options: a table has one of the values."""
    return re.sub(r"(^| )Option \w+ = .*?\.(?= [A-Z(]|$)", "", rule).strip()


def plain(markdown: str) -> str:
    """A rule without its marks, in one paragraph; rows of tables become clauses."""
    lines: list[str] = []
    for line in markdown.splitlines():
        text = line.strip()
        if re.fullmatch(r"\|[-| ]+\|", text):
            continue
        if text.startswith("|"):
            text = ": ".join(cell.strip() for cell in text.strip("|").split("|")) + ";"
        elif lines and lines[-1].endswith(";"):
            lines[-1] = lines[-1].rstrip(";") + "."
        lines.append(text)
    text = " ".join(" ".join(lines).split())
    text = re.sub(r" ?\([RPS](?:[,;][^)]*)?\)", "", text)  # where a rule comes from
    return re.sub(r"\*\*|`|(?<!\w)\*|\*(?!\w)", "", text)
