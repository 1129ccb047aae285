"""`tavolata admin`: beside a running server, without one, and on a database that servers share."""

from __future__ import annotations

import asyncio
import json
import socket
import stat
from pathlib import Path
from typing import Any

import pytest
from grpc.aio import EOF
from typer.testing import CliRunner

from tavolata.service.admin import socket as admin_socket
from tavolata.service.admin.socket import AdminSocket, place_of_socket
from tavolata.service.cli.main import app
from tavolata.service.verify import verify
from tavolata.v1.event_pb2 import ClosingReason
from tavolata.v1.table_pb2 import TableState
from tests.service.house import AI, House, Sitting, house_in, until

ABORTED = ClosingReason.CLOSING_REASON_MATCH_ABORTED


async def admin(*arguments: str) -> Any:
    """What the command says, run in a thread of its own as it has its own event loop."""
    return await asyncio.to_thread(CliRunner().invoke, app, ["admin", *arguments])


async def listed(*arguments: str) -> dict[str, Any]:
    """The tables of a list by id."""
    told = await admin("list", "--json", *arguments)
    assert told.exit_code == 0, told.output
    return {each["table_id"]: each for each in json.loads(told.stdout)}


async def three_tables(house: House) -> tuple[Any, Any, Any]:
    """One open, one in play, one finished."""
    waiting = await house.sitting(2, start=False)
    playing = await house.sitting(2)
    await house.play_on(playing, 5)
    made = await house.create([AI, AI, AI], game="mino_dice")
    finished = Sitting(made.table.table_id, made.token, {})
    await house.start(finished.table_id, made.token)

    async def over() -> bool:
        state = (await house.table(finished.table_id)).state
        return state == TableState.TABLE_STATE_FINISHED

    await until(over)
    return waiting, playing, finished


async def closing_reason(watch: Any) -> Any:
    """How a watch that has begun ends."""
    last = None
    while (message := await watch.read()) is not EOF:
        last = message
    assert last is not None
    return last.closing.reason


async def test_tables_are_listed_and_narrowed_down_beside_a_running_server(house: House) -> None:
    waiting, playing, finished = await three_tables(house)
    db = ("--db", str(house.db))
    everything = await listed(*db)
    assert list(everything) == [finished.table_id, playing.table_id, waiting.table_id]
    assert [each["state"] for each in everything.values()] == ["finished", "playing", "open"]
    assert set(await listed(*db, "--state", "playing")) == {playing.table_id}
    assert set(await listed(*db, "--game", "mino_dice")) == {finished.table_id}
    assert set(await listed(*db, "--limit", "1")) == {finished.table_id}
    assert await listed(*db, "--older-than-h", "1") == {}
    assert (await admin("list", *db)).stdout.count("\n") == 3
    assert (await admin("list", *db, "--state", "x")).exit_code == 2


async def test_a_live_match_is_shown_without_hands_seeds_or_tokens(house: House) -> None:
    _, playing, _ = await three_tables(house)
    told = await admin("inspect", playing.table_id, "--json", "--db", str(house.db))
    shown = json.loads(told.stdout)
    assert shown["table"]["tableId"] == playing.table_id
    assert shown["view"]["turn"] == 5
    assert "legalActions" not in shown["view"]
    plain = await admin("inspect", playing.table_id, "--db", str(house.db))
    stored = house.rows(
        "SELECT body, digest FROM entries WHERE table_id = ? AND number = 1", playing.table_id
    )
    body = json.loads(stored[0][0])
    secrets = [body["server_seed"], body["salt"], body["token"], *playing.tokens.values()]
    for text in (told.stdout, plain.stdout):
        assert not any(secret in text for secret in secrets)
    # Byte for byte what a spectator is shown.
    from google.protobuf.json_format import ParseDict

    from tavolata.v1.view_pb2 import View

    view = ParseDict(shown["view"], View())
    public = await house.view(playing.table_id)
    for each in (view, public):
        each.ClearField("server_time")
    assert view == public


async def test_matches_that_are_over_are_exported_and_can_be_verified(
    house: House, tmp_path: Path
) -> None:
    _, playing, finished = await three_tables(house)
    folder, db = tmp_path / "replays", ("--db", str(house.db))
    told = await admin("export", str(folder), *db)
    assert (told.exit_code, "1 written" in told.stdout) == (0, True)
    (file,) = folder.iterdir()
    assert file.name == f"{finished.table_id}.json"
    verify(file.read_bytes(), "")
    assert "1 there already" in (await admin("export", str(folder), *db)).stdout
    told = await admin("export", str(folder), playing.table_id, "nothing", *db)
    assert told.exit_code == 1
    assert "there is no such table" in told.stderr
    assert [each.name for each in folder.iterdir()] == [file.name]


