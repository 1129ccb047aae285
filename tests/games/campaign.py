"""The long form of test_against_reference.

`python -m tests.games.campaign --matches 2000 --game bouillabaisse`; all games without `--game`.
Matches go through every combination of seats and options in turn, every fourth on sorted deals.
With `--seats`, `--option` and `--seed` it shows one match again, as a failure message says.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterable, Iterator
from multiprocessing import Pool

from tavolata.ext.registry import GAMES
from tests.games.comparison import Plan, compare_match
from tests.games.tables import Setting, all_settings, option_values


def main() -> int:
    """Exit status 0 if every match agreed, 1 with the first disagreements otherwise."""
    arguments = _parser().parse_args()
    games = [arguments.game] if arguments.game else list(GAMES)
    failures = sum(_run(list(_plans(game, arguments)), arguments.jobs) for game in games)
    return 1 if failures else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--game", choices=list(GAMES), help="one game instead of all")
    parser.add_argument("--matches", type=int, default=2000, help="matches a game")
    parser.add_argument("--seed", type=int, default=1_000_000, help="seed of the first match")
    parser.add_argument("--seats", type=int, help="one number of seats instead of all")
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--sorted-deals", action="store_true", help="all matches on sorted deals")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    return parser


def _plans(game: str, arguments: argparse.Namespace) -> Iterator[Plan]:
    settings = list(_settings(game, arguments.seats, arguments.option))
    if not settings:
        raise SystemExit(f"{game} has no such seats and options: {option_values(game)}")
    for number in range(arguments.matches):
        seats, options = settings[number % len(settings)]
        rigged = arguments.sorted_deals or (number % 4 == 3 and arguments.matches > 1)
        yield Plan(game, seats, tuple(options.items()), arguments.seed + number, rigged)


def _settings(game: str, seats: int | None, options: list[str]) -> Iterable[Setting]:
    wanted = [tuple(option.split("=", 1)) for option in options]
    for setting in all_settings(game):
        if seats not in (None, setting[0]):
            continue
        if all(str(setting[1].get(name)) == value for name, value in wanted):
            yield setting


def _run(plans: list[Plan], jobs: int) -> int:
    started, steps, failures = time.perf_counter(), 0, []
    play = _thorough if len(plans) == 1 else _quick
    with Pool(jobs) as pool:
        for outcome in pool.imap_unordered(play, plans, chunksize=4):
            if isinstance(outcome, str):
                failures.append(outcome)
            else:
                steps += outcome
    seconds = time.perf_counter() - started
    settings = {(plan.seats, plan.options) for plan in plans}
    print(
        f"{plans[0].game}: {len(plans)} matches, {len(settings)} settings, "
        f"{steps} actions, {len(failures)} disagreements, {seconds:.0f} s"
    )
    for failure in failures[:5]:
        print(failure, file=sys.stderr)
    return len(failures)


def _quick(plan: Plan) -> int | str:
    return _outcome(plan, every_view=plan.seed % 8 == 0)


def _thorough(plan: Plan) -> int | str:
    return _outcome(plan, every_view=True)


def _outcome(plan: Plan, *, every_view: bool) -> int | str:
    try:
        return compare_match(plan, every_view=every_view)
    except AssertionError as failure:
        return str(failure)


if __name__ == "__main__":
    sys.exit(main())
