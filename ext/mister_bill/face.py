"""Names, notation, views and events of Mister Bill."""

from __future__ import annotations

from tavolata.ext.core.errors import Refusal
from tavolata.ext.core.face import State
from tavolata.ext.core.spec import Options
from tavolata.ext.mister_bill import notation
from tavolata.ext.mister_bill.cards import (
    KINDS,
    WAITERS,
    kind_number,
    plays_alone,
    team_of,
    values_left,
)
from tavolata.ext.mister_bill.notation import ABSENT, GIFT, NONE, PHASES, TURN
from tavolata.ext.mister_bill.views import (
    BillsShown,
    Dealt,
    Declined,
    Drew,
    Event,
    Facts,
    Gave,
    GiftCommitted,
    HandPassed,
    HandsSwapped,
    PairLaid,
    RoundScored,
    RoundStarted,
    TeamCompleted,
    View,
    WaiterPlayed,
    WentOut,
)

SEATS_MAX = 8
DECLINE = 0
PLAY_TARGET = 1  # + 8 x waiter (a, b, c) + target
PLAY_A_ALONE, PLAY_B_ALONE, PLAY_D, PLAY_E = 25, 26, 27, 28
GIVE = 32  # + kind
WITHOUT_TARGET = {PLAY_A_ALONE: 0, PLAY_B_ALONE: 1, PLAY_D: 3, PLAY_E: 4}  # which waiter it is
LETTERS = "abcde"
TEAMS = 1  # the chance purpose whose items are team cards


