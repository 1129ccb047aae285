"""The service above its ports alone: without clock, disk, threads or chance of the machine's."""

from __future__ import annotations

import asyncio

from tavolata.service.ports import Entry
from tavolata.v1 import table_service_pb2 as pb
from tavolata.v1.table_pb2 import TableSettings, TimeControl
from tests.service.drawn_ports import DrawnClock, KnownEntropy, MemoryStore, core_on
from tests.service.house import AI, CALLER, GREEDY


async def a_match(seed: int) -> list[Entry]:
    """The log of a match of a person who never acts against AI players, with a crash in between."""
    store, clock, entropy = MemoryStore(), DrawnClock(), KnownEntropy(seed)
    core = core_on(store, clock, entropy)
    control = TimeControl()
    control.per_decision.FromSeconds(20)
    made = await core.lobby.create(
        pb.CreateTableRequest(
            request_id="c",
            settings=TableSettings(game_id="mino_dice", time_control=control, stand_in=GREEDY),
            seats=[CALLER, AI, AI],
        )
    )
    table_id = made.table.table_id
    await core.lobby.start(pb.StartMatchRequest(request_id="s", table_id=table_id), made.token)
    while len(store.logs[table_id]) < 12:  # noqa: ASYNC110 - the store has nobody to wake
        await asyncio.sleep(0)
    # The process is gone: nothing but the store is left.
    await core.ai_seats.close()
    await core.committer.drain()
    core = core_on(store, clock, entropy)
    await core.take_up()
    async with asyncio.timeout(30):
        while not (await core.tables.find(table_id)).over:  # noqa: ASYNC110
            await asyncio.sleep(0)
    await core.close()
    return store.logs[table_id]


async def test_the_same_ports_give_the_same_log_to_the_last_byte() -> None:
    first, second, other = await a_match(1), await a_match(1), await a_match(2)
    assert first == second
    assert first != other
    kinds = [entry.kind for entry in first]
    assert kinds.count("awakened") == 1
    assert kinds.count("timed_out") >= 1
    times = [entry.time_us for entry in first]
    assert times == sorted(times)
    assert times[-1] - times[0] > 10_000_000  # of the drawn clock
