"""A position of Mino Dice as one line of text, both ways.

``hand=2 phase=roll first=1 dice=red.gray/-/purple rolled=-/red/gray voids=-/-/red committed=0.1.2
bids=1,0,2 led=red trick=1.red:7.gray:flag last=- winner=- taken=0,0,0 bonus=0,0,0 flagged=-
totals=20,-10,20 rounds=20,-10,20``. What belongs to different seats or hands stands between
slashes or commas, items between dots, ``-`` is none; ``trick`` and ``last`` start with the seat
that led, dice with their faces follow.
"""

from __future__ import annotations

from tavolata.ext.core.face import State
from tavolata.ext.core.line import Words, items, number, place, split
from tavolata.ext.mino_dice.dice import (
    COLOURS,
    FACES,
    HANDS_MAX,
    KINDS,
    best_place,
    face_number,
    hands_of,
    kind_number,
)

NONE = 255
NO_FACE = len(FACES)
PHASES = ("bid", "roll", "booked", "over")
BID, ROLL, BOOKED, OVER = range(len(PHASES))
SEATS_MAX = 6
COLUMNS = 8  # of a seat's row of dice in the state
POINTS_MAX = 10_000  # of a hand; totals are within as many for each hand

_Trick = tuple[int, list[int], list[int]]  # leader, kinds, faces


def finished_hands(state: State) -> int:
    """How many hands have been booked."""
    hand: int = state["hand"]
    return hand if state["phase"] in (BOOKED, OVER) else hand - 1


