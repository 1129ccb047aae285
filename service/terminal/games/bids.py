"""Bids in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tavolata.service.terminal.screen import Choice, Room
from tavolata.service.terminal.words import capital, counted, listed, number
from tavolata.v1 import bids_pb2 as pb
from tavolata.v1 import game_pb2, view_pb2

# Names of the cards without a colour, and how the rules write them.
_SPECIALS = {
    pb.BIDS_CARD_DOUBLE: ("2X", "2X"),
    pb.BIDS_CARD_MINUS_FIVE: ("minus 5", "-5"),
    pb.BIDS_CARD_SURPRISE: ("Surprise", "Surprise"),
    pb.BIDS_CARD_LOWEST: ("Lowest", "Lowest"),
    pb.BIDS_CARD_THIEF: ("Thief", "Thief"),
    pb.BIDS_CARD_ALLY: ("Ally", "Ally"),
}
_SURPRISE = "Surprise, the next card of the pile, unseen"
# What a lucky loser gets, by the number of seats (BI-20).
_LUCK = {3: 12, 4: 8, 5: 8, 6: 7}
# What the options bring in, in short.
_BY_OPTION = (
    (
        "minus_five",
        "Who has won minus 5 three times in the match gets 30 at its end (BI-13).",
    ),
    (
        "surprise",
        (
            "Surprise stands for the next card of the pile, unseen; where it was bid, the winner "
            "gets that card instead of the one in the middle (BI-14)."
        ),
    ),
    ("lowest", "Once Lowest is turned up, low numbers win to the end of the round (BI-15)."),
    ("thief", "The winner of the Thief steals a black card from who bid worst (BI-16)."),
    (
        "ally",
        "Who bids the Ally and who wins that trick share what both earn in the round (BI-19).",
    ),
)
_BLACK_LETTER = "K"  # as the rules write black: B is blue


def _parts(value: pb.BidsCard.ValueType) -> tuple[str, str]:
    """`red` and `7` of a numbered card."""
    colour, _, on_it = pb.BidsCard.Name(value).removeprefix("BIDS_CARD_").partition("_")
    return colour.lower(), on_it


def card(value: pb.BidsCard.ValueType) -> str:
    """`red 7`, `minus 5`."""
    if value in _SPECIALS:
        return _SPECIALS[value][0]
    return " ".join(_parts(value))


def short_card(value: pb.BidsCard.ValueType) -> str:
    """`R7`, `-5`, as the rules write it."""
    if value in _SPECIALS:
        return _SPECIALS[value][1]
    colour, on_it = _parts(value)
    return (_BLACK_LETTER if colour == "black" else colour[0].upper()) + on_it


def _by_colour(cards: Iterable[pb.BidsCard.ValueType]) -> str:
    """`: red 2, 7; black 4; Ally`, shorter than card by card; empty for no cards."""
    colours: dict[str, list[str]] = {}
    for value in cards:
        if value in _SPECIALS:
            colours[card(value)] = []
        else:
            colour, on_it = _parts(value)
            colours.setdefault(colour, []).append(on_it)
    told = "; ".join(f"{colour} {', '.join(on)}".strip() for colour, on in colours.items())
    return told and f": {told}"


def happened(event: game_pb2.GameEvent, room: Room) -> str:
    """See Screen."""
    which = event.bids.WhichOneof("event")
    if which is None:
        return ""
    return _TOLD[which](getattr(event.bids, which), room)


def _round_started(event: pb.BidsRoundStarted, room: Room) -> str:
    aside = f" {capital(counted(event.left_over, 'card'))} set aside." if event.left_over else ""
    return f"Round {event.round} begins.{aside} {room.Who(event.leader)} will bid first."


def _dealt(event: pb.BidsDealt, room: Room) -> str:
    if event.seat != room.me:
        return ""
    return f"You hold {counted(event.count, 'card')}{_by_colour(event.cards.cards)}."


def _centre_turned(event: pb.BidsCentreTurned, room: Room) -> str:
    is_surprise = event.card == pb.BIDS_CARD_SURPRISE
    return f"To be won: {_SURPRISE if is_surprise else card(event.card)}."


def _trick_burnt(event: pb.BidsTrickBurnt, room: Room) -> str:
    return f"The trick is burnt. {room.Who(event.next)} will bid first."


def _doubled(event: pb.BidsPointsDoubled, room: Room) -> str:
    return f"{capital(room.whose(event.seat))} points are doubled to {number(event.points)}."


def _blacks_won(event: pb.BidsBlacksWon, room: Room) -> str:
    cards = listed(card(each) for each in event.cards)
    return f"{room.Who(event.seat)} took {cards}, for {_points(event.points)}."


def _points(points: int) -> str:
    return f"{number(points)} {'point' if abs(points) == 1 else 'points'}"


def _stolen(event: pb.BidsStolen, room: Room) -> str:
    return f"{room.Who(event.thief)} stole {card(event.card)} from {room.who(event.victim)}."


def _allied(event: pb.BidsAllied, room: Room) -> str:
    return f"{room.Who(event.ally)} and {room.who(event.winner)} share what they earn this round."


def _round_scored(event: pb.BidsRoundScored, room: Room) -> str:
    points, totals = [number(each) for each in event.points], [number(n) for n in event.totals]
    lucky = [f"{room.who(seat)} with {points}" for seat, points in enumerate(event.lucky) if points]
    luck = f" Lucky without a trick: {listed(lucky)}, counted in." if lucky else ""
    return (
        f"Round {event.round} is over. Points: {room.each(points)}.{luck} "
        f"Totals: {room.each(totals)}."
    )


_TOLD: dict[str, Callable[[Any, Room], str]] = {
    "round_started": _round_started,
    "dealt": _dealt,
    "centre_turned": _centre_turned,
    "lowest_set": lambda _, __: "Lowest is set aside: low numbers win.",
    "bid_made": lambda made, room: f"{room.Who(made.seat)} bid {card(made.card)}.",
    "trick_won": lambda won, room: f"{room.Who(won.seat)} won the trick.",
    "trick_burnt": _trick_burnt,
    "card_taken": lambda took, room: f"{room.Who(took.seat)} turned up {card(took.card)}.",
    "centre_buried": lambda buried, _: f"{capital(card(buried.card))} goes under the pile.",
    "points_doubled": _doubled,
    "blacks_won": _blacks_won,
    "stolen": _stolen,
    "allied": _allied,
    "round_scored": _round_scored,
    "bonus_scored": lambda bonus, room: (
        f"{room.Who(bonus.seat)} won minus 5 often enough: {_points(bonus.points)} more."
    ),
}


def step(event: game_pb2.GameEvent, room: Room) -> str:
    """See Screen."""
    game = event.bids
    match game.WhichOneof("event"):
        case "centre_turned":
            return f"for {short_card(game.centre_turned.card)}:"
        case "bid_made":
            return f"{room.who(game.bid_made.seat)} {short_card(game.bid_made.card)}"
        case "blacks_won":
            return f"→ {room.who(game.blacks_won.seat)} {game.blacks_won.points:+}"
        case "trick_burnt":
            return "→ burnt"
        case "stolen":
            return f"steals {short_card(game.stolen.card)} from {room.who(game.stolen.victim)}"
    return ""


def ends_trick(event: game_pb2.GameEvent) -> bool:
    """See Screen."""
    return event.bids.WhichOneof("event") in ("blacks_won", "trick_burnt")


def _is_theft(view: view_pb2.View) -> bool:
    return view.game.bids.phase == pb.BIDS_PHASE_THEFT


def task(view: view_pb2.View) -> str:
    """See Screen."""
    return "steal a card" if _is_theft(view) else "bid a card"


def ask(view: view_pb2.View, room: Room) -> str:
    """See Screen."""
    game = view.game.bids
    if _is_theft(view):
        return "You won the Thief and steal a card."
    prize = _prize(game) + (" Low numbers win." if game.lowest else "")
    if not game.bids:
        return f"{prize} You bid first."
    ahead = f" {room.Who(game.winning)} would win." if game.HasField("winning") else ""
    return f"{prize} Bids: {_bids(game.bids, room)}.{ahead}"


def _prize(game: pb.BidsView) -> str:
    """What the winner gets; of the Surprise, what it stands for (BI-14)."""
    if game.centre == pb.BIDS_CARD_SURPRISE:
        return f"To be won: {_SURPRISE}."
    return f"To be won: {card(game.centre)}."


def choices(view: view_pb2.View, room: Room) -> Sequence[Choice]:
    """See Screen. A card to steal is named with the seat that has it."""
    game = view.game.bids
    if _is_theft(view):
        return [
            Choice(
                f"{card(each.card)} of seat {each.seat}",
                short_card(each.card),
                game_pb2.Action(bids=pb.BidsAction(steal=each)),
                also=(card(each.card),),
            )
            for each in game.theft
        ]
    return [
        Choice(
            card(value),
            short_card(value),
            game_pb2.Action(bids=pb.BidsAction(bid=pb.BidsBid(card=value))),
        )
        for value in game.seats[view.viewer_seat].hand.cards
    ]


def holding(view: view_pb2.View, room: Room) -> str:
    """See Screen."""
    mine = view.game.bids.seats[view.viewer_seat]
    return f"You hold {counted(mine.hand_size, 'card')}{_by_colour(mine.hand.cards)}."


def on_table(view: view_pb2.View, room: Room) -> str:
    """See Screen."""
    game = view.game.bids
    if not game.centre:
        return f"No cards are on the table. {last_trick(view, room)}"
    pile = f"{capital(counted(game.pile_size, 'card'))} in the pile."
    if not game.bids:
        return f"{_prize(game)} No bids yet. {pile} {last_trick(view, room)}"
    bids = capital(counted(len(game.bids), "bid"))
    return f"{_prize(game)} {bids}: {_bids(game.bids, room)}. {pile}"


def _bids(made: Sequence[pb.BidsBidMade], room: Room) -> str:
    return ", ".join(f"{card(each.card)} from {room.who(each.seat)}" for each in made)


def on_table_at(view: view_pb2.View, place: int, room: Room) -> str:
    """See Screen."""
    bids = view.game.bids.bids
    if place > len(bids):
        return f"There is no bid {place}: {counted(len(bids), 'bid')} on the table."
    return f"Bid {place}: {card(bids[place - 1].card)} from {room.who(bids[place - 1].seat)}."


def led(view: view_pb2.View, room: Room) -> str:
    """See Screen."""
    game = view.game.bids
    centre = f" {_prize(game)}" if game.centre else ""
    return f"Nothing is to be followed: any card may be bid. {_wins(game, room)}{centre}"


def _wins(game: pb.BidsView, room: Room) -> str:
    """Which bid wins: BI-7, BI-9, BI-15."""
    number = "lowest" if game.lowest else "highest"
    if not room.options.bids.colours:
        return f"The {number} number wins."
    return (
        f"The colour with the most cards wins, and in it the {number} number; colours with "
        "equally many count as one. The card in the middle is counted as black, and a colour "
        "needs a number that was bid."
    )


def rules_now(view: view_pb2.View, room: Room) -> str:
    """See Screen. In short; R and a number reads a rule in full."""
    game, options = view.game.bids, room.options.bids
    luck = _LUCK[len(game.seats)]
    extra = [told for name, told in _BY_OPTION if getattr(options, name)]
    return (
        f"Round {game.round} of {options.rounds}. {_wins(game, room)} If that number was bid "
        "twice nobody wins, and all these cards are out (BI-8). The winner takes the card in the "
        "middle and every black card bid; 2X doubles what the winner has in the round before that "
        f"(BI-11). {''.join(f'{told} ' for told in extra)}Who wins no trick in a round gets "
        f"{luck}, the second time {2 * luck}, and so on (BI-20). R and a number, such as R BI-9, "
        "reads a rule in full."
    )


def standing(view: view_pb2.View, room: Room) -> str:
    """See Screen."""
    game = view.game.bids
    if game.phase == pb.BIDS_PHASE_OVER:
        return ""
    points = [number(each) for each in view.scores.running_points]
    tricks = [each.tricks_won for each in game.seats]
    allies = ""
    if game.HasField("allies"):
        pair = listed([room.who(game.allies.ally), room.who(game.allies.winner)])
        allies = f" Allies: {pair}."
    lowest = " Low numbers win in this round." if game.lowest else ""
    return (
        f"In round {game.round} so far, points: {room.each(points)}; "
        f"tricks: {room.each(tricks)}.{_spoils(game, room)}{_luck(game, room)}{allies}{lowest}"
    )


def _spoils(game: pb.BidsView, room: Room) -> str:
    """Black cards that seats have from this round, as they may be stolen."""
    told = [
        f"{room.who(seat)} {listed(card(each) for each in has.won)}"
        for seat, has in enumerate(game.seats)
        if has.won
    ]
    return f" Black cards won: {'; '.join(told)}." if told else ""


def _luck(game: pb.BidsView, room: Room) -> str:
    """Lucky rounds and -5s of the match so far, which later points hang on."""
    lucky = [f"{room.who(n)} {each.lucky}" for n, each in enumerate(game.seats) if each.lucky]
    fives = [
        f"{room.who(n)} {each.minus_fives}" for n, each in enumerate(game.seats) if each.minus_fives
    ]
    return "".join(
        f" {what}: {', '.join(told)}."
        for what, told in (("Lucky rounds", lucky), ("Minus fives won", fives))
        if told
    )


def last_trick(view: view_pb2.View, room: Room) -> str:
    """See Screen."""
    game = view.game.bids
    if not game.last_bids:
        return "There is no last trick in this round."
    won = game.HasField("last_winner")
    end = f"{room.who(game.last_winner)} won it" if won else "it was burnt"
    return f"The last trick was for {card(game.last_centre)}: {_bids(game.last_bids, room)}; {end}."
