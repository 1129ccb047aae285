"""Tables by id: who calls, changing them, and telling when that is durable.

What is appended fits onto the log, or is decided again on what the log is by now.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

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
    StoreAway,
    StoreError,
    StoreFull,
    Summary,
)
from tavolata.service.refusals import Refused, of_play
from tavolata.service.tables import refuse
from tavolata.service.tables.apply import apply, conclude
from tavolata.service.tables.behind import listing_of
from tavolata.service.tables.chain import WITHOUT_RULES, hash_after, link
from tavolata.service.tables.making import made
from tavolata.service.tables.memory import Lifetimes, TablesInMemory
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
from tavolata.service.telemetry import SILENCE, Telemetry

_WORK = {PLAYING: True, PARKED: False}  # of a summary, by state


Decide = Callable[[Table, Caller | None], Entry]


class Tables(TablesInMemory):
    """All tables."""

    def __init__(
        self,
        store: Store,
        committer: Committer,
        bus: Bus,
        clock: Clock,
        entropy: Entropy,
        lifetimes: Lifetimes,
    ) -> None:
        super().__init__(store, bus, clock, lifetimes)
        self.entropy = entropy
        self._committer = committer
        self._bus = bus
        self.telemetry: Telemetry = SILENCE
        self._unrecorded: set[bytes] = set()  # tokens in use that a full store couldn't mark

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
        if flight is None:
            return None
        with self.telemetry.committing(table.table_id):
            return await flight.outcome()

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
                summary.claimant = self.work.claimant
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
        summary.listing = listing_of(table)
        summary.game_id = table.setup.settings.game_id
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
            self._supersede(table)
            self._bus.announce(table.table_id, entry.number)
            self._hand_over(append)
        elif not table.dead:
            self._drop(table)
        claimed = append.summary is not None and append.summary.claimant
        if claimed and isinstance(outcome, StoreAway) and self.work is not None:
            self.work.doubted()
        if outcome is not None and entry.kind == "token_used" and isinstance(outcome, StoreFull):
            self._unrecorded.add(bytes.fromhex((entry.body or {})["token"]))
        flight.land(outcome)
        self._publish(table)

    def _supersede(self, table: Table) -> None:
        """Give up another one in memory that was read before this one's last entry: that was let go
        of while somebody was at it."""
        other = self._tables.get(table.table_id)
        if other is not None and other is not table:
            self._drop(other)
            self._wake(other)

    def _hand_over(self, append: Append) -> None:
        """Tell who acts for matches of one that has begun, or goes on."""
        summary = append.summary
        if self.work is not None and summary is not None and summary.work:
            if summary.claimant and summary.claimant == self.work.claimant:
                self.work.begun(append.table_id)
            else:
                self.work.resumed(append.table_id)
