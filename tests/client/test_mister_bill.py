"""Mister Bill in the terminal: teams, waiters and gifts, by their names at the table."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import pytest

from tavolata.client import Connection, RetryPolicy, connect
from tavolata.v1 import event_pb2, game_pb2, score_pb2, table_pb2, view_pb2
from tavolata.v1 import mister_bill_pb2 as pb
from tests.client.positions import Desk, table_of


def kind(name: str) -> pb.MisterBillKind.ValueType:
    return pb.MisterBillKind.Value(f"MISTER_BILL_KIND_{name.upper()}")


def action(**what: object) -> game_pb2.Action:
    return game_pb2.Action(mister_bill=pb.MisterBillAction(**what))  # type: ignore[arg-type]


def view_with(
    hand: Sequence[str], legal: Sequence[game_pb2.Action], **fields: object
) -> view_pb2.View:
    """Seat 0's view in round 1 of four seats, its team with seat 2; hands of 4 but its own."""
    seats = [pb.MisterBillSeat(hand_size=4, number=number) for number in (1, 3, 2, 4)]
    seats[0] = pb.MisterBillSeat(
        hand=pb.MisterBillHand(kinds=map(kind, hand)), hand_size=len(hand), number=1
    )
    usual: dict[str, object] = {
        "round": 1,
        "phase": pb.MISTER_BILL_PHASE_TURN,
        "active": 0,
        "teams": [pb.MisterBillTeam(seats=[0, 2]), pb.MisterBillTeam(seats=[1, 3])],
        "team_values": [4, 2, 1],
    }
    game = pb.MisterBillView(seats=seats, **{**usual, **fields})  # type: ignore[arg-type]
    return view_pb2.View(
        viewer_seat=0,
        state=table_pb2.TABLE_STATE_PLAYING,
        turn=9,
        seats_to_act=[0],
        legal_actions=legal,
        scores=score_pb2.ScoreSheet(totals=[0] * 4, running_points=[0] * 4, places=[1] * 4),
        game=game_pb2.GameView(mister_bill=game),
    )


WAITERS = [
    action(decline=pb.MisterBillDecline()),
    *(action(play=pb.MisterBillPlay(waiter=kind("waiter_b"), target=seat)) for seat in (1, 2, 3)),
    action(play=pb.MisterBillPlay(waiter=kind("waiter_d"))),
]


@pytest.fixture
async def server() -> AsyncIterator[Connection]:
    """Nobody listens there: these keys are answered from what the client knows."""
    async with connect("127.0.0.1:9", policy=RetryPolicy(call_s=0.2)) as connection:
        yield connection


@pytest.fixture
def desk(server: Connection) -> Desk:
    view = view_with(["sushi", "waiter_b", "waiter_d"], WAITERS)
    return Desk(server, view, table_of("mister_bill"))


def test_a_turn_tells_the_hand_what_its_waiters_do_and_whom_they_may_name(desk: Desk) -> None:
    assert desk.turn(view_with(["sushi", "waiter_b", "waiter_d"], WAITERS)) == (
        "Your turn. Will you play a waiter? B swaps hands with a seat; D shows who holds Mister "
        "Bill. You hold 3 cards: sushi, waiter B and waiter D. Choose: #1 decline; #2 waiter B on "
        "Bruno; #3 waiter B on AI 2; #4 waiter B on Anna (seat 3); #5 waiter D."
    )


def test_a_turn_without_a_waiter_says_so(desk: Desk) -> None:
    told = desk.turn(view_with(["sushi", "pizza"], WAITERS[:1]))
    assert told == (
        "Your turn. You hold no waiter. You hold 2 cards: sushi and pizza. "
        "You can only choose decline. Press Enter."
    )


@pytest.mark.parametrize("text", ["wb2", "wb 2", "b ai 2", "waiter B on AI 2", "waiter b seat 2"])
async def test_a_waiter_is_chosen_with_the_seat_it_names(desk: Desk, text: str) -> None:
    assert (await desk.said(text)).startswith("Chosen: waiter B on AI 2. ")
    assert desk.session.chosen_action == WAITERS[2]


