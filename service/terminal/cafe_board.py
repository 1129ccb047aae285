"""The board of Café International for people: drawn, told by tables, and what a chair scores."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from tavolata.ext.cafe_international.board import (
    CHAIR_TABLES,
    KINDS,
    NATION_NAMES,
    NATIONS,
    TABLE_CHAIRS,
    TABLE_NATIONS,
    is_joker,
    is_man,
)
from tavolata.ext.core import seeds
from tavolata.service.terminal.words import counted, listed
from tavolata.v1 import cafe_international_pb2 as pb

_CELL = 6  # letters of a cell: 13 cells fit into 80 columns
_CODES = dict(
    zip(NATIONS, "AF CN CU FR DE GB IN IT RU ES TR US".split(), strict=True)  # noqa: SIM905
)
_DATA = seeds.load_json("cafe_international", "board")
_WIDTH, _HEIGHT = _DATA["grid"]["columns"], _DATA["grid"]["rows"]
_TABLE_AT = {(each["column"], each["row"]): each["id"] for each in _DATA["tables"]}
_CHAIR_AT = {(each["column"], each["row"]): each["id"] for each in _DATA["chairs"]}
FULL = 4
NATIVE_POINTS = 8  # CI-13

Guest: TypeAlias = pb.CafeInternationalGuest.ValueType
Nation: TypeAlias = pb.CafeInternationalNation.ValueType


def kind_of(value: Guest) -> int:
    """The number that the rules give a guest."""
    name = pb.CafeInternationalGuest.Name(value).removeprefix("CAFE_INTERNATIONAL_GUEST_")
    return KINDS.index(name.lower())


def guest(value: Guest) -> str:
    """`Italy woman`, `joker man`."""
    kind = kind_of(value)
    sex = "man" if is_man(kind) else "woman"
    return f"{'joker' if is_joker(kind) else NATION_NAMES[kind // 2]} {sex}"


def guests(values: Iterable[Guest]) -> str:
    """`Italy woman, 2 USA men and joker man`; `nobody` for none."""
    counts: dict[Guest, int] = {}
    for value in values:
        counts[value] = counts.get(value, 0) + 1
    if not counts:
        return "nobody"
    return listed(
        guest(value) if count == 1 else f"{count} {guest(value)[:-2]}en"
        for value, count in counts.items()
    )


def nation(value: Nation) -> str:
    """`Great Britain`."""
    return NATION_NAMES[value - 1]


def tables_of(value: Nation) -> list[int]:
    """The numbers of the two tables of a nation."""
    return [table + 1 for table, home in enumerate(TABLE_NATIONS) if home == value - 1]


def where(chair: int) -> str:
    """`Africa, table 1, and Italy, table 2`: the tables of a chair."""
    return " and ".join(table_name(table + 1) for table in CHAIR_TABLES[chair - 1])


def table_name(table: int) -> str:
    """`Italy (table 2)`."""
    return f"{NATION_NAMES[TABLE_NATIONS[table - 1]]} (table {table})"


class Board:
    """Who sits where; chairs and tables by their numbers."""

    def __init__(self, view: pb.CafeInternationalView) -> None:
        self._guests = {each.chair: each for each in view.guests}
        self._birthday = view.birthday
        self._waived = set(view.parties)

    def at_table(self, table: int) -> list[pb.CafeInternationalSitting]:
        """The guests at a table by their chairs."""
        chairs = (chair + 1 for chair in TABLE_CHAIRS[table - 1])
        return [self._guests[chair] for chair in chairs if chair in self._guests]

    def free_chairs(self, table: int) -> list[int]:
        """The free chairs of a table."""
        return [chair + 1 for chair in TABLE_CHAIRS[table - 1] if chair + 1 not in self._guests]

    def is_free(self, chair: int) -> bool:
        """Whether nobody sits there."""
        return chair not in self._guests

    def points(self, value: Guest, chair: int, declared: Nation) -> int:
        """CI-12 to CI-14, CI-24: what a guest would score on a free chair, parties apart."""
        return sum(
            self._points_at(table + 1, kind_of(value), declared)
            for table in CHAIR_TABLES[chair - 1]
        )

    def _points_at(self, table: int, kind: int, declared: Nation) -> int:
        there = self.at_table(table)
        count = len(there) + 1
        natives = sum(
            _is_native(table, kind_of(each.guest), each.nation) for each in there
        ) + _is_native(table, kind, declared)
        points = NATIVE_POINTS if count == natives == FULL else count if count > 1 else 0
        return 2 * points if TABLE_NATIONS[table - 1] == self._birthday - 1 else points

    def needs_another(self, value: Guest, chair: int) -> bool:
        """CI-7, CI-8: whether a guest on a free chair would be alone or out of balance there."""
        man = is_man(kind_of(value))
        alone = True
        for table in CHAIR_TABLES[chair - 1]:
            there = [is_man(kind_of(each.guest)) for each in self.at_table(table + 1)]
            alone = alone and not there
            men = sum(there) + man
            women = len(there) + 1 - men
            if abs(women - men) > 1:
                return True
        return alone

    def to_mend(self, chairs: Iterable[int]) -> list[str]:
        """CI-7: what is wrong at these chairs, in words."""
        found: dict[str, None] = {}
        for chair in chairs:
            tables = [table + 1 for table in CHAIR_TABLES[chair - 1]]
            if all(len(self.at_table(table)) < 2 for table in tables):
                found[f"the guest on chair {chair} is alone"] = None
            for table in tables:
                men = sum(is_man(kind_of(each.guest)) for each in self.at_table(table))
                women = len(self.at_table(table)) - men
                if abs(women - men) > 1 and table not in self._waived:
                    sexes = f"{counted(women, 'woman', 'women')} and {counted(men, 'man', 'men')}"
                    found[f"{table_name(table)} has {sexes}"] = None
        return list(found)

    def after(self, value: Guest, chair: int) -> Board:
        """The board once a guest sits on a free chair."""
        sitting = pb.CafeInternationalSitting(chair=chair, guest=value)
        view = pb.CafeInternationalView(
            guests=[*self._guests.values(), sitting], birthday=self._birthday, parties=self._waived
        )
        return Board(view)

    def told(self) -> str:
        """Every table with guests and room for more, by nation; which are full, which empty."""
        order = sorted(range(1, len(TABLE_CHAIRS) + 1), key=lambda t: (TABLE_NATIONS[t - 1], t))
        counts = {table: len(self.at_table(table)) for table in order}
        taken = [self.table_told(table) for table in order if 0 < counts[table] < FULL]
        full = _by_nation(table for table in order if counts[table] == FULL)
        empty = _by_nation(table for table in order if not counts[table])
        return " ".join(
            [
                *taken,
                *([f"Full: {full}."] if full else []),
                f"Empty: {empty}." if empty else "No table is empty.",
            ]
        )

    def table_told(self, table: int) -> str:
        """`Italy (table 2): Italy man on chair 8; free: 2 and 9 (also table 3, Italy).`"""
        there = ", ".join(
            f"{guest(each.guest)}{_declared(each)} on chair {each.chair}"
            for each in self.at_table(table)
        )
        free = [self._free_chair(chair, table) for chair in self.free_chairs(table)]
        waived = " Women and men need no balance here." if table in self._waived else ""
        room = f"free: {listed(free)}" if free else "full"
        return f"{table_name(table)}: {there or 'nobody'}; {room}.{waived}"

    def _free_chair(self, chair: int, table: int) -> str:
        others = [other + 1 for other in CHAIR_TABLES[chair - 1] if other + 1 != table]
        if not others:
            return str(chair)
        return f"{chair} (also table {others[0]}, {NATION_NAMES[TABLE_NATIONS[others[0] - 1]]})"

    def chair_told(self, chair: int) -> str:
        """`Chair 30: free; at Cuba (table 19).`"""
        sitting = self._guests.get(chair)
        who = "free" if sitting is None else guest(sitting.guest) + _declared(sitting)
        return f"Chair {chair}: {who}; at {where(chair)}."

    def drawing(self) -> str:
        """The board in 13 rows of 78 letters."""
        return "\n".join(
            "".join(self._cell(column, row).center(_CELL) for column in range(_WIDTH)).rstrip()
            for row in range(_HEIGHT)
        )

    def legend(self) -> str:
        """What the drawing shows."""
        nations = ", ".join(
            f"{_CODES[each]} {name}" for each, name in zip(NATIONS, NATION_NAMES, strict=True)
        )
        legend = (
            "[IT2] is Italy's table 2, a number a free chair, ITw a woman of Italy, JOm a joker "
            "man, JOm:IT one who counts as of Italy."
        )
        return f"{legend}\n{nations}."

    def _cell(self, column: int, row: int) -> str:
        table = _TABLE_AT.get((column, row))
        if table is not None:
            return f"[{_CODES[NATIONS[TABLE_NATIONS[table - 1]]]}{table}]"
        chair = _CHAIR_AT.get((column, row))
        if chair is None:
            return ""
        sitting = self._guests.get(chair)
        return str(chair) if sitting is None else _short(sitting)


def _by_nation(tables: Iterable[int]) -> str:
    """`Africa (1 and 20) and Italy (2)`; empty for no tables."""
    homes: dict[str, list[str]] = {}
    for table in tables:
        homes.setdefault(NATION_NAMES[TABLE_NATIONS[table - 1]], []).append(str(table))
    return listed(f"{home} ({listed(each)})" for home, each in homes.items()) if homes else ""


def _short(sitting: pb.CafeInternationalSitting) -> str:
    """`ITw`, `JOm`, `JOm:IT`."""
    kind = kind_of(sitting.guest)
    who = "JO" if is_joker(kind) else _CODES[NATIONS[kind // 2]]
    declared = f":{_CODES[NATIONS[sitting.nation - 1]]}" if sitting.nation else ""
    return f"{who}{'m' if is_man(kind) else 'w'}{declared}"


def _declared(sitting: pb.CafeInternationalSitting) -> str:
    return f" as of {nation(sitting.nation)}" if sitting.nation else ""


def _is_native(table: int, kind: int, declared: Nation) -> bool:
    """CI-13, CI-19."""
    home = TABLE_NATIONS[table - 1]
    if is_joker(kind):
        return declared in (pb.CAFE_INTERNATIONAL_NATION_UNSPECIFIED, home + 1)
    return kind // 2 == home
