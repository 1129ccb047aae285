"""The long form of test_dealer: `python -m tests.games.worlds_campaign --samples 1000000`.

For each game: positions that are enumerated and compared with the dealer's shares, sampled worlds
that contradict what was seen (there must be none), and how long a dealer takes to be prepared.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator
from itertools import cycle, islice
from multiprocessing import Pool
from multiprocessing.pool import Pool as ProcessPool

from tavolata.ext.core.match import Match
from tavolata.ext.registry import GAMES
from tests.games.dealing import Fit, Judge, expected_worlds, fit, sampled_worlds, small_spots, spots
from tests.games.facts import JUDGED, FactsJudge
from tests.games.positions import OPEN_HANDS, random_points
from tests.games.tables import Setting, covering_settings

WORLDS_A_SPOT = 50  # judged by replaying them in the reference
NOTED_A_SPOT = 1_950  # further ones judged by what the table could have noted down (facts.py)
POSITIONS = 50
BATCH = 8  # matches handed out at a time
DEALS_MAX = 3_000
DISTANCE_MAX = 0.01
TABLE_MS_MAX = 3.0

HIDDEN_HANDS = [game for game in GAMES if game not in OPEN_HANDS]

Task = tuple[str, Setting, int]


def main() -> int:
    """Exit status 0 if the goals are met: no contradiction, total variation and time in bounds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--game", choices=HIDDEN_HANDS, help="one game instead of all")
    parser.add_argument("--samples", type=int, default=1_000_000, help="worlds judged a game")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    arguments = parser.parse_args()
    met = True
    with Pool(arguments.jobs) as pool:
        for game in [arguments.game] if arguments.game else HIDDEN_HANDS:
            met &= _table_times(game)
            met &= _shares(pool, game)
            met &= _contradictions(pool, game, arguments.samples)
    return 0 if met else 1


def _table_times(game: str) -> bool:
    """Prepare a dealer at every decision of a match for every number of seats; best of three."""
    by_seats: dict[int, float] = {}
    spec = GAMES[game]
    for seats in range(spec.seats_min, spec.seats_max + 1):
        for style in (False, True):
            for point in random_points(game, (seats, {}), seats, mostly_first=style):
                match = point.match
                for seat in match.to_act:
                    took = min(_build_ms(match, seat) for _ in range(3))
                    by_seats[seats] = max(by_seats.get(seats, 0.0), took)
    worst = max(by_seats.values())
    shown = ", ".join(f"{seats} seats {took:.2f}" for seats, took in by_seats.items())
    print(f"{game}: slowest dealer {worst:.2f} ms (goal {TABLE_MS_MAX}): {shown}", flush=True)
    return worst <= TABLE_MS_MAX


def _build_ms(match: Match, seat: int) -> float:
    view = match.view(seat)
    started = time.perf_counter()
    match.game.dealer(view, seat)
    return 1000 * (time.perf_counter() - started)


def _shares(pool: ProcessPool, game: str) -> bool:
    """The dealer against full enumeration on small positions with duplicates."""
    fits = pool.starmap(_fit_of, [(game, number) for number in range(POSITIONS)], chunksize=1)
    worst = max(result.distance for result in fits)
    z = max(result.z for result in fits)
    print(
        f"{game}: {len(fits)} positions enumerated, total variation at most {worst:.4f} "
        f"(goal {DISTANCE_MAX}), chi-square at most {z:.1f} deviations",
        flush=True,
    )
    return worst <= DISTANCE_MAX and z < 5


def _fit_of(game: str, number: int) -> Fit:
    """A position, sampled until honest shares would be well within the goal."""
    settings = islice(cycle(covering_settings(game)), number % 7, None)
    spot = next(small_spots(game, settings, 70_000 + 1_000 * number, DEALS_MAX, number))
    expected = expected_worlds(spot)
    # Of this many the mean distance of honest shares is below 0.8 times its bound, 0.008.
    samples = int(len(expected) / (4 * 0.008**2))
    return fit(sampled_worlds(spot, samples, seed=number), expected)


def _contradictions(pool: ProcessPool, game: str, samples: int) -> bool:
    """Worlds sampled all over random matches, judged by the reference and by noted facts."""
    started = time.perf_counter()
    replayed = noted = wrong = 0
    tasks = _tasks(game)
    while replayed + noted < samples:
        # An endless iterator can't go to the pool: it would be read to its end first.
        for count, more, problems in pool.map(_judge_match, islice(tasks, BATCH), chunksize=1):
            replayed += count
            noted += more
            wrong += len(problems)
            for problem in problems[:3]:
                print(problem, file=sys.stderr)
    seconds = time.perf_counter() - started
    print(
        f"{game}: {replayed} sampled worlds judged by replaying, {noted} by noted facts, "
        f"{wrong} contradict what was seen (goal 0), {seconds:.0f} s",
        flush=True,
    )
    return wrong == 0


def _tasks(game: str) -> Iterator[Task]:
    for number, setting in enumerate(cycle(covering_settings(game))):
        yield game, setting, 9_000 + number


def _judge_match(task: Task) -> tuple[int, int, list[str]]:
    """Worlds of one match judged by replaying and by noted facts, and those that don't fit."""
    game, setting, seed = task
    replayed = noted = 0
    problems = []
    for spot in spots(game, setting, seed, share=0.05, mostly_first=seed % 2 == 0):
        judge = Judge(spot)
        for world, times in sampled_worlds(spot, WORLDS_A_SPOT, seed).items():
            replayed += times
            if not judge.fits(world):
                problems.append(f"{world} does not fit: {spot}")
        if game in JUDGED:
            facts = FactsJudge(spot.history)
            for world, times in sampled_worlds(spot, NOTED_A_SPOT, seed + 1).items():
                noted += times
                if not facts.fits(world):
                    problems.append(f"{world} is not what was noted: {spot}")
    return replayed, noted, problems


if __name__ == "__main__":
    sys.exit(main())
