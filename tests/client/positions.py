"""Positions put down by hand, and a session in front of each that has no server to ask."""

from __future__ import annotations

import io
from collections.abc import Sequence

from tavolata.ext.core import seeds
from tavolata.service.catalog import game_message
from tavolata.service.client import Connection
from tavolata.service.terminal.session import Session
from tavolata.service.terminal.voice import Voice
from tavolata.service.terminal.words import plain
from tavolata.v1 import bouillabaisse_pb2 as bo
from tavolata.v1 import event_pb2, game_pb2, player_pb2, score_pb2, table_pb2, view_pb2
from tavolata.v1 import mino_dice_pb2 as md
from tavolata.v1.card_pb2 import Card, Rank, Suit

NAMES = ("Anna", "Bruno", "", "Anna")  # seat 2 is an AI player's


def card(name: str) -> Card.ValueType:
    """`QC`, by the formula of card.proto."""
    suit, rank = "CDHS".index(name[1]) + 1, "23456789TJQKA".index(name[0]) + 2
    return Card.ValueType(1 + 16 * (suit - 1) + (rank - 2))


def play(name: str) -> game_pb2.Action:
    return game_pb2.Action(
        bouillabaisse=bo.BouillabaisseAction(play=bo.BouillabaissePlay(card=card(name)))
    )


def cards_in_round_five() -> view_pb2.View:
    """Seat 0 is to play third in a trick led with hearts, in round 5 of 6."""
    trick = [
        bo.BouillabaissePlayed(seat=2, card=card("TH")),
        bo.BouillabaissePlayed(seat=3, card=card("QH")),
    ]
    last = [
        bo.BouillabaissePlayed(seat=seat, card=card(name))
        for seat, name in ((1, "2S"), (2, "AS"), (3, "KD"), (0, "3S"))
    ]
    hand = bo.BouillabaisseHand(cards=[card(name) for name in ("2C", "4H", "KH", "QS")])
    game = bo.BouillabaisseView(
        round=5,
        round_rule_id="BO-13",
        phase=bo.BOUILLABAISSE_PHASE_PLAY,
        dealer=3,
        leader=2,
        led_suit=Suit.SUIT_HEARTS,
        seats=[
            bo.BouillabaisseSeat(hand=hand, hand_size=4, tricks_taken=1),
            bo.BouillabaisseSeat(hand_size=4, tricks_taken=3),
            bo.BouillabaisseSeat(hand_size=3, tricks_taken=5),
            bo.BouillabaisseSeat(hand_size=3, tricks_taken=0),
        ],
        trick=trick,
        last_trick=last,
        last_winner=2,
        drawn_suit=Suit.SUIT_CLUBS,
        drawn_rank=Rank.RANK_KING,
        drawn_card=card("JD"),
    )
    rounds = [[5, 10, 20, 30], [0, 40, 90, 0], [50, 50, 50, 50], [0, 0, 200, 0]]
    return view_pb2.View(
        viewer_seat=0,
        state=table_pb2.TABLE_STATE_PLAYING,
        turn=237,
        seats_to_act=[0],
        legal_actions=[play("4H"), play("KH")],
        scores=score_pb2.ScoreSheet(
            totals=[55, 100, 360, 80],
            running_points=[5, 25, 35, 0],
            places=[1, 3, 4, 2],
            rounds=[
                score_pb2.RoundScore(round=number, points=points)
                for number, points in enumerate(rounds, 1)
            ],
        ),
        game=game_pb2.GameView(bouillabaisse=game),
    )


def cards_between_tricks() -> view_pb2.View:
    """The same round with nothing on the table; it is seat 2's turn."""
    view = cards_in_round_five()
    game = view.game.bouillabaisse
    del game.trick[:], view.legal_actions[:], view.seats_to_act[:]
    game.ClearField("led_suit")
    view.seats_to_act.append(2)
    view.thinking_seats.append(2)
    return view


