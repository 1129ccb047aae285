"""A table, its events and views as messages of the API, for each viewer what it may know."""

from __future__ import annotations

from collections.abc import Sequence

from google.protobuf.json_format import ParseDict
from google.protobuf.timestamp_pb2 import Timestamp

from tavolata.ext.core.match import Match
from tavolata.service.codecs import score_sheet
from tavolata.service.tables.clocks import clocks_of
from tavolata.service.tables.model import (
    AI,
    FINISHED,
    NO_SEAT,
    OPEN,
    PARKED,
    PERSON,
    RESIGNED,
    SPECTATOR,
    Seat,
    SharedEvents,
    Table,
)
from tavolata.v1.event_pb2 import Event
from tavolata.v1.fairness_pb2 import Fairness, Nonce
from tavolata.v1.score_pb2 import MatchResult, SeatResult
from tavolata.v1.table_pb2 import OpenSeat, Person, SeatOccupant
from tavolata.v1.table_pb2 import Seat as SeatMessage
from tavolata.v1.table_pb2 import Table as TableMessage
from tavolata.v1.view_pb2 import View


def stamp(time_us: int) -> Timestamp:
    """A time as a message."""
    return Timestamp(seconds=time_us // 1_000_000, nanos=time_us % 1_000_000 * 1000)


def seat_message(seat: Seat) -> SeatMessage:
    """A seat as it is now."""
    if seat.kind == OPEN:
        held_for = Person(display_name=seat.former_name) if seat.held else None
        occupant = SeatOccupant(open=OpenSeat(held_for=held_for))
    elif seat.kind == PERSON:
        occupant = SeatOccupant(person=Person(display_name=seat.name))
    else:
        occupant = SeatOccupant(ai=seat.ai)
    return SeatMessage(seat=seat.number, occupant=occupant, control=seat.control)


def nonce_message(slot: int, nonce: bytes) -> Nonce:
    """A nonce and the seat that added it."""
    return Nonce(nonce=nonce) if slot == NO_SEAT else Nonce(seat=slot, nonce=nonce)


def result_message(table: Table) -> MatchResult:
    """The result of a match that is over."""
    match = table.match
    if match is None and "result" in table.outcome:
        return ParseDict(table.outcome["result"], MatchResult(), ignore_unknown_fields=True)
    assert match is not None  # noqa: S101
    rows = zip(table.seats, match.totals(), match.placement(), strict=True)
    return MatchResult(
        seats=[
            SeatResult(
                seat=seat.number,
                total=total,
                place=place,
                resigned=seat.control == RESIGNED,
                stand_in_decisions=seat.stand_in_decisions,
                ai=seat.ai if seat.kind == AI else None,
            )
            for seat, total, place in rows
        ]
    )


def table_message(table: Table, expires_us: int) -> TableMessage:
    """The table as it is now; expires_us: when it will be removed, 0 for not as things stand."""
    setup = table.setup
    made = TableMessage(
        table_id=table.table_id,
        settings=setup.settings,
        rules_version=setup.rules_version,
        state=table.state,
        seats=[seat_message(seat) for seat in table.seats],
        owner_seat=None if table.owner == NO_SEAT else table.owner,
        fairness=Fairness(
            commitment=setup.commitment,
            nonces=[nonce_message(slot, nonce) for slot, nonce in table.nonces],
            reproducible=setup.reproducible,
        ),
        last_event=last_event(table),
        create_time=stamp(table.created_us),
    )
    if table.started_us:
        made.start_time.CopyFrom(stamp(table.started_us))
    if table.ended_us:
        made.end_time.CopyFrom(stamp(table.ended_us))
    if expires_us:
        made.expire_time.CopyFrom(stamp(expires_us))
    if table.state == FINISHED and (table.rules is not None or "result" in table.outcome):
        made.result.CopyFrom(result_message(table))
    return made


def last_event(table: Table) -> int:
    """Number of the last event; without the table's rules, and before its end, of those that are
    known."""
    if table.rules is None:
        return int(table.outcome.get("last_event", len(table.happenings)))
    return len(table.happenings)


def event_messages(table: Table, viewer: int, after: int, until: int) -> list[Event]:
    """The events numbered after+1 to until, as this viewer may see them."""
    picked = table.happenings[after:until]
    seen: dict[int, object] = {}
    first = next((what for _, _, what in picked if isinstance(what, int)), None)
    if first is not None and table.match is not None:
        seen = {each.number: each.event for each in table.match.events(viewer, first - 1)}
    made = []
    for number, (time_us, turn, what) in enumerate(picked, start=after + 1):
        event = Event(number=number, time=stamp(time_us), turn=turn)
        if isinstance(what, int):
            event.game.CopyFrom(table.codec.event_to(seen[what]))
        else:
            event.table.CopyFrom(what)
        made.append(event)
    return made


def shared_event_messages(table: Table, viewer: int, after: int, until: int) -> Sequence[Event]:
    """The same events, in messages that nobody may change: all who look at the same part of the
    table's log, and may see the same of it, share them."""
    shared = table.shared
    if (shared.after, shared.until) != (after, until):
        shared = table.shared = SharedEvents(after, until)
    sight = _sight(table, viewer, after, until)
    found = shared.by_sight.get(sight)
    if found is None:
        found = shared.by_sight[sight] = event_messages(table, viewer, after, until)
    return found


def _sight(table: Table, viewer: int, after: int, until: int) -> bytes:
    """What a viewer may see of these events, as the rules tell it: events of the table itself are
    the same for all."""
    for _, _, what in table.happenings[after:until]:
        if isinstance(what, int) and table.match is not None:
            return table.match.event_words(viewer, what - 1)
    return b""


def thinking_seats(table: Table) -> list[int]:
    """The seats to act for which an AI player decides."""
    if table.match is None or table.over or table.state == PARKED:
        return []
    return [seat for seat in table.match.to_act if table.seats[seat].decided_by_ai]


def view_message(table: Table, match: Match, viewer: int, now_us: int) -> View:
    """The view of a seat or a spectator, who has no legal actions."""
    game, codec = table.game, table.codec
    seen = game.view(match.view(viewer), viewer)
    running = not table.over
    to_act = match.to_act if running else ()
    legal = match.legal(viewer) if running and viewer in to_act else ()
    return View(
        event_number=len(table.happenings),
        viewer_seat=None if viewer == SPECTATOR else viewer,
        state=table.state,
        turn=match.turn,
        seats_to_act=to_act,
        legal_actions=[codec.action_to(action) for action in legal],
        scores=score_sheet(seen, match.placement()),  # type: ignore[arg-type]
        server_time=stamp(now_us),
        clocks=clocks_of(table),
        thinking_seats=thinking_seats(table),
        game=codec.view_to(seen),
        result=result_message(table) if table.state == FINISHED else None,
    )
