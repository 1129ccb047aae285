"""A seat in play: answers what is typed, and tells what happens at the table."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping
from contextlib import aclosing

from google.protobuf.duration_pb2 import Duration

from tavolata.service.client import Refused, Seat, ServiceError, Update, new_request_id
from tavolata.service.terminal.choosing import Choosing, NotFound, clauses
from tavolata.service.terminal.keys import Key, Line, help_text, read
from tavolata.service.terminal.options import options_told
from tavolata.service.terminal.reviewing import hint_told, naming
from tavolata.service.terminal.screen import (
    BOARD_COLUMNS,
    Choice,
    Drawn,
    Room,
    Screen,
    help_of,
    screen_of,
)
from tavolata.service.terminal.telling import (
    closing_told,
    result_told,
    scores_told,
    seats_told,
    table_told,
    turn_told,
)
from tavolata.service.terminal.voice import Tone, Voice
from tavolata.v1 import catalog_pb2, event_pb2, game_pb2, player_pb2, table_pb2, view_pb2

_REMEMBERED = 12  # messages that A tells again
_HEARD = 100  # messages since the reader's last choice that B tells
_EXPLAINED = 64  # actions that the server explains at once
_HINT = player_pb2.SearchLimits(iterations=8_000, think_time=Duration(seconds=5))  # of a search
_FRESH = 4  # messages within which what one holds is not told twice


class Session:
    """What a person at the terminal sees of one table and does there."""

    def __init__(
        self,
        seat: Seat,
        game: catalog_pb2.Game,
        rules: Mapping[str, str],
        voice: Voice,
    ) -> None:
        self.seat = seat
        self.ready = asyncio.Event()  # the first snapshot is here
        self.over = False  # the match is over or the seat is gone; the person may still read
        self.gone = False  # the person wants to leave the client
        self.save_as: str | None = None
        self.review_of: list[int] | None = None  # seats to review; empty: all
        self.again: Seat | None = None  # the person's seat at a rematch
        self.screen: Screen = screen_of(game.game_id)
        self._game = game
        self._rules = rules
        self._voice = voice
        self._said: deque[str] = deque(maxlen=_REMEMBERED)
        self._heard: deque[str] = deque(maxlen=_HEARD)
        self._choosing = Choosing(self.screen)
        self._to_confirm: Key | None = None
        self._asked_turn = -1
        self._draws = False  # the board, at each turn
        self._sending: tuple[int, bytes] | None = None
        self._request_id = ""

    @property
    def room(self) -> Room:
        """Who is at the table now."""
        return Room(self._game, self.seat.table or table_pb2.Table(), self.seat.number, self._rules)

    @property
    def view(self) -> view_pb2.View | None:
        return self.seat.view

    @property
    def my_turn(self) -> bool:
        view = self.view
        return view is not None and bool(view.legal_actions)

    @property
    def chosen_action(self) -> game_pb2.Action | None:
        """What Enter would play."""
        chosen = self._choosing.chosen
        return chosen.action if chosen is not None else None

    # --- what happens ---------------------------------------------------------------------

    async def follow(self) -> None:
        """Tell what happens until the match is over or the seat is gone."""
        async with aclosing(self.seat.watch()) as updates:
            async for update in updates:
                self.hear(update)

    def hear(self, update: Update) -> None:
        """Tell what a message of the watch says, if it concerns a person."""
        if isinstance(update, event_pb2.Event):
            self._tell_event(update)
        elif isinstance(update, event_pb2.Snapshot):
            self._tell_snapshot(update)
            self.ready.set()
        else:
            self.over = True
            self._tell(closing_told(update), Tone.TURN)

    def _tell_event(self, event: event_pb2.Event) -> None:
        if event.WhichOneof("event") == "game":
            self._tell(self.screen.happened(event.game, self.room), Tone.EVENT)
            return
        told = table_told(event.table, self.room, self._game.low_wins)
        self._tell(told, Tone.SCORE if event.table.HasField("match_ended") else Tone.EVENT)

    def _tell_snapshot(self, snapshot: event_pb2.Snapshot) -> None:
        if not snapshot.HasField("view"):
            if snapshot.reason == event_pb2.SNAPSHOT_REASON_START:
                self._tell(self._waiting(), Tone.TURN)
            return
        if snapshot.reason == event_pb2.SNAPSHOT_REASON_START:
            self._arrive(snapshot.view)
        if self.view is not None and self.view.event_number > snapshot.view.event_number:
            return  # an answer to a key was faster; what it knew is still to be told
        if self.my_turn and snapshot.view.turn != self._asked_turn:
            self._asked_turn = snapshot.view.turn
            self._ask(snapshot.view)

    def _arrive(self, view: view_pb2.View) -> None:
        """Tell one who comes to a match in progress, or to one that is over."""
        if view.result.seats:
            self._tell(result_told(view.result, self.room, self._game.low_wins), Tone.SCORE)
            return
        self._tell("The match is in progress. R tells the rules, S the scores.", Tone.TURN)
        self._tell(self._standing(view), Tone.EVENT)

    def _standing(self, view: view_pb2.View) -> str:
        """How things stand for one who has not heard how they came to it."""
        return f"{self.screen.on_table(view, self.room)} {self.screen.holding(view, self.room)}"

    def _ask(self, view: view_pb2.View) -> None:
        self._choosing.begin_turn(view, self.room)
        if self._draws:
            self._voice.say(self._drawn(view, explained=False))
        parts = ["Your turn.", self.screen.ask(view, self.room)]
        holding = self.screen.holding(view, self.room)
        told = any(holding in each for each in list(self._said)[-_FRESH:])
        if self._choosing.needs_hand(view, self.room) and not told:
            parts.append(holding)
        self._tell(" ".join([*parts, self._choosing.may(view, self.room)]), Tone.TURN)

    # --- what is typed --------------------------------------------------------------------

    async def answer(self, typed: str) -> None:
        """Do what a line asks for. A refusal is told, never raised."""
        line = read(typed)
        try:
            if self._to_confirm is not None:
                await self._confirm(line)
            else:
                await self._do(line)
        except NotFound as error:
            self._voice.say(str(error), Tone.TROUBLE)
        except Refused as refusal:
            self._voice.say(f"Refused: {refusal.message} ({refusal.reason}).", Tone.TROUBLE)
        except ServiceError as error:
            self._voice.say(f"That did not reach the server: {error}", Tone.TROUBLE)

    async def _do(self, line: Line) -> None:
        view = self.view
        if line.key in (Key.LEAVE, Key.RESIGN, Key.HELP, Key.WHO, Key.AGAIN, Key.SAVE, Key.REVIEW):
            self._at_any_time(line)
        elif line.key is Key.REMATCH:
            await self._rematch()
        elif line.key is Key.ENTER and view is None:
            await self._start()
        elif line.key is Key.RULES and (line.rest or view is None):
            self._voice.say(self._rule(line.rest) if line.rest else self._options())
        elif view is None:
            self._voice.say(f"The match has not started. {self._waiting()}")
        elif line.key in (Key.ENTER, Key.PLAY):
            await self._play(line.rest)
        elif line.key is Key.DRAW and line.rest:
            self._draw_always(line.rest, view)
        elif line.key is Key.FORGET:
            self._forget()
        elif line.key is Key.WHY:
            await self._why(line.rest, view)
        elif line.key is Key.HINT:
            await self._hint(view)
        elif line.key is None:
            self._look_up(line.text, view)
        else:
            self._voice.say(self._told(line, view))

    def _told(self, line: Line, view: view_pb2.View) -> str:
        """The answer to a key that only asks."""
        screen, room = self.screen, self.room
        match line.key:
            case Key.TABLE:
                return screen.on_table(view, room)
            case Key.DRAW:
                return self._drawn(view, explained=True)
            case Key.LED:
                return screen.led(view, room)
            case Key.RULES:
                return screen.rules_now(view, room)
            case Key.SCORES:
                return scores_told(view, screen, room, self._game.low_wins)
            case Key.TURN:
                return turn_told(view, screen, room)
            case Key.LIST:
                return self._choosing.listing(view, room)
            case _:
                return screen.last_trick(view, room) or self._since()

    def _drawn(self, view: view_pb2.View, *, explained: bool) -> str:
        """The board drawn, or why not."""
        columns = self._voice.columns
        if not isinstance(self.screen, Drawn):
            return "This game has no board to draw."
        if columns is not None and columns < BOARD_COLUMNS:
            return (
                f"The board needs {BOARD_COLUMNS} columns and the terminal has {columns}. "
                "C tells the tables in words."
            )
        drawing = self.screen.drawing(view)
        return f"{drawing}\n{self.screen.legend(view)}" if explained else drawing

    def _draw_always(self, answer: str, view: view_pb2.View) -> None:
        if not isinstance(self.screen, Drawn) or answer.casefold() not in ("on", "off"):
            self._look_up(f"d {answer}", view)
            return
        self._draws = answer.casefold() == "on"
        when = "is drawn whenever it is your turn" if self._draws else "is drawn when you type D"
        self._voice.say(f"From now on the board {when}.")

    def _since(self) -> str:
        """What has happened since the reader's last choice, in a game without tricks."""
        if not self._heard:
            return "Nothing has happened since you chose."
        return "\n".join(self._heard)

    def _rule(self, number: str) -> str:
        numbers = list(self._rules)
        missing = f"There is no rule {number}: they are {numbers[0]} to {numbers[-1]}."
        return self._rules.get(number.upper(), missing)

    def _options(self) -> str:
        """What R tells before there is a round."""
        numbers = list(self._rules)
        told = options_told(self._game, self.room.options)
        return f"At this table: {told}. R and a number reads a rule, {numbers[0]} to {numbers[-1]}."

    def _forget(self) -> None:
        chosen, self._choosing.chosen = self._choosing.chosen, None
        if chosen is None:
            self._voice.say("Nothing is chosen.")
        else:
            self._voice.say(f"No longer chosen: {chosen.name}.")

    def _at_any_time(self, line: Line) -> None:
        match line.key:
            case Key.HELP:
                self._voice.say(self._help())
            case Key.WHO:
                seats = self.seat.table.seats if self.seat.table is not None else ()
                self._voice.say(seats_told(seats, self.room))
            case Key.AGAIN:
                self._voice.say("\n".join(self._said))
            case Key.SAVE:
                self._save(line.rest)
            case Key.REVIEW:
                self._review(line.rest)
            case Key.LEAVE if self.over:
                self.gone = True
            case Key.RESIGN if self.over:
                self._voice.say("The match is over. Q leaves.")
            case _:
                self._to_confirm = line.key
                self._voice.say(self._warning(line.key), Tone.TROUBLE)

    def _save(self, name: str) -> None:
        if not self.over:
            self._voice.say("A replay can be saved when the match is over.", Tone.TROUBLE)
            return
        self.save_as = name or f"{self._game.game_id}-{self.seat.table_id}.json"

    def _review(self, whose: str) -> None:
        if not self.over or self.view is None:
            self._voice.say("A match can be reviewed when it is over.", Tone.TROUBLE)
        elif whose.casefold() not in ("", "all"):
            self._voice.say("Review alone: your decisions; review all: everybody's.", Tone.TROUBLE)
        else:
            mine = self.room.me
            self.review_of = [] if whose or mine is None else [mine]

    async def _rematch(self) -> None:
        if not self.over:
            self._voice.say("A rematch is played when the match is over.", Tone.TROUBLE)
            return
        self.again = await self.seat.rematch()
        self.gone = True

    async def _hint(self, view: view_pb2.View) -> None:
        """What a search would do in the reader's place."""
        if not self.my_turn:
            self._voice.say(turn_told(view, self.screen, self.room))
            return
        names = {
            choice.action.SerializeToString(deterministic=True): choice.name
            for choice in self.screen.choices(view, self.room)
        }
        named = naming(self.room.table.settings, len(self.room.table.seats))

        def name_of(action: game_pb2.Action) -> str:
            return names.get(action.SerializeToString(deterministic=True)) or named(action)

        async with aclosing(self.seat.analyze(view.turn, limits=_HINT)) as told:
            async for found in told:
                if found.final:
                    self._voice.say(hint_told(found, name_of, self.room.who))

    def _warning(self, key: Key | None) -> str:
        if key is Key.RESIGN:
            return "Resign? The AI plays your seat to the end. Y resigns, anything else does not."
        if self.view is None:
            return "Leave the table? Your seat becomes open. Y leaves, anything else does not."
        return (
            "Leave the table? The AI plays for you until you come back. "
            "Y leaves, anything else does not."
        )

    async def _confirm(self, line: Line) -> None:
        key, self._to_confirm = self._to_confirm, None
        if line.text.casefold() not in ("y", "yes"):
            self._voice.say("You stay.")
        elif key is Key.RESIGN:
            await self.seat.resign()
            self._voice.say("You have resigned. You can watch to the end; Q leaves.")
        else:
            self.gone = True
            await self.seat.leave()

    # --- choosing and playing -------------------------------------------------------------

    def _look_up(self, text: str, view: view_pb2.View) -> None:
        """A bare number is a place on the table, unless a choice is called so; else a choice."""
        if text.isdecimal() and not self._choosing.is_name(text, view, self.room):
            self._voice.say(self.screen.on_table_at(view, max(int(text), 1), self.room))
            return
        chosen = self._choosing.chosen = self._choosing.find(text, view, self.room)
        if not self.my_turn:
            then = turn_told(view, self.screen, self.room)
        elif chosen.action in view.legal_actions:
            then = f"Enter to {self.screen.task(view)}."
        else:
            then = f"It is not allowed now; W {chosen.short} says why."
        self._voice.say(f"Chosen: {chosen.name}. {then}")

    async def _play(self, name: str) -> None:
        view = self.view
        if view is None or not view.seats_to_act:
            self._voice.say("The match is over. Save saves the replay, Q leaves.")
            return
        chosen = self._choosing.find(name, view, self.room) if name else self._choosing.chosen
        forbidden = self.my_turn and chosen and chosen.action not in view.legal_actions
        if not forbidden:  # it would stand in place of what may be played
            self._choosing.chosen = chosen
        if not self.my_turn:
            ahead = f"Chosen: {chosen.name}. " if chosen else ""
            self._voice.say(f"{ahead}{turn_told(view, self.screen, self.room)}")
        elif chosen is None:
            may = self._choosing.may(view, self.room)
            self._voice.say(f"First choose what to play, by its name or number. {may}")
        elif forbidden:
            await self._why(chosen.short, view)
            self._voice.say(self._choosing.may(view, self.room))
        else:
            await self._send(chosen.action, view.turn)

    async def _send(self, action: game_pb2.Action, turn: int) -> None:
        """Play. Sent again after a failure, the same choice has the same request id."""
        sending = (turn, action.SerializeToString())
        if self._sending != sending:
            self._sending, self._request_id = sending, new_request_id()
        heard = list(self._heard)
        self._heard.clear()  # what the choice brings about may be told before it is acknowledged
        try:
            await self.seat.play(action, turn=turn, request_id=self._request_id)
        except ServiceError:
            self._heard.extendleft(reversed(heard))
            raise
        if self._asked_turn == turn:  # the next turn may have come, with a choice of its own
            self._choosing.chosen = None

    async def _why(self, name: str, view: view_pb2.View) -> None:
        """Which rule forbids a choice, in the words of the rules."""
        if not self.my_turn:
            self._voice.say(turn_told(view, self.screen, self.room))
            return
        if name:
            choices = [self._choosing.find(name, view, self.room)]
        else:
            choices = self._choosing.forbidden(view, self.room)
        if not choices:
            self._voice.say("Everything you have is allowed now.")
            return
        choices = choices[:_EXPLAINED]
        explanations = await self.seat.explain([choice.action for choice in choices])
        rules: dict[str, list[Choice]] = {}
        for choice, explanation in zip(choices, explanations, strict=True):
            reason = "" if explanation.legal else explanation.rule_id
            rules.setdefault(reason, []).append(choice)
        for rule_id, forbidden in rules.items():
            names = clauses(forbidden)
            self._voice.say(self._because(rule_id, names, explanations[0].text))

    def _because(self, rule_id: str, names: list[str], text: str) -> str:
        told = "; ".join(names)
        if not rule_id:
            return f"Allowed now: {told}."
        return f"Not allowed now: {told}. {rule_id}: {self._rules.get(rule_id, text)}"

    # --- words ----------------------------------------------------------------------------

    def _waiting(self) -> str:
        table = self.seat.table
        if table is None:
            return ""
        seats = seats_told(table.seats, self.room)
        if self.room.me is not None and table.owner_seat == self.room.me:
            return f"Table {table.table_id}. {seats} Press Enter to start the match."
        return f"Table {table.table_id}. {seats} The owner starts the match."

    async def _start(self) -> None:
        await self.seat.start()
        await self.seat.refresh()  # so that the next key is answered from it

    def _help(self) -> str:
        choices = self.screen.choices(self.view, self.room) if self.view is not None else ()
        return help_text(
            help_of(self.screen),
            is_drawn=isinstance(self.screen, Drawn),
            rule=next(iter(self._rules), "G-1"),
            example=choices[0].short if choices else "QC",
        )

    def _tell(self, message: str, tone: Tone) -> None:
        if message:
            self._said.append(message)
            if tone is not Tone.TURN:
                self._heard.append(message)
            self._voice.say(message, tone)
