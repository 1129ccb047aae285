"""Equal views over the wire: two matches that a viewer can't tell apart give it the same bytes.

Pairs of matches come from the reference: hidden cards, dice and choices change places, what the
viewer may know stays. Both are played by a real server behind a socket, on ports that give ids,
tokens, seeds and times by number, so that nothing has to be left out of the comparison: views,
explanations, tables, lists, events, results, refusals, their metadata, and how many of each. Where
the viewer is to act, an AI player decides for it in the end, and has to decide alike.

    python -m tests.service.equal_views
    python -m tests.service.equal_views --pairs 200 --game mister_bill

Not compared are how long a search took, which is the machine's time, and how results and events
mingle on a play stream, which hangs on the pace of the sockets.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import replace
from itertools import count
from random import Random
from typing import Any

import uvloop

from tavolata.ext.registry import GAMES
from tavolata.service import logs
from tavolata.service.tables.model import SPECTATOR
from tests.games.positions import Point, exchanged_match, random_points
from tests.games.tables import covering_settings
from tests.service.campaign import Problems, Progress, conclude, parser_of
from tests.service.wire_told import Plan, differences, told_of
from tests.service.wire_world import Course, WireWorld

PAIRS = 10_000
PAIRS_A_MATCH = 12  # about
WATCHED = (4, 8, 16, 10**6)  # decisions before the point that are watched, the last for all
DELAY_S = 2
TRIES = 4  # at another match: few exchanges fit what a seat has seen
SHORT_DECISIONS, SHORT_WATCHED = 24, 3

Pair = tuple[Plan, Course, Course]


def pairs_of(game: str, seed: int, *, short: bool = False) -> Iterator[Pair]:
    """Pairs without end, spread over random matches at tables with all options; short: only over
    their beginnings, and looked at once."""
    numbers, settings = count(), covering_settings(game)
    for match_number in count():
        setting = settings[match_number % len(settings)]
        draws = Random(f"{game} {seed} {match_number}")
        points = random_points(
            game, setting, draws.randrange(10**9), mostly_first=match_number % 2 == 0
        )
        share = 0.5 if short else PAIRS_A_MATCH / (30 * GAMES[game].seats_usual)
        for point in points:
            if short and point.match.decision_count > SHORT_DECISIONS:
                break
            if draws.random() >= share:
                continue
            to_act = point.match.to_act
            viewer = draws.choice([*to_act, draws.randrange(SPECTATOR, setting[0])])
            tries = (exchanged_match(point, viewer, draws) for _ in range(TRIES))
            other = next((match for match in tries if match is not None), None)
            if other is not None:
                plan = _plan(next(numbers), game, point, viewer, draws)
                if short:
                    watched_from = max(plan.watched_from, plan.decisions - SHORT_WATCHED)
                    plan = replace(plan, watched_from=watched_from, looks=frozenset())
                yield plan, Course.of(point.match), Course.of(other)


def _plan(number: int, game: str, point: Point, viewer: int, draws: Random) -> Plan:
    decisions = point.match.decision_count
    watched_from = max(0, decisions - draws.choice(WATCHED))
    watched = range(watched_from, decisions)
    return Plan(
        number,
        game,
        point.model.seats,
        dict(point.match.game.options),
        viewer,
        decisions,
        watched_from,
        frozenset(draws.sample(watched, min(1, len(watched)))),
        delay_s=draws.choice([0, 0, DELAY_S]),
        resigns=viewer in point.match.to_act and draws.random() < 0.7,
        player=draws.choice(["ismcts", "ismcts", "greedy"]),
    )


async def compare(worlds: tuple[WireWorld, WireWorld], pair: Pair) -> tuple[list[str], int]:
    """What the viewer or a spectator was told differently of the two, and how much it was told."""
    plan, one, other = pair
    told = await told_of(worlds[0], one, plan)
    return differences(told, await told_of(worlds[1], other, plan)), len(told)


async def equal_views(
    worlds: tuple[WireWorld, WireWorld],
    game: str,
    pairs: int,
    *,
    seed: int,
    problems: Problems,
    short: bool = False,
) -> str:
    """Compare so many pairs of a game; a text."""
    progress = Progress(f"pairs of {game}", pairs, quiet=short)
    answers = seats = spectators = 0
    for pair in pairs_of(game, seed, short=short):
        if progress.done >= pairs:
            break
        plan = pair[0]
        found, told = await compare(worlds, pair)
        problems.check(not found, f"{plan}: {', '.join(found[:5])}")
        answers += told
        seats += plan.resigns
        spectators += plan.viewer == SPECTATOR
        progress.step()
    progress.end()
    return (
        f"{game}: {progress.done:.0f} pairs in {progress.seconds:.0f} s,"
        f" {progress.done / progress.seconds:.1f}/s, {answers} answers and streams each,"
        f" {seats} decisions of AI players, {spectators} pairs for spectators alone"
    )


async def _campaign(arguments: Any) -> tuple[str, Problems]:
    problems, texts = Problems(), []
    async with AsyncExitStack() as stack:
        worlds = []
        for _ in range(2):
            worlds.append(WireWorld())
            await worlds[-1].open()
            stack.push_async_callback(worlds[-1].close)
        for game in [arguments.game] if arguments.game else list(GAMES):
            text = await equal_views(
                (worlds[0], worlds[1]),
                game,
                arguments.pairs,
                seed=arguments.seed,
                problems=problems,
            )
            sys.stderr.write(f"{text}\n")
            texts.append(text)
    return "; ".join(texts), problems


def main() -> int:
    """The long form."""
    parser = parser_of(__doc__)
    parser.add_argument("--pairs", type=int, default=PAIRS, help=f"of each game [{PAIRS}]")
    parser.add_argument("--game", choices=list(GAMES), help="one game instead of all")
    arguments = parser.parse_args()
    logs.configure("console", "warning")
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        summary, problems = runner.run(_campaign(arguments))
    return conclude("equal_views", arguments, summary, problems)


if __name__ == "__main__":
    sys.exit(main())
