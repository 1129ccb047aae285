"""Mister Bill in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tavolata.ext.core.spec import Options
from tavolata.ext.mister_bill.cards import plays_alone, team_of
from tavolata.service.terminal.keys import Key
from tavolata.service.terminal.options import options_told
from tavolata.service.terminal.screen import Choice, Room
from tavolata.service.terminal.words import capital, counted, listed, number, without_option
from tavolata.v1 import game_pb2, view_pb2
from tavolata.v1 import mister_bill_pb2 as pb

_WAITERS = (
    pb.MISTER_BILL_KIND_WAITER_A,
    pb.MISTER_BILL_KIND_WAITER_B,
    pb.MISTER_BILL_KIND_WAITER_C,
    pb.MISTER_BILL_KIND_WAITER_D,
    pb.MISTER_BILL_KIND_WAITER_E,
)
_RULES = {
    pb.MISTER_BILL_KIND_WAITER_A: "MB-12",
    pb.MISTER_BILL_KIND_WAITER_B: "MB-13",
    pb.MISTER_BILL_KIND_WAITER_C: "MB-14",
    pb.MISTER_BILL_KIND_WAITER_D: "MB-15",
    pb.MISTER_BILL_KIND_WAITER_E: "MB-16",
}
_EFFECTS = {
    pb.MISTER_BILL_KIND_WAITER_A: "swaps a card with a seat",
    pb.MISTER_BILL_KIND_WAITER_B: "swaps hands with a seat",
    pb.MISTER_BILL_KIND_WAITER_C: "gives a seat a card from everybody else",
    pb.MISTER_BILL_KIND_WAITER_D: "shows who holds Mister Bill",
    pb.MISTER_BILL_KIND_WAITER_E: "passes a card from everybody to the left",
}
HELP = {
    Key.TABLE: "how many cards everybody holds, and what you have seen of them.",
    Key.NUMBER: "the same of one other seat still in, counted from your left.",
    Key.LED: "what a turn consists of.",
}


def kind(value: pb.MisterBillKind.ValueType) -> str:
    """`sushi`, `waiter A`, `Mister Bill`, `shift change`."""
    if value == pb.MISTER_BILL_KIND_MISTER_BILL:
        return "Mister Bill"
    name = pb.MisterBillKind.Name(value).removeprefix("MISTER_BILL_KIND_").lower()
    return f"waiter {_letter(value)}" if value in _WAITERS else name.replace("_", " ")


def _letter(value: pb.MisterBillKind.ValueType) -> str:
    return pb.MisterBillKind.Name(value)[-1]


def _cards(kinds: Iterable[pb.MisterBillKind.ValueType]) -> str:
    """`: 2 sushi and waiter A`; empty for none."""
    told = [
        kind(value) if count == 1 else f"{count} {kind(value)}"
        for value, count in Counter(kinds).items()
    ]
    return f": {listed(told)}" if told else ""


# -- what happened --------------------------------------------------------------------------------


def happened(event: game_pb2.GameEvent, room: Room) -> str:
    """See Screen."""
    which = event.mister_bill.WhichOneof("event")
    if which is None:
        return ""
    return _TOLD[which](getattr(event.mister_bill, which), room)


def _round_started(event: pb.MisterBillRoundStarted, room: Room) -> str:
    first = room.Who(list(event.numbers).index(1))
    start = "start" if first == "You" else "starts"
    return (
        f"Round {event.round} begins; {room.who(event.dealer)} dealt. "
        f"Team cards: {room.each(event.numbers)}. {_teams_dealt(event, room)}{first} {start}."
    )


def _teams_dealt(event: pb.MisterBillRoundStarted, room: Room) -> str:
    """MB-4: the teams that the numbers make; empty where everyone is alone."""
    if plays_alone(event.round, _as_of_rules(room)):
        return ""
    teams: dict[int, list[int]] = {}
    for seat, card in enumerate(event.numbers):
        teams.setdefault(team_of(card, False), []).append(seat)
    return f"{_teams_told(teams.values(), room)} "


def _as_of_rules(room: Room) -> Options:
    solo = room.options.mister_bill.teams == pb.MISTER_BILL_TEAMS_SOLO
    return {"teams": "solo" if solo else "standard"}


def _teams_told(teams: Iterable[Iterable[int]], room: Room) -> str:
    """`Teams: you and AI 2; AI 1 and AI 3.`, the reader's own first."""
    mine_first = sorted(map(list, teams), key=lambda seats: room.me not in seats)
    named = (listed(room.who(seat) for seat in _me_first(seats, room)) for seats in mine_first)
    return f"Teams: {'; '.join(named)}."