async def test_a_running_server_aborts_for_its_operator_and_tells_everybody(house: House) -> None:
    _, playing, finished = await three_tables(house)
    watch = house.watch(playing.table_id)
    await watch.read()
    told = await admin("abort", playing.table_id, "--db", str(house.db))
    assert told.exit_code == 0, told.output
    assert await closing_reason(watch) == ABORTED
    assert (await house.table(playing.table_id)).state == TableState.TABLE_STATE_ABORTED
    assert (await house.replay(playing.table_id)).entries
    for table, says in ((finished.table_id, "played to its end"), ("nothing", "nothing")):
        told = await admin("abort", table, "--db", str(house.db))
        assert told.exit_code == 1
        assert says in told.stderr
    await house.restart()
    assert (await house.table(playing.table_id)).state == TableState.TABLE_STATE_ABORTED


async def test_without_a_server_a_file_is_changed_and_the_next_server_knows(
    tmp_path: Path,
) -> None:
    async with house_in(tmp_path) as house:
        _, playing, _ = await three_tables(house)
        assert place_of_socket(house.db).is_socket()
    assert not place_of_socket(house.db).exists()
    told = await admin("abort", playing.table_id, "--db", str(house.db))
    assert told.exit_code == 0, told.output
    async with house_in(tmp_path) as house:
        assert (await house.table(playing.table_id)).state == TableState.TABLE_STATE_ABORTED
        assert house.rows("SELECT 1 FROM work WHERE table_id = ?", playing.table_id) == []


async def test_servers_of_a_database_see_what_an_operator_aborts(
    postgres: str, tmp_path: Path
) -> None:
    async with house_in(tmp_path, store=postgres, look_s=0.1) as house:
        _, playing, finished = await three_tables(house)
        store = ("--store", postgres)
        assert set(await listed(*store, "--state", "finished")) == {finished.table_id}
        assert (await admin("inspect", playing.table_id, *store)).exit_code == 0
        told = await admin("export", str(tmp_path / "replays"), *store)
        assert told.exit_code == 0
        verify((tmp_path / "replays" / f"{finished.table_id}.json").read_bytes(), "")
        watch = house.watch(playing.table_id)
        await watch.read()
        told = await admin("abort", playing.table_id, *store)
        assert told.exit_code == 0, told.output
        assert await closing_reason(watch) == ABORTED


# -- the socket ----------------------------------------------------------------------------------


async def test_the_socket_is_for_its_owner_alone_and_outlives_rude_callers(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = place_of_socket(house.db)
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    sitting = await house.sitting(2)

    async def said(line: bytes) -> Any:
        with admin_socket._address(place) as address:
            lines, out = await asyncio.open_unix_connection(address)
        out.write(line)
        answer = await lines.readline()
        out.close()
        return json.loads(answer) if answer else None

    for line in (b"\n", b"{}\n", b"[1]\n", b'{"abort": 5}\n', b"\xff\xfe\n"):
        assert set(await said(line)) == {"error"}
    assert await said(b"x" * 5000 + b"\n") is None
    with admin_socket._address(place) as address, socket.socket(socket.AF_UNIX) as gone:
        gone.connect(address)
    monkeypatch.setattr(admin_socket, "_is_ours", lambda _: False)
    asked = json.dumps({"abort": sitting.table_id}).encode() + b"\n"
    assert await said(asked) == {"error": "not allowed"}
    monkeypatch.undo()
    assert (await house.table(sitting.table_id)).state == TableState.TABLE_STATE_PLAYING
    assert await said(asked) == {"aborted": sitting.table_id}


async def test_a_file_that_is_no_socket_is_not_removed(tmp_path: Path) -> None:
    place = place_of_socket(tmp_path / "tables.db")
    place.write_text("somebody's")

    async def nothing(_: str) -> None:
        """Aborts nothing."""

    with pytest.raises(OSError, match="in use"):
        await AdminSocket(tmp_path / "tables.db", nothing).open()
    assert place.read_text() == "somebody's"


async def test_a_store_that_is_not_there_is_named(tmp_path: Path) -> None:
    for command in (["list"], ["inspect", "x"], ["export", str(tmp_path / "f")]):
        told = await admin(*command, "--db", str(tmp_path / "no.db"))
        assert told.exit_code == 1
        assert "no.db isn't there" in told.stderr
    assert not (tmp_path / "no.db").exists()
