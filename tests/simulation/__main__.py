"""`./run sim SEEDS=1000`, or `./run sim SEED=7` for one world again, or `./run sim PLANTED=1`."""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import time
from collections.abc import Iterator

from tests.simulation.bugs import BUGS, first_found
from tests.simulation.run import Outcome, attempt, play

COMMAND = "./run sim SEED={}"


def main() -> int:
    """Exit status 0 if every world held."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=1000, help="number of worlds")
    parser.add_argument("--first", type=int, default=1, help="seed of the first")
    parser.add_argument("--seed", type=int, help="this world alone")
    parser.add_argument("--planted", action="store_true", help="how soon planted faults are found")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    arguments = parser.parse_args(_flags(sys.argv[1:]))
    if arguments.seed is not None:
        print(play(arguments.seed))
        return 0
    if arguments.planted:
        return report_planted(arguments.seeds, arguments.jobs)
    seeds = range(arguments.first, arguments.first + arguments.seeds)
    return report(seeds, arguments.jobs)


def _flags(given: list[str]) -> list[str]:
    """`SEEDS=7` is written for `--seeds=7`, and `PLANTED=1` for `--planted`."""
    flags = []
    for word in given:
        name, equals, value = word.partition("=")
        flag = f"--{name.lower()}" if equals and name.isupper() else word
        plain = flag == word or flag == "--planted"
        flags.append(flag if plain else f"{flag}={value}")
    return flags


def report(seeds: range, jobs: int) -> int:
    """Play all, tell of each that breaks as it does, and what it all came to."""
    started, held, broken = time.monotonic(), 0, 0
    sums = dict.fromkeys(("entries", "events", "acknowledged", "crashes", "steps"), 0)
    for seed, outcome in _played(seeds, jobs):
        if isinstance(outcome, str):
            broken += 1
            print(f"{outcome}\n  again: {COMMAND.format(seed)}", flush=True)
            continue
        held += 1
        for name in sums:
            sums[name] += getattr(outcome, name)
        if sys.stderr.isatty():
            print(f"\r{held + broken} of {len(seeds)}", end="", file=sys.stderr)
    told = ", ".join(f"{count:,} {name}" for name, count in sums.items())
    print(f"{held} worlds held, {broken} broke; {told}; {time.monotonic() - started:.0f} s")
    return 1 if broken else 0


def report_planted(seeds: int, jobs: int) -> int:
    """Tell after how many worlds each planted fault is found, and by what."""
    missed = 0
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        searches = [
            (name, pool.apply_async(first_found, (name, range(1, seeds + 1)))) for name in BUGS
        ]
        for name, search in searches:
            seed, found = search.get()
            missed += seed is None
            print(
                f"{name:45} {seed or 'not found'}: {found.splitlines()[0] if found else ''}",
                flush=True,
            )
    print(f"{len(BUGS) - missed} of {len(BUGS)} found within {seeds} worlds")
    return 1 if missed else 0


def _played(seeds: range, jobs: int) -> Iterator[tuple[int, Outcome | str]]:
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        yield from pool.imap_unordered(attempt, seeds, chunksize=2)


if __name__ == "__main__":
    sys.exit(main())
