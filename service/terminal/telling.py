"""What is the same in every game, in words: seats, turns, scores, results, how a table stands."""

from __future__ import annotations

from collections.abc import Iterable

from tavolata.service.terminal.screen import Room, Screen
from tavolata.service.terminal.words import capital, counted, listed, number
from tavolata.v1 import event_pb2, score_pb2, table_pb2, view_pb2

_CONTROL = {
    table_pb2.SEAT_CONTROL_LEFT: "has left; the AI plays for this seat until they return",
    table_pb2.SEAT_CONTROL_TIMED_OUT: "ran out of time; the AI plays for this seat for now",
    table_pb2.SEAT_CONTROL_RESIGNED: "has resigned; the AI plays this seat to the end",
}
_OWN_CONTROL = {
    table_pb2.SEAT_CONTROL_LEFT: "You have left; the AI plays for you until you return",
    table_pb2.SEAT_CONTROL_TIMED_OUT: "You ran out of time; the AI plays for you until you act",
    table_pb2.SEAT_CONTROL_RESIGNED: "You have resigned; the AI plays your seat to the end",
}
_CLOSINGS = {
    event_pb2.CLOSING_REASON_MATCH_FINISHED: "The match is over.",
    event_pb2.CLOSING_REASON_MATCH_ABORTED: "The table was closed; there is no result.",
    event_pb2.CLOSING_REASON_TOKEN_VOID: "This seat is no longer yours.",
    event_pb2.CLOSING_REASON_TABLE_REMOVED: "The table is gone: it was not started in time.",
}


def table_told(event: event_pb2.TableEvent, room: Room, low_wins: bool) -> str:
    """What an event of the table tells; empty for what people don't care about."""
    which = event.WhichOneof("event")
    if which == "seat_changed":
        return _seat_changed(event.seat_changed.seat, room)
    if which == "owner_changed":
        owner = event.owner_changed.owner_seat
        return f"{room.Who(owner)} now {'own' if owner == room.me else 'owns'} the table."
    if which == "match_started":
        return "The match begins."
    if which == "match_ended":
        return result_told(event.match_ended.result, room, low_wins)
    return {
        "match_aborted": "The table was closed.",
        "match_parked": "Everybody has left; the match waits.",
        "match_resumed": "The match goes on.",
    }.get(which or "", "")


def _seat_changed(seat: table_pb2.Seat, room: Room) -> str:
    which = seat.occupant.WhichOneof("occupant")
    who = occupant(seat)
    if which == "open":
        return f"Seat {seat.seat} is open."
    if seat.control in _CONTROL:
        if seat.seat == room.me:
            return f"{_OWN_CONTROL[seat.control]}."
        return f"Seat {seat.seat}, {who}, {_CONTROL[seat.control]}."
    return f"Seat {seat.seat}: {'you' if seat.seat == room.me else who}."


def occupant(seat: table_pb2.Seat) -> str:
    """`nobody`, a person's name, or `AI ismcts, level standard`."""
    which = seat.occupant.WhichOneof("occupant")
    if which == "ai":
        ai = seat.occupant.ai
        return f"AI {ai.player}" + (f", level {ai.level}" if ai.level else "")
    if which == "person":
        return seat.occupant.person.display_name or "somebody without a name"
    return "nobody"


def seats_told(seats: Iterable[table_pb2.Seat], room: Room) -> str:
    """Who sits where; neighbours of the same kind are told together."""
    groups: list[tuple[str, list[int]]] = []
    for seat in seats:
        who = "you" if seat.seat == room.me else occupant(seat)
        if seat.control in _CONTROL:
            who += f", who {_CONTROL[seat.control]}"
        if groups and groups[-1][0] == who:
            groups[-1][1].append(seat.seat)
        else:
            groups.append((who, [seat.seat]))
    told = (
        f"seat {numbers[0]} {who}"
        if len(numbers) == 1
        else f"seats {numbers[0]} {'and' if len(numbers) == 2 else 'to'} {numbers[-1]} {who}"
        for who, numbers in groups
    )
    return f"{capital('; '.join(told))}."


def turn_told(view: view_pb2.View, screen: Screen, room: Room) -> str:
    """BO-20, key T: whose turn it is, and to do what."""
    if not view.seats_to_act:
        return "It is nobody's turn: the match is over."
    task = screen.task(view)
    if list(view.seats_to_act) == [room.me]:
        return f"It is your turn to {task}."
    thinking = " (an AI, thinking)" if set(view.seats_to_act) <= set(view.thinking_seats) else ""
    if len(view.seats_to_act) == 1:
        return f"It is {room.whose(view.seats_to_act[0])} turn to {task}{thinking}."
    return f"To {task}, all at once: {listed(room.who(seat) for seat in view.seats_to_act)}."


def scores_told(view: view_pb2.View, screen: Screen, room: Room, low_wins: bool) -> str:
    """BO-20, key S: the totals with places, and the round in progress."""
    sheet = view.scores
    rounds = len(sheet.rounds)
    if not rounds and not any(sheet.totals):
        totals = "Nobody has a score yet."
    elif not rounds:
        totals = f"Totals: {_standings(sheet, room)}."
    else:
        totals = f"Totals after {counted(rounds, 'round')}: {_standings(sheet, room)}."
    wins = "The lowest total wins." if low_wins else "The highest total wins."
    by_round = _by_round(sheet, room) if view.result.seats else ""
    return " ".join(filter(None, [totals, by_round, screen.standing(view, room), wins]))


def _by_round(sheet: score_pb2.ScoreSheet, room: Room) -> str:
    """What each seat earned, round by round; too long to be heard while there is more to come."""
    told = (
        f"{room.who(seat)} {', '.join(number(each.points[seat]) for each in sheet.rounds)}"
        for seat in range(len(sheet.totals))
    )
    return f"Round by round: {'; '.join(told)}." if len(sheet.rounds) > 1 else ""


def _standings(sheet: score_pb2.ScoreSheet, room: Room) -> str:
    order = sorted(range(len(sheet.totals)), key=lambda seat: (sheet.places[seat], seat))
    return ", ".join(
        f"{sheet.places[seat]}. {room.who(seat)} {number(sheet.totals[seat])}" for seat in order
    )


def result_told(result: score_pb2.MatchResult, room: Room, low_wins: bool) -> str:
    """The places at the end."""
    order = sorted(result.seats, key=lambda seat: (seat.place, seat.seat))
    told = [
        f"place {seat.place}: {room.who(seat.seat)} with {number(seat.total)}"
        + (", resigned" if seat.resigned else "")
        for seat in order
    ]
    winners = [room.who(seat.seat) for seat in order if seat.place == 1]
    won = f"{capital(listed(winners))} won."
    least = "Lowest" if low_wins else "Highest"
    return f"{won} {capital('; '.join(told))}. {least} total wins."


def closing_told(closing: event_pb2.Closing) -> str:
    """Why nothing more will happen."""
    return _CLOSINGS.get(closing.reason, "The table sends nothing more.")
