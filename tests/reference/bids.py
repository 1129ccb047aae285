"""Bids in plain Python, every rule spelled out (BI-1 to BI-23)."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tests.reference.bids_cards import (
    DECK,
    OPTIONS,
    Setting,
    can_be_stolen,
    colour_of,
    in_order,
    is_black,
    number_of,
)
from tests.reference.chance import Chance, KeyedChance, Outcome, Script, ScriptedChance
from tests.reference.model import (
    SPECTATOR,
    EventLog,
    IllegalMove,
    competition_ranking,
    placement_utility,
)

LUCKY_FACTOR = {3: 12, 4: 8, 5: 8, 6: 7}  # BI-20


class Bid(NamedTuple):
    """One card of a trick."""

    seat: int
    card: str


class Prize(NamedTuple):
    """What a won trick gives: the card taken, and all blacks that go to the winner."""

    taken: str
    blacks: list[str]


class Bids:
    """A match of Bids; see `tests.reference.model.Model`."""

    options_help = OPTIONS

    def __init__(
        self,
        seats: int,
        options: Mapping[str, object],
        seed: bytes = bytes(32),
        chance: Chance | None = None,
    ) -> None:
        self.setting = Setting(seats, options)
        self.seats = seats
        self.options = self.setting.options
        self.chance: Chance = chance or KeyedChance(seed)
        self.log = EventLog()
        self.turn = 0
        self.over = False
        self.round = 0
        self.first_leader = self.chance.pick("leader", 0, seats)  # BI-5
        self.lucky = [0] * seats
        self.minus_fives = [0] * seats
        self.bonus = [0] * seats
        self.round_points: list[list[int]] = []
        self._start_round()

    @classmethod
    def with_deal(
        cls, seats: int, options: Mapping[str, object], script: Script, seed: bytes = bytes(32)
    ) -> Bids:
        """A match whose chance outcomes are those of the script, the rest from the seed."""
        return cls(seats, options, seed, ScriptedChance(script, seed))

    @property
    def outcomes(self) -> list[Outcome]:
        return self.chance.outcomes

    # The course of a round

    def _start_round(self) -> None:
        self.round += 1
        self.leader = (self.first_leader + self.round - 1) % self.seats  # BI-5
        self._deal()
        self.centre: str | None = None
        self.bids: list[Bid] = []
        self.last_bids: list[Bid] = []
        self.last_centre: str | None = None
        self.last_winner: int | None = None
        self.buried: list[str] = []
        self.tricks_won = [0] * self.seats
        self.won: list[list[str]] = [[] for _ in range(self.seats)]
        self.points = [0] * self.seats
        self.allies: tuple[int, int] | None = None
        self.lowest = False
        self.lowest_from_next_trick = False
        self.thief: int | None = None
        self.played: list[str] = []
        self._turn_centre()

    def _deal(self) -> None:
        """BI-3: the left-over, the blacks that go into hands, the hands, the pile."""
        setting = self.setting
        coloured = self.chance.shuffle("left_over", self.round, setting.coloured)
        self.left_over = coloured[: setting.left_over]
        blacks = self.chance.shuffle("blacks", self.round, setting.may_be_dealt)
        dealt = blacks[: setting.row.blacks_dealt]
        kept = [card for card in setting.coloured if card not in self.left_over]
        cards = self.chance.shuffle("deal", self.round, kept + in_order(dealt) + setting.ally)
        size = setting.hand
        self.hands = [cards[size * seat : size * (seat + 1)] for seat in range(self.seats)]
        others = [card for card in setting.may_be_dealt if card not in dealt]
        self.pile = self.chance.shuffle("pile", self.round, others + setting.never_dealt)
        self.log.add(
            "round_started",
            {
                "round": self.round,
                "leader": self.leader,
                "left_over": len(self.left_over),
                "pile": len(self.pile),
            },
        )
        for seat in range(self.seats):
            hand = in_order(self.hands[seat])
            self.log.add("dealt", {"seat": seat, "count": size}, {"cards": hand}, [seat])

    def _draw_from_pile(self) -> str:
        """The top card, now public."""
        card = self.pile.pop(0)
        if card in self.buried:
            self.buried.remove(card)
        if card not in self.played:
            self.played.append(card)
        return card

    def _turn_centre(self) -> None:
        """BI-6 and BI-15: the next centre; Lowest is set aside, and in force at once."""
        card = self._draw_from_pile()
        if card == "Lowest":
            self.lowest = True
            self.log.add("lowest_set", {})
            card = self._draw_from_pile()
        self.centre = card
        self.log.add("centre_turned", {"card": card})

    # Actions

    def phase(self) -> str:
        if self.over:
            return "over"
        return "bid" if self.thief is None else "theft"

    def to_act(self) -> set[int]:
        if self.over:
            return set()
        if self.thief is not None:
            return {self.thief}
        return {(self.leader + len(self.bids)) % self.seats}

    def legal(self, seat: int) -> list[str]:
        if seat not in self.to_act():
            return []
        if self.thief is not None:
            return [f"steal {victim} {card}" for victim, card in self._loot()]
        return [f"bid {card}" for card in in_order(self.hands[seat])]  # BI-6: any card

    def play(self, seat: int, action: str) -> None:
        if self.over:
            raise IllegalMove("G-2", "the match is over")
        if seat not in self.to_act():
            raise IllegalMove("G-2", f"seat {seat} is not to act, but {self.to_act()}")
        if self.thief is not None:
            victim, card = self._checked_theft(action)
            self.turn += 1
            self._steal(victim, card)
        else:
            card = self._checked_bid(seat, action)
            self.turn += 1
            self._bid(seat, card)

    def _checked_bid(self, seat: int, action: str) -> str:
        word, _, card = action.partition(" ")
        if word != "bid" or card not in DECK:
            raise IllegalMove("G-2", f"{action!r} is no bid")
        if card not in self.hands[seat]:
            raise IllegalMove("G-2", f"seat {seat} doesn't hold {card}")
        return card

    def _checked_theft(self, action: str) -> tuple[int, str]:
        """G-2; BI-16 or, where its victims have nothing, BI-17."""
        words = action.split(" ")
        seats = [str(seat) for seat in range(self.seats)]
        if len(words) != 3 or words[0] != "steal" or words[1] not in seats:
            raise IllegalMove("G-2", f"{action!r} is no theft")
        victim, card = int(words[1]), words[2]
        if action != f"steal {victim} {card}" or card not in self.won[victim]:
            raise IllegalMove("G-2", f"seat {victim} has no {card}")
        if (victim, card) not in self._loot():
            worst = self._holders(self._worst_bidders())
            raise IllegalMove("BI-16" if worst else "BI-17", f"seat {victim} is no victim")
        return victim, card

    def _bid(self, seat: int, card: str) -> None:
        self.hands[seat].remove(card)
        self.bids.append(Bid(seat, card))
        self.played.append(card)
        self.log.add("bid_made", {"seat": seat, "card": card})
        if len(self.bids) < self.seats:
            return
        winner = self._winner(self.bids)
        if winner is None:
            self._burn()
        else:
            self._win(winner)

    # Who wins

    def _better(self, one: int, other: int) -> bool:
        """BI-7: high numbers win; BI-15: low ones once Lowest is in force."""
        return one < other if self.lowest else one > other

    def _deciding_bids(self, bids: Sequence[Bid]) -> list[Bid]:
        """The bids among which the number decides: those with one, of BI-9's colours."""
        numbered = [bid for bid in bids if number_of(bid.card) is not None]  # BI-10
        if not self.options["colours"] or not numbered:
            return numbered
        cards = [bid.card for bid in bids]
        assert self.centre is not None
        counts = {
            colour: [colour_of(card) for card in [*cards, self.centre]].count(colour)
            for colour in {colour_of(bid.card) for bid in numbered}  # candidates
        }
        most = max(counts.values())
        return [bid for bid in numbered if counts[colour_of(bid.card)] == most]

    def _best(self, bids: Sequence[Bid]) -> list[Bid]:
        """The bid with the best number of those that decide, or all that are tied for it."""
        best: list[Bid] = []
        for bid in self._deciding_bids(bids):
            if not best or self._better(_number(bid), _number(best[0])):
                best = [bid]
            elif _number(bid) == _number(best[0]):
                best.append(bid)
        return best

    def _winner(self, bids: Sequence[Bid]) -> int | None:
        """The seat that wins, or None: no number yet, or burnt (BI-8)."""
        best = self._best(bids)
        return best[0].seat if len(best) == 1 else None

    # What becomes of the trick

    def _burn(self) -> None:
        """BI-8: nobody wins; centre and bids leave play, the last of the tied leads."""
        next_leader = self._best(self.bids)[-1].seat
        self.log.add("trick_burnt", {"next": next_leader})
        self._close_trick(None, next_leader)

    def _win(self, winner: int) -> None:
        self.tricks_won[winner] += 1  # BI-21
        self.log.add("trick_won", {"seat": winner})
        prize = self._settle(winner)
        if "2X" in prize.blacks:  # BI-11
            self.points[winner] *= 2
            self.log.add("points_doubled", {"seat": winner, "points": self.points[winner]})
        points = sum(number_of(card) or 0 for card in prize.blacks)  # BI-12
        self.points[winner] += points
        self.log.add(
            "blacks_won", {"seat": winner, "cards": in_order(prize.blacks), "points": points}
        )
        # BI-14, BI-18: Surprise, Thief and 2X are spent.
        new = [card for card in prize.blacks if can_be_stolen(card)]
        self.minus_fives[winner] += new.count("-5")
        stealing = prize.taken == "Thief" and bool(self._loot_of(winner))
        self.won[winner] += new
        if stealing:
            self.thief = winner
        else:
            self._close_won_trick(winner)

    def _settle(self, winner: int) -> Prize:
        """BI-7 and BI-14: the card in the middle, or under Surprise the next of the pile."""
        bid = [card for _, card in self.bids if is_black(card)]
        centre = self.centre
        assert centre is not None
        if centre == "Surprise":
            taken = self._take_next(winner)
            return Prize(taken, [centre, taken, *bid])
        if "Surprise" in bid:
            taken = self._take_next(winner)
            self.pile.append(centre)
            self.buried.append(centre)
            self.log.add("centre_buried", {"card": centre})
            return Prize(taken, [taken, *bid])
        return Prize(centre, [centre, *bid])

    def _take_next(self, winner: int) -> str:
        """BI-14: the next card of the pile; a Lowest is set aside for the tricks to come."""
        card = self._draw_from_pile()
        if card == "Lowest":
            self.lowest_from_next_trick = True
            self.log.add("lowest_set", {})
            card = self._draw_from_pile()
        self.log.add("card_taken", {"seat": winner, "card": card})
        return card

    def _close_won_trick(self, winner: int) -> None:
        ally = [seat for seat, card in self.bids if card == "Ally"]
        if ally:  # BI-19
            self.allies = (ally[0], winner)
            self.log.add("allied", {"ally": ally[0], "winner": winner})
        self._close_trick(winner, winner)

    def _close_trick(self, winner: int | None, next_leader: int) -> None:
        self.last_bids, self.bids = self.bids, []
        self.last_centre, self.centre = self.centre, None
        self.last_winner = winner
        self.leader = next_leader
        if self.lowest_from_next_trick:
            self.lowest, self.lowest_from_next_trick = True, False
        if any(self.hands):
            self._turn_centre()
        else:
            self._book_round()

    # The theft

    def _worst_bidders(self) -> list[int]:
        """BI-16: the seats with the worst number of the trick."""
        return self._groups_from_worst()[0]

    def _groups_from_worst(self) -> list[list[int]]:
        """The seats that bid a number, those with the same together, the worst first."""
        numbers = {_number(bid) for bid in self.bids if number_of(bid.card) is not None}
        return [
            [bid.seat for bid in self.bids if number_of(bid.card) == number]
            for number in sorted(numbers, reverse=self.lowest)
        ]

    def _holders(self, seats: Sequence[int], thief: int | None = None) -> list[int]:
        """Those of the seats, the thief left out, that have a card to steal."""
        out = self.thief if thief is None else thief
        return [seat for seat in seats if seat != out and self.won[seat]]

    def _victims(self, thief: int) -> list[int]:
        """BI-16; BI-17 if no seat with the worst bid has a card."""
        groups = self._groups_from_worst()
        worst = self._holders(groups[0], thief)
        if worst:
            return worst
        if self.options["thief_fallback"] == "best_bid":
            groups.reverse()
        for group in groups:
            holders = self._holders(group, thief)
            if holders:
                return holders
        return []

    def _loot_of(self, thief: int) -> list[tuple[int, str]]:
        """What may be stolen, by seat and card in number order."""
        victims = sorted(self._victims(thief))
        # -5 comes after the numbers in number order as well.
        return [(victim, card) for victim in victims for card in in_order(self.won[victim])]

    def _loot(self) -> list[tuple[int, str]]:
        return [] if self.thief is None else self._loot_of(self.thief)

    def _steal(self, victim: int, card: str) -> None:
        """BI-16 and BI-18: the card, exactly its number, and a -5 its count."""
        thief = self.thief
        assert thief is not None
        self.won[victim].remove(card)
        self.won[thief].append(card)
        points = number_of(card)
        assert points is not None
        self.points[victim] -= points
        self.points[thief] += points
        if card == "-5":
            self.minus_fives[victim] -= 1
            self.minus_fives[thief] += 1
        self.thief = None
        self.log.add("stolen", {"thief": thief, "victim": victim, "card": card})
        self._close_won_trick(thief)

    # The end of a round and of the match

    def _book_round(self) -> None:
        points = list(self.points)
        if self.allies is not None:  # BI-19
            half = sum(self.points[seat] for seat in self.allies) // 2
            for seat in self.allies:
                points[seat] = half
        luck = [0] * self.seats
        for seat in range(self.seats):
            if self.tricks_won[seat] == 0:  # BI-20
                self.lucky[seat] += 1
                luck[seat] = LUCKY_FACTOR[self.seats] * self.lucky[seat]
                points[seat] += luck[seat]
        self.round_points.append(points)
        self.points = [0] * self.seats
        self.log.add(
            "round_scored",
            {
                "round": self.round,
                "points": list(points),
                "lucky": luck,
                "totals": self.totals(),
            },
        )
        if self.round < self.setting.rounds:
            self._start_round()
        else:
            self._end_match()

    def _end_match(self) -> None:
        for seat in range(self.seats):
            if self.minus_fives[seat] >= 3:  # BI-13
                self.bonus[seat] = 30
                self.log.add("bonus_scored", {"seat": seat, "points": 30})
        self.over = True
        self.log.add("match_ended", {"placement": self.placement(), "totals": self.totals()})

    def totals(self) -> list[int]:
        return [
            sum(points[seat] for points in self.round_points) + self.bonus[seat]
            for seat in range(self.seats)
        ]

    def running_points(self) -> list[int]:
        return list(self.points)

    def placement(self) -> list[int]:
        """BI-22: the highest total wins, ties are shared."""
        return competition_ranking(self.totals(), high_wins=True)

    def utility(self) -> list[float]:
        if not self.over:
            raise ValueError("the match is not over")
        return placement_utility(self.placement())

    # What is seen

    def view(self, viewer: int) -> dict[str, object]:
        """BI-23."""
        if viewer != SPECTATOR and viewer not in range(self.seats):
            raise ValueError(f"{viewer} is no viewer")
        hands: list[list[str] | None] = [None] * self.seats
        if viewer != SPECTATOR:
            hands[viewer] = in_order(self.hands[viewer])
        highlighted = self.options["highlight_winning"] and self.bids  # BI-4
        return {
            "round": self.round,
            "phase": self.phase(),
            "leader": self.leader,
            "to_act": sorted(self.to_act()),
            "centre": self.centre,
            "hands": hands,
            "hand_sizes": [len(hand) for hand in self.hands],
            "bids": [list(bid) for bid in self.bids],
            "last_bids": [list(bid) for bid in self.last_bids],
            "last_centre": self.last_centre,
            "last_winner": self.last_winner,
            "pile_size": len(self.pile),
            "pile_known": list(self.buried),
            "left_over": len(self.left_over),
            "tricks_won": list(self.tricks_won),
            "won": [in_order(cards) for cards in self.won],
            "minus_fives": list(self.minus_fives),
            "lucky": list(self.lucky),
            "allies": None if self.allies is None else list(self.allies),
            "lowest": self.lowest,
            "winning": self._winner(self.bids) if highlighted else None,
            "theft": [[seat, card] for seat, card in self._loot()],
            "played": in_order(self.played),
            "totals": self.totals(),
            "points": self.running_points(),
            "round_points": [list(points) for points in self.round_points],
        }

    def events(self, viewer: int) -> list[dict[str, object]]:
        return self.log.seen_by(viewer)

    def copy(self) -> Bids:
        twin = copy.copy(self)
        twin.chance = self.chance.copy()
        twin.log = self.log.copy()
        twin.hands = [list(hand) for hand in self.hands]
        twin.pile = list(self.pile)
        twin.left_over = list(self.left_over)
        twin.bids = list(self.bids)
        twin.buried = list(self.buried)
        twin.tricks_won = list(self.tricks_won)
        twin.won = [list(cards) for cards in self.won]
        twin.points = list(self.points)
        twin.played = list(self.played)
        twin.lucky = list(self.lucky)
        twin.minus_fives = list(self.minus_fives)
        twin.bonus = list(self.bonus)
        twin.round_points = list(self.round_points)
        return twin


def _number(bid: Bid) -> int:
    """The number of a bid that has one."""
    number = number_of(bid.card)
    assert number is not None
    return number
