"""Hidden worlds that agree with what a viewer has seen: all of them, or a check of one.

A world is the cards or dice that every seat still holds (in action order, a tuple a seat); what is
left over lies in the bag. Everything comes from the event stream as the viewer got it: a world is
right if the match replayed from it allows the same actions and shows the viewer the same events.
Cards and dice that have been played count as physically known, those unseen are told apart: a
world's count is the number of ways to put the unseen ones in their places that give that world.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

from tests.reference import (
    bids,
    bids_cards,
    bouillabaisse,
    cafe_board,
    cafe_international,
    mino_dice,
    mister_bill,
)
from tests.reference.chance import Script
from tests.reference.model import IllegalMove, Model
from tests.reference.registry import GAMES, AnyModel, new_model

World = tuple[tuple[str, ...], ...]
Seen = dict[str, object]
PHYSICAL_DEALS_MAX = 400_000

ORDERS: dict[str, list[str]] = {
    "bids": bids_cards.DECK,
    "bouillabaisse": bouillabaisse.DECK,
    "cafe_international": cafe_board.KINDS,
    "mino_dice": mino_dice.KINDS,
}
"""Names of a game's cards or dice in action order."""


@dataclass(frozen=True)
class History:
    """A match as one viewer saw it."""

    game: str
    seats: int
    options: dict[str, object]
    viewer: int
    events: list[Seen]
    actions: tuple[tuple[int, str], ...] = ()
    """Café International: all the actions, of which some leave no event; they are public."""


@dataclass(frozen=True)
class Unseen:
    """What the viewer can't place: the cards, and how many of them each seat holds.

    `known[seat]` are the cards the viewer knows there (then `sizes[seat]` is 0).
    """

    cards: list[str]
    sizes: list[int]
    known: list[list[str]]


def history_of(model: AnyModel, viewer: int) -> History:
    """The match so far as the viewer saw it."""
    game = next(name for name, kind in GAMES.items() if isinstance(model, kind))
    actions = model.actions if isinstance(model, cafe_international.CafeInternational) else ()
    return History(
        game, model.seats, dict(model.options), viewer, model.events(viewer), tuple(actions)
    )


def true_world(model: AnyModel) -> World:
    """What the seats really hold."""
    if isinstance(model, mister_bill.MisterBill):
        return tuple(tuple(mister_bill.in_order(hand)) for hand in model.hands)
    if isinstance(model, bouillabaisse.Bouillabaisse):
        return tuple(tuple(bouillabaisse.in_order(hand)) for hand in model.hands)
    if isinstance(model, bids.Bids):
        return tuple(tuple(bids_cards.in_order(hand)) for hand in model.hands)
    if isinstance(model, cafe_international.CafeInternational):
        return tuple(tuple(cafe_board.in_order(hand)) for hand in model.hands)
    return tuple(tuple(mino_dice.in_order(dice)) for dice in model.dice)


def consistent(history: History, world: World, viewer: int) -> bool:
    """Whether the match could have gone as the viewer saw it, had the seats held this."""
    if viewer != history.viewer:
        raise ValueError(f"the history is that of {history.viewer}, not of {viewer}")
    try:
        model = replay_in(history, world)
    except (IllegalMove, ValueError):
        return False
    return model.events(viewer) == history.events


def enumerate_worlds(history: History) -> dict[World, int]:
    """Every world that agrees with the history, with its number of physical deals.

    ValueError if there are more than PHYSICAL_DEALS_MAX ways to place the unseen cards.
    """
    unseen = unseen_in(history)
    physical = physical_deal_count(unseen)
    if physical > PHYSICAL_DEALS_MAX:
        raise ValueError(f"{physical} physical deals, more than {PHYSICAL_DEALS_MAX}")
    counts: Counter[World] = Counter()
    order = ORDERS[history.game]
    for places in _ways(tuple(range(len(unseen.cards))), unseen.sizes):
        hands = []
        for known, place in zip(unseen.known, places, strict=True):
            hand = known + [unseen.cards[number] for number in place]
            hands.append(tuple(sorted(hand, key=order.index)))
        counts[tuple(hands)] += 1
    return {
        world: count
        for world, count in counts.items()
        if consistent(history, world, history.viewer)
    }


def physical_deal_count(unseen: Unseen) -> int:
    """Ways to put the unseen cards, all told apart, into the places, whatever was seen."""
    ways, left = 1, len(unseen.cards)
    for size in unseen.sizes:
        ways *= comb(left, size)
        left -= size
    return ways


def _ways(numbers: tuple[int, ...], sizes: Sequence[int]) -> Iterator[list[tuple[int, ...]]]:
    if not sizes:
        yield []
        return
    for place in combinations(numbers, sizes[0]):
        left = tuple(number for number in numbers if number not in place)
        for others in _ways(left, sizes[1:]):
            yield [place, *others]


