"""A person at a table: acts when it is time to, by calls or by a stream, and tries again what may
pass."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Collection
from typing import Any

from tavolata.service.client.errors import Refused
from tavolata.service.loadtest.follow import Follow
from tavolata.service.loadtest.hall import Hall
from tavolata.service.loadtest.pacer import Over
from tavolata.service.loadtest.stream import PLAY, Place, Stream, Unattached
from tavolata.v1.game_pb2 import Action
from tavolata.v1.play_pb2 import ActionReceipt
from tavolata.v1.table_pb2 import TableState
from tavolata.v1.table_service_pb2 import PlayActionRequest, PlayActionResponse

CALL = "PlayAction"
_OVER = (TableState.TABLE_STATE_FINISHED, TableState.TABLE_STATE_ABORTED)


class Person:
    """Who holds a seat's token. follow: what the person is told; None: nothing.

    last_event: the greatest number in a receipt.
    """

    def __init__(
        self, hall: Hall, game: str, table_id: str, seat: int, token: str, draws: random.Random
    ) -> None:
        self.token, self.seat = token, seat
        self.follow: Follow | None = None
        self.last_event = 0
        self._hall, self._game, self._table_id, self._draws = hall, game, table_id, draws
        self._heard = asyncio.Event()
        self._on: tuple[Stream, Place] | None = None

    # -- being told -------------------------------------------------------------------------------

    async def attend(self, stream: Stream | None, *, with_views: bool) -> None:
        """Be told what happens: by a stream, or by a watch if views are needed. Failed, Over."""
        if stream is not None:
            self.follow = self._hall.follow(self._game, self._table_id)
            place = Place(self.follow, self.token, with_views, self._heard.set)
            self._on = (stream, place)
            await stream.attach(place)
        elif with_views:
            self.follow = self._hall.watch(
                self._game, self._table_id, token=self.token, with_views=True, heard=self._heard.set
            )

    def go(self) -> None:
        """Be told nothing more."""
        if self._on is not None:
            stream, place = self._on
            stream.detach(place)

    # -- playing ----------------------------------------------------------------------------------

    async def play_by_views(self) -> None:
        """Play whatever the views allow until the match is over. Failed, Over."""
        if self.follow is None:
            raise RuntimeError("nobody tells this person anything")
        turn = -1
        while not self.follow.over:
            view = self.follow.view
            if view is not None and view.state in _OVER:
                return
            if view is not None and view.legal_actions and view.turn > turn:
                turn = view.turn
                await self.act(turn, self._draws.choice(view.legal_actions))
                continue
            await self._hear()

    async def _hear(self) -> None:
        """Return when something has been told. Over."""
        left = self._hall.wire.until - time.monotonic()
        try:
            async with asyncio.timeout(min(left, 1.0)):
                await self._heard.wait()
        except TimeoutError:
            if time.monotonic() >= self._hall.wire.until:
                raise Over from None
        self._heard.clear()

    async def act(self, turn: int, action: Action, after: Collection[int] = ()) -> None:
        """Play an action when one is due, after as many attempts as it takes; each counts.

        after: the decisions one of which has to be open then; empty: this one or a later one.
        Failed, Over.
        """
        request_id = self._hall.wire.fresh_id()

        def wrong(receipt: ActionReceipt) -> str:
            if receipt.turn not in after if after else receipt.turn < turn:
                return f"decision {receipt.turn} is open after {turn}"
            if receipt.event_number <= self.last_event:
                return f"event {receipt.event_number} came after {self.last_event}"
            return ""

        while True:
            due = await self._hall.pacer.next()
            try:
                receipt = await self._attempt(request_id, turn, action, due, wrong)
            except Refused as refusal:
                await self._hall.wire.wait(refusal)
            else:
                self.last_event = receipt.event_number
                return

    async def _attempt(
        self, request_id: str, turn: int, action: Action, due: float, wrong: Any
    ) -> ActionReceipt:
        wire = self._hall.wire
        if self._on is not None:
            stream, place = self._on
            try:
                receipt = await stream.play(place, request_id, turn, action)
            except Refused as refusal:
                raise wire.refused(PLAY, self._game, due, refusal) from None
            except Unattached:
                # The stream was cut, and the match ended with this very action: a call tells.
                pass
            else:
                wire.settle(PLAY, self._game, due, wrong(receipt))
                return receipt
        request = PlayActionRequest(
            request_id=request_id, table_id=self._table_id, turn=turn, action=action
        )
        response: PlayActionResponse = await wire.once(
            *(CALL, self._game, request, lambda answer: wrong(answer.receipt)),
            token=self.token,
            due=due,
        )
        return response.receipt
