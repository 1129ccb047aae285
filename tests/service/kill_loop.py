"""A server that is killed again and again under load: nothing acknowledged is lost or done twice.

People play at several tables over real sockets, AI players beside them; the server process gets
SIGKILL at random moments and is started again on the same store. Whoever has no answer repeats the
call with the same request id, at any of the servers. In the end every match must be over, and its
record must have every acknowledged action exactly once, with the turn, seat and content it was
acknowledged for, and reproduce the match; and every watcher must have got every event exactly once.

    python -m tests.service.kill_loop
    python -m tests.service.kill_loop --kills 200 --store postgres --servers 3
    python -m tests.service.kill_loop --kills 100 --store postgres --kill postgres
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import random
import signal
import socket
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
from grpc_status import rpc_status

from tavolata.ext.core.record import replay
from tavolata.ext.registry import game_spec
from tavolata.service.replays import check_fairness, record_of_replay
from tavolata.v1 import table_service_pb2 as pb
from tavolata.v1.event_pb2 import ClosingReason, Event
from tavolata.v1.play_pb2 import ActionReceipt
from tavolata.v1.table_pb2 import TableSettings, TableState
from tavolata.v1.table_service_pb2_grpc import TableServiceStub
from tests.service.campaign import Problems, Progress, conclude, parser_of
from tests.service.house import AI, CALLER, OPEN, bearer, refusal_of
from tests.service.postgres import Cluster, Databases

ENDED = (
    ClosingReason.CLOSING_REASON_MATCH_FINISHED,
    ClosingReason.CLOSING_REASON_MATCH_ABORTED,
)
# What a call can fail with when its server dies.
GONE = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.UNKNOWN, grpc.StatusCode.INTERNAL,
        grpc.StatusCode.CANCELLED, grpc.StatusCode.DEADLINE_EXCEEDED)  # fmt: skip


def _pass_unless_gone(error: grpc.aio.AioRpcError) -> None:
    """Raise what the server itself answered, apart from that it is stopping."""
    answered = rpc_status.from_call(error)  # type: ignore[arg-type]
    if error.code() not in GONE or (answered is not None and error.code() != GONE[0]):
        raise error


@dataclass
class Acknowledged:
    """An action that the server said is recorded."""

    turn: int
    seat: int
    action: bytes
    receipt: ActionReceipt


@dataclass
class Tally:
    """What a run came to."""

    kills: int = 0
    tables: int = 0
    actions: int = 0
    repeats: int = 0
    events: int = 0
    seconds: float = 0.0
    longest_silence: float = 0.0  # s between two events at a table, as its watcher got them
    under_way: list[int] = field(default_factory=list)  # at each kill, changes without an answer

    def __str__(self) -> str:
        spread = sorted(self.under_way)
        return (
            f"{self.kills} kills in {self.seconds:.0f} s: {self.tables} matches played to their"
            f" end, {self.actions} actions acknowledged, {self.repeats} calls repeated,"
            f" {self.events} events watched, {self.longest_silence:.1f} s the longest silence at a"
            f" table; changes under way at a kill {spread[0]} to {spread[-1]},"
            f" {spread[len(spread) // 2]} at the median, {sum(spread)} together"
        )


@dataclass
class Seating:
    """A table with the people of the load at it."""

    table_id: str
    tokens: dict[int, str]
    acknowledged: dict[str, Acknowledged] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)


class Target:
    """The server process. store: the database that it shares with others, a file without one."""

    def __init__(
        self, folder: Path, store: str = "", name: str = "log", lease_s: float = 5
    ) -> None:
        self.db = folder / "tables.db"
        self.log = folder / name
        self.environment = os.environ | {"TAVOLATA_LEASE_S": str(lease_s)}
        self.place = ("--store", store) if store else ("--db", str(self.db))
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.bind = f"127.0.0.1:{free.getsockname()[1]}"
        self.process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Start it, and return when it listens."""
        with self.log.open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "tavolata", "serve", *self.place),
                *("--bind", self.bind, "--ai-floor", "0", "--ai-jitter", "0", "--print-port"),
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                env=self.environment,
            )
        assert self.process.stdout is not None
        line = await asyncio.wait_for(self.process.stdout.readline(), 60)
        if not line:
            raise AssertionError(f"the server did not start:\n{self.log.read_text()[-2000:]}")

    async def kill(self) -> None:
        """SIGKILL: it gets no chance to finish anything."""
        assert self.process is not None
        self.process.kill()
        await self.process.wait()

    async def stop(self) -> int:
        """SIGTERM; its exit code."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        return await asyncio.wait_for(self.process.wait(), 60)


class Load:
    """People who play, and watch, and don't give up."""

    def __init__(self, binds: Sequence[str], seed: int, tally: Tally) -> None:
        self.tally = tally
        self.random = random.Random(seed)
        self.under_way = Counter[int]()  # changes sent without an answer, by server
        self._ids = 0
        # Connections are tried again at once: the server is back within a second.
        options = [
            ("grpc.initial_reconnect_backoff_ms", 50),
            ("grpc.min_reconnect_backoff_ms", 50),
            ("grpc.max_reconnect_backoff_ms", 200),
        ]
        self.channels = [grpc.aio.insecure_channel(bind, options=options) for bind in binds]
        self.stubs = [TableServiceStub(channel) for channel in self.channels]

    @property
    def stub(self) -> Any:
        """Any of the servers."""
        return self.random.choice(self.stubs)

    async def close(self) -> None:
        """Hang up."""
        for channel in self.channels:
            await channel.close()

    def new_id(self) -> str:
        """A request id."""
        self._ids += 1
        return f"kill-{self._ids}"

    async def insist(self, method: str, request: Any, token: str | None = None) -> Any:
        """Repeat a call, the same request each time, until it is answered."""
        changes = "request_id" in request.DESCRIPTOR.fields_by_name
        while True:
            server = self.random.randrange(len(self.stubs))
            self.under_way[server] += changes
            try:
                call = getattr(self.stubs[server], method)
                return await call(request, metadata=bearer(token), timeout=5)
            except grpc.aio.AioRpcError as error:
                _pass_unless_gone(error)
                self.tally.repeats += 1
                await asyncio.sleep(0.02)
            finally:
                self.under_way[server] -= changes

    async def place(self, method: str, request: Any) -> Any:
        """An answer whose token works: a copy of the request that was long on its way may have
        given the seat another since."""
        while True:
            made = await self.insist(method, request)
            look = pb.GetTableRequest(table_id=made.table.table_id)
            try:
                await self.insist("GetTable", look, made.token)
            except grpc.aio.AioRpcError as error:
                if refusal_of(error).reason != "BAD_TOKEN":
                    raise
                continue
            return made

    async def sit_down(self, game: str, people: int, ai: int) -> Seating:
        """A table in play."""
        create = pb.CreateTableRequest(
            request_id=self.new_id(),
            settings=TableSettings(game_id=game),
            seats=[CALLER, *[OPEN] * (people - 1), *[AI] * ai],
        )
        made = await self.place("CreateTable", create)
        table_id, tokens = made.table.table_id, {0: made.token}
        for _ in range(people - 1):
            join = pb.JoinTableRequest(request_id=self.new_id(), table_id=table_id)
            joined = await self.place("JoinTable", join)
            tokens[joined.seat] = joined.token
        start = pb.StartMatchRequest(request_id=self.new_id(), table_id=table_id)
        await self.insist("StartMatch", start, made.token)
        return Seating(table_id, tokens)

    async def play_seat(self, seating: Seating, seat: int, done: asyncio.Event) -> bool:
        """Play a seat until the match is over, or the load is done; whether it is over."""
        token = seating.tokens[seat]
        while not done.is_set():
            shown = await self.insist(
                "GetView", pb.GetViewRequest(table_id=seating.table_id), token
            )
            view = shown.view
            if view.state == TableState.TABLE_STATE_FINISHED:
                return True
            if not view.legal_actions:
                await asyncio.sleep(0.01)
                continue
            action = self.random.choice(view.legal_actions)
            play = pb.PlayActionRequest(
                request_id=self.new_id(),
                table_id=seating.table_id,
                turn=view.turn,
                action=action,
            )
            answer = await self.insist("PlayAction", play, token)
            seating.acknowledged[play.request_id] = Acknowledged(
                view.turn, seat, action.SerializeToString(), answer.receipt
            )
            self.tally.actions += 1
        return False

    async def watch(self, seating: Seating) -> None:
        """Watch a table to its end, going on after every interruption with the last number."""
        heard = time.monotonic()
        while True:
            after = seating.events[-1].number if seating.events else 0
            request = pb.WatchTableRequest(table_id=seating.table_id, after_event=after)
            try:
                async for message in self.stub.WatchTable(request):
                    if message.HasField("event"):
                        seating.events.append(message.event)
                        heard, before = time.monotonic(), heard
                        silence = max(self.tally.longest_silence, heard - before)
                        self.tally.longest_silence = silence
                    if message.closing.reason in ENDED:
                        return
            except grpc.aio.AioRpcError as error:
                _pass_unless_gone(error)
                await asyncio.sleep(0.02)

    async def check(self, seating: Seating) -> None:
        """Compare the record with what was acknowledged and seen."""
        request = pb.GetReplayRequest(table_id=seating.table_id)
        told = (await self.insist("GetReplay", request)).replay
        recorded: dict[str, list[Any]] = {}
        for entry in told.entries:
            if entry.HasField("decision") and entry.decision.request_id:
                recorded.setdefault(entry.decision.request_id, []).append(entry.decision)
        for request_id, said in seating.acknowledged.items():
            found = recorded.pop(request_id, [])
            assert len(found) == 1, f"{request_id} is recorded {len(found)} times"
            (decision,) = found
            assert (decision.turn, decision.seat, decision.action.SerializeToString()) == (
                said.turn,
                said.seat,
                said.action,
            ), f"{request_id} is recorded differently"
            assert said.receipt.event_number <= told.table.last_event
        assert not recorded, f"recorded, but never acknowledged: {sorted(recorded)}"
        record = record_of_replay(told)
        check_fairness(record)
        replay(record, game_spec)
        numbers = [event.number for event in seating.events]
        assert numbers == list(range(1, told.table.last_event + 1)), "events missing or doubled"
        self.tally.events += len(numbers)


