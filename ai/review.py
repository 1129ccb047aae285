"""Reviews of matches: what each decision cost, by what the seat knew then and with hindsight.

A search chooses; if it chooses something else than was played, another search tries both equally
often. Being apart from the first, it doesn't favour what looked best there by luck.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from itertools import groupby
from math import hypot

from tavolata.ai.analysis import searching, seed_for
from tavolata.ai.ismcts import IsmctsPlayer
from tavolata.ai.known_world import KnownWorld
from tavolata.ai.player import ActionStatistics, Limits, Observation, observe
from tavolata.ai.stop import Stop
from tavolata.ext.core.game import Dealer
from tavolata.ext.core.match import Match

SIGNIFICANT = 2.576 / 1.960  # half a 99 % interval in halves of a 95 % one
DEFAULT_ITERATIONS = 1_000  # of each search


class Mark(Enum):
    """What a decision is called."""

    ONLY_ACTION = "only action"
    BEST = "best"
    GOOD = "good"
    INACCURACY = "inaccuracy"
    MISTAKE = "mistake"
    BLUNDER = "blunder"


# The least cost of a mark, as utility from 0 to 1; the greatest first.
THRESHOLDS = ((Mark.BLUNDER, 0.10), (Mark.MISTAKE, 0.05), (Mark.INACCURACY, 0.02))


@dataclass(frozen=True, slots=True)
class Cost:
    """Utility lost, and half its 95 % interval."""

    mean: float
    half_width: float


@dataclass(frozen=True, slots=True)
class Judgement:
    """A decision as it is judged. best: the search's choice; cost: None if that is what was played;
    played: statistics of what was played; iterations: of all searches."""

    mark: Mark
    best: int
    cost: Cost | None
    played: ActionStatistics
    iterations: int


@dataclass(frozen=True, slots=True)
class Point:
    """A decision of a match that is over. place: among the match's decisions; known: the true
    position, with what others chose at the same time."""

    place: int
    observation: Observation
    action: int
    known: bytes


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A decision with what is to be said about it. hindsight: None if it wasn't asked for."""

    point: Point
    then: Judgement
    hindsight: Judgement | None


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of a review. limits: of each search; seed: for its random numbers."""

    limits: Limits
    hindsight: bool = False
    seed: int = 0


def points_of(match: Match) -> Iterator[Point]:
    """Every decision of a match, in order, found by playing it again.

    Where several decide at once each is taken as it was before any of them had.
    """
    again = Match(match.game, match.seed)
    decisions = enumerate(match.decisions)
    for _, group in groupby(decisions, key=lambda each: each[1][0]):
        together = [(place, seat, action) for place, (_, seat, action) in group]
        seen = {seat: observe(again, seat) for _, seat, _ in together}
        for place, seat, action in together:
            true = again
            if len(together) > 1:
                true = again.copy()
                for _, other, choice in together:
                    if other != seat:
                        true.play(other, choice)
            yield Point(place, seen[seat], action, true.state_bytes())
        for _, seat, action in together:
            again.play(seat, action)


def reviewing(point: Point, question: Question, stop: Stop) -> Generator[None, None, Reviewed]:
    """Judge a decision."""
    seen = point.observation
    game = seen.game
    dealer = game.dealer(seen.view_bytes, seen.seat)
    then = yield from _judging(IsmctsPlayer(game), point, dealer, question, b"then", stop)
    if not question.hindsight:
        return Reviewed(point, then, None)
    # Who sees everything has no information sets: a node is what was done.
    knowing = IsmctsPlayer(game, per_observer=False)
    world = KnownWorld(game, point.known)
    hindsight = yield from _judging(knowing, point, world, question, b"hindsight", stop)
    return Reviewed(point, then, hindsight)


def _judging(
    player: IsmctsPlayer,
    point: Point,
    dealer: Dealer,
    question: Question,
    purpose: bytes,
    stop: Stop,
) -> Generator[None, None, Judgement]:
    seen, limits = point.observation, question.limits
    seed = seed_for(seen, question.seed, purpose)
    first = yield from searching(player.searcher(seen, dealer, limits, seed, stop), seen.seat)
    best = first.action
    if best == point.action:
        mark = Mark.ONLY_ACTION if len(seen.legal_actions) == 1 else Mark.BEST
        played = next(row for row in first.statistics if row.action == best)
        return Judgement(mark, best, None, played, first.iterations)
    both = replace(seen, legal_actions=(best, point.action))
    seed = seed_for(seen, question.seed, purpose + b" compared")
    comparison = player.searcher(both, dealer, limits, seed, stop)
    comparison.compare()
    second = yield from searching(comparison, seen.seat)
    better, played = second.statistics
    cost = Cost(better.mean - played.mean, hypot(better.half_width, played.half_width))
    iterations = first.iterations + second.iterations
    return Judgement(mark_of(cost), best, cost, played, iterations)


def mark_of(cost: Cost) -> Mark:
    """The mark for another action than the search's choice: no error unless the 99 % interval of
    its cost is above zero."""
    if cost.mean > SIGNIFICANT * cost.half_width:
        for mark, least in THRESHOLDS:
            if cost.mean >= least:
                return mark
    return Mark.GOOD


@dataclass(frozen=True, slots=True)
class Summary:
    """Judgements together. average_cost: over all, those without cost included."""

    counts: dict[Mark, int]
    average_cost: float


def summary_of(judgements: Iterable[Judgement]) -> Summary:
    """What judgements come to together."""
    told = list(judgements)
    counts = Counter(each.mark for each in told)
    cost = sum(each.cost.mean for each in told if each.cost is not None)
    in_order = {mark: counts[mark] for mark in Mark if counts[mark]}
    return Summary(in_order, cost / len(told) if told else 0.0)
