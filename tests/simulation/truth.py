"""What must hold whatever happens, judged from the store and from what clients were told.

The judge keeps tables of its own, carried along from the durable log alone. Whatever a client is
told is held against them: at the time for what mustn't be told too early, at the end for the rest.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from tavolata.service.ports import Entry
from tavolata.service.tables.apply import BY_AI, BY_NOBODY, BY_PERSON, BY_STAND_IN, apply
from tavolata.service.tables.clocks import elapsed_us
from tavolata.service.tables.making import made
from tavolata.service.tables.model import AI, OCCUPANT, PERSON, Table
from tavolata.service.tables.wire import event_messages, view_message
from tavolata.v1.event_pb2 import Closing, ClosingReason, Event, Snapshot, SnapshotReason
from tavolata.v1.play_pb2 import ActionReceipt
from tavolata.v1.view_pb2 import View
from tests.simulation.store import SimStore
from tests.simulation.world import World

ENDINGS = (
    ClosingReason.CLOSING_REASON_MATCH_FINISHED,
    ClosingReason.CLOSING_REASON_MATCH_ABORTED,
)


class Broken(AssertionError):
    """Something that must hold does not."""


def require(holds: object, what: str) -> None:
    """Broken unless it holds."""
    if not holds:
        raise Broken(what)


@dataclass(slots=True)
class Acknowledged:
    """An action that a client was told is recorded."""

    seat: int
    turn: int
    action: int
    receipt: ActionReceipt


@dataclass(slots=True)
class Watched:
    """What one viewer was told over all its streams."""

    viewer: int
    events: dict[int, bytes] = field(default_factory=dict)
    sent: int = 0  # number of the last event told, or of the snapshot that stands for it
    ended: bool = False


class Truth:
    """The judge of one table."""

    def __init__(self, world: World, store: SimStore, table_id: str) -> None:
        self._world, self._store, self.table_id = world, store, table_id
        self._table: Table | None = None
        self.late_us = 0  # a person that takes longer must have lost the seat; 0: no such limit
        self.heard_at = 0.0  # when the last watcher heard of the end
        self.acknowledged: dict[str, list[Acknowledged]] = {}
        self.watched: list[Watched] = []
        self._views: list[tuple[int, int, View]] = []  # (event number, viewer, view)

    def table(self) -> Table:
        """The table as the store has it now."""
        log = self._store.logs[self.table_id]
        if self._table is None:
            self._table = made(self.table_id, log.entries()[0])
        table = self._table
        for entry in log.entries(after=len(table.entries)):
            self._check_entry(table, entry)
            apply(table, entry)
        return table

    def _check_entry(self, table: Table, entry: Entry) -> None:
        """What the table was like must have allowed the entry."""
        require(entry.number == len(table.entries) + 1, f"entry {entry.number} is out of order")
        if entry.kind != "played":
            return
        seat = table.seats[entry.slot]
        who = f"entry {entry.number}: seat {entry.slot}, turn {entry.turn}"
        require(entry.turn == table.turn, f"{who}: played at turn {table.turn}")
        if entry.maker == BY_PERSON:
            require(seat.kind == PERSON, f"{who}: a person's action for an AI seat")
            require(entry.scope == entry.slot, f"{who}: played with the token of {entry.scope}")
            late = elapsed_us(table, seat, entry.time_us) > (self.late_us or float("inf"))
            require(not late, f"{who}: played long after the time had run out")
        elif entry.maker == BY_AI:
            require(seat.kind == AI, f"{who}: an AI player's action for a person's seat")
        elif entry.maker == BY_NOBODY:
            there = seat.kind == PERSON and seat.control == OCCUPANT
            require(there, f"{who}: played for somebody who isn't there")
            require(table.match is not None, f"{who}: played before the match")
            assert table.match is not None
            legal = table.match.legal(entry.slot)
            require(legal == (entry.action,), f"{who}: played by itself out of {legal}")
            require(table.setup.settings.play_single_actions, f"{who}: nobody wanted that")
        else:
            require(entry.maker == BY_STAND_IN, f"{who}: made by {entry.maker}")
            absent = seat.kind == PERSON and seat.control != OCCUPANT
            require(absent, f"{who}: the stand-in played for somebody who is there")

    # -- as it is told ----------------------------------------------------------------------------

    def told_number(self, number: int, what: str) -> None:
        """Nothing may be told that isn't durable."""
        durable = len(self.table().happenings)
        require(number <= durable, f"{what} tells of event {number}, durable are {durable}")

    def told_view(self, viewer: int, view: View) -> None:
        """A view, by GetView or in a snapshot."""
        self.told_number(view.event_number, "a view")
        self._views.append((view.event_number, viewer, view))

    def told_receipt(self, request_id: str, told: Acknowledged) -> None:
        """An action was acknowledged."""
        self.told_number(told.receipt.event_number, "a receipt")
        self.acknowledged.setdefault(request_id, []).append(told)

    def told_stale(self, seat: int, turn: int, reason: str) -> None:
        """An action for an open decision was refused because the decision isn't open any more."""
        table = self.table()
        match = table.match
        open_still = match is not None and match.turn == turn and seat in match.to_act
        require(table.over or not open_still, f"{reason} for turn {turn}, which is open to {seat}")

    def told(self, watched: Watched, message: Event | Snapshot | Closing) -> None:
        """A message of a watch, in the order of arrival."""
        require(not watched.ended, "a watch went on after it was over")
        if isinstance(message, Event):
            self.told_number(message.number, "a watch")
            require(
                message.number == watched.sent + 1,
                f"viewer {watched.viewer} was told event {message.number} after {watched.sent}",
            )
            watched.sent = message.number
            watched.events[message.number] = message.SerializeToString(deterministic=True)
        elif isinstance(message, Snapshot):
            self.told_number(message.event_number, "a snapshot")
            jumps = message.reason != SnapshotReason.SNAPSHOT_REASON_UPDATE
            require(
                message.event_number >= watched.sent
                if jumps
                else message.event_number == watched.sent,
                f"a snapshot at {message.event_number} after event {watched.sent}",
            )
            watched.sent = message.event_number
            if message.HasField("view"):
                require(message.view.event_number == message.event_number, "a snapshot's number")
                self.told_view(watched.viewer, message.view)
        else:
            require(message.resume_after == watched.sent, "a closing's resume number")
            watched.ended = message.reason in ENDINGS
            self.heard_at = self._world.now
            last = len(self.table().happenings)
            require(
                not watched.ended or watched.sent == last,
                f"a watch ended at {watched.sent} of {last} events",
            )

    # -- at the end -------------------------------------------------------------------------------

    def judge(self) -> None:
        """Everything that was told, against the whole log."""
        table = self.table()
        self._judge_requests(table)
        for watched in self.watched:
            self._judge_events(table, watched)
        self._judge_views()

    def _judge_requests(self, table: Table) -> None:
        counts = Counter(
            (entry.scope, entry.request_id) for entry in table.entries if entry.request_id
        )
        for key, count in counts.items():
            require(count == 1, f"request {key} was carried out {count} times")
        by_id = {(entry.scope, entry.request_id): entry for entry in table.entries}
        for request_id, tellings in self.acknowledged.items():
            for told in tellings:
                entry = by_id.get((told.seat, request_id))
                require(entry is not None, f"the acknowledged action {request_id} is not recorded")
                assert entry is not None
                recorded = (entry.slot, entry.turn, entry.action)
                require(
                    recorded == (told.seat, told.turn, told.action),
                    f"{request_id} is recorded as {recorded}, was {told}",
                )
                after = table.event_ends[entry.number - 1]
                require(told.receipt.event_number == after, f"{request_id}: the receipt's event")

    def _judge_events(self, table: Table, watched: Watched) -> None:
        real = event_messages(table, watched.viewer, 0, len(table.happenings))
        for event in real:
            told = watched.events.get(event.number)
            same = told is None or told == event.SerializeToString(deterministic=True)
            require(same, f"viewer {watched.viewer} was told another event {event.number}")

    def _judge_views(self) -> None:
        entries = self._store.logs[self.table_id].entries()
        table = made(self.table_id, entries[0])
        waiting = sorted(self._views, key=lambda told: told[0])
        for entry in entries[1:]:
            apply(table, entry)
            while waiting and waiting[0][0] <= len(table.happenings):
                number, viewer, view = waiting.pop(0)
                if table.match is None or number != len(table.happenings):
                    continue
                real = view_message(table, table.match, viewer, 0)
                require(
                    _lasting(view) == _lasting(real),
                    f"viewer {viewer} was shown another view at event {number}",
                )


def _lasting(view: View) -> bytes:
    """What of a view depends on the log alone."""
    kept: Any = View()
    kept.CopyFrom(view)
    for name in ("server_time", "clocks", "thinking_seats"):
        kept.ClearField(name)
    return bytes(kept.SerializeToString(deterministic=True))
