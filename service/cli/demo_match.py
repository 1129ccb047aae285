"""One match of the demo: a script in seat 0, AI players in the others, told as it goes."""

from __future__ import annotations

import asyncio
import hashlib
import time
from contextlib import aclosing, nullcontext
from dataclasses import dataclass, field

from google.protobuf.duration_pb2 import Duration
from rich.console import Console
from rich.status import Status
from rich.table import Table
from rich.text import Text

from tavolata.ext.core.record import replay
from tavolata.ext.registry import game_spec
from tavolata.service.client import Connection, Seat, ai_player, person, settings
from tavolata.service.replays import check_fairness, record_of_replay
from tavolata.service.terminal.screen import Room, Screen, screen_of
from tavolata.service.terminal.table import rules_of
from tavolata.service.terminal.telling import occupant
from tavolata.service.terminal.words import counted
from tavolata.v1 import catalog_pb2, event_pb2, game_pb2, player_pb2, table_pb2, view_pb2

SCRIPT = "Script"
_SILENCE_S = 120.0


class DemoFailed(Exception):
    """A match did not come to its end as it should."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What the demo was asked for; None and empty: what is usual."""

    seats: int | None
    level: str
    seed: str
    pause_s: float

    def seed_for(self, game_id: str) -> bytes:
        """32 bytes, another for each game; empty: the server draws."""
        return hashlib.sha256(f"{self.seed}/{game_id}".encode()).digest() if self.seed else b""


def compact(count: int) -> str:
    """`750`, `4k`, `1.3M`: a line has room for four of them."""
    for unit, name in ((1_000_000, "M"), (1_000, "k")):
        if count >= unit:
            return f"{count / unit:.1f}".removesuffix(".0") + name
    return str(count)


