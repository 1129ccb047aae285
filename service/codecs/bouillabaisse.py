"""La bouillabaisse: its views, events and actions as messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tavolata.ext.bouillabaisse import SPEC, views
from tavolata.ext.bouillabaisse.deck import card_number, rounds
from tavolata.service.codecs.base import Codec, Problem
from tavolata.service.codecs.cards import CARDS, RANKS, SUITS
from tavolata.service.codecs.options import OptionsCodec
from tavolata.v1 import bouillabaisse_pb2 as pb
from tavolata.v1.card_pb2 import Card, Rank, Suit
from tavolata.v1.game_pb2 import Action, GameEvent, GameView

_PHASES: Mapping[str, pb.BouillabaissePhase.ValueType] = {
    "play": pb.BOUILLABAISSE_PHASE_PLAY,
    "booked": pb.BOUILLABAISSE_PHASE_BOOKED,
    "over": pb.BOUILLABAISSE_PHASE_OVER,
}
_RULES = tuple(row.rule for row in rounds())


def _hand(cards: tuple[str, ...] | None) -> pb.BouillabaisseHand | None:
    return None if cards is None else pb.BouillabaisseHand(cards=[CARDS[card] for card in cards])


def _trick(trick: tuple[tuple[int, str], ...]) -> list[pb.BouillabaissePlayed]:
    return [pb.BouillabaissePlayed(seat=seat, card=CARDS[card]) for seat, card in trick]


def _view(view: views.View) -> GameView:
    return GameView(
        bouillabaisse=pb.BouillabaisseView(
            round=view.round,
            round_rule_id=_RULES[view.round - 1],
            phase=_PHASES[view.phase],
            dealer=view.dealer,
            leader=view.leader,
            led_suit=SUITS[view.led_suit] if view.led_suit else Suit.SUIT_UNSPECIFIED,
            seats=[
                pb.BouillabaisseSeat(
                    hand=_hand(hand),
                    hand_size=view.hand_sizes[seat],
                    voids=[SUITS[suit] for suit in view.voids[seat]],
                    tricks_taken=view.tricks_taken[seat],
                )
                for seat, hand in enumerate(view.hands)
            ],
            trick=_trick(view.trick),
            last_trick=_trick(view.last_trick),
            last_winner=view.last_winner,
            drawn_suit=SUITS[view.drawn_suit] if view.drawn_suit else Suit.SUIT_UNSPECIFIED,
            drawn_rank=RANKS[view.drawn_rank] if view.drawn_rank else Rank.RANK_UNSPECIFIED,
            drawn_card=CARDS[view.drawn_card] if view.drawn_card else Card.CARD_UNSPECIFIED,
            played=[CARDS[card] for card in view.played],
            removed=[CARDS[card] for card in view.removed],
        )
    )


def _event(**happened: Any) -> GameEvent:
    return GameEvent(bouillabaisse=pb.BouillabaisseEvent(**happened))


_EVENTS: Mapping[type, Callable[[Any], GameEvent]] = {
    views.RoundStarted: lambda e: _event(
        round_started=pb.BouillabaisseRoundStarted(round=e.round, dealer=e.dealer, leader=e.leader)
    ),
    views.Dealt: lambda e: _event(
        dealt=pb.BouillabaisseDealt(seat=e.seat, count=e.count, cards=_hand(e.cards))
    ),
    views.SuitDrawn: lambda e: _event(suit_drawn=pb.BouillabaisseSuitDrawn(suit=SUITS[e.suit])),
    views.RankDrawn: lambda e: _event(rank_drawn=pb.BouillabaisseRankDrawn(rank=RANKS[e.rank])),
    views.CardDrawn: lambda e: _event(card_drawn=pb.BouillabaisseCardDrawn(card=CARDS[e.card])),
    views.Played: lambda e: _event(played=pb.BouillabaissePlayed(seat=e.seat, card=CARDS[e.card])),
    views.TrickTaken: lambda e: _event(
        trick_taken=pb.BouillabaisseTrickTaken(seat=e.seat, points=e.points)
    ),
    views.RoundScored: lambda e: _event(
        round_scored=pb.BouillabaisseRoundScored(round=e.round, points=e.points, totals=e.totals)
    ),
}


def _action(card: str) -> Action:
    play = pb.BouillabaissePlay(card=CARDS[card])
    return Action(bouillabaisse=pb.BouillabaisseAction(play=play))


def _problem(action: Action) -> Problem:
    inner = action.bouillabaisse
    if inner.WhichOneof("action") is None:
        return Problem("", "holds no action", "play")
    if inner.play.card not in CARDS.values():
        return Problem("play.card", f"is {inner.play.card}", "a value of Card other than 0")
    return Problem("", "holds a field that the server does not know", "play with a card")


CODEC = Codec(
    SPEC,
    options=OptionsCodec(pb.BouillabaisseOptions, SPEC.options),
    actions={card_number(card): _action(card) for card in CARDS},
    problem_of=_problem,
    view_to=_view,
    event_to=_EVENTS,
)
