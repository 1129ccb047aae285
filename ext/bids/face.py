"""Names, notation, views and events of Bids."""

from __future__ import annotations

from collections.abc import Mapping

from tavolata.ext.bids import notation
from tavolata.ext.bids.deck import (
    ALLY,
    CARD_COUNT,
    FIRST_BLACK,
    MINUS_FIVE,
    card_name,
    card_number,
    number_on,
    table_for,
)
from tavolata.ext.bids.notation import NONE, PHASES, THEFT, finished_rounds, seats_of
from tavolata.ext.bids.views import (
    Allied,
    BidMade,
    BlacksWon,
    BonusScored,
    CardTaken,
    CentreBuried,
    CentreTurned,
    Dealt,
    Event,
    LowestSet,
    PointsDoubled,
    RoundScored,
    RoundStarted,
    Stolen,
    TrickBurnt,
    TrickWon,
    View,
)
from tavolata.ext.core.errors import Refusal
from tavolata.ext.core.face import State
from tavolata.ext.core.spec import OptionValue

STEALS = 16  # numbers for each seat to steal from, after the cards to bid
MINUS_FIVE_STEAL = 14  # the place of -5 among them
SEATS_MAX = 6


class BidsFace:
    """The face of one table of ``seat_count`` seats with all its options."""

    def __init__(self, seat_count: int, options: Mapping[str, OptionValue]) -> None:
        self.seat_count = seat_count
        self.table = table_for(seat_count, options)
        self._highlights = bool(options["highlight_winning"])

    def action_name(self, action: int) -> str:
        if 0 <= action < CARD_COUNT:
            return f"bid {card_name(action)}"
        theft = theft_of(action)
        if theft is None:
            raise ValueError(f"no action has the number {action}")
        seat, card = theft
        return f"steal {seat} {card_name(card)}"

    def action_number(self, name: str) -> int:
        match name.split(" "):
            case ["bid", card]:
                return card_number(card)
            case ["steal", seat, card] if seat in map(str, range(SEATS_MAX)):
                return theft_number(int(seat), card_number(card))
        raise ValueError(f"{name!r} is no action; actions are like 'bid R7' and 'steal 2 K5'")

    def chance_item(self, purpose: int, item: int) -> str:
        return card_name(item)

    def why_illegal(self, state: State, seat: int, action: int) -> Refusal:
        """BI-16, BI-17: another seat is to be robbed; G-2: not now, not held, or nothing."""
        theft = theft_of(action)
        if theft is None and not 0 <= action < CARD_COUNT:
            return Refusal("G-2", f"action {action} is no card and no theft")
        if state["phase"] != THEFT:
            if theft is not None:
                return Refusal("G-2", f"seat {seat} has to bid a card; there is no theft now")
            return Refusal("G-2", f"seat {seat} does not hold {card_name(action)}")
        if theft is None:
            return Refusal("G-2", f"seat {seat} has to steal a card before the next bid")
        return self._why_no_theft(state, *theft)

    def _why_no_theft(self, state: State, victim: int, card: int) -> Refusal:
        name = card_name(card)
        if victim >= self.seat_count or name not in cards_of(0, state["won"][victim]):
            return Refusal("G-2", f"seat {victim} has no {name} to steal")
        robbed = " or ".join(f"seat {seat}" for seat in seats_of(state["victims"]))
        return Refusal(self._rule_of_victims(state), f"the theft is from {robbed}")

    def _rule_of_victims(self, state: State) -> str:
        """BI-16 where the worst bid is robbed, BI-17 where somebody else is."""
        numbers = [number_on(card) for card in state["bids"][: state["bid_count"]]]
        known = [number for number in numbers if number is not None]
        worst = max(known) if state["lowest"] else min(known)
        robbed = seats_of(state["victims"])[0]
        is_worst = numbers[(robbed - state["leader"]) % self.seat_count] == worst
        return "BI-16" if is_worst else "BI-17"

    def view(self, state: State, viewer: int) -> View:
        seats = range(self.seat_count)
        last = [] if state["last_leader"] == NONE else state["last_bids"][: self.seat_count]
        winning = state["winning"] if self._highlights else NONE
        size, known = state["pile_size"], state["pile_known"]
        allies = None if state["ally"] == NONE else (state["ally"], state["ally_winner"])
        return View(
            round=state["round"],
            phase=PHASES[state["phase"]],
            leader=state["leader"],
            to_act=(state["seat"],) if state["phase"] <= THEFT else (),
            centre=_card_or_none(state["centre"]),
            hands=tuple(
                cards_of(state["hand"][seat], state["black"][seat]) if seat == viewer else None
                for seat in seats
            ),
            hand_sizes=tuple(self.hand_size(state, seat) for seat in seats),
            bids=self._in_order(state["leader"], state["bids"][: state["bid_count"]]),
            last_bids=self._in_order(state["last_leader"], last),
            last_centre=_card_or_none(state["last_centre"]),
            last_winner=_seat_or_none(state["last_winner"]),
            pile_size=size,
            pile_known=tuple(map(card_name, state["pile"][size - known : size])),
            left_over=self.table.left_over,
            tricks_won=self._numbers(state["tricks_won"]),
            won=tuple(cards_of(0, state["won"][seat]) for seat in seats),
            minus_fives=self._numbers(state["minus_fives"]),
            lucky=self._numbers(state["lucky"]),
            allies=allies,
            lowest=bool(state["lowest"]),
            winning=_seat_or_none(winning),
            theft=tuple(
                (seat, card)
                for seat in seats_of(state["victims"])
                for card in cards_of(0, state["won"][seat])
            ),
            played=cards_of(state["played"], state["played_black"]),
            totals=self._numbers(state["totals"]),
            points=self._numbers(state["points"]),
            round_points=tuple(
                self._numbers(row) for row in state["round_points"][: finished_rounds(state)]
            ),
        )

    def hand_size(self, state: State, seat: int) -> int:
        """How many cards a seat holds, from public facts."""
        bid_now: bool = (seat - state["leader"]) % self.seat_count < state["bid_count"]
        played: int = state["tricks_played"]
        return self.table.hand_size - played - int(bid_now)

    def _numbers(self, values: list[int]) -> tuple[int, ...]:
        return tuple(values[: self.seat_count])

    def _in_order(self, leader: int, cards: list[int]) -> tuple[tuple[int, str], ...]:
        return tuple(
            ((leader + place) % self.seat_count, card_name(card))
            for place, card in enumerate(cards)
        )

    def event(self, kind: int, public: tuple[int, ...], secret: tuple[int, ...] | None) -> Event:
        if kind in _ROUND_EVENTS:
            return self._event_of_a_round(kind, public, secret)
        match kind, public:
            case 3, (card,):
                return CentreTurned(card_name(card))
            case 4, ():
                return LowestSet()
            case 5, (seat, card):
                return BidMade(seat, card_name(card))
            case 6, (seat,):
                return TrickWon(seat)
            case 7, (seat,):
                return TrickBurnt(seat)
            case 8, (seat, card):
                return CardTaken(seat, card_name(card))
            case 9, (card,):
                return CentreBuried(card_name(card))
            case 10, (seat, points):
                return PointsDoubled(seat, points)
            case 11, (seat, *cards, points):
                return BlacksWon(seat, tuple(map(card_name, cards)), points)
            case 12, (thief, victim, card):
                return Stolen(thief, victim, card_name(card))
            case 13, (ally, winner):
                return Allied(ally, winner)
        raise ValueError(f"no event of kind {kind} with {len(public)} public numbers")

    def _event_of_a_round(
        self, kind: int, public: tuple[int, ...], secret: tuple[int, ...] | None
    ) -> Event:
        n = self.seat_count
        match kind, public:
            case 1, (number, leader, left_over, pile):
                return RoundStarted(number, leader, left_over, pile)
            case 2, (seat, count):
                return Dealt(seat, count, None if secret is None else tuple(map(card_name, secret)))
            case 14, (number, *scores):
                points, lucky, totals = scores[:n], scores[n : 2 * n], scores[2 * n :]
                return RoundScored(number, tuple(points), tuple(lucky), tuple(totals))
            case 15, (seat, bonus):
                return BonusScored(seat, bonus)
        raise ValueError(f"no event of kind {kind} with {len(public)} public numbers")

    def format_state(self, state: State) -> str:
        return notation.format_state(state, self.seat_count)

    def parse_state(self, text: str) -> State:
        return notation.parse_state(text, self.seat_count)


