"""Everything that one viewer and a spectator of a match are told on the wire, byte for byte.

A match is played to some decision. The viewer and a spectator watch it, by watches and a play
stream, and ask now and then for all that can be asked for, allowed or not. What they get is kept as
it came: messages, statuses and metadata. The others act beneath the transport: what they get may
differ.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from random import Random
from typing import Any

import grpc
from google.protobuf.message import Message

from tavolata.ext.core.spec import OptionValue
from tavolata.ext.registry import GAMES
from tavolata.service.codecs import codec_of
from tavolata.service.tables.model import SPECTATOR
from tavolata.v1 import table_service_pb2 as pb
from tavolata.v1.event_pb2 import ClosingReason
from tavolata.v1.game_pb2 import Action
from tavolata.v1.play_pb2 import AttachSeat, PlayAttached
from tavolata.v1.player_pb2 import AiPlayer, SearchLimits
from tavolata.v1.replay_pb2 import DecisionMaker
from tavolata.v1.table_pb2 import CallerSeat, OpenSeat, SeatPlan, TableSettings, Visibility
from tavolata.v1.view_pb2 import View
from tests.service.house import bearer
from tests.service.wire_world import PATIENCE_S, Course, WireWorld, dealing

EXPLAINED, REFUSED = 64, 2  # actions asked about, and illegal ones sent, at a time
BATCH = 256  # unwatched decisions at a time: the committer has room for them
STEP_US = 700_000  # before every decision
ITERATIONS = 60  # of the search of an AI player
FAR = 10**9  # an event that never was
HANDLE = 7
FORGED = "forged"

Told = list[tuple[str, object]]
"""What was told, each with the name of what it answers."""


@dataclass(frozen=True)
class Plan:
    """How a match is looked at. number: of its ids and times; decisions: how
    many there are; watched_from: the decision before
    which the streams begin; looks: decisions before which all is asked for, the end apart; delay_s:
    how far spectators are behind; resigns: whether an AI player decides for the viewer in the end.
    """

    number: int
    game: str
    seats: int
    options: dict[str, OptionValue] = field(hash=False)
    viewer: int
    decisions: int
    watched_from: int
    looks: frozenset[int]
    delay_s: int
    resigns: bool
    player: str


def differences(one: Told, other: Told) -> list[str]:
    """Names of what was told differently, in order."""
    names = [
        name
        for (name, told), (other_name, other_told) in zip(one, other, strict=False)
        if (name, told) != (other_name, other_told)
    ]
    if len(one) != len(other):
        names.append(f"{len(one)} answers and {len(other)}")
    return names


async def told_of(world: WireWorld, course: Course, plan: Plan) -> Told:
    """Play a match to the end of this course and return what was told of it."""
    world.begin(plan.number)
    with dealing(course):
        witness = _Witness(world, course, plan)
        await witness.sit_down()
        try:
            await witness.live()
        finally:
            await witness.end()
    await world.clear()
    return witness.told


class _Stream:
    """A stream that is read to its end."""

    def __init__(self, call: Any, news: asyncio.Event) -> None:
        self._news = news
        self.messages: list[bytes] = []
        self._call = call
        self._reading = asyncio.create_task(self._read())

    async def _read(self) -> None:
        with suppress(grpc.aio.AioRpcError):  # the status tells it
            async for message in self._call:
                self.messages.append(message)
                self._news.set()

    async def ended(self) -> tuple[list[bytes], object]:
        """All messages, and how it ended; TimeoutError if it doesn't."""
        await asyncio.wait_for(self._reading, PATIENCE_S)
        return self.messages, await _status_of(self._call)

    def cancel(self) -> None:
        """Read no more."""
        self._reading.cancel()
        self._call.cancel()


