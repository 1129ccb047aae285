"""Request ids: repeating a call does nothing a second time and gives the same result."""

from __future__ import annotations

import asyncio

import grpc
import pytest

from tavolata.v1 import table_service_pb2 as pb
from tests.service.house import CALLER, GREEDY, OPEN, House, bearer, fresh_id, refused

EXISTS = grpc.StatusCode.ALREADY_EXISTS


async def test_a_repeated_action_gives_the_same_receipt_and_is_played_once(house: House) -> None:
    sitting = await house.sitting(2)
    mover = (await house.view(sitting.table_id)).seats_to_act[0]
    token = sitting.tokens[mover]
    view = await house.view(sitting.table_id, token)
    first = await house.play(sitting.table_id, token, view, request_id="once")
    await house.play_on(sitting, 5)
    assert await house.play(sitting.table_id, token, view, request_id="once") == first
    await house.restart()
    assert await house.play(sitting.table_id, token, view, request_id="once") == first
    await house.play_on(sitting)
    assert await house.play(sitting.table_id, token, view, request_id="once") == first
    count = "SELECT count(*) FROM entries WHERE request_id = 'once'"
    assert house.rows(count) == [(1,)]


async def test_many_copies_of_an_action_at_the_same_time_are_played_once(house: House) -> None:
    sitting = await house.sitting(2)
    mover = (await house.view(sitting.table_id)).seats_to_act[0]
    token = sitting.tokens[mover]
    view = await house.view(sitting.table_id, token)
    receipts = await asyncio.gather(
        *(house.play(sitting.table_id, token, view, request_id="burst") for _ in range(20))
    )
    assert len({receipt.SerializeToString() for receipt in receipts}) == 1
    assert house.rows("SELECT count(*) FROM entries WHERE kind = 'played'") == [(1,)]


async def test_of_many_different_actions_for_one_turn_exactly_one_is_played(house: House) -> None:
    sitting = await house.sitting(2)
    mover = (await house.view(sitting.table_id)).seats_to_act[0]
    token = sitting.tokens[mover]
    view = await house.view(sitting.table_id, token)
    calls = [house.play(sitting.table_id, token, view, which=n % 3) for n in range(12)]
    outcomes = await asyncio.gather(*calls, return_exceptions=True)
    played = [each for each in outcomes if isinstance(each, pb.PlayActionResponse)]
    lost = [each for each in outcomes if isinstance(each, grpc.aio.AioRpcError)]
    assert len(played) == 1
    assert {each.code() for each in lost} == {grpc.StatusCode.ABORTED}
    assert house.rows("SELECT count(*) FROM entries WHERE kind = 'played'") == [(1,)]


@pytest.mark.parametrize("change", ["turn", "action"])
async def test_an_id_with_another_payload_is_refused_and_changes_nothing(
    house: House, change: str
) -> None:
    sitting = await house.sitting(2)
    mover = (await house.view(sitting.table_id)).seats_to_act[0]
    token = sitting.tokens[mover]
    view = await house.view(sitting.table_id, token)
    await house.play(sitting.table_id, token, view, request_id="used")
    entries = house.rows("SELECT * FROM entries")
    again = house.play(
        sitting.table_id,
        token,
        view,
        request_id="used",
        which=1 if change == "action" else 0,
        turn=7 if change == "turn" else None,
    )
    found = await refused(again)
    assert (found.code, found.reason) == (EXISTS, "REQUEST_ID_REUSED")
    assert found.metadata == {"request_id": "used"}
    found = await refused(
        house.stub.Resign(
            pb.ResignRequest(request_id="used", table_id=sitting.table_id), metadata=bearer(token)
        )
    )
    assert found.reason == "REQUEST_ID_REUSED"
    assert house.rows("SELECT * FROM entries") == entries


async def test_two_seats_may_use_the_same_id(house: House) -> None:
    sitting = await house.sitting(3, game="mino_dice")
    for seat in (0, 1):
        view = await house.view(sitting.table_id, sitting.tokens[seat])
        await house.play(sitting.table_id, sitting.tokens[seat], view, request_id="same")
    assert house.rows("SELECT count(*) FROM entries WHERE kind = 'played'") == [(2,)]


async def test_a_refused_call_leaves_its_id_free(house: House) -> None:
    sitting = await house.sitting(2)
    mover = (await house.view(sitting.table_id)).seats_to_act[0]
    token = sitting.tokens[mover]
    view = await house.view(sitting.table_id, token)
    stale = house.play(sitting.table_id, token, view, request_id="free", turn=9)
    assert (await refused(stale)).reason == "STALE_TURN"
    await house.play(sitting.table_id, token, view, request_id="free")


async def test_creating_again_gives_the_same_table_and_voids_the_unused_token(
    house: House,
) -> None:
    first = await house.create(request_id="make")
    second = await house.create(request_id="make")
    assert second.table.table_id == first.table.table_id
    assert second.token != first.token
    assert (await refused(house.start(first.table.table_id, first.token))).reason == "BAD_TOKEN"
    await house.restart()
    third = await house.create(request_id="make")
    joined = await house.join(third.table.table_id)
    assert joined.seat == 1
    await house.start(third.table.table_id, third.token)
    # Now that it has been used, nobody who learns the id gets a token for it.
    found = await refused(house.create(request_id="make"))
    assert (found.code, found.reason) == (EXISTS, "REQUEST_ID_REUSED")
    assert house.rows("SELECT count(*) FROM tables") == [(1,)]


