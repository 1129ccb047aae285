"""Time to decide: the stand-in takes over when a person's time runs out, and hands back."""

from __future__ import annotations

from google.protobuf.duration_pb2 import Duration

from tavolata.v1.player_pb2 import AiPlayer
from tavolata.v1.table_pb2 import SeatControl, TableState, TimeControl
from tests.service.house import GREEDY, House, Sitting, until

TIMED_OUT = SeatControl.SEAT_CONTROL_TIMED_OUT
OCCUPANT = SeatControl.SEAT_CONTROL_OCCUPANT


def seconds(value: float) -> Duration:
    """A duration."""
    made = Duration()
    made.FromNanoseconds(round(value * 1e9))
    return made


async def timed_out(house: House, sitting: Sitting, seat: int) -> None:
    """Wait until the stand-in has the seat."""

    async def taken() -> bool:
        table = await house.table(sitting.table_id)
        return table.seats[seat].control == TIMED_OUT

    await until(taken)


async def test_a_person_who_runs_out_of_time_is_stood_in_for_and_can_come_back(
    house: House,
) -> None:
    control = TimeControl(per_decision=seconds(0.3))
    sitting = await house.sitting(2, stand_in=GREEDY, time_control=control)
    first = (await house.view(sitting.table_id)).seats_to_act[0]
    await timed_out(house, sitting, first)

    async def others_turn() -> bool:
        view = await house.view(sitting.table_id)
        return first not in view.seats_to_act or view.turn > 0

    await until(others_turn)
    joined = await house.join(sitting.table_id, token=sitting.tokens[first])
    assert joined.table.seats[first].control == OCCUPANT


async def test_a_match_nobody_plays_any_more_is_played_to_its_end_by_the_stand_ins(
    house: House,
) -> None:
    control = TimeControl(per_decision=seconds(0.1))
    sitting = await house.sitting(3, game="mino_dice", stand_in=GREEDY, time_control=control)

    async def finished() -> bool:
        table = await house.table(sitting.table_id)
        return table.state == TableState.TABLE_STATE_FINISHED

    await until(finished)
    result = (await house.table(sitting.table_id)).result
    decisions = house.rows("SELECT count(*) FROM entries WHERE kind = 'played'")[0][0]
    assert sum(seat.stand_in_decisions for seat in result.seats) == decisions


async def test_the_clock_of_the_match_counts_what_a_seat_has_used(house: House) -> None:
    control = TimeControl(per_match=seconds(1.0))
    sitting = await house.sitting(2, stand_in=GREEDY, time_control=control)
    view = await house.view(sitting.table_id)
    first = view.seats_to_act[0]
    clocks = {clock.seat: clock for clock in view.clocks}
    assert clocks[first].HasField("deadline")
    assert not clocks[1 - first].HasField("deadline")
    assert clocks[first].match_time_left == seconds(1.0)
    token = sitting.tokens[first]
    await house.play(sitting.table_id, token, await house.view(sitting.table_id, token))
    view = await house.view(sitting.table_id)
    clocks = {clock.seat: clock for clock in view.clocks}
    left = clocks[first].match_time_left.ToNanoseconds()
    assert 0 < left < 10**9
    assert clocks[1 - first].match_time_left == seconds(1.0)
    await timed_out(house, sitting, 1 - first)


async def test_no_clock_runs_while_there_is_no_server_and_all_run_again_after_it(
    house: House,
) -> None:
    control = TimeControl(per_decision=seconds(1.0))
    sitting = await house.sitting(2, stand_in=AiPlayer(player="greedy"), time_control=control)
    first = (await house.view(sitting.table_id)).seats_to_act[0]
    await house.restart()
    view = await house.view(sitting.table_id)
    deadline = next(clock.deadline for clock in view.clocks if clock.seat == first)
    awakened = house.rows("SELECT max(time_us) FROM entries WHERE kind = 'awakened'")[0][0]
    assert deadline.ToMicroseconds() == awakened + 1_000_000
    await timed_out(house, sitting, first)


async def test_without_a_time_control_there_are_no_clocks(house: House) -> None:
    sitting = await house.sitting(2)
    assert not (await house.view(sitting.table_id)).clocks
