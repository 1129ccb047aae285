"""People at tables for Locust: load from any number of machines, through the API as it is.

    pip install 'tavolata[locust]'
    locust -f locustfile.py --host localhost:50051
    locust -f locustfile.py --host localhost:50051 --headless -u 50 -r 10 -t 60s

From several machines: `--master` on one of them, `--worker --master-host ADDRESS` on the others
(docs/load.md). A call is reported as a success only if its status is OK and the answer is what was
asked for; whatever else came of it is a failure with its reason as text. Nothing is tried again
behind the report.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar
from uuid import uuid4

import gevent
import grpc
import grpc.experimental.gevent
from google.rpc import error_details_pb2, status_pb2
from locust import User, between, constant_pacing, events, task
from locust.exception import StopUser

from tavolata.v1 import catalog_service_pb2, catalog_service_pb2_grpc
from tavolata.v1 import table_service_pb2 as pb
from tavolata.v1.event_pb2 import CLOSING_REASON_MATCH_FINISHED
from tavolata.v1.player_pb2 import AiPlayer
from tavolata.v1.table_pb2 import (
    TABLE_STATE_PLAYING,
    VISIBILITY_PUBLIC,
    CallerSeat,
    OpenSeat,
    SeatPlan,
    TableSettings,
)
from tavolata.v1.table_service_pb2_grpc import TableServiceStub

grpc.experimental.gevent.init_gevent()  # else one call would stop all users of a process

DEADLINE_S = 10.0
CHANNELS = 4  # of each process; a connection is served by one process of a server
OPTIONS = (("grpc.use_local_subchannel_pool", 1), ("grpc.enable_retries", 0))
_channels: list[grpc.Channel] = []


@events.init_command_line_parser.add_listener
def _options(parser: Any) -> None:
    parser.add_argument("--games", default="", help="Games, as bids,mino_dice; all if left out.")
    parser.add_argument("--ai", default="greedy", help="AI player of the seats beside a person.")
    parser.add_argument("--tls-ca", default="", help="PEM file to trust; left out: plain text.")


class Wrong(Exception):
    """The answer isn't what was asked for."""


class Caller(User):
    """Somebody with a connection who reports every call."""

    abstract = True
    games: ClassVar[list[Any]] = []

    def on_start(self) -> None:
        """Take a connection."""
        channel = self._channel()
        self.tables = TableServiceStub(channel)
        self._catalog = catalog_service_pb2_grpc.CatalogServiceStub(channel)

    def some_game(self) -> Any:
        """One of the games that the server has and the options allow."""
        if not Caller.games:
            request, rpc = catalog_service_pb2.ListGamesRequest(), self._catalog.ListGames
            listed = self.ask("ListGames", rpc, request, lambda found: found.games)
            wanted = [each for each in self.environment.parsed_options.games.split(",") if each]
            found = [game for game in listed.games if not wanted or game.game_id in wanted]
            if not found:
                raise StopUser
            Caller.games[:] = found
        return random.choice(Caller.games)  # noqa: S311 - any will do

    def _channel(self) -> grpc.Channel:
        if len(_channels) < CHANNELS:
            ca, host = self.environment.parsed_options.tls_ca, str(self.host)
            if ca:
                shown = grpc.ssl_channel_credentials(Path(ca).read_bytes())
                _channels.append(grpc.secure_channel(host, shown, OPTIONS))
            else:
                _channels.append(grpc.insecure_channel(host, OPTIONS))
            return _channels[-1]
        return random.choice(_channels)  # noqa: S311 - it spreads load

    def ask(
        self,
        name: str,
        rpc: Any,
        request: Any,
        is_right: Callable[[Any], Any],
        token: str = "",
    ) -> Any:
        """The answer of one attempt; reported as a success only if `is_right` says so too.

        grpc.RpcError or Wrong otherwise, which is reported as well.
        """
        with self.reported(name) as report:
            answer = rpc(request, timeout=DEADLINE_S, metadata=bearer(token))
            report["response_length"] = answer.ByteSize()
            if not is_right(answer):
                raise Wrong(f"{name} came to {type(answer).__name__}, but not as asked for")
            return answer

    @contextmanager
    def reported(self, name: str) -> Iterator[dict[str, Any]]:
        """Report what happens inside: how long it took, and whether it failed. What ends because
        its user does isn't reported."""
        report: dict[str, Any] = {"response_length": 0, "exception": None}
        began = time.perf_counter()

        def fire() -> None:
            self.environment.events.request.fire(
                request_type="grpc",
                name=name,
                response_time=1000 * (time.perf_counter() - began),
                context={},
                **report,
            )

        try:
            yield report
        except (grpc.RpcError, Wrong) as error:
            report["exception"] = Failure(reason_of(error))
            fire()
            raise
        fire()

    def make_table(self, plans: list[SeatPlan], game_id: str) -> pb.CreateTableResponse:
        """A new public table."""
        request = pb.CreateTableRequest(
            request_id=str(uuid4()),
            settings=TableSettings(game_id=game_id, visibility=VISIBILITY_PUBLIC),
            seats=plans,
        )
        return self.ask(
            "CreateTable",
            self.tables.CreateTable,
            request,
            lambda made: made.token and made.table.settings.game_id == game_id,
        )

    def deal(self, table_id: str, token: str) -> None:
        """Start the match."""
        self.ask(
            "StartMatch",
            self.tables.StartMatch,
            pb.StartMatchRequest(request_id=str(uuid4()), table_id=table_id),
            lambda started: started.table.state == TABLE_STATE_PLAYING,
            token,
        )

    def view(self, table_id: str, token: str) -> Any:
        """What a seat may know."""
        request = pb.GetViewRequest(table_id=table_id)
        answer = self.ask(
            "GetView", self.tables.GetView, request, lambda found: found.HasField("view"), token
        )
        return answer.view

    def play(self, table_id: str, token: str, view: Any) -> None:
        """Any legal action."""
        request = pb.PlayActionRequest(
            request_id=str(uuid4()),
            table_id=table_id,
            turn=view.turn,
            action=random.choice(view.legal_actions),  # noqa: S311 - any will do
        )
        self.ask(
            "PlayAction",
            self.tables.PlayAction,
            request,
            lambda played: played.receipt.event_number > view.event_number,
            token,
        )


