"""Search iterations per second on one thread, what a second adds, and time limits."""

from __future__ import annotations

import time
from collections.abc import Iterator
from math import ceil

from tavolata.ai.ismcts import IsmctsPlayer
from tavolata.ai.player import Limits, observe
from tavolata.ai.stop import Stop
from tavolata.ext.core.cpu import level
from tavolata.ext.core.match import Match
from tavolata.ext.registry import GAMES
from tavolata.service.bench import floor
from tavolata.service.bench.measurement import Measurement, interleaved

ITERATIONS = 10_000
SEED = (20_261).to_bytes(32, "big")
ROUND_GOAL, FIRST_GOAL = 0.40, 0.25  # of the floor's playouts/s
TIMED_ITERATIONS = 1_000
TIMED_GOAL_MS = {"cafe_international": 250.0}  # the whole match from the opening, no horizon
TIMED_GOAL_MS_ELSE = 30.0
THREADS_MS = 100.0  # of a search whose iterations on one and on two threads are compared
THREADS_RUNS = 15
THREADS_GOAL = 1.8
LIMIT_MS = 20.0
LIMIT_DECISIONS = 100  # of each game
OVER_GOAL_MS = 10.0  # beyond the limit at the 99th percentile


class RoundWalk:
    """Searches every decision of a match and adds up iterations and time, round by round."""

    def __init__(self, game_id: str, rule_playouts: bool) -> None:
        spec = GAMES[game_id]
        self.match = Match(spec.make(spec.seats_usual), SEED)
        self.player = IsmctsPlayer(self.match.game, rule_playouts=rule_playouts)

    def first_decision(self) -> float:
        """Iterations/s at the decision in front, without taking it."""
        return self._rate(*self._search(self.match.to_act[0]))

    def round(self) -> float:
        """Iterations/s over the round in progress: all iterations over all time."""
        start = self.match.round_start
        iterations, elapsed = 0, 0.0
        while not self.match.over and self.match.round_start == start:
            for seat in self.match.to_act:
                done, spent = self._search(seat)
                iterations, elapsed = iterations + done, elapsed + spent
                self.match.play(seat, self.action)
        return self._rate(iterations, elapsed)

    def _search(self, seat: int) -> tuple[int, float]:
        decision = self.player.analyse(
            observe(self.match, seat),
            Limits(iterations=ITERATIONS),
            seed=self.match.decision_count,
            stop=Stop(),
        )
        self.action = decision.action
        return decision.iterations, decision.elapsed_ms

    @staticmethod
    def _rate(iterations: int, elapsed_ms: float) -> float:
        return 1000 * iterations / elapsed_ms


def measurements() -> Iterator[Measurement]:
    """The floor's game round by round, then a thousand iterations in every game."""
    for rule_playouts in (False, True):
        yield from _rounds("bouillabaisse", rule_playouts)
    for game_id in GAMES:
        yield from _opening(game_id)
    for game_id in GAMES:
        yield _two_threads(game_id)
    yield _over_the_limit()


def _rounds(game_id: str, rule_playouts: bool) -> Iterator[Measurement]:
    walk = RoundWalk(game_id, rule_playouts)
    name = f"{'rule' if rule_playouts else 'random'} playouts, {level()}"
    number = 0
    while not walk.match.over:
        number += 1
        first, reference = interleaved(5, walk.first_decision, floor.playouts_per_second)
        case = f"{game_id} round {number}"
        unit, against = "iterations/s", f"C floor, {level()}"
        yield Measurement(
            f"{case}, first card, {name}", first, unit, against, reference, FIRST_GOAL
        )
        before = floor.playouts_per_second()
        average = walk.round()
        reference = (before + floor.playouts_per_second()) / 2
        yield Measurement(f"{case}, average, {name}", average, unit, against, reference, ROUND_GOAL)


def _opening(game_id: str) -> Iterator[Measurement]:
    """The default search at the first decision: its speed, and a thousand iterations in time."""
    spec = GAMES[game_id]
    match = Match(spec.make(spec.seats_usual), SEED)
    player = IsmctsPlayer(match.game)
    observation = observe(match, match.to_act[0])

    def elapsed_ms() -> float:
        limits = Limits(iterations=TIMED_ITERATIONS)
        return player.analyse(observation, limits, seed=1, stop=Stop()).elapsed_ms

    value, playouts = interleaved(9, elapsed_ms, floor.playouts_per_second)
    goal_ms = TIMED_GOAL_MS.get(game_id, TIMED_GOAL_MS_ELSE)
    case = (
        f"{game_id} {spec.seats_usual} seats, {TIMED_ITERATIONS} iterations at the first decision"
    )
    rate = 1000 * TIMED_ITERATIONS / value
    yield Measurement(f"{case}, {level()}", rate, "iterations/s", f"C floor, {level()}", playouts)
    yield Measurement(case, goal_ms / value, f"times in {goal_ms:.0f} ms", goal=1.0)


def _two_threads(game_id: str) -> Measurement:
    """Iterations of a search at the first decision in equal time, in turns on one thread and on
    two."""
    spec = GAMES[game_id]
    match = Match(spec.make(spec.seats_usual), SEED)
    player = IsmctsPlayer(match.game)
    observation = observe(match, match.to_act[0])

    def iterations(threads: int) -> float:
        limits = Limits(think_ms=THREADS_MS, threads=threads)
        return player.analyse(observation, limits, seed=1, stop=Stop()).iterations

    one, two = interleaved(THREADS_RUNS, lambda: iterations(1), lambda: iterations(2))
    case = f"{game_id} {spec.seats_usual} seats, {THREADS_MS:.0f} ms at the first decision"
    return Measurement(f"{case}, two threads", two, "iterations", "one thread", one, THREADS_GOAL)


def _over_the_limit() -> Measurement:
    """How long decisions take beyond a limit in time, from the request to the answer, in all games:
    the 99th percentile. Beside it that of a loop that does nothing but watch the clock, in turns
    with the decisions: so much of it is the machine's."""
    taken = [pair for game_id in GAMES for pair in _timed_decisions(game_id)]
    over, bare = (sorted(took - LIMIT_MS for took in column) for column in zip(*taken, strict=True))
    late, machine = (column[ceil(0.99 * len(column)) - 1] for column in (over, bare))
    case = (
        f"all games, {len(over):,} decisions of {LIMIT_MS:.0f} ms, p99 {late:.2f} ms beyond it "
        f"(a loop that watches the clock: {machine:.2f} ms)"
    )
    unit = f"times in {OVER_GOAL_MS:.0f} ms"
    return Measurement(case, OVER_GOAL_MS / max(late, 0.001), unit, goal=1.0)


def _timed_decisions(game_id: str) -> Iterator[tuple[float, float]]:
    """Milliseconds of searches at the decisions of matches from their beginnings, and of a loop
    that ends at the same limit after each."""
    spec, count = GAMES[game_id], 0
    limits = Limits(think_ms=LIMIT_MS)
    while count < LIMIT_DECISIONS:
        match = Match(spec.make(spec.seats_usual), (20_261 + count).to_bytes(32, "big"))
        player = IsmctsPlayer(match.game)
        while not match.over and count < LIMIT_DECISIONS:
            seat = match.to_act[0]
            observation = observe(match, seat)
            started = time.perf_counter()
            decision = player.analyse(observation, limits, seed=count, stop=Stop())
            ended = time.perf_counter()
            while (watched := time.perf_counter() - ended) < LIMIT_MS / 1000:
                pass
            yield 1000 * (ended - started), 1000 * watched
            match.play(seat, decision.action)
            count += 1
