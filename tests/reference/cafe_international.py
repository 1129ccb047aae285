"""Café International in plain Python, every rule spelled out (CI-0 to CI-26).

Whether a guest may be seated is found by trying: the turn is played on in every way it could.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterator, Mapping, Sequence

from tests.reference.cafe_board import (
    ALL_TILES,
    BAR,
    CHAIRS,
    CHAIRS_OF,
    FITTING,
    KINDS,
    NATION_OF,
    NATIONS,
    SEX_OF,
    TABLE_NATION,
    TABLES_OF,
    Guest,
    fits,
    in_order,
    is_joker,
    is_native,
    nations_of,
)
from tests.reference.chance import Chance, KeyedChance, Outcome, Script, ScriptedChance
from tests.reference.model import (
    SPECTATOR,
    BadOption,
    EventLog,
    IllegalMove,
    checked_options,
    checked_seats,
    placement_utility,
)

SEATS = range(2, 6)
HAND_LIMIT = 5

OPTIONS: dict[str, Sequence[object]] = {
    "five_players": [False, True],
    "draw_less": ["optional", "automatic"],
    "swap_same_sex": [False, True],
    "joker_identity": ["wild", "declared"],
    "bag_low": [4, 3],
    "birthday": [False, True],
    "birthday_threshold": [50, *(number for number in range(1, 1000) if number != 50)],
    "regulars": [False, True],
}


class CafeInternational:
    """A match of Café International; see `tests.reference.model.Model`."""

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
        if seats == 5 and not self.options["five_players"]:  # CI-0
            raise BadOption("five_players", [True])
        self.chance: Chance = chance or KeyedChance(seed)
        self.log = EventLog()
        self.turn = 0
        self.over = False
        self.chairs: dict[int, Guest | None] = dict.fromkeys(CHAIRS)
        self.bar: list[str] = []
        self.points = [0] * seats
        self.limits = [HAND_LIMIT] * seats
        self.out: list[int] = []
        self.passes = 0
        self.exempt_chair: int | None = None
        self.parties: list[int] = []
        self.birthday: str | None = None
        self.birthday_state = "waiting" if self.options["birthday"] else "off"
        self.round_points: list[list[int]] = []  # there are no rounds
        self.actions: list[tuple[int, str]] = []
        # CI-4
        self.bag = self.chance.shuffle("bag", 0, ALL_TILES)
        self.hands: list[list[str]] = [[] for _ in range(seats)]
        for seat in range(seats):
            self._draw(seat, HAND_LIMIT)
        self.active = self.chance.pick("start", 0, seats)
        self.log.add("started", {"seat": self.active})
        self.first_turn = True
        self._start_turn()

    @classmethod
    def with_deal(
        cls, seats: int, options: Mapping[str, object], script: Script, seed: bytes = bytes(32)
    ) -> CafeInternational:
        """A match whose chance outcomes are those of the script, the rest from the seed."""
        return cls(seats, options, seed, ScriptedChance(script, seed))

    @property
    def outcomes(self) -> list[Outcome]:
        return self.chance.outcomes

    # The course of the game

    def _draw(self, seat: int, count: int) -> None:
        """Tiles from the front of the bag; no event where none is drawn."""
        drawn, self.bag = self.bag[:count], self.bag[count:]
        if drawn:
            self.hands[seat] += drawn
            self.log.add("drew", {"seat": seat, "kinds": in_order(drawn)})

    def _start_turn(self) -> None:
        """A seat that can do nothing passes, a forced step (CI-20)."""
        self.phase = "turn"
        self.seated_now: list[tuple[str, int]] = []
        self.booked_now: dict[int, int] = {}
        self.completed_now: list[int] = []
        self.at_bar_now = False
        self.known_legal: list[str] | None = None
        # Whoever has a guest can go to the bar: no need to look at the tables yet.
        if self._find_bar() or self._legal():
            return
        self.passes += 1
        self.log.add("passed", {"seat": self.active})
        if self.passes == self.seats - len(self.out):
            self._end()
        else:
            self._next_seat()

    def _next_seat(self) -> None:
        self.first_turn = False
        self.active = (self.active + 1) % self.seats
        while self.active in self.out:
            self.active = (self.active + 1) % self.seats
        self._start_turn()

    def _turn_is_over(self) -> None:
        """CI-21: whether the game ends; CI-17: with a single seat left it does."""
        still_in = [seat for seat in range(self.seats) if seat not in self.out]
        ends = [
            len(still_in) == 1,
            len(self.bar) == len(BAR),
            all(self.chairs[chair] is not None for chair in CHAIRS),
            len(self.bag) <= self._int("bag_low"),
            any(not self.hands[seat] for seat in still_in),
        ]
        if any(ends):
            self._end()
        else:
            self._next_seat()

    def _int(self, name: str) -> int:
        value = self.options[name]
        assert isinstance(value, int)
        return value

    def _end(self) -> None:
        """CI-22."""
        penalties = [0] * self.seats
        for seat in range(self.seats):
            if seat not in self.out:
                jokers = sum(is_joker(kind) for kind in self.hands[seat])
                penalties[seat] = 5 * (len(self.hands[seat]) - jokers) + 10 * jokers
                self.points[seat] -= penalties[seat]
        self.over = True
        self.phase = "over"
        self.known_legal = []
        self.seated_now = []
        self.completed_now = []
        self.log.add("hands_counted", {"penalties": penalties, "totals": self.totals()})
        self.log.add("match_ended", {"placement": self.placement(), "totals": self.totals()})

    # Who sits where

    def _guests(self, table: int) -> list[Guest]:
        return [guest for chair in CHAIRS_OF[table] if (guest := self.chairs[chair]) is not None]

    def _is_balanced(self, table: int) -> bool:
        """CI-7: women and men differ by at most one; CI-25: a party's table is exempt."""
        women = sum(SEX_OF[guest.kind] == "woman" for guest in self._guests(table))
        men = len(self._guests(table)) - women
        return abs(women - men) <= 1 or table in self.parties

    def _is_alone(self, chair: int) -> bool:
        """CI-7: no other guest at any table of the chair."""
        return all(len(self._guests(table)) == 1 for table in TABLES_OF[chair])

    def _keeps_ci_7(self, chairs: Sequence[int], waived: int | None = None) -> bool:
        """Whether CI-7 holds after something was done on these chairs; it held before.

        Guests that were there can't have become lonely. `waived` is a party's table.
        """
        tables = {table for chair in chairs for table in TABLES_OF[chair]}
        balanced = all(self._is_balanced(table) for table in tables if table != waived)
        lonely = [chair for chair in chairs if self._is_alone(chair)]
        return balanced and all(chair == self.exempt_chair for chair in lonely)

    # What a seating turn may become: CI-8, by trying

    def _party_table(self) -> int | None:
        """CI-25: the table that the tiles of this turn could be making a party at.

        All of them sit there and are of one sex, and at most one other, of that sex, does.
        """
        if not self.options["regulars"] or len(self.seated_now) < 2:
            return None
        chairs = [chair for _, chair in self.seated_now]
        common = set.intersection(*(set(TABLES_OF[chair]) for chair in chairs))
        for table in common:
            guests = self._guests(table)
            sexes = {SEX_OF[guest.kind] for guest in guests}
            if len(sexes) == 1 and len(guests) - len(chairs) <= 1:
                return table
        return None

    def _held_party(self) -> int | None:
        """CI-25: the table at which the turn has made four women or four men."""
        table = self._party_table()
        if table is None or len(self.seated_now) < 3 or len(self._guests(table)) < 4:
            return None
        return table

    def _may_stop(self) -> bool:
        """Whether the turn is legal with the guests seated so far."""
        chairs = [chair for _, chair in self.seated_now]
        if len(chairs) > 2:
            party = self._held_party()
            return party is not None and self._keeps_ci_7(chairs, party)
        if len(chairs) == 1 and self.first_turn:  # CI-10
            return True
        return len(chairs) > 0 and self._keeps_ci_7(chairs)

    def _next_guests(self, among: Collection[int] = CHAIRS) -> Iterator[tuple[str, int]]:
        """Every guest of the hand on every free chair it fits (CI-6), whatever becomes of it.

        After two guests only what goes on with a party (CI-25).
        """
        for kind in in_order(list(set(self.hands[self.active]))):
            for chair in FITTING[kind]:
                if self.chairs[chair] is None and chair in among:
                    if len(self.seated_now) < 2:
                        yield kind, chair
                    elif self._party_table() is not None:
                        self._put(kind, chair)
                        goes_on = self._party_table() is not None
                        self._take_back()
                        if goes_on:
                            yield kind, chair

    def _put(self, kind: str, chair: int) -> None:
        self.hands[self.active].remove(kind)
        self.chairs[chair] = Guest(kind)
        self.seated_now.append((kind, chair))

    def _take_back(self) -> None:
        kind, chair = self.seated_now.pop()
        self.chairs[chair] = None
        self.hands[self.active].append(kind)

    def _can_end(self) -> bool:
        """Whether the seating so far is legal, or can be made so by further guests."""
        if self._may_stop():
            return True
        near = self._mending_chairs()
        return any(self._can_end_with(*guest) for guest in self._next_guests(near))

    def _mending_chairs(self) -> Collection[int]:
        """Where a guest can go on: what is wrong with the seating is wrong at a touched table."""
        if not self.seated_now or self._may_stop():
            return CHAIRS
        touched = {table for _, chair in self.seated_now for table in TABLES_OF[chair]}
        return {chair for table in touched for chair in CHAIRS_OF[table]}

    def _can_end_with(self, kind: str, chair: int) -> bool:
        self._put(kind, chair)
        possible = self._can_end()
        self._take_back()
        return possible

    # Legal actions

    def to_act(self) -> set[int]:
        return set() if self.over else {self.active}

    def legal(self, seat: int) -> list[str]:
        return list(self._legal()) if seat in self.to_act() else []

    def _legal(self) -> list[str]:
        """The legal actions, found once a decision."""
        if self.known_legal is None:
            self.known_legal = self._find_legal()
        return self.known_legal

    def _find_legal(self) -> list[str]:
        """The legal actions of the active seat, in action-number order."""
        if self.phase == "limit":
            most = self._lower_at_most()
            return [f"lower {count}" for count in range(most + 1)]
        if self.phase == "birthday":
            return [*(f"birthday {nation}" for nation in NATIONS), "decline"]
        if not self.seated_now:
            return self._find_seatings() + self._find_bar() + self._find_swaps()
        return self._find_seatings() + (["stop"] if self._may_stop() else [])

    def _find_seatings(self) -> list[str]:
        plain, declared = [], []
        for kind, chair in list(self._next_guests(self._mending_chairs())):
            if not self._can_end_with(kind, chair):
                continue
            if is_joker(kind) and self.options["joker_identity"] == "declared":  # CI-19
                declared += [f"seat {kind} {chair} {nation}" for nation in nations_of(chair)]
            else:
                plain.append(f"seat {kind} {chair}")
        return plain + declared

    def _hand_kinds(self) -> list[str]:
        return in_order(list(set(self.hands[self.active])))

    def _find_bar(self) -> list[str]:
        """CI-16: not a joker."""
        return [f"bar {kind}" for kind in self._hand_kinds() if not is_joker(kind)]

    def _find_swaps(self) -> list[str]:
        return [
            f"swap {kind} {chair}"
            for kind in self._hand_kinds()
            for chair in CHAIRS
            if self._why_no_swap(kind, chair) is None
        ]

    def _why_no_swap(self, kind: str, chair: int) -> str | None:
        """The rule against putting the guest where a joker sits: CI-18."""
        sitting = self.chairs[chair]
        if is_joker(kind) or sitting is None or not is_joker(sitting.kind):
            return "CI-18"
        if chair == self.exempt_chair:
            return "CI-10"
        if not fits(kind, chair):
            return "CI-6"
        if sitting.nation is not None and NATION_OF[kind] != sitting.nation:
            return "CI-19"
        if self.options["swap_same_sex"] and SEX_OF[kind] != SEX_OF[sitting.kind]:
            return "CI-18"
        self.chairs[chair] = Guest(kind)
        keeps = self._keeps_ci_7([chair])
        self.chairs[chair] = sitting
        return None if keeps else "CI-7"

    # Actions

    def play(self, seat: int, action: str) -> None:
        if self.over:
            raise IllegalMove("G-2", "the match is over")
        if seat not in self.to_act():
            raise IllegalMove("G-2", f"seat {seat} is not to act, but {self.to_act()}")
        if action not in self._legal():
            raise IllegalMove(self._why_not(action), f"{action!r} is not legal")
        self.turn += 1
        self.actions.append((seat, action))
        self.passes = 0
        match action.split():
            case ["seat", kind, chair]:
                self._seat(Guest(kind), int(chair))
            case ["seat", kind, chair, nation]:
                self._seat(Guest(kind, nation), int(chair))
            case ["bar", kind]:
                self._go_to_bar(kind)
            case ["swap", kind, chair]:
                self._swap(kind, int(chair))
            case ["stop"]:
                self.log.add("stopped", {"seat": self.active})
                self._seating_is_over()
            case ["lower", count]:
                self._lower(int(count))
                self._draw_up()
            case ["birthday", nation]:
                self._name_birthday(nation)
            case _:
                self._name_birthday(None)

    def _why_not(self, action: str) -> str:
        """The rule that an action, not a legal one, is refused under."""
        words = action.split(" ")
        if action in [f"lower {count}" for count in range(6)] and self.phase == "limit":
            return "CI-15"
        if self.phase != "turn":
            return "G-2"
        if action == "stop":
            return "CI-7" if self.seated_now else "CI-5"
        if len(words) < 2 or words[1] not in self.hands[self.active]:
            return "G-2"
        kind = words[1]
        if words[0] in ("bar", "swap") and is_joker(kind):
            return "G-2"  # no action is called so
        if len(words) == 2 and words[0] == "bar":
            return "CI-5" if self.seated_now else "CI-16"
        if len(words) < 3 or words[2] not in map(str, CHAIRS):
            return "G-2"
        chair = int(words[2])
        if len(words) == 3 and words[0] == "swap":
            return "CI-5" if self.seated_now else self._why_no_swap(kind, chair) or "G-2"
        declares = is_joker(kind) and self.options["joker_identity"] == "declared"
        if words[0] != "seat" or len(words) > 3 + is_joker(kind):
            return "G-2"
        if is_joker(kind) and len(words) != 3 + declares:
            return "CI-19"
        if declares and words[3] not in NATIONS:
            return "G-2"
        return self._why_no_seat(kind, chair, words[3] if declares else None)

    def _why_no_seat(self, kind: str, chair: int, nation: str | None) -> str:
        if self.chairs[chair] is not None or not fits(kind, chair):
            return "CI-6"
        if nation is not None and nation not in nations_of(chair):
            return "CI-19"
        return "CI-25" if len(self.seated_now) > 1 else "CI-7"

    def _seat(self, guest: Guest, chair: int) -> None:
        seat = self.active
        self.hands[seat].remove(guest.kind)
        self.chairs[chair] = guest
        self.seated_now.append((guest.kind, chair))
        if self.exempt_chair is not None and not self._is_alone(self.exempt_chair):
            self.exempt_chair = None  # CI-10
        party = self._held_party()
        completed = [table for table in TABLES_OF[chair] if self._is_native_table(table)]
        points = 0
        for table in TABLES_OF[chair]:
            scored = self._table_points(table)
            if table == party:  # CI-25: in place of what was booked in this turn
                scored = self._party_points(table) - self.booked_now.get(table, 0)
            self.booked_now[table] = self.booked_now.get(table, 0) + scored
            points += scored
        self.points[seat] += points
        self.log.add(
            "seated",
            {
                "seat": seat,
                "kind": guest.kind,
                "chair": chair,
                "nation": guest.nation,
                "points": points,
            },
        )
        for table in sorted(completed):
            self.completed_now.append(table)
            self.log.add("table_completed", {"seat": seat, "table": table})
        if party is not None:
            self.parties.append(party)
            held = {"seat": seat, "table": party, "points": self._party_points(party)}
            self.log.add("party_held", dict(held))
        self._after_points()

    def _is_native_table(self, table: int) -> bool:
        """CI-13: four guests, all of the table's nation."""
        guests = self._guests(table)
        return len(guests) == 4 and all(is_native(guest, table) for guest in guests)

    def _times(self, table: int) -> int:
        """CI-24."""
        return 2 if TABLE_NATION[table] == self.birthday else 1

    def _table_points(self, table: int) -> int:
        """CI-12 and CI-13: what the guest who has just sat down gets at the table."""
        count = len(self._guests(table))
        if count == 1:
            return 0
        return (8 if self._is_native_table(table) else count) * self._times(table)

    def _party_points(self, table: int) -> int:
        """CI-25."""
        return (40 if self._is_native_table(table) else 20) * self._times(table)

    def _after_points(self) -> None:
        """CI-24: the first seat at the threshold is asked at once; then the turn goes on."""
        reached = self.points[self.active] >= self._int("birthday_threshold")
        if self.birthday_state == "waiting" and reached:
            self._ask("birthday")
        else:
            self._go_on()

    def _name_birthday(self, nation: str | None) -> None:
        self.birthday = nation
        self.birthday_state = "declined" if nation is None else "named"
        self.log.add("birthday_named", {"seat": self.active, "nation": nation})
        self._go_on()

    def _go_on(self) -> None:
        """After a guest at the bar its draw; after one at a table what can follow (CI-8)."""
        if self.at_bar_now:
            self._draw(self.active, 1)  # CI-16
            self._turn_is_over()
            return
        self._ask("turn")
        if self._legal() in ([], ["stop"]):
            self._seating_is_over()

    def _ask(self, phase: str) -> None:
        self.phase = phase
        self.known_legal = None

    def _seating_is_over(self) -> None:
        chairs = [chair for _, chair in self.seated_now]
        if self.first_turn and len(chairs) == 1 and self._is_alone(chairs[0]):
            self.exempt_chair = chairs[0]  # CI-10
        most = self._lower_at_most()
        if most > 0 and self.options["draw_less"] == "optional":
            self._ask("limit")
            return
        self._lower(most)
        self._draw_up()

    def _lower_at_most(self) -> int:
        """CI-15: one for each table completed, and never below 0."""
        return min(len(self.completed_now), self.limits[self.active])

    def _lower(self, count: int) -> None:
        """Every decision is told: also that of keeping the limit."""
        self.limits[self.active] -= count
        if count > 0 or self.phase == "limit":
            limit = self.limits[self.active]
            self.log.add("limit_lowered", {"seat": self.active, "limit": limit})

    def _draw_up(self) -> None:
        """CI-15: back to the limit; a hand above it is kept."""
        seat = self.active
        self._draw(seat, max(0, self.limits[seat] - len(self.hands[seat])))
        self._turn_is_over()

    def _go_to_bar(self, kind: str) -> None:
        """CI-16 and CI-17."""
        seat, value = self.active, BAR[len(self.bar)]
        goes_out = self.points[seat] + value < 0
        self.hands[seat].remove(kind)
        self.bar.append(kind)
        self.at_bar_now = True
        points = 0 if goes_out else value
        self.points[seat] += points
        self.log.add(
            "put_at_bar", {"seat": seat, "kind": kind, "place": len(self.bar), "points": points}
        )
        if goes_out:
            self.out.append(seat)
            self.log.add("went_out", {"seat": seat, "kinds": in_order(self.hands[seat])})
            self._turn_is_over()
        else:
            self._after_points()

    def _swap(self, kind: str, chair: int) -> None:
        """CI-18: no points, no draw."""
        joker = self.chairs[chair]
        assert joker is not None
        self.hands[self.active].remove(kind)
        self.hands[self.active].append(joker.kind)
        self.chairs[chair] = Guest(kind)
        self.log.add(
            "swapped", {"seat": self.active, "kind": kind, "chair": chair, "joker": joker.kind}
        )
        self._turn_is_over()

    # Results

    def totals(self) -> list[int]:
        """The running totals."""
        return list(self.points)

    def running_points(self) -> list[int]:
        """Zeros: there are no rounds."""
        return [0] * self.seats

    def placement(self) -> list[int]:
        """CI-23: the highest total wins; CI-17: behind them who is out, the first out last."""

        def rank(seat: int) -> tuple[int, int]:
            if seat in self.out:
                return (0, self.out.index(seat))
            return (1, self.points[seat])

        ranks = [rank(seat) for seat in range(self.seats)]
        return [1 + sum(other > mine for other in ranks) for mine in ranks]

    def utility(self) -> list[float]:
        if not self.over:
            raise ValueError("the match is not over")
        return placement_utility(self.placement())

    # What is seen

    def view(self, viewer: int) -> dict[str, object]:
        """CI-26: everything but the order of the bag."""
        if viewer != SPECTATOR and viewer not in range(self.seats):
            raise ValueError(f"{viewer} is no viewer")
        chairs = [self.chairs[chair] for chair in CHAIRS]
        return {
            "phase": self.phase,
            "active": self.active,
            "to_act": sorted(self.to_act()),
            "chairs": [None if guest is None else list(guest) for guest in chairs],
            "bar": list(self.bar),
            "bag": [self.bag.count(kind) for kind in KINDS],
            "bag_size": len(self.bag),
            "hands": [in_order(hand) for hand in self.hands],
            "limits": list(self.limits),
            "totals": self.totals(),
            "points": self.running_points(),
            "out": list(self.out),
            "seated_now": [[kind, chair] for kind, chair in self.seated_now],
            "completed_now": list(self.completed_now),
            "exempt_chair": self.exempt_chair,
            "birthday": self.birthday,
            "birthday_state": self.birthday_state,
            "parties": sorted(self.parties),
            "passes": self.passes,
        }

    def events(self, viewer: int) -> list[dict[str, object]]:
        return self.log.seen_by(viewer)

    def copy(self) -> CafeInternational:
        twin = copy.copy(self)
        twin.chance = self.chance.copy()
        twin.log = self.log.copy()
        twin.chairs = dict(self.chairs)
        twin.bar = list(self.bar)
        twin.points = list(self.points)
        twin.limits = list(self.limits)
        twin.out = list(self.out)
        twin.parties = list(self.parties)
        twin.actions = list(self.actions)
        twin.bag = list(self.bag)
        twin.hands = [list(hand) for hand in self.hands]
        twin.seated_now = list(self.seated_now)
        twin.booked_now = dict(self.booked_now)
        twin.completed_now = list(self.completed_now)
        return twin
