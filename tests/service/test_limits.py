"""Limits: each has a setting, and what is beyond it is refused at once and in plain words."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from tavolata.ai.player import Decision, Limits, Observation, observe
from tavolata.ai.players import PlayerSpec
from tavolata.ai.stop import Stop
from tavolata.ext.core.match import Match
from tavolata.ext.registry import GAMES
from tavolata.service import settings
from tavolata.service.buckets import Buckets
from tavolata.service.tables.makers import Allowance, Makers
from tavolata.service.tables.requests import Person
from tavolata.service.thinking import ThinkingThreads
from tavolata.v1 import table_service_pb2 as pb
from tavolata.v1.player_pb2 import AiPlayer
from tavolata.v1.table_pb2 import SeatPlan
from tests.service import http2
from tests.service.house import AI, CALLER, OPEN, House, Refusal, house_in, refused, until
from tests.service.issuer import flags_of, issuing, known

EXHAUSTED = grpc.StatusCode.RESOURCE_EXHAUSTED


def assert_limit(found: Refusal, limit: str, allowed: int) -> None:
    """It is refused by this limit, told in words and data, with the time to try again."""
    assert (found.code, found.reason) == (EXHAUSTED, "LIMIT_EXCEEDED")
    assert found.metadata == {"limit": limit, "allowed": str(allowed)}
    assert limit in found.message
    assert found.retry


class HandClock:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.at = 1_000.0

    def now_us(self) -> int:
        return round(self.at * 1e6)

    def monotonic(self) -> float:
        return self.at

    async def sleep(self, seconds: float) -> None:
        self.at += seconds


# -- tables of one caller -------------------------------------------------------------------------


async def test_more_tables_in_a_minute_than_one_address_may_make_are_refused(
    tmp_path: Path,
) -> None:
    async with house_in(tmp_path, caller_tables_per_min=2) as house:
        first = await house.create(request_id="first")
        await house.create()
        before = house.rows("SELECT * FROM entries")
        found = await refused(house.create())
        assert_limit(found, "tables made by one caller in a minute", 2)
        assert house.rows("SELECT * FROM entries") == before
        again = await house.create(request_id="first")
        assert again.table.table_id == first.table.table_id


async def test_more_open_tables_than_one_address_may_have_are_refused_until_one_is_over(
    tmp_path: Path,
) -> None:
    async with house_in(tmp_path, caller_tables_max=2, open_table_s=1) as house:
        first = await house.create()
        sitting = await house.sitting(2)
        assert_limit(await refused(house.create()), "open tables of one caller", 2)
        await house.abort(first.table.table_id, first.token)
        await house.create()
        assert_limit(await refused(house.create()), "open tables of one caller", 2)
        await house.abort(sitting.table_id, sitting.owner)
        assert (await house.create()).token
        # What was never started goes by itself.
        assert house.server is not None
        await asyncio.sleep(1.1)
        await house.server.core.sweep()
        assert (await house.create()).token


async def test_a_table_that_couldnt_be_made_counts_for_nobody(tmp_path: Path) -> None:
    async with house_in(tmp_path, caller_tables_max=1) as house:
        assert (await refused(house.create([OPEN] * 13))).reason == "SEAT_COUNT"
        assert (await house.create()).token


async def test_people_with_an_identity_are_counted_by_that_and_after_a_restart_too(
    tmp_path: Path,
) -> None:
    with issuing() as issuer:

        async def create(house: House, who: str) -> None:
            request = pb.CreateTableRequest(request_id=f"{who}-{len(made)}", seats=[CALLER, OPEN])
            request.settings.game_id = "bouillabaisse"
            answer = await house.stub.CreateTable(request, metadata=known(issuer.token(who)))
            made.append(answer.table.table_id)

        made: list[str] = []
        async with house_in(tmp_path, **flags_of(issuer, caller_tables_max=1)) as house:
            await create(house, "ada")
            await create(house, "bob")  # from the same address
            assert_limit(await refused(create(house, "ada")), "open tables of one caller", 1)
            await house.restart()
            await house.table(made[0])  # loaded
            assert_limit(await refused(create(house, "ada")), "open tables of one caller", 1)


# -- time of AI players ---------------------------------------------------------------------------


async def test_whoever_has_used_up_the_time_of_ai_players_starts_no_match_that_needs_them(
    tmp_path: Path,
) -> None:
    async with house_in(tmp_path, caller_ai_s_per_min=0.001) as house:
        thinker = AiPlayer(player="ismcts")
        thinker.limits.iterations = 2_000
        made = await house.create([CALLER, SeatPlan(ai=thinker)])
        await house.start(made.table.table_id, made.token)
        played = asyncio.create_task(house.play_as_told(made.table.table_id, made.token))
        core = house.server.core  # type: ignore[union-attr]
        table = await core.tables.find(made.table.table_id)

        async def is_spent() -> bool:
            return core.makers.is_spent(table)

        await until(is_spent)
        next_one = await house.create([CALLER, AI])
        found = await refused(house.start(next_one.table.table_id, next_one.token))
        assert_limit(found, "seconds of search in a minute for one caller's tables", 0)
        # A match of people alone needs none, and the one that goes on goes on.
        assert len((await house.sitting(2)).tokens) == 2
        assert not played.done() or played.result()
        played.cancel()


def test_a_caller_gets_as_much_as_flows_in_and_what_was_saved_and_pays_debts() -> None:
    clock = HandClock()
    buckets = Buckets(clock, rate=2.0, capacity=4.0)
    assert [buckets.take("a") for _ in range(4)] == [0.0] * 4
    assert buckets.take("a") == pytest.approx(0.5)
    assert buckets.take("b") == 0.0
    clock.at += 0.5
    assert buckets.take("a") == 0.0
    buckets.spend("a", 3.0)
    assert buckets.debt_s("a") == pytest.approx(1.5)
    buckets.spend("a", 100.0)  # never more than a bucket
    assert buckets.debt_s("a") == pytest.approx(2.0)
    clock.at += 1.0
    assert buckets.debt_s("a") == pytest.approx(1.0)
    clock.at += 100.0
    assert buckets.take("a", 4.0) == 0.0
    assert buckets.take("a") == pytest.approx(0.5)
    clock.at += 100.0
    buckets.forget_full()
    assert len(buckets) == 0


def test_nobody_is_limited_where_nothing_is_set_nor_without_an_address() -> None:
    makers = Makers(HandClock(), Allowance())
    for number in range(1_000):
        makers.admit(Person(address="192.0.2.1"), f"t{number}")
    strict = Makers(HandClock(), Allowance(1, 1, 1.0))
    for number in range(10):
        strict.admit(Person(), f"t{number}")


class Named:
    """A player that notes when it is asked, and then waits for the gate."""

    def __init__(self, name: str, order: list[str], gate: threading.Event) -> None:
        self._name, self._order, self._gate = name, order, gate

    def decide(
        self, observation: Observation, limits: Limits, *, seed: int, stop: Stop
    ) -> Decision:
        """The first legal action."""
        self._order.append(self._name)
        self._gate.wait(20)
        return Decision(observation.legal_actions[0])


async def test_turns_that_people_wait_for_come_before_those_of_matches_without_people() -> None:
    threads, order, gate = ThinkingThreads(1), list[str](), threading.Event()
    match = Match(GAMES["bouillabaisse"].make(4), bytes(32))
    observation = observe(match, match.to_act[0])

    def decided(name: str, *, urgent: bool) -> asyncio.Task[Decision]:
        spec = PlayerSpec(name, "", Limits(iterations=1), lambda _: Named(name, order, gate))
        work = threads.decide(
            spec, observation, Limits(iterations=1), seed=1, stop=Stop(), urgent=urgent
        )
        return asyncio.create_task(work)

    async def is_under_way() -> bool:
        return bool(order)

    tasks = [decided("under way", urgent=False)]
    await until(is_under_way)
    tasks += [decided(f"background {n}", urgent=False) for n in range(3)]
    tasks += [decided(f"waited for {n}", urgent=True) for n in range(3)]
    await asyncio.sleep(0)
    gate.set()
    await asyncio.gather(*tasks)
    threads.close()
    assert order == [
        "under way",
        *(f"waited for {n}" for n in range(3)),
        *(f"background {n}" for n in range(3)),
    ]


# -- calls and streams of one address -------------------------------------------------------------


async def test_more_streams_than_one_address_may_have_are_refused(tmp_path: Path) -> None:
    async with house_in(tmp_path, caller_streams_max=2) as house:
        made = await house.create()
        table_id = made.table.table_id
        watches = [house.watch(table_id), house.watch(table_id, made.token)]
        for watch in watches:
            await watch.read()
        found = await refused(house.watch(table_id).read())
        assert_limit(found, "streams of one address at a time", 2)
        stream = house.stub.PlayStream()
        assert_limit(await refused(stream.read()), "streams of one address at a time", 2)
        watches[0].cancel()
        again = house.watch(table_id)
        async with asyncio.timeout(20):
            while (await again.read()) is grpc.aio.EOF:
                again = house.watch(table_id)


async def test_more_calls_a_second_than_one_address_may_make_are_refused_but_never_health(
    tmp_path: Path,
) -> None:
    async with house_in(tmp_path, caller_calls_per_s=1) as house:
        outcomes = [await _tried(house) for _ in range(4)]
        assert outcomes[:2] == [None, None]
        last = outcomes[-1]
        assert last is not None
        assert_limit(last, "calls of one address in a second", 1)
        health: Any = health_pb2_grpc.HealthStub(house.channel)
        for _ in range(5):
            answer = await health.Check(health_pb2.HealthCheckRequest())
            assert answer.status == health_pb2.HealthCheckResponse.SERVING


async def _tried(house: House) -> Refusal | None:
    try:
        await house.create()
    except grpc.aio.AioRpcError:
        return await refused(house.create())
    return None


# -- connections ----------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [8_192, 12_000])
async def test_metadata_beyond_the_limit_is_always_refused(house: House, size: int) -> None:
    table_id = (await house.create()).table.table_id
    request = pb.GetTableRequest(table_id=table_id)
    for _ in range(5):
        with pytest.raises(grpc.aio.AioRpcError) as error:
            await house.stub.GetTable(request, metadata=(("x-much", "x" * size),))
        assert error.value.code() == EXHAUSTED
    small = house.stub.GetTable(request, metadata=(("x-much", "x" * 7_000),))
    assert (await small).table.table_id == table_id


async def test_a_connection_is_told_how_many_streams_and_how_much_metadata_it_may_send(
    tmp_path: Path,
) -> None:
    flags = {"streams_per_connection_max": 7, "metadata_bytes_max": 4_096}
    async with house_in(tmp_path, **flags) as house, http2.connected(house.target) as wire:
        told = (await wire.until(http2.SETTINGS)).settings
        assert told[http2.MAX_CONCURRENT_STREAMS] == 7
        assert told[http2.MAX_HEADER_LIST_SIZE] == 4_096


async def test_a_connection_that_pings_too_much_is_ended(tmp_path: Path) -> None:
    async with (
        house_in(tmp_path, ping_strikes_max=2) as house,
        http2.connected(house.target) as wire,
    ):
        await wire.until(http2.SETTINGS)
        for number in range(4):
            wire.send(http2.PING, payload=number.to_bytes(8, "big"))
        error, words = (await wire.until(http2.GOAWAY)).error
        assert (error, words) == (http2.ENHANCE_YOUR_CALM, b"too_many_pings")


async def test_a_connection_ends_at_its_age_and_a_silent_one_is_asked_for_a_sign(
    tmp_path: Path,
) -> None:
    async with house_in(tmp_path, connection_age_s=1, keepalive_s=1) as house:
        async with http2.connected(house.target) as wire:
            await wire.until(http2.PING)
        async with http2.connected(house.target) as wire:
            error, _ = (await wire.until(http2.GOAWAY)).error
            assert error == http2.NO_ERROR


@pytest.mark.parametrize("name", ["calls_max", "streams_max", "ping_strikes_max", "keepalive_s"])
def test_a_limit_of_nothing_cant_be_set(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        settings.load(None, **{name: 0})
