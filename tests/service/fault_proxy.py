"""Responses lost, requests doubled, reordered and delayed: each submission is recorded just once.

Tables of all games are made, filled, set, left, started, played, resigned and aborted over a proxy
(faulty_wire.py) that loses, doubles, delays and reorders what every RPC sends that changes
something; the RPCs are those of the API's descriptors. The client repeats, under the same request
id, whatever it got no answer to. In the end the log in the server's file must have every submission
once, in order, with the content that was sent; and all answers to one action, the lost ones too,
must be alike.

    python -m tests.service.fault_proxy
    python -m tests.service.fault_proxy --submissions 2000 --seed 7 --share 0.6
"""

from __future__ import annotations

import asyncio
import random
import sys
import tempfile
from collections import Counter, defaultdict
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

import apsw
import grpc
import uvloop
from google.protobuf.message_factory import GetMessageClass
from grpc_status import rpc_status

from tavolata.ext.registry import GAMES
from tavolata.service.handlers import TableService
from tavolata.service.own_server import own_server
from tavolata.v1 import table_service_pb2 as pb
from tavolata.v1 import tournament_service_pb2 as tournament_pb
from tavolata.v1.table_pb2 import OpenSeat, TableSettings
from tests.service.campaign import (
    METHODS,
    KnownMatch,
    Problems,
    Progress,
    changes_something,
    conclude,
    parser_of,
)
from tests.service.faulty_wire import DOWN, UNARY, UP, Fault, FaultyWire
from tests.service.house import CALLER, GREEDY, OPEN, bearer, refusal_of
from tests.service.play_again import MatchOver, SharedStream

SUBMISSIONS = 100_000
SHARE = 0.35
PATIENCE_S = 0.25  # before a call is repeated; longer than most answers, shorter than some delays
TRIES_MAX = 200
AT_A_TIME = 96  # tables
FULL_SHARE = 0.03  # of matches, played to their end
A_STREAM = 4  # tables that share a stream
TOURNAMENT_EVERY = 25_000  # submissions; each is a process
TABLES, TOURNAMENTS = "/tavolata.v1.TableService/", "/tavolata.v1.TournamentService/"
PLAY, STREAM = f"{TABLES}PlayAction", f"{TABLES}PlayStream"
OFFERS_REMATCH = hasattr(TableService, "Rematch")
# Made by the server itself, or by which token the client happened to hold.
NOT_SUBMITTED = ("token_used", "reissued", "awakened")
SPECIFICATION = """
title = "Cancelled"
seed = 3
[[games]]
game = "mino_dice"
[[entrants]]
player = "greedy"
[[entrants]]
player = "random"
[format]
kind = "round_robin"
[stop]
rule = "count"
deals = 10000
"""

# kind, slot, turn, action, request id, as in the log; turn and action of actions only.
Line = tuple[str, int, int, int, str]


class Client:
    """Whoever submits, and what has been submitted."""

    def __init__(self, address: str, problems: Problems, progress: Progress) -> None:
        self.channel = grpc.aio.insecure_channel(address)
        self.problems, self.progress = problems, progress
        self.submitted: Counter[str] = Counter()
        self.repeats = 0
        self._calls: dict[str, Any] = {}
        self._ids = 0

    def new_id(self) -> str:
        """A request id."""
        self._ids += 1
        return f"fault-{self._ids}"

    async def insist(self, path: str, request: Any, token: str | None = None) -> Any:
        """The answer of the server, however often it takes to get one. AioRpcError is its refusal,
        AssertionError says that there is none."""
        if path not in self._calls:
            self._calls[path] = self.channel.unary_unary(
                path,
                request_serializer=lambda message: message.SerializeToString(),
                response_deserializer=GetMessageClass(METHODS[path].output_type).FromString,
            )
        for _ in range(TRIES_MAX):
            try:
                return await self._calls[path](request, metadata=bearer(token), timeout=PATIENCE_S)
            except grpc.aio.AioRpcError as error:
                if rpc_status.from_call(error) is not None:  # type: ignore[arg-type]
                    raise
                self.repeats += 1
        raise AssertionError(f"{path} got no answer {TRIES_MAX} times: {request}")

    async def submit(self, name: str, request: Any, token: str | None = None) -> Any:
        """Submit something that is no action of a match."""
        answer = await self.insist(TABLES + name, request, token)
        self.count(TABLES + name)
        return answer

    async def submit_for_token(self, name: str, request: Any, token: str | None = None) -> Any:
        """Submit what gives a token. A copy that comes late voids the token as long as it hasn't
        been used, and repeating the call gives another."""
        while True:
            answer = await self.insist(TABLES + name, request, token)
            read = pb.GetTableRequest(table_id=answer.table.table_id)
            try:
                await self.insist(f"{TABLES}GetTable", read, answer.token)
            except grpc.aio.AioRpcError as error:
                if error.code() != grpc.StatusCode.UNAUTHENTICATED:
                    raise
                continue
            self.count(TABLES + name)
            return answer

    def count(self, path: str) -> None:
        """One more has been acknowledged."""
        self.submitted[path] += 1
        self.progress.step()


