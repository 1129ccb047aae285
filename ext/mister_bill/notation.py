"""A position of Mister Bill as one line of text, both ways.

``round=1 phase=turn dealer=2 numbers=1,3,2 active=0 turns=4 stall=0 left=1
hands=sushi.waiter_a/pizza/- sizes=2,1,0 gone=2,4,... out=2 complete=1 waiter=- target=- givers=-
committed=- gifts=-,-,- facts=0>1:pizza+0.sushi-2;*>1:mister_bill-0 points=0,0,4 totals=0,0,0``.
What belongs to different seats or rounds stands between commas or slashes, items between dots,
``-`` is none. ``facts`` has an entry for each observer and holder about whom it knows anything:
``+`` is a kind held at the last sighting with the cards lost unseen since, ``-`` one known absent
with the cards gained; the observer ``*`` is every spectator. ``left`` tells whether a card has left
play in this turn.
"""

from __future__ import annotations

from tavolata.ext.core import line
from tavolata.ext.core.face import State
from tavolata.ext.mister_bill.cards import KINDS, PILES, WAITERS, kind_number

NONE = 255
PHASES = ("turn", "gift", "booked", "over")
TURN, GIFT, BOOKED, OVER = range(len(PHASES))
SEATS_MAX = 8
ROW = 16  # bytes of a row of facts and of the counts of cards gone
ABSENT = 128  # facts: 1 + cards lost below, from here on cards gained
FACT_MAX = 126
POINTS_MAX = 8  # of a round
COPIES_MAX = 4
TURNS_MAX = 65535


def finished_rounds(state: State) -> int:
    """How many rounds have been booked."""
    number: int = state["round"]
    return number if state["phase"] in (BOOKED, OVER) else number - 1


