"""Asking how far logs have got, for many callers with one question."""

from __future__ import annotations

import asyncio
import contextvars

from tavolata.service.ports import Store


class LastNumbers:
    """What is asked while a question is on its way goes into the next one."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._waiting: dict[str, list[asyncio.Future[int | None]]] = {}
        self._running: asyncio.Task[None] | None = None

    async def of(self, table_id: str) -> int | None:
        """The number of a table's last entry at some moment since the call, None if there is no
        such table; raises what the store raises."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[int | None] = loop.create_future()
        self._waiting.setdefault(table_id, []).append(answer)
        if self._running is None:
            self._running = loop.create_task(self._run(), context=contextvars.Context())
        return await answer

    async def _run(self) -> None:
        while self._waiting:
            asked, self._waiting = self._waiting, {}
            try:
                found = await self._store.last_numbers(list(asked))
            except Exception as error:  # noqa: BLE001 - every caller gets it
                for answer in _open(asked):
                    answer[1].set_exception(error)
            else:
                for table_id, future in _open(asked):
                    future.set_result(found.get(table_id))
        self._running = None


def _open(
    asked: dict[str, list[asyncio.Future[int | None]]],
) -> list[tuple[str, asyncio.Future[int | None]]]:
    """Who still waits for an answer about which table."""
    return [
        (table_id, answer)
        for table_id, answers in asked.items()
        for answer in answers
        if not answer.done()
    ]
