"""The server as a whole: what it refuses to start on, how it stops, what it tells about itself."""

from __future__ import annotations

import asyncio
import io
import json
import os
import signal
import subprocess
import sys
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any

import grpc
import pydantic
import pytest
import structlog
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from tavolata.service import logs, settings
from tavolata.service.binding import BindRefused, check_bind
from tavolata.service.ports import Append, Entry, Summary
from tavolata.service.server import SERVICES, Server
from tavolata.service.store.sqlite import FileInUse
from tavolata.v1 import table_service_pb2 as pb
from tavolata.v1.event_pb2 import ClosingReason
from tests.service.house import CALLER, OPEN, House, bearer, house_in, refused
from tests.service.kill_loop import Target

SERVING = health_pb2.HealthCheckResponse.SERVING


async def test_health_and_reflection_are_there(house: House) -> None:
    health: Any = health_pb2_grpc.HealthStub(house.channel)
    for name in ("", *SERVICES):
        answer = await health.Check(health_pb2.HealthCheckRequest(service=name))
        assert answer.status == SERVING
    channel: Any = house.channel  # the stubs' types know the other kind of channel only
    stub: Any = reflection_pb2_grpc.ServerReflectionStub(channel)
    request = reflection_pb2.ServerReflectionRequest(list_services="")
    async for answer in stub.ServerReflectionInfo(iter([request])):
        names = {each.name for each in answer.list_services_response.service}
    assert {*SERVICES, "grpc.health.v1.Health"} <= names
    request = reflection_pb2.ServerReflectionRequest(
        file_containing_symbol="tavolata.v1.TableService"
    )
    async for answer in stub.ServerReflectionInfo(iter([request])):
        assert answer.file_descriptor_response.file_descriptor_proto


async def test_a_second_server_on_the_same_file_is_refused(house: House) -> None:
    second = Server(settings.load(None, db=house.db, bind="127.0.0.1:0"))
    with pytest.raises(FileInUse, match="in use by another server"):
        await second.start()
    made = await house.create()
    assert made.token


def test_a_second_server_process_says_why_it_does_not_start(tmp_path: Path) -> None:
    async def scene() -> tuple[int, str]:
        target = Target(tmp_path)
        await target.start()
        try:
            second = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "tavolata", "serve"),
                *("--db", str(target.db), "--bind", "127.0.0.1:0"),
                stderr=asyncio.subprocess.PIPE,
            )
            _, text = await asyncio.wait_for(second.communicate(), 60)
            return second.returncode or 0, text.decode()
        finally:
            await target.stop()

    code, text = asyncio.run(scene())
    assert code == 1
    assert "in use by another server (process" in text
    assert "Traceback" not in text


async def test_a_port_that_is_taken_is_refused(house: House, tmp_path: Path) -> None:
    other = Server(settings.load(None, db=tmp_path / "other.db", bind=house.target))
    with pytest.raises(BindRefused, match="can't listen"):
        await other.start()


PUBLIC = [
    "0.0.0.0:50051",
    "[::]:50051",
    "*:1",
    ":1",
    "1",
    "::",
    "0:1",
    "192.0.2.7:1",
    "10.0.0.1:1",
    "[2001:db8::1]:1",
    "[::ffff:192.0.2.1]:1",
    "[::ffff:0.0.0.0]:1",
    "[fe80::1%eth0]:1",
    "example.org:1",
    "localhost.example.org:1",
    "ipv4:0.0.0.0:1",
    "ipv6:[::]:1",
    "dns:///example.org:1",
    "127.0.0.1:1,0.0.0.0:2",
    "ipv4:127.0.0.1:1,0.0.0.0:2",
    "vsock:1:1",
]


@pytest.mark.parametrize("bind", PUBLIC)
def test_a_public_address_without_tls_is_refused_unless_told_so(bind: str) -> None:
    with pytest.raises(BindRefused, match="--insecure-public"):
        check_bind(settings.load(None, bind=bind))
    check_bind(settings.load(None, bind=bind, insecure_public=True))


@pytest.mark.parametrize(
    "bind",
    [
        "127.0.0.1:0",
        "127.1.2.3:1",
        "localhost:50051",
        "[::1]:50051",
        "unix:/tmp/s",
        "unix-abstract:s",
    ],
)
def test_this_machine_alone_needs_no_tls(bind: str) -> None:
    check_bind(settings.load(None, bind=bind))


