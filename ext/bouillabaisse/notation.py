"""A position of La bouillabaisse as one line of text, both ways.

``round=2 phase=play dealer=0 drawn=H,-,- hands=2C.KH/5D/... played=AC voids=-/C/- tricks=3
trick=1.AC last=0.2D.KD.5D winner=1 taken=1,2,0 points=0,0,0 totals=5,0,60 rounds=... best=AC,1``.
What belongs to different seats stands between slashes, cards between dots, ``-`` is empty;
``trick`` and ``last`` start with the seat that led; ``best`` is the card that takes the trick so
far, and whose it is; ``rounds`` has the points of each of the six rounds.
"""

from __future__ import annotations

from tavolata.ext.bouillabaisse.deck import RANKS, SUITS, card_name, card_number, rounds
from tavolata.ext.core.face import State
from tavolata.ext.core.line import Words, items, number, place, split

NONE = 255
PHASES = ("play", "booked", "over")
SEATS_MAX = 12
TRICKS_MAX = 26
POINTS_MAX = 10_000  # more than any round or match comes to
SUIT_CARDS = (1 << len(RANKS)) - 1
RANK_CARDS = sum(1 << 16 * suit for suit in range(len(SUITS)))


def format_state(state: State, seat_count: int) -> str:
    """The line of a state whose fields are given."""

    def numbers(field: str) -> str:
        return ",".join(str(value) for value in state[field][:seat_count])

    drawn = (
        "-" if state["drawn_suit"] == NONE else SUITS[state["drawn_suit"]],
        "-" if state["drawn_rank"] == NONE else RANKS[state["drawn_rank"]],
        "-" if state["drawn_card"] == NONE else card_name(state["drawn_card"]),
    )
    last = [] if state["last_leader"] == NONE else state["last_trick"][:seat_count]
    words = {
        "round": state["round"],
        "phase": PHASES[state["phase"]],
        "dealer": state["dealer"],
        "drawn": ",".join(drawn),
        "hands": "/".join(
            _cards(state["hand"][seat], state["twin"][seat]) for seat in range(seat_count)
        ),
        "played": _cards(state["played"], state["played_twin"]),
        "voids": "/".join(_suits(state["voids"][seat]) for seat in range(seat_count)),
        "tricks": state["tricks_played"],
        "trick": _trick(state["leader"], state["trick"][: state["trick_count"]]),
        "last": _trick(state["last_leader"], last),
        "winner": "-" if state["last_winner"] == NONE else state["last_winner"],
        "taken": numbers("tricks_taken"),
        "points": numbers("points"),
        "totals": numbers("totals"),
        "rounds": "/".join(
            ",".join(str(points) for points in row[:seat_count]) for row in state["round_points"]
        ),
        "best": _who_takes(state),
    }
    return " ".join(f"{key}={value}" for key, value in words.items())


def parse_state(text: str, seat_count: int) -> State:
    """The fields of a state from its line; ValueError names the word that is wrong."""
    return _Line(Words(text), seat_count).state()