class _Witness:
    """A table, and what is told of it."""

    def __init__(self, world: WireWorld, course: Course, plan: Plan) -> None:
        self.told: Told = []
        self._world, self._course, self._plan = world, course, plan
        self._tokens: list[str] = []
        self._table_id = ""
        self._ids = count(1)
        self._played_id = ""  # of an action of the viewer
        self._streams: dict[str, _Stream] = {}
        self._plays: Any = None  # the play stream
        self._sent = 0  # actions on the play stream, each of which has a result
        self._sorted = 0  # of its messages, into the following
        self._results: list[bytes] = []
        self._news: list[bytes] = []
        self._neighbour: asyncio.Task[None] | None = None
        self._codec = codec_of(plan.game)

    # -- the table --------------------------------------------------------------------------------

    async def sit_down(self) -> None:
        """Make the table with a person in every seat, and start."""
        plan, lobby = self._plan, self._world.core.lobby
        limits = SearchLimits(iterations=ITERATIONS) if plan.player == "ismcts" else None
        settings = TableSettings(
            game_id=plan.game,
            options=self._codec.options_to(plan.options),
            visibility=Visibility.VISIBILITY_PUBLIC,
            stand_in=AiPlayer(player=plan.player, limits=limits),
        )
        settings.spectator_delay.FromSeconds(plan.delay_s)
        others = [SeatPlan(open=OpenSeat())] * (plan.seats - 1)
        made = await lobby.create(
            pb.CreateTableRequest(
                request_id=self._new_id(),
                settings=settings,
                seats=[SeatPlan(caller=CallerSeat()), *others],
            )
        )
        self._table_id, self._tokens = made.table.table_id, [made.token]
        for _ in others:
            join = pb.JoinTableRequest(request_id=self._new_id(), table_id=self._table_id)
            self._tokens.append((await lobby.join(join, None)).token)
        start = pb.StartMatchRequest(request_id=self._new_id(), table_id=self._table_id)
        await lobby.start(start, made.token)

    def _new_id(self) -> str:
        return f"request-{next(self._ids)}"

    @property
    def _token(self) -> str | None:
        return None if self._plan.viewer == SPECTATOR else self._tokens[self._plan.viewer]

    async def live(self) -> None:
        """From the first decision to the last look."""
        plan, decisions = self._plan, self._course.decisions
        unwatched = decisions[: plan.watched_from]
        for begin in range(0, len(unwatched), BATCH):
            batch = unwatched[begin : begin + BATCH]
            await asyncio.gather(*(self._act(*decision) for decision in batch))
        await self._watch()
        for place, decision in enumerate(decisions[len(unwatched) :], start=len(unwatched)):
            if place in plan.looks:
                await self._look(place)
            self._world.clock.move(STEP_US)
            await (self._act_on_wire if decision[1] == plan.viewer else self._act)(*decision)
            await self._world.told_all()
        await self._look(len(decisions))
        if plan.resigns:
            await self._close_streams()
            await self._resign()

    async def end(self) -> None:
        """Abort the match, and let the streams tell it."""
        table = await self._world.core.tables.find(self._table_id)
        abort = pb.AbortMatchRequest(request_id=self._new_id(), table_id=self._table_id)
        await self._world.core.lobby.abort(abort, self._tokens[table.owner])
        await self._world.told_all()
        self._world.clock.move(self._plan.delay_s * 10**6 + STEP_US)
        await self._close_streams()
        if self._neighbour is not None:
            await self._world.in_time(self._neighbour)

    # -- acting -----------------------------------------------------------------------------------

    async def _act(self, turn: int, seat: int, action: int) -> None:
        message = self._codec.action_to(action)
        playing, request_id = self._world.core.playing, self._new_id()
        if seat == self._plan.viewer:
            self._played_id = request_id
        await playing.play(self._table_id, self._tokens[seat], request_id, turn, message)

    async def _act_on_wire(self, turn: int, seat: int, action: int) -> None:
        """By the play stream and by a call in turns."""
        message = self._codec.action_to(action)
        if turn % 2:
            await self._send(turn, message)
        else:
            self._played_id = self._new_id()
            await self._play(f"turn {turn} PlayAction", turn, message, again=self._played_id)

    async def _send(self, turn: int, action: Action) -> None:
        """Play by the play stream, and wait for the result."""
        play = PlayAttached(handle=HANDLE, request_id=self._new_id(), turn=turn, action=action)
        await self._plays.write(pb.PlayStreamRequest(play=play))
        self._sent += 1
        await self._world.until(lambda: self._result_count() >= self._sent)

    async def _play(
        self, name: str, turn: int, action: Action, *, token: str | None = "", again: str = ""
    ) -> None:
        play = pb.PlayActionRequest(
            request_id=again or self._new_id(), table_id=self._table_id, turn=turn, action=action
        )
        await self._ask(name, "PlayAction", play, self._token if token == "" else token)

    # -- streams ----------------------------------------------------------------------------------

    async def _watch(self) -> None:
        """Begin the streams; the neighbour's comes first, so that what is shared is its."""
        hub, from_start = self._world.core.hub, self._plan.watched_from == 0
        neighbour = self._tokens[(self._plan.viewer + 1) % self._plan.seats]
        watch = await hub.open(self._table_id, neighbour, None, True)

        async def read() -> None:
            async for _ in hub.told(watch):
                self._world.news.set()

        self._neighbour = asyncio.create_task(read())
        for name, token in (("viewer", self._token), ("spectator", None)):
            request = pb.WatchTableRequest(
                table_id=self._table_id, after_event=0 if from_start else None, with_views=True
            )
            self._streams[f"{name}'s WatchTable"] = self._begin("WatchTable", request, token)
        path = "/tavolata.v1.TableService/PlayStream"
        stream: Any = self._world.channel.stream_stream(
            path, pb.PlayStreamRequest.SerializeToString
        )
        self._plays = stream()
        self._streams["PlayStream"] = _Stream(self._plays, self._world.news)
        attach = AttachSeat(
            handle=HANDLE, table_id=self._table_id, token=self._token or "", after_event=0
        )
        await self._plays.write(pb.PlayStreamRequest(attach=attach))
        await self._world.until(lambda: hub.count == 4)
        await self._world.told_all()

    def _begin(self, rpc: str, request: Message, token: str | None) -> _Stream:
        path = f"/tavolata.v1.TableService/{rpc}"
        stream: Any = self._world.channel.unary_stream(path, type(request).SerializeToString)
        return _Stream(stream(request, metadata=bearer(token)), self._world.news)

    def _result_count(self) -> int:
        """Results of actions that the play stream has brought."""
        messages = self._streams["PlayStream"].messages
        new, self._sorted = messages[self._sorted :], len(messages)
        for message in new:
            kind = pb.PlayStreamResponse.FromString(message).WhichOneof("message")
            (self._results if kind in ("result", "refused") else self._news).append(message)
        return len(self._results)

    async def _close_streams(self) -> None:
        """Let the server end what it tells, and keep all of it."""
        if self._plays is None:
            return
        for watch in list(self._world.core.hub._watches):
            if self._plan.resigns:
                watch.end(ClosingReason.CLOSING_REASON_DETACHED)
        await self._plays.done_writing()
        self._plays = None
        try:
            _, play_status = await self._streams["PlayStream"].ended()
            for name in ("viewer's WatchTable", "spectator's WatchTable"):
                messages, status = await self._streams[name].ended()
                self.told.append((name, (messages, status)))
            self._result_count()
            # How the two mingle hangs on the pace of the sockets.
            self.told.append(("PlayStream", (self._results, self._news, play_status)))
        finally:
            for stream in self._streams.values():
                stream.cancel()

    # -- asking -----------------------------------------------------------------------------------

    async def _ask(self, name: str, rpc: str, request: Message, token: str | None) -> bytes:
        """Ask, keep the answer or refusal, and return it."""
        path = f"/tavolata.v1.TableService/{rpc}"
        method: Any = self._world.channel.unary_unary(path, type(request).SerializeToString)
        call = method(request, metadata=bearer(token))
        answer = b""
        with suppress(grpc.aio.AioRpcError):  # the status tells it
            answer = await asyncio.wait_for(call, PATIENCE_S)
        self.told.append((name, (answer, await _status_of(call))))
        return answer

    async def _look(self, place: int) -> None:
        """Ask for everything, as the viewer and as a spectator, allowed or not."""
        draws = Random(f"{self._plan.number} {place}")
        known = self._codec._actions  # every action of the game
        chosen = sorted(draws.sample(sorted(known), min(len(known), EXPLAINED)))
        actions = [known[number] for number in chosen]
        view = await self._look_as("viewer", self._token, actions, place)
        await self._look_as("spectator", None, actions, place)
        lists = pb.ListTablesRequest(page_size=5)
        await self._ask(f"decision {place} ListTables", "ListTables", lists, None)
        if self._token is not None:
            await self._look_for_refusals(view, actions, place)

    async def _look_as(
        self, who: str, token: str | None, actions: Sequence[Action], place: int
    ) -> View:
        """What anybody may ask for; the view."""
        table_id, head = self._table_id, f"decision {place} {who}'s"
        request = pb.GetViewRequest(table_id=table_id)
        answer = await self._ask(f"{head} GetView", "GetView", request, token)
        view = pb.GetViewResponse.FromString(answer).view
        for rpc, asked in (
            ("GetView", pb.GetViewRequest(table_id=table_id, explain=actions)),
            ("GetTable", pb.GetTableRequest(table_id=table_id)),
            ("GetReplay", pb.GetReplayRequest(table_id=table_id)),
        ):
            await self._ask(f"{head} {rpc}", rpc, asked, token)
        if token is None and self._plan.delay_s:
            return view  # those behind aren't refused, which would tell how much there is
        beyond = pb.WatchTableRequest(table_id=table_id, after_event=FAR)
        refused = self._begin("WatchTable", beyond, token)
        self.told.append((f"{head} WatchTable from {FAR}", await refused.ended()))
        return view

    async def _look_for_refusals(self, view: View, actions: Sequence[Action], place: int) -> None:
        """Actions of the viewer that can't be played now."""
        head = f"decision {place}"
        legal = {action.SerializeToString() for action in view.legal_actions}
        illegal = [each for each in actions if each.SerializeToString() not in legal]
        for action in illegal[:REFUSED]:
            await self._play(f"{head} illegal PlayAction", view.turn, action)
            await self._send(view.turn, action)
        for turn in {max(view.turn - 1, 0), view.turn + 1} - {view.turn}:
            await self._play(f"{head} stale PlayAction", turn, actions[0])
            await self._send(turn, actions[0])
        await self._play(f"{head} empty PlayAction", view.turn, Action())
        await self._play(f"{head} PlayAction of another game", view.turn, _foreign(self._plan.game))
        await self._play(f"{head} PlayAction of nobody", view.turn, actions[0], token=None)
        await self._play(f"{head} forged PlayAction", view.turn, actions[0], token=FORGED)
        if self._played_id:
            name = f"{head} PlayAction again"
            await self._play(name, view.turn, actions[0], again=self._played_id)
        await self._ask(
            f"{head} StartMatch",
            "StartMatch",
            pb.StartMatchRequest(request_id=self._new_id(), table_id=self._table_id),
            self._token,
        )
        await self._ask(
            f"{head} JoinTable",
            "JoinTable",
            pb.JoinTableRequest(request_id=self._new_id(), table_id=self._table_id),
            None,
        )

    # -- an AI player in the viewer's seat --------------------------------------------------------

    async def _resign(self) -> None:
        """Let the stand-in make the viewer's decision. think_us is the machine's time."""
        resign = pb.ResignRequest(request_id=self._new_id(), table_id=self._table_id)
        await self._ask("Resign", "Resign", resign, self._token)
        table = await self._world.core.tables.find(self._table_id)
        known, viewer = len(table.entries), self._plan.viewer

        async with asyncio.timeout(PATIENCE_S):
            while not any(each.slot == viewer for each in table.entries[known:]):
                self._world.clock.move(STEP_US)
                await asyncio.sleep(0)
        entry = next(each for each in table.entries[known:] if each.slot == viewer)
        assert entry.maker == DecisionMaker.DECISION_MAKER_STAND_IN
        effort = {key: each for key, each in (entry.body or {}).items() if key != "think_us"}
        self.told.append(("AI player's decision", (entry.action, entry.time_us, effort)))


def _foreign(game: str) -> Action:
    """An action of another game."""
    other = next(each for each in GAMES if each != game)
    return next(iter(codec_of(other)._actions.values()))


async def _status_of(call: Any) -> object:
    """How a call ended, and the metadata around it."""
    return (
        await call.code(),
        await call.details(),
        tuple(await call.initial_metadata()),
        tuple(await call.trailing_metadata() or ()),
    )
