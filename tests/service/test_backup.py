"""Backup and restore: a copy made while people play goes on as a match of its own."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from tests.service.house import House, house_in
from tests.service.postgres import Databases, programs
from tests.service.test_migrations import tavolata


async def ran(program: Path, *arguments: str) -> None:
    """Run a program to its end, which must be a good one."""
    process = await asyncio.create_subprocess_exec(program, *arguments)
    assert await process.wait() == 0


async def test_a_copy_made_while_people_play_is_whole_and_goes_on(
    house: House, tmp_path: Path
) -> None:
    sittings = [await house.sitting(2) for _ in range(3)]
    playing = [asyncio.create_task(house.play_on(each)) for each in sittings]
    copy = tmp_path / "copies" / "tables.db"
    copy.parent.mkdir()
    told = await tavolata("backup", str(copy), "--db", str(house.db))
    assert (told.exit_code, told.stderr) == (0, "")
    assert "3 tables" in told.stdout
    assert copy.stat().st_mode & 0o777 == 0o600
    assert os.listdir(copy.parent) == ["tables.db"]  # noqa: PTH208
    await asyncio.gather(*playing)
    ends = [await house.table(each.table_id) for each in sittings]
    async with house_in(copy.parent) as restored:
        for sitting, end in zip(sittings, ends, strict=True):
            before = (await restored.table(sitting.table_id)).last_event
            assert before <= end.last_event
            await restored.play_on(sitting)
            # Whoever plays as before gets the match as before.
            assert (await restored.table(sitting.table_id)).result == end.result
            replay = await restored.replay(sitting.table_id)
            assert replay.final_hash == (await house.replay(sitting.table_id)).final_hash


async def test_a_copy_is_never_written_over_anything(house: House, tmp_path: Path) -> None:
    target = tmp_path / "precious"
    target.write_text("precious")
    for arguments, what in (
        ((str(target), "--db", str(house.db)), "is there already"),
        ((str(tmp_path / "new"), "--db", str(tmp_path / "nowhere.db")), "isn't there"),
        ((str(tmp_path / "new"), "--db", str(target)), "no SQLite file"),
        ((str(tmp_path / "no" / "new"), "--db", str(house.db)), "No such file"),
    ):
        told = await tavolata("backup", *arguments)
        assert told.exit_code == 1
        assert what in told.stderr
    assert target.read_text() == "precious"
    assert not (tmp_path / "new").exists()
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".part")]  # noqa: PTH208


async def test_a_dump_of_a_postgresql_database_is_restored_and_goes_on(
    postgres: str, databases: Databases, tmp_path: Path
) -> None:
    folder = programs()
    async with house_in(tmp_path, store=postgres) as house:
        sitting = await house.sitting(2)
        await house.play_on(sitting, 9)
        playing = asyncio.create_task(house.play_on(sitting))
        dump = tmp_path / "dump"
        # As docs/deploy.md says.
        await ran(folder / "pg_dump", "--format=custom", f"--file={dump}", postgres)
        await playing
        end = await house.table(sitting.table_id)
    into = await databases.empty()
    restoring = ("--no-owner", "--exit-on-error", f"--dbname={into}", str(dump))
    await ran(folder / "pg_restore", *restoring)
    async with house_in(tmp_path, store=into) as restored:
        await restored.play_on(sitting)
        assert (await restored.table(sitting.table_id)).result == end.result