def _me_first(seats: list[int], room: Room) -> list[int]:
    return sorted(seats, key=lambda seat: (seat != room.me, seat))


def _dealt(event: pb.MisterBillDealt, room: Room) -> str:
    if event.seat != room.me:
        return ""
    return f"You were dealt {counted(event.count, 'card')}{_cards(event.hand.kinds)}."


def _pair_laid(event: pb.MisterBillPairLaid, room: Room) -> str:
    return f"{room.Who(event.seat)} laid down a pair of {kind(event.kind)}."


def _drew(event: pb.MisterBillDrew, room: Room) -> str:
    card = kind(event.kind) if event.kind else "a card"
    return f"{room.Who(event.seat)} drew {card} from {room.who(event.from_seat)}."


def _waiter_played(event: pb.MisterBillWaiterPlayed, room: Room) -> str:
    target = f" on {room.who(event.target)}" if event.HasField("target") else ""
    return f"{room.Who(event.seat)} played {kind(event.kind)}{target}."


def _gift_committed(event: pb.MisterBillGiftCommitted, room: Room) -> str:
    if event.seat != room.me or not event.kind:
        return ""
    return f"You will give {kind(event.kind)}."


def _gave(event: pb.MisterBillGave, room: Room) -> str:
    card = kind(event.kind) if event.kind else "a card"
    return f"{room.Who(event.from_seat)} gave {room.who(event.to_seat)} {card}."


def _swapped(event: pb.MisterBillHandsSwapped, room: Room) -> str:
    told = f"{room.Who(event.first)} and {room.who(event.second)} swapped hands."
    for seat, hand in ((event.first, "first_hand"), (event.second, "second_hand")):
        if seat == room.me and event.HasField("first_hand"):
            mine = getattr(event, hand).kinds
            return f"{told} You now hold {counted(len(mine), 'card')}{_cards(mine)}."
    return told


def _hand_passed(event: pb.MisterBillHandPassed, room: Room) -> str:
    told = f"{room.Who(event.from_seat)} passed {counted(event.count, 'card')} to "
    if event.to_seat == room.me and event.HasField("hand"):
        return f"{told}you{_cards(event.hand.kinds)}."
    return f"{told}{room.who(event.to_seat)}."


def _bills_shown(event: pb.MisterBillBillsShown, room: Room) -> str:
    holders = [room.who(seat) for seat, count in enumerate(event.counts) if count]
    return f"Mister Bill was shown by {listed(holders) if holders else 'nobody'}."


def _team_completed(event: pb.MisterBillTeamCompleted, room: Room) -> str:
    team = capital(listed(room.who(seat) for seat in event.seats))
    if not event.value:
        return f"{team}: nothing."
    each = " each" if len(event.seats) > 1 else ""
    return f"{team} took {counted(event.value, 'point')}{each}."


def _round_scored(event: pb.MisterBillRoundScored, room: Room) -> str:
    points, totals = [number(each) for each in event.points], [number(n) for n in event.totals]
    stalled = " No card had left play for too long." if event.stalled else ""
    return (
        f"Round {event.round} is over.{stalled} Points: {room.each(points)}. "
        f"Totals: {room.each(totals)}."
    )


def _went_out(event: pb.MisterBillWentOut, room: Room) -> str:
    return f"{room.Who(event.seat)} {'are' if event.seat == room.me else 'is'} out."


_TOLD: dict[str, Callable[[Any, Room], str]] = {
    "round_started": _round_started,
    "dealt": _dealt,
    "pair_laid": _pair_laid,
    "drew": _drew,
    "waiter_played": _waiter_played,
    "declined": lambda declined, room: f"{room.Who(declined.seat)} played no waiter.",
    "gift_committed": _gift_committed,
    "gave": _gave,
    "hands_swapped": _swapped,
    "hand_passed": _hand_passed,
    "bills_shown": _bills_shown,
    "went_out": _went_out,
    "team_completed": _team_completed,
    "round_scored": _round_scored,
}


