"""What each kind of log entry does to a table.

The same code carries out a request when it comes in and rebuilds the table from its log, so what
was acknowledged and what is rebuilt can't differ. An action that the rules refuse raises RulesError
before anything has changed; of all else, whether it is allowed has been decided before.
"""

from __future__ import annotations

from collections.abc import Callable

from google.protobuf.json_format import MessageToDict, ParseDict

from tavolata.ext.core.match import Match
from tavolata.service.ports import Entry
from tavolata.service.tables import fairness
from tavolata.service.tables.clocks import charge, elapsed_us
from tavolata.service.tables.model import (
    ABORTED,
    AI,
    FINISHED,
    LEFT,
    NO_SEAT,
    OCCUPANT,
    OPEN,
    PARKED,
    PERSON,
    PLAYING,
    RESIGNED,
    STATE_OPEN,
    TIMED_OUT,
    Recorded,
    Seat,
    Table,
    Token,
)
from tavolata.service.tables.wire import nonce_message, result_message, seat_message
from tavolata.v1 import event_pb2
from tavolata.v1.event_pb2 import TableEvent
from tavolata.v1.player_pb2 import AiPlayer, SearchEffort
from tavolata.v1.replay_pb2 import DecisionMaker
from tavolata.v1.table_pb2 import SeatControl

BY_PERSON = DecisionMaker.DECISION_MAKER_PERSON
BY_AI = DecisionMaker.DECISION_MAKER_AI
BY_STAND_IN = DecisionMaker.DECISION_MAKER_STAND_IN
BY_NOBODY = DecisionMaker.DECISION_MAKER_SINGLE_ACTION
OUTCOME = "outcome"  # in the body of the entry that ended a table


def apply(table: Table, entry: Entry) -> None:
    """Carry out an entry. RulesError, from an action, leaves the table as it was."""
    _KINDS[entry.kind](table, entry)
    record(table, entry)


def record(table: Table, entry: Entry) -> None:
    """Keep an entry that has been carried out, and what its request came to."""
    table.entries.append(entry)
    table.event_ends.append(len(table.happenings))
    if entry.body and OUTCOME in entry.body:
        table.outcome = entry.body[OUTCOME]
    if entry.request_id:
        token = bytes.fromhex(entry.body["token"]) if entry.body and "token" in entry.body else b""
        table.requests[entry.scope, entry.request_id] = Recorded(
            entry.digest, table.turn, len(table.happenings), entry.slot, token
        )


def _tell(table: Table, entry: Entry, event: TableEvent, turn: int | None = None) -> None:
    table.happenings.append((entry.time_us, table.turn if turn is None else turn, event))
    table.public_version += 1


def _tell_seat(table: Table, entry: Entry, seat: Seat, turn: int | None = None) -> None:
    changed = event_pb2.SeatChanged(seat=seat_message(seat))
    _tell(table, entry, TableEvent(seat_changed=changed), turn)


# -- before the match -----------------------------------------------------------------------------


def _joined(table: Table, entry: Entry) -> None:
    """A person takes an open seat, with a new token or that of an owner without a seat."""
    body = entry.body or {}
    seat = table.seats[entry.slot]
    seat.kind, seat.name, seat.control, seat.since = PERSON, body["name"], OCCUPANT, entry.number
    seat.held = False
    token_hash = bytes.fromhex(body["token"])
    if token_hash in table.tokens:
        table.tokens[token_hash].slot = entry.slot
        table.owner = entry.slot
    else:
        subject = bytes.fromhex(body.get("subject", ""))
        table.tokens[token_hash] = Token(entry.slot, subject=subject)
        if "replaces" in body:
            table.tokens[bytes.fromhex(body["replaces"])].void = True
            table.owner = entry.slot
    _tell_seat(table, entry, seat)
    if body.get("owner"):
        table.owner = entry.slot
        _tell_owner(table, entry)
    _add_nonce(table, entry, entry.slot)


def _add_nonce(table: Table, entry: Entry, slot: int) -> None:
    nonce = bytes.fromhex((entry.body or {}).get("nonce", ""))
    if nonce:
        table.nonces.append((slot, nonce))
        added = event_pb2.NonceAdded(nonce=nonce_message(slot, nonce))
        _tell(table, entry, TableEvent(nonce_added=added))


def _reissued(table: Table, entry: Entry) -> None:
    """A seat's unused token is replaced."""
    body = entry.body or {}
    replaced = table.tokens[bytes.fromhex(body["replaces"])]
    replaced.void = True
    fresh = bytes.fromhex(body["token"])
    table.tokens[fresh] = Token(entry.slot, subject=replaced.subject)
    key = (int(body["of_scope"]), str(body["of_request"]))
    before = table.requests[key]
    table.requests[key] = Recorded(
        before.digest, before.turn, before.event_number, before.slot, fresh
    )


