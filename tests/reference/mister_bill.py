"""Mister Bill in plain Python: hands as lists of kind names, all rules spelled out (MB-1 to MB-25).

What seats know of each other's hands (MB-26, MB-27) is in `mister_bill_facts`. Readings:

- Things that happen to several seats at once are told in turn order from the active seat, after the
  deal from the holder of number 1; a seat's pairs in kind order. A seat goes out, then its team is
  complete, then the next seat.
- The count of MB-23 goes to 0 when a card leaves play, and up by one when a turn ends without.
- A round that stalls leaves teams that are not complete; they get no `team_completed`. The team
  that is left under MB-22 gets one, of value 0.
- The index of `blind` counts turns as `draw` does: turns begun before in the round.
- A waiter not held is refused under G-2, a wrong target or a missing one under MB-18.
"""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.reference.chance import Chance, KeyedChance, Outcome, Script, ScriptedChance
from tests.reference.mister_bill_facts import Facts, Gift
from tests.reference.model import (
    SPECTATOR,
    EventLog,
    IllegalMove,
    checked_options,
    checked_seats,
    competition_ranking,
    placement_utility,
)

CARDS = json.loads(
    (Path(__file__).parents[2] / "seeds" / "mister_bill" / "cards.json").read_text("utf-8")
)
KINDS: list[str] = [kind["id"] for kind in CARDS["kinds"]]
COUNTS: dict[str, int] = {kind["id"]: kind["count"] for kind in CARDS["kinds"]}
COLOURS: dict[int, int] = {card["number"]: card["colour"] for card in CARDS["team_cards"]}
PILES: dict[int, list[int]] = {int(key): pile for key, pile in CARDS["score_piles"].items()}

A, B, C, D, E = WAITERS = [f"waiter_{letter}" for letter in "abcde"]
BILL = "mister_bill"
SHIFT = "shift_change"

SEATS = range(3, 9)
ROUNDS = 3
SEAT_NUMBERS_MAX = 8

OPTIONS: dict[str, Sequence[object]] = {
    "bonus_waiter": [0, 2, 4],
    "teams": ["standard", "solo"],
    "swap_one": ["chosen", "blind"],
    "last_card_b": ["fizzle", "swap"],
}

ACTIONS = {
    "decline",
    *(f"play {letter} {seat}" for letter in "abc" for seat in range(SEAT_NUMBERS_MAX)),
    "play a",
    "play b",
    "play d",
    "play e",
    *(f"give {kind}" for kind in KINDS),
}


def in_order(cards: Sequence[str]) -> list[str]:
    """Cards in the order of their kinds."""
    return sorted(cards, key=KINDS.index)


def deck_of(counts: Mapping[str, int]) -> list[str]:
    """The cards of a deck with that many of each kind, in the order they are shuffled from."""
    return [kind for kind in KINDS for _ in range(counts.get(kind, 0))]


def deal_script(round_number: int, dealer: int, hands: Sequence[Sequence[str]]) -> Script:
    """The scripted `deal` that gives every seat the hand listed for it (MB-6).

    ValueError if the hands' sizes are not those of a deal by that dealer.
    """
    order: list[str] = []
    count = sum(len(hand) for hand in hands)
    left = [list(hand) for hand in hands]
    for number in range(count):
        hand = left[(dealer + 1 + number) % len(hands)]
        if not hand:
            raise ValueError(f"{[len(hand) for hand in hands]} cards are not dealt by {dealer}")
        order.append(hand.pop(0))
    return {("deal", round_number, 0): order}