def format_state(state: State, seat_count: int) -> str:
    """The line of a state whose fields are given."""
    n = seat_count

    def numbers(values: list[int]) -> str:
        return ",".join(map(str, values[:n]))

    words = {
        "round": state["round"],
        "phase": PHASES[state["phase"]],
        "dealer": state["dealer"],
        "numbers": numbers(state["numbers"]),
        "active": state["active"],
        "turns": state["turns"],
        "stall": state["stall"],
        "left": state["has_left"],
        "hands": "/".join(_set(hand, KINDS) for hand in state["hands"][:n]),
        "sizes": numbers(state["sizes"]),
        "gone": ",".join(map(str, state["gone"][: len(KINDS)])),
        "out": ".".join(map(str, state["out_order"][: state["out_count"]])) or "-",
        "complete": state["completed"],
        "waiter": _kind(state["waiter"]),
        "target": "-" if state["target"] == NONE else state["target"],
        "givers": _set(state["givers"], _seats(n)),
        "committed": _set(state["committed"], _seats(n)),
        "gifts": ",".join(_kind(gift) for gift in state["gifts"][:n]),
        "facts": _facts(state["facts"], n),
        "points": "/".join(numbers(row) for row in state["points"][: state["round"]]),
        "totals": numbers(state["totals"]),
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
        number = self.read("round", lambda text: line.number(text, 1, len(PILES)))
        out = self.read("out", self._seats)
        return {
            "totals": self._numbers("totals", 0, POINTS_MAX * len(PILES)),
            "hands": self.read(
                "hands", lambda text: _padded([_kinds(part) for part in line.split(text, "/", n)])
            ),
            "turns": self.read("turns", lambda text: line.number(text, 0, TURNS_MAX)),
            "stall": self.read("stall", lambda text: line.number(text, 0, TURNS_MAX)),
            "facts": self.read("facts", self._facts),
            "points": self.read("points", lambda text: self._rounds(text, number)),
            "gone": self.read("gone", _counts),
            "numbers": self._numbers("numbers", 1, n),
            "sizes": self._numbers("sizes", 0, len(KINDS)),
            "gifts": self.read("gifts", self._gifts),
            "out_order": out + [NONE] * (SEATS_MAX - len(out)),
            "out_count": len(out),
            "completed": self.read("complete", lambda text: line.number(text, 0, n)),
            "seats_in": (1 << n) - 1 - sum(1 << seat for seat in out),
            "givers": self.read("givers", self._seat_set),
            "committed": self.read("committed", self._seat_set),
            "target": self.read("target", lambda text: NONE if text == "-" else self._seat(text)),
            "waiter": self.read("waiter", _waiter),
            "shifts": 0,
            "has_left": self.read("left", lambda text: line.number(text, 0, 1)),
            "active": self.read("active", self._seat),
            "dealer": self.read("dealer", self._seat),
            "round": number,
            "phase": self.read("phase", lambda text: line.place(text, PHASES)),
            "padding": [0] * 7,
        }

    def _numbers(self, key: str, low: int, high: int) -> list[int]:
        return self.read(key, lambda text: _row(text, self._n, low, high))

    def _seat(self, text: str) -> int:
        return line.number(text, 0, self._n - 1)

    def _seats(self, text: str) -> list[int]:
        seats = [self._seat(item) for item in line.items(text)]
        if len(set(seats)) < len(seats):
            raise ValueError("a seat stands there twice")
        return seats

    def _seat_set(self, text: str) -> int:
        return sum(1 << seat for seat in self._seats(text))

    def _gifts(self, text: str) -> list[int]:
        gifts = [
            NONE if gift == "-" else kind_number(gift) for gift in line.split(text, ",", self._n)
        ]
        return gifts + [NONE] * (SEATS_MAX - len(gifts))

    def _rounds(self, text: str, number: int) -> list[list[int]]:
        rows = [_row(row, self._n, 0, POINTS_MAX) for row in line.split(text, "/", number)]
        return rows + [[0] * SEATS_MAX for _ in range(len(PILES) - number)]

    def _facts(self, text: str) -> list[list[list[int]]]:
        rows = [[[0] * ROW for _ in range(SEATS_MAX)] for _ in range(SEATS_MAX + 1)]
        for entry in [] if text == "-" else text.split(";"):
            who, items = line.split(entry, ":", 2)
            observer, holder = line.split(who, ">", 2)
            row = rows[self._n if observer == "*" else self._seat(observer)][self._seat(holder)]
            for item in line.items(items):
                kind, fact = _fact(item)
                row[kind] = fact
        return rows


def _facts(rows: list[list[list[int]]], spectators: int) -> str:
    entries = []
    for observer, row in enumerate(rows):
        for holder, facts in enumerate(row):
            known = [_fact_word(kind, facts[kind]) for kind in range(len(KINDS)) if facts[kind]]
            if known:
                name = "*" if observer == spectators else observer
                entries.append(f"{name}>{holder}:{'.'.join(known)}")
    return ";".join(entries) or "-"


def _fact_word(kind: int, fact: int) -> str:
    return f"{KINDS[kind]}-{fact - ABSENT}" if fact >= ABSENT else f"{KINDS[kind]}+{fact - 1}"


def _fact(text: str) -> tuple[int, int]:
    mark = "+" if "+" in text else "-"
    kind, number = line.split(text, mark, 2)
    cards = line.number(number, 0, FACT_MAX)
    return kind_number(kind), cards + (1 if mark == "+" else ABSENT)


def _kind(kind: int) -> str:
    return "-" if kind == NONE else KINDS[kind]


def _kinds(text: str) -> int:
    kinds = [kind_number(name) for name in line.items(text)]
    if len(set(kinds)) < len(kinds):
        raise ValueError("a hand holds at most one card of a kind")
    return sum(1 << kind for kind in kinds)


def _waiter(text: str) -> int:
    if text == "-":
        return NONE
    kind = kind_number(text)
    if kind not in WAITERS:
        raise ValueError(f"waiters are {', '.join(KINDS[waiter] for waiter in WAITERS)}")
    return kind


def _counts(text: str) -> list[int]:
    counts = [line.number(part, 0, COPIES_MAX) for part in line.split(text, ",", len(KINDS))]
    return counts + [0] * (ROW - len(KINDS))


def _set(bits: int, names: tuple[str, ...]) -> str:
    return ".".join(name for number, name in enumerate(names) if bits >> number & 1) or "-"


def _seats(count: int) -> tuple[str, ...]:
    return tuple(map(str, range(count)))


def _row(text: str, count: int, low: int, high: int) -> list[int]:
    return _padded([line.number(value, low, high) for value in line.split(text, ",", count)])


def _padded(values: list[int]) -> list[int]:
    return values + [0] * (SEATS_MAX - len(values))
