"""A small field and plans for it, by hand."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from tavolata.ai.arena.duplicate import Entrant
from tavolata.ai.arena.tournament.backends import Backend
from tavolata.ai.arena.tournament.model import Chunk, Contest, Field, MatchOutcome, MatchPlan
from tavolata.ai.player import Limits
from tavolata.ext.registry import GAMES

ONE = Limits(iterations=1)
GAME = "mino_dice"
SEATS = 4


def field_of(*players: str, limits: Limits = ONE, names: Sequence[str] = ("m",)) -> Field:
    """Players under their own names, in contests of the same game."""
    options = GAMES[GAME].complete(SEATS, {})
    contests = tuple(Contest(name, GAME, SEATS, options) for name in names)
    return Field(contests, {name: Entrant(name, name, limits) for name in players}, seed=5)


def duels(first: str, second: str, deals: int, block: int = 0) -> list[MatchPlan]:
    """Deals of two players over both rotations, in canonical order."""
    lineup = (first, second) * 3
    return [
        MatchPlan(block, 0, 0, 0, deal, turned, lineup[turned : turned + SEATS])
        for deal in range(deals)
        for turned in range(2)
    ]


def chunked(plans: Sequence[MatchPlan], size: int) -> list[Chunk]:
    return [
        Chunk(number, tuple(plans[at : at + size]))
        for number, at in enumerate(range(0, len(plans), size))
    ]


def outcomes_of(backend: Backend, chunks: Iterable[Chunk]) -> list[MatchOutcome]:
    """All outcomes in canonical order; the backend is closed."""
    try:
        found = [outcome for played in backend.run(chunks) for outcome in played.outcomes]
    finally:
        backend.close()
    return sorted(found, key=lambda outcome: outcome.plan)


def hash_of(outcomes: Iterable[MatchOutcome]) -> str:
    """Plans and hashes of their logs, in the order given."""
    text = "\n".join(f"{outcome.plan} {outcome.hash.hex()}" for outcome in outcomes)
    return hashlib.sha256(text.encode()).hexdigest()


class Blocks:
    """A schedule of fixed blocks, that checks what it is told."""

    def __init__(self, blocks: Sequence[Sequence[MatchPlan]]) -> None:
        self._blocks = [*blocks, []]

    def next_block(self, done: Sequence[MatchOutcome]) -> Sequence[MatchPlan]:
        plans = [outcome.plan for outcome in done]
        assert plans == sorted(plans)
        before = 0
        for block in self._blocks:
            if before == len(plans):
                return block
            before += len(block)
        raise AssertionError(f"{len(plans)} matches are no whole blocks")