def step(event: game_pb2.GameEvent, room: Room) -> str:
    """See Screen. A turn is told as a trick is."""
    game = event.mister_bill
    match game.WhichOneof("event"):
        case "drew":
            return f"{room.who(game.drew.seat)} draws from {room.who(game.drew.from_seat)}"
        case "pair_laid":
            return f"{room.who(game.pair_laid.seat)} pairs {kind(game.pair_laid.kind)}"
        case "declined":
            return "no waiter"
        case "waiter_played":
            played = game.waiter_played
            target = f" on {room.who(played.target)}" if played.HasField("target") else ""
            return f"{kind(played.kind)}{target}"
        case "went_out":
            return f"{room.who(game.went_out.seat)} out"
        case "team_completed":
            team = listed(room.who(seat) for seat in game.team_completed.seats)
            return f"→ {team} +{game.team_completed.value}"
    return ""


def ends_trick(event: game_pb2.GameEvent) -> bool:
    """See Screen."""
    which = event.mister_bill.WhichOneof("event")
    return which in ("declined", "waiter_played", "team_completed")


# -- what to do -----------------------------------------------------------------------------------


def _gives(view: view_pb2.View) -> bool:
    return view.game.mister_bill.phase == pb.MISTER_BILL_PHASE_GIFT


def task(view: view_pb2.View) -> str:
    """See Screen."""
    return "give a card" if _gives(view) else "play a waiter or decline"


def ask(view: view_pb2.View, room: Room) -> str:
    """See Screen."""
    game = view.game.mister_bill
    if _gives(view):
        waiter = f"{room.whose(game.active)} {kind(game.pending_waiter)}"
        return f"{capital(waiter)}: what will you give {room.who(_receiver(view))}?"
    mine = view.game.mister_bill.seats[view.viewer_seat].hand.kinds
    effects = [f"{_letter(each)} {_EFFECTS[each]}" for each in mine if each in _WAITERS]
    if not effects:
        return "You hold no waiter."
    return f"Will you play a waiter? {'; '.join(effects)}."


def _receiver(view: view_pb2.View) -> int:
    """MB-12, MB-14, MB-16: who gets the reader's gift."""
    game = view.game.mister_bill
    if not game.HasField("pending_target"):
        return _others(view)[0]
    return game.active if view.viewer_seat == game.pending_target else game.pending_target


def choices(view: view_pb2.View, room: Room) -> Sequence[Choice]:
    """See Screen."""
    hand = view.game.mister_bill.seats[view.viewer_seat].hand.kinds
    if _gives(view):
        return [
            Choice(kind(each), _short(each), _action(give=pb.MisterBillGive(kind=each)))
            for each in hand
        ]
    declining = Choice("decline", "no", _action(decline=pb.MisterBillDecline()), is_held=False)
    waiters = [each for each in hand if each in _WAITERS]
    return [declining, *(choice for each in waiters for choice in _plays(view, each, room))]


def _plays(view: view_pb2.View, waiter: pb.MisterBillKind.ValueType, room: Room) -> list[Choice]:
    """A waiter with each seat that it may name, and without one where that is allowed."""
    game = view.game.mister_bill
    name, short = kind(waiter), _short(waiter)
    alone = Choice(name, short, _action(play=pb.MisterBillPlay(waiter=waiter)), is_held=False)
    if waiter in (pb.MISTER_BILL_KIND_WAITER_D, pb.MISTER_BILL_KIND_WAITER_E):
        return [alone]
    aimed = [
        Choice(
            f"{name} on {room.who(seat)}",
            f"{short}{seat}",
            _action(play=pb.MisterBillPlay(waiter=waiter, target=seat)),
            also=(f"{short} {seat}", f"{name} on seat {seat}"),
            is_held=False,
        )
        for seat in range(len(game.seats))
        if seat != view.viewer_seat and seat not in game.out
    ]
    return [alone] if alone.action in view.legal_actions else aimed


def _action(**what: Any) -> game_pb2.Action:
    return game_pb2.Action(mister_bill=pb.MisterBillAction(**what))


def _short(value: pb.MisterBillKind.ValueType) -> str:
    """`sushi`, `wa` for waiter A, `bill`, `shift`: letters alone are keys of the client."""
    if value in _WAITERS:
        return f"w{_letter(value).lower()}"
    return {
        pb.MISTER_BILL_KIND_MISTER_BILL: "bill",
        pb.MISTER_BILL_KIND_SHIFT_CHANGE: "shift",
    }.get(value, kind(value))