class Sitter:
    """A table from its making to its end, and what its log must be."""

    def __init__(self, client: Client, stream: SharedStream | None, draws: random.Random) -> None:
        self.client, self.stream, self.draws = client, stream, draws
        self.table_id = ""
        self.tokens: dict[int, str] = {}
        self.log: list[set[Line]] = []  # what is in one set may have come in any order
        self.next_id = ""  # of the rematch, and what was asked of it in order
        self.next_requests: list[str] = []
        self._handles: dict[int, int] = {}
        game = draws.choice(list(GAMES))
        self._known = KnownMatch(game, GAMES[game].seats_min, draws.randbytes(32), draws)

    async def live(self) -> None:
        """All of it."""
        await self._make()
        for seat in range(1, self._known.seats):
            await self._fill(seat)
        await self._owner("StartMatch", pb.StartMatchRequest, "started", 0)
        if self.stream is not None:
            for seat, token in self.tokens.items():
                self._handles[seat] = await self.stream.attach(self.table_id, token)
        await self._play()
        for handle in self._handles.values():
            assert self.stream is not None
            await self.stream.detach(handle)
        if not self._known.match.over:
            await self._break_off()
        if OFFERS_REMATCH:
            await self._rematch()

    def _wrote(self, kind: str, slot: int, request_id: str) -> None:
        self.log.append({(kind, slot, 0, 0, request_id)})

    async def _make(self) -> None:
        request = pb.CreateTableRequest(
            request_id=self.client.new_id(),
            settings=TableSettings(game_id=self._known.game, stand_in=GREEDY),
            seats=[CALLER, *[OPEN] * (self._known.seats - 1)],
            seed=self._known.seed,
        )
        made = await self.client.submit_for_token("CreateTable", request)
        self.table_id, self.tokens[0] = made.table.table_id, made.token
        self._wrote("created", 0, request.request_id)

    async def _fill(self, seat: int) -> None:
        if self.draws.random() < 0.3:
            for occupant in ({"ai": GREEDY}, {"open": OpenSeat()}):
                fields = {"seat": seat, **occupant}
                await self._owner("SetSeat", pb.SetSeatRequest, "seat_set", seat, **fields)
        await self._join(seat)
        if self.draws.random() < 0.25:
            await self._call("LeaveTable", pb.LeaveTableRequest, "left", seat, seat)
            await self._join(seat)

    async def _join(self, seat: int) -> None:
        request = pb.JoinTableRequest(request_id=self.client.new_id(), table_id=self.table_id)
        joined = await self.client.submit_for_token("JoinTable", request)
        self.client.problems.check(joined.seat == seat, f"{request} got seat {joined.seat}")
        self.tokens[seat] = joined.token
        self._wrote("joined", seat, request.request_id)

    async def _owner(self, name: str, make: Any, kind: str, slot: int, **fields: Any) -> None:
        await self._call(name, make, kind, 0, slot, **fields)

    async def _call(
        self, name: str, make: Any, kind: str, caller: int, slot: int, **fields: Any
    ) -> None:
        request = make(request_id=self.client.new_id(), table_id=self.table_id, **fields)
        await self.client.submit(name, request, self.tokens[caller])
        self._wrote(kind, slot, request.request_id)

    async def _play(self) -> None:
        actions_max = 10**6 if self.draws.random() < FULL_SHARE else self.draws.randint(4, 40)
        played = 0
        while played < actions_max and (actions := self._known.next_actions()):
            lines = await asyncio.gather(*(self._play_one(*action) for action in actions))
            self.log.append(set(lines))
            self._known.played(actions)
            played += len(actions)

    async def _play_one(self, turn: int, seat: int, number: int, action: Any) -> Line:
        request_id = self.client.new_id()
        line = ("played", seat, turn, number, request_id)
        if self.stream is not None:
            with suppress(MatchOver):
                await self.stream.play(self._handles[seat], request_id, turn, action)
                self.client.count(STREAM)
                return line
        request = pb.PlayActionRequest(
            request_id=request_id, table_id=self.table_id, turn=turn, action=action
        )
        receipt = (await self.client.submit("PlayAction", request, self.tokens[seat])).receipt
        # Other seats may have yet to choose.
        now_open = receipt.turn in (turn, turn + 1)
        self.client.problems.check(now_open, f"{request_id} of turn {turn}: {receipt}")
        return line

    async def _break_off(self) -> None:
        seat = self.draws.randrange(1, self._known.seats)
        way = self.draws.choice(["abort", "resign", "leave"])
        try:
            if way == "resign":
                await self._call("Resign", pb.ResignRequest, "resigned", seat, seat)
            if way == "leave":
                await self._call("LeaveTable", pb.LeaveTableRequest, "left", seat, seat)
                await self._call("JoinTable", pb.JoinTableRequest, "returned", seat, seat)
            await self._owner("AbortMatch", pb.AbortMatchRequest, "aborted", 0)
        except grpc.aio.AioRpcError as error:
            # The last decisions were the stand-in's.
            if way == "abort" or refusal_of(error).reason != "MATCH_FINISHED":
                raise

    async def _rematch(self) -> None:
        """Everybody asks for another match: it is one table, with everybody in the old seat."""
        for seat, token in self.tokens.items():
            request = pb.RematchRequest(request_id=self.client.new_id(), table_id=self.table_id)
            made = await self.client.submit_for_token("Rematch", request, token)
            table_id = made.table.table_id
            same = made.seat == seat and self.next_id in ("", table_id)
            self.client.problems.check(same, f"{request} got seat {made.seat} of {table_id}")
            self.next_id = table_id
            self.next_requests.append(request.request_id)


