"""Positions of Mister Bill that differ in what only some seats see (MB-25, MB-26).

Five seats in round 3, where everyone plays alone; seat 0 is active. No kind is in two hands unless
a pair is meant. A position may be turned: every seat moved on by so many places.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tavolata.ext.core.game import Game
from tavolata.ext.core.match import Match
from tavolata.ext.registry import GAMES

SEATS = 5
KINDS = (
    *("sushi", "omelette", "pizza", "paella", "couscous", "goulash"),
    *("waiter_a", "waiter_b", "waiter_c", "waiter_d", "waiter_e"),
    *("mister_bill", "shift_change"),
)
COUNTS = [4] * 11 + [3, 2]
ABSENT = 128
NONE = 255
TURN, GIFT = 0, 1
SHORT = {
    **{kind: kind for kind in KINDS},
    **{letter: f"waiter_{letter.lower()}" for letter in "ABCDE"},
    "shift": "shift_change",
}


@dataclass(frozen=True)
class Gifts:
    """The gifts of a waiter that seat 0 has played are being chosen (MB-12, MB-14, MB-16)."""

    waiter: str
    givers: tuple[int, ...]
    target: int | None = None


@dataclass(frozen=True)
class Course:
    """Hands, kinds with blanks between, and what is done: for each seat that acts its action."""

    hands: tuple[str, ...]
    actions: Mapping[int, str]
    gifts: Gifts | None = None


@dataclass(frozen=True)
class Twins:
    """Two courses that differ in something hidden, and the seats that can tell them apart.

    doings: those that can by what they do and see done to them by others: waiters, declining and
    gifts, without draws, whole hands, pairs and bills; if not the same as ``tell``.
    """

    why: str
    one: Course
    other: Course
    tell: frozenset[int]
    doings: frozenset[int] | None = None

    @property
    def tell_doings(self) -> frozenset[int]:
        return self.tell if self.doings is None else self.doings


def new_game() -> Game:
    return GAMES["mister_bill"].make(SEATS, {"bonus_waiter": 2})


def position(game: Game, course: Course, turned: int = 0, knowing: int | None = None) -> bytes:
    """The state before the actions; the seat ``knowing``, not turned, knows all hands whole."""
    hands = [numbers_of(hand) for hand in course.hands]
    fields = game.unpack(Match(game, bytes(32)).state_bytes())
    fields |= {"round": 3, "turns": 9, "stall": 0, "has_left": 0, "completed": 0}
    fields |= {"active": turned, "phase": GIFT if course.gifts else TURN}
    fields |= {"hands": [0] * 8, "sizes": [0] * 8, "facts": [[[0] * 16] * 8 for _ in range(9)]}
    fields["gone"] = [0] * 16
    for kind, count in enumerate(COUNTS):
        fields["gone"][kind] = count - sum(kind in hand for hand in hands)
    for seat, hand in enumerate(hands):
        fields["hands"][moved(seat, turned)] = sum(1 << kind for kind in hand)
        fields["sizes"][moved(seat, turned)] = len(hand)
        if knowing is not None and seat != knowing:
            row = [1 if kind in hand else ABSENT for kind in range(len(KINDS))]
            facts = fields["facts"][moved(knowing, turned)]
            facts[moved(seat, turned)] = row + [0] * 3
    if course.gifts:
        fields["waiter"] = KINDS.index(SHORT[course.gifts.waiter])
        fields["givers"] = sum(1 << moved(seat, turned) for seat in course.gifts.givers)
        if course.gifts.target is not None:
            fields["target"] = moved(course.gifts.target, turned)
    return game.pack(fields)


def decision(game: Game, course: Course, turned: int = 0) -> dict[int, int]:
    """The actions by number."""
    return {
        moved(seat, turned): game.action_number(turned_name(name, turned))
        for seat, name in course.actions.items()
    }


def moved(seat: int, turned: int) -> int:
    return (seat + turned) % SEATS


def numbers_of(hand: str) -> list[int]:
    return [KINDS.index(SHORT[word]) for word in hand.split()]


def turned_name(name: str, turned: int) -> str:
    words = name.split()
    return " ".join(str(moved(int(word), turned)) if word.isdigit() else word for word in words)


def gifts(
    hands: tuple[str, ...], waiter: Gifts, giver: int, one: str, other: str
) -> tuple[Course, Course]:
    """Two courses in which a giver gives one card or the other; the others give their first."""
    first = {seat: f"give {SHORT[hands[seat].split()[0]]}" for seat in waiter.givers}
    return (
        Course(hands, first | {giver: f"give {SHORT[one]}"}, waiter),
        Course(hands, first | {giver: f"give {SHORT[other]}"}, waiter),
    )


TWO_EACH = (
    "sushi C",
    "omelette A",
    "pizza B",
    "paella D",
    "couscous goulash",
)
ONE_LEFT = ("sushi", *TWO_EACH[1:])
SWAP_WITH_1 = Gifts("A", (0, 1), 1)
SWAP_WITH_3 = Gifts("A", (0, 3), 3)
GIFT_TO_2 = Gifts("C", (0, 1, 3, 4), 2)
PASS = Gifts("E", (0, 1, 2, 3, 4))

TWINS = [
    Twins(
        "MB-12: the two that swap a card, when the active seat chooses",
        *gifts(TWO_EACH, SWAP_WITH_1, 0, "sushi", "waiter_c"),
        frozenset({0, 1}),
    ),
    Twins(
        "MB-12: the two that swap a card, when the other chooses",
        *gifts(TWO_EACH, SWAP_WITH_1, 1, "omelette", "waiter_a"),
        frozenset({0, 1}),
    ),
    Twins(
        "MB-12, MB-8: the two that swap a card, and the next seat, which draws it",
        *gifts(ONE_LEFT, SWAP_WITH_3, 3, "paella", "waiter_d"),
        frozenset({0, 3, 1}),
        frozenset({0, 3}),
    ),
    Twins(
        "MB-14: the giver and the receiver",
        *gifts(ONE_LEFT, GIFT_TO_2, 3, "paella", "waiter_d"),
        frozenset({3, 2}),
    ),
    Twins(
        "MB-14: the same of the next seat's own gift",
        *gifts(ONE_LEFT, GIFT_TO_2, 1, "omelette", "waiter_a"),
        frozenset({1, 2}),
    ),
    Twins(
        "MB-26: a gift that the receiver lays down at once as a pair is seen by all",
        *gifts(
            ("sushi", "omelette A", "pizza B", "paella D", "couscous paella"),
            PASS,
            3,
            "paella",
            "waiter_d",
        ),
        frozenset({0, 1, 2, 3, 4}),
        frozenset({3, 4}),
    ),
    Twins(
        "MB-16: the giver and its neighbour on the left",
        *gifts(ONE_LEFT, PASS, 2, "pizza", "waiter_b"),
        frozenset({2, 3}),
    ),
    Twins(
        "MB-8: who draws a card and from whom it is drawn",
        Course(("sushi", *TWO_EACH[1:]), {0: "decline"}),
        Course(("waiter_c", *TWO_EACH[1:]), {0: "decline"}),
        frozenset({0, 1}),
        frozenset(),
    ),
    Twins(
        "MB-9: a drawn card that makes a pair is seen by all",
        Course(("omelette", *TWO_EACH[1:]), {0: "decline"}),
        Course(("waiter_c", *TWO_EACH[1:]), {0: "decline"}),
        frozenset({0, 1, 2, 3, 4}),
        frozenset(),
    ),
    Twins(
        "MB-13: the two that swap hands",
        Course(("B sushi", "omelette A", "pizza", "paella D", "goulash"), {0: "play b 2"}),
        Course(("B couscous", "omelette A", "pizza", "paella D", "goulash"), {0: "play b 2"}),
        frozenset({0, 2}),
        frozenset(),
    ),
    Twins(
        "MB-17: who passes a hand and who gets it",
        Course(("shift", "shift A", "pizza B", "paella D", "couscous"), {0: "decline"}),
        Course(("shift", "shift A", "pizza B", "paella E", "couscous"), {0: "decline"}),
        frozenset({3, 4}),
        frozenset(),
    ),
    Twins(
        "MB-10: what is played is seen by all",
        Course(("sushi D", *TWO_EACH[1:]), {0: "play d"}),
        Course(("sushi D", *TWO_EACH[1:]), {0: "decline"}),
        frozenset({0, 1, 2, 3, 4}),
    ),
    Twins(
        "MB-15: who holds Mister Bill is shown to all",
        Course(("sushi D", "A", "mister_bill", "pizza", "paella B"), {0: "play d"}),
        Course(("sushi D", "A", "pizza", "mister_bill", "paella B"), {0: "play d"}),
        frozenset({0, 1, 2, 3, 4}),
        frozenset(),
    ),
    Twins(
        "MB-25: not playing a waiter tells nothing of the hand",
        Course(("sushi", "A E", "pizza", "paella", "goulash"), {0: "decline"}),
        Course(("sushi", "B C", "pizza", "paella", "goulash"), {0: "decline"}),
        frozenset(),
    ),
]