# -- how it stands --------------------------------------------------------------------------------


def holding(view: view_pb2.View, room: Room) -> str:
    """See Screen."""
    mine = view.game.mister_bill.seats[view.viewer_seat]
    return f"You hold {counted(mine.hand_size, 'card')}{_cards(mine.hand.kinds)}."


def on_table(view: view_pb2.View, room: Room) -> str:
    """See Screen. No cards lie open: hand sizes, and what the reader knows of the hands."""
    game = view.game.mister_bill
    told = [_known(game, seat, room) for seat in _others(view)]
    out = [room.who(seat) for seat in game.out]
    return " ".join([*told, f"Out: {listed(out)}." if out else ""]).strip()


def _others(view: view_pb2.View) -> list[int]:
    """The other seats still in, from the reader's left."""
    game = view.game.mister_bill
    count = len(game.seats)
    first = view.viewer_seat + 1 if view.HasField("viewer_seat") else 0
    order = [(first + place) % count for place in range(count)]
    mine = view.viewer_seat if view.HasField("viewer_seat") else None
    return [seat for seat in order if seat != mine and seat not in game.out]


def _known(game: pb.MisterBillView, seat: int, room: Room) -> str:
    """`AI 2 holds 5 cards: sushi; perhaps still pizza (2 lost since); no paella.`"""
    his = game.seats[seat]
    certain = [kind(each.kind) for each in his.held if not each.lost]
    perhaps = [f"{kind(each.kind)} ({each.lost} lost since)" for each in his.held if each.lost]
    none = [kind(each.kind) for each in his.absent if not each.gained]
    told = [listed(certain)] if certain else []
    if perhaps:
        told.append(f"perhaps still {listed(perhaps)}")
    if none and len(certain) < his.hand_size:
        told.append(f"no {listed(none, 'or')}")
    known = f": {'; '.join(told)}" if told else ""
    return f"{room.Who(seat)} holds {counted(his.hand_size, 'card')}{known}."


def on_table_at(view: view_pb2.View, place: int, room: Room) -> str:
    """See Screen. The places are the other seats still in, from the left."""
    others = _others(view)
    if place > len(others):
        return f"There is no place {place}: {counted(len(others), 'other seat')} still in."
    return _known(view.game.mister_bill, others[place - 1], room)


def led(view: view_pb2.View, room: Room) -> str:
    """See Screen."""
    return "Nothing is to be followed: the turn draws a card, lays a pair and may play a waiter."


def rules_now(view: view_pb2.View, room: Room) -> str:
    """See Screen."""
    game = view.game.mister_bill
    numbers = ["MB-21"] if game.round == 3 else ["MB-20"]
    numbers += ["MB-8", "MB-9", *_RULES.values()]
    if room.options.mister_bill.bonus_waiter != pb.MISTER_BILL_BONUS_WAITER_0:
        numbers.append("MB-17")
    told = options_told(room.game, room.options)
    return " ".join(
        [
            f"Round {game.round}.",
            *(without_option(room.rules.get(each, "")) for each in numbers),
            f"At this table: {told}." if told else "",
        ]
    ).strip()


def standing(view: view_pb2.View, room: Room) -> str:
    """See Screen."""
    game = view.game.mister_bill
    if game.phase == pb.MISTER_BILL_PHASE_OVER:
        return ""
    together = any(len(team.seats) > 1 for team in game.teams)
    out = [room.who(seat) for seat in game.out]
    incomplete = [team for team in game.teams if not set(team.seats) <= set(game.out)]
    # MB-22: the last team takes nothing.
    values = [str(value) for value in game.team_values[: max(len(incomplete) - 1, 0)]]
    sizes = [counted(seat.hand_size, "card") for seat in game.seats]
    return " ".join(
        [
            f"Round {game.round}.",
            _teams_told((team.seats for team in game.teams), room)
            if together
            else "Everyone is alone.",
            f"Hands: {room.each(sizes)}.",
            f"Out, in order: {listed(out)}." if out else "Nobody is out.",
            f"Still to be taken: {', '.join(values)}." if values else "",
        ]
    ).strip()


def last_trick(view: view_pb2.View, room: Room) -> str:
    """See Screen."""
    return ""
