"""Lists of tables: public ones alone, newest first, page by page, on any server."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.duration_pb2 import Duration

from tavolata.v1 import table_service_pb2 as pb
from tavolata.v1.table_pb2 import Table, TableState, Visibility
from tests.service.house import AI, CALLER, OPEN, House, house_in, refused, until
from tests.service.postgres import Databases

PUBLIC = Visibility.VISIBILITY_PUBLIC
WAITING = TableState.TABLE_STATE_OPEN
PLAYING = TableState.TABLE_STATE_PLAYING
FINISHED = TableState.TABLE_STATE_FINISHED
ABORTED = TableState.TABLE_STATE_ABORTED


async def page(house: House, **fields: Any) -> pb.ListTablesResponse:
    """A page of the list."""
    return await house.stub.ListTables(pb.ListTablesRequest(**fields))


async def listed(house: House, size: int = 0, **fields: Any) -> list[Table]:
    """The whole list, by following its tokens."""
    tables: list[Table] = []
    token = ""
    while True:
        told = await page(house, page_size=size, page_token=token, **fields)
        tables += told.tables
        token = told.next_page_token
        if not token:
            return tables


def ids(tables: list[Table]) -> list[str]:
    """The ids of tables."""
    return [table.table_id for table in tables]


async def test_public_tables_are_listed_newest_first_whatever_the_size_of_the_page(
    house: House,
) -> None:
    made = []
    for number in range(7):
        shown = Visibility.VISIBILITY_UNLISTED if number == 3 else PUBLIC
        made.append((await house.create(visibility=shown)).table.table_id)
    public = [each for place, each in enumerate(made) if place != 3][::-1]
    for size in (0, 1, 2, 3, 6, 7, 1000):
        assert ids(await listed(house, size)) == public
    first = await page(house, page_size=2)
    # What is made meanwhile comes before the first page.
    await house.create(visibility=PUBLIC)
    second = await page(house, page_size=2, page_token=first.next_page_token)
    assert ids(list(second.tables)) == public[2:4]
    assert made[3] not in ids(await listed(house))


async def test_a_listed_table_is_what_a_spectator_gets_but_for_its_last_event(
    house: House,
) -> None:
    sitting = await house.sitting(2, visibility=PUBLIC)
    over = await house.sitting(2, visibility=PUBLIC)
    await house.play_on(over)
    left = await house.sitting(2, visibility=PUBLIC)
    await house.leave(left.table_id, left.tokens[1])
    await house.play_on(sitting, 3)
    everything = [sitting.table_id, over.table_id, left.table_id]
    for again in (False, True):
        if again:
            await house.restart()
        for table in await listed(house):
            assert table.table_id in everything
            told = await house.table(table.table_id)
            assert told.last_event > 0
            told.ClearField("last_event")
            assert table == told
    assert {table.result.seats[0].total for table in await listed(house, states=[FINISHED])}


async def test_filters_apply_together(house: House) -> None:
    waiting = await house.create([CALLER, OPEN, OPEN], visibility=PUBLIC)
    full = await house.create([CALLER, AI], visibility=PUBLIC)
    dice = await house.create([CALLER, OPEN, AI], game="mino_dice", visibility=PUBLIC)
    playing = await house.sitting(2, visibility=PUBLIC)
    aborted = await house.sitting(2, visibility=PUBLIC)
    await house.abort(aborted.table_id, aborted.owner)
    names = {
        "waiting": waiting.table.table_id,
        "full": full.table.table_id,
        "dice": dice.table.table_id,
        "playing": playing.table_id,
        "aborted": aborted.table_id,
    }
    for fields, wanted in (
        ({"game_id": "mino_dice"}, ["dice"]),
        ({"game_id": "chess"}, []),
        ({"states": [WAITING]}, ["dice", "full", "waiting"]),
        ({"states": [PLAYING, ABORTED]}, ["aborted", "playing"]),
        ({"min_open_seats": 1}, ["dice", "waiting"]),
        ({"min_open_seats": 2}, ["waiting"]),
        ({"min_open_seats": 3}, []),
        ({"min_open_seats": 1, "states": [PLAYING]}, []),
        ({"min_open_seats": 1, "game_id": "bouillabaisse", "states": [WAITING]}, ["waiting"]),
    ):
        for size in (0, 1):
            tables = await listed(house, size, **fields)
            assert ids(tables) == [names[each] for each in wanted], fields


def forged(text: str) -> str:
    """A token with this inside."""
    return urlsafe_b64encode(text.encode()).decode()


async def test_what_a_list_can_not_be_asked_for_is_refused_and_named(house: House) -> None:
    for _ in range(3):
        await house.create(visibility=PUBLIC)
    token = (await page(house, page_size=1)).next_page_token
    inside = f"0.{'0' * 16}.x"
    for fields, field in (
        ({"page_size": -1}, "page_size"),
        ({"states": [WAITING, 0]}, "states[1]"),
        ({"states": [17]}, "states[0]"),
        ({"page_token": "x"}, "page_token"),
        ({"page_token": token[:-1]}, "page_token"),
        ({"page_token": "é" * 9}, "page_token"),
        ({"page_token": forged(inside)}, "page_token"),
        ({"page_token": forged(f"{1 << 70}.{'0' * 16}.x")}, "page_token"),
        ({"page_token": forged("1.2")}, "page_token"),
        ({"page_token": forged(f"-1.{'0' * 16}.\x00")}, "page_token"),
        ({"page_token": token, "game_id": "bids"}, "page_token"),
    ):
        told = await refused(page(house, **fields))
        assert (told.reason, told.fields) == ("INVALID_FIELD", (field,)), fields
        assert told.metadata["allowed"]
    assert len((await page(house, page_size=1, page_token=token)).tables) == 1


async def test_a_table_that_is_gone_is_on_no_page(tmp_path: Path) -> None:
    async with house_in(tmp_path, over_table_s=1) as house:
        over = await house.sitting(2, visibility=PUBLIC)
        await house.abort(over.table_id, over.owner)
        other = await house.sitting(2, visibility=PUBLIC)

        async def gone() -> bool:
            return ids(await listed(house)) == [other.table_id]

        await until(gone)


@pytest.mark.parametrize("size", [2])
async def test_every_server_of_a_database_takes_the_tokens_of_the_others(
    databases: Databases, tmp_path: Path, size: int
) -> None:
    own = await databases.fresh()
    async with house_in(tmp_path, store=own) as first, house_in(tmp_path, store=own) as second:
        made = []
        for number in range(5):
            house = (first, second)[number % 2]
            made.append((await house.create(visibility=PUBLIC)).table.table_id)
        told, token, turn = [], "", 0
        while not turn or token:
            answer = await page((first, second)[turn % 2], page_size=size, page_token=token)
            told += ids(list(answer.tables))
            token, turn = answer.next_page_token, turn + 1
        assert told == made[::-1]
        # What another server has changed is listed as it is.
        joined = await second.join(made[0])
        seats = (await listed(first))[-1].seats
        assert seats[joined.seat].occupant.HasField("person")


async def test_a_delayed_table_is_listed_as_spectators_see_it(house: House) -> None:
    late: Any = {"visibility": PUBLIC, "spectator_delay": Duration(seconds=3600)}
    sitting = await house.sitting(2, **late)
    await house.play_on(sitting)
    assert (await house.table(sitting.table_id)).state == WAITING
    for again in (False, True):
        if again:
            await house.restart()
        assert ids(await listed(house, states=[WAITING])) == [sitting.table_id]
        assert await listed(house, states=[PLAYING, FINISHED]) == []
        (table,) = await listed(house)
        assert table.state == WAITING
        assert not table.HasField("start_time")
        assert not table.HasField("result")
