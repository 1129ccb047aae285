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
    needs, as JSON values; chain: the running hash of the log up to here (tables/chain.py).
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
    chain: bytes = b""


@dataclass(slots=True)
class Summary:
    """What is known of a table without reading its log.

    state: a TableState; expires_us: when the table may be removed, 0 for never; creation_id: the
    request id that made it; work: whether a server has to act for it by itself, False for not at
    present, None for never again; claimant: the server that has the work if it is new; listing: who
    finds it, UNLISTED or one of the others; game_id: its game. creation_id, listing and game_id are
    those with which it was made, whatever later summaries say.
    """

    state: int
    expires_us: int
    creation_id: str = ""
    work: bool | None = None
    claimant: str = ""
    listing: int = 0
    game_id: str = ""


UNLISTED = 0
LISTED = 1
LISTED_LATE = 2  # spectators are behind: the state that is stored is newer than what they see


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which tables are to be listed, the newest first.

    game_id: empty for any; states: empty for any, and not looked at for LISTED_LATE; before: the
    creation time and id of a table that all of them come after in the list; limit: the most.
    """

    game_id: str = ""
    states: tuple[int, ...] = ()
    before: tuple[int, str] | None = None
    limit: int = 100


NO_EPOCH = -1
FIRST_EPOCH = 1  # of work that is claimed as it is made


@dataclass(slots=True)
class Append:
    """An entry to add to a table's log if it is the next one.

    summary: the table's new summary, None if it stays as it is; with entry 1 it makes the table;
    previous: the running hash of the entry before; epoch: of the claim under which a server acts by
    itself, NO_EPOCH for anybody's entry.
    """

    table_id: str
    entry: Entry
    summary: Summary | None = None
    previous: bytes = b""
    epoch: int = NO_EPOCH


@dataclass(slots=True)
class StoredTable:
    """A table as the store has it."""

    table_id: str
    entries: list[Entry] = field(default_factory=list)


class StoreError(Exception):
    """The store has not done what it was asked."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A table for which one server acts: AI players, clocks. epoch: greater with every claim;
    first: no server has had the table before."""

    table_id: str
    epoch: int
    first: bool


class Conflict(StoreError):
    """The entry isn't the next one, or its request id or creation id is taken. Nothing was written.

    It is the next one if its number is, and the log's last entry has the running hash that it
    follows.
    """


class Fenced(Conflict):
    """The claim under which the entry was made is another server's by now. Nothing was written."""


class StoreFull(StoreError):
    """No room left. Nothing was written."""


class StoreAway(StoreError):
    """The store can't be reached, or takes no writes at present. Whether it was written is unknown,
    and can be read later."""


class StoreUnavailable(StoreError):
    """Whether it was written is unknown; the store must not be used further."""


class Store(Protocol):
    """The logs of all tables, and who acts for them. An append is durable when `write` returns.

    Reading and claiming raise StoreAway or StoreUnavailable.
    """

    @property
    def shared(self) -> bool:
        """Whether other servers may write, too."""

    async def write(self, batch: Sequence[Append]) -> Sequence[StoreError | None]:
        """Append all in one transaction; the outcome of each, in order, None for done.

        One that conflicts leaves those of other tables as they are; what comes after it in the same
        table's log builds on it and conflicts too, whatever its number.
        """

    async def load(self, table_id: str, after: int = 0) -> StoredTable | None:
        """A table with its entries after that number in order, or None."""

    async def last_numbers(self, table_ids: Sequence[str]) -> dict[str, int]:
        """The number of the last entry of each of these tables that exists."""

    async def find_creation(self, creation_id: str) -> str | None:
        """The id of the table made under this request id, or None."""

    async def tables_in(self, state: int) -> list[str]:
        """Ids of the tables in a state, oldest first."""

    async def listed(self, wanted: Wanted) -> list[tuple[int, str]]:
        """Creation times and ids of tables that aren't UNLISTED, the newest first; those made at
        the same time in an order of the store's own."""

    async def remove_expired(self, now_us: int) -> list[str]:
        """Remove the tables whose time has come, and return their ids."""

    async def renew(self, server_id: str, lease_s: float) -> bool:
        """Let a server's lease run that long from now, by the store's clock. False if it has run
        out: what the server had claimed may be another's, and it has to go on under another id."""

    async def claim(
        self,
        server_id: str,
        limit: int,
        *,
        among: Sequence[str] | None = None,
        without: Sequence[str] = (),
    ) -> list[Claim]:
        """Give the server tables that need one and whose server, if any, has no lease any more."""

    async def release(self, server_id: str, table_ids: Sequence[str] | None = None) -> None:
        """Give claims back; without table ids all of them, and the lease."""

    async def probe(self, probe_id: str, time_us: int) -> None:
        """Write durably, in this server's own place, what takes the room of several entries. Raises
        StoreFull, StoreAway or StoreUnavailable where an append would have it for its outcome."""

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