def dice_in_a_trick() -> view_pb2.View:
    """Hand 3 of Mino Dice: seat 0 is to roll third, yellow is led, it holds yellow and red."""
    rolled = [
        md.MinoDiceRolled(seat=2, kind=md.MINO_DICE_KIND_MERMAID, face=md.MINO_DICE_FACE_FLAG),
        md.MinoDiceRolled(seat=3, kind=md.MINO_DICE_KIND_YELLOW, face=md.MINO_DICE_FACE_FIVE),
    ]
    held = md.MinoDiceHeld(
        kinds=[md.MINO_DICE_KIND_RED, md.MINO_DICE_KIND_RED, md.MINO_DICE_KIND_YELLOW]
    )
    game = md.MinoDiceView(
        hand=3,
        phase=md.MINO_DICE_PHASE_ROLL,
        first_player=2,
        leader=2,
        led_colour=md.MINO_DICE_KIND_YELLOW,
        seats=[
            md.MinoDiceSeat(dice=held, dice_count=3, committed=True, bid=1, tricks_taken=0),
            *(
                md.MinoDiceSeat(dice_count=count, committed=True, bid=bid, tricks_taken=0)
                for count, bid in ((3, 0), (2, 2), (2, 3))
            ),
        ],
        bag_count=24,
        trick=rolled,
    )
    return view_pb2.View(
        viewer_seat=0,
        state=table_pb2.TABLE_STATE_PLAYING,
        turn=20,
        seats_to_act=[0],
        legal_actions=[roll(md.MINO_DICE_KIND_YELLOW)],
        scores=score_pb2.ScoreSheet(
            totals=[30, -20, 20, 30],
            running_points=[0, 0, 0, 0],
            places=[1, 4, 3, 1],
            rounds=[
                score_pb2.RoundScore(round=1, points=[10, -10, 10, 10]),
                score_pb2.RoundScore(round=2, points=[20, -10, 10, 20]),
            ],
        ),
        game=game_pb2.GameView(mino_dice=game),
    )


def roll(kind: md.MinoDiceKind.ValueType) -> game_pb2.Action:
    return game_pb2.Action(mino_dice=md.MinoDiceAction(roll=md.MinoDiceRoll(kind=kind)))


def bid(tricks: int) -> game_pb2.Action:
    return game_pb2.Action(mino_dice=md.MinoDiceAction(bid=md.MinoDiceBid(tricks=tricks)))


def bids_open() -> view_pb2.View:
    """Hand 3 before the bids; seat 2 has committed."""
    view = dice_in_a_trick()
    game = view.game.mino_dice
    game.phase = md.MINO_DICE_PHASE_BID
    game.ClearField("led_colour")
    del game.trick[:], view.legal_actions[:], view.seats_to_act[:]
    for seat in game.seats:
        seat.ClearField("bid")
        seat.committed = False
        seat.dice_count = 3
    game.seats[2].committed = True
    view.seats_to_act.extend([0, 1, 3])
    view.legal_actions.extend(bid(tricks) for tricks in range(4))
    return view


def table_of(game_id: str) -> table_pb2.Table:
    """A table of four; its options are all defaults but what a test sets."""
    ai = table_pb2.SeatOccupant(ai=player_pb2.AiPlayer(player="ismcts", level="standard"))
    people = [
        table_pb2.SeatOccupant(person=table_pb2.Person(display_name=name)) if name else ai
        for name in NAMES
    ]
    made = table_pb2.Table(
        table_id="T1",
        state=table_pb2.TABLE_STATE_PLAYING,
        owner_seat=0,
        seats=[
            table_pb2.Seat(seat=number, occupant=each, control=table_pb2.SEAT_CONTROL_OCCUPANT)
            for number, each in enumerate(people)
        ],
    )
    made.settings.game_id = game_id
    made.settings.options.CopyFrom(game_message(game_id).default_options)
    return made


class Desk:
    """A session in front of a position, and what it says."""

    def __init__(
        self, server: Connection, view: view_pb2.View | None, table: table_pb2.Table
    ) -> None:
        game_id = table.settings.game_id
        rules = {rule.id: plain(rule.text) for rule in seeds.rules(game_id).rules}
        self._out = io.StringIO()
        self.seat = server.seat("T1", "", 0)
        self.seat.heed(event_pb2.Snapshot(event_number=1, table=table, view=view))
        self.session = Session(self.seat, game_message(game_id), rules, Voice(self._out, "never"))

    async def said(self, *typed: str) -> str:
        """What is said to the last of these lines."""
        for line in typed:
            self._out.seek(0)
            self._out.truncate()
            await self.session.answer(line)
        return self._out.getvalue().rstrip("\n")

    def told(self, events: Sequence[event_pb2.Event]) -> str:
        """What is said when these events come."""
        self._out.seek(0)
        self._out.truncate()
        for event in events:
            self.session.hear(event)
        return self._out.getvalue().rstrip("\n")

    def turn(self, view: view_pb2.View) -> str:
        """What is said when this view comes."""
        self._out.seek(0)
        self._out.truncate()
        snapshot = event_pb2.Snapshot(
            reason=event_pb2.SNAPSHOT_REASON_UPDATE, event_number=2, view=view
        )
        snapshot.table.CopyFrom(self.seat.table or table_pb2.Table())
        self.seat.heed(snapshot)
        self.session.hear(snapshot)
        return self._out.getvalue().rstrip("\n")
