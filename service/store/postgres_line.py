"""Connections to PostgreSQL that are made anew when they break."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import asyncpg
import structlog

from tavolata.service.ports import StoreAway
from tavolata.service.store.revisions import NotOpened, postgres_place

log = structlog.get_logger(__name__)
AWAY_S = 5.0  # that long a database may be away before callers are told
COMMAND_S = 10.0
CONNECT_S = 5.0
CLOSE_S = 2.0
PAUSES_S = (0.02, 0.1, 0.3)

Value = TypeVar("Value")

# What passes by itself, or leaves the outcome open: doing it again is right.
_PASSING = (
    OSError,
    TimeoutError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    asyncpg.PostgresConnectionError,
    asyncpg.OperatorInterventionError,
    asyncpg.TooManyConnectionsError,
    asyncpg.ReadOnlySQLTransactionError,
    asyncpg.SerializationError,
    asyncpg.DeadlockDetectedError,
)


class Line:
    """A few connections; `open` makes it."""

    def __init__(self, dsn: str, pool: Any) -> None:
        self._where = postgres_place(dsn)
        self._pool = pool

    @classmethod
    async def open(cls, dsn: str, count: int) -> Line:
        """Connect, with up to so many connections. NotOpened says what is wrong."""
        try:
            pool = await asyncpg.create_pool(
                dsn,
                min_size=0,
                max_size=count,
                command_timeout=COMMAND_S,
                timeout=CONNECT_S,
                target_session_attrs="read-write",
                init=_be_durable,
                reset=_keep,
                server_settings={"application_name": "tavolata"},
            )
            async with pool.acquire(timeout=CONNECT_S):
                pass  # it can be reached
        except (*_PASSING, ValueError, asyncpg.PostgresError) as error:
            said = str(error) or type(error).__name__
            raise NotOpened(f"{postgres_place(dsn)} can't be opened: {said}") from error
        return cls(dsn, pool)

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Any]:
        """A connection for something that is not to be done twice."""
        async with self._pool.acquire(timeout=CONNECT_S) as connection:
            yield connection

    async def use(self, act: Callable[[Any], Awaitable[Value]], *, again: bool = True) -> Value:
        """Do it on a connection, and again on another if that breaks. StoreAway if the database
        stays away; what it refuses is raised.

        again: whether it may be done twice; if not, StoreAway leaves open whether it was done.
        """
        until = time.monotonic() + AWAY_S
        tries = 0
        while True:
            try:
                connection = await self._pool.acquire(timeout=CONNECT_S)
            except (*_PASSING, asyncpg.PostgresError) as error:
                # Whatever keeps us from connecting: we could before, and may again.
                self._pass(error, until, tries)
            else:
                try:
                    return await act(connection)
                except _PASSING as error:
                    if isinstance(error, asyncpg.InterfaceError) and not connection.is_closed():
                        raise  # used wrongly: the same the next time
                    self._pass(error, until if again else 0.0, tries)
                finally:
                    await self._pool.release(connection)
            await asyncio.sleep(PAUSES_S[min(tries, len(PAUSES_S) - 1)])
            tries += 1

    def _pass(self, error: Exception, until: float, tries: int) -> None:
        """Return if it is to be tried again, raise StoreAway if not."""
        said = str(error) or type(error).__name__
        if time.monotonic() >= until or self._pool.is_closing():
            raise StoreAway(f"{self._where}: {said}") from error
        if not tries:
            log.warning("store.away", error=said)

    async def close(self) -> None:
        """Let go of all connections."""
        try:
            await asyncio.wait_for(self._pool.close(), CLOSE_S)
        except _PASSING:
            self._pool.terminate()


async def _keep(connection: Any) -> None:
    """Nothing here leaves a connection other than it was; resetting it costs a round trip."""


async def _be_durable(connection: Any) -> None:
    """What is committed is on the database's disk when it says so."""
    if await connection.fetchval("SHOW synchronous_commit") == "off":
        await connection.execute("SET synchronous_commit = on")
    if await connection.fetchval("SHOW fsync") == "off":
        log.warning("store.not_durable", why="fsync is off in the database's configuration")
