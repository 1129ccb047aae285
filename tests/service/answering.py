"""How long AI seats took to answer, set against what they held, from the replays of their matches.

Decisions are compared only with those of the same public situation: as many cards on the table and
in the hand, so that what differs is what others can't see.
"""

from __future__ import annotations

import math
import statistics
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from tavolata.ext.bouillabaisse.deck import RANKS
from tavolata.ext.core.match import Match
from tavolata.ext.registry import GAMES
from tavolata.service.codecs import codec_of
from tavolata.v1.replay_pb2 import Decision, Replay

GAME, SEATS = "bouillabaisse", 4


@dataclass(frozen=True, slots=True)
class Answer:
    """A decision: the public situation, the answering time by the time of its event and by its
    arrival at a watcher, and what nobody else may know: how many actions were legal, the mean rank
    of the hand and how long the search took."""

    situation: tuple[int, int]
    event_us: int
    arrival_us: int
    legal: int
    strength: float
    think_us: int


def answers_of(replay: Replay, arrivals_us: dict[int, int]) -> list[Answer]:
    """The answers in a replay with its proof. arrivals_us: when the first event of each time, in
    microseconds, has come to a watcher."""
    match = Match(GAMES[GAME].make(SEATS), replay.proof.match_seed)
    codec = codec_of(GAME)
    answers: list[Answer] = []
    before_us: int | None = None
    for entry in replay.entries:
        if not entry.HasField("decision"):
            continue
        decision = entry.decision
        at_us = decision.time.ToMicroseconds()
        if before_us is not None:
            arrived_us = arrivals_us[at_us] - arrivals_us[before_us]
            answers.append(_answer(match, decision, at_us - before_us, arrived_us))
        match.play(decision.seat, codec.action_from(decision.action))
        before_us = at_us
    return answers


def _answer(match: Match, decision: Decision, event_us: int, arrived_us: int) -> Answer:
    view = match.game.view(match.view(decision.seat), decision.seat)
    hand = view.hands[decision.seat]  # type: ignore[attr-defined]
    ranks = [RANKS.index(card[0]) for card in hand]
    return Answer(
        situation=(len(view.trick), len(hand)),  # type: ignore[attr-defined]
        event_us=event_us,
        arrival_us=arrived_us,
        legal=len(decision.legal_actions),
        strength=statistics.fmean(ranks),
        think_us=decision.effort.think_time.ToMicroseconds(),
    )


@dataclass(frozen=True, slots=True)
class Separation:
    """How well answering times tell two classes apart: the area under the curve of the best
    threshold rule, 0.5 if they don't, and its standard error if they don't; decisions a class."""

    auc: float
    error: float
    sizes: tuple[int, int]


Classes = dict[tuple[int, int], tuple[list[int], list[int]]]


def separation(classes: Classes) -> Separation:
    """Over all situations: the share of pairs of one of each class, in the same situation, in which
    the first took longer; a tie is half (Mann and Whitney's U)."""
    wins = pairs = variance = 0.0
    for first, second in classes.values():
        ordered = sorted(second)
        for each in first:
            wins += (bisect_left(ordered, each) + bisect_right(ordered, each)) / 2
        product = len(first) * len(second)
        pairs += product
        variance += product * (len(first) + len(second) + 1) / 12
    sizes = (
        sum(len(first) for first, second in classes.values() if second),
        sum(len(second) for first, second in classes.values() if first),
    )
    if not pairs:
        return Separation(math.nan, math.inf, sizes)
    return Separation(wins / pairs, math.sqrt(variance) / pairs, sizes)


def _split(
    answers: Iterable[Answer],
    time: Callable[[Answer], int],
    value: Callable[[Answer], float],
) -> Classes:
    """Above and below the median of a value in each situation; those at the median are neither."""
    by_situation: dict[tuple[int, int], list[Answer]] = defaultdict(list)
    for answer in answers:
        by_situation[answer.situation].append(answer)
    classes: Classes = {}
    for situation, group in by_situation.items():
        middle = statistics.median(map(value, group))
        above = [time(each) for each in group if value(each) > middle]
        below = [time(each) for each in group if value(each) < middle]
        classes[situation] = (above, below)
    return classes


def _one_or_many(answers: Iterable[Answer], time: Callable[[Answer], int]) -> Classes:
    classes: Classes = defaultdict(lambda: ([], []))
    for answer in answers:
        classes[answer.situation][answer.legal > 1].append(time(answer))
    return classes


def separations(answers: Sequence[Answer]) -> dict[str, Separation]:
    """How well each time tells each pair of classes apart."""
    searched = [each for each in answers if each.legal > 1]
    times: dict[str, Callable[[Answer], int]] = {
        "event": lambda each: each.event_us,
        "arrival": lambda each: each.arrival_us,
    }
    found = {}
    for name, time in times.items():
        found[f"one or many actions by {name}"] = separation(_one_or_many(answers, time))
        found[f"strong or weak hand by {name}"] = separation(
            _split(answers, time, lambda each: each.strength)
        )
        found[f"long or short search by {name}"] = separation(
            _split(searched, time, lambda each: each.think_us)
        )
    return found
