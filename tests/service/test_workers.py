"""Workers on a PostgreSQL, and servers that leave matches to them."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tavolata.ext.core.record import replay
from tavolata.ext.registry import game_spec
from tavolata.service import settings
from tavolata.service.replays import check_fairness, record_of_replay
from tavolata.service.store.revisions import NotOpened
from tavolata.service.worker import Worker
from tavolata.v1.player_pb2 import AiPlayer
from tavolata.v1.replay_pb2 import Replay
from tavolata.v1.table_pb2 import SeatPlan, TableState, TimeControl
from tests.service.house import AI, CALLER, GREEDY, House, house_in, until
from tests.service.test_players import ZOE, deciders, first_action, offered
from tests.service.worker_kill import worker_kill

FAST = {"look_s": 0.05, "ai_floor_s": 0.0, "ai_jitter_s": 0.0}


def worker_on(store: str, **flags: object) -> Worker:
    return Worker(settings.load(None, store=store, ai_threads=1, **FAST, **flags))


async def finished(house: House, table_id: str) -> Replay:
    """The record of a match, once it is over; it has to give the match again."""

    async def over() -> bool:
        return (await house.table(table_id)).state == TableState.TABLE_STATE_FINISHED

    await until(over, within_s=60)
    told = await house.replay(table_id)
    record = record_of_replay(told)
    check_fairness(record)
    replay(record, game_spec)
    return told


async def test_a_server_without_threads_leaves_matches_to_a_worker(
    postgres: str, tmp_path: Path
) -> None:
    async with house_in(tmp_path, store=postgres, ai_threads=0, look_s=0.05) as house:
        made = await house.create([AI, AI, AI])
        await house.start(made.table.table_id, made.token)
        await asyncio.sleep(0.3)
        assert house.server is not None
        assert house.server.core.work.held_count == 0
        assert (await house.view(made.table.table_id)).turn == 0  # nobody acts for it
        control = TimeControl()
        control.per_decision.FromMilliseconds(50)
        timed = await house.sitting(2, stand_in=GREEDY, time_control=control)
        worker = worker_on(postgres)
        await worker.start()
        try:
            told = await finished(house, made.table.table_id)
            await finished(house, timed.table_id)  # by the clocks that the worker keeps
        finally:
            await worker.stop()
    assert {each for seat in range(3) for each in deciders(told, seat)} == {"greedy"}


async def test_a_worker_that_stops_gives_its_matches_back_at_once(
    postgres: str, tmp_path: Path
) -> None:
    async with house_in(tmp_path, store=postgres, ai_threads=0, look_s=0.05) as house:
        first, second = worker_on(postgres, lease_s=60.0), worker_on(postgres, lease_s=60.0)
        await first.start()
        made = await house.create([CALLER, AI])
        await house.start(made.table.table_id, made.token)

        async def claimed() -> bool:
            return first.core.work.held_count == 1

        await until(claimed)
        await first.stop()
        await second.start()
        try:

            async def taken() -> bool:
                return second.core.work.held_count == 1

            await until(taken)  # long before the lease of the first would have run out
            await house.play_as_told(made.table.table_id, made.token)
            await finished(house, made.table.table_id)
        finally:
            await second.stop()


async def test_remote_players_at_other_servers_than_the_one_that_acts_are_asked_there(
    postgres: str, tmp_path: Path
) -> None:
    flags = {"store": postgres, "ai_threads": 0, "look_s": 0.05, "players_answer_s": 60}
    eve = SeatPlan(ai=AiPlayer(player="eve"))
    worker = worker_on(postgres, players_answer_s=60)
    async with house_in(tmp_path, **flags) as first, house_in(tmp_path, **flags) as second:
        await worker.start()
        try:
            async with (
                offered(first, first_action, decisions_at_once=2) as zoe,
                offered(second, first_action, name="eve", decisions_at_once=2),
            ):

                async def known() -> bool:
                    assert first.server is not None
                    return first.server.core.remote.roster.find("eve") is not None

                await until(known)
                made = await first.create([ZOE, eve, AI], game="mino_dice")
                await first.start(made.table.table_id, made.token)
                told = await finished(first, made.table.table_id)
        finally:
            await worker.stop()
    assert (set(deciders(told, 0)), set(deciders(told, 1))) == ({"zoe"}, {"eve"})
    assert set(deciders(told, 2)) == {"greedy"}
    assert len(zoe.asked) == len(deciders(told, 0))


async def test_a_remote_player_that_is_nowhere_is_replaced_by_whoever_acts(
    postgres: str, tmp_path: Path
) -> None:
    flags = {"store": postgres, "look_s": 0.05, "players_answer_s": 0.05}
    worker = worker_on(postgres, players_answer_s=0.05)
    async with house_in(tmp_path, ai_threads=0, **flags) as house:
        async with offered(house, first_action):
            made = await house.create([ZOE, AI])
        await worker.start()
        try:
            await house.start(made.table.table_id, made.token)
            told = await finished(house, made.table.table_id)
        finally:
            await worker.stop()
    assert set(deciders(told, 0)) == {"greedy"}


async def test_what_a_worker_cannot_do_without_is_said(tmp_path: Path) -> None:
    for flags, says in (
        ({"db": tmp_path / "x.db"}, "needs a database"),
        ({"store": "postgresql://nowhere.invalid/x", "ai_threads": 0}, "needs threads"),
    ):
        with pytest.raises(NotOpened, match=says):
            await Worker(settings.load(None, **flags)).start()
    with pytest.raises(NotOpened, match="tavolata worker"):
        async with house_in(tmp_path, ai_threads=0):
            pass


async def test_a_killed_worker_loses_no_decision_and_makes_none_twice(
    postgres: str, tmp_path: Path
) -> None:
    tally = await worker_kill(tmp_path, 1, store=postgres, tables=1, lease_s=0.5)
    assert (tally.kills, tally.tables > 0) == (1, True)