class People(Caller):
    """All the people of one table, who look where they are and act."""

    weight = 3
    wait_time = between(0.05, 0.15)

    def on_start(self) -> None:
        """Come in."""
        super().on_start()
        self.tokens: dict[int, str] = {}

    @task
    def act(self) -> None:
        """One action, at a new table if the match is over."""
        try:
            if not self.tokens:
                self._sit_down()
            view = self.view(self.table_id, next(iter(self.tokens.values())))
            if not view.seats_to_act:
                self.tokens = {}
                return
            token = self.tokens[view.seats_to_act[0]]
            self.play(self.table_id, token, self.view(self.table_id, token))
        except (grpc.RpcError, Wrong):
            self.tokens = {}  # it is reported; another table

    def _sit_down(self) -> None:
        game = self.some_game()
        open_seats = [SeatPlan(open=OpenSeat())] * (min(game.seat_counts) - 1)
        made = self.make_table([SeatPlan(caller=CallerSeat()), *open_seats], game.game_id)
        self.table_id, tokens = made.table.table_id, {0: made.token}
        for _ in open_seats:
            request = pb.JoinTableRequest(request_id=str(uuid4()), table_id=self.table_id)
            joined = self.ask(
                "JoinTable", self.tables.JoinTable, request, lambda answer: answer.token
            )
            tokens[joined.seat] = joined.token
        self.deal(self.table_id, made.token)
        self.tokens = tokens


class PersonWithAi(Caller):
    """A person with AI players, who follows the table by a watch with views."""

    weight = 1
    wait_time = constant_pacing(1)

    @task
    def play_match(self) -> None:
        """A match from its first deal to its result."""
        ai = SeatPlan(ai=AiPlayer(player=self.environment.parsed_options.ai))
        try:
            game = self.some_game()
            plans = [SeatPlan(caller=CallerSeat()), *[ai] * (min(game.seat_counts) - 1)]
            made = self.make_table(plans, game.game_id)
            self.deal(made.table.table_id, made.token)
            self._follow(made.table.table_id, made.token)
        except (grpc.RpcError, Wrong):
            pass  # it is reported

    def _follow(self, table_id: str, token: str) -> None:
        request = pb.WatchTableRequest(table_id=table_id, with_views=True)
        watch, turn = self.tables.WatchTable(request, metadata=bearer(token)), -1
        try:
            for message in watch:
                view = message.snapshot.view
                if view.legal_actions and view.turn > turn:
                    turn = view.turn
                    gevent.sleep(random.uniform(0.05, 0.15))  # noqa: S311 - it thinks
                    self.play(table_id, token, view)
        finally:
            watch.cancel()


class Spectator(Caller):
    """Somebody who watches public tables; each watch is one report, a success if nothing was
    missing and it ended with the match."""

    weight = 1
    wait_time = between(0.5, 1.5)

    @task
    def watch(self) -> None:
        """A table to its end."""
        try:
            request = pb.ListTablesRequest(states=[TABLE_STATE_PLAYING], page_size=20)
            listed = self.ask("ListTables", self.tables.ListTables, request, lambda _: True)
            if listed.tables:
                table = random.choice(listed.tables)  # noqa: S311 - any will do
                self._watch(table.table_id)
        except (grpc.RpcError, Wrong):
            pass  # it is reported

    def _watch(self, table_id: str) -> None:
        last = 0
        with self.reported("WatchTable") as report:
            request = pb.WatchTableRequest(table_id=table_id, after_event=0)
            for message in self.tables.WatchTable(request):
                report["response_length"] += message.ByteSize()
                if message.HasField("event"):
                    if message.event.number != last + 1:
                        raise Wrong(f"event {message.event.number} came after {last}")
                    last = message.event.number
                elif message.HasField("closing"):
                    if message.closing.reason == CLOSING_REASON_MATCH_FINISHED:
                        return
                    break
            raise Wrong("the watch ended before the match")


class Failure(Exception):
    """What a report says of a call that failed."""


def bearer(token: str) -> tuple[tuple[str, str], ...]:
    """The header that says who calls."""
    return (("authorization", f"Bearer {token}"),) if token else ()


def reason_of(error: Exception) -> str:
    """The server's reason, else the status code: few texts, as Locust counts by them."""
    if not isinstance(error, grpc.RpcError):
        return str(error)
    code = error.code().name
    for key, value in error.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            info = error_details_pb2.ErrorInfo()
            for detail in status_pb2.Status.FromString(value).details:
                if detail.Unpack(info):
                    return f"{code} / {info.reason}"
    return code