def decide(view: view_pb2.View) -> game_pb2.Action:
    """The script's whole policy: the middle one of its legal actions."""
    return view.legal_actions[len(view.legal_actions) // 2]


async def play_one(console: Console, server: Connection, game_id: str, wish: Wish) -> Played:
    """Play one match to its end, telling it. Raises DemoFailed, and what the client raises."""
    began = time.monotonic()
    game = await server.game(game_id)
    seat = await _table(server, game, wish)
    rules = await rules_of(server, game_id)
    played = Played(console, game, screen_of(game_id), rules, seat)
    played.tell_table()
    made = (seat.table or await server.table(seat.table_id)).last_event
    await seat.start()
    status = console.status("") if console.is_terminal else nullcontext()
    with status as line:
        played.status = line
        await _to_the_end(seat, made, played, wish.pause_s)
    played.seconds = time.monotonic() - began
    played.tell_result()
    record = record_of_replay(await server.replay(seat.table_id))
    check_fairness(record)
    replay(record, game_spec)
    console.print(
        f"Replay checked: {counted(len(record.decisions), 'decision')} played again from the "
        "revealed seed come to the same hash and totals."
    )
    return played


async def _table(server: Connection, game: catalog_pb2.Game, wish: Wish) -> Seat:
    ai = ai_player("ismcts", wish.level)
    return await server.create_table(
        settings(
            game.game_id,
            game.default_options,
            ai_pace=player_pb2.AiPace(floor=Duration(), jitter=Duration()),
            show_search=True,
        ),
        [person(SCRIPT), *[ai] * ((wish.seats or game.usual_seat_count) - 1)],
        seed=wish.seed_for(game.game_id),
    )


async def _to_the_end(seat: Seat, after: int, played: Played, pause_s: float) -> None:
    answered, shown = -1, 0
    async with aclosing(seat.watch(after)) as updates:
        while True:
            try:
                async with asyncio.timeout(_SILENCE_S):
                    update = await anext(updates)
            except TimeoutError:
                raise DemoFailed(f"nothing happened for {_SILENCE_S:g} s") from None
            if isinstance(update, event_pb2.Event):
                played.heed(update)
                if played.tricks > shown:
                    shown = played.tricks
                    await asyncio.sleep(pause_s)
            elif isinstance(update, event_pb2.Closing):
                if update.reason != event_pb2.CLOSING_REASON_MATCH_FINISHED:
                    raise DemoFailed(
                        f"the watch ended: {event_pb2.ClosingReason.Name(update.reason)}"
                    )
                return
            elif update.view.legal_actions and update.view.turn > answered:
                answered = update.view.turn
                await seat.play(decide(update.view), turn=answered)


@dataclass
class Played:
    """A match as far as it has been played: tells it line by line and adds it up."""

    console: Console
    game: catalog_pb2.Game
    screen: Screen
    rules: dict[str, str]
    seat: Seat
    seconds: float = 0.0
    events: int = 0
    searches: int = 0
    iterations: int = 0
    think_s: float = 0.0
    turns: int = 0
    tricks: int = 0
    status: Status | None = None
    _steps: list[Text] = field(default_factory=list)
    _effort: player_pb2.SearchEffort | None = None

    @property
    def room(self) -> Room:
        """As a spectator: the script goes by its name."""
        return Room(self.game, self.seat.table or table_pb2.Table(), None, self.rules)

    def heed(self, event: event_pb2.Event) -> None:
        """Take in an event; tell it, or keep it for the line of its trick."""
        self.events = event.number
        self.turns = max(self.turns, event.turn + 1)
        if event.table.HasField("search_shown"):
            self._search(event.table.search_shown.effort)
        elif event.WhichOneof("event") == "game":
            self._game_event(event.game)

    def _search(self, effort: player_pb2.SearchEffort) -> None:
        self._effort = effort
        self.searches += 1
        self.iterations += effort.iterations
        self.think_s += effort.think_time.ToTimedelta().total_seconds()
        if self.status is not None:
            self.status.update(
                f"{self.searches} AI decisions, {self.iterations:,} iterations, "
                f"{self.think_s:.1f} s of thinking"
            )

    def _game_event(self, event: game_pb2.GameEvent) -> None:
        step = self.screen.step(event, self.room)
        if not step:
            told = self.screen.happened(event, self.room)
            if told:
                self.console.print(told, style="cyan", markup=False)
            return
        text = Text(step)
        if self._effort is not None and self._effort.iterations:
            text.append(f" ({compact(self._effort.iterations)})", style="dim")
        self._effort = None
        self._steps.append(text)
        if self.screen.ends_trick(event):
            self.console.print(Text("  ").append_text(Text(" · ").join(self._steps)))
            self._steps.clear()
            self.tricks += 1

    def tell_table(self) -> None:
        """Who sits where, before the match."""
        table = self.room.table
        self.console.print()
        self.console.rule(f"[bold]{self.game.title}", align="left")
        for each in table.seats:
            who = SCRIPT if each.seat == self.seat.number else f"AI {each.seat}"
            what = (
                "always takes the middle one of its legal actions"
                if each.seat == self.seat.number
                else occupant(each)
            )
            self.console.print(f"Seat {each.seat}: {who}, {what}")
        self.console.print(
            "In brackets: the iterations of the search behind an AI player's decision, if any.",
            style="dim",
        )

    def tell_result(self) -> None:
        """The score sheet and the places."""
        view = self.seat.view
        if view is None or not view.HasField("result"):
            raise DemoFailed("the match is over, but its view has no result")
        seats = range(len(view.scores.totals))
        sheet = Table(title="Score sheet", title_justify="left", box=None, pad_edge=False)
        sheet.add_column("round")
        for each in seats:
            sheet.add_column(self.room.who(each), justify="right")
        for row in view.scores.rounds:
            sheet.add_row(str(row.round), *map(str, row.points))
        sheet.add_section()
        sheet.add_row("total", *(str(each.total) for each in view.result.seats), style="bold")
        sheet.add_row("place", *(str(each.place) for each in view.result.seats), style="bold")
        self.console.print(sheet)
        wins = "lowest" if self.game.low_wins else "highest"
        average = self.iterations // max(self.searches, 1)
        self.console.print(
            f"The {wins} total wins. {self.searches} AI decisions, {average:,} iterations each on "
            f"average, {1000 * self.think_s / max(self.searches, 1):.0f} ms; "
            f"the match took {self.seconds:.1f} s."
        )

    def summary(self) -> tuple[str, ...]:
        """The row of the summary: game, seats, decisions, by AI, iterations, events, time."""
        table = self.room.table
        return (
            self.game.title,
            str(len(table.seats)),
            str(self.turns),
            str(self.searches),
            f"{self.iterations:,}",
            str(self.events),
            f"{self.seconds:.1f} s",
        )
