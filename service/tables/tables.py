"""Tables by id: loading them, who calls, changing them, and telling when that is durable.

A table in memory is what its log was when it was last read, and what this server has appended
since. Other servers may have carried the log on: what is shown, and what is refused, is compared
with the log first; what is appended fits onto the log or is decided again on what it is by now.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import structlog

from tavolata.ext.core.errors import RulesError
from tavolata.service.committer import Committer
from tavolata.service.ports import (
    NO_EPOCH,
    Append,
    Bus,
    Clock,
    Conflict,
    Entropy,
    Entry,
    Fenced,
    Store,
    StoreError,
    StoreFull,
    Summary,
)
from tavolata.service.refusals import Refused, of_play
from tavolata.service.tables import refuse
from tavolata.service.tables.apply import apply, conclude
from tavolata.service.tables.chain import WITHOUT_RULES, hash_after, link
from tavolata.service.tables.clocks import limits_us
from tavolata.service.tables.following import LastNumbers
from tavolata.service.tables.making import DamagedLog, carry_on, made, rebuild
from tavolata.service.tables.model import (
    NO_SEAT,
    PARKED,
    PLAYING,
    STATE_OPEN,
    Flight,
    Recorded,
    Table,
)
from tavolata.service.tables.requests import (
    Caller,
    Change,
    check_request_id,
    draft,
    hash_of,
    refused_by,
)

log = structlog.get_logger(__name__)
MEMORY_S = 600.0  # an idle table stays in memory that long
_WORK = {PLAYING: True, PARKED: False}  # of a summary, by state


@dataclass(frozen=True, slots=True)
class Lifetimes:
    """Microseconds that a table lives unless it is started, and once it is over."""

    open_us: int
    over_us: int


Decide = Callable[[Table, Caller | None], Entry]
Seen = Callable[[Table], None]


class Work(Protocol):
    """Which matches this server acts for, as tables have to know it."""

    server_id: str

    def holds(self, table_id: str) -> int | None:
        """The epoch of this server's claim, None without one."""

    async def rouse(self, table_id: str) -> bool:
        """Claim the table if nobody has it; whether it had stood still until now."""

    def begun(self, table_id: str) -> None:
        """A match has begun here: the claim on it is durable."""

    def resumed(self, table_id: str) -> None:
        """A parked match goes on."""

    def lost(self, table_id: str) -> None:
        """Another server has the table."""


