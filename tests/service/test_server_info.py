"""What clients may know of a server before anything else."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from google.protobuf.duration_pb2 import Duration

from tavolata import __version__
from tavolata.v1 import table_service_pb2 as pb
from tavolata.v1.catalog_service_pb2 import GetServerInfoRequest, ListGamesRequest
from tavolata.v1.catalog_service_pb2_grpc import CatalogServiceStub
from tavolata.v1.server_info_pb2 import ServerInfo
from tavolata.v1.table_pb2 import CallerSeat, SeatPlan, TimeControl
from tests.service.house import CALLER, OPEN, House, house_in, refused


async def info_of(house: House) -> ServerInfo:
    """What the server tells of itself."""
    answer = await CatalogServiceStub(house.channel).GetServerInfo(GetServerInfoRequest())
    told: ServerInfo = answer.info
    return told


async def test_a_server_tells_its_versions_and_its_time(house: House) -> None:
    before = time.time()
    info = await info_of(house)
    after = time.time()
    assert (info.program, info.version, info.api) == ("tavolata", __version__, "tavolata.v1")
    games = (await CatalogServiceStub(house.channel).ListGames(ListGamesRequest())).games
    assert {game.game_id: game.rules_version for game in info.games} == {
        game.game_id: game.rules_version for game in games
    }
    assert before - 0.001 <= info.server_time.ToMicroseconds() / 1e6 <= after + 0.001
    assert info.thinking_interval == Duration(seconds=1)
    assert not info.tournaments


async def test_settings_show_in_what_a_server_tells(tmp_path: Path) -> None:
    async with house_in(
        tmp_path,
        message_bytes_max=5000,
        open_table_s=77,
        ai_floor_s=0.25,
        handles_max=9,
        tournaments_dir=tmp_path / "tournaments",
    ) as house:
        info = await info_of(house)
    assert info.limits.message_bytes == 5000
    assert info.limits.open_table_time == Duration(seconds=77)
    assert info.limits.stream_handles == 9
    assert info.ai_pace_floor == Duration(nanos=250_000_000)
    assert info.tournaments
    # Nothing of where the server keeps its things.
    assert str(tmp_path).encode() not in info.SerializeToString()


async def test_what_is_within_a_limit_is_taken_and_what_is_beyond_it_refused(
    house: House,
) -> None:
    limits = (await info_of(house)).limits

    def named(count: int) -> list[SeatPlan]:
        return [SeatPlan(caller=CallerSeat(display_name="x" * count)), OPEN]

    await house.create(named(limits.display_name_characters))
    told = await refused(house.create(named(limits.display_name_characters + 1)))
    assert told.reason == "INVALID_FIELD"
    await house.create(request_id="r" * limits.request_id_characters)
    told = await refused(house.create(request_id="r" * (limits.request_id_characters + 1)))
    assert told.reason == "REQUEST_ID_REQUIRED"
    made = await house.create([CALLER, OPEN, OPEN])
    await house.join(made.table.table_id, nonce=b"n" * limits.nonce_bytes)
    told = await refused(house.join(made.table.table_id, nonce=b"n" * (limits.nonce_bytes + 1)))
    assert told.fields == ("nonce",)
    huge = pb.ListTablesRequest(page_token="x" * (limits.message_bytes + 1))
    assert (await refused(house.stub.ListTables(huge))).reason == "MESSAGE_TOO_LARGE"


@pytest.mark.parametrize("end", ["min", "max"])
async def test_times_go_from_the_least_to_the_greatest(house: House, end: str) -> None:
    limits = (await info_of(house)).limits
    beyond = -1 if end == "min" else 1
    for name, field in (("decision", "per_decision"), ("match", "per_match")):
        limit: Duration = getattr(limits, f"{end}_{name}_time")
        await house.create(time_control=TimeControl(**{field: limit}))
        wrong = Duration()
        wrong.FromMicroseconds(limit.ToMicroseconds() + beyond)
        told = await refused(house.create(time_control=TimeControl(**{field: wrong})))
        assert told.fields == (f"settings.time_control.{field}",)
    delay = limits.max_spectator_delay if end == "max" else Duration()
    await house.create(spectator_delay=delay)
    wrong = Duration(seconds=delay.seconds + beyond)
    told = await refused(house.create(spectator_delay=wrong))
    assert told.fields == ("settings.spectator_delay",)
