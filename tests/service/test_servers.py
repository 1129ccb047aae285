"""Several servers on one PostgreSQL, over real sockets: any call at any of them."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest
import pytest_asyncio
from google.protobuf.duration_pb2 import Duration

from tavolata.service.store import postgres_line
from tavolata.v1 import table_service_pb2 as pb
from tavolata.v1.event_pb2 import ClosingReason
from tavolata.v1.player_pb2 import AiPace
from tavolata.v1.table_pb2 import TableState, TimeControl
from tavolata.v1.table_service_pb2_grpc import TableServiceStub
from tests.service.house import (
    AI,
    CALLER,
    GREEDY,
    OPEN,
    House,
    house_in,
    refusal_of,
    refused,
    until,
)
from tests.service.kill_loop import Target, kill_loop
from tests.service.postgres import Databases, execute

FINISHED = ClosingReason.CLOSING_REASON_MATCH_FINISHED


@pytest_asyncio.fixture(params=["notify", "off"])
async def houses(
    request: pytest.FixtureRequest, postgres: str, tmp_path: Path
) -> AsyncIterator[tuple[House, House]]:
    """Two servers on one database, with and without a bus."""
    flags: dict[str, Any] = {"store": postgres, "bus": request.param, "look_s": 0.1}
    async with house_in(tmp_path, **flags) as first, house_in(tmp_path, **flags) as second:
        yield first, second


async def test_a_match_is_played_over_two_servers_in_turn_and_watched_at_both(
    houses: tuple[House, House],
) -> None:
    made = await houses[0].create([CALLER, OPEN, AI], game="mino_dice")
    table_id = made.table.table_id
    joined = await houses[1].join(table_id)
    tokens = {0: made.token, joined.seat: joined.token}

    async def watched(house: House, token: str | None) -> list[int]:
        """The numbers of all events."""
        numbers = []
        async for message in house.watch(table_id, token, after_event=0):
            if message.HasField("event"):
                numbers.append(message.event.number)
        assert message.closing.reason == FINISHED
        return numbers

    watches = [
        asyncio.create_task(watched(house, token))
        for house in houses
        for token in (None, joined.token)
    ]
    await houses[0].start(table_id, made.token)
    calls = 0
    async with asyncio.timeout(60):
        while (await houses[calls % 2].table(table_id)).state != TableState.TABLE_STATE_FINISHED:
            for token in tokens.values():
                view = await houses[calls % 2].view(table_id, token)
                calls += 1
                if view.legal_actions:
                    # At the other server than the one that showed it.
                    await houses[calls % 2].play(table_id, token, view)
                calls += 1
    last = (await houses[1].table(table_id)).last_event
    for numbers in await asyncio.gather(*watches):
        assert numbers == list(range(1, last + 1))


async def test_tokens_and_request_ids_count_at_every_server(houses: tuple[House, House]) -> None:
    first, second = houses
    made = await first.create(request_id="made-once")
    again = await second.create(request_id="made-once")
    assert again.table.table_id == made.table.table_id
    assert again.token != made.token
    table_id = made.table.table_id
    # The first token has been replaced; the one that is used can't be.
    with pytest.raises(grpc.aio.AioRpcError) as void:
        await first.start(table_id, made.token)
    assert void.value.code() == grpc.StatusCode.UNAUTHENTICATED
    assert (await refused(first.view(table_id, again.token))).reason == "MATCH_NOT_STARTED"
    with pytest.raises(grpc.aio.AioRpcError) as used:
        await second.create(request_id="made-once")
    assert used.value.code() == grpc.StatusCode.ALREADY_EXISTS
    answers = await asyncio.gather(
        *(house.join(table_id, request_id="joined-once") for house in houses * 4),
        return_exceptions=True,
    )
    seats = {answer.seat for answer in answers if not isinstance(answer, BaseException)}
    assert len(seats) == 1


async def test_a_clock_runs_out_at_one_server_alone_and_is_seen_at_all(
    houses: tuple[House, House],
) -> None:
    control = TimeControl()
    control.per_decision.FromMilliseconds(400)
    sitting = await houses[0].sitting(2, stand_in=GREEDY, time_control=control)
    views = [await house.view(sitting.table_id) for house in houses]
    assert views[0].clocks == views[1].clocks  # no server begins them anew by looking
    state = TableState.TABLE_STATE_FINISHED

    async def over() -> bool:
        return (await houses[1].table(sitting.table_id)).state == state

    await until(over)
    replay = (await houses[1].stub.GetReplay(pb.GetReplayRequest(table_id=sitting.table_id))).replay
    taken = [
        entry.event.event
        for entry in replay.entries
        if entry.event.event.table.HasField("seat_changed")
    ]
    assert len(taken) == 2 + 1  # one joined, and each ran out of time once


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "held up"])
async def test_matches_go_on_when_the_server_of_their_ai_players_is_killed_or_held_up(
    postgres: str, tmp_path: Path, how: signal.Signals
) -> None:
    targets = [Target(tmp_path, postgres, name, lease_s=1) for name in ("first", "second")]
    try:
        await asyncio.gather(*(target.start() for target in targets))
        await _taken_over(targets, tmp_path, how)
    finally:
        for target in targets:
            if target.process is not None and target.process.returncode is None:
                await target.kill()
    assert "call.fault" not in targets[0].log.read_text() + targets[1].log.read_text()


async def _taken_over(targets: list[Target], tmp_path: Path, how: signal.Signals) -> None:
    """Begin matches at the first server, signal it, and see them to their end at the second."""
    channels = [grpc.aio.insecure_channel(target.bind) for target in targets]
    first, second = House(tmp_path), House(tmp_path)
    first.stub, second.stub = (TableServiceStub(channel) for channel in channels)
    pace = AiPace(floor=Duration(nanos=30_000_000), jitter=Duration())
    made = [await first.create([AI] * 6, game="mino_dice", ai_pace=pace) for _ in range(2)]
    tables = [await first.start(each.table.table_id, each.token) for each in made]
    assert targets[0].process is not None
    targets[0].process.send_signal(how)
    states = [(await second.table(table.table_id)).state for table in tables]
    assert TableState.TABLE_STATE_PLAYING in states
    for table in tables:

        async def is_over(table_id: str = table.table_id) -> bool:
            state = (await second.table(table_id)).state
            return bool(state == TableState.TABLE_STATE_FINISHED)

        await until(is_over, within_s=60)
    if how == signal.SIGSTOP:
        # It wakes up in the middle of what it was about to do, and has to notice.
        targets[0].process.send_signal(signal.SIGCONT)
        for table in tables:
            assert await first.table(table.table_id) == await second.table(table.table_id)
        other = await first.create([AI] * 3, game="mino_dice")
        await first.start(other.table.table_id, other.token)

        async def goes_on() -> bool:
            state = (await second.table(other.table.table_id)).state
            return bool(state == TableState.TABLE_STATE_FINISHED)

        await until(goes_on, within_s=60)
    for table in tables:
        replay = await second.replay(table.table_id)
        decisions = [each.decision for each in replay.entries if each.HasField("decision")]
        assert len({(each.turn, each.seat) for each in decisions}) == len(decisions)
    for channel in channels:
        await channel.close()
    assert await targets[1].stop() == 0
    if how == signal.SIGSTOP:
        assert await targets[0].stop() == 0


async def test_an_expired_table_is_found_nowhere_and_removed_a_while_later(
    postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flags: dict[str, Any] = {"store": postgres, "open_table_s": 1}
    async with house_in(tmp_path, **flags) as first, house_in(tmp_path, **flags) as second:
        made, kept = await first.create(), await first.sitting(2)
        table_id = made.table.table_id
        await second.table(table_id)

        async def is_gone() -> bool:
            return (await refused_or_none(first.table(table_id))) == "TABLE_NOT_FOUND"

        await until(is_gone)
        for house in (first, second):
            assert (await refused(house.table(table_id))).reason == "TABLE_NOT_FOUND"
            join = house.join(table_id)
            assert (await refused(join)).reason == "TABLE_NOT_FOUND"
        assert first.server is not None
        assert second.server is not None
        count = "SELECT count(*) FROM entries WHERE table_id = $1"
        await first.server.core.sweep()  # something may be on its way to it yet
        assert (await execute(postgres, count, table_id))[0][0] > 0
        monkeypatch.setattr("tavolata.service.core.GRACE_US", 0)
        await first.server.core.sweep()
        assert (await execute(postgres, count, table_id))[0][0] == 0
        assert (await execute(postgres, "SELECT count(*) FROM tables"))[0][0] == 1
        assert (await refused(second.table(table_id))).reason == "TABLE_NOT_FOUND"
        assert (await second.table(kept.table_id)).table_id == kept.table_id


async def refused_or_none(call: Any) -> str | None:
    """The reason why a call was refused, if it was."""
    try:
        await call
    except grpc.aio.AioRpcError as error:
        return refusal_of(error).reason
    return None


async def test_while_the_database_is_away_callers_are_told_and_afterwards_all_goes_on(
    databases: Databases, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_line, "AWAY_S", 0.3)
    own = await databases.fresh()
    async with house_in(tmp_path, store=own, lease_s=0.5) as house:
        made = await house.create([CALLER, AI, AI])
        table_id = made.table.table_id
        await house.start(table_id, made.token)

        async def asked() -> bool:
            return bool((await house.view(table_id, made.token)).legal_actions)

        await until(asked)
        view = await house.view(table_id, made.token)
        watch = house.watch(table_id, made.token)
        await watch.read()
        name = own.partition("?")[0].rpartition("/")[2]
        other = databases.named("postgres")
        await execute(other, f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
        end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1"
        await execute(other, end, name)
        for call in (
            house.play(table_id, made.token, view, request_id="once"),
            house.view(table_id, made.token),
            house.table(table_id),
            house.create(),
        ):
            found = await refused(call)
            assert (found.code, found.reason) == (
                grpc.StatusCode.UNAVAILABLE,
                "STORE_UNAVAILABLE",
            )
            assert found.retry
        while (message := await watch.read()).HasField("event"):
            pass
        away = ClosingReason.CLOSING_REASON_STORE_UNAVAILABLE
        assert message.closing.reason == away
        await asyncio.sleep(0.6)  # longer than the lease
        await execute(other, f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
        receipts = [
            (await house.play(table_id, made.token, view, request_id="once")).receipt
            for _ in range(2)
        ]
        assert receipts[0] == receipts[1]
        # The AI players' server has lost its lease in between, and takes the match up again.
        await asyncio.wait_for(house.play_as_told(table_id, made.token), 60)
        replay = await house.replay(table_id)
        ids = [each.decision.request_id for each in replay.entries]
        assert ids.count("once") == 1


async def test_nothing_is_lost_or_doubled_when_one_of_two_servers_is_killed(
    postgres: str, tmp_path: Path
) -> None:
    tally = await kill_loop(tmp_path, kills=3, store=postgres, servers=2, lease_s=1)
    assert tally.kills == 3
    assert tally.tables >= 4
    assert tally.repeats > 0
