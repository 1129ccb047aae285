"""Which rule forbids an action that is not legal, and why in words."""

from __future__ import annotations

from tavolata.ext.cafe_international.actions import ACTION_COUNT, NO, Move, move_of
from tavolata.ext.cafe_international.board import (
    CHAIR_NATIONS,
    CHAIR_TABLES,
    KINDS,
    NATION_NAMES,
    NATIONS,
    fits,
    is_joker,
    is_man,
)
from tavolata.ext.cafe_international.notation import BIRTHDAY, LIMIT, NONE, TURN
from tavolata.ext.core.errors import Refusal
from tavolata.ext.core.face import State

_IN_PHASE = {"lower": LIMIT, "birthday": BIRTHDAY, "decline": BIRTHDAY}
_WANTED = {
    TURN: "seat guests, use the bar or swap a joker",
    LIMIT: "lower its hand limit",
    BIRTHDAY: "name a birthday nation or decline",
}


def why_illegal(state: State, seat: int, action: int, *, declared: bool, same_sex: bool) -> Refusal:
    """The rule that forbids an action of the seat to act; declared, same_sex: options."""
    if not 0 <= action < ACTION_COUNT:
        return Refusal("G-2", f"no action has the number {action}")
    move = move_of(action)
    if state["phase"] != _IN_PHASE.get(move.verb, TURN):
        return Refusal("G-2", f"seat {seat} has to {_WANTED[state['phase']]} now")
    if move.verb == "lower":
        return _why_not_lower(state, seat)
    if move.verb == "stop":
        return _why_not_stop(state)
    if move.verb == "bar":
        return _why_not_bar(state, seat, move)
    if move.verb == "swap":
        return _why_not_swap(state, seat, move, declared=declared, same_sex=same_sex)
    return _why_not_seat(state, seat, move, declared=declared)


def _not_held(state: State, seat: int, kind: int) -> Refusal | None:
    if state["hands"][seat][kind]:
        return None
    return Refusal("G-2", f"seat {seat} holds no {KINDS[kind]}")


def _why_not_lower(state: State, seat: int) -> Refusal:
    limit, completed = state["limits"][seat], state["completed_count"]
    most = min(limit, completed)
    return Refusal(
        "CI-15", f"a limit of {limit} is lowered by 0 to {most} after completing {completed}"
    )


def _why_not_stop(state: State) -> Refusal:
    if not state["seated_count"]:
        return Refusal("CI-5", "a turn can't be passed")
    return Refusal("CI-7", "a table is out of balance or a guest alone; another guest must mend it")


def _why_not_bar(state: State, seat: int, move: Move) -> Refusal:
    if state["seated_count"]:
        return Refusal("CI-5", "a turn that seats guests does not use the bar")
    return _not_held(state, seat, move.kind) or Refusal("CI-16", "this guest can't go to the bar")


def _why_not_swap(
    state: State, seat: int, move: Move, *, declared: bool, same_sex: bool
) -> Refusal:
    chair, kind = move.chair, move.kind
    joker = state["guests"][chair]
    if state["seated_count"]:
        return Refusal("CI-5", "a turn that seats guests does not swap a joker")
    if missing := _not_held(state, seat, kind):
        return missing
    if joker == NONE or not is_joker(joker):
        return Refusal("CI-18", f"no joker sits on chair {chair + 1}")
    if chair == state["lone"]:
        return Refusal("CI-10", "a joker who sits alone can't be swapped")
    if not fits(kind, chair):
        return Refusal("CI-6", f"{KINDS[kind]} has no table at chair {chair + 1}")
    if declared and state["declared"][chair] != kind // 2:
        nation = NATION_NAMES[state["declared"][chair]]
        return Refusal("CI-19", f"the joker on chair {chair + 1} counts as of {nation}")
    if same_sex and is_man(joker) != is_man(kind):
        return Refusal("CI-18", "a guest who takes a joker's chair must be of the joker's sex")
    return Refusal("CI-7", f"a table at chair {chair + 1} would be out of balance")


def _why_not_seat(state: State, seat: int, move: Move, *, declared: bool) -> Refusal:
    kind, chair = move.kind, move.chair
    if missing := _not_held(state, seat, kind):
        return missing
    if declared and is_joker(kind) and move.nation == NO:
        return Refusal("CI-19", "a joker must be declared: name a nation of one of its tables")
    if not declared and move.nation != NO:
        return Refusal("CI-19", "jokers are wild at this table and name no nation")
    if state["guests"][chair] != NONE:
        return Refusal("CI-6", f"chair {chair + 1} is taken")
    if not fits(kind, chair):
        return Refusal("CI-6", f"{KINDS[kind]} has no table at chair {chair + 1}")
    if move.nation != NO and move.nation not in CHAIR_NATIONS[chair]:
        return Refusal("CI-19", f"chair {chair + 1} has no table of {NATIONS[move.nation]}")
    if state["seated_count"] > 1:
        return Refusal("CI-25", "a third and fourth guest fill one table with one sex")
    return Refusal("CI-7", _breach(state, kind, chair))


def _breach(state: State, kind: int, chair: int) -> str:
    """What would be wrong with the board, and could not be mended in this turn."""
    for table in CHAIR_TABLES[chair]:
        women = state["women"][table] + (not is_man(kind))
        men = state["men"][table] + is_man(kind)
        if abs(women - men) > 1:
            return (
                f"table {table + 1} would have women {women}, men {men}, "
                "and this turn could not mend it"
            )
    if state["unmended"]:
        tables = [t + 1 for t in range(24) if state["unmended"] >> t & 1]
        return f"this guest must mend table {' or '.join(map(str, tables))}"
    return f"the guest on chair {chair + 1} would be alone, and nobody could join in this turn"
