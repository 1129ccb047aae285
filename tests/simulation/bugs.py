"""Faults planted in the service, each of which the invariants alone must find.

    python -m tests.simulation --planted

tells after how many worlds each is found. What a fault does is written as the least change of the
code; the first ten are of the kind that shows only when things happen in the wrong order.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from tavolata.service import watch
from tavolata.service.ai_seats import AiSeats
from tavolata.service.committer import Committer
from tavolata.service.ports import (
    Append,
    Claim,
    Conflict,
    StoreAway,
    StoreError,
    StoreFull,
)
from tavolata.service.tables import apply as applying
from tavolata.service.tables import wire
from tavolata.service.tables.model import FINISHED, OCCUPANT, SPECTATOR, Table
from tavolata.service.tables.playing import Playing
from tavolata.service.tables.requests import draft
from tavolata.service.tables.tables import Tables
from tavolata.service.watch import Watch, WatchHub
from tavolata.service.work import WorkLoop
from tavolata.v1.event_pb2 import ClosingReason
from tests.simulation.run import attempt
from tests.simulation.store import SimStore

Plant = AbstractContextManager[Any]
BUGS: dict[str, Callable[[], Plant]] = {}


def bug(make: Callable[[], Plant]) -> Callable[[], Plant]:
    """Register a fault under the name of the function that plants it."""
    BUGS[make.__name__] = make
    return make


def first_found(name: str, seeds: Iterable[int]) -> tuple[int | None, str]:
    """The first of these worlds that breaks with the fault in it, and how; None if all hold."""
    for seed in seeds:
        with BUGS[name]():
            outcome = attempt(seed)[1]
        if isinstance(outcome, str):
            return seed, outcome
    return None, ""


async def _no(*args: Any, **named: Any) -> bool:
    """Says no without asking."""
    return False


async def _nothing(*args: Any, **named: Any) -> None:
    """Does nothing, at once."""


def _ignored(*args: Any, **named: Any) -> None:
    """Does nothing."""


# -- of order --------------------------------------------------------------------------------------


@bug
def acknowledged_before_the_commit() -> Plant:
    return patch.object(Tables, "_outcome", _nothing)


@bug
def shown_before_the_commit() -> Plant:
    return patch.object(Table, "settle", _nothing)


@bug
@contextmanager
def entries_compared_by_number_alone() -> Iterator[None]:
    """An entry made for another history takes the place that its number says."""
    append = SimStore._append

    def by_number(store: SimStore, given: Append) -> StoreError | None:
        log = store.logs.get(given.table_id)
        return append(store, replace(given, previous=log.chain if log else b""))

    def write(store: SimStore, batch: list[Append]) -> list[StoreError | None]:
        return [store._append(each) for each in batch]

    with (
        patch.object(SimStore, "_append", by_number),
        patch.object(SimStore, "write", write),
        patch.object(Committer, "_orphans", lambda self, failed: []),
    ):
        yield


@bug
def watchers_not_woken_at_the_end() -> Plant:
    wake = Tables._wake
    return patch.object(
        Tables, "_wake", lambda self, table: None if table.over else wake(self, table)
    )


@bug
def others_not_followed() -> Plant:
    """What another server appends is noticed by nobody who waits for it here."""
    return patch.object(Tables, "_soon", _ignored)


@bug
def refused_by_a_server_that_is_behind() -> Plant:
    return patch.object(Tables, "_has_fallen_behind", _no)


@bug
def watch_ended_by_what_was_never_recorded() -> Plant:
    def reason(self: WatchHub, each: Watch) -> ClosingReason.ValueType | None:
        table = each.table
        if table.over and table.in_flight is None and each.sent >= table.durable_events:
            finished = ClosingReason.CLOSING_REASON_MATCH_FINISHED
            aborted = ClosingReason.CLOSING_REASON_MATCH_ABORTED
            return finished if table.state == FINISHED else aborted
        return each.ended

    return patch.object(WatchHub, "_reason_to_end", reason)


@bug
def claims_whose_answer_was_lost() -> Plant:
    """They are this server's, who doesn't know and never acts for them."""

    async def ask(self: WorkLoop, limit: int, among: list[str] | None) -> list[Claim]:
        return await self._store.claim(self.server_id, limit, among=among)

    return patch.object(WorkLoop, "_ask_for", ask)


@bug
def played_for_somebody_who_is_back() -> Plant:
    """What the stand-in has thought out is played after the person took the seat back."""

    async def play(
        self: Playing, table: Table, seat: int, turn: int, action: int, maker: int, body: Any
    ) -> bool:
        match = table.match
        if match is None or table.dead or table.over or match.turn != turn:
            return False
        if seat not in match.to_act:
            return False
        made = draft("played", seat, turn=turn, action=action, maker=maker, body=body)
        await self._tables.append_durably(table, made)
        return True

    @contextmanager
    def both() -> Iterator[None]:
        end = AiSeats._end

        def never_mind(self: AiSeats, table_id: str, seat: int, thought: Any) -> None:
            if self._closing:
                end(self, table_id, seat, thought)

        with patch.object(Playing, "play_for_ai", play), patch.object(AiSeats, "_end", never_mind):
            yield

    return both()


@bug
def a_token_in_use_is_replaced() -> Plant:
    """The first use isn't recorded, so a late copy of the request voids the token."""
    return patch.object(Tables, "_mark_used", _ignored)


