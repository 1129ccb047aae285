"""The life of a table: making it, sitting down, starting, leaving, coming back, ending."""

from __future__ import annotations

import grpc
import pytest

from tavolata.v1 import table_service_pb2 as pb
from tavolata.v1.player_pb2 import AiPlayer
from tavolata.v1.table_pb2 import SeatControl, TableState
from tests.service.house import (
    AI,
    CALLER,
    GREEDY,
    OPEN,
    House,
    bearer,
    fresh_id,
    refused,
    until,
)

LEFT = SeatControl.SEAT_CONTROL_LEFT
OCCUPANT = SeatControl.SEAT_CONTROL_OCCUPANT
RESIGNED = SeatControl.SEAT_CONTROL_RESIGNED


@pytest.mark.parametrize("game", ["bouillabaisse", "mino_dice"])
async def test_a_person_and_three_ai_players_play_a_match_to_its_end(
    house: House, game: str
) -> None:
    made = await house.create([CALLER, OPEN, OPEN, OPEN], game=game, fill_empty_seats=GREEDY)
    table_id = made.table.table_id
    table = await house.start(table_id, made.token)
    assert [seat.occupant.WhichOneof("occupant") for seat in table.seats] == [
        "person",
        "ai",
        "ai",
        "ai",
    ]
    assert await house.play_as_told(table_id, made.token) > 0
    table = await house.table(table_id)
    assert table.state == TableState.TABLE_STATE_FINISHED
    assert [each.seat for each in table.result.seats] == [0, 1, 2, 3]
    assert min(each.place for each in table.result.seats) == 1
    assert table.HasField("end_time")
    assert table.HasField("expire_time")


async def test_settings_come_back_with_every_default_filled_in(house: House) -> None:
    made = await house.create([CALLER, AI], fill_empty_seats=AiPlayer())
    settings = made.table.settings
    assert settings.options.WhichOneof("options") == "bouillabaisse"
    assert settings.fill_empty_seats.player
    assert settings.fill_empty_seats.level
    assert settings.stand_in.player
    assert settings.visibility
    assert settings.reveal
    assert settings.HasField("ai_pace")
    assert made.table.seats[1].occupant.ai.level
    assert made.seat == 0
    assert made.table.owner_seat == 0
    assert len(made.table.fairness.commitment) == 32
    assert made.table.last_event == 0


async def test_an_owner_without_a_seat_starts_a_match_of_ai_players_that_plays_itself(
    house: House,
) -> None:
    made = await house.create([AI, AI])
    assert not made.HasField("seat")
    assert not made.table.HasField("owner_seat")
    await house.start(made.table.table_id, made.token)

    async def finished() -> bool:
        table = await house.table(made.table.table_id)
        return table.state == TableState.TABLE_STATE_FINISHED

    await until(finished)


async def test_an_owner_without_a_seat_who_joins_keeps_token_and_table(house: House) -> None:
    made = await house.create([AI, OPEN])
    joined = await house.join(made.table.table_id, token=made.token, name="Bo")
    assert joined.seat == 1
    assert joined.token == ""
    assert joined.table.owner_seat == 1
    assert joined.table.seats[1].occupant.person.display_name == "Bo"
    await house.start(made.table.table_id, made.token)
    assert (await house.view(made.table.table_id, made.token)).viewer_seat == 1


async def test_seats_are_taken_in_order_or_as_wished(house: House) -> None:
    made = await house.create([CALLER, OPEN, OPEN, OPEN])
    table_id = made.table.table_id
    assert (await house.join(table_id, seat=2)).seat == 2
    assert (await house.join(table_id)).seat == 1
    assert (await house.join(table_id)).seat == 3


async def test_leaving_before_the_match_frees_the_seat_and_voids_the_token(house: House) -> None:
    made = await house.create()
    table_id = made.table.table_id
    joined = await house.join(table_id)
    table = await house.leave(table_id, joined.token)
    assert table.seats[1].occupant.HasField("open")
    assert (await refused(house.view(table_id, joined.token))).reason == "BAD_TOKEN"
    assert (await house.join(table_id)).seat == 1


async def test_ownership_passes_to_the_person_seated_longest(house: House) -> None:
    made = await house.create([CALLER, OPEN, OPEN])
    table_id = made.table.table_id
    second = await house.join(table_id, seat=2)
    await house.join(table_id, seat=1)
    table = await house.leave(table_id, made.token)
    assert table.owner_seat == 2
    request = pb.SetSeatRequest(request_id=fresh_id(), table_id=table_id, seat=0, ai=GREEDY)
    table = (await house.stub.SetSeat(request, metadata=bearer(second.token))).table
    assert table.seats[0].occupant.ai.player == "greedy"


async def test_the_last_person_to_leave_an_open_table_aborts_it(house: House) -> None:
    made = await house.create([CALLER, OPEN])
    table = await house.leave(made.table.table_id, made.token)
    assert table.state == TableState.TABLE_STATE_ABORTED


async def test_the_owner_gives_a_persons_seat_away_and_that_persons_token_is_void(
    house: House,
) -> None:
    made = await house.create()
    table_id = made.table.table_id
    joined = await house.join(table_id)
    request = pb.SetSeatRequest(request_id=fresh_id(), table_id=table_id, seat=1, ai=GREEDY)
    await house.stub.SetSeat(request, metadata=bearer(made.token))
    assert (await refused(house.leave(table_id, joined.token))).reason == "BAD_TOKEN"
    table = await house.start(table_id, made.token)
    assert table.seats[1].occupant.HasField("ai")


