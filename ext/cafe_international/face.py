"""Names, notation, views and events of Café International."""

from __future__ import annotations

from tavolata.ext.cafe_international import actions, notation, refusals, views
from tavolata.ext.cafe_international.board import KINDS, NATIONS
from tavolata.ext.cafe_international.notation import BIRTHDAY_STATES, NONE, OVER, PHASES
from tavolata.ext.core.errors import Refusal
from tavolata.ext.core.face import State
from tavolata.ext.core.spec import Options


class CafeFace:
    """The face of one table of ``seat_count`` seats."""

    def __init__(self, seat_count: int, options: Options) -> None:
        self.seat_count = seat_count
        self._declared = options["joker_identity"] == "declared"
        self._same_sex = bool(options["swap_same_sex"])

    def action_name(self, action: int) -> str:
        return actions.action_name(action)

    def action_number(self, name: str) -> int:
        return actions.action_number(name)

    def chance_item(self, purpose: int, item: int) -> str:
        return KINDS[item]

    def why_illegal(self, state: State, seat: int, action: int) -> Refusal:
        return refusals.why_illegal(
            state, seat, action, declared=self._declared, same_sex=self._same_sex
        )

    def view(self, state: State, viewer: int) -> views.View:
        seats = range(self.seat_count)
        return views.View(
            phase=PHASES[state["phase"]],
            active=state["seat"],
            to_act=() if state["phase"] == OVER else (state["seat"],),
            chairs=tuple(map(_guest, state["guests"], state["declared"])),
            bar=_names(state["bar"][: state["bar_count"]]),
            bag=tuple(state["bag"]),
            bag_size=state["bag_size"],
            hands=tuple(_hand(state["hands"][seat]) for seat in seats),
            limits=tuple(state["limits"][: self.seat_count]),
            totals=tuple(state["totals"][: self.seat_count]),
            points=(0,) * self.seat_count,
            out=tuple(state["out"][: state["out_count"]]),
            seated_now=tuple(
                (KINDS[state["seated_kinds"][at]], state["seated_chairs"][at] + 1)
                for at in range(state["seated_count"])
            ),
            completed_now=tuple(
                table + 1 for table in state["completed"][: state["completed_count"]]
            ),
            exempt_chair=None if state["lone"] == NONE else state["lone"] + 1,
            birthday=_nation(state["birthday_nation"]),
            birthday_state=BIRTHDAY_STATES[state["birthday"]],
            parties=tuple(
                table + 1 for table in range(len(state["women"])) if state["parties"] >> table & 1
            ),
            passes=state["passes"],
        )

    def event(
        self, kind: int, public: tuple[int, ...], secret: tuple[int, ...] | None
    ) -> views.Event:
        match kind, public:
            case 1, (seat, *kinds):
                return views.Drew(seat, _names(kinds))
            case 2, (seat,):
                return views.Started(seat)
            case 3, (seat, guest, chair, nation, points):
                return views.Seated(seat, KINDS[guest], chair, _nation(nation), points)
            case 4, (seat, table):
                return views.TableCompleted(seat, table)
            case 5, (seat, table, points):
                return views.PartyHeld(seat, table, points)
            case 6, (seat, guest, place, points):
                return views.PutAtBar(seat, KINDS[guest], place, points)
            case 7, (seat, guest, chair, joker):
                return views.Swapped(seat, KINDS[guest], chair, KINDS[joker])
            case 8, (seat, limit):
                return views.LimitLowered(seat, limit)
            case 9, (seat, nation):
                return views.BirthdayNamed(seat, _nation(nation))
            case 10, (seat, *kinds):
                return views.WentOut(seat, _names(kinds))
            case 11, (seat,):
                return views.Passed(seat)
            case 12, (*numbers,):
                n = self.seat_count
                return views.HandsCounted(tuple(numbers[:n]), tuple(numbers[n:]))
            case 13, (seat,):
                return views.Stopped(seat)
        raise ValueError(f"no event of kind {kind} with {len(public)} public numbers")

    def format_state(self, state: State) -> str:
        return notation.format_state(state, self.seat_count)

    def parse_state(self, text: str) -> State:
        return notation.parse_state(text, self.seat_count)


def _names(kinds: list[int]) -> tuple[str, ...]:
    return tuple(KINDS[kind] for kind in kinds)


def _hand(counts: list[int]) -> tuple[str, ...]:
    return tuple(KINDS[kind] for kind, count in enumerate(counts) for _ in range(count))


def _nation(nation: int) -> str | None:
    return None if nation == NONE else NATIONS[nation]


def _guest(kind: int, nation: int) -> tuple[str, str | None] | None:
    return None if kind == NONE else (KINDS[kind], _nation(nation))
