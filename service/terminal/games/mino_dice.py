"""Mino Dice in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from tavolata.service.terminal.options import options_told
from tavolata.service.terminal.screen import Choice, Room
from tavolata.service.terminal.words import capital, counted, listed, number, without_option
from tavolata.v1 import game_pb2, view_pb2
from tavolata.v1 import mino_dice_pb2 as pb


def kind(value: pb.MinoDiceKind.ValueType) -> str:
    """`red`."""
    return pb.MinoDiceKind.Name(value).removeprefix("MINO_DICE_KIND_").lower()


def face(value: pb.MinoDiceFace.ValueType) -> str:
    """`7`, `flag`."""
    if value <= pb.MINO_DICE_FACE_SEVEN:
        return str(int(value))
    return pb.MinoDiceFace.Name(value).removeprefix("MINO_DICE_FACE_").lower()


def _dice(kinds: Sequence[pb.MinoDiceKind.ValueType]) -> str:
    """`: 2 red and mermaid`; empty for none."""
    if not kinds:
        return ""
    counts = Counter(kinds).items()
    return ": " + listed(
        kind(value) if count == 1 else f"{count} {kind(value)}" for value, count in counts
    )


def happened(event: game_pb2.GameEvent, room: Room) -> str:
    """See Screen."""
    which = event.mino_dice.WhichOneof("event")
    if which is None:
        return ""
    told: dict[str, Callable[[Any, Room], str]] = {
        "hand_started": _hand_started,
        "drawn": _drawn,
        "bid_committed": _bid_committed,
        "bids_shown": _bids_shown,
        "rolled": _rolled,
        "trick_taken": lambda taken, room: f"{room.Who(taken.seat)} took the trick.",
        "hand_scored": _hand_scored,
    }
    return told[which](getattr(event.mino_dice, which), room)


def _hand_started(event: pb.MinoDiceHandStarted, room: Room) -> str:
    return f"Hand {event.hand} begins. {room.Who(event.first_player)} will roll first."


def _drawn(event: pb.MinoDiceDrawn, room: Room) -> str:
    if event.seat != room.me:
        return ""
    return f"You hold {counted(event.count, 'die', 'dice')}{_dice(event.dice.kinds)}."


def _bid_committed(event: pb.MinoDiceBidCommitted, room: Room) -> str:
    if event.HasField("bid") and event.seat == room.me:
        return f"Your bid is in: {event.bid}."
    return f"{room.Who(event.seat)} has bid."


def _bids_shown(event: pb.MinoDiceBidsShown, room: Room) -> str:
    return f"All bids are in: {room.each(event.bids)}; {sum(event.bids)} in all."


def _rolled(event: pb.MinoDiceRolled, room: Room) -> str:
    return f"{room.Who(event.seat)} rolled {_die(event)}."


def _die(rolled: pb.MinoDiceRolled) -> str:
    """`red 6`; of a special die `minotaur`, or `minotaur die, a flag`."""
    die, shown = kind(rolled.kind), face(rolled.face)
    if shown == die:
        return f"a {die}"
    return f"{die}, a flag" if shown == "flag" else f"{die} {shown}"


def _short_die(rolled: pb.MinoDiceRolled) -> str:
    """`red 6`, `minotaur`, `griffin flag`."""
    die, shown = kind(rolled.kind), face(rolled.face)
    return die if die == shown else f"{die} {shown}"


def _hand_scored(event: pb.MinoDiceHandScored, room: Room) -> str:
    points, totals = [number(each) for each in event.points], [number(n) for n in event.totals]
    bonus = f" Of that bonuses: {room.each(event.bonus)}." if any(event.bonus) else ""
    return (
        f"Hand {event.hand} is over. Points: {room.each(points)}.{bonus} "
        f"Totals: {room.each(totals)}."
    )


def step(event: game_pb2.GameEvent, room: Room) -> str:
    """See Screen."""
    game = event.mino_dice
    which = game.WhichOneof("event")
    if which == "bid_committed":
        return f"{room.who(game.bid_committed.seat)} bids"
    if which == "bids_shown":
        return f"→ {room.each(game.bids_shown.bids)}"
    if which == "rolled":
        return f"{room.who(game.rolled.seat)} {_short_die(game.rolled)}"
    return f"→ {room.who(game.trick_taken.seat)}" if which == "trick_taken" else ""


def ends_trick(event: game_pb2.GameEvent) -> bool:
    """See Screen."""
    return event.mino_dice.WhichOneof("event") in ("bids_shown", "trick_taken")


def task(view: view_pb2.View) -> str:
    """See Screen."""
    return "bid" if view.game.mino_dice.phase == pb.MINO_DICE_PHASE_BID else "roll a die"


def ask(view: view_pb2.View, room: Room) -> str:
    """See Screen."""
    game = view.game.mino_dice
    if game.phase == pb.MINO_DICE_PHASE_BID:
        return f"How many of {counted(game.hand, 'trick')} will you take?"
    mine = game.seats[view.viewer_seat]
    aim = f"You bid {mine.bid} and have {mine.tricks_taken}."
    if not game.trick:
        return f"You lead. {aim}"
    return f"{led(view)} {aim}"


def choices(view: view_pb2.View) -> Sequence[Choice]:
    """See Screen. Dice of a kind are one choice."""
    game = view.game.mino_dice
    if game.phase == pb.MINO_DICE_PHASE_BID:
        return [
            Choice(
                f"bid {tricks}",
                str(tricks),
                game_pb2.Action(mino_dice=pb.MinoDiceAction(bid=pb.MinoDiceBid(tricks=tricks))),
            )
            for tricks in range(game.hand + 1)
        ]
    return [
        Choice(
            kind(value),
            kind(value),
            game_pb2.Action(mino_dice=pb.MinoDiceAction(roll=pb.MinoDiceRoll(kind=value))),
            count=count,
        )
        for value, count in Counter(game.seats[view.viewer_seat].dice.kinds).items()
    ]


def holding(view: view_pb2.View, room: Room) -> str:
    """See Screen."""
    mine = view.game.mino_dice.seats[view.viewer_seat]
    return f"You hold {counted(mine.dice_count, 'die', 'dice')}{_dice(mine.dice.kinds)}."


def on_table(view: view_pb2.View, room: Room) -> str:
    """See Screen."""
    trick = view.game.mino_dice.trick
    if not trick:
        return f"No dice are on the table. {last_trick(view, room)}"
    return f"{capital(counted(len(trick), 'die', 'dice'))} on the table: {_rolls(trick, room)}."


def _rolls(rolled: Sequence[pb.MinoDiceRolled], room: Room) -> str:
    return ", ".join(f"{_die(each)} from {room.who(each.seat)}" for each in rolled)


def on_table_at(view: view_pb2.View, place: int, room: Room) -> str:
    """See Screen."""
    trick = view.game.mino_dice.trick
    if place > len(trick):
        return f"There is no die {place}: {counted(len(trick), 'die', 'dice')} on the table."
    return f"Die {place}: {_die(trick[place - 1])} from {room.who(trick[place - 1].seat)}."


def led(view: view_pb2.View) -> str:
    """See Screen."""
    colour = view.game.mino_dice.led_colour
    return f"{capital(kind(colour))} is led." if colour else "No colour is led."


def rules_now(view: view_pb2.View, room: Room) -> str:
    """See Screen."""
    game = view.game.mino_dice
    simple = room.options.mino_dice.scoring == pb.MINO_DICE_SCORING_SIMPLE
    numbers = ("MD-14", "MD-17") if simple else ("MD-13", "MD-14", "MD-15", "MD-16")
    options = options_told(room.game, room.options)
    return " ".join(
        [
            f"Hand {game.hand}, {counted(game.hand, 'die', 'dice')} each.",
            *(without_option(room.rules.get(each, "")) for each in numbers),
            f"At this table: {options}." if options else "",
        ]
    ).strip()


def standing(view: view_pb2.View, room: Room) -> str:
    """See Screen."""
    game = view.game.mino_dice
    if game.phase == pb.MINO_DICE_PHASE_OVER:
        return ""
    if game.phase == pb.MINO_DICE_PHASE_BID:
        done = [room.who(seat) for seat, each in enumerate(game.seats) if each.committed]
        return f"Hand {game.hand}, bids are open; in: {listed(done) if done else 'nobody yet'}."
    stand = [f"{each.tricks_taken} of {each.bid}" for each in game.seats]
    return f"Hand {game.hand}, tricks taken of those bid: {room.each(stand)}."


def last_trick(view: view_pb2.View, room: Room) -> str:
    """See Screen."""
    game = view.game.mino_dice
    if not game.last_trick:
        return "There is no last trick in this hand."
    return (
        f"The last trick was {_rolls(game.last_trick, room)}; {room.who(game.last_winner)} took it."
    )
