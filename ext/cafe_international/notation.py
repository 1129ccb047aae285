"""A position of Café International as one line of text, both ways.

``phase=turn active=0 opening=0 chairs=8:italy_man.14:joker_woman:africa bar=usa_man bag=unknown
hands=cuba_man.cuba_man/- limits=5,5 totals=3,0 out=- seated=italy_man:8:0:2 completed=- lone=-
birthday=off parties=- passes=0``. Chairs and tables count from 1. ``bag`` is in the order of
drawing, ``unknown`` where it is not to be seen; what it holds follows from the rest. ``seated`` are
the turn's guests with their chairs and what they scored at each of its tables, ``-`` is none.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from tavolata.ext.cafe_international.board import (
    BAR,
    CHAIR_NATIONS,
    CHAIR_TABLES,
    COUNTS,
    KINDS,
    NATIONS,
    TABLE_CHAIRS,
    TABLE_NATIONS,
    chair_number,
    is_joker,
    is_man,
    kind_number,
    nation_number,
)
from tavolata.ext.core import line
from tavolata.ext.core.face import State

NONE = 255
UNKNOWN = "unknown"
PHASES = ("turn", "limit", "birthday", "over")
TURN, LIMIT, BIRTHDAY, OVER = range(len(PHASES))
BIRTHDAY_STATES = ("off", "waiting", "named", "declined")
NAMED = BIRTHDAY_STATES.index("named")
SEATS_MAX = 5
GUESTS_MAX = 4
COMPLETED_MAX = 5
TILES = sum(COUNTS)
POINTS_MAX = 100_000

Value = TypeVar("Value")
_Guest = tuple[int, int]  # kind and declared nation, or NONE
_Seated = tuple[int, int, list[int]]  # kind, chair, points at its tables


def format_state(state: State, seat_count: int) -> str:
    """The line of a state whose fields are given."""
    seats = range(seat_count)
    words = {
        "phase": PHASES[state["phase"]],
        "active": state["seat"],
        "opening": state["opening"],
        "chairs": _joined(
            _chair(chair, kind, state["declared"][chair])
            for chair, kind in enumerate(state["guests"])
            if kind != NONE
        ),
        "bar": _joined(KINDS[kind] for kind in state["bar"][: state["bar_count"]]),
        "bag": _bag(state),
        "hands": "/".join(_hand(state["hands"][seat]) for seat in seats),
        "limits": ",".join(str(state["limits"][seat]) for seat in seats),
        "totals": ",".join(str(state["totals"][seat]) for seat in seats),
        "out": _joined(map(str, state["out"][: state["out_count"]])),
        "seated": _joined(_seated(state, at) for at in range(state["seated_count"])),
        "completed": _joined(
            str(table + 1) for table in state["completed"][: state["completed_count"]]
        ),
        "lone": "-" if state["lone"] == NONE else state["lone"] + 1,
        "birthday": birthday_word(state),
        "parties": _joined(
            str(table + 1) for table in range(len(TABLE_CHAIRS)) if state["parties"] >> table & 1
        ),
        "passes": state["passes"],
    }
    return " ".join(f"{key}={value}" for key, value in words.items())


def birthday_word(state: State) -> str:
    """``off``, ``waiting``, ``declined`` or the nation that was named."""
    if state["birthday"] == NAMED:
        return NATIONS[state["birthday_nation"]]
    return BIRTHDAY_STATES[state["birthday"]]


def parse_state(text: str, seat_count: int) -> State:
    """The fields of a state from its line; ValueError names the word that is wrong."""
    return _Line(text, seat_count).state()


class _Line(line.Words):
    """The words of a position at a table with ``seat_count`` seats."""

    def __init__(self, text: str, seat_count: int) -> None:
        super().__init__(text)
        self._n = seat_count

    def state(self) -> State:
        guests = self.read("chairs", _chairs)
        hands = self.read(
            "hands", lambda text: [_kinds(part) for part in line.split(text, "/", self._n)]
        )
        bar = self.read("bar", lambda text: _at_most(_kinds(text), len(BAR)))
        bag = _unseen(
            [
                *(kind for kind, _ in guests.values()),
                *bar,
                *(kind for hand in hands for kind in hand),
            ]
        )
        seated = self.read("seated", lambda text: _at_most(_seated_guests(text), GUESTS_MAX))
        completed = self.read("completed", lambda text: _at_most(_tables(text), COMPLETED_MAX))
        parties = self.read("parties", lambda text: sum(1 << table for table in _tables(text)))
        out = self.read("out", self._seats)
        birthday, nation = self.read("birthday", _birthday)
        women, men, natives = _counts(guests)
        return {
            "free": _words(set(range(len(CHAIR_TABLES))) - set(guests)),
            "company": _words(
                {
                    chair
                    for table, chairs in enumerate(TABLE_CHAIRS)
                    if women[table] + men[table]
                    for chair in chairs
                }
            ),
            "jokers": _words({chair for chair, (kind, _) in guests.items() if is_joker(kind)}),
            "blocked": [
                sum(1 << table for table in range(len(women)) if women[table] > men[table]),
                sum(1 << table for table in range(len(women)) if women[table] < men[table]),
            ],
            "unmended": _to_mend([chair for _, chair, _ in seated], women, men, parties),
            "parties": parties,
            "held": _padded([sum(1 << kind for kind in set(hand)) for hand in hands], 0),
            "totals": self._numbers("totals", -POINTS_MAX, POINTS_MAX),
            "guests": [guests.get(chair, (NONE, 0))[0] for chair in range(len(CHAIR_TABLES))],
            "declared": [guests.get(chair, (0, NONE))[1] for chair in range(len(CHAIR_TABLES))],
            "women": women,
            "men": men,
            "natives": natives,
            "hands": [
                [hand.count(kind) for kind in range(len(KINDS))]
                for hand in [*hands, *([[]] * (SEATS_MAX - self._n))]
            ],
            "hand_sizes": _padded([len(hand) for hand in hands], 0),
            "limits": self._numbers("limits", 0, 5),
            "bag": bag,
            "order": self.read("bag", lambda text: _order(text, bag)),
            "bag_size": sum(bag),
            "bar": bar + [0] * (len(BAR) - len(bar)),
            "bar_count": len(bar),
            "out": _padded(out, NONE),
            "out_count": len(out),
            "seated_kinds": _filled([kind for kind, _, _ in seated], GUESTS_MAX),
            "seated_chairs": _filled([chair for _, chair, _ in seated], GUESTS_MAX),
            "booked": [points for _, _, points in seated]
            + [[0, 0] for _ in range(GUESTS_MAX - len(seated))],
            "seated_count": len(seated),
            "completed": _filled(completed, COMPLETED_MAX),
            "completed_count": len(completed),
            "opening": self.read("opening", lambda text: line.number(text, 0, 1)),
            "lone": self.read("lone", lambda text: NONE if text == "-" else chair_number(text)),
            "birthday": birthday,
            "birthday_nation": nation,
            "passes": self.read("passes", lambda text: line.number(text, 0, self._n)),
            "seat": self.read("active", self._seat),
            "phase": self.read("phase", lambda text: line.place(text, PHASES)),
            "padding": [0, 0, 0, 0],
        }

    def _numbers(self, key: str, low: int, high: int) -> list[int]:
        return self.read(
            key,
            lambda text: _padded(
                [line.number(part, low, high) for part in line.split(text, ",", self._n)], 0
            ),
        )

    def _seat(self, text: str) -> int:
        return line.number(text, 0, self._n - 1)

    def _seats(self, text: str) -> list[int]:
        seats = [self._seat(item) for item in line.items(text)]
        if len(set(seats)) != len(seats):
            raise ValueError("a seat goes out once")
        return seats


def _counts(guests: dict[int, _Guest]) -> tuple[list[int], list[int], list[int]]:
    """Women, men and natives at each table (CI-13, CI-19)."""
    women, men, natives = ([0] * len(TABLE_CHAIRS) for _ in range(3))
    for chair, (kind, nation) in guests.items():
        for table in CHAIR_TABLES[chair]:
            (men if is_man(kind) else women)[table] += 1
            home = TABLE_NATIONS[table]
            counts_as = (nation in (NONE, home)) if is_joker(kind) else kind // 2 == home
            natives[table] += counts_as
    return women, men, natives


def _to_mend(chairs: list[int], women: list[int], men: list[int], parties: int) -> int:
    """Tables of these chairs where CI-7 does not hold."""
    tables: set[int] = set()
    for chair in chairs:
        if all(women[table] + men[table] < 2 for table in CHAIR_TABLES[chair]):
            tables.update(CHAIR_TABLES[chair])
        tables.update(
            table
            for table in CHAIR_TABLES[chair]
            if abs(women[table] - men[table]) > 1 and not parties >> table & 1
        )
    return sum(1 << table for table in tables)


def _unseen(seen: list[int]) -> list[int]:
    """What the bag holds when these guests are elsewhere."""
    bag = [count - seen.count(kind) for kind, count in enumerate(COUNTS)]
    for kind, left in enumerate(bag):
        if left < 0:
            raise ValueError(f"{KINDS[kind]}: there are {COUNTS[kind]}, not {COUNTS[kind] - left}")
    return bag


def _order(text: str, bag: list[int]) -> list[int]:
    if text == UNKNOWN:
        return [0] * TILES
    kinds = _kinds(text)
    if [kinds.count(kind) for kind in range(len(KINDS))] != bag:
        raise ValueError(
            "not the guests that are nowhere else; write unknown where it is not known"
        )
    return [0] * (TILES - len(kinds)) + [1 + kind for kind in kinds]


def _bag(state: State) -> str:
    order = state["order"][TILES - state["bag_size"] :]
    return _joined(KINDS[kind - 1] for kind in order) if all(order) else UNKNOWN


def _chair(chair: int, kind: int, nation: int) -> str:
    declared = "" if nation == NONE else f":{NATIONS[nation]}"
    return f"{chair + 1}:{KINDS[kind]}{declared}"


def _chairs(text: str) -> dict[int, _Guest]:
    guests: dict[int, _Guest] = {}
    for item in line.items(text):
        number, _, rest = item.partition(":")
        kind, _, nation = rest.partition(":")
        chair = chair_number(number)
        if chair in guests:
            raise ValueError(f"chair {number} is taken twice")
        guests[chair] = (kind_number(kind), nation_number(nation) if nation else NONE)
        _check_guest(chair, *guests[chair])
    return guests


def _check_guest(chair: int, kind: int, nation: int) -> None:
    here = CHAIR_NATIONS[chair]
    if not is_joker(kind) and (kind // 2 not in here or nation != NONE):
        raise ValueError(f"{KINDS[kind]} does not sit so on chair {chair + 1}")
    if nation != NONE and nation not in here:
        raise ValueError(f"chair {chair + 1} has no table of {NATIONS[nation]}")


def _seated(state: State, at: int) -> str:
    chair = state["seated_chairs"][at]
    points = state["booked"][at][: len(CHAIR_TABLES[chair])]
    return ":".join([KINDS[state["seated_kinds"][at]], str(chair + 1), *map(str, points)])


def _seated_guests(text: str) -> list[_Seated]:
    guests = []
    for item in line.items(text):
        name, mark, rest = item.partition(":")
        if not mark:
            raise ValueError(f"{item!r} is no guest on a chair; one is like italy_man:8:0:2")
        number, *points = rest.split(":")
        chair = chair_number(number)
        if len(points) != len(CHAIR_TABLES[chair]):
            raise ValueError(f"chair {number} has {len(CHAIR_TABLES[chair])} tables")
        booked = [line.number(value, 0, 2 * 8) for value in points]
        guests.append((kind_number(name), chair, booked + [0] * (2 - len(booked))))
    return guests


def _tables(text: str) -> list[int]:
    return [line.number(item, 1, len(TABLE_CHAIRS)) - 1 for item in line.items(text)]


def _birthday(text: str) -> tuple[int, int]:
    if text in BIRTHDAY_STATES and text != "named":
        return BIRTHDAY_STATES.index(text), NONE
    return NAMED, nation_number(text)


def _words(chairs: set[int]) -> list[int]:
    bits = sum(1 << chair for chair in chairs)
    return [bits & (1 << 64) - 1, bits >> 64]


def _hand(counts: list[int]) -> str:
    return _joined(KINDS[kind] for kind, count in enumerate(counts) for _ in range(count))


def _kinds(text: str) -> list[int]:
    return [kind_number(name) for name in line.items(text)]


def _joined(items: Iterable[str]) -> str:
    return ".".join(items) or "-"


def _at_most(items: list[Value], count: int) -> list[Value]:
    if len(items) > count:
        raise ValueError(f"{len(items)} are too many; {count} at most")
    return items


def _filled(values: list[int], count: int) -> list[int]:
    return values + [0] * (count - len(values))


def _padded(values: list[int], filler: int) -> list[int]:
    return values + [filler] * (SEATS_MAX - len(values))
