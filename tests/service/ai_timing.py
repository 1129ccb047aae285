"""The answering time of AI seats says nothing about what they hold: no rule tells classes apart.

AI players with a search play against each other at many tables, with a floor above the time of a
search and a jitter. Afterwards the replays tell what every seat held, and the answering times, by
the time of the event and by its arrival at a spectator, are set against that: one legal action or
several, a strong hand or a weak one, a long search or a short one. For each the area under the
curve of the best threshold rule must be 0.5 within 0.02, or within four standard errors as long as
there are too few decisions for that.

    python -m tests.service.ai_timing
    python -m tests.service.ai_timing --decisions 1000 --tables 8
"""

from __future__ import annotations

import asyncio
import random
import sys
import time
from collections.abc import Sequence
from typing import Any

import grpc
import uvloop

from tavolata.service.own_server import own_server
from tavolata.v1 import table_service_pb2 as pb
from tavolata.v1.player_pb2 import AiPace, AiPlayer, SearchLimits
from tavolata.v1.table_pb2 import SeatPlan, TableSettings
from tavolata.v1.table_service_pb2_grpc import TableServiceStub
from tests.service.answering import GAME, SEATS, Answer, answers_of, separations
from tests.service.campaign import Problems, Progress, conclude, parser_of
from tests.service.house import bearer, fresh_id

DECISIONS = 10_000
TABLES = 24
FLOOR_MS, JITTER_MS = 20, 30
ITERATIONS = 600  # below a millisecond, as a rule
OFF, ERRORS = 0.02, 4.0  # from 0.5, and in standard errors if that is more
LATE_SHARE = 0.01  # of searches that may have taken longer than the floor: it has to cover them


def judge(answers: Sequence[Answer], problems: Problems) -> str:
    """Look at every separation; a text with all of them."""
    told = []
    for name, found in separations(answers).items():
        off = abs(found.auc - 0.5)
        text = f"{name} {found.auc:.4f} +- {found.error:.4f} ({found.sizes[0]} to {found.sizes[1]})"
        problems.check(off <= max(OFF, ERRORS * found.error), f"told apart: {text}")
        told.append(text)
    late = sum(each.think_us > FLOOR_MS * 1000 for each in answers)
    problems.check(
        late <= LATE_SHARE * len(answers),
        f"{late} of {len(answers)} searches took longer than the floor of {FLOOR_MS} ms: this"
        " machine is too busy for the campaign, or --tables too many",
    )
    return ", ".join(told)


def request_for_table(seed: bytes, iterations: int) -> pb.CreateTableRequest:
    """A table of AI players with the campaign's pace."""
    pace = AiPace()
    pace.floor.FromMilliseconds(FLOOR_MS)
    pace.jitter.FromMilliseconds(JITTER_MS)
    player = AiPlayer(player="ismcts", limits=SearchLimits(iterations=iterations))
    return pb.CreateTableRequest(
        request_id=fresh_id(),
        settings=TableSettings(game_id=GAME, ai_pace=pace),
        seats=[SeatPlan(ai=player)] * SEATS,
        seed=seed,
    )


async def _match(stub: Any, seed: bytes) -> list[Answer]:
    made = await stub.CreateTable(request_for_table(seed, ITERATIONS))
    table_id, owner = made.table.table_id, bearer(made.token)
    watch = stub.WatchTable(pb.WatchTableRequest(table_id=table_id, after_event=0))
    start = pb.StartMatchRequest(request_id=fresh_id(), table_id=table_id)
    await stub.StartMatch(start, metadata=owner)
    arrivals_us: dict[int, int] = {}
    async for message in watch:
        if message.HasField("event"):
            at_us = message.event.time.ToMicroseconds()
            arrivals_us.setdefault(at_us, time.monotonic_ns() // 1000)
    replay = await stub.GetReplay(pb.GetReplayRequest(table_id=table_id))
    return answers_of(replay.replay, arrivals_us)


async def ai_timing(
    target: str, decisions: int, *, tables: int, seed: int, quiet: bool = False
) -> tuple[str, Problems]:
    """Let that many decisions be made with a single legal action, the rarest of the classes."""
    problems = Problems()
    progress = Progress("decisions a class", decisions, quiet=quiet)
    answers: list[Answer] = []

    async def keep_playing(stub: Any, place: int) -> None:
        draws = random.Random(f"{seed} {place}")
        # Matches that begin together would wait for each other.
        await asyncio.sleep(draws.random() * FLOOR_MS / 1000)
        while progress.done < decisions:
            new = await _match(stub, draws.randbytes(32))
            answers.extend(new)
            progress.step(sum(each.legal == 1 for each in new))

    async with grpc.aio.insecure_channel(target) as channel:
        stub: Any = TableServiceStub(channel)
        await asyncio.gather(*(keep_playing(stub, place) for place in range(tables)))
    progress.end()
    rate = len(answers) / progress.seconds
    told = judge(answers, problems)
    return f"{len(answers)} decisions in {progress.seconds:.0f} s, {rate:.0f}/s; {told}", problems


async def _against_own_server(arguments: Any) -> tuple[str, Problems]:
    async with own_server() as server:
        return await ai_timing(
            server.target, arguments.decisions, tables=arguments.tables, seed=arguments.seed
        )


def main() -> int:
    """The long form."""
    parser = parser_of(__doc__)
    parser.add_argument("--decisions", type=int, default=DECISIONS, help=f"a class [{DECISIONS}]")
    parser.add_argument("--tables", type=int, default=TABLES, help=f"at a time [{TABLES}]")
    arguments = parser.parse_args()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        summary, problems = runner.run(_against_own_server(arguments))
    return conclude("ai_timing", arguments, summary, problems)


if __name__ == "__main__":
    sys.exit(main())
