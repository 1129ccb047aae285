"""A server that is told to stop, as a process: in order, and in time whoever holds on to it."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import grpc
from google.protobuf.duration_pb2 import Duration
from grpc_health.v1 import health_pb2, health_pb2_grpc

from tavolata.v1.event_pb2 import ClosingReason
from tavolata.v1.player_pb2 import AiPlayer, SearchLimits
from tavolata.v1.table_pb2 import SeatPlan
from tavolata.v1.table_service_pb2_grpc import TableServiceStub
from tests.service.house import CALLER, House, Sitting
from tests.service.kill_loop import Target

STOP_MAX_S = 30.0  # what supervisors are told to wait
SLOW = AiPlayer(
    player="ismcts",
    level="standard",
    limits=SearchLimits(think_time=Duration(seconds=30), nodes=10_000),
)


async def at(target: Target, folder: Path) -> House:
    """A client of a server process."""
    house = House(folder)
    house.target = target.bind
    # A window that a few messages fill, so that a reader who stops is soon waited for.
    options = [("grpc.http2.lookahead_bytes", 1024)]
    house.channel = grpc.aio.insecure_channel(target.bind, options=options)
    house.stub = TableServiceStub(house.channel)
    return house


async def thinking_table(house: House) -> Sitting:
    """A table at which an AI player searches, for half a minute if it is let."""
    made = await house.create([CALLER, *[SeatPlan(ai=SLOW)] * 3], game="bouillabaisse")
    await house.start(made.table.table_id, made.token)
    sitting = Sitting(made.table.table_id, made.token, {0: made.token})
    view = await house.view(sitting.table_id, made.token)
    if view.legal_actions:
        await house.play(sitting.table_id, made.token, view)
    assert list((await house.view(sitting.table_id)).seats_to_act) != [0]
    return sitting


async def test_health_goes_first_and_streams_end_with_the_number_to_go_on_from(
    tmp_path: Path,
) -> None:
    target = Target(tmp_path)
    await target.start()
    house = await at(target, tmp_path)
    sitting = await house.sitting(2)
    await house.play_on(sitting, 5)
    await thinking_table(house)
    last = (await house.table(sitting.table_id)).last_event
    watch = house.watch(sitting.table_id, after_event=0)
    stub: Any = health_pb2_grpc.HealthStub(house.channel)
    health = stub.Watch(health_pb2.HealthCheckRequest())
    assert (await health.read()).status == health_pb2.HealthCheckResponse.SERVING
    heard: list[str] = []

    async def hear_of_health() -> None:
        while (await health.read()).status == health_pb2.HealthCheckResponse.SERVING:
            pass
        heard.append("not serving")

    async def hear_of_the_end() -> Any:
        async for message in watch:
            if message.HasField("closing"):
                heard.append("closing")
                return message.closing
        raise AssertionError("no closing message")

    hearing = asyncio.gather(hear_of_health(), hear_of_the_end())
    began = time.monotonic()
    code = await target.stop()
    _, closing = await hearing
    assert code == 0
    assert time.monotonic() - began < STOP_MAX_S
    assert heard == ["not serving", "closing"]
    assert closing.reason == ClosingReason.CLOSING_REASON_SHUTTING_DOWN
    assert closing.resume_after == last
    # Nothing is claimed any more: another server need not wait for a lease.
    assert house.rows("SELECT owner FROM work WHERE active = 1 AND owner <> ''") == []
    assert house.rows("SELECT server_id FROM servers") == []
    await house.channel.close()


async def test_callers_who_do_not_read_are_not_waited_for_beyond_the_time(tmp_path: Path) -> None:
    target = Target(tmp_path)
    target.environment = target.environment | {"TAVOLATA_STOP_S": "2"}
    await target.start()
    house = await at(target, tmp_path)
    sitting = await house.sitting(2)
    await house.play_on(sitting)
    # Far more than the windows of its connection hold, and nobody reads.
    stuck = [house.watch(sitting.table_id, after_event=0, with_views=True) for _ in range(6)]
    for watch in stuck:
        await watch.read()
    began = time.monotonic()
    assert await target.stop() == 0
    assert time.monotonic() - began < STOP_MAX_S
    for watch in stuck:
        watch.cancel()
    await house.channel.close()
