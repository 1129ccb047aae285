"""A server under a mixed load with reconnects: memory, descriptors and threads level off.

People play alone and with AI players, others watch and are cut off all the time, matches end and
others begin, tables are listed and read, some are aborted. The server is looked at every few
seconds. After a warm-up, the second half may not lie above the first by more than an allowance:
what grpc leaks with every stream that is cancelled (grpc#43360: 90 to 220 bytes) and some slack.
Threads and descriptors may not grow, but for the connections that are open at the moment.

    python -m tests.service.soak
    python -m tests.service.soak --minutes 3
"""

from __future__ import annotations

import asyncio
import random
import statistics
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import uvloop

from tavolata.ext.registry import GAMES
from tavolata.service.own_server import own_server
from tavolata.v1 import table_service_pb2 as pb
from tavolata.v1.table_pb2 import TableState
from tests.service.campaign import Problems, Progress, Used, conclude, parser_of, used_by
from tests.service.house import fresh_id
from tests.service.kill_loop import Load, Seating, Tally
from tests.service.resuming import Course, Follower

MINUTES = 60.0
TABLES, WATCHERS = 12, 3  # at a time; of each table, all cut off again and again
WARM_SHARE, WARM_S = 0.2, 120.0  # of the time, at least; what is over is in memory for a while
SAMPLE_S = 2.0
PAUSE_S = 0.02  # before a call, at most
ABORT_SHARE = 0.1
LEAK_BYTES = 220  # of a cancelled stream: grpc#43360
SLACK_BYTES = 8 << 20
OPEN_SLACK = 16  # descriptors: connections come and go
SAMPLES_MIN = 8


@dataclass
class Soak:
    """What has been done so far, and what the server used at each look."""

    load: Load
    course: Course
    draws: random.Random
    until: float
    counts: Counter[str] = field(default_factory=Counter)
    samples: list[tuple[Used, int, int]] = field(default_factory=list)  # with streams, matches

    @property
    def open(self) -> bool:
        """Whether it isn't time to end yet."""
        return time.monotonic() < self.until

    async def keep_playing(self, place: int) -> None:
        """Match after match, of any game, with and without AI players."""
        games = list(GAMES)
        while self.open:
            game = games[(place + self.counts["matches"]) % len(games)]
            seats = GAMES[game].seats_min
            people = self.draws.randint(1, seats)
            seating = await self.load.sit_down(game, people, max(0, seats - people))
            stop = asyncio.Event()
            watching = [
                asyncio.create_task(self._watcher(seating, place, number).live())
                for number in range(WATCHERS)
            ]
            if self.draws.random() < ABORT_SHARE:
                asyncio.get_running_loop().call_later(self.draws.random(), stop.set)
            try:
                await asyncio.gather(*(self._play(seating, seat, stop) for seat in seating.tokens))
                if stop.is_set() or not self.open:
                    for task in watching:
                        task.cancel()
                    await asyncio.gather(*watching, return_exceptions=True)
                    await self._abort(seating)
                else:
                    await asyncio.gather(*watching)
            finally:
                for task in watching:
                    task.cancel()
            self.counts["matches"] += 1

    def _watcher(self, seating: Seating, place: int, number: int) -> Follower:
        token = seating.tokens.get(number)  # a spectator where nobody sits
        draws = random.Random(f"{place} {number} {self.counts['matches']}")
        return Follower(self.course, f"watcher {number}", seating.table_id, token, draws)

    async def _play(self, seating: Seating, seat: int, stop: asyncio.Event) -> None:
        token, read = seating.tokens[seat], pb.GetViewRequest(table_id=seating.table_id)
        while self.open and not stop.is_set():
            view = (await self.load.insist("GetView", read, token)).view
            if view.state == TableState.TABLE_STATE_FINISHED:
                return
            await asyncio.sleep(self.draws.random() * PAUSE_S)
            if view.legal_actions:
                play = pb.PlayActionRequest(
                    request_id=fresh_id(),
                    table_id=seating.table_id,
                    turn=view.turn,
                    action=self.draws.choice(view.legal_actions),
                )
                await self.load.insist("PlayAction", play, token)
                self.counts["actions"] += 1

    async def _abort(self, seating: Seating) -> None:
        read = pb.GetTableRequest(table_id=seating.table_id)
        table = (await self.load.insist("GetTable", read)).table
        if table.state == TableState.TABLE_STATE_PLAYING:
            abort = pb.AbortMatchRequest(request_id=fresh_id(), table_id=seating.table_id)
            await self.load.insist("AbortMatch", abort, seating.tokens[0])
            self.counts["aborted"] += 1

    async def read(self) -> None:
        """Listings, now and then."""
        while self.open:
            await self.load.insist("ListTables", pb.ListTablesRequest(page_size=20))
            await asyncio.sleep(0.2)

    async def look(self, process: int, progress: Progress) -> None:
        """At the server, every few seconds."""
        before = time.monotonic()
        while self.open:
            await asyncio.sleep(min(SAMPLE_S, max(0.0, self.until - time.monotonic())))
            used = await asyncio.to_thread(used_by, process)
            self.samples.append((used, self._streams, self.counts["matches"]))
            now = time.monotonic()
            progress.step(
                now - before,
                f"RSS {used.rss_bytes / 2**20:.0f} MiB, {used.descriptors} descriptors,"
                f" {used.threads} threads, {self._streams} streams cut",
            )
            before = now

    @property
    def _streams(self) -> int:
        return self.course.counts["resumed"]


