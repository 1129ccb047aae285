"""The store and the bus that the settings name."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Protocol

from tavolata.service.bus import LocalBus
from tavolata.service.players.offers import Board, NoBoard
from tavolata.service.ports import Bus, Store
from tavolata.service.settings import Settings
from tavolata.service.store.revisions import NotOpened, postgres_place
from tavolata.service.store.sqlite import SqliteStore


class OpenBus(Bus, Protocol):
    """A bus that has to be let go of."""

    async def close(self) -> None:
        """Be silent from now on."""


async def open_store(settings: Settings) -> tuple[Store, OpenBus]:
    """Open both. FileInUse, UnknownSchema, NotOpened and OSError say what is wrong."""
    if not settings.store and not settings.acts:
        raise NotOpened(
            "ai_threads = 0 leaves matches to `tavolata worker`, which needs a database: set store"
            f" = postgresql://..., as {settings.db} belongs to one server alone"
        )
    if not settings.store:
        return SqliteStore(settings.db), LocalBus()
    with _package_needed():
        from tavolata.service.store.postgres import PostgresStore
        from tavolata.service.store.postgres_bus import PostgresBus
    store = await PostgresStore.open(settings.store)
    return store, PostgresBus(settings.store) if settings.bus == "notify" else LocalBus()


def board_of(store: Store) -> Board:
    """Where the servers of a store tell each other of remote players."""
    if not store.shared:
        return NoBoard()
    from tavolata.service.store.postgres import PostgresStore

    assert isinstance(store, PostgresStore)  # noqa: S101 - the one that is shared
    return store.board()


@asynccontextmanager
async def connected(dsn: str) -> AsyncIterator[Any]:
    """A connection to a PostgreSQL database. NotOpened says what is wrong."""
    with _package_needed():
        from tavolata.service.store.postgres_line import Line
    line = await Line.open(dsn, 1)
    try:
        async with line.connection() as connection:
            yield connection
    finally:
        await line.close()


@contextmanager
def _package_needed() -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        raise NotOpened(
            f"PostgreSQL needs a package that isn't installed ({error.name}): "
            "pip install 'tavolata[postgres]'"
        ) from error


def place_of(settings: Settings) -> str:
    """Where the store is, for people."""
    if not settings.store:
        return str(settings.db)
    return postgres_place(settings.store)
