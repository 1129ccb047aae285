"""A place where match after match is played."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Coroutine, Iterable
from typing import Any

from tavolata.service.client.connection import ai_player, open_seat, person
from tavolata.service.client.errors import Refused
from tavolata.service.loadtest.follow import Follow
from tavolata.service.loadtest.hall import Hall
from tavolata.service.loadtest.known_match import KnownMatch
from tavolata.service.loadtest.pacer import Over
from tavolata.service.loadtest.person import Person
from tavolata.service.loadtest.plan import seat_count
from tavolata.service.loadtest.wire import PAUSE_S, Failed
from tavolata.v1 import table_service_pb2 as pb
from tavolata.v1.table_pb2 import TableSettings, TableState

ABORTS_MAX = 10


async def live(hall: Hall, place: int) -> None:
    """Play match after match at one place until nothing more is due."""
    number = 0
    while time.monotonic() < hall.wire.until:
        table = Table(hall, place, hall.plan.draws("table", place, number))
        number += 1
        try:
            await table.play()
        except Over:
            return
        except Failed:
            hall.tally.count("tables given up")


class Table:
    """One match."""

    def __init__(self, hall: Hall, place: int, draws: random.Random) -> None:
        plan = hall.plan
        self._hall, self._place, self._draws = hall, place, draws
        self._game = draws.choices([*plan.games], [*plan.games.values()])[0]
        self._seats = seat_count(plan, self._game)
        # The first seat is a person's, or nobody would play.
        self._ai = {seat for seat in range(1, self._seats) if draws.random() < plan.ai_share}
        self._by_views = bool(self._ai) or plan.views
        self._seed = draws.randbytes(32)
        self._table_id = ""
        self._people: dict[int, Person] = {}
        self._spectators: list[Follow] = []

    async def play(self) -> None:
        """From the making of the table to its result. Over, Failed."""
        tally = self._hall.tally
        await self._make()
        tally.open["tables"] += 1
        is_over = False
        try:
            await self._join()
            await self._attend()
            await self._start()
            if self._by_views:
                await _all(each.play_by_views() for each in self._people.values())
            else:
                await self._play_along()
            is_over = True
            tally.count("matches")
        finally:
            tally.open["tables"] -= 1
            await self._end(is_over)

    # -- the match --------------------------------------------------------------------------------

    async def _play_along(self) -> None:
        match = KnownMatch(self._game, self._seats, self._seed, self._draws)
        while moves := match.moves():
            if len(moves) == 1:
                move = moves[0]
                await self._people[move.seat].act(move.turn, move.action, move.after)
            else:
                await _all(
                    self._people[move.seat].act(move.turn, move.action, move.after)
                    for move in moves
                )

    # -- before and after it ----------------------------------------------------------------------

    async def _make(self) -> None:
        plan = self._hall.plan
        ai = ai_player(plan.ai_player, plan.ai_level)
        others = [ai if seat in self._ai else open_seat() for seat in range(1, self._seats)]
        request = pb.CreateTableRequest(
            request_id=self._hall.wire.fresh_id(),
            settings=TableSettings(game_id=self._game),
            seats=[person("Load"), *others],
            seed=self._seed,
        )

        def wrong(made: pb.CreateTableResponse) -> str:
            table = made.table
            if table.settings.game_id != self._game or len(table.seats) != self._seats:
                return f"another table than asked for: {table.settings.game_id}"
            return "" if made.token and made.seat == 0 else "no token of seat 0"

        made = await self._hall.wire.insist("CreateTable", self._game, request, wrong)
        self._table_id = made.table.table_id
        self._seat(0, made.token)

    async def _join(self) -> None:
        for seat in sorted(set(range(1, self._seats)) - self._ai):
            request = pb.JoinTableRequest(
                request_id=self._hall.wire.fresh_id(), table_id=self._table_id, seat=seat
            )

            def wrong(joined: pb.JoinTableResponse, seat: int = seat) -> str:
                return "" if joined.token and joined.seat == seat else f"no token of seat {seat}"

            joined = await self._hall.wire.insist("JoinTable", self._game, request, wrong)
            self._seat(seat, joined.token)

    def _seat(self, seat: int, token: str) -> None:
        self._people[seat] = Person(
            self._hall, self._game, self._table_id, seat, token, self._draws
        )

    async def _attend(self) -> None:
        for _ in range(self._hall.plan.watchers):
            self._spectators.append(self._hall.watch(self._game, self._table_id))
        streams = self._hall.streams
        for seat, each in self._people.items():
            stream = streams[(self._place + seat) % len(streams)] if streams else None
            await each.attend(stream, with_views=self._by_views)

    async def _start(self) -> None:
        request = pb.StartMatchRequest(
            request_id=self._hall.wire.fresh_id(), table_id=self._table_id
        )

        def wrong(started: pb.StartMatchResponse) -> str:
            playing = started.table.state == TableState.TABLE_STATE_PLAYING
            return "" if playing else f"the table's state is {started.table.state}"

        token = self._people[0].token
        await self._hall.wire.insist("StartMatch", self._game, request, wrong, token=token)

    async def _end(self, is_over: bool) -> None:
        """Leave nothing behind, and have all who were told anything told the rest."""
        has_ended = is_over or await self._aborted()
        people = self._people.values()
        follows = [*self._spectators, *(each.follow for each in people if each.follow is not None)]
        last = max(each.last_event for each in people)
        patience_s = self._hall.plan.timeout_s if has_ended else 0.0
        self._hall.see_out(follows, last, patience_s, [each.go for each in people])

    async def _aborted(self) -> bool:
        """Abort the match; whether that has succeeded."""
        request = pb.AbortMatchRequest(
            request_id=self._hall.wire.fresh_id(), table_id=self._table_id
        )
        for _ in range(ABORTS_MAX):
            try:
                await self._hall.wire.once(
                    *("AbortMatch", self._game, request, lambda _: ""), token=self._people[0].token
                )
            except (Refused, Failed):
                await asyncio.sleep(PAUSE_S * self._draws.random())
            else:
                return True
        self._hall.tally.counts["tables left behind"] += 1
        return False


async def _all(running: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Let all of them come to their end, and raise what one of them has raised."""
    for found in await asyncio.gather(*running, return_exceptions=True):
        if found is not None:
            raise found