def judge(samples: Sequence[tuple[Used, int, int]], seconds: float, problems: Problems) -> str:
    """Compare the halves of what came after the warm-up; a text."""
    warm = min(0.5, max(WARM_SHARE, WARM_S / seconds))
    steady = samples[int(len(samples) * warm) :]
    if len(steady) < SAMPLES_MIN:
        problems.add(f"{len(steady)} looks at the server are too few to judge by")
        return "too short"
    half = len(steady) // 2
    first, second = steady[:half], steady[half:]

    def middle(part: Sequence[tuple[Used, int, int]], what: str) -> float:
        return float(statistics.median(getattr(used, what) for used, _, _ in part))

    # From the middle of one half to the middle of the other.
    _, streams_a, matches_a = first[len(first) // 2]
    _, streams_b, matches_b = second[len(second) // 2]
    streams, matches = streams_b - streams_a, matches_b - matches_a
    allowed = streams * LEAK_BYTES + SLACK_BYTES
    grown = middle(second, "rss_bytes") - middle(first, "rss_bytes")
    problems.check(
        grown <= allowed,
        f"RSS grew by {grown:.0f} bytes with {streams} streams cut and {matches} matches ended;"
        f" allowed: {allowed:.0f}",
    )
    for what, slack in (("descriptors", OPEN_SLACK), ("threads", 0)):
        low, high = middle(first, what), middle(second, what)
        problems.check(high <= low + slack, f"{what} grew from {low:g} to {high:g}")
    return (
        f"RSS {middle(first, 'rss_bytes') / 2**20:.1f} to"
        f" {middle(second, 'rss_bytes') / 2**20:.1f} MiB from half to half"
        f" ({grown / max(1, streams):.0f} bytes a stream cut; {allowed / 2**20:.1f} MiB allowed,"
        f" of it {streams * LEAK_BYTES / 2**20:.1f} for grpc#43360), descriptors"
        f" {middle(first, 'descriptors'):g} to {middle(second, 'descriptors'):g}, threads"
        f" {middle(first, 'threads'):g} to {middle(second, 'threads'):g}"
    )


async def soak(
    target: str,
    process: int,
    seconds: float,
    *,
    seed: int,
    tables: int = TABLES,
    quiet: bool = False,
) -> tuple[str, Soak, Problems]:
    """Load a server for so long and look at its process."""
    problems = Problems()
    # The watchers count their resumes themselves; how far it is is a matter of time here.
    course = Course([target], sys.maxsize, problems, Progress("resumes", 1, quiet=True))
    load = Load([target], seed, Tally())
    state = Soak(load, course, random.Random(seed), time.monotonic() + seconds)
    progress = Progress("seconds", seconds, quiet=quiet)
    try:
        await asyncio.gather(
            state.look(process, progress),
            state.read(),
            *(state.keep_playing(place) for place in range(tables)),
        )
    finally:
        await load.close()
        await course.close()
    progress.end()
    done = (
        f"{progress.seconds:.0f} s: {state.counts['matches']} matches"
        f" ({state.counts['aborted']} aborted), {state.counts['actions']} actions of people,"
        f" {course.counts['resumed']} reconnects"
    )
    return done, state, problems


async def _against_own_server(arguments: Any) -> tuple[str, Problems]:
    flags = ("--ai-floor", "0", "--ai-jitter", "0", "--caller-tables-per-min", "0")
    async with own_server(*flags) as server:
        seconds = 60 * arguments.minutes
        done, state, problems = await soak(
            server.target, server.process, seconds, seed=arguments.seed
        )
    return f"{done}; {judge(state.samples, seconds, problems)}", problems


def main() -> int:
    """The long form."""
    parser = parser_of(__doc__)
    parser.add_argument("--minutes", type=float, default=MINUTES, help=f"[{MINUTES:g}]")
    arguments = parser.parse_args()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        summary, problems = runner.run(_against_own_server(arguments))
    return conclude("soak", arguments, summary, problems)


if __name__ == "__main__":
    sys.exit(main())
