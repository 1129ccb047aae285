"""The keyed chance stream in plain Python, and a scripted one for exchanged hidden cards.

Both write down every outcome they hand out. Nothing here knows a game.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

Key = tuple[str, int, int]
"""(purpose, round, index); round 0 is the match as a whole."""

Script = dict[Key, int | list[str]]
"""Outcomes fixed in advance: a pick's value, or a shuffle's final order of item names."""

WORD_COUNT = 2**32


@dataclass(frozen=True)
class Outcome:
    """One chance outcome: its key and what came out (a pick's value or a shuffle's order)."""

    purpose: str
    round: int
    index: int
    value: int | tuple[str, ...]


class Chance(Protocol):
    """Where a model gets its chance from."""

    @property
    def outcomes(self) -> list[Outcome]:
        """Everything drawn so far, in the order it was drawn."""

    def pick(self, purpose: str, round_number: int, n: int, index: int = 0) -> int:
        """A number 0..n-1, every one equally likely."""

    def shuffle(
        self, purpose: str, round_number: int, items: Sequence[str], index: int = 0
    ) -> list[str]:
        """The items in an order of which every one is equally likely."""

    def copy(self) -> Chance:
        """A chance that goes on like this one, with a record of its own."""


def seed_bytes(number: int) -> bytes:
    """The 32-byte big-endian seed that `seed=7` stands for."""
    return number.to_bytes(32, "big")


def stream_words(seed: bytes, purpose: str, round_number: int, index: int) -> Iterator[int]:
    """The big-endian 32-bit words of one keyed stream, without end."""
    name = purpose.encode("ascii")
    prefix = b"tavolata.chance.v1" + b"\x00" + seed
    key = struct.pack(">I", round_number) + bytes([len(name)]) + name + struct.pack(">I", index)
    shake = hashlib.shake_256(prefix + key)
    position = 0
    length = 512
    while True:
        data = shake.digest(length)
        while position < length:
            yield int.from_bytes(data[position : position + 4], "big")
            position += 4
        length *= 2


def below(words: Iterator[int], n: int) -> int:
    """A number 0..n-1 from the next words; words past the last whole multiple of n are skipped."""
    limit = WORD_COUNT - WORD_COUNT % n
    for word in words:
        if word < limit:
            return word % n
    raise AssertionError("a stream has no end")


class KeyedChance:
    """Chance from a 32-byte seed: every pick and shuffle opens a stream of its own."""

    def __init__(self, seed: bytes) -> None:
        if len(seed) != 32:
            raise ValueError(f"a seed has 32 bytes, not {len(seed)}")
        self.seed = seed
        self.outcomes: list[Outcome] = []

    def pick(self, purpose: str, round_number: int, n: int, index: int = 0) -> int:
        value = below(stream_words(self.seed, purpose, round_number, index), n)
        self.outcomes.append(Outcome(purpose, round_number, index, value))
        return value

    def shuffle(
        self, purpose: str, round_number: int, items: Sequence[str], index: int = 0
    ) -> list[str]:
        words = stream_words(self.seed, purpose, round_number, index)
        order = list(items)
        for i in range(len(order) - 1, 0, -1):
            j = below(words, i + 1)
            order[i], order[j] = order[j], order[i]
        self.outcomes.append(Outcome(purpose, round_number, index, tuple(order)))
        return order

    def copy(self) -> KeyedChance:
        twin = KeyedChance(self.seed)
        twin.outcomes = list(self.outcomes)
        return twin


class ScriptedChance:
    """Chance that gives the outcomes of a script, and the seed's own for keys not in it.

    A pick outside 0..n-1 and an order that is no arrangement of the items raise ValueError.
    """

    def __init__(self, script: Mapping[Key, int | list[str]], seed: bytes = bytes(32)) -> None:
        self.script = dict(script)
        self.keyed = KeyedChance(seed)

    @property
    def outcomes(self) -> list[Outcome]:
        return self.keyed.outcomes

    def pick(self, purpose: str, round_number: int, n: int, index: int = 0) -> int:
        key = (purpose, round_number, index)
        if key not in self.script:
            return self.keyed.pick(purpose, round_number, n, index)
        value = self.script[key]
        if not isinstance(value, int) or not 0 <= value < n:
            raise ValueError(f"{key} is scripted as {value!r}, not a number 0..{n - 1}")
        self.outcomes.append(Outcome(purpose, round_number, index, value))
        return value

    def shuffle(
        self, purpose: str, round_number: int, items: Sequence[str], index: int = 0
    ) -> list[str]:
        key = (purpose, round_number, index)
        if key not in self.script:
            return self.keyed.shuffle(purpose, round_number, items, index)
        order = self.script[key]
        if isinstance(order, int) or sorted(order) != sorted(items):
            raise ValueError(f"{key} is scripted as {order!r}, no arrangement of the items")
        self.outcomes.append(Outcome(purpose, round_number, index, tuple(order)))
        return list(order)

    def copy(self) -> ScriptedChance:
        twin = ScriptedChance(self.script)
        twin.keyed = self.keyed.copy()
        return twin