class _Line:
    """The words of a position at a table with ``seat_count`` seats."""

    def __init__(self, words: Words, seat_count: int) -> None:
        self._read = words.read
        self._n = seat_count

    def state(self) -> State:
        n = self._n
        hands = self._read("hands", lambda text: [_sets(hand) for hand in split(text, "/", n)])
        played, played_twin = self._read("played", _sets)
        leader, trick = self._read("trick", self._trick)
        last_leader, last = self._read("last", self._trick)
        suit, rank, card = self._read("drawn", _drawn)
        trick_cards, trick_twins = _bits(trick)
        best, winner = self._read("best", self._who_takes)
        if leader == NONE:
            raise ValueError("trick=-: the seat that leads is wanted")
        state: State = {
            "hand": _padded([first for first, _ in hands]),
            "twin": _padded([twins for _, twins in hands]),
            "played": played,
            "played_twin": played_twin,
            "trick_cards": trick_cards,
            "trick_twins": trick_twins,
            "led": SUIT_CARDS << 16 * (trick[0] // 16) if trick else 0,
            "best": best,
            "winner": winner,
            "totals": self._read("totals", self._points),
            "points": self._read("points", self._points),
            "round_points": self._read("rounds", self._rounds),
            "voids": self._read("voids", self._voids),
            "trick": _padded(trick),
            "last_trick": _padded(last),
            "tricks_taken": self._read("taken", lambda text: _row(text, n, 0, TRICKS_MAX)),
            "trick_count": len(trick),
            "tricks_played": self._read("tricks", lambda text: number(text, 0, TRICKS_MAX)),
            "last_leader": last_leader,
            "last_winner": self._read("winner", self._seat_or_none),
            "leader": leader,
            "seat": (leader + len(trick)) % n,
            "dealer": self._read("dealer", self._seat),
            "round": self._read("round", lambda text: number(text, 1, len(rounds()))),
            "phase": self._read("phase", lambda text: place(text, PHASES)),
            "drawn_suit": suit,
            "drawn_rank": rank,
            "drawn_card": card,
        }
        return state | _targets(state) | {"padding": [0, 0, 0]}

    def _seat(self, text: str) -> int:
        return number(text, 0, self._n - 1)

    def _seat_or_none(self, text: str) -> int:
        return NONE if text == "-" else self._seat(text)

    def _points(self, text: str) -> list[int]:
        return _row(text, self._n, -POINTS_MAX, POINTS_MAX)

    def _rounds(self, text: str) -> list[list[int]]:
        return [self._points(row) for row in split(text, "/", len(rounds()))]

    def _voids(self, text: str) -> list[int]:
        return _padded([_suit_bits(suits) for suits in split(text, "/", self._n)])

    def _trick(self, text: str) -> tuple[int, list[int]]:
        leader, *cards = text.split(".")
        if len(cards) > self._n:
            raise ValueError(f"{len(cards)} cards in a trick of {self._n} seats")
        return self._seat_or_none(leader), [card_number(name) for name in cards]

    def _who_takes(self, text: str) -> tuple[int, int]:
        best, winner = split(text, ",", 2)
        return 0 if best == "-" else 1 << card_number(best), self._seat_or_none(winner)


def _targets(state: State) -> State:
    """The cards that count, from the round and what is drawn (BO-9 to BO-14)."""
    row = rounds()[state["round"] - 1]
    for counts, what in ((row.suit, "suit"), (row.rank, "rank"), (row.card, "card")):
        if counts and state[f"drawn_{what}"] == NONE:
            raise ValueError(f"drawn: no {what} is drawn, but it counts in round {state['round']}")
    return {
        "suit_cards": SUIT_CARDS << 16 * state["drawn_suit"] if row.suit else 0,
        "rank_cards": RANK_CARDS << state["drawn_rank"] if row.rank else 0,
        "drawn_cards": 1 << state["drawn_card"] if row.card else 0,
    }


def _who_takes(state: State) -> str:
    best = card_name(state["best"].bit_length() - 1) if state["best"] else "-"
    return f"{best},{'-' if state['winner'] == NONE else state['winner']}"


def _cards(first: int, twins: int) -> str:
    names = [
        card_name(card)
        for card in range(64)
        for _ in range((first >> card & 1) + (twins >> card & 1))
    ]
    return ".".join(names) or "-"


def _drawn(text: str) -> tuple[int, int, int]:
    suit, rank, card = split(text, ",", 3)
    return (
        NONE if suit == "-" else place(suit, SUITS),
        NONE if rank == "-" else place(rank, RANKS),
        NONE if card == "-" else card_number(card),
    )


def _sets(cards: str) -> tuple[int, int]:
    return _bits([card_number(name) for name in items(cards)])


def _bits(cards: list[int]) -> tuple[int, int]:
    first = twins = 0
    for card in cards:
        twins |= first & 1 << card
        first |= 1 << card
    return first, twins


def _suits(bits: int) -> str:
    return "".join(suit for number, suit in enumerate(SUITS) if bits >> number & 1) or "-"


def _suit_bits(suits: str) -> int:
    return sum(1 << place(suit, SUITS) for suit in set(suits) if suit != "-")


def _trick(leader: int, cards: list[int]) -> str:
    return ".".join(["-" if leader == NONE else str(leader), *map(card_name, cards)])


def _row(text: str, count: int, low: int, high: int) -> list[int]:
    return _padded([number(value, low, high) for value in split(text, ",", count)])


def _padded(values: list[int]) -> list[int]:
    return values + [0] * (SEATS_MAX - len(values))
