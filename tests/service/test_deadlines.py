"""Deadlines: a call without one gets the server's, and the end of a call ends its search."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import grpc
import pytest

from tavolata.ai.player import Limits, observe
from tavolata.ai.players import player_specs
from tavolata.ai.stop import Stop
from tavolata.ext.core.match import Match
from tavolata.ext.registry import GAMES
from tavolata.service import calls
from tavolata.service.deadline import ENDS_AT
from tavolata.service.entropy import SystemEntropy
from tavolata.service.thinking import ThinkingThreads
from tavolata.v1 import catalog_service_pb2 as pb
from tavolata.v1.catalog_service_pb2_grpc import CatalogServiceStub
from tests.service.house import House, refusal_of, refused

HOURS = Limits(think_ms=3_600_000)
SERVICE = pb.DESCRIPTOR.services_by_name["CatalogService"]
SHORT_S = 0.2


class Searching:
    """A service whose call waits for a search of an hour, in the only thread there is, and then for
    ever."""

    def __init__(self) -> None:
        self.threads = ThinkingThreads(1)
        self.stop = Stop()
        self.begun = asyncio.Event()
        self.answered = asyncio.Event()

    async def GetGame(  # noqa: N802
        self, request: pb.GetGameRequest, context: object
    ) -> pb.GetGameResponse:
        """Search."""
        self.begun.set()
        await self.decide(HOURS, self.stop)
        self.answered.set()
        await asyncio.Event().wait()
        return pb.GetGameResponse()

    async def decide(self, limits: Limits, stop: Stop) -> int:
        """What a search finds."""
        match = Match(GAMES["bouillabaisse"].make(4), bytes(32))
        observation = observe(match, match.to_act[0])
        spec = player_specs()["ismcts"]
        made = await self.threads.decide(spec, observation, limits, seed=1, stop=stop, urgent=True)
        return made.iterations

    async def has_let_go(self, *, ended: bool = True) -> None:
        """Fails unless the thread is free for another search, and the first has ended."""
        another = self.decide(Limits(iterations=5), Stop())
        assert await asyncio.wait_for(another, 20) == 5
        assert (self.stop.is_set() or self.answered.is_set()) == ended


@asynccontextmanager
async def searching(call_s: float) -> AsyncIterator[tuple[Searching, Any]]:
    """The service behind what every call goes through, and a stub for it."""
    service = Searching()
    around = calls.Calls(calls.Limits(10, 10, 65_536, call_s), SystemEntropy())
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((around.handler_of(SERVICE, service),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        yield service, CatalogServiceStub(channel)
    await server.stop(None)
    service.threads.close()


async def test_a_search_ends_with_the_deadline_of_the_call_that_waits_for_it() -> None:
    async with searching(call_s=60) as (service, stub):
        with pytest.raises(grpc.aio.AioRpcError) as error:
            await stub.GetGame(pb.GetGameRequest(), timeout=SHORT_S)
        assert error.value.code() == grpc.StatusCode.DEADLINE_EXCEEDED
        await service.has_let_go()


async def test_a_search_ends_when_the_call_that_waits_for_it_is_cancelled() -> None:
    async with searching(call_s=60) as (service, stub):
        call = stub.GetGame(pb.GetGameRequest())
        waiting = asyncio.ensure_future(call)
        await asyncio.wait_for(service.begun.wait(), 20)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await service.has_let_go()


async def test_a_search_that_knows_its_deadline_ends_then_by_itself() -> None:
    service = Searching()
    ENDS_AT.set(time.monotonic() + SHORT_S)
    async with asyncio.timeout(20):
        assert await service.decide(HOURS, service.stop) > 0
    assert not service.stop.is_set()
    service.threads.close()


async def test_a_search_whose_deadline_is_over_does_not_begin() -> None:
    service = Searching()
    ENDS_AT.set(time.monotonic() - SHORT_S)
    late = asyncio.create_task(service.decide(HOURS, service.stop))
    ENDS_AT.set(None)
    await service.has_let_go(ended=False)
    late.cancel()
    service.threads.close()


async def test_a_call_without_a_deadline_gets_the_servers_and_its_search_ends() -> None:
    async with searching(call_s=SHORT_S) as (service, stub):
        found = await refused(stub.GetGame(pb.GetGameRequest()))
        assert (found.code, found.reason) == (grpc.StatusCode.DEADLINE_EXCEEDED, "OUT_OF_TIME")
        assert found.metadata == {"allowed": "0.2 s"}
        assert "repeat the call with the same request_id" in found.message
        assert found.retry
        await service.has_let_go()


async def test_a_deadline_of_the_callers_own_may_be_longer_than_the_servers() -> None:
    async with searching(call_s=0.01) as (_, stub):
        with pytest.raises(grpc.aio.AioRpcError) as error:
            await stub.GetGame(pb.GetGameRequest(), timeout=SHORT_S)
        assert error.value.code() == grpc.StatusCode.DEADLINE_EXCEEDED
        with pytest.raises(AssertionError, match="no details"):
            refusal_of(error.value)  # by the transport, not by the server's own limit


async def test_a_change_whose_time_was_up_is_found_under_its_request_id(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    sitting = await house.sitting(2, start=False)
    assert house.server is not None
    store, held = house.server.core.tables.store, asyncio.Event()
    write = store.write

    async def in_the_end(batch: Any) -> Any:
        await held.wait()
        return await write(batch)

    with monkeypatch.context() as patched:
        patched.setattr(store, "write", in_the_end)
        patched.setattr(house.server._calls._limits, "call_s", SHORT_S)
        leave = house.leave(sitting.table_id, sitting.tokens[1], request_id="leave")
        assert (await refused(leave)).reason == "OUT_OF_TIME"
    held.set()
    table = await house.leave(sitting.table_id, sitting.tokens[1], request_id="leave")
    assert table.seats[1].occupant.HasField("open")
    assert house.rows("SELECT count(*) FROM entries WHERE kind = 'left'") == [(1,)]