async def test_creating_with_a_used_id_and_other_content_is_refused(house: House) -> None:
    await house.create(request_id="make")
    found = await refused(house.create([CALLER, OPEN, OPEN], request_id="make"))
    assert (found.code, found.reason) == (EXISTS, "REQUEST_ID_REUSED")
    assert house.rows("SELECT count(*) FROM tables") == [(1,)]


async def test_many_copies_of_a_creation_at_the_same_time_make_one_table(house: House) -> None:
    made = await asyncio.gather(*(house.create(request_id="make") for _ in range(10)))
    assert len({each.table.table_id for each in made}) == 1
    assert house.rows("SELECT count(*) FROM tables") == [(1,)]
    valid = []
    for each in made:
        try:
            await house.join(each.table.table_id, token=each.token)
            valid.append(each.token)
        except grpc.aio.AioRpcError as error:
            assert error.code() == grpc.StatusCode.UNAUTHENTICATED  # noqa: PT017
    assert len(valid) == 1


async def test_joining_again_gives_the_same_seat_and_voids_the_unused_token(house: House) -> None:
    made = await house.create([CALLER, OPEN, OPEN])
    table_id = made.table.table_id
    first = await house.join(table_id, request_id="sit")
    second = await house.join(table_id, request_id="sit")
    assert (first.seat, second.seat) == (1, 1)
    assert (await refused(house.leave(table_id, first.token))).reason == "BAD_TOKEN"
    await house.leave(table_id, second.token)
    found = await refused(house.join(table_id, request_id="sit"))
    assert (found.code, found.reason) == (EXISTS, "REQUEST_ID_REUSED")


async def test_many_joins_at_the_same_time_take_different_seats(house: House) -> None:
    made = await house.create([CALLER, *[OPEN] * 5])
    joins = [house.join(made.table.table_id) for _ in range(8)]
    outcomes = await asyncio.gather(*joins, return_exceptions=True)
    seats = [each.seat for each in outcomes if isinstance(each, pb.JoinTableResponse)]
    assert sorted(seats) == [1, 2, 3, 4, 5]
    lost = [each for each in outcomes if isinstance(each, grpc.aio.AioRpcError)]
    assert {each.code() for each in lost} == {grpc.StatusCode.FAILED_PRECONDITION}


async def test_leaving_again_is_done_once_although_the_token_is_void_by_then(house: House) -> None:
    made = await house.create()
    table_id = made.table.table_id
    joined = await house.join(table_id)
    await house.leave(table_id, joined.token, request_id="up")
    other = await house.join(table_id)
    assert other.seat == 1
    table = await house.leave(table_id, joined.token, request_id="up")
    assert table.seats[1].occupant.HasField("person")
    assert (await refused(house.leave(table_id, joined.token, request_id="up2"))).reason == (
        "BAD_TOKEN"
    )


async def test_the_other_calls_can_be_repeated_too(house: House) -> None:
    made = await house.create([CALLER, OPEN], stand_in=GREEDY)
    table_id, owner = made.table.table_id, bearer(made.token)
    ids = [fresh_id() for _ in range(4)]
    set_seat = pb.SetSeatRequest(request_id=ids[0], table_id=table_id, seat=1, ai=GREEDY)
    start = pb.StartMatchRequest(request_id=ids[1], table_id=table_id)
    resign = pb.ResignRequest(request_id=ids[2], table_id=table_id)
    abort = pb.AbortMatchRequest(request_id=ids[3], table_id=table_id)
    for _ in range(2):
        await house.stub.SetSeat(set_seat, metadata=owner)
    for _ in range(2):
        await house.stub.StartMatch(start, metadata=owner)
    for _ in range(2):
        await house.stub.Resign(resign, metadata=owner)
    for request_id in ids[:3]:
        query = "SELECT count(*) FROM entries WHERE request_id = ?"
        assert house.rows(query, request_id) == [(1,)]
    made = await house.create([CALLER, OPEN])
    abort.table_id = made.table.table_id
    for _ in range(2):
        table = (await house.stub.AbortMatch(abort, metadata=bearer(made.token))).table
    assert table.last_event == 1


async def test_an_owner_who_took_a_seat_since_can_repeat_what_it_asked_without_one(
    house: House,
) -> None:
    made = await house.create([OPEN, OPEN, OPEN])
    table_id, owner = made.table.table_id, bearer(made.token)
    request = pb.SetSeatRequest(request_id="set", table_id=table_id, seat=2, ai=GREEDY)
    await house.stub.SetSeat(request, metadata=owner)
    await house.join(table_id, token=made.token, request_id="sit")
    await house.join(table_id)
    await house.start(table_id, made.token)
    again = (await house.stub.SetSeat(request, metadata=owner)).table
    assert again.seats[2].occupant.ai.player == "greedy"
    assert (await house.join(table_id, token=made.token, request_id="sit")).seat == 0
    assert house.rows("SELECT count(*) FROM entries WHERE kind = 'joined'") == [(2,)]