_ROUND_EVENTS = (1, 2, 14, 15)


def theft_of(action: int) -> tuple[int, int] | None:
    """Seat and card of a theft's action number; None if it is the number of none."""
    seat, place = divmod(action - CARD_COUNT, STEALS)
    if not 0 <= seat < SEATS_MAX or place > MINUS_FIVE_STEAL:
        return None
    return seat, MINUS_FIVE if place == MINUS_FIVE_STEAL else FIRST_BLACK + place


def theft_number(seat: int, card: int) -> int:
    """The action number of stealing a card from a seat; ValueError for cards nobody can steal."""
    if card == MINUS_FIVE:
        return CARD_COUNT + STEALS * seat + MINUS_FIVE_STEAL
    if not 0 <= card - FIRST_BLACK < MINUS_FIVE_STEAL:
        raise ValueError(f"{card_name(card)} can't be stolen; black numbers and -5 can")
    return CARD_COUNT + STEALS * seat + card - FIRST_BLACK


def cards_of(coloured: int, black: int) -> tuple[str, ...]:
    """The cards of the two words of a set, in number order."""
    bits = coloured | black << FIRST_BLACK
    return tuple(card_name(card) for card in range(ALLY + 1) if bits >> card & 1)


def _card_or_none(card: int) -> str | None:
    return None if card == NONE else card_name(card)


def _seat_or_none(seat: int) -> int | None:
    return None if seat == NONE else seat