def test_flags_win_over_environment_over_file_over_defaults(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "settings.toml"
    file.write_text('ai_threads = 3\nwatchers_max = 7\nlog_format = "json"\n')
    monkeypatch.setenv("TAVOLATA_WATCHERS_MAX", "8")
    monkeypatch.setenv("TAVOLATA_AI_THREADS", "4")
    chosen = settings.load(file, ai_threads=5, db=None)
    assert (chosen.ai_threads, chosen.watchers_max, chosen.log_format) == (5, 8, "json")
    assert chosen.bind == "127.0.0.1:50051"
    file.write_text("ai_thread = 3\n")
    with pytest.raises(pydantic.ValidationError, match="ai_thread"):
        settings.load(file)


async def test_a_stopping_server_tells_everybody_and_keeps_what_it_acknowledged(
    tmp_path: Path,
) -> None:
    target = Target(tmp_path)
    await target.start()
    async with grpc.aio.insecure_channel(target.bind) as channel:
        house = House(tmp_path)
        house.channel, house.target = channel, target.bind
        from tavolata.v1.table_service_pb2_grpc import TableServiceStub

        house.stub = TableServiceStub(channel)
        sitting = await house.sitting(2)
        watch = house.watch(sitting.table_id)
        await watch.read()
        stub: Any = health_pb2_grpc.HealthStub(channel)
        health = stub.Watch(health_pb2.HealthCheckRequest())
        assert (await health.read()).status == SERVING
        played = await house.play_on(sitting, 5)
        code = asyncio.create_task(target.stop())
        assert (await health.read()).status == health_pb2.HealthCheckResponse.NOT_SERVING
        messages = []
        while (message := await watch.read()) is not grpc.aio.EOF:
            messages.append(message)
        assert messages[-1].closing.reason == ClosingReason.CLOSING_REASON_SHUTTING_DOWN
        assert await code == 0
    rows = House(tmp_path).rows("SELECT count(*) FROM entries WHERE kind = 'played'")
    assert rows == [(played,)]


async def test_more_calls_than_the_limit_are_refused_at_once_but_never_health(
    tmp_path: Path,
) -> None:
    async with house_in(tmp_path, calls_max=1, streams_max=1) as house:
        made = await house.create()
        watch = house.watch(made.table.table_id)
        await watch.read()
        with pytest.raises(grpc.aio.AioRpcError) as error:
            await house.watch(made.table.table_id).read()
        assert error.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
        calls = [house.create() for _ in range(30)]
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
        lost = [each for each in outcomes if isinstance(each, grpc.aio.AioRpcError)]
        assert lost
        assert {each.code() for each in lost} == {grpc.StatusCode.RESOURCE_EXHAUSTED}
        assert len(lost) < 30
        health: Any = health_pb2_grpc.HealthStub(house.channel)
        assert (await health.Check(health_pb2.HealthCheckRequest())).status == SERVING
        watch.cancel()


async def test_tables_whose_time_has_come_are_removed(tmp_path: Path) -> None:
    async with house_in(tmp_path, open_table_s=1) as house:
        made = await house.create()
        table_id = made.table.table_id
        life = made.table.expire_time.ToMicroseconds() - made.table.create_time.ToMicroseconds()
        assert life == 1_000_000
        sitting = await house.sitting(2)
        assert not (await house.table(sitting.table_id)).HasField("expire_time")
        await asyncio.sleep(1.1)
        assert house.server is not None
        # More than the store removes at a time.
        many = [Append(f"t{n}", Entry(1, 0, "created"), Summary(1, 1, f"c{n}")) for n in range(250)]
        await house.server.core.tables.store.write(many)
        await house.server.core.sweep()
        assert (await refused(house.table(table_id))).reason == "TABLE_NOT_FOUND"
        assert (await house.table(sitting.table_id)).table_id == sitting.table_id
    assert house.rows("SELECT DISTINCT table_id FROM entries") == [(sitting.table_id,)]


async def test_idle_tables_leave_the_memory_and_come_back_as_they_were(house: House) -> None:
    made = await house.create([CALLER, OPEN])
    before = await house.table(made.table.table_id)
    assert house.server is not None
    tables = house.server.core.tables
    held = await tables.find(made.table.table_id)
    held.used_at = -1e9
    tables.forget_idle()
    assert await tables.find(made.table.table_id) is not held
    assert await house.table(made.table.table_id) == before


# -- logs ----------------------------------------------------------------------------------------


def test_log_lines_carry_ids_and_no_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A whole match through a server at its most talkative; then its log is searched."""

    async def scene() -> tuple[list[str], bytes]:
        async with house_in(tmp_path) as house:
            seed = bytes(range(100, 132))
            made = await house.create(request_id="log-create", seed=seed)
            joined = await house.join(made.table.table_id, request_id="log-join")
            await house.start(made.table.table_id, made.token)
            tokens = [made.token, joined.token]
            shown = await house.view(made.table.table_id)
            wrong = pb.PlayActionRequest(
                request_id="log-wrong", table_id=made.table.table_id, turn=99
            )
            mover = tokens[shown.seats_to_act[0]]
            view = await house.view(made.table.table_id, mover)
            wrong.action.CopyFrom(view.legal_actions[0])
            await refused(house.stub.PlayAction(wrong, metadata=bearer(mover)))
            assert house.server is not None

            async def broken(*_: object) -> None:
                token, server_seed = mover, seed  # what a careless line would print
                raise RuntimeError(f"planted {len(token) + len(server_seed)}")

            monkeypatch.setattr(house.server.core.playing, "view", broken)
            found = await refused(house.view(made.table.table_id, mover))
            assert found.reason == "INTERNAL_FAULT"
            incident.append(found.metadata["incident"])
            return tokens, seed

    incident: list[str] = []
    for form in ("json", "console"):
        written = io.StringIO()
        with redirect_stderr(written):
            logs.configure(form, "debug")
            structlog.configure(cache_logger_on_first_use=False)
            tokens, seed = asyncio.run(scene())
        structlog.reset_defaults()
        text = written.getvalue()
        for secret in (*tokens, seed.hex(), repr(seed)):
            assert secret not in text
        assert "STALE_TURN" in text
        assert incident[-1] in text
        assert "planted 75" in text
        if form == "json":
            lines = [json.loads(line) for line in text.splitlines()]
            (line,) = [each for each in lines if each.get("reason") == "STALE_TURN"]
            assert line["method"] == "PlayAction"
            assert line["request_id"] == "log-wrong"
            assert line["table_id"]
        for file in tmp_path.iterdir():
            file.unlink()


def test_fields_that_look_like_secrets_are_struck_out() -> None:
    written = io.StringIO()
    with redirect_stderr(written):
        logs.configure("json", "info")
        fields = {"seat_token": "abc123", "hand": "QC", "match_seed": "ff", "seat": 3}
        structlog.get_logger().info("x", **fields)
    structlog.reset_defaults()
    line = json.loads(written.getvalue())
    assert line["seat"] == 3
    assert line["seat_token"] == line["hand"] == line["match_seed"] == logs.STRUCK


def test_tokens_are_in_the_file_as_hashes_alone(tmp_path: Path) -> None:
    async def scene() -> list[str]:
        async with house_in(tmp_path) as house:
            sitting = await house.sitting(2)
            return list(sitting.tokens.values())

    tokens = asyncio.run(scene())
    held = b"".join(file.read_bytes() for file in tmp_path.iterdir() if file.is_file())
    assert all(len(token) == 43 for token in tokens)
    assert not any(token.encode() in held for token in tokens)


def test_the_command_stops_on_sigint_and_refuses_bad_settings(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tavolata", "serve", "--db", str(tmp_path / "t.db")]
    bad = subprocess.run(
        [*command, "--ai-floor", "-1"], capture_output=True, text=True, timeout=60, check=False
    )
    assert bad.returncode == 2
    assert "ai_floor_s" in bad.stderr
    assert "Traceback" not in bad.stderr
    listed = subprocess.run(
        [*command, "--list-settings"], capture_output=True, text=True, timeout=60, check=True
    ).stdout.splitlines()
    assert len(listed) == len(settings.Settings.model_fields)
    assert any(line.startswith("TAVOLATA_BIND ") and "127.0.0.1:50051" in line for line in listed)
    with subprocess.Popen(
        [*command, "--bind", "127.0.0.1:0", "--print-port"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"TAVOLATA_LOG_FORMAT": "json"},
    ) as process:
        assert process.stdout is not None
        assert int(process.stdout.readline()) > 0
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
