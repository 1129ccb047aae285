"""Names, notation, views and events of Mino Dice."""

from __future__ import annotations

from tavolata.ext.core.errors import Refusal
from tavolata.ext.core.face import State
from tavolata.ext.mino_dice import notation
from tavolata.ext.mino_dice.dice import COLOURS, COUNTS, FACES, HANDS_MAX, KINDS, kind_number
from tavolata.ext.mino_dice.notation import BID, NONE, PHASES, ROLL
from tavolata.ext.mino_dice.views import (
    BidCommitted,
    BidsShown,
    Drawn,
    Event,
    HandScored,
    HandStarted,
    Rolled,
    TrickTaken,
    View,
)

FIRST_ROLL = 16  # actions below are bids, from here on kinds of dice


class MinoDiceFace:
    """The face of one table of ``seat_count`` seats."""

    def __init__(self, seat_count: int) -> None:
        self.seat_count = seat_count

    def action_name(self, action: int) -> str:
        if 0 <= action <= HANDS_MAX:
            return f"bid {action}"
        if FIRST_ROLL <= action < FIRST_ROLL + len(KINDS):
            return f"roll {KINDS[action - FIRST_ROLL]}"
        raise ValueError(f"no action has the number {action}")

    def action_number(self, name: str) -> int:
        verb, _, what = name.partition(" ")
        if verb == "roll":
            return FIRST_ROLL + kind_number(what)
        if verb != "bid":
            raise ValueError(f"{name!r} is no action; actions are like 'bid 2' and 'roll red'")
        if what not in map(str, range(HANDS_MAX + 1)):
            raise ValueError(f"{what!r} is no bid; bids are 0 to {HANDS_MAX}")
        return int(what)

    def chance_item(self, purpose: int, item: int) -> str:
        return KINDS[item]

    def why_illegal(self, state: State, seat: int, action: int) -> Refusal:
        """MD-4: a bid out of range; MD-7: must follow; G-2: not to be done now, or not held."""
        hand = state["hand"]
        is_roll = FIRST_ROLL <= action < FIRST_ROLL + len(KINDS)
        if state["phase"] == BID:
            if is_roll:
                return Refusal("G-2", f"seat {seat} has to bid before any die is rolled")
            return Refusal("MD-4", f"{action} is no bid in hand {hand}; bids are 0 to {hand}")
        if not is_roll:
            return Refusal("G-2", f"the bids are in; seat {seat} has to roll a die")
        kind = action - FIRST_ROLL
        if not state["dice"][seat][kind]:
            return Refusal("G-2", f"seat {seat} holds no {KINDS[kind]} die")
        led = KINDS[state["led"].bit_length() - 1]
        return Refusal("MD-7", f"seat {seat} holds {led} and must roll it or a special die")

    def view(self, state: State, viewer: int) -> View:
        seats = range(self.seat_count)
        return View(
            hand=state["hand"],
            phase=PHASES[state["phase"]],
            first_player=state["first_player"],
            leader=state["leader"],
            to_act=self._to_act(state),
            led_colour=KINDS[state["led"].bit_length() - 1] if state["led"] else None,
            dice=tuple(_dice_of(state["dice"][seat]) if seat == viewer else None for seat in seats),
            dice_counts=tuple(state["hand"] - sum(state["rolled"][seat]) for seat in seats),
            bag_count=sum(COUNTS) - self.seat_count * state["hand"],
            committed=tuple(seat for seat in seats if state["committed"] >> seat & 1),
            bids=tuple(None if bid == NONE else bid for bid in state["bids"][: self.seat_count]),
            trick=self._trick(
                state["leader"], state["trick_kinds"], state["trick_faces"], state["trick_count"]
            ),
            last_trick=self._trick(
                state["last_leader"],
                state["last_kinds"],
                state["last_faces"],
                0 if state["last_leader"] == NONE else self.seat_count,
            ),
            last_winner=None if state["last_winner"] == NONE else state["last_winner"],
            tricks_taken=tuple(state["tricks_taken"][: self.seat_count]),
            voids=tuple(
                tuple(KINDS[kind] for kind in COLOURS if state["voids"][seat] >> kind & 1)
                for seat in seats
            ),
            totals=tuple(state["totals"][: self.seat_count]),
            points=(0,) * self.seat_count,
            round_points=tuple(
                tuple(row[: self.seat_count])
                for row in state["hand_points"][: notation.finished_hands(state)]
            ),
        )

    def _to_act(self, state: State) -> tuple[int, ...]:
        if state["phase"] == BID:
            return tuple(
                seat for seat in range(self.seat_count) if not state["committed"] >> seat & 1
            )
        return (state["seat"],) if state["phase"] == ROLL else ()

    def _trick(
        self, leader: int, kinds: list[int], faces: list[int], count: int
    ) -> tuple[tuple[int, str, str], ...]:
        return tuple(
            ((leader + place) % self.seat_count, KINDS[kinds[place]], FACES[faces[place]])
            for place in range(count)
        )

    def event(self, kind: int, public: tuple[int, ...], secret: tuple[int, ...] | None) -> Event:
        n = self.seat_count
        match kind, public:
            case 1, (hand, first_player):
                return HandStarted(hand, first_player)
            case 2, (seat, count):
                dice = None if secret is None else tuple(KINDS[die] for die in secret)
                return Drawn(seat, count, dice)
            case 3, (seat,):
                return BidCommitted(seat, None if secret is None else secret[0])
            case 4, bids:
                return BidsShown(bids)
            case 5, (seat, die, face):
                return Rolled(seat, KINDS[die], FACES[face])
            case 6, (seat,):
                return TrickTaken(seat)
            case 7, (hand, *scores):
                points, bonus, totals = scores[:n], scores[n : 2 * n], scores[2 * n :]
                return HandScored(hand, tuple(points), tuple(bonus), tuple(totals))
        raise ValueError(f"no event of kind {kind} with {len(public)} public numbers")

    def format_state(self, state: State) -> str:
        return notation.format_state(state, self.seat_count)

    def parse_state(self, text: str) -> State:
        return notation.parse_state(text, self.seat_count)


def _dice_of(counts: list[int]) -> tuple[str, ...]:
    return tuple(KINDS[kind] for kind in range(len(KINDS)) for _ in range(counts[kind]))
