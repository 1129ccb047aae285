"""The short form of the fuzz; `python -m tests.service.fuzz` is the long one."""

from __future__ import annotations

import asyncio

from tavolata.service.server import LOOK_S
from tests.service.fuzz import fuzz
from tests.service.fuzzing import PREFACE, frame, headers
from tests.service.house import House


async def test_requests_without_sense_are_answered_or_refused_with_a_reason(house: House) -> None:
    summary, problems = await fuzz(house.target, 1500, seed=3, quiet=True)
    assert not problems.count, f"{summary}\n{problems}"


async def test_a_method_whose_name_is_no_text_leaves_a_server_that_can_be_reached(
    house: House,
) -> None:
    sitting = await house.sitting(2)
    watch = house.watch(sitting.table_id)
    await watch.read()
    host, _, port = house.target.rpartition(":")
    await asyncio.sleep(2 * LOOK_S)  # a server that has looked at its listener already
    for _ in range(2):
        reader, writer = await asyncio.open_connection(host, int(port))
        call = frame(1, 5, 1, headers(b"/tavol\xe1ta.v1.TableService/GetTable"))
        writer.write(PREFACE + frame(4, 0, 0, b"") + call)
        await reader.read(200)
        await asyncio.sleep(0.3)
        writer.close()
        async with asyncio.timeout(20):
            await house.channel.channel_ready()
        assert await house.play_on(sitting, 3) == 3
    # Who watched goes on watching.
    last = (await house.table(sitting.table_id)).last_event
    while (await watch.read()).event.number < last:
        pass
    watch.cancel()
