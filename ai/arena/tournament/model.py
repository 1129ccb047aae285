"""What the parts of a tournament hand each other: plans, outcomes and faults. Data only.

Everything here can be pickled, compared and put in canonical order; nothing depends on the order
in which matches happen to end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from tavolata.ai.arena.duplicate import Entrant, SeatResult
from tavolata.ext.core.spec import Options


@dataclass(frozen=True, slots=True)
class Contest:
    """One game that is played: with these options (complete) at this number of seats."""

    name: str  # unique in the tournament, like a game's id, or that with its seats
    game: str
    seats: int
    options: Options


@dataclass(frozen=True, slots=True, order=True)
class MatchPlan:
    """One match to be played. Plans sort in canonical order.

    block: number of the block it belongs to (see Schedule); contest: index in the tournament's
    contests; round: of Swiss or knock-out, else 0; group: the players who meet, numbered within
    (contest, round); deal: plans of a contest with the same deal have the same chance, whoever
    plays; rotation: numbered within the deal of a group; labels: who sits where.
    """

    block: int
    contest: int
    round: int
    group: int
    deal: int
    rotation: int
    labels: tuple[str, ...]

    @property
    def id(self) -> str:
        """The name by which one match is asked for, like ``0.2.11.5.1``:
        contest, round, group, deal, rotation."""
        return f"{self.contest}.{self.round}.{self.group}.{self.deal}.{self.rotation}"


class FaultKind(StrEnum):
    """What a player did that it may not."""

    ILLEGAL = "illegal"  # an action that is not legal
    CRASH = "crash"  # raised an exception, or took the worker down with it
    HANG = "hang"  # did not answer before the tournament's patience ended
    SLOW = "slow"  # answered, but later than its time limit and the allowance


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault of a player in a match."""

    kind: FaultKind
    label: str
    seat: int
    decision: int  # number of the decision in the match, from 0
    detail: str


@dataclass(frozen=True, slots=True)
class MatchOutcome:
    """How a planned match ended.

    seats: results seat by seat, after the policy on faults has been applied; hash: of the whole log
    of the match (Match.hash), the same wherever it was played; record: the actions to the point
    where it ended, packed (``play.record_of`` makes the match's record of them, which takes longer
    and is wanted of few); faults: counted, not part of the hash.
    """

    plan: MatchPlan
    seats: tuple[SeatResult, ...]
    hash: bytes
    record: bytes
    faults: tuple[Fault, ...] = ()


@dataclass(frozen=True, slots=True)
class Chunk:
    """Plans that one worker plays in one go, in order: half a second or more of them, or one."""

    number: int
    plans: tuple[MatchPlan, ...]


class Schedule(Protocol):
    """What is played, block by block.

    A block is planned from the outcomes of the blocks before it, which are all complete and in
    canonical order: so Swiss pairings, knock-out brackets and early stopping come out the same
    however many workers there are and whichever ends first.
    """

    def next_block(self, done: Sequence[MatchOutcome]) -> Sequence[MatchPlan]:
        """The plans of the next block, in canonical order; empty when the tournament is over."""


@dataclass(frozen=True, slots=True)
class Field:
    """Everything a worker needs besides a plan: sent once, pickled.

    entrants: by label; seed: of the tournament, 0 or more.
    """

    contests: tuple[Contest, ...]
    entrants: Mapping[str, Entrant]
    seed: int
