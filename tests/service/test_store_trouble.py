"""When the store is full, or can't be trusted any more: what callers are told, and what goes on."""

from __future__ import annotations

import asyncio
from typing import Any

import grpc
import pytest

from tavolata.service.store.sqlite import SqliteStore
from tavolata.v1 import table_service_pb2 as pb
from tests.service.house import House, bearer, fresh_id, refused


def store_of(house: House) -> SqliteStore:
    """The store of a running house."""
    assert house.server is not None
    store = house.server.core.tables.store
    assert isinstance(store, SqliteStore)
    return store


async def test_when_the_store_is_full_reads_and_streams_go_on_and_writing_resumes(
    house: House,
) -> None:
    sitting = await house.sitting(2)
    await house.play_on(sitting, 3)
    watch = house.watch(sitting.table_id)
    await watch.read()
    writer = store_of(house)._writer
    # Let every page be used first, so that the next action needs one that it can't have.
    writer.pragma("max_page_count", writer.pragma("page_count"))
    played, found = 3, None
    while found is None:
        seat = (await house.view(sitting.table_id)).seats_to_act[0]
        view = await house.view(sitting.table_id, sitting.tokens[seat])
        try:
            await house.play(sitting.table_id, sitting.tokens[seat], view, request_id=f"p{played}")
            played += 1
        except grpc.aio.AioRpcError:
            again = house.play(
                sitting.table_id, sitting.tokens[seat], view, request_id=f"p{played}"
            )
            found = await refused(again)
    assert (found.code, found.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "STORE_FULL")
    assert found.retry
    assert (await house.view(sitting.table_id)).turn == played
    assert (await house.view(sitting.table_id, sitting.tokens[0])).turn == played
    writer.pragma("max_page_count", 1_000_000)
    await house.play(sitting.table_id, sitting.tokens[seat], view, request_id=f"p{played}")
    rows = house.rows("SELECT count(*) FROM entries WHERE kind = 'played'")
    assert rows == [(played + 1,)]
    last = (await house.table(sitting.table_id)).last_event
    number = 0
    while number < last:
        number = (await watch.read()).event.number
    watch.cancel()


async def test_when_the_store_fails_the_outcome_is_unknown_and_learned_by_repeating(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    sitting = await house.sitting(2)
    seat = (await house.view(sitting.table_id)).seats_to_act[0]
    token = sitting.tokens[seat]
    view = await house.view(sitting.table_id, token)
    store = store_of(house)
    write = store._write

    def written_but_failed(batch: Any) -> Any:
        write(batch)
        raise OSError("input/output error")

    monkeypatch.setattr(store, "_write", written_but_failed)
    found = await refused(house.play(sitting.table_id, token, view, request_id="unknown"))
    assert (found.code, found.reason) == (grpc.StatusCode.UNAVAILABLE, "STORE_UNAVAILABLE")
    assert found.retry
    # The server says no more, and ends by itself with what tells a supervisor to start it again.
    assert house.server is not None
    assert await asyncio.wait_for(house.server.serve(), 30) is False
    await house.channel.close()
    house.server = None
    await house.open()
    receipt = (await house.play(sitting.table_id, token, view, request_id="unknown")).receipt
    assert receipt.turn == 1
    assert house.rows("SELECT count(*) FROM entries WHERE kind = 'played'") == [(1,)]


async def test_a_log_that_another_writer_has_carried_on_is_read_again(house: House) -> None:
    sitting = await house.sitting(2)
    await house.play_on(sitting, 2)
    seat = (await house.view(sitting.table_id)).seats_to_act[0]
    token = sitting.tokens[seat]
    view = await house.view(sitting.table_id, token)
    assert house.server is not None
    tables = house.server.core.tables
    stale = await tables.find(sitting.table_id)
    tables._drop(stale)
    await house.play(sitting.table_id, token, view)
    # The memory of a server that has missed that: its next write loses against the log.
    stale.dead = False
    tables._tables[sitting.table_id] = stale
    other = await house.view(sitting.table_id, sitting.tokens[1 - seat])
    assert other.turn == 2
    request = pb.PlayActionRequest(
        request_id=fresh_id(), table_id=sitting.table_id, turn=2, action=view.legal_actions[-1]
    )
    found = await refused(house.stub.PlayAction(request, metadata=bearer(token)))
    assert (found.reason, found.metadata["current_turn"]) == ("STALE_TURN", "3")
    await house.play_on(sitting)


async def test_metadata_over_the_limit_is_refused_by_the_transport(house: House) -> None:
    made = await house.create()
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await house.view(made.table.table_id, "x" * 40_000)
    assert error.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
    assert (await house.table(made.table.table_id)).table_id