# Game, people and AI players.
TABLES = (("bouillabaisse", 2, 0), ("mino_dice", 3, 0), ("cafe_international", 2, 0),
          ("mister_bill", 3, 1), ("bids", 2, 2), ("bouillabaisse", 1, 2), ("mino_dice", 2, 2),
          ("cafe_international", 1, 2))  # fmt: skip
KILLS = 1_000
SILENCE_S = 10.0  # the longest at a table, with a PostgreSQL


async def kill_loop(
    folder: Path,
    kills: int,
    *,
    seed: int = 1,
    tables: int = 4,
    store: str = "",
    servers: int = 1,
    lease_s: float = 5,
    cluster: Cluster | None = None,
    quiet: bool = True,
) -> Tally:
    """Run the load with that many kills: of one of the servers, or of the cluster if one is given.
    AssertionError says what was lost or doubled."""
    tally = Tally()
    progress = Progress("kills", kills, quiet=quiet)
    began = time.monotonic()
    targets = [Target(folder, store, f"log-{number}", lease_s) for number in range(servers)]
    for target in targets:
        await target.start()
    load = Load([target.bind for target in targets], seed, tally)
    enough = asyncio.Event()
    finished: list[Seating] = []

    async def keep_playing(number: int) -> None:
        """One match after the other at this place, as long as there are kills to come."""
        while not enough.is_set():
            seating = await load.sit_down(*TABLES[number % len(TABLES)])
            never = asyncio.Event()
            await asyncio.gather(
                load.watch(seating),
                *(load.play_seat(seating, seat, never) for seat in seating.tokens),
            )
            await load.check(seating)
            finished.append(seating)

    players = [asyncio.create_task(keep_playing(number)) for number in range(tables)]
    codes: list[int] = []
    try:
        for _ in range(kills):
            # A database has to start again before anybody gets on.
            await asyncio.sleep(load.random.uniform(0.05, 0.4 if cluster is None else 1.0))
            for player in players:
                if player.done():
                    player.result()
            tally.kills += 1
            if cluster is not None:
                tally.under_way.append(load.under_way.total())
                cluster.kill()
                await asyncio.to_thread(cluster.start)
            else:
                number = load.random.randrange(servers)
                tally.under_way.append(load.under_way[number])
                await targets[number].kill()
                await targets[number].start()
            progress.step(note=f"{tally.actions:,} actions acknowledged")
        progress.end()
        enough.set()
        await asyncio.gather(*players)
        for seating in finished:
            await load.check(seating)
    finally:
        for player in players:
            player.cancel()
        await asyncio.gather(*players, return_exceptions=True)
        await load.close()
        for target in targets:
            with contextlib.suppress(ProcessLookupError):
                codes.append(await target.stop())
    assert not any(codes), f"the servers ended with {codes}"
    for target in targets:
        assert "call.fault" not in target.log.read_text(), target.log.read_text()
    tally.tables, tally.seconds = len(finished), time.monotonic() - began
    return tally