def unseen_in(history: History) -> Unseen:
    """What the viewer can't place, from the events of the round in progress alone."""
    if history.game == "cafe_international":
        return _unseen_in_cafe(history)
    _refuse_moving_cards(history)
    rounds = by_round(history)
    if history.game == "bids":
        return _unseen_in_bids(history, rounds[-1])
    if history.game == "bouillabaisse":
        cards, dealt, gone, secret = (
            bouillabaisse.cards_in_play(history.seats),
            "dealt",
            "card",
            "cards",
        )
    else:
        cards, dealt, gone, secret = list(mino_dice.BAG), "drawn", "kind", "dice"
    sizes = [0] * history.seats
    known: list[list[str]] = [[] for _ in range(history.seats)]
    knows = [False] * history.seats
    for event in rounds[-1]:
        if event["event"] == dealt:
            seat = _number(event, "seat")
            sizes[seat] = _number(event, "count")
            if secret in event:
                knows[seat] = True
                known[seat] = _texts(event, secret)
                for card in known[seat]:
                    cards.remove(card)
        if event["event"] in ("played", "rolled"):
            seat, card = _number(event, "seat"), str(event[gone])
            sizes[seat] -= 1
            (known[seat] if knows[seat] else cards).remove(card)
    sizes = [0 if knows[seat] else sizes[seat] for seat in range(history.seats)]
    return Unseen(cards, sizes, known)


def _unseen_in_cafe(history: History) -> Unseen:
    """Every hand is open; only the order of the bag is unseen, and that is in no world."""
    known: list[list[str]] = [[] for _ in range(history.seats)]
    for event in history.events:
        if event["event"] == "drew":
            known[_number(event, "seat")] += _texts(event, "kinds")
        if event["event"] in ("seated", "put_at_bar", "swapped"):
            known[_number(event, "seat")].remove(str(event["kind"]))
        if event["event"] == "swapped":
            known[_number(event, "seat")].append(str(event["joker"]))
    return Unseen([], [0] * history.seats, known)


def _unseen_in_bids(history: History, events: list[Seen]) -> Unseen:
    """Lowest and Thief are left out: they are in no hand (BI-3), so on the pile if unseen."""
    setting = bids_cards.Setting(history.seats, history.options)
    cards = setting.coloured + setting.may_be_dealt + setting.ally
    sizes = [setting.hand] * history.seats
    known: list[list[str]] = [[] for _ in range(history.seats)]
    for event in events:
        if event["event"] == "dealt" and "cards" in event:
            known[history.viewer] = _texts(event, "cards")
        if event["event"] == "bid_made":
            seat = _number(event, "seat")
            sizes[seat] -= 1
            if seat == history.viewer:
                known[seat].remove(str(event["card"]))
                cards.remove(str(event["card"]))
        if event["event"] in ("centre_turned", "card_taken", "bid_made") and event["card"] in cards:
            # A centre that was put under the pile may be turned up again: seen once, seen for good.
            cards.remove(str(event["card"]))
    for card in known[history.viewer]:
        cards.remove(card)
    if history.viewer >= 0:
        sizes[history.viewer] = 0
    return Unseen(cards, sizes, known)


def _refuse_moving_cards(history: History) -> None:
    """Where hidden cards go from hand to hand, what is held now is no deal to replay from."""
    if history.game == "mister_bill":
        raise ValueError("worlds of mister_bill are those of tests.reference.mister_bill_worlds")


def replay_in(history: History, world: World) -> Model:
    """The match replayed with the public actions, the seats holding what the world says.

    IllegalMove if an action would have been refused, ValueError if the cards don't add up.
    """
    script, actions = script_of(history, world)
    model = new_model(history.game, history.seats, history.options, script=script)
    for seat, action in actions:
        model.play(seat, action)
    return model


Actions = list[tuple[int, str]]


def script_of(history: History, world: World) -> tuple[Script, Actions]:
    """The chance and the actions of the match as the viewer saw it, the seats holding this.

    Another seat's bid that is still secret is 0. ValueError if the cards don't add up.
    """
    if history.game == "cafe_international":
        return _cafe_script(history, world)
    if history.game == "bids":
        return _bids_script(history, world)
    if history.game == "bouillabaisse":
        return _bouillabaisse_script(history, world)
    _refuse_moving_cards(history)
    return _mino_dice_script(history, world)


def _cafe_script(history: History, world: World) -> tuple[Script, Actions]:
    """The bag as it was drawn, then what is left in it in the order of the kinds."""
    known = [tuple(cafe_board.in_order(hand)) for hand in _unseen_in_cafe(history).known]
    if tuple(known) != world:
        raise ValueError(f"the hands are {known}, not {world}")
    order: list[str] = []
    script: Script = {}
    for event in history.events:
        if event["event"] == "drew":
            order += _texts(event, "kinds")
        if event["event"] == "started":
            script["start", 0, 0] = _number(event, "seat")
    rest = list(cafe_board.ALL_TILES)
    for tile in order:
        rest.remove(tile)
    script["bag", 0, 0] = order + rest
    return script, list(history.actions)