def format_state(state: State, seat_count: int) -> str:
    """The line of a state whose fields are given."""

    def numbers(values: list[int]) -> str:
        return ",".join("-" if value == NONE else str(value) for value in values[:seat_count])

    trick_count, leader, last_leader = (
        state[key] for key in ("trick_count", "leader", "last_leader")
    )
    last_count = 0 if last_leader == NONE else seat_count
    rows = state["hand_points"][: finished_hands(state)]
    words = {
        "hand": state["hand"],
        "phase": PHASES[state["phase"]],
        "first": state["first_player"],
        "dice": "/".join(_dice(row) for row in state["dice"][:seat_count]),
        "rolled": "/".join(_dice(row) for row in state["rolled"][:seat_count]),
        "voids": "/".join(_set(voids, KINDS) for voids in state["voids"][:seat_count]),
        "committed": _set(state["committed"], _seats(seat_count)),
        "bids": numbers(state["bids"]),
        "led": _set(state["led"], KINDS),
        "trick": _trick(leader, state["trick_kinds"], state["trick_faces"], trick_count),
        "last": _trick(last_leader, state["last_kinds"], state["last_faces"], last_count),
        "winner": "-" if state["last_winner"] == NONE else state["last_winner"],
        "taken": numbers(state["tricks_taken"]),
        "bonus": ",".join(map(str, state["bonus"][:seat_count])),
        "flagged": _set(state["flagged"], _seats(seat_count)),
        "totals": ",".join(map(str, state["totals"][:seat_count])),
        "rounds": "/".join(",".join(map(str, row[:seat_count])) for row in rows) or "-",
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
        hand = self._read("hand", lambda text: number(text, 1, hands_of(n)))
        phase = self._read("phase", lambda text: place(text, PHASES))
        leader, kinds, faces = self._read("trick", self._trick)
        last_leader, last_kinds, last_faces = self._read("last", self._last_trick)
        dice = self._read("dice", lambda text: [_counts(part) for part in split(text, "/", n)])
        taken = self._numbers("taken", 0, HANDS_MAX)
        best = best_place(faces) if faces else 0
        finished = hand - 1 if phase in (BID, ROLL) else hand
        return {
            "totals": self._numbers("totals", -POINTS_MAX * HANDS_MAX, POINTS_MAX * HANDS_MAX),
            "hand_points": self._read("rounds", lambda text: self._rounds(text, finished)),
            "bonus": self._numbers("bonus", 0, 1000),
            "faces": sum(1 << face for face in set(faces)),
            "dice": _rows(dice),
            "rolled": _rows(
                self._read("rolled", lambda text: [_counts(part) for part in split(text, "/", n)])
            ),
            "kinds": _padded(
                [sum(1 << kind for kind in range(len(KINDS)) if row[kind]) for row in dice]
            ),
            "voids": _padded(
                self._read("voids", lambda text: [_colours(part) for part in split(text, "/", n)])
            ),
            "bids": self._read("bids", lambda text: self._bids(text, hand)),
            "trick_kinds": _padded(kinds),
            "trick_faces": _padded(faces),
            "last_kinds": _padded(last_kinds),
            "last_faces": _padded(last_faces),
            "tricks_taken": taken,
            "committed": self._read("committed", self._seat_set),
            "flagged": self._read("flagged", self._seat_set),
            "led": self._read("led", _colours),
            "best": faces[best] if faces else NO_FACE,
            "winner": (leader + best) % n if faces else NONE,
            "trick_count": len(faces),
            "tricks_played": sum(taken),
            "last_leader": last_leader,
            "last_winner": self._read(
                "winner", lambda text: NONE if text == "-" else self._seat(text)
            ),
            "leader": leader,
            "seat": (leader + len(faces)) % n,
            "first_player": self._read("first", self._seat),
            "hand": hand,
            "phase": phase,
            "padding": [0, 0, 0, 0],
        }

    def _numbers(self, key: str, low: int, high: int) -> list[int]:
        return self._read(key, lambda text: _row(text, self._n, low, high))

    def _seat(self, text: str) -> int:
        return number(text, 0, self._n - 1)

    def _seat_set(self, text: str) -> int:
        return sum(1 << self._seat(item) for item in set(items(text)))

    def _bids(self, text: str, hand: int) -> list[int]:
        bids = split(text, ",", self._n)
        return _padded([NONE if bid == "-" else number(bid, 0, hand) for bid in bids])

    def _rounds(self, text: str, finished: int) -> list[list[int]]:
        rows = [
            _row(row, self._n, -POINTS_MAX, POINTS_MAX) for row in text.split("/") if text != "-"
        ]
        if len(rows) != finished:
            raise ValueError(f"{len(rows)} hands, but {finished} are finished")
        return rows + [[0] * SEATS_MAX for _ in range(HANDS_MAX - finished)]

    def _last_trick(self, text: str) -> _Trick:
        if text == "-":
            return NONE, [], []
        trick = self._trick(text)
        if len(trick[1]) != self._n:
            raise ValueError(f"a finished trick has {self._n} dice")
        return trick

    def _trick(self, text: str) -> _Trick:
        leader, *dice = text.split(".")
        if len(dice) > self._n:
            raise ValueError(f"{len(dice)} dice in a trick of {self._n} seats")
        pairs = [split(die, ":", 2) for die in dice]
        return (
            self._seat(leader),
            [kind_number(kind) for kind, _ in pairs],
            [face_number(face) for _, face in pairs],
        )


def _dice(counts: list[int]) -> str:
    return ".".join(KINDS[kind] for kind in range(len(KINDS)) for _ in range(counts[kind])) or "-"


def _counts(text: str) -> list[int]:
    kinds = [kind_number(name) for name in items(text)]
    return [kinds.count(kind) for kind in range(len(KINDS))]


def _set(bits: int, names: tuple[str, ...]) -> str:
    return ".".join(name for number, name in enumerate(names) if bits >> number & 1) or "-"


def _colours(text: str) -> int:
    kinds = {kind_number(name) for name in items(text)}
    if not kinds <= set(COLOURS):
        raise ValueError(f"colours are {', '.join(KINDS[kind] for kind in COLOURS)}")
    return sum(1 << kind for kind in kinds)


def _seats(count: int) -> tuple[str, ...]:
    return tuple(map(str, range(count)))


def _trick(leader: int, kinds: list[int], faces: list[int], count: int) -> str:
    dice = [f"{KINDS[kinds[place]]}:{FACES[faces[place]]}" for place in range(count)]
    return "-" if leader == NONE else ".".join([str(leader), *dice])


def _row(text: str, count: int, low: int, high: int) -> list[int]:
    return _padded([number(value, low, high) for value in split(text, ",", count)])


def _rows(rows: list[list[int]]) -> list[list[int]]:
    full = [row + [0] * (COLUMNS - len(row)) for row in rows]
    return full + [[0] * COLUMNS for _ in range(SEATS_MAX - len(rows))]


def _padded(values: list[int]) -> list[int]:
    return values + [0] * (SEATS_MAX - len(values))