class Tables:
    """All tables. `on_change` functions are called with a table whenever more of it is durable, or
    when it is given up."""

    def __init__(
        self,
        store: Store,
        committer: Committer,
        bus: Bus,
        clock: Clock,
        entropy: Entropy,
        lifetimes: Lifetimes,
    ) -> None:
        self.store = store
        self.clock = clock
        self.entropy = entropy
        self.on_change: list[Seen] = []
        self._committer = committer
        self._bus = bus
        bus.subscribe(self._heard)
        self._lifetimes = lifetimes
        self._tables: dict[str, Table] = {}
        self._loading: dict[str, asyncio.Future[Table | None]] = {}
        self._unrecorded: set[bytes] = set()  # tokens in use that a full store couldn't mark
        self._last_numbers = LastNumbers(store)
        self._tasks: set[asyncio.Task[None]] = set()
        self.work: Work | None = None  # set before anything is asked

    # -- finding ----------------------------------------------------------------------------------

    async def find(self, table_id: str) -> Table:
        """The table; its memory may be ahead of its log. Refused with TABLE_NOT_FOUND."""
        table = self._tables.get(table_id)
        if table is None:
            table = await self._load(table_id)
            if table is None:
                raise refuse.table_not_found(table_id)
        if self.store.shared and 0 < self.expires_us(table) <= self.clock.now_us():
            raise refuse.table_not_found(table_id)  # any server may be removing it
        table.used_at = self.clock.monotonic()
        return table

    async def settled(self, table_id: str) -> Table:
        """The table as it was at some moment since the call, with nothing in it that isn't durable:
        it may be shown until the next await."""
        while True:
            table = await self.find(table_id)
            await table.settle()
            if table.dead or await self._has_fallen_behind(table, len(table.entries)):
                continue
            await table.settle()
            if not table.dead:
                return table

    async def _load(self, table_id: str) -> Table | None:
        loading = self._loading.get(table_id)
        if loading is None:
            # In a context of its own: others than this call may wait for it.
            loading = asyncio.get_running_loop().create_task(
                self._read(table_id), context=contextvars.Context()
            )
            self._loading[table_id] = loading
            loading.add_done_callback(lambda _: self._loading.pop(table_id, None))
        try:
            return await asyncio.shield(loading)
        except StoreError as error:
            raise refuse.store_unavailable() from error
        except DamagedLog as error:
            raise self._damaged(table_id, error) from error

    def _damaged(self, table_id: str, error: DamagedLog) -> Refused:
        log.error("table.damaged", table_id=table_id, error=str(error))
        return refuse.damaged(table_id)

    async def _read(self, table_id: str) -> Table | None:
        stored = await self.store.load(table_id)
        if stored is None:
            return None
        table = rebuild(table_id, stored.entries)
        table.durable_entries = len(table.entries)
        clocked = table.match is not None and limits_us(table) != (None, None)
        clocked = clocked and table.state == PLAYING
        stood_still = clocked and self.work is not None and await self.work.rouse(table_id)
        self._tables[table_id] = table
        if stood_still:
            self.append(table, draft("awakened"))
        else:
            self._publish(table)
        return table

    # -- following what other servers append ------------------------------------------------------

    async def _has_fallen_behind(self, table: Table, count: int) -> bool:
        """Compare a table with its log and carry it on if there is more; whether there is more by
        now than `count` entries."""
        if not self.store.shared:
            return False
        try:
            last = await self._last_numbers.of(table.table_id)
            if last is None:
                self.remove([table.table_id])
                return True
            if last <= len(table.entries):
                return table.dead or len(table.entries) > count
            await self._catch_up(table)
        except StoreError as error:
            raise refuse.store_unavailable() from error
        except DamagedLog as error:
            raise self._damaged(table.table_id, error) from error
        return True

    async def _catch_up(self, table: Table) -> None:
        """Carry a table on with what others have appended, unless this server has in between."""
        await table.settle()
        count = len(table.entries)
        stored = None if table.dead else await self.store.load(table.table_id, count)
        if table.dead or stored is None or len(table.entries) != count or not stored.entries:
            return
        try:
            for entry in stored.entries:
                carry_on(table, entry)
        except Exception:
            self._drop(table)
            raise
        table.durable_entries = len(table.entries)
        self._publish(table)

    def _heard(self, table_id: str, entry_number: int) -> None:
        """Carry a table on of which there is more, if anybody here waits for that; otherwise it is
        carried on when it is needed."""
        table = self._tables.get(table_id)
        if table is not None and entry_number > len(table.entries) and self._is_followed(table):
            self._soon(table)

    def _is_followed(self, table: Table) -> bool:
        held = self.work is not None and self.work.holds(table.table_id) is not None
        return bool(table.watchers) or held

    def _soon(self, table: Table) -> None:
        task = asyncio.get_running_loop().create_task(
            self._caught_up(table), context=contextvars.Context()
        )
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _caught_up(self, table: Table) -> None:
        try:
            await self._catch_up(table)
        except StoreError:
            return  # the next look finds it still behind
        except Exception:
            log.exception("table.not_carried_on", table_id=table.table_id)

    async def look(self) -> None:
        """Compare all tables that anybody here waits for with their logs: what no hint tells."""
        if not self.store.shared:
            return
        followed = [table for table in self._tables.values() if self._is_followed(table)]
        if not followed:
            return
        last = await self.store.last_numbers([table.table_id for table in followed])
        for table in followed:
            number = last.get(table.table_id)
            if number is None:
                self.remove([table.table_id])
            elif number > len(table.entries):
                self._soon(table)

    def forget_idle(self) -> list[str]:
        """Drop from memory what nobody has asked for lately; it is loaded again when needed."""
        before = self.clock.monotonic() - MEMORY_S
        forgotten = []
        for table in list(self._tables.values()):
            idle = table.used_at < before and not table.watchers and table.in_flight is None
            if idle and table.state != PLAYING:
                del self._tables[table.table_id]
                forgotten.append(table.table_id)
        return forgotten

    def remove(self, table_ids: list[str]) -> None:
        """Forget tables that are gone from the store, and end their watches."""
        for table_id in table_ids:
            table = self._tables.pop(table_id, None)
            if table is not None:
                table.dead = True
                self._wake(table)

    # -- who calls --------------------------------------------------------------------------------

    def authenticate(self, table: Table, token: str | None) -> Caller | None:
        """Who calls, None without a token. Refused with BAD_TOKEN. A first use is recorded."""
        caller = self._known(table, token)
        if caller is not None:
            if caller.token.void:
                raise refuse.bad_token(table.table_id)
            self._mark_used(table, caller)
        return caller

    def _known(self, table: Table, token: str | None) -> Caller | None:
        if token is None:
            return None
        token_hash = hash_of(token)
        found = table.tokens.get(token_hash)
        if found is None:
            raise refuse.bad_token(table.table_id)
        return Caller(token_hash, found)

    def _mark_used(self, table: Table, caller: Caller) -> None:
        if not caller.token.used and caller.token_hash not in self._unrecorded:
            body = {"token": caller.token_hash.hex()}
            self.append(table, draft("token_used", caller.slot, body=body))

    def is_used(self, table: Table, token_hash: bytes) -> bool:
        """Whether anybody has called with a token."""
        return table.tokens[token_hash].used or token_hash in self._unrecorded

    # -- changing ---------------------------------------------------------------------------------

    async def change(self, change: Change, decide: Decide) -> tuple[Table, Recorded]:
        """Make a change once, or find that its request id made it before; durable on return.

        `decide` checks the request against the table and returns the entry that carries it out, or
        raises a refusal. It runs again on the table's newest state if another writer was faster.
        """
        check_request_id(change.request_id)
        while True:
            table = await self.find(change.table_id)
            count = len(table.entries)
            try:
                recorded = self._change(table, change, decide)
            except Refused:
                # What refused it may not be durable yet, and must not be told before it is; or
                # another server may have changed it.
                await table.settle()
                if table.dead or await self._has_fallen_behind(table, count):
                    continue
                raise
            failure = await self._outcome(table)
            if failure is None:
                return table, recorded
            if not isinstance(failure, Conflict):
                raise refused_by(failure)

    def _change(self, table: Table, change: Change, decide: Decide) -> Recorded:
        caller = self._known(table, change.token)
        scope = NO_SEAT if caller is None else caller.slot
        recorded = table.requests.get((scope, change.request_id))
        if recorded is None and caller is not None:
            # The token may have been that of an owner without a seat when this came first.
            recorded = table.requests.get((NO_SEAT, change.request_id))
            if recorded is not None and recorded.token not in (b"", caller.token_hash):
                recorded = None
        if caller is not None and caller.token.void:
            if recorded is None or recorded.token != caller.token_hash:
                raise refuse.bad_token(table.table_id)
        elif caller is not None:
            self._mark_used(table, caller)
        if recorded is not None:
            if recorded.digest != change.digest:
                raise refuse.request_id_reused(change.request_id)
            return recorded
        if not change.without_rules:
            refuse.unless_rules(table)
        entry = decide(table, caller)
        entry.request_id, entry.scope, entry.digest = change.request_id, scope, change.digest
        try:
            self.append(table, entry)
        except RulesError as error:
            assert table.match is not None  # noqa: S101
            raise of_play(error, table.match, seat=entry.slot, table_id=table.table_id) from error
        return table.requests[scope, change.request_id]

    async def _outcome(self, table: Table) -> StoreError | None:
        """What became of the last entry, once that is known."""
        flight = table.in_flight
        return None if flight is None else await flight.outcome()

    def append(self, table: Table, entry: Entry, epoch: int = NO_EPOCH) -> None:
        """Carry out an entry in memory and send it to the store; after RulesError, neither.

        epoch: of this server's claim, for what it does by itself.
        """
        state, previous = table.state, table.chain
        entry.number = len(table.entries) + 1
        entry.time_us = self.clock.now_us()
        apply(table, entry)
        summary = None
        if table.rules is None:
            entry.body = {**(entry.body or {}), WITHOUT_RULES: True}
        if table.state != state:
            if table.over:
                conclude(table, entry)
            summary = self._summary(table)
            if state == STATE_OPEN and table.state == PLAYING and self.work is not None:
                summary.claimant = self.work.server_id
        self._submit(table, entry, previous, summary, epoch)

    def _summary(self, table: Table) -> Summary:
        return Summary(table.state, self.expires_us(table), work=_WORK.get(table.state))

    async def append_durably(
        self, table: Table, entry: Entry, epoch: int = NO_EPOCH
    ) -> Conflict | None:
        """Append an entry that needs no request id, and return when it is durable, or with what
        another server's entry has done to it."""
        self.append(table, entry, epoch)
        failure = await self._outcome(table)
        if isinstance(failure, Fenced) and self.work is not None:
            self.work.lost(table.table_id)
        if failure is None or isinstance(failure, Conflict):
            return failure
        raise refused_by(failure)

    async def find_creation(self, creation_id: str) -> str | None:
        """The id of the table that this request made, or None."""
        try:
            return await self.store.find_creation(creation_id)
        except StoreError as error:
            raise refuse.store_unavailable() from error

    async def create(self, table_id: str, entry: Entry) -> Table | None:
        """Make a table by its first entry; None if its request id has made one before."""
        entry.number, entry.time_us = 1, self.clock.now_us()
        table = made(table_id, entry)
        entry.body = {**(entry.body or {}), "commitment": table.setup.commitment.hex()}
        self._tables[table_id] = table
        table.used_at = self.clock.monotonic()
        summary = self._summary(table)
        summary.creation_id = entry.request_id
        self._submit(table, entry, b"", summary, NO_EPOCH)
        failure = await self._outcome(table)
        if failure is None:
            return table
        if isinstance(failure, Conflict):
            return None
        raise refused_by(failure)

    def _submit(
        self, table: Table, entry: Entry, previous: bytes, summary: Summary | None, epoch: int
    ) -> None:
        entry.chain = link(previous, entry, hash_after(table, entry))
        flight = table.in_flight = Flight()
        append = Append(table.table_id, entry, summary, previous, epoch)
        self._committer.submit(append, partial(self._settle, table, append, flight))

    def _settle(
        self, table: Table, append: Append, flight: Flight, outcome: StoreError | None
    ) -> None:
        entry = append.entry
        if table.in_flight is flight:
            table.in_flight = None
        if outcome is None:
            table.durable_entries = entry.number
            self._bus.announce(table.table_id, entry.number)
            self._hand_over(append)
        elif not table.dead:
            self._drop(table)
        if outcome is not None and entry.kind == "token_used" and isinstance(outcome, StoreFull):
            self._unrecorded.add(bytes.fromhex((entry.body or {})["token"]))
        flight.land(outcome)
        self._publish(table)

    def _hand_over(self, append: Append) -> None:
        """Tell who acts for matches of one that has begun, or goes on."""
        summary = append.summary
        if self.work is not None and summary is not None and summary.work:
            if summary.claimant == self.work.server_id:
                self.work.begun(append.table_id)
            else:
                self.work.resumed(append.table_id)

    def epoch(self, table_id: str) -> int | None:
        """The epoch under which this server acts for a table, None if it doesn't."""
        return None if self.work is None else self.work.holds(table_id)

    def reconsider(self, table_id: str) -> None:
        """Let everybody who follows changes look at a table in memory again."""
        table = self._tables.get(table_id)
        if table is not None:
            table.considered_version = -1
            table.has_ai = True
            self._publish(table)

    def _drop(self, table: Table) -> None:
        table.dead = True
        if self._tables.get(table.table_id) is table:
            del self._tables[table.table_id]

    def _publish(self, table: Table) -> None:
        self._wake(table)
        for seen in self.on_change:
            seen(table)

    def _wake(self, table: Table) -> None:
        for event in table.watchers:
            event.set()

    def expires_us(self, table: Table) -> int:
        """When the table will be removed as things stand; 0: not."""
        if table.state == STATE_OPEN:
            return table.created_us + self._lifetimes.open_us
        return table.ended_us + self._lifetimes.over_us if table.over else 0
