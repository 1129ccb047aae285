"""Mister Bill: its views, events and actions as messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tavolata.ext.mister_bill import SPEC, views
from tavolata.ext.mister_bill.cards import KINDS, WAITERS
from tavolata.ext.mister_bill.face import (
    DECLINE,
    GIVE,
    PLAY_TARGET,
    SEATS_MAX,
    WITHOUT_TARGET,
)
from tavolata.service.codecs.base import Codec, Problem
from tavolata.service.codecs.options import OptionsCodec
from tavolata.v1 import mister_bill_pb2 as pb
from tavolata.v1.game_pb2 import Action, GameEvent, GameView
from tavolata.v1.mister_bill_pb2 import MisterBillKind, MisterBillPhase

_PHASES: Mapping[str, MisterBillPhase.ValueType] = {
    "turn": pb.MISTER_BILL_PHASE_TURN,
    "gift": pb.MISTER_BILL_PHASE_GIFT,
    "booked": pb.MISTER_BILL_PHASE_BOOKED,
    "over": pb.MISTER_BILL_PHASE_OVER,
}
_KINDS: Mapping[str, MisterBillKind.ValueType] = {
    name: MisterBillKind.Value(f"MISTER_BILL_KIND_{name.upper()}") for name in KINDS
}
_TARGETED = 3  # waiters that name a seat: A, B and C


def _kind(name: str | None) -> MisterBillKind.ValueType:
    return pb.MISTER_BILL_KIND_UNSPECIFIED if name is None else _KINDS[name]


def _hand(kinds: tuple[str, ...] | None) -> pb.MisterBillHand | None:
    return None if kinds is None else pb.MisterBillHand(kinds=[_KINDS[kind] for kind in kinds])


def _seat(view: views.View, seat: int) -> pb.MisterBillSeat:
    facts = view.facts[seat]
    return pb.MisterBillSeat(
        hand=_hand(view.hands[seat]),
        hand_size=view.hand_sizes[seat],
        number=view.numbers[seat],
        committed=seat in view.committed,
        held=[pb.MisterBillHeld(kind=_KINDS[kind], lost=lost) for kind, lost in facts.held],
        absent=[
            pb.MisterBillAbsent(kind=_KINDS[kind], gained=gained) for kind, gained in facts.absent
        ],
    )


def _view(view: views.View) -> GameView:
    return GameView(
        mister_bill=pb.MisterBillView(
            round=view.round,
            phase=_PHASES[view.phase],
            active=view.active,
            dealer=view.dealer,
            seats=[_seat(view, seat) for seat in range(len(view.hands))],
            teams=[pb.MisterBillTeam(seats=seats) for seats in view.teams],
            out=view.out,
            gift=_kind(view.gift),
            stall=view.stall,
            team_values=view.team_values,
            pending_waiter=_kind(view.pending_waiter),
            pending_target=view.pending_target,
        )
    )


def _event(**happened: Any) -> GameEvent:
    return GameEvent(mister_bill=pb.MisterBillEvent(**happened))


def _swapped(e: views.HandsSwapped) -> GameEvent:
    first, second = (None, None) if e.kinds is None else e.kinds
    return _event(
        hands_swapped=pb.MisterBillHandsSwapped(
            first=e.first, second=e.second, first_hand=_hand(first), second_hand=_hand(second)
        )
    )


_EVENTS: Mapping[type, Callable[[Any], GameEvent]] = {
    views.RoundStarted: lambda e: _event(
        round_started=pb.MisterBillRoundStarted(round=e.round, dealer=e.dealer, numbers=e.numbers)
    ),
    views.Dealt: lambda e: _event(
        dealt=pb.MisterBillDealt(seat=e.seat, count=e.count, hand=_hand(e.kinds))
    ),
    views.PairLaid: lambda e: _event(
        pair_laid=pb.MisterBillPairLaid(seat=e.seat, kind=_KINDS[e.kind])
    ),
    views.Drew: lambda e: _event(
        drew=pb.MisterBillDrew(seat=e.seat, from_seat=e.from_seat, kind=_kind(e.kind))
    ),
    views.WaiterPlayed: lambda e: _event(
        waiter_played=pb.MisterBillWaiterPlayed(seat=e.seat, kind=_KINDS[e.kind], target=e.target)
    ),
    views.Declined: lambda e: _event(declined=pb.MisterBillDeclined(seat=e.seat)),
    views.GiftCommitted: lambda e: _event(
        gift_committed=pb.MisterBillGiftCommitted(seat=e.seat, kind=_kind(e.kind))
    ),
    views.Gave: lambda e: _event(
        gave=pb.MisterBillGave(from_seat=e.from_seat, to_seat=e.to_seat, kind=_kind(e.kind))
    ),
    views.HandsSwapped: _swapped,
    views.HandPassed: lambda e: _event(
        hand_passed=pb.MisterBillHandPassed(
            from_seat=e.from_seat, to_seat=e.to_seat, count=e.count, hand=_hand(e.kinds)
        )
    ),
    views.BillsShown: lambda e: _event(bills_shown=pb.MisterBillBillsShown(counts=e.counts)),
    views.WentOut: lambda e: _event(went_out=pb.MisterBillWentOut(seat=e.seat, rank=e.rank)),
    views.TeamCompleted: lambda e: _event(
        team_completed=pb.MisterBillTeamCompleted(seats=e.seats, value=e.value)
    ),
    views.RoundScored: lambda e: _event(
        round_scored=pb.MisterBillRoundScored(
            round=e.round, stalled=e.stalled, points=e.points, totals=e.totals
        )
    ),
}


def _play(waiter: int, target: int | None = None) -> Action:
    """waiter: 0 for A to 4 for E."""
    play = pb.MisterBillPlay(waiter=_KINDS[KINDS[WAITERS[waiter]]], target=target)
    return Action(mister_bill=pb.MisterBillAction(play=play))


def _give(kind: MisterBillKind.ValueType) -> Action:
    return Action(mister_bill=pb.MisterBillAction(give=pb.MisterBillGive(kind=kind)))


def _problem(action: Action) -> Problem:
    inner = action.mister_bill
    kinds = _KINDS.values()
    waiters = [KINDS[kind] for kind in WAITERS]
    match inner.WhichOneof("action"):
        case None:
            return Problem("", "holds no action", "decline, play, give")
        case "give" if inner.give.kind not in kinds:
            return Problem("give.kind", f"is {inner.give.kind}", ", ".join(_KINDS))
        case "play" if inner.play.waiter not in [_KINDS[waiter] for waiter in waiters]:
            return Problem("play.waiter", f"is {inner.play.waiter}", ", ".join(waiters))
        case "play" if inner.play.HasField("target"):
            if inner.play.target >= SEATS_MAX:
                allowed = f"0 to {SEATS_MAX - 1}"
                return Problem("play.target", f"is {inner.play.target}", allowed)
            if inner.play.waiter in (_KINDS["waiter_d"], _KINDS["waiter_e"]):
                return Problem("play.target", "is set", "no target with waiters D and E")
        case "play" if inner.play.waiter == _KINDS["waiter_c"]:
            return Problem("play.target", "is missing", "a seat with waiter C")
    return Problem("", "holds a field that the server does not know", "decline, play, give")


CODEC = Codec(
    SPEC,
    options=OptionsCodec(pb.MisterBillOptions, SPEC.options),
    actions={
        DECLINE: Action(mister_bill=pb.MisterBillAction(decline=pb.MisterBillDecline())),
        **{
            PLAY_TARGET + SEATS_MAX * waiter + target: _play(waiter, target)
            for waiter in range(_TARGETED)
            for target in range(SEATS_MAX)
        },
        **{action: _play(waiter) for action, waiter in WITHOUT_TARGET.items()},
        **{GIVE + place: _give(kind) for place, kind in enumerate(_KINDS.values())},
    },
    problem_of=_problem,
    view_to=_view,
    event_to=_EVENTS,
)
