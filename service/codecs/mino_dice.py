"""Mino Dice: its views, events and actions as messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tavolata.ext.mino_dice import SPEC, views
from tavolata.ext.mino_dice.dice import HANDS_MAX
from tavolata.service.codecs.base import Codec, Problem
from tavolata.service.codecs.options import OptionsCodec
from tavolata.v1 import mino_dice_pb2 as pb
from tavolata.v1.game_pb2 import Action, GameEvent, GameView
from tavolata.v1.mino_dice_pb2 import MinoDiceFace, MinoDiceKind, MinoDicePhase

_PHASES: Mapping[str, MinoDicePhase.ValueType] = {
    "bid": pb.MINO_DICE_PHASE_BID,
    "roll": pb.MINO_DICE_PHASE_ROLL,
    "booked": pb.MINO_DICE_PHASE_BOOKED,
    "over": pb.MINO_DICE_PHASE_OVER,
}
_KINDS: Mapping[str, MinoDiceKind.ValueType] = {
    MinoDiceKind.Name(kind).removeprefix("MINO_DICE_KIND_").lower(): kind
    for kind in sorted(MinoDiceKind.values())
    if kind
}
_FACES: Mapping[str, MinoDiceFace.ValueType] = {
    **dict(zip("1234567", sorted(MinoDiceFace.values())[1:], strict=False)),
    "flag": pb.MINO_DICE_FACE_FLAG,
    "mermaid": pb.MINO_DICE_FACE_MERMAID,
    "griffin": pb.MINO_DICE_FACE_GRIFFIN,
    "minotaur": pb.MINO_DICE_FACE_MINOTAUR,
}
_FIRST_ROLL = 16  # action number of rolling the first kind


def _held(kinds: tuple[str, ...] | None) -> pb.MinoDiceHeld | None:
    return None if kinds is None else pb.MinoDiceHeld(kinds=[_KINDS[kind] for kind in kinds])


def _trick(trick: tuple[tuple[int, str, str], ...]) -> list[pb.MinoDiceRolled]:
    return [
        pb.MinoDiceRolled(seat=seat, kind=_KINDS[kind], face=_FACES[face])
        for seat, kind, face in trick
    ]


def _view(view: views.View) -> GameView:
    no_colour = pb.MINO_DICE_KIND_UNSPECIFIED
    return GameView(
        mino_dice=pb.MinoDiceView(
            hand=view.hand,
            phase=_PHASES[view.phase],
            first_player=view.first_player,
            leader=view.leader,
            led_colour=_KINDS[view.led_colour] if view.led_colour else no_colour,
            seats=[
                pb.MinoDiceSeat(
                    dice=_held(dice),
                    dice_count=view.dice_counts[seat],
                    committed=seat in view.committed,
                    bid=view.bids[seat],
                    tricks_taken=view.tricks_taken[seat],
                    voids=[_KINDS[colour] for colour in view.voids[seat]],
                )
                for seat, dice in enumerate(view.dice)
            ],
            bag_count=view.bag_count,
            trick=_trick(view.trick),
            last_trick=_trick(view.last_trick),
            last_winner=view.last_winner,
        )
    )


def _event(**happened: Any) -> GameEvent:
    return GameEvent(mino_dice=pb.MinoDiceEvent(**happened))


_EVENTS: Mapping[type, Callable[[Any], GameEvent]] = {
    views.HandStarted: lambda e: _event(
        hand_started=pb.MinoDiceHandStarted(hand=e.hand, first_player=e.first_player)
    ),
    views.Drawn: lambda e: _event(
        drawn=pb.MinoDiceDrawn(seat=e.seat, count=e.count, dice=_held(e.dice))
    ),
    views.BidCommitted: lambda e: _event(
        bid_committed=pb.MinoDiceBidCommitted(seat=e.seat, bid=e.bid)
    ),
    views.BidsShown: lambda e: _event(bids_shown=pb.MinoDiceBidsShown(bids=e.bids)),
    views.Rolled: lambda e: _event(
        rolled=pb.MinoDiceRolled(seat=e.seat, kind=_KINDS[e.kind], face=_FACES[e.face])
    ),
    views.TrickTaken: lambda e: _event(trick_taken=pb.MinoDiceTrickTaken(seat=e.seat)),
    views.HandScored: lambda e: _event(
        hand_scored=pb.MinoDiceHandScored(
            hand=e.hand, points=e.points, bonus=e.bonus, totals=e.totals
        )
    ),
}


def _bid(tricks: int) -> Action:
    return Action(mino_dice=pb.MinoDiceAction(bid=pb.MinoDiceBid(tricks=tricks)))


def _roll(kind: MinoDiceKind.ValueType) -> Action:
    return Action(mino_dice=pb.MinoDiceAction(roll=pb.MinoDiceRoll(kind=kind)))


def _problem(action: Action) -> Problem:
    inner = action.mino_dice
    match inner.WhichOneof("action"):
        case None:
            return Problem("", "holds no action", "bid, roll")
        case "bid" if inner.bid.tricks > HANDS_MAX:
            return Problem("bid.tricks", f"is {inner.bid.tricks}", f"0 to {HANDS_MAX}")
        case "roll" if inner.roll.kind not in _KINDS.values():
            return Problem("roll.kind", f"is {inner.roll.kind}", ", ".join(_KINDS))
    return Problem("", "holds a field that the server does not know", "bid, roll")


CODEC = Codec(
    SPEC,
    options=OptionsCodec(pb.MinoDiceOptions, SPEC.options),
    actions={
        **{tricks: _bid(tricks) for tricks in range(HANDS_MAX + 1)},
        **{_FIRST_ROLL + place: _roll(kind) for place, kind in enumerate(_KINDS.values())},
    },
    problem_of=_problem,
    view_to=_view,
    event_to=_EVENTS,
)
