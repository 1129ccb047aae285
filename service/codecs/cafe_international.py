"""Café International: its views, events and actions as messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from tavolata.ext.cafe_international import SPEC, actions, views
from tavolata.ext.cafe_international.board import CHAIR_TABLES, FIRST_JOKER, KINDS, NATIONS
from tavolata.service.codecs.base import Codec, Problem
from tavolata.service.codecs.options import OptionsCodec
from tavolata.v1 import cafe_international_pb2 as pb
from tavolata.v1.cafe_international_pb2 import CafeInternationalGuest, CafeInternationalNation
from tavolata.v1.game_pb2 import Action, GameEvent, GameView

_Guest: TypeAlias = CafeInternationalGuest.ValueType
_Nation: TypeAlias = CafeInternationalNation.ValueType

_GUESTS: Mapping[str, _Guest] = {
    kind: CafeInternationalGuest.Value(f"CAFE_INTERNATIONAL_GUEST_{kind.upper()}") for kind in KINDS
}
_NATIONS: Mapping[str | None, _Nation] = {
    None: pb.CAFE_INTERNATIONAL_NATION_UNSPECIFIED,
    **{
        nation: CafeInternationalNation.Value(f"CAFE_INTERNATIONAL_NATION_{nation.upper()}")
        for nation in NATIONS
    },
}
_CHAIR_COUNT = len(CHAIR_TABLES)
_JOKERS = KINDS[FIRST_JOKER:]


def _guests(kinds: Iterable[str]) -> list[_Guest]:
    return [_GUESTS[kind] for kind in kinds]


def _view(view: views.View) -> GameView:
    return GameView(
        cafe_international=pb.CafeInternationalView(
            phase=pb.CafeInternationalPhase.Value(f"CAFE_INTERNATIONAL_PHASE_{view.phase.upper()}"),
            active=view.active,
            guests=[
                pb.CafeInternationalSitting(
                    chair=chair, guest=_GUESTS[guest[0]], nation=_NATIONS[guest[1]]
                )
                for chair, guest in enumerate(view.chairs, start=1)
                if guest is not None
            ],
            bar=_guests(view.bar),
            bag=view.bag,
            bag_size=view.bag_size,
            seats=[
                pb.CafeInternationalSeat(hand=_guests(hand), hand_limit=limit)
                for hand, limit in zip(view.hands, view.limits, strict=True)
            ],
            out=view.out,
            seated_now=[_seated_now(view, kind, chair) for kind, chair in view.seated_now],
            completed_now=view.completed_now,
            exempt_chair=view.exempt_chair,
            birthday_state=pb.CafeInternationalBirthdayState.Value(
                f"CAFE_INTERNATIONAL_BIRTHDAY_STATE_{view.birthday_state.upper()}"
            ),
            birthday=_NATIONS[view.birthday],
            parties=view.parties,
            passes=view.passes,
        )
    )


def _seated_now(view: views.View, kind: str, chair: int) -> pb.CafeInternationalSitting:
    sitting = view.chairs[chair - 1]
    nation = None if sitting is None else sitting[1]
    return pb.CafeInternationalSitting(chair=chair, guest=_GUESTS[kind], nation=_NATIONS[nation])


def _event(**happened: Any) -> GameEvent:
    return GameEvent(cafe_international=pb.CafeInternationalEvent(**happened))


_EVENTS: Mapping[type, Callable[[Any], GameEvent]] = {
    views.Drew: lambda e: _event(
        drew=pb.CafeInternationalDrew(seat=e.seat, guests=_guests(e.kinds))
    ),
    views.Started: lambda e: _event(started=pb.CafeInternationalStarted(seat=e.seat)),
    views.Seated: lambda e: _event(
        seated=pb.CafeInternationalSeated(
            seat=e.seat,
            guest=_GUESTS[e.kind],
            chair=e.chair,
            nation=_NATIONS[e.nation],
            points=e.points,
        )
    ),
    views.TableCompleted: lambda e: _event(
        table_completed=pb.CafeInternationalTableCompleted(seat=e.seat, table=e.table)
    ),
    views.PartyHeld: lambda e: _event(
        party_held=pb.CafeInternationalPartyHeld(seat=e.seat, table=e.table, points=e.points)
    ),
    views.PutAtBar: lambda e: _event(
        put_at_bar=pb.CafeInternationalPutAtBar(
            seat=e.seat, guest=_GUESTS[e.kind], place=e.place, points=e.points
        )
    ),
    views.Swapped: lambda e: _event(
        swapped=pb.CafeInternationalSwapped(
            seat=e.seat, guest=_GUESTS[e.kind], chair=e.chair, joker=_GUESTS[e.joker]
        )
    ),
    views.Stopped: lambda e: _event(stopped=pb.CafeInternationalStopped(seat=e.seat)),
    views.LimitLowered: lambda e: _event(
        limit_lowered=pb.CafeInternationalLimitLowered(seat=e.seat, limit=e.limit)
    ),
    views.BirthdayNamed: lambda e: _event(
        birthday_named=pb.CafeInternationalBirthdayNamed(seat=e.seat, nation=_NATIONS[e.nation])
    ),
    views.WentOut: lambda e: _event(
        went_out=pb.CafeInternationalWentOut(seat=e.seat, guests=_guests(e.kinds))
    ),
    views.Passed: lambda e: _event(passed=pb.CafeInternationalPassed(seat=e.seat)),
    views.HandsCounted: lambda e: _event(
        hands_counted=pb.CafeInternationalHandsCounted(penalties=e.penalties, totals=e.totals)
    ),
}


def _message(number: int) -> Action:
    """The message of an action number."""
    return Action(cafe_international=_move(actions.move_of(number)))


def _move(move: actions.Move) -> pb.CafeInternationalAction:
    guest = pb.CAFE_INTERNATIONAL_GUEST_UNSPECIFIED
    if move.kind != actions.NO:
        guest = _GUESTS[KINDS[move.kind]]
    chair = move.chair + 1
    nation = _NATIONS[None if move.nation == actions.NO else NATIONS[move.nation]]
    match move.verb:
        case "seat":
            seat = pb.CafeInternationalSeatGuest(guest=guest, chair=chair, nation=nation)
            return pb.CafeInternationalAction(seat=seat)
        case "bar":
            return pb.CafeInternationalAction(bar=pb.CafeInternationalBarGuest(guest=guest))
        case "swap":
            swap = pb.CafeInternationalSwapJoker(guest=guest, chair=chair)
            return pb.CafeInternationalAction(swap=swap)
        case "stop":
            return pb.CafeInternationalAction(stop=pb.CafeInternationalStop())
        case "lower":
            return pb.CafeInternationalAction(lower=pb.CafeInternationalLowerLimit(by=move.k))
        case "birthday":
            named = pb.CafeInternationalNameBirthday(nation=nation)
            return pb.CafeInternationalAction(birthday=named)
    return pb.CafeInternationalAction(decline=pb.CafeInternationalDeclineBirthday())


def _problem(action: Action) -> Problem:
    """What is wrong with a message that is no action: the first field with a value out of range."""
    which = action.cafe_international.WhichOneof("action")
    verbs = ", ".join(pb.CafeInternationalAction.DESCRIPTOR.fields_by_name)
    if which is None:
        return Problem("", "holds no action", verbs)
    inner = getattr(action.cafe_international, which)
    allowed = _allowed(which, getattr(inner, "guest", 0))
    for field, (values, words) in allowed.items():
        value = getattr(inner, field)
        if value not in values:
            return Problem(f"{which}.{field}", f"is {value}", words)
    return Problem("", "holds a field that the server does not know", verbs)


_Allowed = tuple[Sequence[int], str]  # values and the same in words


def _allowed(verb: str, guest: int) -> dict[str, _Allowed]:
    """What each field of an action may be; a seat's nation depends on the guest (CI-19)."""
    nations = (tuple(_NATIONS[nation] for nation in NATIONS), ", ".join(NATIONS))
    natives = KINDS[:FIRST_JOKER]
    allowed: dict[str, _Allowed] = {}
    if verb in ("seat", "bar", "swap"):
        kinds = KINDS if verb == "seat" else natives
        allowed["guest"] = (_guests(kinds), ", ".join(kinds))
    if verb in ("seat", "swap"):
        allowed["chair"] = (range(1, _CHAIR_COUNT + 1), f"1 to {_CHAIR_COUNT}")
    if verb == "seat":
        joker = guest in _guests(_JOKERS)
        nothing = "nothing" + (", " + nations[1] if joker else " for a guest that is no joker")
        allowed["nation"] = ((0, *nations[0]) if joker else (0,), nothing)
    if verb == "lower":
        allowed["by"] = (range(actions.LOWER_MAX + 1), f"0 to {actions.LOWER_MAX}")
    if verb == "birthday":
        allowed["nation"] = nations
    return allowed


CODEC = Codec(
    SPEC,
    options=OptionsCodec(pb.CafeInternationalOptions, SPEC.options),
    actions={number: _message(number) for number in range(actions.ACTION_COUNT)},
    problem_of=_problem,
    view_to=_view,
    event_to=_EVENTS,
)
