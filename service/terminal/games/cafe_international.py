"""Café International in words; the board itself is in cafe_board."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tavolata.ext.cafe_international.board import BAR, CHAIR_TABLES, TABLE_CHAIRS, fits, is_joker
from tavolata.service.terminal.cafe_board import (
    Board,
    Guest,
    guest,
    guests,
    kind_of,
    nation,
    table_name,
    tables_of,
)
from tavolata.service.terminal.choosing import TOO_MANY
from tavolata.service.terminal.keys import Key
from tavolata.service.terminal.options import options_told
from tavolata.service.terminal.screen import Choice, Room
from tavolata.service.terminal.words import capital, counted, listed, number, without_option
from tavolata.v1 import cafe_international_pb2 as pb
from tavolata.v1 import game_pb2, view_pb2

_BEST = 3  # seats that are suggested where there are too many to be told
HELP = {
    Key.TABLE: "the tables with guests and free chairs, the bar, and what the others hold.",
    Key.NUMBER: "the table with that number, up to 24; greater ones, up to 68: that chair.",
    Key.DRAW: "the board drawn. D on: drawn whenever it is your turn; D off: no longer.",
    Key.LED: "what this turn still has to mend.",
    Key.LIST: "your guests, with where each of them may go.",
}


def _points(points: int) -> str:
    return f"{number(points)} {'point' if abs(points) == 1 else 'points'}"


# --- what happens ---------------------------------------------------------------------------


def happened(event: game_pb2.GameEvent, room: Room) -> str:
    """See Screen."""
    which = event.cafe_international.WhichOneof("event")
    if which is None:
        return ""
    return _TOLD[which](getattr(event.cafe_international, which), room)


def _seated(event: pb.CafeInternationalSeated, room: Room) -> str:
    as_of = f" as of {nation(event.nation)}" if event.nation else ""
    places = " and ".join(table_name(table + 1) for table in CHAIR_TABLES[event.chair - 1])
    return (
        f"{room.Who(event.seat)} seated {guest(event.guest)}{as_of} on chair {event.chair}, "
        f"{places}: {_points(event.points)}."
    )


def _party(event: pb.CafeInternationalPartyHeld, room: Room) -> str:
    return (
        f"{table_name(event.table)} is full of one sex: {_points(event.points)} in place of "
        "all others there in this turn."
    )


def _birthday_named(event: pb.CafeInternationalBirthdayNamed, room: Room) -> str:
    if not event.nation:
        return f"{room.Who(event.seat)} named no birthday: no table counts double."
    tables = listed(map(str, tables_of(event.nation)))
    return (
        f"{room.Who(event.seat)} named {nation(event.nation)}: "
        f"from now on tables {tables} count double."
    )


def _hands_counted(event: pb.CafeInternationalHandsCounted, room: Room) -> str:
    lost = room.each([number(-each) for each in event.penalties])
    totals = room.each([number(each) for each in event.totals])
    return f"The match ends; guests still held cost: {lost}. Totals: {totals}."


_TOLD: dict[str, Callable[[Any, Room], str]] = {
    "drew": lambda e, room: f"{room.Who(e.seat)} drew {guests(e.guests)}.",
    "started": lambda e, room: f"{room.Who(e.seat)} {_verb(e.seat, 'begin', room)}.",
    "seated": _seated,
    "table_completed": lambda e, room: (
        f"{table_name(e.table)} is full of its own nation; {room.who(e.seat)} may lower "
        f"{'your' if e.seat == room.me else 'their'} hand limit at the end of the turn."
    ),
    "party_held": _party,
    "put_at_bar": lambda e, room: (
        f"{room.Who(e.seat)} put {guest(e.guest)} at the bar, place {e.place}: {_points(e.points)}."
    ),
    "swapped": lambda e, room: (
        f"{room.Who(e.seat)} put {guest(e.guest)} on chair {e.chair} and took the {guest(e.joker)}."
    ),
    "stopped": lambda e, room: f"{room.Who(e.seat)} {_verb(e.seat, 'seat', room)} no more guests.",
    "limit_lowered": lambda e, room: (
        f"{room.Who(e.seat)} now {_verb(e.seat, 'draw', room)} up to {counted(e.limit, 'guest')}."
    ),
    "birthday_named": _birthday_named,
    "went_out": lambda e, room: (
        f"{room.Who(e.seat)} could not pay and {_verb(e.seat, 'are', room)} out of the game, "
        f"with {guests(e.guests)} in hand."
    ),
    "passed": lambda e, room: (
        f"{room.Who(e.seat)} {_verb(e.seat, 'pass', room)}: only jokers and no chair for them."
    ),
    "hands_counted": _hands_counted,
}


def _verb(seat: int, verb: str, room: Room) -> str:
    """`begin` for the reader, `begins` for others."""
    if seat == room.me:
        return verb
    return {"are": "is", "pass": "passes"}.get(verb, verb + "s")


def step(event: game_pb2.GameEvent, room: Room) -> str:
    """See Screen. A turn is told like a trick: guests in order, and what was drawn for them."""
    game = event.cafe_international
    match game.WhichOneof("event"):
        case "seated":
            sat = game.seated
            return f"{room.who(sat.seat)} {guest(sat.guest)} on {sat.chair} {sat.points:+}"
        case "put_at_bar":
            put = game.put_at_bar
            return f"{room.who(put.seat)} {guest(put.guest)} at the bar {put.points:+}"
        case "swapped":
            return f"{room.who(game.swapped.seat)} takes {guest(game.swapped.joker)}"
        case "table_completed":
            return f"{table_name(game.table_completed.table)} full"
        case "limit_lowered":
            return f"limit {game.limit_lowered.limit}"
        case "drew":
            return f"{room.who(game.drew.seat)} draws {guests(game.drew.guests)}"
    return ""


def ends_trick(event: game_pb2.GameEvent) -> bool:
    """See Screen."""
    return event.cafe_international.WhichOneof("event") in ("drew", "swapped")


# --- choosing -------------------------------------------------------------------------------


def task(view: view_pb2.View) -> str:
    """See Screen."""
    game = view.game.cafe_international
    if game.phase == pb.CAFE_INTERNATIONAL_PHASE_LIMIT:
        return "lower the hand limit"
    if game.phase == pb.CAFE_INTERNATIONAL_PHASE_BIRTHDAY:
        return "name a birthday nation"
    return "seat another guest or stop" if game.seated_now else "seat guests, use the bar or swap"


def ask(view: view_pb2.View, room: Room) -> str:
    """See Screen."""
    game = view.game.cafe_international
    if game.phase == pb.CAFE_INTERNATIONAL_PHASE_LIMIT:
        return (
            f"You completed {counted(len(game.completed_now), 'table')} with natives and may draw "
            f"fewer guests from now on; your limit is {game.seats[game.active].hand_limit}."
        )
    if game.phase == pb.CAFE_INTERNATIONAL_PHASE_BIRTHDAY:
        return "You may name a nation whose tables count double from now on, or decline."
    best: list[str] = []
    if len(view.legal_actions) > TOO_MANY:
        best = [choice.name for choice in _by_points(view)[:_BEST]]
    most = f" Most at once: {'; '.join(best)}." if best else ""
    if game.seated_now:
        return led(view, room) + most
    return f"Totals: {room.each([number(each) for each in view.scores.totals])}. {_bar(game)}{most}"


def _by_points(view: view_pb2.View) -> list[Choice]:
    """Guests that may be seated and score at once, those that score most first."""
    board = Board(view.game.cafe_international)
    seats = [
        action
        for action in view.legal_actions
        if action.cafe_international.WhichOneof("action") == "seat"
        and _score(board, action.cafe_international.seat)
    ]
    seats.sort(key=lambda action: -_score(board, action.cafe_international.seat))
    return [_choice(action, board, view) for action in seats]


def _score(board: Board, seat: pb.CafeInternationalSeatGuest) -> int:
    return board.points(seat.guest, seat.chair, seat.nation)


def choices(view: view_pb2.View, _: Room) -> Sequence[Choice]:
    """See Screen. What is allowed, and then the free chairs where a guest could sit but may not."""
    board = Board(view.game.cafe_international)
    allowed = [_choice(action, board, view) for action in view.legal_actions]
    if view.game.cafe_international.phase != pb.CAFE_INTERNATIONAL_PHASE_TURN:
        return allowed
    named = {choice.short for choice in allowed}
    return allowed + [choice for choice in _fitting(view, board) if choice.short not in named]


def _fitting(view: view_pb2.View, board: Board) -> list[Choice]:
    """Every guest but jokers on every free chair of its nation, with what is wrong then."""
    chairs = [each.chair for each in view.game.cafe_international.seated_now]
    return [
        _forbidden(value, chair, board.after(value, chair).to_mend([*chairs, chair]))
        for value in dict.fromkeys(view.game.cafe_international.seats[view.viewer_seat].hand)
        for chair in range(1, len(CHAIR_TABLES) + 1)
        if not is_joker(kind_of(value)) and fits(kind_of(value), chair - 1) and board.is_free(chair)
    ]


def _forbidden(value: Guest, chair: int, wrong: Sequence[str]) -> Choice:
    if list(wrong) == [f"the guest on chair {chair} is alone"]:
        after = ", alone"
    else:
        after = f", after which {listed(wrong)}" if wrong else ""
    return Choice(
        f"{guest(value)} on chair {chair}{after}",
        f"{guest(value)} {chair}".casefold(),
        _seat(value, chair),
        is_held=False,
        among=f"{guest(value)} on chair {{}}{after}",
        item=str(chair),
    )


def _seat(value: pb.CafeInternationalGuest.ValueType, chair: int) -> game_pb2.Action:
    seat = pb.CafeInternationalSeatGuest(guest=value, chair=chair)
    return game_pb2.Action(cafe_international=pb.CafeInternationalAction(seat=seat))


def _choice(action: game_pb2.Action, board: Board, view: view_pb2.View) -> Choice:
    """An action as something to choose."""
    which = action.cafe_international.WhichOneof("action") or "stop"
    return _CHOICES[which](getattr(action.cafe_international, which), action, board, view)


def _seat_choice(
    seat: pb.CafeInternationalSeatGuest, action: game_pb2.Action, board: Board, _: view_pb2.View
) -> Choice:
    as_of = f" as of {nation(seat.nation)}" if seat.nation else ""
    short = f"{guest(seat.guest)} {seat.chair}{as_of.removeprefix(' as of')}".casefold()
    points = f"for {_score(board, seat):+}"
    if board.needs_another(seat.guest, seat.chair):
        points += ", needs another"
    return Choice(
        f"{guest(seat.guest)} on chair {seat.chair}{as_of} {points}",
        short,
        action,
        is_held=False,
        among=f"{guest(seat.guest)}{as_of} {points}, on chair {{}}",
        item=str(seat.chair),
    )


def _bar_choice(
    bar: pb.CafeInternationalBarGuest, action: game_pb2.Action, _: Board, view: view_pb2.View
) -> Choice:
    value = BAR[len(view.game.cafe_international.bar)]
    who = guest(bar.guest)
    return Choice(
        f"{who} to the bar for {value:+}",
        f"bar {who.casefold()}",
        action,
        is_held=False,
        among=f"To the bar for {value:+}: {{}}",
        item=who,
    )


def _swap_choice(
    swap: pb.CafeInternationalSwapJoker, action: game_pb2.Action, _: Board, __: view_pb2.View
) -> Choice:
    who = guest(swap.guest)
    name = f"{who} for the joker on chair {swap.chair}"
    return Choice(
        name,
        f"swap {who.casefold()} {swap.chair}",
        action,
        is_held=False,
        among=f"{who} for the joker on chair {{}}",
        item=str(swap.chair),
    )


def _lower_choice(
    lower: pb.CafeInternationalLowerLimit,
    action: game_pb2.Action,
    _: Board,
    view: view_pb2.View,
) -> Choice:
    limit = view.game.cafe_international.seats[view.game.cafe_international.active].hand_limit
    name = f"lower by {lower.by} to {limit - lower.by}" if lower.by else f"keep the limit {limit}"
    return Choice(name, str(lower.by), action, also=(f"lower {lower.by}",), is_held=False)


_CHOICES: dict[str, Callable[[Any, game_pb2.Action, Board, view_pb2.View], Choice]] = {
    "seat": _seat_choice,
    "bar": _bar_choice,
    "swap": _swap_choice,
    "stop": lambda _, action, __, ___: Choice("stop seating", "stop", action, is_held=False),
    "lower": _lower_choice,
    "birthday": lambda named, action, _, __: Choice(
        nation(named.nation), nation(named.nation).casefold(), action, is_held=False
    ),
    "decline": lambda _, action, __, ___: Choice(
        "decline a birthday", "decline", action, is_held=False
    ),
}


# --- what there is --------------------------------------------------------------------------


def holding(view: view_pb2.View, room: Room) -> str:
    """See Screen."""
    hand = view.game.cafe_international.seats[view.viewer_seat].hand
    return f"You hold {counted(len(hand), 'guest')}" + (f": {guests(hand)}." if hand else ".")


def on_table(view: view_pb2.View, room: Room) -> str:
    """See Screen."""
    game = view.game.cafe_international
    hands = "; ".join(
        f"{room.who(seat)} {guests(each.hand)}"
        for seat, each in enumerate(game.seats)
        if seat != room.me
    )
    return f"{Board(game).told()} {_bar(game)} Hands: {hands}."


def _bar(game: pb.CafeInternationalView) -> str:
    """`The next place at the bar, 6 of 20, costs 2.`"""
    taken = len(game.bar)
    if taken == len(BAR):
        return "The bar is full."
    value = BAR[taken]
    worth = f"costs {-value}" if value < 0 else f"gives {value}"
    return f"The next place at the bar, {taken + 1} of {len(BAR)}, {worth}."


def on_table_at(view: view_pb2.View, place: int, room: Room) -> str:
    """See Screen. A number up to 24 is a table, a greater one a chair."""
    board = Board(view.game.cafe_international)
    if place <= len(TABLE_CHAIRS):
        return board.table_told(place)
    if place <= len(CHAIR_TABLES):
        return board.chair_told(place)
    return f"There is no chair {place}: tables are 1 to 24, chairs 1 to 68."


def drawing(view: view_pb2.View) -> str:
    """The board as text, for those who look at it."""
    return Board(view.game.cafe_international).drawing()


def legend(view: view_pb2.View) -> str:
    """What the drawing shows."""
    return Board(view.game.cafe_international).legend()


def led(view: view_pb2.View, room: Room) -> str:
    """See Screen. What this turn still has to mend."""
    game = view.game.cafe_international
    if not game.seated_now:
        return "Nothing has to be mended."
    seated = listed(f"{guest(each.guest)} on chair {each.chair}" for each in game.seated_now)
    wrong = Board(game).to_mend(each.chair for each in game.seated_now)
    end = f"{capital(listed(wrong))}." if wrong else "Nothing is wrong: you may stop."
    return f"Seated in this turn: {seated}. {end}"


def rules_now(view: view_pb2.View, room: Room) -> str:
    """See Screen."""
    options = room.options.cafe_international
    extra = {"CI-24": options.birthday, "CI-25": options.regulars}
    rules = ["CI-5", "CI-6", "CI-7", "CI-12", "CI-13", "CI-16", "CI-17", "CI-18", "CI-22"]
    rules += [rule for rule, is_on in extra.items() if is_on]
    told = options_told(room.game, room.options)
    return " ".join(
        [
            *(without_option(room.rules.get(each, "")) for each in rules),
            f"At this table: {told}." if told else "",
        ]
    ).strip()


def standing(view: view_pb2.View, room: Room) -> str:
    """See Screen."""
    game = view.game.cafe_international
    if game.phase == pb.CAFE_INTERNATIONAL_PHASE_OVER:
        return ""
    limits = room.each([each.hand_limit for each in game.seats])
    out = f" Out of the game: {listed(room.who(seat) for seat in game.out)}." if game.out else ""
    birthday = f" {nation(game.birthday)} counts double." if game.birthday else ""
    return (
        f"{capital(counted(game.bag_size, 'guest'))} in the bag. {_bar(game)} "
        f"Hand limits: {limits}.{out}{birthday}"
    )


def last_trick(view: view_pb2.View, room: Room) -> str:
    """See Screen."""
    return ""