class MisterBillFace:
    """The face of one table of ``seat_count`` seats."""

    def __init__(self, seat_count: int, options: Options) -> None:
        self.seat_count = seat_count
        self.options = options

    def action_name(self, action: int) -> str:
        if action == DECLINE:
            return "decline"
        if PLAY_TARGET <= action < PLAY_A_ALONE:
            waiter, target = divmod(action - PLAY_TARGET, SEATS_MAX)
            return f"play {LETTERS[waiter]} {target}"
        if action in WITHOUT_TARGET:
            return f"play {LETTERS[WITHOUT_TARGET[action]]}"
        if GIVE <= action < GIVE + len(KINDS):
            return f"give {KINDS[action - GIVE]}"
        raise ValueError(f"no action has the number {action}")

    def action_number(self, name: str) -> int:
        match name.split(" "):
            case ["decline"]:
                return DECLINE
            case ["give", kind]:
                return GIVE + kind_number(kind)
            case ["play", letter] if letter in ("a", "b", "d", "e"):
                waiter = LETTERS.index(letter)
                return next(n for n, alone in WITHOUT_TARGET.items() if alone == waiter)
            case ["play", letter, target] if letter in ("a", "b", "c"):
                if target not in map(str, range(SEATS_MAX)):
                    raise ValueError(f"{target!r} is no seat; seats are 0 to {SEATS_MAX - 1}")
                return PLAY_TARGET + SEATS_MAX * LETTERS.index(letter) + int(target)
        raise ValueError(
            f"{name!r} is no action; actions are like 'decline', 'play a 2', 'play d', 'give sushi'"
        )

    def chance_item(self, purpose: int, item: int) -> str:
        if purpose == TEAMS:
            if not 1 <= item <= SEATS_MAX:
                raise ValueError(f"{item} is no team card")
            return str(item)
        return KINDS[item]

    def why_illegal(self, state: State, seat: int, action: int) -> Refusal:
        """G-2: not to be done now, or not held; MB-18: no such target, or one too many."""
        gives = GIVE <= action < GIVE + len(KINDS)
        if state["phase"] == GIFT:
            if not gives:
                return Refusal("G-2", f"seat {seat} has to choose a card to give")
            return Refusal("G-2", f"seat {seat} holds no {KINDS[action - GIVE]} to give")
        if gives:
            return Refusal("G-2", "no gift is being chosen")
        return self._why_no_waiter(state, seat, action)

    def _why_no_waiter(self, state: State, seat: int, action: int) -> Refusal:
        has_target = PLAY_TARGET <= action < PLAY_A_ALONE
        if has_target:
            waiter, target = divmod(action - PLAY_TARGET, SEATS_MAX)
        elif action in WITHOUT_TARGET:
            waiter, target = WITHOUT_TARGET[action], NONE
        else:
            return Refusal("G-2", f"no action has the number {action}")
        letter = LETTERS[waiter].upper()
        if not state["hands"][seat] >> WAITERS[waiter] & 1:
            return Refusal("G-2", f"seat {seat} holds no waiter {letter}")
        if has_target and (target == seat or not state["seats_in"] >> target & 1):
            return Refusal("MB-18", f"waiter {letter} is for another seat that is still in")
        if has_target:
            return Refusal("MB-18", f"waiter {letter} as the last card is played without a target")
        return Refusal("MB-18", f"waiter {letter} needs a target unless it is the last card")

    def view(self, state: State, viewer: int) -> View:
        seats = range(self.seat_count)
        gift = state["gifts"][viewer] if viewer >= 0 else NONE
        observer = viewer if viewer >= 0 else self.seat_count
        finished = notation.finished_rounds(state)
        is_running = finished < state["round"]
        return View(
            round=state["round"],
            phase=PHASES[state["phase"]],
            active=state["active"],
            to_act=self._to_act(state),
            dealer=state["dealer"],
            numbers=tuple(state["numbers"][: self.seat_count]),
            teams=self._teams(state),
            hands=tuple(_names(state["hands"][seat]) if seat == viewer else None for seat in seats),
            hand_sizes=tuple(state["sizes"][: self.seat_count]),
            out=tuple(state["out_order"][: state["out_count"]]),
            committed=tuple(seat for seat in seats if state["committed"] >> seat & 1),
            gift=None if gift == NONE else KINDS[gift],
            stall=state["stall"],
            facts=tuple(_facts(state["facts"][observer][seat]) for seat in seats),
            totals=tuple(state["totals"][: self.seat_count]),
            points=tuple(
                state["points"][state["round"] - 1][: self.seat_count]
                if is_running
                else [0] * self.seat_count
            ),
            round_points=tuple(tuple(row[: self.seat_count]) for row in state["points"][:finished]),
            team_values=values_left(state["completed"], state["round"], self.options),
            pending_waiter=None if state["waiter"] == NONE else KINDS[state["waiter"]],
            pending_target=None if state["target"] == NONE else state["target"],
        )

    def _to_act(self, state: State) -> tuple[int, ...]:
        if state["phase"] == GIFT:
            return tuple(
                seat
                for seat in range(self.seat_count)
                if state["givers"] & ~state["committed"] & 1 << seat
            )
        return (state["active"],) if state["phase"] == TURN else ()

    def _teams(self, state: State) -> tuple[tuple[int, ...], ...]:
        """By colour; alone, by seat."""
        numbers = state["numbers"][: self.seat_count]
        if plays_alone(state["round"], self.options):
            return tuple((seat,) for seat in range(self.seat_count))
        teams: dict[int, list[int]] = {}
        for seat, number in enumerate(numbers):
            teams.setdefault(team_of(number, False), []).append(seat)
        return tuple(tuple(seats) for _, seats in sorted(teams.items()))

    def event(self, kind: int, public: tuple[int, ...], secret: tuple[int, ...] | None) -> Event:
        n = self.seat_count
        one = None if not secret else KINDS[secret[0]]
        match kind, public:
            case 1, (number, dealer, *numbers):
                return RoundStarted(number, dealer, tuple(numbers))
            case 2, (seat, count):
                return Dealt(seat, count, _named(secret))
            case 3, (seat, card):
                return PairLaid(seat, KINDS[card])
            case 4, (seat, other):
                return Drew(seat, other, one)
            case 5, (seat, card, target):
                return WaiterPlayed(seat, KINDS[card], None if target < 0 else target)
            case 6, (seat,):
                return Declined(seat)
            case 7, (seat,):
                return GiftCommitted(seat, one)
            case 8, (giver, receiver):
                return Gave(giver, receiver, one)
            case 9, (first, second):
                return HandsSwapped(first, second, _two_hands(secret))
            case 10, (giver, receiver, count):
                return HandPassed(giver, receiver, count, _named(secret))
            case 11, counts:
                return BillsShown(counts)
            case 12, (seat, rank):
                return WentOut(seat, rank)
            case 13, (value, *seats):
                return TeamCompleted(tuple(seats), value)
            case 14, (number, stalled, *scores):
                return RoundScored(number, bool(stalled), tuple(scores[:n]), tuple(scores[n:]))
        raise ValueError(f"no event of kind {kind} with {len(public)} public numbers")

    def format_state(self, state: State) -> str:
        return notation.format_state(state, self.seat_count)

    def parse_state(self, text: str) -> State:
        return notation.parse_state(text, self.seat_count)


def _names(hand: int) -> tuple[str, ...]:
    return tuple(name for kind, name in enumerate(KINDS) if hand >> kind & 1)


def _named(secret: tuple[int, ...] | None) -> tuple[str, ...] | None:
    return None if secret is None else tuple(KINDS[kind] for kind in secret)


def _two_hands(secret: tuple[int, ...] | None) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """The number of cards in the first hand stands in front."""
    if secret is None:
        return None
    first, *kinds = secret
    names = tuple(KINDS[kind] for kind in kinds)
    return names[:first], names[first:]


def _facts(row: list[int]) -> Facts:
    return Facts(
        held=tuple((KINDS[k], fact - 1) for k, fact in enumerate(row) if 0 < fact < ABSENT),
        absent=tuple((KINDS[k], fact - ABSENT) for k, fact in enumerate(row) if fact >= ABSENT),
    )