def _recovered(table: Table, entry: Entry) -> None:
    """A person who is known by its identity gets its seat back under a new token."""
    body = entry.body or {}
    seat = table.seats[entry.slot]
    subject = table.tokens[bytes.fromhex(body["replaces"])].subject
    _void_tokens(table, seat)
    table.tokens[bytes.fromhex(body["token"])] = Token(entry.slot, subject=subject)
    if seat.control != OCCUPANT:
        _take_back(table, entry, seat)


def _token_used(table: Table, entry: Entry) -> None:
    """A token was used for the first time: from now on it can't be replaced."""
    table.tokens[bytes.fromhex((entry.body or {})["token"])].used = True


def _void_tokens(table: Table, seat: Seat) -> None:
    for token in table.tokens.values():
        if token.slot == seat.number:
            token.void = True


def _vacate(table: Table, seat: Seat) -> None:
    _void_tokens(table, seat)
    seat.kind, seat.name, seat.ai, seat.since, seat.held = OPEN, "", None, 0, False
    seat.control = SeatControl.SEAT_CONTROL_UNSPECIFIED


def _seat_set(table: Table, entry: Entry) -> None:
    """The owner opens a seat or gives it to an AI player."""
    seat = table.seats[entry.slot]
    _vacate(table, seat)
    ai = (entry.body or {}).get("ai")
    if ai is not None:
        seat.kind, seat.ai, seat.control = AI, ParseDict(ai, AiPlayer()), OCCUPANT
    _tell_seat(table, entry, seat)


def _started(table: Table, entry: Entry) -> None:
    """The open seats are filled, and the match is dealt."""
    setup = table.setup
    _add_nonce(table, entry, entry.slot)
    for seat in table.seats:
        if seat.kind == OPEN:
            seat.kind, seat.control, seat.held = AI, OCCUPANT, False
            seat.ai = setup.settings.fill_empty_seats
            _tell_seat(table, entry, seat)
    seats = [seat_message(seat) for seat in table.seats]
    table.state, table.started_us, table.opened_us = PLAYING, entry.time_us, entry.time_us
    table.start_entry = entry.number
    _tell(table, entry, TableEvent(match_started=event_pb2.MatchStarted(seats=seats)))
    if table.rules is None:
        return
    table.match = Match(table.game, seed_of(table), commitment=setup.commitment.hex())
    _tell_match(table, entry, 0, 0)


def seed_of(table: Table) -> bytes:
    """The seed of the table's match, with the nonces that it has."""
    setup = table.setup
    if setup.reproducible:
        return setup.server_seed
    nonces = [(None if slot == NO_SEAT else slot, nonce) for slot, nonce in table.nonces]
    return fairness.match_seed(setup.server_seed, table.table_id, nonces)


# -- in the match ---------------------------------------------------------------------------------


def _played(table: Table, entry: Entry) -> None:
    """A seat's action. RulesError leaves everything as it was."""
    if table.rules is None:
        _played_elsewhere(table, entry)
        return
    match, seat = _match(table), table.seats[entry.slot]
    turn, before = match.turn, match.event_count
    elapsed = elapsed_us(table, seat, entry.time_us)
    match.play(entry.slot, entry.action, entry.turn)
    if entry.maker in (BY_PERSON, BY_NOBODY):
        charge(seat, turn, elapsed)
        if seat.control != OCCUPANT:
            _take_back(table, entry, seat, turn)
    elif entry.maker == BY_STAND_IN and seat.control != RESIGNED:
        seat.stand_in_decisions += 1
    if table.setup.settings.show_search and entry.maker in (BY_AI, BY_STAND_IN):
        _tell_search(table, entry, turn)
    if match.turn != turn:
        table.opened_us = entry.time_us
    _tell_match(table, entry, before, turn)


def _played_elsewhere(table: Table, entry: Entry) -> None:
    """What can be known of an action without the rules: who sits there, and whether it was the
    last."""
    seat = table.seats[entry.slot]
    if entry.maker == BY_PERSON and seat.control != OCCUPANT:
        _take_back(table, entry, seat, entry.turn)
    elif entry.maker == BY_STAND_IN and seat.control != RESIGNED:
        seat.stand_in_decisions += 1
    if OUTCOME in (entry.body or {}):
        table.state, table.ended_us = FINISHED, entry.time_us


def conclude(table: Table, entry: Entry) -> None:
    """Keep in the entry that ended a table what can't be told later without its rules."""
    if table.rules is None:
        return
    outcome: dict[str, object] = {"last_event": len(table.happenings)}
    if table.match is not None:
        outcome["final_hash"] = table.match.hash.hex()
    if table.state == FINISHED:
        result = result_message(table)
        outcome["result"] = MessageToDict(result, preserving_proto_field_name=True)
    entry.body = {**(entry.body or {}), OUTCOME: outcome}
    table.outcome = outcome


def _tell_search(table: Table, entry: Entry, turn: int) -> None:
    effort = effort_of(entry)
    shown = event_pb2.SearchShown(seat=entry.slot, turn=turn, effort=effort)
    _tell(table, entry, TableEvent(search_shown=shown), turn)


