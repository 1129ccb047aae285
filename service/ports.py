"""What the service needs of the world, as ports: time, randomness, storage, hints.

Everything that depends on time, chance or a disk goes through these, so that a simulation can drive
the service step by step. No implementation lives here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol


class Clock(Protocol):
    """Time."""

    def now_us(self) -> int:
        """Wall time in microseconds since 1970-01-01 UTC."""

    def monotonic(self) -> float:
        """Seconds on a clock that never goes back; only differences mean something."""

    async def sleep(self, seconds: float) -> None:
        """Return after that time; 0 lets others run."""


class Entropy(Protocol):
    """Randomness that nobody can foresee."""

    def bytes(self, count: int) -> bytes:
        """That many random bytes: seeds, salts, tokens."""

    def name(self) -> str:
        """A new id of 22 letters, digits, `-` and `_`: 128 random bits."""

    def fraction(self) -> float:
        """A number in [0, 1), for delays."""


@dataclass(slots=True)
class Entry:
    """One change of a table: what its state is rebuilt from, and its own idempotency record.

    number: from 1, without gaps; time_us: wall time; kind: see tables/apply.py; slot: the seat it
    concerns or -1; turn, action, maker: of a decision; request_id, scope, digest: of the request
    that made it, scope being the seat within which the id counts, or -1; body: what else the kind
    needs, as JSON values.
    """

    number: int
    time_us: int
    kind: str
    slot: int = -1
    turn: int = -1
    action: int = -1
    maker: int = 0
    request_id: str = ""
    scope: int = -1
    digest: bytes = b""
    body: dict[str, Any] | None = field(default=None, repr=False)


@dataclass(slots=True)
class Summary:
    """What is known of a table without reading its log.

    state: a TableState; expires_us: when the table may be removed, 0 for never; creation_id: the
    request id that made it.
    """

    state: int
    expires_us: int
    creation_id: str = ""


@dataclass(slots=True)
class Append:
    """An entry to add to a table's log if its number is the next one.

    summary: the table's new summary, None if it stays as it is; with entry 1 it makes the table.
    """

    table_id: str
    entry: Entry
    summary: Summary | None = None


@dataclass(slots=True)
class StoredTable:
    """A table as the store has it."""

    table_id: str
    entries: list[Entry] = field(default_factory=list)


class StoreError(Exception):
    """The store has not done what it was asked."""


class Conflict(StoreError):
    """The entry's number is not the next one, or the creation id is taken. Nothing was written."""


class StoreFull(StoreError):
    """No room left. Nothing was written."""


class StoreUnavailable(StoreError):
    """Whether it was written is unknown; the store must not be used further."""


class Store(Protocol):
    """The logs of all tables. An append is durable when `write` returns."""

    async def write(self, batch: Sequence[Append]) -> Sequence[StoreError | None]:
        """Append all in one transaction; the outcome of each, in order, None for done.

        One that conflicts leaves the others as they are.
        """

    async def load(self, table_id: str) -> StoredTable | None:
        """A table with all its entries in order, or None."""

    async def find_creation(self, creation_id: str) -> str | None:
        """The id of the table made under this request id, or None."""

    async def tables_in(self, state: int) -> list[str]:
        """Ids of the tables in a state, oldest first."""

    async def remove_expired(self, now_us: int) -> list[str]:
        """Remove the tables whose time has come, and return their ids."""

    async def close(self) -> None:
        """Write what is left and let go of the files."""


Hint = Callable[[str, int], None]


class Bus(Protocol):
    """Hints between the servers of one store that a table's log has grown.

    The log is the truth: a hint may be lost, late or doubled, and nothing but delay comes of it.
    """

    def announce(self, table_id: str, entry_number: int) -> None:
        """Say that a table's log has this entry."""

    def subscribe(self, heard: Hint) -> None:
        """Call `heard` with every hint from now on."""
