"""The long form of test_secrecy: `python -m tests.games.secrecy_campaign --pairs 100000`.

Counts equal-view pairs of which anything differs that a viewer gets, decisions included.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from itertools import cycle, islice
from multiprocessing import Pool
from random import Random

from tavolata.ext.registry import GAMES
from tests.games.positions import exchanged_match, random_points
from tests.games.secrecy import differences
from tests.games.tables import Setting, covering_settings

BATCH = 8  # matches handed out at a time
SHARE = 0.2  # of the decisions of a match, a pair each

Task = tuple[str, Setting, int]


def main() -> int:
    """Exit status 0 if no pair differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--game", choices=list(GAMES), help="one game instead of all")
    parser.add_argument("--pairs", type=int, default=100_000, help="pairs a game")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    arguments = parser.parse_args()
    wrong = 0
    with Pool(arguments.jobs) as pool:
        for game in [arguments.game] if arguments.game else list(GAMES):
            tasks, compared, differing = _tasks(game), 0, 0
            while compared < arguments.pairs:
                for count, problems in pool.map(_pairs_of, islice(tasks, BATCH), chunksize=1):
                    compared += count
                    differing += len(problems)
                    for problem in problems[:3]:
                        print(problem, file=sys.stderr)
            print(f"{game}: {compared} pairs compared, {differing} differ (goal 0)", flush=True)
            wrong += differing
    return 1 if wrong else 0


def _tasks(game: str) -> Iterator[Task]:
    for number, setting in enumerate(cycle(covering_settings(game))):
        yield game, setting, 30_000 + number


def _pairs_of(task: Task) -> tuple[int, list[str]]:
    """Pairs compared along one match, and those that differ."""
    game, setting, seed = task
    choice = Random(f"{seed} pairs")
    compared, problems = 0, []
    for point in random_points(game, setting, seed, mostly_first=seed % 2 == 0):
        if choice.random() >= SHARE:
            continue
        viewer = choice.choice([*point.match.to_act, choice.randrange(-1, setting[0])])
        other = exchanged_match(point, viewer, choice)
        if other is None:
            continue
        compared += 1
        found = differences(point.match, other, viewer)
        if found:
            line = point.match.game.format_state(point.match.state_bytes())
            problems.append(f"{setting} seed {seed} viewer {viewer}: {found} differ at {line}")
    return compared, problems


if __name__ == "__main__":
    sys.exit(main())
