"""Names, notation, views and events of La bouillabaisse."""

from __future__ import annotations

from tavolata.ext.bouillabaisse import notation
from tavolata.ext.bouillabaisse.deck import (
    RANKS,
    SUIT_NAMES,
    SUITS,
    card_name,
    card_number,
    deck_for,
)
from tavolata.ext.bouillabaisse.views import (
    CardDrawn,
    Dealt,
    Event,
    Played,
    RankDrawn,
    RoundScored,
    RoundStarted,
    SuitDrawn,
    TrickTaken,
    View,
)
from tavolata.ext.core.errors import Refusal
from tavolata.ext.core.face import State

NONE = 255
PHASES = ("play", "booked", "over")


def cards_of(first: int, twins: int = 0) -> tuple[str, ...]:
    """The cards of two bit sets in card order; a twin stands beside its like."""
    return tuple(
        card_name(card)
        for card in range(64)
        for _ in range((first >> card & 1) + (twins >> card & 1))
    )


class BouillabaisseFace:
    """The face of one table of ``seat_count`` seats."""

    def __init__(self, seat_count: int) -> None:
        self.seat_count = seat_count
        self.deck = deck_for(seat_count)

    def action_name(self, action: int) -> str:
        return f"play {card_name(action)}"

    def action_number(self, name: str) -> int:
        verb, _, card = name.partition(" ")
        if verb != "play":
            raise ValueError(f"{name!r} is no action; an action is 'play' and a card: 'play QC'")
        return card_number(card)

    def chance_item(self, purpose: int, item: int) -> str:
        return card_name(item)

    def why_illegal(self, state: State, seat: int, action: int) -> Refusal:
        """BO-4: a led suit that must be followed; G-2: no card, or not one of the seat's."""
        if not 0 <= action < 64 or action % 16 >= len(RANKS):
            return Refusal("G-2", f"action {action} is no card")
        if not state["hand"][seat] >> action & 1:
            return Refusal("G-2", f"seat {seat} does not hold {card_name(action)}")
        suit = SUIT_NAMES[state["trick"][0] // 16]
        return Refusal("BO-4", f"seat {seat} holds {suit} and must follow the led suit")

    def view(self, state: State, viewer: int) -> View:
        seats = range(self.seat_count)
        open_hands = self.seat_count == 2 and viewer >= 0
        over = state["phase"] != 0
        trick = self._in_order(state["leader"], state["trick"][: state["trick_count"]])
        last = () if state["last_leader"] == NONE else state["last_trick"][: self.seat_count]
        return View(
            round=state["round"],
            phase=PHASES[state["phase"]],
            dealer=state["dealer"],
            leader=state["leader"],
            to_act=() if over else (state["seat"],),
            led_suit=SUITS[state["trick"][0] // 16] if state["trick_count"] else None,
            hands=tuple(
                cards_of(state["hand"][seat], state["twin"][seat])
                if open_hands or seat == viewer
                else None
                for seat in seats
            ),
            hand_sizes=tuple(self.hand_size(state, seat) for seat in seats),
            trick=trick,
            last_trick=self._in_order(state["last_leader"], last),
            last_winner=None if state["last_winner"] == NONE else state["last_winner"],
            tricks_taken=tuple(state["tricks_taken"][: self.seat_count]),
            drawn_suit=None if state["drawn_suit"] == NONE else SUITS[state["drawn_suit"]],
            drawn_rank=None if state["drawn_rank"] == NONE else RANKS[state["drawn_rank"]],
            drawn_card=None if state["drawn_card"] == NONE else card_name(state["drawn_card"]),
            voids=tuple(
                tuple(suit for bit, suit in enumerate(SUITS) if state["voids"][seat] >> bit & 1)
                for seat in seats
            ),
            played=cards_of(state["played"], state["played_twin"]),
            totals=tuple(state["totals"][: self.seat_count]),
            points=tuple(state["points"][: self.seat_count]),
            round_points=tuple(
                tuple(row[: self.seat_count])
                for row in state["round_points"][: state["round"] - (0 if over else 1)]
            ),
            removed=tuple(card_name(card) for card in sorted(self.deck.removed)),
        )

    def hand_size(self, state: State, seat: int) -> int:
        """How many cards a seat holds, from public facts."""
        played_now = bool((seat - state["leader"]) % self.seat_count < state["trick_count"])
        return self.deck.hand_size - int(state["tricks_played"]) - played_now

    def _in_order(self, leader: int, cards: list[int] | tuple[()]) -> tuple[tuple[int, str], ...]:
        return tuple(
            ((leader + place) % self.seat_count, card_name(card))
            for place, card in enumerate(cards)
        )

    def event(self, kind: int, public: tuple[int, ...], secret: tuple[int, ...] | None) -> Event:
        match kind, public:
            case 1, (number, dealer, leader):
                return RoundStarted(number, dealer, leader)
            case 2, (seat, count):
                return Dealt(seat, count, None if secret is None else tuple(map(card_name, secret)))
            case 3, (suit,):
                return SuitDrawn(SUITS[suit])
            case 4, (rank,):
                return RankDrawn(RANKS[rank])
            case 5, (card,):
                return CardDrawn(card_name(card))
            case 6, (seat, card):
                return Played(seat, card_name(card))
            case 7, (seat, points):
                return TrickTaken(seat, points)
            case 8, (number, *scores):
                n = self.seat_count
                return RoundScored(number, tuple(scores[:n]), tuple(scores[n:]))
        raise ValueError(f"no event of kind {kind} with {len(public)} public numbers")

    def format_state(self, state: State) -> str:
        return notation.format_state(state, self.seat_count)

    def parse_state(self, text: str) -> State:
        return notation.parse_state(text, self.seat_count)