async def test_a_card_that_one_holds_and_may_not_choose_is_not_denied(desk: Desk) -> None:
    assert await desk.said("sushi") == (
        "There is no choice 'sushi'. L lists them; ? explains the keys."
    )


async def test_what_was_chosen_can_be_forgotten_before_it_is_sent(desk: Desk) -> None:
    assert await desk.said("wd", "u") == "No longer chosen: waiter D."
    assert desk.session.chosen_action is None
    assert await desk.said("u") == "Nothing is chosen."


@pytest.mark.parametrize(
    ("fields", "asked"),
    [
        ({"pending_waiter": "a", "pending_target": 3}, "Your waiter A: what will you give Anna"),
        ({"pending_waiter": "c", "pending_target": 2}, "Your waiter C: what will you give AI 2?"),
        ({"pending_waiter": "e", "out": [1]}, "Your waiter E: what will you give AI 2?"),
        (
            {"pending_waiter": "a", "pending_target": 0, "active": 1},
            "Bruno's waiter A: what will you give Bruno?",
        ),
        (
            {"pending_waiter": "c", "pending_target": 3, "active": 1},
            "Bruno's waiter C: what will you give Anna (seat 3)?",
        ),
    ],
)
def test_a_gift_is_asked_for_with_whom_it_goes_to(
    desk: Desk, fields: dict[str, object], asked: str
) -> None:
    gifts = [action(give=pb.MisterBillGive(kind=kind(each))) for each in ("sushi", "pizza")]
    fields = {**fields, "pending_waiter": kind(f"waiter_{fields['pending_waiter']}")}
    view = view_with(["sushi", "pizza"], gifts, phase=pb.MISTER_BILL_PHASE_GIFT, **fields)
    assert asked in desk.turn(view)


def test_a_round_begins_with_the_teams_ones_own_first(desk: Desk) -> None:
    def begun(number: int, cards: Sequence[int]) -> str:
        started = pb.MisterBillRoundStarted(round=number, dealer=3, numbers=cards)
        event = game_pb2.GameEvent(mister_bill=pb.MisterBillEvent(round_started=started))
        return desk.told([event_pb2.Event(number=2, game=event)])

    assert begun(1, [3, 1, 2, 4]) == (
        "Round 1 begins; Anna (seat 3) dealt. Team cards: you 3, Bruno 1, AI 2 2, Anna (seat 3) 4. "
        "Teams: you and Anna (seat 3); Bruno and AI 2. Bruno starts."
    )
    assert "Teams" not in begun(3, [3, 1, 2, 4])


@pytest.mark.parametrize(("out", "left"), [([], "4."), ([1], "4."), ([1, 3], "")])
async def test_s_tells_what_teams_still_take_and_the_last_takes_nothing(
    server: Connection, out: list[int], left: str
) -> None:
    view = view_with(["sushi"], [], out=out, team_values=[4, 2, 1][len(out) // 2 :])
    said = await Desk(server, view, table_of("mister_bill")).said("s")
    assert said.partition("Still to be taken: ")[2].partition(" The highest")[0] == left


async def test_b_tells_what_has_happened_since_the_last_choice(desk: Desk) -> None:
    assert await desk.said("b") == "Nothing has happened since you chose."
    events = [
        pb.MisterBillEvent(drew=pb.MisterBillDrew(seat=1, from_seat=0, kind=kind("pizza"))),
        pb.MisterBillEvent(declined=pb.MisterBillDeclined(seat=1)),
    ]
    desk.told(
        [event_pb2.Event(number=2, game=game_pb2.GameEvent(mister_bill=each)) for each in events]
    )
    assert await desk.said("b") == "Bruno drew pizza from you.\nBruno played no waiter."


async def test_help_tells_what_the_keys_are_for_in_this_game(desk: Desk) -> None:
    lines = (await desk.said("?")).splitlines()
    assert "C: how many cards everybody holds, and what you have seen of them." in lines
    assert not any(line.startswith("D:") for line in lines)
