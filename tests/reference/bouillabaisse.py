"""La bouillabaisse in plain Python: card strings in lists, every rule spelled out (BO-1 to BO-20).

A card is rank + suit, as in `QC`; twin cards of two decks are equal strings.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence

from tests.reference.chance import Chance, KeyedChance, Outcome, Script, ScriptedChance
from tests.reference.model import (
    SPECTATOR,
    EventLog,
    IllegalMove,
    checked_options,
    checked_seats,
    competition_ranking,
    placement_utility,
)

SUITS = ["C", "D", "H", "S"]
RANKS = ["2", "3", "4", "5", "6", "7", "8", "9", "T", "J", "Q", "K", "A"]
DRAWN_RANKS = ["T", "J", "Q", "K"]
DECK = [rank + suit for suit in SUITS for rank in RANKS]
SEATS = range(2, 13)
ROUNDS = 6

# BO-2: the 2s removed from the first and from the second deck. A removed copy of a card is taken
# from the first deck first.
REMOVED: dict[int, tuple[list[str], list[str]]] = {
    2: ([], []),
    3: (["2C"], []),
    4: ([], []),
    5: (["2C", "2D"], []),
    6: (["2C", "2D", "2H", "2S"], []),
    7: (["2C", "2D", "2S"], ["2C", "2D", "2S"]),
    8: ([], []),
    9: (["2C", "2D", "2H", "2S"], ["2C"]),
    10: (["2C", "2D", "2H", "2S"], []),
    11: (["2C", "2D", "2H", "2S"], ["2C"]),
    12: (["2C", "2D", "2H", "2S"], ["2C", "2D", "2H", "2S"]),
}

OPTIONS: dict[str, Sequence[object]] = {
    "first_lead": ["after_dealer", "dealer"],
    "twin_rule": ["first", "last"],
    "all_or_nothing": [False, True],
    "all_or_nothing_last": ["reverse", "none"],
}

Trick = list[tuple[int, str]]


def suit_of(card: str) -> str:
    return card[1]


def rank_of(card: str) -> str:
    return card[0]


def in_order(cards: Sequence[str]) -> list[str]:
    """Cards in the order of their action numbers: by suit C D H S, then by rank 2 to A."""
    return sorted(cards, key=DECK.index)


def deck_count(seats: int) -> int:
    """BO-1: one deck for 2-6 players, two for 7-12."""
    return 1 if seats <= 6 else 2


def cards_in_play(seats: int) -> list[str]:
    """BO-2: the first deck, then the second, without the removed 2s."""
    from_first, from_second = REMOVED[seats]
    cards = [card for card in DECK if card not in from_first]
    if deck_count(seats) == 2:
        cards += [card for card in DECK if card not in from_second]
    return cards


def deal_script(round_number: int, hands: Sequence[Sequence[str]]) -> Script:
    """The scripted `deal` that gives every seat the hand listed for it."""
    return {("deal", round_number, 0): [card for hand in hands for card in hand]}


class Bouillabaisse:
    """A match of La bouillabaisse; see `tests.reference.model.Model`."""

    options_help = OPTIONS

    def __init__(
        self,
        seats: int,
        options: Mapping[str, object],
        seed: bytes = bytes(32),
        chance: Chance | None = None,
    ) -> None:
        self.seats = checked_seats(seats, SEATS)
        self.options = checked_options(options, OPTIONS)
        self.chance: Chance = chance or KeyedChance(seed)
        self.log = EventLog()
        self.turn = 0
        self.over = False
        self.round = 0
        self.first_dealer = self.chance.pick("dealer", 0, seats)  # BO-3
        self.drawn_suit: str | None = None
        self.drawn_rank: str | None = None
        self.drawn_card: str | None = None
        self.round_points: list[list[int]] = []
        self._start_round()

    @classmethod
    def with_deal(
        cls, seats: int, options: Mapping[str, object], script: Script, seed: bytes = bytes(32)
    ) -> Bouillabaisse:
        """A match whose chance outcomes are those of the script, the rest from the seed."""
        return cls(seats, options, seed, ScriptedChance(script, seed))

    @property
    def outcomes(self) -> list[Outcome]:
        return self.chance.outcomes

    # The course of a round

    def _start_round(self) -> None:
        self.round += 1
        self.dealer = (self.first_dealer + self.round - 1) % self.seats  # BO-3
        if self.options["first_lead"] == "dealer":
            self.leader = self.dealer
        else:
            self.leader = (self.dealer + 1) % self.seats
        self.log.add(
            "round_started", {"round": self.round, "dealer": self.dealer, "leader": self.leader}
        )
        self._deal()
        self._draw()
        self.trick: Trick = []
        self.last_trick: Trick = []
        self.last_winner: int | None = None
        self.tricks_taken = [0] * self.seats
        self.points = [0] * self.seats
        self.taken: list[list[str]] = [[] for _ in range(self.seats)]
        self.played: list[str] = []
        self.voids: list[set[str]] = [set() for _ in range(self.seats)]

    def _deal(self) -> None:
        """BO-2: the whole deck, dealt out evenly."""
        order = self.chance.shuffle("deal", self.round, cards_in_play(self.seats))
        size = len(order) // self.seats
        self.hands = [order[size * seat : size * (seat + 1)] for seat in range(self.seats)]
        for seat in range(self.seats):
            self.log.add(
                "dealt",
                {"seat": seat, "count": size},
                {"cards": in_order(self.hands[seat])},
                self._who_knows_the_hand_of(seat),
            )

    def _draw(self) -> None:
        """BO-8: a suit, a rank and a card, at the start of rounds 2, 3 and 4."""
        if self.round == 2:
            self.drawn_suit = SUITS[self.chance.pick("suit", 2, 4)]
            self.log.add("suit_drawn", {"suit": self.drawn_suit})
        if self.round == 3:
            self.drawn_rank = DRAWN_RANKS[self.chance.pick("rank", 3, 4)]
            self.log.add("rank_drawn", {"rank": self.drawn_rank})
        if self.round == 4:
            number = self.chance.pick("card", 4, 16)
            self.drawn_card = DRAWN_RANKS[number // 4] + SUITS[number % 4]
            self.log.add("card_drawn", {"card": self.drawn_card})

    def to_act(self) -> set[int]:
        if self.over:
            return set()
        return {(self.leader + len(self.trick)) % self.seats}

    def led_suit(self) -> str | None:
        return suit_of(self.trick[0][1]) if self.trick else None

    def _must_follow(self, seat: int) -> bool:
        """BO-4: a suit is led and the seat holds it."""
        return any(suit_of(card) == self.led_suit() for card in self.hands[seat])

    def legal(self, seat: int) -> list[str]:
        if seat not in self.to_act():
            return []
        cards = self.hands[seat]
        if self._must_follow(seat):
            cards = [card for card in cards if suit_of(card) == self.led_suit()]
        return [f"play {card}" for card in in_order(list(set(cards)))]

    def play(self, seat: int, action: str) -> None:
        card = self._checked_card(seat, action)
        if self.trick and suit_of(card) != self.led_suit():
            self.voids[seat].add(str(self.led_suit()))  # BO-19
        self.hands[seat].remove(card)
        self.trick.append((seat, card))
        self.played.append(card)
        self.turn += 1
        self.log.add("played", {"seat": seat, "card": card})
        if len(self.trick) == self.seats:
            self._take_trick()
            if not self.hands[seat]:  # BO-7: all tricks are played
                self._book_round()

    def _checked_card(self, seat: int, action: str) -> str:
        if self.over:
            raise IllegalMove("G-2", "the match is over")
        if seat not in self.to_act():
            raise IllegalMove("G-2", f"seat {seat} is not to act, but {self.to_act()}")
        word, _, card = action.partition(" ")
        if word != "play" or card not in DECK:
            raise IllegalMove("G-2", f"{action!r} is no action of this game")
        if card not in self.hands[seat]:
            raise IllegalMove("G-2", f"seat {seat} doesn't hold {card}")
        if self._must_follow(seat) and suit_of(card) != self.led_suit():
            raise IllegalMove("BO-4", f"seat {seat} holds {self.led_suit()} and must follow")
        return card

    def _take_trick(self) -> None:
        winner, best = self.trick[0]
        for seat, card in self.trick[1:]:
            if self._takes_over(card, best):
                winner, best = seat, card
        points = self._trick_points()
        self.points[winner] += points
        self.tricks_taken[winner] += 1
        self.taken[winner] += [card for _, card in self.trick]
        self.last_trick, self.trick = self.trick, []
        self.last_winner = winner
        self.leader = winner  # BO-5
        self.log.add("trick_taken", {"seat": winner, "points": points})

    def _takes_over(self, card: str, best: str) -> bool:
        """BO-5: the highest of the led suit; BO-6: of twins the first, or the last."""
        if suit_of(card) != self.led_suit():
            return False
        if card == best:
            return self.options["twin_rule"] == "last"
        return RANKS.index(rank_of(card)) > RANKS.index(rank_of(best))

    # Points

    def _trick_points(self) -> int:
        """BO-9 to BO-14: what the trick on the table costs in this round."""
        cards = [card for _, card in self.trick]
        if self.round == 6:  # BO-14
            return -self._all_aims(cards)
        if self.round == 5:  # BO-13
            return self._all_aims(cards)
        return sum(self._card_points(card) for card in cards) + (5 if self.round == 1 else 0)

    def _all_aims(self, cards: list[str]) -> int:
        """BO-13: 5 for the trick; a card that is several of the drawn ones counts for each."""
        points = 5
        for card in cards:
            points += 10 if suit_of(card) == self.drawn_suit else 0
            points += 50 if rank_of(card) == self.drawn_rank else 0
            points += 200 if card == self.drawn_card else 0
        return points

    def _card_points(self, card: str) -> int:
        """BO-10 to BO-12: what one card costs in rounds 2, 3 and 4."""
        if self.round == 2 and suit_of(card) == self.drawn_suit:
            return 10
        if self.round == 3 and rank_of(card) == self.drawn_rank:
            return 50
        if self.round == 4 and card == self.drawn_card:
            return 200
        return 0

    def _took_everything(self, seat: int) -> bool:
        """BO-15: whether the seat took every point-bearing item of the round."""
        if self.round in (1, 5, 6):
            # The tricks are items, and with all tricks come all cards.
            return self.tricks_taken[seat] == sum(self.tricks_taken)
        dealt = [card for card in cards_in_play(self.seats) if self._card_points(card)]
        got = [card for card in self.taken[seat] if self._card_points(card)]
        return sorted(got) == sorted(dealt)

    def _turned_around(self, seat: int) -> bool:
        """BO-15 to BO-17: whether the seat's points change their sign at the end of the round."""
        if not self.options["all_or_nothing"]:
            return False
        if self.round == 4:  # BO-16
            return False
        if self.round == 6 and self.options["all_or_nothing_last"] == "none":  # BO-17
            return False
        return self._took_everything(seat)

    def _book_round(self) -> None:
        """BO-18: the points of the round go to the totals, and the next round is dealt."""
        booked = []
        for seat in range(self.seats):
            sign = -1 if self._turned_around(seat) else 1
            booked.append(sign * self.points[seat])
        self.round_points.append(booked)
        self.points = [0] * self.seats
        self.log.add(
            "round_scored",
            {"round": self.round, "points": list(booked), "totals": self.totals()},
        )
        if self.round < ROUNDS:
            self._start_round()
        else:
            self.over = True
            self.log.add("match_ended", {"placement": self.placement(), "totals": self.totals()})

    def totals(self) -> list[int]:
        return [sum(points[seat] for points in self.round_points) for seat in range(self.seats)]

    def running_points(self) -> list[int]:
        return list(self.points)

    def placement(self) -> list[int]:
        """BO-18: the lowest total wins, ties are shared."""
        return competition_ranking(self.totals(), high_wins=False)

    def utility(self) -> list[float]:
        if not self.over:
            raise ValueError("the match is not over")
        return placement_utility(self.placement())

    # What is seen

    def _who_knows_the_hand_of(self, seat: int) -> list[int]:
        """BO-19: its own seat; with two players the other seat as well."""
        return [0, 1] if self.seats == 2 else [seat]

    def view(self, viewer: int) -> dict[str, object]:
        if viewer != SPECTATOR and viewer not in range(self.seats):
            raise ValueError(f"{viewer} is no viewer")
        hands: list[list[str] | None] = []
        for seat in range(self.seats):
            known = viewer in self._who_knows_the_hand_of(seat)
            hands.append(in_order(self.hands[seat]) if known else None)
        return {
            "round": self.round,
            "phase": "over" if self.over else "play",
            "dealer": self.dealer,
            "leader": self.leader,
            "to_act": sorted(self.to_act()),
            "led_suit": self.led_suit(),
            "hands": hands,
            "hand_sizes": [len(hand) for hand in self.hands],
            "trick": [[seat, card] for seat, card in self.trick],
            "last_trick": [[seat, card] for seat, card in self.last_trick],
            "last_winner": self.last_winner,
            "tricks_taken": list(self.tricks_taken),
            "drawn_suit": self.drawn_suit,
            "drawn_rank": self.drawn_rank,
            "drawn_card": self.drawn_card,
            "voids": [[suit for suit in SUITS if suit in void] for void in self.voids],
            "played": in_order(self.played),
            "totals": self.totals(),
            "points": self.running_points(),
            "round_points": [list(points) for points in self.round_points],
            "removed": in_order(REMOVED[self.seats][0] + REMOVED[self.seats][1]),
        }

    def events(self, viewer: int) -> list[dict[str, object]]:
        return self.log.seen_by(viewer)

    def copy(self) -> Bouillabaisse:
        twin = copy.copy(self)
        twin.chance = self.chance.copy()
        twin.log = self.log.copy()
        twin.hands = [list(hand) for hand in self.hands]
        twin.trick = list(self.trick)
        twin.tricks_taken = list(self.tricks_taken)
        twin.points = list(self.points)
        twin.taken = [list(cards) for cards in self.taken]
        twin.played = list(self.played)
        twin.voids = [set(void) for void in self.voids]
        twin.round_points = list(self.round_points)
        return twin