def _bids_script(history: History, world: World) -> tuple[Script, Actions]:
    """What is in no hand is left over or on the pile; its unseen order there is any."""
    setting = bids_cards.Setting(history.seats, history.options)
    script: Script = {}
    actions: Actions = []
    rounds = by_round(history)
    for number, events in enumerate(rounds, start=1):
        last = number == len(rounds)
        hands = [list(world[seat]) if last else [] for seat in range(history.seats)]
        pile: list[str] = []
        for event in events:
            match event["event"]:
                case "round_started" if number == 1:
                    script["leader", 0, 0] = _number(event, "leader")
                case "lowest_set":
                    pile.append("Lowest")
                case "centre_turned" | "card_taken":
                    if event["card"] not in pile:
                        pile.append(str(event["card"]))
                case "bid_made":
                    seat, card = _number(event, "seat"), str(event["card"])
                    hands[seat].append(card)
                    actions.append((seat, f"bid {card}"))
                case "stolen":
                    action = f"steal {event['victim']} {event['card']}"
                    actions.append((_number(event, "thief"), action))
        script.update(bids_cards.deal_script(setting, number, hands, pile))
        _check_sizes(hands, events, "dealt")
    return script, actions


def _bouillabaisse_script(history: History, world: World) -> tuple[Script, Actions]:
    script: Script = {}
    actions: Actions = []
    rounds = by_round(history)
    for number, events in enumerate(rounds, start=1):
        last = number == len(rounds)
        hands = [list(world[seat]) if last else [] for seat in range(history.seats)]
        for event in events:
            match event["event"]:
                case "round_started" if number == 1:
                    script["dealer", 0, 0] = _number(event, "dealer")
                case "suit_drawn":
                    script["suit", 2, 0] = bouillabaisse.SUITS.index(str(event["suit"]))
                case "rank_drawn":
                    script["rank", 3, 0] = bouillabaisse.DRAWN_RANKS.index(str(event["rank"]))
                case "card_drawn":
                    card = str(event["card"])
                    rank = bouillabaisse.DRAWN_RANKS.index(card[0])
                    script["card", 4, 0] = 4 * rank + bouillabaisse.SUITS.index(card[1])
                case "played":
                    seat, card = _number(event, "seat"), str(event["card"])
                    hands[seat].append(card)
                    actions.append((seat, f"play {card}"))
        script.update(bouillabaisse.deal_script(number, hands))
        _check_sizes(hands, events, "dealt")
    return script, actions


def _mino_dice_script(history: History, world: World) -> tuple[Script, Actions]:
    script: Script = {}
    actions: Actions = []
    rounds = by_round(history)
    for number, events in enumerate(rounds, start=1):
        last = number == len(rounds)
        rolled: list[list[str]] = [[] for _ in range(history.seats)]
        shown = [event["bids"] for event in events if event["event"] == "bids_shown"]
        for event in events:
            match event["event"]:
                case "hand_started" if number == 1:
                    script["first", 0, 0] = _number(event, "first_player")
                case "bid_committed":
                    seat = _number(event, "seat")
                    actions.append((seat, f"bid {_bid(event, shown)}"))
                case "rolled":
                    seat, kind = _number(event, "seat"), str(event["kind"])
                    index = mino_dice.roll_index(seat, kind, rolled[seat].count(kind))
                    face = str(event["face"])
                    script["roll", number, index] = mino_dice.FACES[kind].index(face)
                    rolled[seat].append(kind)
                    actions.append((seat, f"roll {kind}"))
        dice = [rolled[seat] + list(world[seat] if last else ()) for seat in range(history.seats)]
        script.update(mino_dice.draw_script(number, dice))
        _check_sizes(dice, events, "drawn")
    return script, actions


def _bid(event: Seen, shown: list[object]) -> int:
    """A bid as shown later, or as the viewer's own; one still hidden may be any: 0."""
    if shown:
        bids = shown[0]
        assert isinstance(bids, list)
        return int(bids[_number(event, "seat")])
    return _number(event, "bid") if "bid" in event else 0


def _check_sizes(hands: Sequence[Sequence[str]], events: list[Seen], dealt: str) -> None:
    counts = [_number(event, "count") for event in events if event["event"] == dealt]
    if counts != [len(hand) for hand in hands]:
        raise ValueError(f"the hands have {[len(hand) for hand in hands]} cards, not {counts}")


def by_round(history: History) -> list[list[Seen]]:
    """The events cut where rounds start; a match that is over has no round in progress after."""
    rounds: list[list[Seen]] = []
    for event in history.events:
        if event["event"] in ("round_started", "hand_started"):
            rounds.append([])
        rounds[-1].append(event)
    return rounds


def _number(event: Seen, key: str) -> int:
    value = event[key]
    assert isinstance(value, int)
    return value


def _texts(event: Seen, key: str) -> list[str]:
    value = event[key]
    assert isinstance(value, list)
    return [str(item) for item in value]
