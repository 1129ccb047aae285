"""Bids: its views, events and actions as messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tavolata.ext.bids import SPEC, views
from tavolata.ext.bids.deck import CARD_COUNT, card_name
from tavolata.ext.bids.face import SEATS_MAX, STEALS, theft_of
from tavolata.service.codecs.base import Codec, Problem
from tavolata.service.codecs.options import OptionsCodec
from tavolata.v1 import bids_pb2 as pb
from tavolata.v1.bids_pb2 import BidsCard, BidsPhase
from tavolata.v1.game_pb2 import Action, GameEvent, GameView

_PHASES: Mapping[str, BidsPhase.ValueType] = {
    "bid": pb.BIDS_PHASE_BID,
    "theft": pb.BIDS_PHASE_THEFT,
    "booked": pb.BIDS_PHASE_BOOKED,
    "over": pb.BIDS_PHASE_OVER,
}


def _of_number(card: int) -> BidsCard.ValueType:
    """Both list the cards in the same order; the message's first value says nothing."""
    return BidsCard.ValueType(1 + card)


_CARDS: Mapping[str, BidsCard.ValueType] = {
    card_name(card): _of_number(card) for card in range(CARD_COUNT)
}


def _card(name: str | None) -> BidsCard.ValueType:
    return pb.BIDS_CARD_UNSPECIFIED if name is None else _CARDS[name]


def _cards(names: Iterable[str]) -> list[BidsCard.ValueType]:
    return [_CARDS[name] for name in names]


def _hand(names: tuple[str, ...] | None) -> pb.BidsHand | None:
    return None if names is None else pb.BidsHand(cards=_cards(names))


def _trick(trick: tuple[tuple[int, str], ...]) -> list[pb.BidsBidMade]:
    return [pb.BidsBidMade(seat=seat, card=_CARDS[card]) for seat, card in trick]


def _allied(ally: int, winner: int) -> pb.BidsAllied:
    return pb.BidsAllied(ally=ally, winner=winner)


def _view(view: views.View) -> GameView:
    return GameView(
        bids=pb.BidsView(
            round=view.round,
            phase=_PHASES[view.phase],
            leader=view.leader,
            centre=_card(view.centre),
            lowest=view.lowest,
            seats=[
                pb.BidsSeat(
                    hand=_hand(hand),
                    hand_size=view.hand_sizes[seat],
                    tricks_won=view.tricks_won[seat],
                    won=_cards(view.won[seat]),
                    minus_fives=view.minus_fives[seat],
                    lucky=view.lucky[seat],
                )
                for seat, hand in enumerate(view.hands)
            ],
            bids=_trick(view.bids),
            winning=view.winning,
            theft=[pb.BidsTheft(seat=seat, card=_CARDS[card]) for seat, card in view.theft],
            last_bids=_trick(view.last_bids),
            last_centre=_card(view.last_centre),
            last_winner=view.last_winner,
            pile_size=view.pile_size,
            pile_known=_cards(view.pile_known),
            left_over=view.left_over,
            allies=None if view.allies is None else _allied(*view.allies),
            played=_cards(view.played),
        )
    )


def _event(**happened: Any) -> GameEvent:
    return GameEvent(bids=pb.BidsEvent(**happened))


_EVENTS: Mapping[type, Callable[[Any], GameEvent]] = {
    views.RoundStarted: lambda e: _event(
        round_started=pb.BidsRoundStarted(
            round=e.round, leader=e.leader, left_over=e.left_over, pile=e.pile
        )
    ),
    views.Dealt: lambda e: _event(
        dealt=pb.BidsDealt(seat=e.seat, count=e.count, cards=_hand(e.cards))
    ),
    views.CentreTurned: lambda e: _event(centre_turned=pb.BidsCentreTurned(card=_CARDS[e.card])),
    views.LowestSet: lambda e: _event(lowest_set=pb.BidsLowestSet()),
    views.BidMade: lambda e: _event(bid_made=pb.BidsBidMade(seat=e.seat, card=_CARDS[e.card])),
    views.TrickWon: lambda e: _event(trick_won=pb.BidsTrickWon(seat=e.seat)),
    views.TrickBurnt: lambda e: _event(trick_burnt=pb.BidsTrickBurnt(next=e.next)),
    views.CardTaken: lambda e: _event(
        card_taken=pb.BidsCardTaken(seat=e.seat, card=_CARDS[e.card])
    ),
    views.CentreBuried: lambda e: _event(centre_buried=pb.BidsCentreBuried(card=_CARDS[e.card])),
    views.PointsDoubled: lambda e: _event(
        points_doubled=pb.BidsPointsDoubled(seat=e.seat, points=e.points)
    ),
    views.BlacksWon: lambda e: _event(
        blacks_won=pb.BidsBlacksWon(seat=e.seat, cards=_cards(e.cards), points=e.points)
    ),
    views.Stolen: lambda e: _event(
        stolen=pb.BidsStolen(thief=e.thief, victim=e.victim, card=_CARDS[e.card])
    ),
    views.Allied: lambda e: _event(allied=_allied(e.ally, e.winner)),
    views.RoundScored: lambda e: _event(
        round_scored=pb.BidsRoundScored(
            round=e.round, points=e.points, lucky=e.lucky, totals=e.totals
        )
    ),
    views.BonusScored: lambda e: _event(
        bonus_scored=pb.BidsBonusScored(seat=e.seat, points=e.points)
    ),
}


def _bid(card: BidsCard.ValueType) -> Action:
    return Action(bids=pb.BidsAction(bid=pb.BidsBid(card=card)))


def _steal(seat: int, card: BidsCard.ValueType) -> Action:
    return Action(bids=pb.BidsAction(steal=pb.BidsTheft(seat=seat, card=card)))


_THEFTS: Mapping[int, tuple[int, int]] = {
    action: theft
    for action in range(CARD_COUNT, CARD_COUNT + STEALS * SEATS_MAX)
    if (theft := theft_of(action)) is not None
}


def _problem(action: Action) -> Problem:
    inner = action.bids
    match inner.WhichOneof("action"):
        case None:
            return Problem("", "holds no action", "bid, steal")
        case "bid" if inner.bid.card not in _CARDS.values():
            return Problem("bid.card", f"is {inner.bid.card}", ", ".join(_CARDS))
        case "steal" if inner.steal.seat >= SEATS_MAX:
            return Problem("steal.seat", f"is {inner.steal.seat}", f"0 to {SEATS_MAX - 1}")
        case "steal" if _steal(0, inner.steal.card) not in _ACTIONS.values():
            return Problem("steal.card", f"is {inner.steal.card}", "a black number, or -5")
    return Problem("", "holds a field that the server does not know", "bid, steal")


_ACTIONS: Mapping[int, Action] = {
    **{card: _bid(_of_number(card)) for card in range(CARD_COUNT)},
    **{action: _steal(seat, _of_number(card)) for action, (seat, card) in _THEFTS.items()},
}

CODEC = Codec(
    SPEC,
    options=OptionsCodec(pb.BidsOptions, SPEC.options),
    actions=_ACTIONS,
    problem_of=_problem,
    view_to=_view,
    event_to=_EVENTS,
)
