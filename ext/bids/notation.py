"""A position of Bids as one line of text, both ways.

``round=2 phase=bid first=1 hands=R7.K3/-/... left=G2 played=R1.K5 blacks=1 pile=K2.2X.*+K9
centre=K6 trick=2.B4.Ally last=1.R1.Y1.K5.G2 last_centre=K5 winner=- won=K5/-/... tricks=1,0,0,0
points=5,0,0,0 lowest=no winning=2 victims=- allies=- minus_fives=0,0,0,0 lucky=1,0,0,0
totals=12,3,4,5 rounds=12,3,4,5``. What belongs to different seats or rounds stands between
slashes or commas, cards between dots, ``-`` is none. The pile is written from the top, what
everybody knows of its bottom after a ``+``, cards not to be seen as ``*``; ``trick`` and ``last``
start with the seat that led.
"""

from __future__ import annotations

from tavolata.ext.bids.deck import ALLY, FIRST_BLACK, card_name, card_number
from tavolata.ext.core import line
from tavolata.ext.core.face import State

NONE = 255
PHASES = ("bid", "theft", "booked", "over")
BID, THEFT, BOOKED, OVER = range(len(PHASES))
SEATS_MAX = 6
ROUNDS_MAX = 20
PILE_MAX = 16
HIDDEN = "*"  # a card of the pile that is not to be seen
POINTS_MAX = 1_000  # of a round; totals are within as many for each round
LOWEST_WORDS = ("no", "yes", "next", "yes,next")  # in force; from the next trick on

_Trick = tuple[int, list[int]]  # leader, cards


def finished_rounds(state: State) -> int:
    """How many rounds have been booked."""
    number: int = state["round"]
    return number if state["phase"] in (BOOKED, OVER) else number - 1


def seats_of(bits: int) -> list[int]:
    """The seats of a set, ascending."""
    return [seat for seat in range(SEATS_MAX) if bits >> seat & 1]


def format_state(state: State, seat_count: int) -> str:
    """The line of a state whose fields are given."""

    def numbers(field: str) -> str:
        return ",".join(map(str, state[field][:seat_count]))

    last = [] if state["last_leader"] == NONE else state["last_bids"][:seat_count]
    rows = state["round_points"][: finished_rounds(state)]
    hands = zip(state["hand"][:seat_count], state["black"][:seat_count], strict=True)
    allies = [seat for seat in (state["ally"], state["ally_winner"]) if seat != NONE]
    words = {
        "round": state["round"],
        "phase": PHASES[state["phase"]],
        "first": state["first_leader"],
        "hands": "/".join(_set(coloured, black) for coloured, black in hands),
        "left": _set(state["left_over"], 0),
        "played": _set(state["played"], state["played_black"]),
        "blacks": state["blacks_held"],
        "pile": _pile(state),
        "centre": _card(state["centre"]),
        "trick": _trick(state["leader"], state["bids"][: state["bid_count"]]),
        "last": _trick(state["last_leader"], last),
        "last_centre": _card(state["last_centre"]),
        "winner": _seat(state["last_winner"]),
        "won": "/".join(_set(0, cards) for cards in state["won"][:seat_count]),
        "tricks": numbers("tricks_won"),
        "ended": state["tricks_played"],
        "seat": state["seat"],
        "points": numbers("points"),
        "lowest": LOWEST_WORDS[state["lowest"] + 2 * state["lowest_next"]],
        "winning": _seat(state["winning"]),
        "victims": ".".join(map(str, seats_of(state["victims"]))) or "-",
        "allies": ",".join(map(str, allies)) or "-",
        "minus_fives": numbers("minus_fives"),
        "lucky": numbers("lucky"),
        "totals": numbers("totals"),
        "rounds": "/".join(",".join(map(str, row[:seat_count])) for row in rows) or "-",
    }
    return " ".join(f"{key}={value}" for key, value in words.items())


def parse_state(text: str, seat_count: int) -> State:
    """The fields of a state from its line; ValueError names the word that is wrong."""
    return _Line(text, seat_count).state()


