"""A watch that goes on by number when it is cut."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

import grpc

from tavolata.service.client.errors import Refused, refused_call
from tavolata.service.client.retry import bearer
from tavolata.service.loadtest.follow import Follow
from tavolata.service.loadtest.tally import ERROR
from tavolata.service.loadtest.wire import Wire
from tavolata.v1.table_service_pb2 import WatchTableRequest

WATCH = "WatchTable"


class Watch:
    """WatchTable for one viewer, a spectator without a token. heard: called after each message."""

    def __init__(
        self,
        wire: Wire,
        follow: Follow,
        *,
        token: str = "",
        with_views: bool = False,
        heard: Callable[[], None] | None = None,
    ) -> None:
        self._wire, self._follow = wire, follow
        self._token, self._with_views, self._heard = token, with_views, heard
        self._call: Any = None
        self._is_cut = False

    def cut(self) -> None:
        """Lose the connection; it goes on at once."""
        if self._call is not None:
            self._is_cut = True
            self._call.cancel()

    async def run(self) -> None:
        """Follow the table until it is over. Failed, Over."""
        tally = self._wire.tally
        while not self._follow.over:
            began, failure = time.monotonic(), None
            tally.open["watches"] += 1
            try:
                failure = await self._one_call()
            finally:
                tally.open["watches"] -= 1
                self._call = None
            if failure is not None:
                await self._wire.wait(self._wire.refused(WATCH, self._follow.game, began, failure))
        tally.count("watches to the end")

    async def _one_call(self) -> Refused | None:
        """One connection, until it is cut or the table is over; or why it failed."""
        self._is_cut = False
        request = WatchTableRequest(
            table_id=self._follow.table_id,
            after_event=self._follow.begin(with_views=self._with_views),
            with_views=self._with_views,
        )
        self._call = call = self._wire.stub().WatchTable(request, metadata=bearer(self._token))
        try:
            async for message in call:
                self._follow.take(message)
                if self._heard is not None:
                    self._heard()
        except grpc.aio.AioRpcError as error:
            return None if self._is_cut else refused_call(error)
        except asyncio.CancelledError:
            # gRPC raises it where a call was cut, too.
            task = asyncio.current_task()
            if not self._is_cut or (task is not None and task.cancelling()):
                raise
            return None
        finally:
            call.cancel()
        if self._follow.over or self._is_cut:
            return None
        return Refused(grpc.StatusCode.UNAVAILABLE, "", f"{ERROR}: it ended before the match")
