"""Who is thinking, told in watches: by the clock alone, and beside the events."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

from google.protobuf.duration_pb2 import Duration

from tavolata.v1 import table_service_pb2 as pb
from tavolata.v1.play_pb2 import AttachSeat
from tavolata.v1.player_pb2 import AiPace
from tests.service.house import AI, CALLER, House

SLOW = AiPace(floor=Duration(seconds=60), jitter=Duration())


async def ais_turn(house: House, **fields: Any) -> tuple[str, str, int]:
    """A table where the AI player in seat 1 is to act: its id, the person's token, the turn."""
    made = await house.create([CALLER, AI], ai_pace=SLOW, **fields)
    table_id = made.table.table_id
    await house.start(table_id, made.token)
    view = await house.view(table_id, made.token)
    while view.legal_actions:
        await house.play(table_id, made.token, view)
        view = await house.view(table_id, made.token)
    return table_id, made.token, view.turn


async def test_whoever_asks_is_told_at_once_and_then_every_second(house: House) -> None:
    table_id, token, turn = await ais_turn(house)
    last = (await house.table(table_id)).last_event
    told = []
    loop = asyncio.get_running_loop()
    async for message in house.watch(table_id, token, after_event=0, with_thinking=True):
        told.append((loop.time(), message))
        if message.HasField("thinking") and len(told) == last + 3:
            break
    numbers = [each.event.number for _, each in told[:last]]
    assert numbers == list(range(1, last + 1))  # the numbers of events have no part in it
    thoughts = [(at, each.thinking) for at, each in told[last:]]
    assert all(list(each.seats) == [1] and each.turn == turn for _, each in thoughts)
    for (_, one), (_, other) in itertools.pairwise(thoughts):
        passed = other.server_time.ToMicroseconds() - one.server_time.ToMicroseconds()
        assert passed > 900_000


async def test_nobody_is_told_who_has_not_asked_or_while_people_are_to_act(house: House) -> None:
    table_id, token, _ = await ais_turn(house)
    watch = house.watch(table_id, token)
    assert (await watch.read()).HasField("snapshot")
    people = await house.sitting(2)
    theirs = house.watch(people.table_id, people.owner, with_thinking=True)
    assert (await theirs.read()).HasField("snapshot")
    waits = [asyncio.ensure_future(each.read()) for each in (watch, theirs)]
    done, _ = await asyncio.wait(waits, timeout=0.2)
    assert not done
    for each in (watch, theirs):
        each.cancel()
    await asyncio.gather(*waits, return_exceptions=True)


async def test_a_spectator_who_is_behind_is_told_of_what_is_shown(house: House) -> None:
    table_id, _, _ = await ais_turn(house, spectator_delay=Duration(seconds=3600))
    watch = house.watch(table_id, with_thinking=True)
    assert not (await watch.read()).snapshot.HasField("view")
    reading = asyncio.ensure_future(watch.read())
    done, _ = await asyncio.wait([reading], timeout=0.2)
    assert not done
    watch.cancel()
    await asyncio.gather(reading, return_exceptions=True)


async def test_a_play_stream_tells_it_for_those_handles_that_ask(house: House) -> None:
    table_id, token, turn = await ais_turn(house)
    stream: Any = house.stub.PlayStream()
    for handle in (1, 2):
        attach = AttachSeat(
            handle=handle, table_id=table_id, token=token, with_thinking=handle == 2
        )
        await stream.write(pb.PlayStreamRequest(attach=attach))
    told: list[Any] = []
    while not told or told[-1].WhichOneof("message") != "thinking":
        told.append(await stream.read())
    assert told[-1].handle == 2
    assert told[-1].thinking.turn == turn
    assert [each.WhichOneof("message") for each in told].count("snapshot") == 2
    stream.cancel()
