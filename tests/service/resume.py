"""Watchers cut at random points go on at another server: no gap, no duplicate, the same for all.

Matches are played over all servers of one database, which tell each other nothing (bus off). At
every table seats and spectators are watched by several: some are never cut, some are cut all the
time and go on with the number they have, or an earlier one, at another server, by a watch or a play
stream; some read views so slowly that they are moved ahead by a snapshot, and fetch what they
missed. In the end all watchers of a viewer must have the bytes of one that wasn't cut and of one
that watched afterwards, as many events as every other viewer, and the public part of all must be
one and the same.

    python -m tests.service.resume
    python -m tests.service.resume --resumes 3000 --servers 1 --seed 4
"""

from __future__ import annotations

import asyncio
import random
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import uvloop

from tavolata.ext.registry import GAMES
from tavolata.v1 import table_service_pb2 as pb
from tavolata.v1.table_pb2 import TableState
from tests.service.campaign import Problems, Progress, conclude, parser_of
from tests.service.kill_loop import Load, Seating, Tally, Target
from tests.service.postgres import Cluster, Databases
from tests.service.resuming import Course, Follower, Sleeper, Steady, digest

RESUMES = 100_000
TABLES, CUT, DOZING = 8, 2, 1  # at a time; watchers of a viewer that are cut, and that doze
SPECTATORS = 2  # counted as seats are, each with their watchers
PAUSE_S = 0.03  # of people before an action, at most
BACKLOG = "16"  # events: the least that can be set
OVERFLOWS_MIN = 20  # for every 10,000 resumes


async def _play(load: Load, seating: Seating, seat: int, pause_s: float) -> None:
    """Play a seat to the end of the match, each call at any of the servers."""
    token, read = seating.tokens[seat], pb.GetViewRequest(table_id=seating.table_id)
    while True:
        view = (await load.insist("GetView", read, token)).view
        if view.state == TableState.TABLE_STATE_FINISHED:
            return
        await asyncio.sleep(load.random.random() * pause_s)
        if view.legal_actions:
            play = pb.PlayActionRequest(
                request_id=load.new_id(),
                table_id=seating.table_id,
                turn=view.turn,
                action=load.random.choice(view.legal_actions),
            )
            await load.insist("PlayAction", play, token)


class Table:
    """A match and all who watch it."""

    def __init__(self, course: Course, load: Load, game: str, seed: str) -> None:
        self._course, self._load, self._game = course, load, game
        self._draws = random.Random(seed)

    async def live(self, pause_s: float) -> int:
        """The match from its beginning to the comparison; how many events it had."""
        people = max(2, GAMES[self._game].seats_min - self._draws.randrange(2))
        ai = max(0, GAMES[self._game].seats_min - people)
        seating = await self._load.sit_down(self._game, people, ai)
        viewers: dict[str, str | None] = {f"seat {n}": t for n, t in seating.tokens.items()}
        viewers |= {f"spectator {n}": None for n in range(SPECTATORS)}
        watchers = {
            name: [
                self._watcher(kind, name, seating.table_id, token)
                for kind in [Steady, *[Follower] * CUT, *[Sleeper] * DOZING]
            ]
            for name, token in viewers.items()
        }
        await asyncio.gather(
            *(_play(self._load, seating, seat, pause_s) for seat in seating.tokens),
            *(watcher.live() for each in watchers.values() for watcher in each),
        )
        for name, token in viewers.items():
            # What has happened by now is never skipped: this is one watch from end to end.
            watchers[name].insert(0, self._watcher(Steady, name, seating.table_id, token))
            await watchers[name][0].live()
        return self._compare(watchers)

    def _watcher(
        self, kind: Callable[..., Follower], name: str, table_id: str, token: str | None
    ) -> Follower:
        draws = random.Random(self._draws.random())
        return kind(self._course, name, table_id, token, draws)

    def _compare(self, watchers: dict[str, list[Follower]]) -> int:
        check = self._course.problems.check
        public = watchers["spectator 0"][0].events
        digests: dict[str, str] = {}
        for name, (first, *others) in watchers.items():
            for other in others:
                kind = type(other).__name__
                check(first.events == other.events, f"{first}: not the bytes of {kind}")
            count = len(first.events)
            check(count == len(public), f"{first}: {count} events, others have {len(public)}")
            if count == len(public):
                digests[name] = digest(first.events, public)
        check(len(set(digests.values())) == 1, f"public parts differ: {digests}")
        return len(public)


async def resume(
    targets: Sequence[str],
    resumes: int,
    *,
    seed: int,
    tables: int = TABLES,
    pause_s: float = PAUSE_S,
    quiet: bool = False,
) -> tuple[str, Problems]:
    """Play and watch at these servers until there were that many resumes."""
    problems, progress = Problems(), Progress("resumes", resumes, quiet=quiet)
    course = Course(targets, resumes, problems, progress)
    load = Load(targets, seed, Tally())
    matches = events = 0

    async def keep_playing(place: int) -> None:
        nonlocal matches, events
        games = list(GAMES)
        while course.cutting:
            game = games[(place + matches) % len(games)]
            table = Table(course, load, game, f"{seed} {place} {matches}")
            matches += 1
            events += await table.live(pause_s)

    try:
        await asyncio.gather(*(keep_playing(place) for place in range(tables)))
    finally:
        await load.close()
        await course.close()
    progress.end()
    overflows = course.counts["fetched what was skipped"]
    least = max(1, OVERFLOWS_MIN * resumes // 10_000)
    problems.check(
        overflows >= least, f"only {overflows} sleepers were moved ahead, {least} are wanted"
    )
    counts = ", ".join(f"{count} {name}" for name, count in sorted(course.counts.items()))
    return (
        f"{progress.done:.0f} resumes at {len(targets)} servers in {progress.seconds:.0f} s:"
        f" {matches} matches of {events} events; {counts}"
    ), problems


async def _over_servers(dsn: str, resumes: int, servers: int, seed: int) -> tuple[str, Problems]:
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="resume-")))
        targets = [Target(folder, dsn, f"log-{number}") for number in range(servers)]
        for target in targets:
            target.environment |= {
                "TAVOLATA_BUS": "off",
                "TAVOLATA_LOOK_S": "0.05",
                "TAVOLATA_BACKLOG_MAX": BACKLOG,
            }
            await target.start()
            stack.push_async_callback(target.stop)
        summary, problems = await resume([each.bind for each in targets], resumes, seed=seed)
        for target in targets:
            faults = target.log.read_text().count("call.fault")
            problems.check(not faults, f"{faults} faults in {target.log.name}")
    return summary, problems


def main() -> int:
    """The long form."""
    parser = parser_of(__doc__)
    parser.add_argument("--resumes", type=int, default=RESUMES, help=f"[{RESUMES}]")
    parser.add_argument("--servers", type=int, default=3, help="on one PostgreSQL [3]")
    arguments = parser.parse_args()
    cluster = Cluster()
    try:
        cluster.start()
        databases = Databases(cluster.dsn)
        asyncio.run(databases.prepare())
        dsn = asyncio.run(databases.fresh())
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            summary, problems = runner.run(
                _over_servers(dsn, arguments.resumes, arguments.servers, arguments.seed)
            )
    finally:
        cluster.stop()
    return conclude("resume", arguments, summary, problems)


if __name__ == "__main__":
    sys.exit(main())