class _Line(line.Words):
    """The words of a position at a table with ``seat_count`` seats."""

    def __init__(self, text: str, seat_count: int) -> None:
        super().__init__(text)
        self._n = seat_count

    def state(self) -> State:
        n = self._n
        number = self.read("round", lambda text: line.number(text, 1, ROUNDS_MAX))
        phase = self.read("phase", lambda text: line.place(text, PHASES))
        finished = number - 1 if phase in (BID, THEFT) else number
        hands = self.read("hands", lambda text: [_bits(part) for part in line.split(text, "/", n)])
        played, played_black = self.read("played", _bits)
        pile, pile_size, pile_known = self.read("pile", _parse_pile)
        leader, bids = self.read("trick", self._trick)
        last_leader, last_bids = self.read("last", self._last_trick)
        lowest = self.read("lowest", lambda text: line.place(text, LOWEST_WORDS))
        ally, ally_winner = self.read("allies", self._allies)
        won = self.read("won", lambda text: [_bits(part)[1] for part in line.split(text, "/", n)])
        return {
            "hand": _padded([coloured for coloured, _ in hands]),
            "black": _padded([black for _, black in hands]),
            "left_over": self.read("left", lambda text: _bits(text)[0]),
            "played": played,
            "played_black": played_black,
            "won": _padded(won),
            "totals": self._numbers("totals", POINTS_MAX * ROUNDS_MAX),
            "points": self._numbers("points", POINTS_MAX),
            "round_points": self.read("rounds", lambda text: self._rounds(text, finished)),
            "pile": pile,
            "pile_size": pile_size,
            "pile_known": pile_known,
            "bids": _padded(bids),
            "bid_count": len(bids),
            "leader": leader,
            "last_bids": _padded(last_bids),
            "last_leader": last_leader,
            "last_centre": self.read("last_centre", _card_or_none),
            "last_winner": self.read("winner", self._seat_or_none),
            "tricks_won": self._counts("tricks"),
            "tricks_played": self.read("ended", lambda text: line.number(text, 0, 10)),
            "minus_fives": self._counts("minus_fives"),
            "lucky": self._counts("lucky"),
            "blacks_held": self.read("blacks", lambda text: line.number(text, 0, SEATS_MAX)),
            "lowest": lowest & 1,
            "lowest_next": lowest >> 1,
            "centre": self.read("centre", _card_or_none),
            "winning": self.read("winning", self._seat_or_none),
            "victims": self.read("victims", self._seat_set),
            "ally": ally,
            "ally_winner": ally_winner,
            "seat": self.read("seat", self._seat),
            "first_leader": self.read("first", self._seat),
            "round": number,
            "phase": phase,
            "padding": [0] * 6,
        }

    def _numbers(self, key: str, most: int) -> list[int]:
        return self.read(key, lambda text: _row(text, self._n, -most, most))

    def _counts(self, key: str) -> list[int]:
        return self.read(key, lambda text: _row(text, self._n, 0, ROUNDS_MAX))

    def _seat(self, text: str) -> int:
        return line.number(text, 0, self._n - 1)

    def _seat_or_none(self, text: str) -> int:
        return NONE if text == "-" else self._seat(text)

    def _seat_set(self, text: str) -> int:
        return sum(1 << self._seat(item) for item in set(line.items(text)))

    def _allies(self, text: str) -> tuple[int, int]:
        if text == "-":
            return NONE, NONE
        ally, winner = line.split(text, ",", 2)
        return self._seat(ally), self._seat(winner)

    def _rounds(self, text: str, finished: int) -> list[list[int]]:
        rows = [
            _row(row, self._n, -POINTS_MAX, POINTS_MAX) for row in text.split("/") if text != "-"
        ]
        if len(rows) != finished:
            raise ValueError(f"{len(rows)} rounds, but {finished} are finished")
        return rows + [[0] * SEATS_MAX for _ in range(ROUNDS_MAX - finished)]

    def _last_trick(self, text: str) -> _Trick:
        if text == "-":
            return NONE, []
        leader, cards = self._trick(text)
        if len(cards) != self._n:
            raise ValueError(f"a finished trick has {self._n} bids")
        return leader, cards

    def _trick(self, text: str) -> _Trick:
        leader, *cards = text.split(".")
        if len(cards) > self._n:
            raise ValueError(f"{len(cards)} bids in a trick of {self._n} seats")
        return self._seat(leader), [card_number(card) for card in cards]


def _pile(state: State) -> str:
    size, known = state["pile_size"], state["pile_known"]
    names = [HIDDEN if card == NONE else card_name(card) for card in state["pile"][:size]]
    hidden, bottom = names[: size - known], names[size - known :]
    return (".".join(hidden) or "-") + ("+" + ".".join(bottom) if bottom else "")


def _parse_pile(text: str) -> tuple[list[int], int, int]:
    hidden, _, bottom = text.partition("+")
    known = bottom.split(".") if bottom else []
    cards = [
        NONE if name == HIDDEN else card_number(name) for name in [*line.items(hidden), *known]
    ]
    if len(cards) > PILE_MAX:
        raise ValueError(f"{len(cards)} cards in a pile of at most {PILE_MAX}")
    if any(card < FIRST_BLACK for card in cards):
        raise ValueError("a pile has black cards only")
    return cards + [0] * (PILE_MAX - len(cards)), len(cards), len(known)


def _set(coloured: int, black: int) -> str:
    bits = coloured | black << FIRST_BLACK
    return ".".join(card_name(card) for card in range(ALLY + 1) if bits >> card & 1) or "-"


def _bits(text: str) -> tuple[int, int]:
    """The two words of a set of cards."""
    bits = sum(1 << card_number(name) for name in set(line.items(text)))
    return bits & (1 << FIRST_BLACK) - 1, bits >> FIRST_BLACK


def _card(card: int) -> str:
    return "-" if card == NONE else card_name(card)


def _card_or_none(text: str) -> int:
    return NONE if text == "-" else card_number(text)


def _seat(seat: int) -> str:
    return "-" if seat == NONE else str(seat)


def _trick(leader: int, cards: list[int]) -> str:
    return "-" if leader == NONE else ".".join([str(leader), *map(card_name, cards)])


def _row(text: str, count: int, low: int, high: int) -> list[int]:
    return _padded([line.number(value, low, high) for value in line.split(text, ",", count)])


def _padded(values: list[int]) -> list[int]:
    return values + [0] * (SEATS_MAX - len(values))
