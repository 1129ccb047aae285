"""The way from a schedule to stored results: blocks, chunks, checkpoints, the result hash."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Protocol

from tavolata.ai.arena.tournament.backends import Backend
from tavolata.ai.arena.tournament.model import MatchOutcome, MatchPlan, Schedule
from tavolata.ai.arena.tournament.pace import Pace
from tavolata.ai.arena.tournament.store import Store


class Observer(Protocol):
    """Somebody who follows a tournament. What it does changes nothing about it."""

    def planned(self, plans: Sequence[MatchPlan], done: Sequence[MatchOutcome]) -> None:
        """A block has been planned, of which these matches were played before."""

    def played(self, outcomes: Sequence[MatchOutcome]) -> None:
        """Matches have been played and are stored."""


class Unobserved:
    """Nobody looks."""

    def planned(self, plans: Sequence[MatchPlan], done: Sequence[MatchOutcome]) -> None:
        pass

    def played(self, outcomes: Sequence[MatchOutcome]) -> None:
        pass


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run ended: with the result hash (hexadecimal), or None if it was stopped before."""

    matches: int  # stored in all
    result_hash: str | None


class ForeignResults(RuntimeError):
    """The results hold a match that is not planned: they were changed, or are another program's."""


def run(
    schedule: Schedule,
    store: Store,
    backend: Backend,
    observer: Observer | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> Ending:
    """Play what is not stored yet, block by block, to the end or until ``stopped``.

    Stopped, no more chunks are handed out, and those in progress are played and stored. Nothing
    else needs care: whenever the process ends, what is stored are whole matches.
    """
    observer = observer or Unobserved()
    pace = Pace()
    done: list[MatchOutcome] = []
    while plans := schedule.next_block(done):
        stored = store.of_block(plans[0].block)
        missing = _missing(plans, stored)
        observer.planned(plans, stored)
        with closing(backend.run(pace.chunks(missing, stopped))) as results:
            for played in results:
                store.append(played.outcomes)
                pace.learn(played)
                observer.played(played.outcomes)
        if stopped() and store.count() < len(done) + len(plans):
            return Ending(store.count(), None)
        done += store.of_block(plans[0].block)
    if store.count() != len(done):
        raise ForeignResults(f"{store.path} holds {store.count()} matches; {len(done)} are planned")
    result_hash = store.result_hash()
    store.put({"result_hash": result_hash})
    return Ending(len(done), result_hash)


def _missing(plans: Sequence[MatchPlan], stored: Sequence[MatchOutcome]) -> list[MatchPlan]:
    """The plans that are not stored, in order."""
    played = {outcome.plan for outcome in stored}
    foreign = played.difference(plans)
    if foreign:
        raise ForeignResults(
            f"match {min(foreign).id} is stored with {', '.join(min(foreign).labels)}; "
            "no such match is planned"
        )
    return [plan for plan in plans if plan not in played]
