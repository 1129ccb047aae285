"""Time to decide: the stand-in takes over when a person's time runs out, and hands back."""

from __future__ import annotations

from google.protobuf.duration_pb2 import Duration

from tavolata.service.tables.clocks import clocks_of, deadline_us
from tavolata.v1 import table_service_pb2 as pb
from tavolata.v1.player_pb2 import AiPlayer
from tavolata.v1.table_pb2 import SeatControl, TableSettings, TableState, TimeControl
from tests.service.drawn_ports import DrawnClock, KnownEntropy, MemoryStore, core_on
from tests.service.house import CALLER, GREEDY, OPEN, House, Sitting, fresh_id, until

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


class Sitters:
    """A match of two people whose clock the test moves on, and whose stand-ins never act."""

    def __init__(self, per_decision_s: int, per_match_s: int) -> None:
        self.clock = DrawnClock()
        self.core = core_on(MemoryStore(), self.clock, KnownEntropy(1))
        self.control = TimeControl(
            per_decision=seconds(per_decision_s), per_match=seconds(per_match_s)
        )

    async def begin(self) -> None:
        """Make the table and start; `first` is the seat to decide."""
        lobby = self.core.lobby
        game = TableSettings(game_id="bouillabaisse", time_control=self.control)
        made = await lobby.create(
            pb.CreateTableRequest(request_id=fresh_id(), settings=game, seats=[CALLER, OPEN])
        )
        self.table_id = made.table.table_id
        join = pb.JoinTableRequest(request_id=fresh_id(), table_id=self.table_id)
        self.tokens = [made.token, (await lobby.join(join, None)).token]
        start = pb.StartMatchRequest(request_id=fresh_id(), table_id=self.table_id)
        await self.core.ai_seats.close()
        self.table = await lobby.start(start, made.token)
        assert self.table.match is not None
        self.first = self.table.match.to_act[0]

    async def leave(self, seat: int) -> None:
        request = pb.LeaveTableRequest(request_id=fresh_id(), table_id=self.table_id)
        await self.core.lobby.leave(request, self.tokens[seat])

    async def come_back(self, seat: int) -> None:
        request = pb.JoinTableRequest(request_id=fresh_id(), table_id=self.table_id)
        await self.core.lobby.join(request, self.tokens[seat])

    async def play(self, seat: int) -> None:
        token = self.tokens[seat]
        view, _ = await self.core.playing.view(self.table_id, token, ())
        await self.core.playing.play(
            self.table_id, token, fresh_id(), view.turn, view.legal_actions[0]
        )

    def wait(self, duration_s: int) -> None:
        self.clock.us += duration_s * 10**6

    def left_s(self) -> float:
        """What the first seat has left for the match."""
        clock = next(each for each in clocks_of(self.table) if each.seat == self.first)
        return clock.match_time_left.ToNanoseconds() / 1e9

    def deadline_in_s(self) -> float | None:
        """How soon the first seat's time runs out."""
        at_us = deadline_us(self.table, self.table.seats[self.first])
        return None if at_us is None else (at_us - self.clock.us) / 1e6


async def test_no_time_is_counted_while_a_person_has_left() -> None:
    sitters = Sitters(40, 100)
    await sitters.begin()
    sitters.wait(10)
    await sitters.leave(sitters.first)
    sitters.wait(500)
    assert sitters.left_s() == 90
    assert sitters.deadline_in_s() is None
    await sitters.come_back(sitters.first)
    assert sitters.deadline_in_s() == 30
    sitters.wait(5)
    await sitters.play(sitters.first)
    assert sitters.left_s() == 85


async def test_no_time_is_counted_while_the_match_is_parked() -> None:
    sitters = Sitters(40, 100)
    await sitters.begin()
    sitters.wait(10)
    for seat in (0, 1):
        await sitters.leave(seat)
    assert sitters.table.state == TableState.TABLE_STATE_PARKED
    sitters.wait(500)
    await sitters.play(sitters.first)
    assert sitters.left_s() == 90


async def test_time_that_has_run_out_is_counted_once() -> None:
    sitters = Sitters(40, 100)
    await sitters.begin()
    sitters.wait(40)
    await sitters.core.playing.time_out(sitters.table_id)
    assert sitters.table.seats[sitters.first].control == TIMED_OUT
    sitters.wait(7)
    await sitters.come_back(sitters.first)
    assert sitters.left_s() == 60
    assert sitters.deadline_in_s() == 0
    await sitters.play(sitters.first)
    assert sitters.left_s() == 60
