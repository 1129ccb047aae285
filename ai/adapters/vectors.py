"""Observations and rewards as numbers, of a fixed size for a table.

A view is the state with the hidden parts removed, byte for byte, so the vector of a seat is made of
the bytes of its view: seats that can't tell two positions apart get the same numbers. Nothing here
knows what the bytes mean.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tavolata.ext.core.game import Game

ENCODINGS = ("bits", "bytes")
REWARDS = ("placement", "score")
SCORE_MOST = 10_000.0  # no match of any game comes near

Vector = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Encoding:
    """How a view becomes a vector: one place for every seat, 1 at the observer's, then the view.

    kind: ``bits`` has a number for each bit of the view, the lowest of a byte first, which makes
    the places of bit sets of cards features of their own; ``bytes`` has the bytes as they are.
    """

    game: Game
    kind: str = "bits"

    def __post_init__(self) -> None:
        if self.kind not in ENCODINGS:
            raise ValueError(f"observation is {self.kind!r}; allowed: {', '.join(ENCODINGS)}")

    @property
    def size(self) -> int:
        """How many numbers there are."""
        numbers = 8 if self.kind == "bits" else 1
        return self.game.seat_count + numbers * self.game.state_bytes

    @property
    def highest(self) -> int:
        """The greatest value of a number; the least is 0."""
        return 1 if self.kind == "bits" else 255

    def vector(self, view: bytes, seat: int) -> Vector:
        """The seat's view as numbers, ``size`` of them."""
        seats = np.zeros(self.game.seat_count, np.uint8)
        seats[seat] = 1
        numbers = np.frombuffer(view, np.uint8)
        if self.kind == "bits":
            numbers = np.unpackbits(numbers, bitorder="little")
        return np.concatenate((seats, numbers))

    def view(self, vector: npt.ArrayLike) -> bytes:
        """The view that a vector was made of."""
        numbers = np.asarray(vector, np.uint8)[self.game.seat_count :]
        if self.kind == "bits":
            numbers = np.packbits(numbers, bitorder="little")
        return numbers.tobytes()

    def mask(self, legal: Iterable[int]) -> npt.NDArray[np.int8]:
        """1 for every legal action, 0 for the others."""
        mask = np.zeros(self.game.action_count, np.int8)
        mask[list(legal)] = 1
        return mask


@dataclass(frozen=True, slots=True)
class Reward:
    """What a match is worth to each seat at its end; 0 in all, and nothing before the end.

    kind: ``placement`` is 1 for the first place and -1 for the last, in even steps, the mean of
    the places where some are shared; ``score`` is the seat's total less the mean of the others', of
    opposite sign where low totals win.
    """

    low_wins: bool
    kind: str = "placement"

    def __post_init__(self) -> None:
        if self.kind not in REWARDS:
            raise ValueError(f"reward is {self.kind!r}; allowed: {', '.join(REWARDS)}")

    @property
    def most(self) -> float:
        """A bound of the absolute value."""
        return 1.0 if self.kind == "placement" else SCORE_MOST

    def of(self, totals: Sequence[int]) -> list[float]:
        """The rewards of all seats for these final totals."""
        signed = [-total if self.low_wins else total for total in totals]
        others = len(signed) - 1
        if self.kind == "score":
            return [own - (sum(signed) - own) / others for own in signed]
        return [sum((own > other) - (own < other) for other in signed) / others for own in signed]
