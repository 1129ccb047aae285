"""La bouillabaisse in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from tavolata.service.terminal.cards import by_suit, card, drawn_card, rank, short_card, suit
from tavolata.service.terminal.screen import Choice, Room
from tavolata.service.terminal.words import capital, counted, listed, number, without_option
from tavolata.v1 import bouillabaisse_pb2 as pb
from tavolata.v1 import card_pb2, game_pb2, view_pb2

ROUNDS = 6
# The rounds in which each of the three draws is in force (BO-8).
_ALL_ROUNDS = (5, 6)
_SUIT_ROUNDS, _RANK_ROUNDS, _CARD_ROUNDS = (2, 5, 6), (3, 5, 6), (4, 5, 6)


def happened(event: game_pb2.GameEvent, room: Room) -> str:
    """See Screen."""
    which = event.bouillabaisse.WhichOneof("event")
    if which is None:
        return ""
    told: dict[str, Callable[[Any, Room], str]] = {
        "round_started": _round_started,
        "dealt": _dealt,
        "suit_drawn": lambda drawn, _: f"The suit drawn is {suit(drawn.suit)}.",
        "rank_drawn": lambda drawn, _: f"The rank drawn is {rank(drawn.rank)}.",
        "card_drawn": lambda drawn, _: f"The card drawn is the {card(drawn.card)}.",
        "played": lambda played, room: f"{room.Who(played.seat)} played the {card(played.card)}.",
        "trick_taken": _trick_taken,
        "round_scored": _round_scored,
    }
    return told[which](getattr(event.bouillabaisse, which), room)


def _round_started(event: pb.BouillabaisseRoundStarted, room: Room) -> str:
    rule = room.rules.get(f"BO-{8 + event.round}", "")
    lead = f"{room.Who(event.dealer)} dealt, {room.who(event.leader)} will lead."
    return " ".join(filter(None, [f"{rule or f'Round {event.round}.'}", lead]))


def _dealt(event: pb.BouillabaisseDealt, room: Room) -> str:
    if event.seat != room.me:
        return ""
    return f"You hold {counted(event.count, 'card')}{by_suit(event.cards.cards)}."


def _trick_taken(event: pb.BouillabaisseTrickTaken, room: Room) -> str:
    points = f" for {number(event.points)} points" if event.points else ""
    return f"{room.Who(event.seat)} took the trick{points}."


def _round_scored(event: pb.BouillabaisseRoundScored, room: Room) -> str:
    points, totals = [number(each) for each in event.points], [number(n) for n in event.totals]
    return f"Round {event.round} is over. Points: {room.each(points)}. Totals: {room.each(totals)}."


def step(event: game_pb2.GameEvent, room: Room) -> str:
    """See Screen."""
    game = event.bouillabaisse
    which = game.WhichOneof("event")
    if which == "played":
        return f"{room.who(game.played.seat)} {drawn_card(game.played.card)}"
    if which == "trick_taken":
        taken = game.trick_taken
        return f"→ {room.who(taken.seat)}{f' {taken.points:+}' if taken.points else ''}"
    return ""


def ends_trick(event: game_pb2.GameEvent) -> bool:
    """See Screen."""
    return event.bouillabaisse.HasField("trick_taken")


def task(view: view_pb2.View) -> str:
    """See Screen."""
    return "play a card"


def ask(view: view_pb2.View, room: Room) -> str:
    """See Screen."""
    game = view.game.bouillabaisse
    lead = f"{capital(suit(game.led_suit))} are led." if game.led_suit else "You lead."
    # No event of these rounds says it, as nothing is drawn in them.
    if game.round in _ALL_ROUNDS and not game.last_trick:
        return f"In force: {listed(_in_force(game))}. {lead}"
    return lead


def choices(view: view_pb2.View, room: Room) -> Sequence[Choice]:
    """See Screen. The copies of a card are one choice."""
    return [
        Choice(
            card(value),
            short_card(value),
            game_pb2.Action(
                bouillabaisse=pb.BouillabaisseAction(play=pb.BouillabaissePlay(card=value))
            ),
            count=count,
            also=_also(value),
        )
        for value, count in Counter(_hand(view)).items()
    ]


def _also(value: card_pb2.Card.ValueType) -> tuple[str, ...]:
    """`Q♣`, `10C`, and with the suit first."""
    short = short_card(value)
    ranks = {short[:-1], short[:-1].replace("T", "10")}
    return (
        drawn_card(value),
        *(f"{each}{short[-1]}" for each in ranks),
        *(f"{short[-1]}{each}" for each in ranks),
    )


def _hand(view: view_pb2.View) -> Sequence[card_pb2.Card.ValueType]:
    return view.game.bouillabaisse.seats[view.viewer_seat].hand.cards


def holding(view: view_pb2.View, room: Room) -> str:
    """See Screen. With two players the other hand is known and told too (BO-19)."""
    game = view.game.bouillabaisse
    return " ".join(
        f"{room.Who(seat)} {'hold' if seat == room.me else 'holds'} "
        f"{counted(each.hand_size, 'card')}{by_suit(each.hand.cards)}."
        for seat, each in enumerate(game.seats)
        if each.HasField("hand")
    )


def on_table(view: view_pb2.View, room: Room) -> str:
    """See Screen."""
    trick = view.game.bouillabaisse.trick
    if not trick:
        return f"No cards are on the table. {last_trick(view, room)}"
    return f"{capital(counted(len(trick), 'card'))} on the table: {_cards(trick, room)}."


def _cards(played: Sequence[pb.BouillabaissePlayed], room: Room) -> str:
    return ", ".join(f"{card(each.card)} from {room.who(each.seat)}" for each in played)


def on_table_at(view: view_pb2.View, place: int, room: Room) -> str:
    """See Screen."""
    trick = view.game.bouillabaisse.trick
    if place > len(trick):
        there = counted(len(trick), "card")
        return f"There is no card {place}: {there} on the table."
    return f"Card {place}: {card(trick[place - 1].card)} from {room.who(trick[place - 1].seat)}."


def led(view: view_pb2.View, room: Room) -> str:
    """See Screen."""
    led_suit = view.game.bouillabaisse.led_suit
    return f"{capital(suit(led_suit))} are led." if led_suit else "No suit is led."


def rules_now(view: view_pb2.View, room: Room) -> str:
    """See Screen."""
    game = view.game.bouillabaisse
    options = room.options.bouillabaisse
    sentences = [room.rules.get(game.round_rule_id, f"Round {game.round}.")]
    if drawn := _in_force(game):
        sentences.append(f"In force: {listed(drawn)}.")
    if options.all_or_nothing:
        extra = {4: "BO-16", 6: "BO-17"}.get(game.round, "BO-15")
        if game.round == ROUNDS and (
            options.all_or_nothing_last == pb.BOUILLABAISSE_ALL_OR_NOTHING_LAST_NONE
        ):
            sentences.append("All or nothing has no effect in this round.")
        else:
            sentences.append(f"All or nothing is on. {without_option(room.rules.get(extra, ''))}")
    return " ".join(sentences)


def _in_force(game: pb.BouillabaisseView) -> list[str]:
    drawn = []
    if game.drawn_suit and game.round in _SUIT_ROUNDS:
        drawn.append(f"suit {suit(game.drawn_suit)}")
    if game.drawn_rank and game.round in _RANK_ROUNDS:
        drawn.append(f"rank {rank(game.drawn_rank)}")
    if game.drawn_card and game.round in _CARD_ROUNDS:
        drawn.append(f"card {card(game.drawn_card)}")
    return drawn


def standing(view: view_pb2.View, room: Room) -> str:
    """See Screen."""
    game = view.game.bouillabaisse
    if game.phase == pb.BOUILLABAISSE_PHASE_OVER:
        return ""
    points = [number(each) for each in view.scores.running_points]
    tricks = [each.tricks_taken for each in game.seats]
    return (
        f"In round {game.round} so far, points: {room.each(points)}; tricks: {room.each(tricks)}."
    )


def last_trick(view: view_pb2.View, room: Room) -> str:
    """See Screen."""
    game = view.game.bouillabaisse
    if not game.last_trick:
        return "There is no last trick in this round."
    return (
        f"The last trick was {_cards(game.last_trick, room)}; {room.who(game.last_winner)} took it."
    )