@bug
def matches_that_began_are_nobodys() -> Plant:
    return patch.object(Tables, "_hand_over", _ignored)


@bug
def those_who_wait_for_a_failed_batch_are_forgotten() -> Plant:
    def drop(self: Committer, failed: Any) -> list[Any]:
        self._waiting = [each for each in self._waiting if each[0].table_id not in failed]
        return []

    return patch.object(Committer, "_orphans", drop)


# -- of storing ------------------------------------------------------------------------------------


def _taken_for_done(kind: type[StoreError]) -> Plant:
    write = Committer._write

    async def pretend(self: Committer, batch: list[Append]) -> list[StoreError | None]:
        outcomes = await write(self, batch)
        return [None if isinstance(each, kind) else each for each in outcomes]

    return patch.object(Committer, "_write", pretend)


@bug
def a_conflict_taken_for_done() -> Plant:
    return _taken_for_done(Conflict)


@bug
def a_full_store_taken_for_done() -> Plant:
    return _taken_for_done(StoreFull)


@bug
def an_unknown_outcome_taken_for_done() -> Plant:
    return _taken_for_done(StoreAway)


@bug
def memory_kept_after_a_failure() -> Plant:
    return patch.object(Tables, "_drop", _ignored)


@bug
def request_ids_forgotten() -> Plant:
    record = applying.record

    def forget(table: Table, entry: Any) -> None:
        record(table, entry)
        if entry.kind == "played":
            table.requests.pop((entry.scope, entry.request_id), None)

    return patch.object(applying, "record", forget)


@bug
@contextmanager
def a_repeated_creation_makes_another_table() -> Iterator[None]:
    append = SimStore._append

    def again(store: SimStore, given: Append) -> StoreError | None:
        store.creations.clear()
        return append(store, given)

    with (
        patch.object(Tables, "find_creation", _nothing),
        patch.object(SimStore, "_append", again),
    ):
        yield


@bug
def nothing_taken_up_after_a_restart() -> Plant:
    return patch.object(WorkLoop, "_claim_all", _nothing)


# -- of watching and seats -------------------------------------------------------------------------


def _opened(change: Callable[[Watch], None]) -> Plant:
    open_ = WatchHub.open

    async def changed(self: WatchHub, *args: Any, **named: Any) -> Watch:
        made = await open_(self, *args, **named)
        change(made)
        return made

    return patch.object(WatchHub, "open", changed)


@bug
def resume_off_by_one() -> Plant:
    def skip(made: Watch) -> None:
        if not made.begin_with_snapshot and made.sent < made.table.durable_events:
            made.sent += 1

    return _opened(skip)


@bug
def spectators_see_a_seats_cards() -> Plant:
    def sit(made: Watch) -> None:
        if made.viewer == SPECTATOR:
            made.viewer = 0

    return _opened(sit)


@bug
def an_event_told_again_after_an_overflow() -> Plant:
    overflow = WatchHub._overflow

    def early(self: WatchHub, each: Watch, table: Table) -> Any:
        told = overflow(self, each, table)
        each.sent -= 1
        return told

    return patch.object(WatchHub, "_overflow", early)


@bug
def spectators_miss_events() -> Plant:
    messages = wire.event_messages

    def fewer(table: Table, viewer: int, after: int, until: int) -> Any:
        told = messages(table, viewer, after, until)
        return [each for each in told if viewer != SPECTATOR or each.number % 20]

    return patch.object(watch, "shared_event_messages", fewer)


@bug
def ai_never_begins_when_it_is_first() -> Plant:
    begin = AiSeats._begin

    def later(self: AiSeats, table: Table, seat: int) -> None:
        if table.turn:
            begin(self, table, seat)

    return patch.object(AiSeats, "_begin", later)


@bug
def clocks_never_run_out() -> Plant:
    return patch.object(AiSeats, "_set_timer", _ignored)


@bug
def a_parked_match_stays_parked() -> Plant:
    def stay(table: Table, entry: Any, seat: Any, turn: int | None = None) -> None:
        seat.control, seat.back_us = OCCUPANT, entry.time_us
        applying._tell_seat(table, entry, seat, turn)

    return patch.object(applying, "_take_back", stay)


@bug
def a_call_given_up_takes_the_server_with_it() -> Plant:
    """Whoever waits for the same load is cancelled with the one who gave up."""

    async def load(self: Tables, table_id: str) -> Table | None:
        loading = self._loading.get(table_id)
        if loading is None:
            loading = asyncio.get_running_loop().create_task(self._read(table_id))
            self._loading[table_id] = loading
            loading.add_done_callback(lambda _: self._loading.pop(table_id, None))
        return await loading

    return patch.object(Tables, "_load", load)
