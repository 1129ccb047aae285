"""Real outcomes of small tournaments, played quickly in this process."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import combinations, cycle, islice

from tavolata.ai.arena.duplicate import Entrant, deal_seed, decision_seed, play_match
from tavolata.ai.arena.tournament.model import Contest, Field, MatchOutcome, MatchPlan
from tavolata.ai.player import Limits
from tavolata.ext.core.record import dumps, record_of
from tavolata.ext.registry import GAMES


def entrant(label: str, player: str = "", iterations: int = 1) -> Entrant:
    return Entrant(label, player or label, Limits(iterations=iterations))


def field_of(games: Sequence[str], entrants: Sequence[Entrant], seed: int = 1) -> Field:
    contests = tuple(
        Contest(
            game, game, GAMES[game].seats_usual, GAMES[game].complete(GAMES[game].seats_usual, {})
        )
        for game in games
    )
    return Field(contests, {one.label: one for one in entrants}, seed)


def play(field: Field, deals: int, group_size: int | None = None) -> Iterator[MatchOutcome]:
    """All groups of entrants over the same deals, turned over all seats."""
    for number, contest in enumerate(field.contests):
        game = GAMES[contest.game].make(contest.seats, contest.options)
        size = group_size or min(contest.seats, len(field.entrants))
        for group, labels in enumerate(combinations(sorted(field.entrants), size)):
            lineup = tuple(islice(cycle(labels), contest.seats))
            for deal in range(deals):
                for rotation in range(size):
                    seated = lineup[rotation:] + lineup[:rotation]
                    plan = MatchPlan(0, number, 0, group, deal, rotation, seated)
                    match, seats = play_match(
                        game,
                        [field.entrants[label] for label in seated],
                        deal_seed(field.seed, deal),
                        partial(decision_seed, field.seed, deal, rotation),
                    )
                    record = zlib.compress(dumps(record_of(match)).encode())
                    yield MatchOutcome(plan, tuple(seats), match.hash, record)