class Answers:
    """What the server answered to every copy of what was sent."""

    def __init__(self, problems: Problems) -> None:
        self._problems = problems
        self._receipts: dict[bytes, bytes] = {}
        self.copies = 0
        self.refused: Counter[str] = Counter()

    def note(self, path: str, request: bytes, outcome: bytes | grpc.aio.AioRpcError) -> None:
        """See Answered in faulty_wire.py."""
        self.copies += 1
        if isinstance(outcome, grpc.aio.AioRpcError):
            # Of copies that came too late for a token, or after the table's end.
            self.refused[f"{path.rpartition('/')[2]} {outcome.code().name}"] += 1
            known = rpc_status.from_call(outcome) is not None  # type: ignore[arg-type]
            fault = outcome.code() in (grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN)
            if fault or not known:
                self._problems.add(f"{path}: {outcome.code().name} {outcome.details()}")
        elif path == PLAY:
            first = self._receipts.setdefault(request, outcome)
            if first != outcome:
                self._problems.add(f"two receipts for {pb.PlayActionRequest.FromString(request)}")


def check_log(db: Path, sitters: list[Sitter], problems: Problems) -> None:
    """Compare the log of every table with what was submitted."""
    connection = apsw.Connection(str(db), flags=apsw.SQLITE_OPEN_READONLY)
    logs: defaultdict[str, list[Line]] = defaultdict(list)
    query = "SELECT table_id, kind, slot, turn, action, request_id FROM entries"
    for table_id, kind, slot, turn, action, request_id in connection.execute(
        f"{query} ORDER BY table_id, number"
    ):
        # A stand-in's actions come without a request.
        if kind in NOT_SUBMITTED or (kind == "played" and not request_id):
            continue
        of_match = (turn, action) if kind == "played" else (0, 0)
        logs[table_id].append((kind, slot, *of_match, request_id))
    connection.close()
    made = {table_id for each in sitters for table_id in (each.table_id, each.next_id) if table_id}
    problems.check(set(logs) == made, f"{len(logs)} tables recorded, {len(made)} made")
    for sitter in sitters:
        recorded = iter(logs[sitter.table_id])
        for group in sitter.log:
            found = list(islice(recorded, len(group)))
            if set(found) != group or len(found) != len(group):
                problems.add(f"table {sitter.table_id}: submitted {group}, recorded {found}")
                break
        else:
            for line in recorded:
                problems.add(f"table {sitter.table_id}: recorded, not submitted: {line}")
        # The table of a rematch is made by the server, once for all who ask.
        asked = [line[-1] for line in logs[sitter.next_id] if line[0] != "created"]
        if asked != sitter.next_requests:
            problems.add(f"rematch {sitter.next_id}: {sitter.next_requests}, recorded {asked}")


