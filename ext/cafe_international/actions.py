"""The numbers of actions and their names, both ways.

``seat <guest> <chair>``, with declared jokers ``seat <joker> <chair> <nation>``, ``bar <guest>``,
``swap <guest> <chair>``, ``stop``, ``lower <k>``, ``birthday <nation>``, ``decline``.
"""

from __future__ import annotations

from typing import NamedTuple

from tavolata.ext.cafe_international.board import (
    CHAIR_TABLES,
    FIRST_JOKER,
    KINDS,
    NATIONS,
    chair_number,
    is_joker,
    kind_number,
    nation_number,
)

_CHAIRS = len(CHAIR_TABLES)
_NATIONS = len(NATIONS)
DECLARED = _CHAIRS * len(KINDS)
BAR = 3400
SWAP = 3424
STOP = SWAP + _CHAIRS * FIRST_JOKER
LOWER = STOP + 1
LOWER_MAX = 5
BIRTHDAY = LOWER + LOWER_MAX + 1
DECLINE = BIRTHDAY + _NATIONS
ACTION_COUNT = DECLINE + 1


NO = -1


class Move(NamedTuple):
    """An action in its parts; those that its verb doesn't have are NO. Chairs count from 0."""

    verb: str  # seat, bar, swap, stop, lower, birthday or decline
    kind: int = NO
    chair: int = NO
    nation: int = NO
    k: int = NO


def move_of(action: int) -> Move:
    """The parts of an action; ValueError if there is none of this number."""
    if 0 <= action < DECLARED:
        return Move("seat", action // _CHAIRS, action % _CHAIRS)
    if DECLARED <= action < BAR:
        joker, rest = divmod(action - DECLARED, _CHAIRS * _NATIONS)
        return Move("seat", FIRST_JOKER + joker, rest // _NATIONS, rest % _NATIONS)
    if BAR <= action < SWAP:
        return Move("bar", action - BAR)
    if SWAP <= action < STOP:
        return Move("swap", (action - SWAP) // _CHAIRS, (action - SWAP) % _CHAIRS)
    if action == STOP:
        return Move("stop")
    if LOWER <= action < BIRTHDAY:
        return Move("lower", k=action - LOWER)
    if BIRTHDAY <= action < DECLINE:
        return Move("birthday", nation=action - BIRTHDAY)
    if action == DECLINE:
        return Move("decline")
    raise ValueError(f"no action has the number {action}")


def action_of(move: Move) -> int:
    """The number of an action given in parts; ValueError if it has none (a joker at the bar)."""
    verb, kind, chair, nation, k = move
    if verb in ("bar", "swap") and is_joker(kind):
        place = "takes no place at the bar (CI-16)" if verb == "bar" else "replaces none (CI-18)"
        raise ValueError(f"a joker {place}")
    match verb:
        case "seat" if nation == NO:
            return _CHAIRS * kind + chair
        case "seat" if is_joker(kind):
            rest = _NATIONS * chair + nation
            return DECLARED + _CHAIRS * _NATIONS * (kind - FIRST_JOKER) + rest
        case "seat":
            raise ValueError("only a joker is seated with a nation (CI-19)")
        case "bar":
            return BAR + kind
        case "swap":
            return SWAP + _CHAIRS * kind + chair
        case "lower" if 0 <= k <= LOWER_MAX:
            return LOWER + k
        case "lower":
            raise ValueError(f"{k} is out of range; a limit is lowered by 0 to {LOWER_MAX}")
        case "birthday":
            return BIRTHDAY + nation
        case "stop" | "decline":
            return STOP if verb == "stop" else DECLINE
    raise ValueError(f"{verb!r} is no action")


def action_name(action: int) -> str:
    """The action as text; ValueError if there is none of this number."""
    verb, kind, chair, nation, k = move_of(action)
    words = [verb]
    if kind != NO:
        words.append(KINDS[kind])
    if chair != NO:
        words.append(str(chair + 1))
    if nation != NO:
        words.append(NATIONS[nation])
    if k != NO:
        words.append(str(k))
    return " ".join(words)


def action_number(name: str) -> int:
    """The number of an action given as text; ValueError says what is allowed."""
    match name.split(" "):
        case ["seat", kind, chair]:
            return action_of(Move("seat", kind_number(kind), chair_number(chair)))
        case ["seat", kind, chair, nation]:
            move = Move("seat", kind_number(kind), chair_number(chair), nation_number(nation))
            return action_of(move)
        case ["bar", kind]:
            return action_of(Move("bar", kind_number(kind)))
        case ["swap", kind, chair]:
            return action_of(Move("swap", kind_number(kind), chair_number(chair)))
        case ["lower", k] if k in map(str, range(LOWER_MAX + 1)):
            return LOWER + int(k)
        case ["birthday", nation]:
            return BIRTHDAY + nation_number(nation)
        case ["stop"] | ["decline"]:
            return action_of(Move(name))
    raise ValueError(
        f"{name!r} is no action; actions are like 'seat italy_man 8', 'seat joker_man 8 italy', "
        f"'bar italy_man', 'swap italy_man 8', 'stop', 'lower 1' (0 to {LOWER_MAX}), "
        "'birthday italy' and 'decline'"
    )