class MisterBill:
    """A match of Mister Bill; see `tests.reference.model.Model`.

    `deck` replaces the numbers of cards of MB-1 by others, so that everything can be enumerated.
    """

    options_help = OPTIONS

    def __init__(
        self,
        seats: int,
        options: Mapping[str, object],
        seed: bytes = bytes(32),
        chance: Chance | None = None,
        deck: Mapping[str, int] | None = None,
    ) -> None:
        self.seats = checked_seats(seats, SEATS)
        self.options = checked_options(options, OPTIONS)
        self.chance: Chance = chance or KeyedChance(seed)
        self.deck = dict(deck if deck is not None else self._whole_deck())
        self.log = EventLog()
        self.turn = 0
        self.over = False
        self.round = 0
        self.first_dealer = self.chance.pick("dealer", 0, seats)  # MB-6
        self.round_points: list[list[int]] = []
        self.actions: list[list[tuple[int, str]]] = []
        self._start_round()

    @classmethod
    def with_deal(
        cls,
        seats: int,
        options: Mapping[str, object],
        script: Script,
        seed: bytes = bytes(32),
        deck: Mapping[str, int] | None = None,
    ) -> MisterBill:
        """A match whose chance outcomes are those of the script, the rest from the seed."""
        return cls(seats, options, seed, ScriptedChance(script, seed), deck)

    @property
    def outcomes(self) -> list[Outcome]:
        return self.chance.outcomes

    def _whole_deck(self) -> dict[str, int]:
        """MB-1: 47 cards and the shift changes of the option."""
        bonus = self.options["bonus_waiter"]
        assert isinstance(bonus, int)
        return {**COUNTS, SHIFT: bonus}

    # Setting up a round

    def _start_round(self) -> None:
        self.round += 1
        self.actions.append([])
        self.dealer = (self.first_dealer + self.round - 1) % self.seats  # MB-6
        self.numbers = self._dealt_numbers()
        self.teams = self._teams()
        self.out: list[int] = []
        self.completed: list[list[int]] = []
        self.points = [0] * self.seats
        self.stall = 0
        self.card_left_play = False
        self.turns_begun = 0
        self.pending_waiter: str | None = None
        self.target: int | None = None
        self.givers: list[int] = []
        self.chosen: dict[int, str] = {}
        self.pending_shift_changes = 0
        self.received: Counter[int] = Counter()
        self.facts = Facts(self.seats, KINDS)
        self.log.add(
            "round_started",
            {"round": self.round, "dealer": self.dealer, "numbers": list(self.numbers)},
        )
        self._deal()
        self.active = self.numbers.index(1)  # MB-5
        self._lay_down_first_pairs()
        self._settle()
        if self._round_is_over():
            self._book_round(stalled=False)
        else:
            self._begin_turn(self.active if self._is_in(self.active) else self._next(self.active))

    def _dealt_numbers(self) -> list[int]:
        """MB-4, MB-5: the team cards 1..n, one a seat."""
        numbers = [str(number) for number in range(1, self.seats + 1)]
        return [int(number) for number in self.chance.shuffle("teams", self.round, numbers)]

    def _everyone_alone(self) -> bool:
        return self.round == ROUNDS or self.options["teams"] == "solo"

    def _teams(self) -> list[list[int]]:
        """MB-4: teams in the order of their colours; seats alone in seat order."""
        if self._everyone_alone():
            return [[seat] for seat in range(self.seats)]
        by_colour: dict[int, list[int]] = {}
        for seat, number in enumerate(self.numbers):
            by_colour.setdefault(COLOURS[number], []).append(seat)
        return [by_colour[colour] for colour in sorted(by_colour)]

    def _team_values(self) -> list[int]:
        """What the teams take, the first to complete first (MB-3, MB-20, MB-21, MB-4)."""
        pile = PILES[self.round]
        if self._everyone_alone():
            return list(pile)
        # Two cards of a value for each team, one of which is set aside for a team of one.
        return pile[::2]

    def _deal(self) -> None:
        """MB-6: one by one, starting at the dealer's left."""
        order = self.chance.shuffle("deal", self.round, deck_of(self.deck))
        self.hands: list[list[str]] = [[] for _ in range(self.seats)]
        for number, card in enumerate(order):
            self.hands[(self.dealer + 1 + number) % self.seats].append(card)
        for seat in range(self.seats):
            self.hands[seat] = in_order(self.hands[seat])
            self.log.add(
                "dealt",
                {"seat": seat, "count": len(self.hands[seat])},
                {"kinds": list(self.hands[seat])},
                [seat],
            )

    def _lay_down_first_pairs(self) -> None:
        """MB-7: pairs without effect, which tell nothing that is recorded."""
        for seat in self._in_turn_order():
            for kind in self._pairs_of(seat):
                self._lay_pair(seat, kind)

    # Seats

    def _is_in(self, seat: int) -> bool:
        return seat not in self.out

    def _in_turn_order(self) -> list[int]:
        """The seats still in, from the active seat clockwise."""
        seats = [(self.active + step) % self.seats for step in range(self.seats)]
        return [seat for seat in seats if self._is_in(seat)]

    def _next(self, seat: int) -> int:
        """The nearest seat still in on the left."""
        for step in range(1, self.seats):
            if self._is_in((seat + step) % self.seats):
                return (seat + step) % self.seats
        raise AssertionError("no other seat is in")

    def _previous(self, seat: int) -> int:
        """The nearest seat still in on the right."""
        for step in range(1, self.seats):
            if self._is_in((seat - step) % self.seats):
                return (seat - step) % self.seats
        raise AssertionError("no other seat is in")

    # Settlement

    def _pairs_of(self, seat: int) -> list[str]:
        """A kind for every pair in the hand; of three one stays, four are two pairs."""
        pairs = []
        for kind in KINDS:
            pairs += [kind] * (self.hands[seat].count(kind) // 2)
        return pairs

    def _lay_pair(self, seat: int, kind: str) -> None:
        self.hands[seat].remove(kind)
        self.hands[seat].remove(kind)
        self._leaves_play()
        self.log.add("pair_laid", {"seat": seat, "kind": kind})

    def _leaves_play(self) -> None:
        """MB-23: a card has left play."""
        self.card_left_play = True
        self.stall = 0

    def _settle(self) -> None:
        """MB-17: (a) to (d) until nothing moves. Whether the round is over is asked afterwards."""
        while True:
            self._lay_down_pairs()  # (a)
            self._go_out()  # (b)
            if self._round_is_over():  # (c)
                self.pending_shift_changes = 0
                break
            if not self.pending_shift_changes:
                break
            self.pending_shift_changes -= 1
            self._change_shifts()  # (d)
        self._complete_facts()

    def _lay_down_pairs(self) -> None:
        """MB-9, MB-11: every seat lays down its pairs, which are laid down in play."""
        for seat in self._in_turn_order():
            for kind in self._pairs_of(seat):
                self._lay_pair(seat, kind)
                self.facts.pair_laid(seat, kind, none_left=self.received[seat] <= 1)
                if kind == SHIFT:
                    self.pending_shift_changes += 1
        self.received.clear()

    def _go_out(self) -> None:
        """MB-19, MB-20: empty hands are out, and the team of a last member is complete."""
        for seat in self._in_turn_order():
            if self.hands[seat]:
                continue
            self.out.append(seat)
            self.facts.went_out(seat)
            self.log.add("went_out", {"seat": seat, "rank": len(self.out)})
            team = next(team for team in self.teams if seat in team)
            if all(not self._is_in(member) for member in team):
                self._complete_team(team)

    def _complete_team(self, team: list[int]) -> None:
        values = self._values_left()
        value = values[0] if values else 0
        self.completed.append(team)
        for member in team:
            self.points[member] = value
        self.log.add("team_completed", {"seats": list(team), "value": value})

    def _values_left(self) -> list[int]:
        return self._team_values()[len(self.completed) :]

    def _round_is_over(self) -> bool:
        """MB-22: at most one team is not complete."""
        return len(self.completed) >= len(self.teams) - 1

    def _change_shifts(self) -> None:
        """MB-17: all seats still in pass their hands to the left."""
        self._pass_hands({seat: self._next(seat) for seat in self._in_turn_order()})
        # Told after the hands have moved: what the takers hold now is what was passed.
        for seat in self._in_turn_order():
            taker = self._next(seat)
            passed = list(self.hands[taker])
            self.log.add(
                "hand_passed",
                {"from": seat, "to": taker, "count": len(passed)},
                {"kinds": passed},
                [seat, taker],
            )

    def _pass_hands(self, new_holder: Mapping[int, int]) -> None:
        before = [list(hand) for hand in self.hands]
        self.facts.hands_moved(new_holder, before)
        for old, new in new_holder.items():
            self.hands[new] = before[old]

    def _move(self, gifts: Sequence[Gift]) -> None:
        """Cards go from hand to hand at the same time; the pairs are not laid down yet."""
        for gift in gifts:
            self.hands[gift.giver].remove(gift.kind)
        for gift in gifts:
            self.hands[gift.taker] = in_order([*self.hands[gift.taker], gift.kind])
        self.received = Counter(gift.taker for gift in gifts)
        # MB-26: a lone card that makes a pair at once counts as seen by everyone.
        shown = [
            gift
            for gift in gifts
            if self.received[gift.taker] == 1 and self.hands[gift.taker].count(gift.kind) == 2
        ]
        self.facts.given(gifts, shown)

    def _complete_facts(self) -> None:
        self.facts.complete({seat: len(self.hands[seat]) for seat in self._in_turn_order()})

    # A turn

    def _begin_turn(self, seat: int) -> None:
        """MB-8 and MB-9, up to the decision of MB-10; or the next turns, or the round's end."""
        while True:
            self.active = seat
            self.turns_begun += 1
            self.card_left_play = False
            self._draw()
            self._settle()
            if self._round_is_over():
                self._book_round(stalled=False)
                return
            if self._is_in(seat):
                return
            # MB-19: a seat that goes out in step 2 plays no waiter.
            seat = self._next(seat)

    def _turn_index(self) -> int:
        """Turns begun in the round before this one."""
        return self.turns_begun - 1

    def _draw(self) -> None:
        """MB-8."""
        neighbour = self._previous(self.active)
        hand = in_order(self.hands[neighbour])
        place = self.chance.pick("draw", self.round, len(hand), self._turn_index())
        gift = Gift(neighbour, self.active, hand[place])
        self.log.add(
            "drew",
            {"seat": self.active, "from": neighbour},
            {"kind": gift.kind},
            [self.active, neighbour],
        )
        self._move([gift])

    def _end_turn(self) -> None:
        """The end of a turn in which everything is settled."""
        if self._round_is_over():
            self._book_round(stalled=False)
            return
        if not self.card_left_play:
            self.stall += 1
        if self.stall == 10 * self.seats:  # MB-23
            self._book_round(stalled=True)
            return
        self._begin_turn(self._next(self.active))

    def to_act(self) -> set[int]:
        if self.over:
            return set()
        if self.pending_waiter is not None:
            return {seat for seat in self.givers if seat not in self.chosen}
        return {self.active}

    def legal(self, seat: int) -> list[str]:
        if seat not in self.to_act():
            return []
        if self.pending_waiter is not None:
            return [f"give {kind}" for kind in self.hands[seat]]
        # MB-10, MB-18
        targets = [str(other) for other in range(self.seats) if self._may_be_named(other)]
        last_card = len(self.hands[seat]) == 1
        b_fizzles = last_card and self.options["last_card_b"] == "fizzle"
        names = ["decline"]
        if A in self.hands[seat] and not last_card:
            names += [f"play a {target}" for target in targets]
        if B in self.hands[seat] and not b_fizzles:
            names += [f"play b {target}" for target in targets]
        if C in self.hands[seat]:
            names += [f"play c {target}" for target in targets]
        if A in self.hands[seat] and last_card:
            names += ["play a"]
        if B in self.hands[seat] and b_fizzles:
            names += ["play b"]
        if D in self.hands[seat]:
            names += ["play d"]
        if E in self.hands[seat]:
            names += ["play e"]
        return names

    def _may_be_named(self, seat: int) -> bool:
        """MB-18: seats still in, other than the active one."""
        return seat in range(self.seats) and self._is_in(seat) and seat != self.active

    def play(self, seat: int, action: str) -> None:
        self._check(seat, action)
        self.actions[-1].append((seat, action))
        if self.pending_waiter is not None:
            self._commit_gift(seat, action.removeprefix("give "))
            return
        self.turn += 1
        if action == "decline":
            self.log.add("declined", {"seat": seat})
            self._end_turn()
        else:
            words = action.split()
            self._play_waiter(f"waiter_{words[1]}", int(words[2]) if len(words) == 3 else None)

    def _check(self, seat: int, action: str) -> None:
        """IllegalMove if the action is refused (G-2)."""
        if self.over:
            raise IllegalMove("G-2", "the match is over")
        if seat not in self.to_act():
            raise IllegalMove("G-2", f"seat {seat} is not to act, but {sorted(self.to_act())}")
        if action not in ACTIONS:
            raise IllegalMove("G-2", f"{action!r} is no action of this game")
        if action in self.legal(seat):
            return
        words = action.split()
        if words[0] == "give" and self.pending_waiter is not None:
            raise IllegalMove("G-2", f"seat {seat} holds no {words[1]}")
        if (words[0] == "give") != (self.pending_waiter is not None):
            raise IllegalMove("G-2", f"{action!r} is not what is asked of seat {seat}")
        if f"waiter_{words[1]}" not in self.hands[seat]:
            raise IllegalMove("G-2", f"seat {seat} holds no waiter {words[1]}")
        raise IllegalMove("MB-18", f"{action!r}: targets are seats still in, or none is named")

    # Waiters

    def _play_waiter(self, kind: str, target: int | None) -> None:
        """MB-10, MB-18."""
        seat = self.active
        self.hands[seat].remove(kind)
        self._leaves_play()
        self.log.add("waiter_played", {"seat": seat, "kind": kind, "target": target})
        self.facts.waiter_played(seat, kind)
        if kind == B and target is not None and not self.hands[seat]:
            # `last_card_b` = `swap`: carried out before MB-19.
            self._swap_hands(target)
            return
        self._settle()
        without_effect = kind in (A, B) and target is None
        if self._round_is_over() or without_effect:
            self._end_turn()
        elif kind == A:
            assert target is not None
            self._swap_one(target)
        elif kind == B:
            assert target is not None
            self._swap_hands(target)
        elif kind == C:
            self._ask_for_gifts(
                C, target, [giver for giver in self._in_turn_order() if giver != target]
            )
        elif kind == D:
            self._show_bills()
        else:
            self._ask_for_gifts(E, None, self._in_turn_order())

    def _swap_one(self, target: int) -> None:
        """MB-12."""
        if self.options["swap_one"] == "chosen":
            self._ask_for_gifts(A, target, [self.active, target])
            return
        index = 2 * self._turn_index()
        own, other = in_order(self.hands[self.active]), in_order(self.hands[target])
        taken = other[self.chance.pick("blind", self.round, len(other), index)]
        given = own[self.chance.pick("blind", self.round, len(own), index + 1)]
        self._give([Gift(self.active, target, given), Gift(target, self.active, taken)])

    def _swap_hands(self, target: int) -> None:
        """MB-13."""
        self._pass_hands({self.active: target, target: self.active})
        self.log.add(
            "hands_swapped",
            {"first": self.active, "second": target},
            {"kinds": [list(self.hands[self.active]), list(self.hands[target])]},
            [self.active, target],
        )
        self._settle()
        self._end_turn()

    def _show_bills(self) -> None:
        """MB-15."""
        counts = [hand.count(BILL) for hand in self.hands]
        self.log.add("bills_shown", {"counts": counts})
        for seat in self._in_turn_order():
            self.facts.shown(seat, BILL, is_there=counts[seat] > 0)
        self._settle()
        self._end_turn()

    def _ask_for_gifts(self, waiter: str, target: int | None, givers: list[int]) -> None:
        self.pending_waiter = waiter
        self.target = target
        self.givers = givers
        self.chosen = {}

    def _commit_gift(self, seat: int, kind: str) -> None:
        """MB-12, MB-14, MB-16: a secret choice; all are carried out when the last one is in."""
        self.chosen[seat] = kind
        self.log.add("gift_committed", {"seat": seat}, {"kind": kind}, [seat])
        if len(self.chosen) < len(self.givers):
            return
        self.turn += 1
        gifts = [Gift(giver, self._taker(giver), self.chosen[giver]) for giver in self.givers]
        self.pending_waiter = None
        self.target = None
        self.givers = []
        self.chosen = {}
        self._give(gifts)

    def _taker(self, giver: int) -> int:
        if self.pending_waiter == E:
            return self._next(giver)
        assert self.target is not None
        if giver == self.target:
            return self.active
        return self.target

    def _give(self, gifts: list[Gift]) -> None:
        for gift in gifts:
            self.log.add(
                "gave",
                {"from": gift.giver, "to": gift.taker},
                {"kind": gift.kind},
                [gift.giver, gift.taker],
            )
        self._move(gifts)
        self._settle()
        self._end_turn()

    # Points

    def _book_round(self, *, stalled: bool) -> None:
        """MB-22 to MB-24: the points of the round go to the totals, the next round is dealt."""
        if not stalled:
            for team in self.teams:
                if team not in self.completed:
                    self.log.add("team_completed", {"seats": list(team), "value": 0})
        booked = list(self.points)
        self.round_points.append(booked)
        self.points = [0] * self.seats
        self.log.add(
            "round_scored",
            {
                "round": self.round,
                "stalled": stalled,
                "points": list(booked),
                "totals": self.totals(),
            },
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
        """MB-24: the highest sum wins, ties are shared."""
        return competition_ranking(self.totals(), high_wins=True)

    def utility(self) -> list[float]:
        if not self.over:
            raise ValueError("the match is not over")
        return placement_utility(self.placement())

    # What is seen

    def view(self, viewer: int) -> dict[str, object]:
        """MB-25; the facts are those of MB-26 and MB-27."""
        if viewer != SPECTATOR and viewer not in range(self.seats):
            raise ValueError(f"{viewer} is no viewer")
        hands: list[list[str] | None] = [None] * self.seats
        if viewer != SPECTATOR:
            hands[viewer] = list(self.hands[viewer])
        return {
            "round": self.round,
            "phase": self._phase(),
            "active": self.active,
            "to_act": sorted(self.to_act()),
            "dealer": self.dealer,
            "numbers": list(self.numbers),
            "teams": [list(team) for team in self.teams],
            "hands": hands,
            "hand_sizes": [len(hand) for hand in self.hands],
            "out": list(self.out),
            "committed": sorted(self.chosen),
            "gift": self.chosen.get(viewer),
            "stall": self.stall,
            "facts": self.facts.seen_by(viewer),
            "totals": self.totals(),
            "points": self.running_points(),
            "round_points": [list(points) for points in self.round_points],
            "team_values": self._values_left(),
            "pending_waiter": self.pending_waiter,
            "pending_target": self.target,
        }

    def _phase(self) -> str:
        if self.over:
            return "over"
        return "turn" if self.pending_waiter is None else "gift"

    def events(self, viewer: int) -> list[dict[str, object]]:
        return self.log.seen_by(viewer)

    def copy(self) -> MisterBill:
        twin = copy.copy(self)
        twin.chance = self.chance.copy()
        twin.log = self.log.copy()
        twin.facts = self.facts.copy()
        twin.hands = [list(hand) for hand in self.hands]
        twin.out = list(self.out)
        twin.completed = list(self.completed)
        twin.points = list(self.points)
        twin.chosen = dict(self.chosen)
        twin.received = Counter(self.received)
        twin.round_points = list(self.round_points)
        twin.actions = [list(actions) for actions in self.actions]
        return twin
