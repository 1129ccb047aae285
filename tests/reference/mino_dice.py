"""Mino Dice in plain Python: dice and faces as strings, every rule spelled out (MD-1 to MD-20)."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import NamedTuple

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

KINDS = ["minotaur", "griffin", "mermaid", "red", "yellow", "purple", "gray"]
SPECIALS = ["minotaur", "griffin", "mermaid"]
COLOURS = ["red", "yellow", "purple", "gray"]

# MD-1
COUNTS = {"minotaur": 1, "griffin": 3, "mermaid": 2, "red": 7, "yellow": 7, "purple": 8, "gray": 8}
FACES = {
    "minotaur": ["minotaur", "minotaur", "minotaur", "minotaur", "flag", "flag"],
    "griffin": ["griffin", "griffin", "griffin", "griffin", "flag", "flag"],
    "mermaid": ["mermaid", "mermaid", "mermaid", "mermaid", "flag", "flag"],
    "red": ["7", "7", "6", "6", "5", "5"],
    "yellow": ["5", "5", "4", "4", "3", "3"],
    "purple": ["3", "3", "2", "2", "1", "1"],
    "gray": ["flag", "flag", "flag", "1", "1", "7"],
}
BAG = [kind for kind in KINDS for _ in range(COUNTS[kind])]

SEATS = range(3, 7)
HANDS = {3: 8, 4: 8, 5: 7, 6: 6}  # MD-2

# MD-10: each special face takes over from the one it is paired with.
BEATS = {"minotaur": "griffin", "griffin": "mermaid", "mermaid": "minotaur"}

OPTIONS: dict[str, Sequence[object]] = {
    "follow_after_special": ["first_number", "free"],
    "all_flags": ["first", "last"],
    "three_way": ["rolling", "mermaid"],
    "griffin_bonus": ["each", "once"],
    "flag_scope": ["trick", "hand", "none"],
    "scoring": ["full", "simple"],
}


class Rolled(NamedTuple):
    """One die of a trick."""

    seat: int
    kind: str
    face: str


def in_order(dice: Sequence[str]) -> list[str]:
    """Dice in the order of their kinds."""
    return sorted(dice, key=KINDS.index)


def draw_script(hand: int, dice: Sequence[Sequence[str]]) -> Script:
    """The scripted `draw` that gives every seat the dice listed for it."""
    drawn = [die for own in dice for die in own]
    rest = list(BAG)
    for die in drawn:
        rest.remove(die)
    return {("draw", hand, 0): drawn + rest}


def roll_index(seat: int, kind: str, rolled_before: int) -> int:
    """The chance index of a roll: 64 x seat + 8 x kind + dice of the kind rolled before."""
    return 64 * seat + 8 * KINDS.index(kind) + rolled_before


def takes_over(face: str, best: str) -> bool:
    """MD-10: whether a face rolled later takes over from the best so far."""
    if face == "flag":
        return False
    if face in SPECIALS:
        if best in SPECIALS:
            return best in (face, BEATS[face])
        return True
    if best in SPECIALS:
        return False
    return best == "flag" or int(face) >= int(best)


class MinoDice:
    """A match of Mino Dice; see `tests.reference.model.Model`."""

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
        self.hand = 0
        self.first_of_match = self.chance.pick("first", 0, seats)  # MD-5
        self.round_points: list[list[int]] = []
        self._start_hand()

    @classmethod
    def with_deal(
        cls, seats: int, options: Mapping[str, object], script: Script, seed: bytes = bytes(32)
    ) -> MinoDice:
        """A match whose chance outcomes are those of the script, the rest from the seed."""
        return cls(seats, options, seed, ScriptedChance(script, seed))

    @property
    def outcomes(self) -> list[Outcome]:
        return self.chance.outcomes

    # The course of a hand

    def _start_hand(self) -> None:
        self.hand += 1
        self.first_player = (self.first_of_match + self.hand - 1) % self.seats  # MD-5
        self.log.add("hand_started", {"hand": self.hand, "first_player": self.first_player})
        self._draw()
        self.bids: list[int | None] = [None] * self.seats
        self.leader = self.first_player  # MD-6
        self.trick: list[Rolled] = []
        self.led_colour: str | None = None
        self.last_trick: list[Rolled] = []
        self.last_winner: int | None = None
        self.tricks_taken = [0] * self.seats
        self.won: list[list[tuple[str, list[str]]]] = [[] for _ in range(self.seats)]
        self.rolled: list[list[str]] = [[] for _ in range(self.seats)]
        self.voids: list[set[str]] = [set() for _ in range(self.seats)]

    def _draw(self) -> None:
        """MD-3: all dice are in the bag, every seat draws as many as the hand's number."""
        order = self.chance.shuffle("draw", self.hand, BAG)
        size = self.hand
        self.dice = [order[size * seat : size * (seat + 1)] for seat in range(self.seats)]
        for seat in range(self.seats):
            self.log.add(
                "drawn", {"seat": seat, "count": size}, {"dice": in_order(self.dice[seat])}, [seat]
            )

    def bidding(self) -> bool:
        """MD-4: some bid of the hand is still missing."""
        return None in self.bids

    def to_act(self) -> set[int]:
        if self.over:
            return set()
        if self.bidding():
            return {seat for seat in range(self.seats) if self.bids[seat] is None}
        return {(self.leader + len(self.trick)) % self.seats}

    def _must_follow(self, seat: int) -> bool:
        """MD-7: a led colour is set and the seat holds number dice of it."""
        return self.led_colour is not None and self.led_colour in self.dice[seat]

    def legal(self, seat: int) -> list[str]:
        if seat not in self.to_act():
            return []
        if self.bidding():
            return [f"bid {number}" for number in range(self.hand + 1)]  # MD-4
        kinds = in_order(list(set(self.dice[seat])))
        if self._must_follow(seat):
            kinds = [kind for kind in kinds if kind in SPECIALS or kind == self.led_colour]
        return [f"roll {kind}" for kind in kinds]

    def play(self, seat: int, action: str) -> None:
        if self.over:
            raise IllegalMove("G-2", "the match is over")
        if seat not in range(self.seats):
            raise IllegalMove("G-2", f"there is no seat {seat}")
        if self.bidding():
            self._bid(seat, self._checked_bid(seat, action))
        else:
            self._roll(seat, self._checked_kind(seat, action))

    def _checked_bid(self, seat: int, action: str) -> int:
        if self.bids[seat] is not None:
            raise IllegalMove("G-2", f"seat {seat} has committed its bid")
        if action in self.legal(seat):
            return int(action.removeprefix("bid "))
        if action in [f"bid {number}" for number in range(9)]:
            raise IllegalMove("MD-4", f"a bid is 0 to {self.hand} in this hand")
        raise IllegalMove("G-2", f"{action!r} is no bid")

    def _bid(self, seat: int, number: int) -> None:
        """MD-4: a secret commitment; all are shown when the last one is in."""
        self.bids[seat] = number
        self.log.add("bid_committed", {"seat": seat}, {"bid": number}, [seat])
        if not self.bidding():
            self.turn += 1
            self.log.add("bids_shown", {"bids": list(self.bids)})

    def _checked_kind(self, seat: int, action: str) -> str:
        if seat not in self.to_act():
            raise IllegalMove("G-2", f"seat {seat} is not to act, but {self.to_act()}")
        word, _, kind = action.partition(" ")
        if word != "roll" or kind not in KINDS:
            raise IllegalMove("G-2", f"{action!r} is no roll of a die")
        if kind not in self.dice[seat]:
            raise IllegalMove("G-2", f"seat {seat} holds no {kind} die")
        if action not in self.legal(seat):
            raise IllegalMove("MD-7", f"seat {seat} holds {self.led_colour} and must follow")
        return kind

    def _roll(self, seat: int, kind: str) -> None:
        before = self.rolled[seat].count(kind)
        place = self.chance.pick("roll", self.hand, 6, roll_index(seat, kind, before))
        face = FACES[kind][place]
        self.dice[seat].remove(kind)
        self.rolled[seat].append(kind)
        self.trick.append(Rolled(seat, kind, face))
        self._note_colour(seat, kind)
        self.turn += 1
        self.log.add("rolled", {"seat": seat, "kind": kind, "face": face})
        if len(self.trick) == self.seats:
            self._take_trick()
            if not self.dice[seat]:
                self._book_hand()

    def _note_colour(self, seat: int, kind: str) -> None:
        """MD-7 to MD-9: what sets the led colour; MD-20: what a roll shows of the seat's dice."""
        if kind in SPECIALS:
            return
        if self.led_colour is not None:
            if kind != self.led_colour:
                self.voids[seat].add(self.led_colour)  # MD-20
            return
        leads = len(self.trick) == 1
        if leads or self.options["follow_after_special"] == "first_number":
            self.led_colour = kind

    def _take_trick(self) -> None:
        winner, face = self._winner()
        faces = [die.face for die in self.trick]
        self.tricks_taken[winner] += 1
        self.won[winner].append((face, faces))
        self.last_trick, self.trick = self.trick, []
        self.last_winner = winner
        self.led_colour = None
        self.leader = winner  # MD-6
        self.log.add("trick_taken", {"seat": winner})

    def _winner(self) -> tuple[int, str]:
        """Who takes the trick, and with which face."""
        faces = [die.face for die in self.trick]
        if all(face == "flag" for face in faces):  # MD-11
            die = self.trick[0] if self.options["all_flags"] == "first" else self.trick[-1]
            return die.seat, die.face
        if self.options["three_way"] == "mermaid" and set(SPECIALS) <= set(faces):  # MD-12
            die = [die for die in self.trick if die.face == "mermaid"][-1]
            return die.seat, die.face
        best = self.trick[0]
        for die in self.trick[1:]:
            if takes_over(die.face, best.face):  # MD-10
                best = die
        return best.seat, best.face

    # Points

    def _met(self, seat: int) -> bool:
        return self.bids[seat] == self.tricks_taken[seat]

    def _bid_points(self, seat: int) -> int:
        bid = self.bids[seat]
        assert bid is not None
        if bid == 0:  # MD-14
            return 10 * self.hand if self._met(seat) else -10 * self.hand
        if self._met(seat):  # MD-13
            return 20 * bid
        if self.options["scoring"] == "simple":  # MD-17
            return 0
        return -10 * abs(bid - self.tricks_taken[seat])  # MD-13

    def _bonus(self, seat: int) -> int:
        """MD-15 and MD-16: the bonus the seat earned in the hand."""
        if self.options["scoring"] == "simple":  # MD-17
            return 0
        if self.bids[seat] == 0 or not self._met(seat):
            return 0
        any_flag = any("flag" in faces for _, faces in self.won[seat])
        if self.options["flag_scope"] == "hand" and any_flag:
            return 0
        bonus = 0
        for taken_with, faces in self.won[seat]:
            if self.options["flag_scope"] == "trick" and "flag" in faces:
                continue
            if taken_with == "mermaid" and "minotaur" in faces:
                bonus += 50
            if taken_with == "minotaur":
                griffins = faces.count("griffin")
                if self.options["griffin_bonus"] == "once":
                    griffins = min(griffins, 1)
                bonus += 30 * griffins
        return bonus

    def _book_hand(self) -> None:
        """MD-18: the points of the hand go to the totals, and the next hand is drawn."""
        bonus = [self._bonus(seat) for seat in range(self.seats)]
        points = [self._bid_points(seat) + bonus[seat] for seat in range(self.seats)]
        self.round_points.append(points)
        self.log.add(
            "hand_scored",
            {
                "hand": self.hand,
                "points": list(points),
                "bonus": bonus,
                "totals": self.totals(),
            },
        )
        if self.hand < HANDS[self.seats]:  # MD-2
            self._start_hand()
        else:
            self.over = True
            self.log.add("match_ended", {"placement": self.placement(), "totals": self.totals()})

    def totals(self) -> list[int]:
        return [sum(points[seat] for points in self.round_points) for seat in range(self.seats)]

    def running_points(self) -> list[int]:
        """Zeros: a hand scores when its last trick has been taken (MD-18)."""
        return [0] * self.seats

    def placement(self) -> list[int]:
        """MD-18: the highest total wins, ties are shared."""
        return competition_ranking(self.totals(), high_wins=True)

    def utility(self) -> list[float]:
        if not self.over:
            raise ValueError("the match is not over")
        return placement_utility(self.placement())

    # What is seen

    def view(self, viewer: int) -> dict[str, object]:
        """MD-19."""
        if viewer != SPECTATOR and viewer not in range(self.seats):
            raise ValueError(f"{viewer} is no viewer")
        dice: list[list[str] | None] = []
        bids: list[int | None] = []
        for seat in range(self.seats):
            dice.append(in_order(self.dice[seat]) if seat == viewer else None)
            bids.append(self.bids[seat] if seat == viewer or not self.bidding() else None)
        return {
            "hand": self.hand,
            "phase": "over" if self.over else "bid" if self.bidding() else "roll",
            "first_player": self.first_player,
            "leader": self.leader,
            "to_act": sorted(self.to_act()),
            "led_colour": self.led_colour,
            "dice": dice,
            "dice_counts": [len(own) for own in self.dice],
            "bag_count": len(BAG) - self.seats * self.hand,
            "committed": [seat for seat in range(self.seats) if self.bids[seat] is not None],
            "bids": bids,
            "trick": [list(die) for die in self.trick],
            "last_trick": [list(die) for die in self.last_trick],
            "last_winner": self.last_winner,
            "tricks_taken": list(self.tricks_taken),
            "voids": [[colour for colour in COLOURS if colour in void] for void in self.voids],
            "totals": self.totals(),
            "points": self.running_points(),
            "round_points": [list(points) for points in self.round_points],
        }

    def events(self, viewer: int) -> list[dict[str, object]]:
        return self.log.seen_by(viewer)

    def copy(self) -> MinoDice:
        twin = copy.copy(self)
        twin.chance = self.chance.copy()
        twin.log = self.log.copy()
        twin.dice = [list(own) for own in self.dice]
        twin.bids = list(self.bids)
        twin.trick = list(self.trick)
        twin.tricks_taken = list(self.tricks_taken)
        twin.won = [list(tricks) for tricks in self.won]
        twin.rolled = [list(kinds) for kinds in self.rolled]
        twin.voids = [set(void) for void in self.voids]
        twin.round_points = list(self.round_points)
        return twin
