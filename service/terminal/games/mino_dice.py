"""Mino Dice in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from tavolata.service.terminal.screen import Choice, Room
from tavolata.service.terminal.words import capital, counted, listed, number
from tavolata.v1 import game_pb2, view_pb2
from tavolata.v1 import mino_dice_pb2 as pb

_BEATS = (
    "Minotaur beats griffin, griffin mermaid, mermaid minotaur, and each of them any number; of "
    "equal faces the later wins"
)


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
    return f"{led(view, room)} {aim}"


def choices(view: view_pb2.View, room: Room) -> Sequence[Choice]:
    """See Screen. Dice of a kind are one choice."""
    game = view.game.mino_dice
    if game.phase == pb.MINO_DICE_PHASE_BID:
        return [
            Choice(
                f"bid {tricks}",
                str(tricks),
                game_pb2.Action(mino_dice=pb.MinoDiceAction(bid=pb.MinoDiceBid(tricks=tricks))),
                is_held=False,
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
    game = view.game.mino_dice
    if game.phase == pb.MINO_DICE_PHASE_BID:
        return f"There is no bid {place}: 0 to {game.hand} can be bid."
    trick = game.trick
    if place > len(trick):
        return f"There is no die {place}: {counted(len(trick), 'die', 'dice')} on the table."
    return f"Die {place}: {_die(trick[place - 1])} from {room.who(trick[place - 1].seat)}."


def led(view: view_pb2.View, room: Room) -> str:
    """See Screen."""
    game = view.game.mino_dice
    if game.led_colour:
        return f"{capital(kind(game.led_colour))} is led."
    if not game.trick:
        return "No colour is led."
    if room.options.mino_dice.follow_after_special == pb.MINO_DICE_FOLLOW_AFTER_SPECIAL_FREE:
        return "No colour is led: a special die led, so any die may be rolled."
    return "No colour is led yet: the first number die sets it."


def rules_now(view: view_pb2.View, room: Room) -> str:
    """See Screen. In short; R and a number reads a rule in full."""
    game, options = view.game.mino_dice, room.options.mino_dice
    simple = options.scoring == pb.MINO_DICE_SCORING_SIMPLE
    points = 10 * game.hand
    missed = "missed it brings nothing (MD-17)" if simple else "missed it costs 10 a trick (MD-13)"
    sentences = [
        f"Hand {game.hand}, {counted(game.hand, 'die', 'dice')} each.",
        f"{_BEATS} (MD-10).",
        *_rulings(options),
        f"A bid above 0 met brings 20 for each trick bid; {missed}.",
        f"A bid of 0 met brings {points}; missed it costs {points} (MD-14).",
        *([] if simple else [_bonuses(options)]),
        "R and a number, such as R MD-10, reads a rule in full.",
    ]
    return " ".join(sentences)


def _bonuses(options: pb.MinoDiceOptions) -> str:
    """MD-15 and MD-16 in short."""
    once = options.griffin_bonus == pb.MINO_DICE_GRIFFIN_BONUS_ONCE
    griffins = "a griffin" if once else "each griffin"
    flags = {
        pb.MINO_DICE_FLAG_SCOPE_TRICK: "no bonus for a trick with a flag in it",
        pb.MINO_DICE_FLAG_SCOPE_HAND: "no bonus in a hand in which one took a flag",
        pb.MINO_DICE_FLAG_SCOPE_NONE: "flags change nothing in that",
    }[options.flag_scope]
    return (
        "Bonuses for a bid above 0 met: 50 for a minotaur taken with a mermaid, 30 for "
        f"{griffins} in a trick taken with a minotaur (MD-15); {flags} (MD-16)."
    )


def _rulings(options: pb.MinoDiceOptions) -> list[str]:
    """What is decided by an option in a trick: MD-9, MD-11, MD-12."""
    told = []
    if options.follow_after_special == pb.MINO_DICE_FOLLOW_AFTER_SPECIAL_FREE:
        told.append("Where a special die leads, no colour has to be followed (MD-9).")
    else:
        told.append("Where a special die leads, the first number die sets the colour (MD-9).")
    last = options.all_flags == pb.MINO_DICE_ALL_FLAGS_LAST
    told.append(f"Of flags alone the {'last' if last else 'first'} wins (MD-11).")
    if options.three_way == pb.MINO_DICE_THREE_WAY_MERMAID:
        told.append("Of all three special faces the last mermaid wins (MD-12).")
    return told


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
