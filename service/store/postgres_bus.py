"""Hints between servers by NOTIFY, on a connection of their own, a few milliseconds' together.

Never in the transaction of an entry: there it would make all commits of a database wait in a line.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import asyncpg
import structlog

from tavolata.service.ports import Hint
from tavolata.service.store.postgres_line import COMMAND_S, CONNECT_S

log = structlog.get_logger(__name__)
CHANNEL = "tavolata"
GATHER_S = 0.003
PAYLOAD_BYTES_MAX = 7_900  # PostgreSQL takes less than 8,000
RETRY_S = 1.0


class PostgresBus:
    """A Bus over a database. Without connection it is silent, and tries again."""

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self._listeners: list[Hint] = []
        self._waiting: dict[str, int] = {}
        self._more = asyncio.Event()
        self.connected = asyncio.Event()
        self._task = asyncio.get_running_loop().create_task(self._run())

    def announce(self, table_id: str, entry_number: int) -> None:
        """Say so a little later, with what else there is to say."""
        self._waiting[table_id] = entry_number
        self._more.set()

    def subscribe(self, heard: Hint) -> None:
        """Add a listener; it also hears what this server says."""
        self._listeners.append(heard)

    async def _run(self) -> None:
        while True:
            try:
                await self._serve()
            except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
                log.warning("bus.away", error=str(error) or type(error).__name__)
            self.connected.clear()
            await asyncio.sleep(RETRY_S)

    async def _serve(self) -> None:
        """Listen and speak until the connection breaks."""
        connection: Any = await asyncpg.connect(
            self._dsn,
            timeout=CONNECT_S,
            command_timeout=COMMAND_S,
            server_settings={"application_name": "tavolata bus"},
        )
        try:
            connection.add_termination_listener(lambda _: self._more.set())
            await connection.add_listener(CHANNEL, self._heard)
            self.connected.set()
            while not connection.is_closed():
                await self._more.wait()
                await asyncio.sleep(GATHER_S)
                self._more.clear()
                while self._waiting:
                    await connection.execute("SELECT pg_notify($1, $2)", CHANNEL, self._payload())
        finally:
            with contextlib.suppress(OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
                connection.terminate()

    def _payload(self) -> str:
        """Take as many hints as one message holds."""
        taken: list[str] = []
        size = 0
        for table_id, number in list(self._waiting.items()):
            hint = f"{table_id}:{number}"
            size += len(hint) + 1
            if taken and size > PAYLOAD_BYTES_MAX:
                break
            taken.append(hint)
            del self._waiting[table_id]
        return " ".join(taken)

    def _heard(self, _connection: Any, _pid: int, _channel: str, payload: str) -> None:
        for hint in payload.split():
            table_id, _, number = hint.partition(":")
            if number.isdecimal():  # anybody may speak on a channel
                for heard in self._listeners:
                    heard(table_id, int(number))

    async def close(self) -> None:
        """Be silent."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
