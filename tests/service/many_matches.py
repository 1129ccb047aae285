"""Finished matches leave nothing behind: memory and descriptors are flat over 100,000 short ones.

AI players play the shortest matches there are, many at a time, each watched to its end. The server
is looked at again and again. Half of what it has done is warm-up, in which the memory fills with as
many finished matches as are kept; over the rest a line is laid through what it holds, and may not
rise by more than an allowance a match.

    python -m tests.service.many_matches
    python -m tests.service.many_matches --matches 2000 --tables 8
"""

from __future__ import annotations

import asyncio
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import grpc
import uvloop

from tavolata.ext.registry import GAMES
from tavolata.service.codecs import codec_of
from tavolata.service.own_server import own_server
from tavolata.v1 import table_service_pb2 as pb
from tavolata.v1.event_pb2 import ClosingReason
from tavolata.v1.player_pb2 import AiPlayer
from tavolata.v1.table_pb2 import SeatPlan, TableSettings
from tavolata.v1.table_service_pb2_grpc import TableServiceStub
from tests.service.campaign import Problems, Progress, Used, conclude, parser_of, used_by
from tests.service.house import bearer, fresh_id

MATCHES = 100_000
TABLES = 16  # at a time
GAME, SEATS, OPTIONS = "bids", 3, {"rounds": 1}
LOOKS = 400  # at the server, evenly spread over the matches
LOOKS_MIN = 20
WARM_SHARE = 0.5
KEPT = 50  # finished matches in memory
SLACK_BYTES = 4 << 20  # over all, for what an allocator does; and for every match:
MATCH_BYTES = 16.0
OPEN_SLACK = 4  # descriptors


@dataclass(frozen=True)
class Look:
    """What the server held after so many matches."""

    matches: int
    used: Used


def judge(looks: Sequence[Look], problems: Problems) -> str:
    """Lay a line through what came after the warm-up; a text."""
    steady = looks[int(len(looks) * WARM_SHARE) :]
    if len(steady) < LOOKS_MIN:
        problems.add(f"{len(steady)} looks at the server are too few to judge by")
        return "too short"
    matches = [float(look.matches) for look in steady]
    more = matches[-1] - matches[0]
    slope, start = statistics.linear_regression(
        matches, [float(look.used.rss_bytes) for look in steady]
    )
    allowed = MATCH_BYTES + SLACK_BYTES / more
    problems.check(
        slope <= allowed,
        f"RSS grows by {slope:.0f} bytes a match over {more:.0f} matches; allowed: {allowed:.0f}",
    )
    half = len(steady) // 2
    text = [f"RSS {(start + slope * matches[0]) / 2**20:.1f} MiB and {slope:+.1f} bytes a match"]
    for what, slack in (("descriptors", OPEN_SLACK), ("threads", 0)):
        parts = (steady[:half], steady[half:])
        low, high = (statistics.median(getattr(each.used, what) for each in part) for part in parts)
        problems.check(high <= low + slack, f"{what} grew from {low:g} to {high:g}")
        text.append(f"{what} {low:g} to {high:g}")
    return ", ".join(text)


async def play_one(stub: Any) -> None:
    """A match of AI players, from its making to its end."""
    options = codec_of(GAME).options_to(GAMES[GAME].complete(SEATS, OPTIONS))
    made = await stub.CreateTable(
        pb.CreateTableRequest(
            request_id=fresh_id(),
            settings=TableSettings(game_id=GAME, options=options),
            seats=[SeatPlan(ai=AiPlayer(player="greedy"))] * SEATS,
        )
    )
    table_id = made.table.table_id
    start = pb.StartMatchRequest(request_id=fresh_id(), table_id=table_id)
    await stub.StartMatch(start, metadata=bearer(made.token))
    closing = None
    async for message in stub.WatchTable(pb.WatchTableRequest(table_id=table_id)):
        closing = message.closing
    assert closing is not None
    assert closing.reason == ClosingReason.CLOSING_REASON_MATCH_FINISHED


async def many_matches(
    target: str,
    matches: int,
    look: Callable[[int], str],
    *,
    tables: int = TABLES,
    quiet: bool = False,
) -> float:
    """Play so many matches, and call `look` with their number now and then, which tells something
    of what it has seen; matches a second."""
    progress = Progress("matches", matches, quiet=quiet)
    every, begun = max(1, matches // LOOKS), 0

    async def keep_playing(stub: Any) -> None:
        nonlocal begun
        while begun < matches:
            begun += 1
            await play_one(stub)
            progress.done += 1
            if progress.done % every == 0:
                progress.show(look(round(progress.done)))

    async with grpc.aio.insecure_channel(target) as channel:
        stub: Any = TableServiceStub(channel)
        await asyncio.gather(*(keep_playing(stub) for _ in range(tables)))
    progress.end()
    return progress.done / progress.seconds


async def _against_own_server(arguments: Any) -> tuple[str, Problems]:
    looks: list[Look] = []
    flags = ("--ai-floor", "0", "--ai-jitter", "0", "--caller-tables-per-min", "0")
    kept = ("--over-in-memory-max", str(KEPT))
    async with own_server(*flags, *kept) as server:

        def look(done: int) -> str:
            looks.append(Look(done, used_by(server.process)))
            used = looks[-1].used
            return f"RSS {used.rss_bytes / 2**20:.1f} MiB, {used.descriptors} descriptors"

        rate = await many_matches(server.target, arguments.matches, look, tables=arguments.tables)
        store_mib = server.store.stat().st_size / 2**20
    problems = Problems()
    text = judge(looks, problems)
    return (
        f"{arguments.matches} matches, {rate:.0f}/s, {store_mib:.0f} MiB stored: {text}",
        problems,
    )


def main() -> int:
    """The long form."""
    parser = parser_of(__doc__)
    parser.add_argument("--matches", type=int, default=MATCHES, help=f"[{MATCHES}]")
    parser.add_argument("--tables", type=int, default=TABLES, help=f"at a time [{TABLES}]")
    arguments = parser.parse_args()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        summary, problems = runner.run(_against_own_server(arguments))
    return conclude("many_matches", arguments, summary, problems)


if __name__ == "__main__":
    sys.exit(main())