def effort_of(entry: Entry) -> SearchEffort:
    """What the search for an AI player's decision spent."""
    body = entry.body or {}
    effort = SearchEffort(iterations=body.get("iterations", 0), nodes=body.get("nodes", 0))
    effort.think_time.FromMicroseconds(body.get("think_us", 0))
    return effort


def _tell_match(table: Table, entry: Entry, before: int, turn: int) -> None:
    """Number what happened in the match after its event `before`; its last event is its end."""
    match = _match(table)
    last = match.event_count - match.over
    table.happenings.extend((entry.time_us, turn, number) for number in range(before + 1, last + 1))
    if match.over:
        table.state, table.ended_us = FINISHED, entry.time_us
        ended = event_pb2.MatchEnded(result=result_message(table))
        _tell(table, entry, TableEvent(match_ended=ended), turn)


def _match(table: Table) -> Match:
    assert table.match is not None, "the match has been started"  # noqa: S101
    return table.match


def _take_back(table: Table, entry: Entry, seat: Seat, turn: int | None = None) -> None:
    seat.control, seat.back_us = OCCUPANT, entry.time_us
    _tell_seat(table, entry, seat, turn)
    if table.state == PARKED:
        table.state, table.opened_us = PLAYING, entry.time_us
        _tell(table, entry, TableEvent(match_resumed=event_pb2.MatchResumed()), turn)


def _returned(table: Table, entry: Entry) -> None:
    """A person joins again with the seat's token; nothing happens if the seat is theirs."""
    seat = table.seats[entry.slot]
    if seat.control != OCCUPANT:
        _take_back(table, entry, seat)


def _left(table: Table, entry: Entry) -> None:
    """A person gets up: the seat is open again before the match, absent in it."""
    seat = table.seats[entry.slot]
    if table.state == STATE_OPEN:
        _vacate(table, seat)
        _tell_seat(table, entry, seat)
    elif seat.control != LEFT:
        charge(seat, table.turn, elapsed_us(table, seat, entry.time_us))
        seat.control = LEFT
        _tell_seat(table, entry, seat)
    _pass_ownership(table, entry)
    _park_if_deserted(table, entry)


def _resigned(table: Table, entry: Entry) -> None:
    """The stand-in plays the seat for good."""
    seat = table.seats[entry.slot]
    seat.control = RESIGNED
    _tell_seat(table, entry, seat)
    _pass_ownership(table, entry)
    _park_if_deserted(table, entry)


def _timed_out(table: Table, entry: Entry) -> None:
    """The stand-in takes over a seat whose time has run out."""
    seat = table.seats[entry.slot]
    charge(seat, table.turn, elapsed_us(table, seat, entry.time_us))
    seat.control = TIMED_OUT
    _tell_seat(table, entry, seat)


def _awakened(table: Table, entry: Entry) -> None:
    """A server has taken the table up: no clock ran before."""
    table.opened_us = entry.time_us


def _pass_ownership(table: Table, entry: Entry) -> None:
    """From an owner who has got up to the person seated longest of those present."""
    if table.owner != entry.slot:
        return
    present = [seat for seat in table.seats if seat.kind == PERSON and seat.control == OCCUPANT]
    if present:
        table.owner = min(present, key=lambda seat: (seat.since, seat.number)).number
        _tell_owner(table, entry)
    elif table.state == STATE_OPEN:
        _abort(table, entry)


def _tell_owner(table: Table, entry: Entry) -> None:
    changed = event_pb2.OwnerChanged(owner_seat=table.owner)
    _tell(table, entry, TableEvent(owner_changed=changed))


def _park_if_deserted(table: Table, entry: Entry) -> None:
    """A match waits while a person has left and none is there; one that all resigned goes on."""
    controls = [seat.control for seat in table.seats if seat.kind == PERSON]
    if table.state == PLAYING and LEFT in controls and not {OCCUPANT, TIMED_OUT} & set(controls):
        table.state = PARKED
        _tell(table, entry, TableEvent(match_parked=event_pb2.MatchParked()))


def _aborted(table: Table, entry: Entry) -> None:
    """The owner ends the table."""
    _abort(table, entry)


def _abort(table: Table, entry: Entry) -> None:
    table.state, table.ended_us = ABORTED, entry.time_us
    _tell(table, entry, TableEvent(match_aborted=event_pb2.MatchAborted()))


def ai_body(player: AiPlayer) -> dict[str, object]:
    """An AI player as it stands in an entry's body."""
    return dict(MessageToDict(player, preserving_proto_field_name=True))


_KINDS: dict[str, Callable[[Table, Entry], None]] = {
    "joined": _joined,
    "reissued": _reissued,
    "recovered": _recovered,
    "token_used": _token_used,
    "seat_set": _seat_set,
    "started": _started,
    "played": _played,
    "returned": _returned,
    "left": _left,
    "resigned": _resigned,
    "timed_out": _timed_out,
    "awakened": _awakened,
    "aborted": _aborted,
}