async def test_a_seat_that_is_left_is_played_by_the_stand_in_until_the_person_acts(
    house: House,
) -> None:
    sitting = await house.sitting(2, stand_in=GREEDY)
    first = (await house.view(sitting.table_id)).seats_to_act[0]
    other = 1 - first
    table = await house.leave(sitting.table_id, sitting.tokens[first])
    assert table.seats[first].control == LEFT
    assert table.state == TableState.TABLE_STATE_PLAYING

    async def others_turn() -> bool:
        return list((await house.view(sitting.table_id)).seats_to_act) == [other]

    await until(others_turn)
    # The stand-in answers at once, so the person comes back by joining before it is to act again.
    joined = await house.join(sitting.table_id, token=sitting.tokens[first])
    assert joined.token == ""
    assert joined.table.seats[first].control == OCCUPANT
    await house.play_on(sitting)
    result = (await house.table(sitting.table_id)).result
    assert result.seats[first].stand_in_decisions == 1
    assert result.seats[other].stand_in_decisions == 0


async def test_acting_takes_the_seat_back(house: House) -> None:
    slow = AiPlayer(player="ismcts")
    slow.limits.think_time.FromSeconds(20)
    sitting = await house.sitting(2, stand_in=slow)
    first = (await house.view(sitting.table_id)).seats_to_act[0]
    token = sitting.tokens[first]
    view = await house.view(sitting.table_id, token)
    await house.leave(sitting.table_id, token)
    assert list((await house.view(sitting.table_id)).thinking_seats) == [first]
    before = (await house.table(sitting.table_id)).last_event
    await house.play(sitting.table_id, token, view)
    table = await house.table(sitting.table_id)
    assert table.seats[first].control == OCCUPANT
    events = [
        message.event
        async for message in _until_number(house, sitting.table_id, before, table.last_event)
    ]
    # The hand-back comes before what the action caused.
    assert events[0].table.seat_changed.seat.control == OCCUPANT
    assert events[1].HasField("game")


async def _until_number(house: House, table_id: str, after: int, last: int):  # type: ignore[no-untyped-def]
    watch = house.watch(table_id, after_event=after)
    async for message in watch:
        yield message
        if message.event.number == last:
            watch.cancel()
            return


async def test_a_match_that_everybody_left_is_parked_until_somebody_is_back(house: House) -> None:
    sitting = await house.sitting(2, stand_in=GREEDY)
    owner_leaves = await house.leave(sitting.table_id, sitting.tokens[0])
    assert owner_leaves.owner_seat == 1
    table = await house.leave(sitting.table_id, sitting.tokens[1])
    assert table.state == TableState.TABLE_STATE_PARKED
    assert table.owner_seat == 1
    view = await house.view(sitting.table_id)
    assert not view.thinking_seats
    await house.restart()
    assert (await house.view(sitting.table_id)).turn == view.turn
    back = await house.join(sitting.table_id, token=sitting.tokens[0])
    assert back.table.state == TableState.TABLE_STATE_PLAYING

    async def my_turn() -> bool:
        return list((await house.view(sitting.table_id)).seats_to_act) == [0]

    await until(my_turn)


async def test_resigning_is_for_good_and_marked_in_the_result(house: House) -> None:
    sitting = await house.sitting(2, stand_in=GREEDY)
    table = await house.resign(sitting.table_id, sitting.tokens[0])
    assert table.seats[0].control == RESIGNED
    assert table.owner_seat == 1
    assert (
        await refused(house.join(sitting.table_id, token=sitting.tokens[0]))
    ).reason == "SEAT_RESIGNED"
    await house.play_as_told(sitting.table_id, sitting.tokens[1])
    result = (await house.table(sitting.table_id)).result
    assert [seat.resigned for seat in result.seats] == [True, False]
    assert result.seats[0].stand_in_decisions == 0


async def test_a_match_that_everybody_resigned_plays_itself_to_the_end(house: House) -> None:
    sitting = await house.sitting(2, stand_in=GREEDY)
    await house.resign(sitting.table_id, sitting.tokens[0])
    await house.resign(sitting.table_id, sitting.tokens[1])

    async def finished() -> bool:
        table = await house.table(sitting.table_id)
        return table.state == TableState.TABLE_STATE_FINISHED

    await until(finished)


async def test_an_aborted_match_reveals_its_seed_and_has_no_result(house: House) -> None:
    sitting = await house.sitting(2)
    await house.play_on(sitting, 3)
    table = await house.abort(sitting.table_id, sitting.owner)
    assert table.state == TableState.TABLE_STATE_ABORTED
    assert not table.HasField("result")
    replay = await house.replay(sitting.table_id)
    assert len(replay.proof.match_seed) == 32
    assert sum(entry.HasField("decision") for entry in replay.entries) == 3


async def test_simultaneous_bids_are_taken_in_any_order_and_shown_together(house: House) -> None:
    sitting = await house.sitting(3, game="mino_dice")
    shown = await house.view(sitting.table_id)
    assert list(shown.seats_to_act) == [0, 1, 2]
    views = {seat: await house.view(sitting.table_id, sitting.tokens[seat]) for seat in range(3)}
    for seat in (2, 0):
        receipt = (await house.play(sitting.table_id, sitting.tokens[seat], views[seat])).receipt
        assert receipt.turn == shown.turn
    between = await house.view(sitting.table_id, sitting.tokens[1])
    assert list(between.seats_to_act) == [1]
    assert between.turn == shown.turn
    again = await refused(house.play(sitting.table_id, sitting.tokens[2], views[2]))
    assert again.code == grpc.StatusCode.FAILED_PRECONDITION
    assert again.reason == "ALREADY_COMMITTED"
    assert again.metadata["rule"] == "G-2"
    receipt = (await house.play(sitting.table_id, sitting.tokens[1], views[1])).receipt
    assert receipt.turn == shown.turn + 1