async def tournaments(client: Client, count: int) -> None:
    """Make tournaments and cancel them; each must be there once."""
    for _ in range(count):
        create = tournament_pb.CreateTournamentRequest(
            request_id=client.new_id(), specification=SPECIFICATION
        )
        made = await client.insist(f"{TOURNAMENTS}CreateTournament", create)
        client.count(f"{TOURNAMENTS}CreateTournament")
        tournament_id = made.tournament.tournament_id
        cancel = tournament_pb.CancelTournamentRequest(tournament_id=tournament_id)
        await client.insist(f"{TOURNAMENTS}CancelTournament", cancel)
        client.count(f"{TOURNAMENTS}CancelTournament")
    if not count:
        return
    listed = await client.insist(
        f"{TOURNAMENTS}ListTournaments", tournament_pb.ListTournamentsRequest(page_size=100)
    )
    client.problems.check(
        len(listed.tournaments) == count, f"{len(listed.tournaments)} tournaments, {count} made"
    )


async def fault_proxy(
    target: str,
    db: Path,
    submissions: int,
    *,
    seed: int,
    share: float = SHARE,
    at_a_time: int = AT_A_TIME,
    with_tournaments: int = 0,
    quiet: bool = False,
) -> tuple[str, Problems]:
    """Submit that many over a faulty wire to the server at `target`, whose file is `db`."""
    problems, progress = Problems(), Progress("submissions", submissions, quiet=quiet)
    answers = Answers(problems)
    wire = FaultyWire(target, seed, share, answers.note)
    client = Client(await wire.start(), problems, progress)
    sitters: list[Sitter] = []

    async def keep_sitting(place: int) -> None:
        draws = random.Random(f"{seed} {place}")
        stream = streams[place // A_STREAM] if place % (2 * A_STREAM) < A_STREAM else None
        while progress.done < submissions:
            sitters.append(Sitter(client, stream, draws))
            await sitters[-1].live()

    streams = [
        SharedStream(client.channel, problems, PATIENCE_S) for _ in range(1 + at_a_time // A_STREAM)
    ]
    try:
        await asyncio.gather(
            tournaments(client, with_tournaments),
            *(keep_sitting(place) for place in range(at_a_time)),
        )
    finally:
        for stream in streams:
            await stream.close()
        await wire.close()
        await client.channel.close()
    check_log(db, sitters, problems)
    _check_coverage(client, wire, problems, with_tournaments > 0)
    progress.end()
    repeats = client.repeats + sum(stream.repeats for stream in streams)
    faults = sum(count for (_, fault), count in wire.counts.items() if fault != Fault.NONE)
    return (
        f"{sum(client.submitted.values())} submissions at {len(sitters)} tables by"
        f" {len(client.submitted)} methods in {progress.seconds:.0f} s, {faults} faults,"
        f" {repeats} repeated, {sum(s.cuts for s in streams)} streams cut; each recorded once"
    ), problems


def _check_coverage(client: Client, wire: FaultyWire, problems: Problems, whole: bool) -> None:
    """Every RPC that changes something must have been submitted and, in the long form, must have
    met every fault."""
    for path, method in METHODS.items():
        if not changes_something(method) or (path.startswith(TOURNAMENTS) and not whole):
            continue
        if method.name == "Rematch" and not OFFERS_REMATCH:
            continue
        problems.check(client.submitted[path] > 0, f"nothing was submitted by {path}")
        if client.submitted[path] < 500:
            continue
        met = [(path, fault) for fault in (UP if path == STREAM else UNARY)]
        met += [(f"{path}/results", fault) for fault in DOWN if path == STREAM]
        for each in met:
            problems.check(wire.counts[each] > 0, f"{each[0]} never met: {each[1]}")


async def _against_own_server(arguments: Any) -> tuple[str, Problems]:
    with tempfile.TemporaryDirectory(prefix="fault-proxy-") as folder:
        pace = ("--ai-floor", "0", "--ai-jitter", "0")
        # All of it comes from one address.
        unlimited = ("--caller-tables-per-min", "0", "--caller-tables-max", "0")
        flags = (*pace, *unlimited, "--tournaments-dir", folder)
        async with own_server(*flags) as server:
            return await fault_proxy(
                server.target,
                server.store,
                arguments.submissions,
                seed=arguments.seed,
                share=arguments.share,
                with_tournaments=-(-arguments.submissions // TOURNAMENT_EVERY),
            )


def main() -> int:
    """The long form."""
    parser = parser_of(__doc__)
    parser.add_argument("--submissions", type=int, default=SUBMISSIONS, help=f"[{SUBMISSIONS}]")
    parser.add_argument("--share", type=float, default=SHARE, help=f"of faults [{SHARE}]")
    arguments = parser.parse_args()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        summary, problems = runner.run(_against_own_server(arguments))
    return conclude("fault_proxy", arguments, summary, problems)


if __name__ == "__main__":
    sys.exit(main())