def main() -> int:
    """The long form."""
    parser = parser_of(__doc__)
    parser.add_argument("--kills", type=int, default=KILLS, help=f"[{KILLS}]")
    parser.add_argument("--tables", type=int, default=8, help="played at a time [8]")
    parser.add_argument("--store", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--servers", type=int, default=1, help="on one PostgreSQL [1]")
    parser.add_argument("--kill", choices=("server", "postgres"), default="server")
    chosen = parser.parse_args()
    if chosen.store == "sqlite" and (chosen.servers > 1 or chosen.kill == "postgres"):
        parser.error("several servers, or a PostgreSQL to kill, need --store postgres")
    problems = Problems()
    tally = Tally()
    try:
        tally = _against_own_servers(chosen)
    except AssertionError as found:
        problems.add(str(found))
    silence = tally.longest_silence
    # A server alone is away for as long as it takes to start, several times in a row.
    problems.check(
        chosen.store == "sqlite" or silence <= SILENCE_S,
        f"nothing happened at a table for {silence:.1f} s",
    )
    return conclude("kill_loop", chosen, str(tally) if tally.kills else "ended early", problems)


def _against_own_servers(chosen: argparse.Namespace) -> Tally:
    cluster = Cluster() if chosen.store == "postgres" else None
    try:
        store = "" if cluster is None else database_of(cluster)
        with tempfile.TemporaryDirectory(prefix="kill-loop-") as folder:
            loop = kill_loop(
                Path(folder),
                chosen.kills,
                seed=chosen.seed,
                tables=chosen.tables,
                store=store,
                servers=chosen.servers,
                cluster=cluster if chosen.kill == "postgres" else None,
                quiet=False,
            )
            return asyncio.run(loop)
    finally:
        if cluster is not None:
            cluster.stop()


def database_of(cluster: Cluster) -> str:
    cluster.start()
    databases = Databases(cluster.dsn)
    asyncio.run(databases.prepare())
    return asyncio.run(databases.fresh())


if __name__ == "__main__":
    sys.exit(main())
