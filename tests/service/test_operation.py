"""What operators see of a server: health, readiness, metrics, HTTP probes."""

from __future__ import annotations

import asyncio
import re
import socket
import threading
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import grpc
import pytest
from grpc_channelz.v1 import channelz_pb2, channelz_pb2_grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc
from prometheus_client.parser import text_string_to_metric_families

from tavolata.service import settings
from tavolata.service.ports import StoreUnavailable
from tavolata.service.probes import CALLERS, ProbesRefused
from tavolata.service.server import SERVICES, Server
from tavolata.service.store.sqlite import SqliteStore
from tests.service.house import AI, CALLER, GREEDY, House, house_in, refused, until
from tests.service.postgres import Databases, execute

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
TABLES = "tavolata.v1.TableService"
CATALOG = "tavolata.v1.CatalogService"
QUICK: dict[str, Any] = {"metrics_bind": "127.0.0.1:0", "probe_s": 0.05}


@asynccontextmanager
async def watched_house(folder: Path, **flags: Any) -> AsyncIterator[House]:
    """A house with HTTP probes that looks at its store often."""
    async with house_in(folder, **QUICK | flags) as house:
        yield house


def store_of(house: House) -> SqliteStore:
    """The store of a running house."""
    assert house.server is not None
    store = house.server.core.tables.store
    assert isinstance(store, SqliteStore)
    return store


async def http(house: House, path: str) -> tuple[int, str]:
    """Status and text that a path is answered with."""
    assert house.server is not None
    url = f"http://127.0.0.1:{house.server.operation.port}{path}"

    def get() -> tuple[int, str]:
        try:
            with urllib.request.urlopen(url, timeout=10) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    return await asyncio.to_thread(get)


async def metrics(house: House) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """Every sample by name and labels, read by Prometheus's own parser."""
    status, text = await http(house, "/metrics")
    assert status == 200
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def value(samples: Any, name: str, **labels: str) -> float:
    """One sample, 0 if there is none."""
    return float(samples.get((f"tavolata_{name}", tuple(sorted(labels.items()))), 0))


async def statuses(house: House) -> dict[str, int]:
    """The health of the whole and of every service."""
    health: Any = health_pb2_grpc.HealthStub(house.channel)
    answers = {}
    for name in ("", *SERVICES):
        answer = await health.Check(health_pb2.HealthCheckRequest(service=name))
        answers[name] = answer.status
    return answers


async def becomes(house: House, status: int) -> None:
    """Wait until the whole, and HTTP with it, has a health."""

    async def told() -> bool:
        http_status, _ = await http(house, "/readyz")
        return (await statuses(house))[""] == status and (http_status == 200) == (status == SERVING)

    await until(told)


# -- readiness -----------------------------------------------------------------------------------


async def test_a_store_that_takes_no_writes_turns_health_off_and_on_again(tmp_path: Path) -> None:
    async with watched_house(tmp_path) as house:
        await becomes(house, SERVING)
        sitting = await house.sitting(2)
        store_of(house)._writer.pragma("query_only", True)
        await becomes(house, NOT_SERVING)
        assert (await statuses(house))[TABLES] == NOT_SERVING
        assert (await statuses(house))[CATALOG] == SERVING  # needs no store
        assert await http(house, "/healthz") == (200, "ok\n")
        status, why = await http(house, "/readyz")
        assert status == 503
        assert "readonly" in why
        assert (await refused(house.create())).reason == "STORE_UNAVAILABLE"
        assert (await house.view(sitting.table_id)).turn == 0  # reads stay up
        assert value(await metrics(house), "ready") == 0
        store_of(house)._writer.pragma("query_only", False)
        await becomes(house, SERVING)
        await house.play_on(sitting, 2)
        assert value(await metrics(house), "ready") == 1


async def test_a_full_store_turns_health_off_and_on_again(tmp_path: Path) -> None:
    async with watched_house(tmp_path) as house:
        writer = store_of(house)._writer
        writer.pragma("max_page_count", writer.pragma("page_count"))
        # The room that the last probe freed is an entry's, too: fill it.
        code = None
        while code is None:
            try:
                await house.create()
            except grpc.aio.AioRpcError as error:
                code = error.code()
        assert code == grpc.StatusCode.RESOURCE_EXHAUSTED
        await becomes(house, NOT_SERVING)
        assert "full" in (await http(house, "/readyz"))[1]
        writer.pragma("max_page_count", 1_000_000)
        await becomes(house, SERVING)
        await house.create()


async def test_a_write_that_fails_is_not_waited_out_until_the_next_probe(tmp_path: Path) -> None:
    async with watched_house(tmp_path, probe_s=60) as house:
        assert (await statuses(house))[""] == SERVING
        store_of(house)._writer.pragma("query_only", True)
        await refused(house.create())
        await becomes(house, NOT_SERVING)
        store_of(house)._writer.pragma("query_only", False)
        await becomes(house, SERVING)


async def test_a_disk_that_does_not_answer_is_not_ready_and_holds_up_no_other(
    tmp_path: Path,
) -> None:
    async with watched_house(tmp_path, probe_within_s=0.1) as house:
        await becomes(house, SERVING)
        gate = threading.Event()
        store_of(house)._writing.submit(gate.wait)
        try:
            await becomes(house, NOT_SERVING)
            assert "no write within 0.1 s" in (await http(house, "/readyz"))[1]
            assert (await http(house, "/healthz"))[0] == 200
            await asyncio.sleep(0.3)
            # However often it has looked: one probe waits, with what else was to be written.
            assert store_of(house)._writing._work_queue.qsize() < 5
        finally:
            gate.set()
        await becomes(house, SERVING)


async def test_a_probe_after_which_the_store_can_not_be_trusted_ends_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with watched_house(tmp_path) as house:
        await becomes(house, SERVING)

        async def broken(*_: object) -> None:
            raise StoreUnavailable("disk I/O error")

        monkeypatch.setattr(store_of(house), "probe", broken)
        assert house.server is not None
        assert await asyncio.wait_for(house.server.serve(), 30) is False
        house.server = None
        await house.channel.close()


async def test_a_lost_database_turns_health_off_and_on_again(
    postgres: str, databases: Databases, tmp_path: Path
) -> None:
    name = urlsplit(postgres).path[1:]
    admin = databases.named("postgres")
    end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1"
    async with watched_house(tmp_path, store=postgres, probe_within_s=0.5) as house:
        await becomes(house, SERVING)
        for off, on in (
            (f"ALTER DATABASE {name} ALLOW_CONNECTIONS false",
             f"ALTER DATABASE {name} ALLOW_CONNECTIONS true"),
            (f"ALTER DATABASE {name} SET default_transaction_read_only = on",
             f"ALTER DATABASE {name} RESET default_transaction_read_only"),
        ):  # fmt: skip
            await execute(admin, off)
            await execute(admin, end, name)
            await becomes(house, NOT_SERVING)
            await execute(admin, on)
            await execute(admin, end, name)
            await becomes(house, SERVING)
        await house.create()


# -- metrics -------------------------------------------------------------------------------------


async def test_metrics_count_what_was_done(tmp_path: Path) -> None:
    async with watched_house(tmp_path) as house:
        before = await metrics(house)
        sitting = await house.sitting(2)
        played = await house.play_on(sitting, 5)
        await refused(house.view("no-such-table"))
        made = await house.create([CALLER, AI, AI], game="mino_dice", ai_pace=None)
        await house.start(made.table.table_id, made.token)
        watch = house.watch(sitting.table_id)
        await watch.read()
        during = await metrics(house)
        watch.cancel()

        async def ended() -> Any:
            samples = await metrics(house)
            method = {"method": "TableService/WatchTable"}
            closed = value(samples, "streams_ended_total", code="CANCELLED", **method)
            done = closed == 1 and value(samples, "streams", **method) == 0
            return samples if done and value(samples, "event_loop_lag_seconds_count") else None

        after = await until(ended)
    count = "rpc_duration_seconds_count"
    play = {"method": "TableService/PlayAction", "code": "OK"}
    missing = {"method": "TableService/GetView", "code": "NOT_FOUND"}
    assert value(during, count, **play) - value(before, count, **play) == played == 5
    assert value(during, count, **missing) - value(before, count, **missing) == 1
    assert value(during, "watchers") == 1
    assert value(during, "streams", method="TableService/WatchTable") == 1
    assert value(during, "stream_messages_total", method="TableService/WatchTable") >= 1
    assert value(during, "tables", state="playing") == 2
    assert value(during, "tables", state="open") == 0
    assert value(during, "claimed_tables") == 2
    entries = house.rows("SELECT count(*) FROM entries")[0][0]
    assert value(after, "commit_entries_sum") == entries
    assert value(after, "commit_duration_seconds_count") == value(after, "commit_entries_count")
    assert value(after, "probe_duration_seconds_count") > 0
    assert value(after, "store_errors_total", kind="full") == 0
    assert ("process_open_fds", ()) in after


async def test_metrics_tell_how_long_ai_players_wait_and_think(tmp_path: Path) -> None:
    async with watched_house(tmp_path) as house:
        made = await house.create([CALLER, AI], game="bouillabaisse", stand_in=GREEDY)
        await house.start(made.table.table_id, made.token)
        await house.leave(made.table.table_id, made.token)
        made = await house.create([AI, AI, AI], game="mino_dice")
        await house.start(made.table.table_id, made.token)

        async def decided() -> Any:
            samples = await metrics(house)
            level = {"player": "greedy", "level": "standard"}
            thought = value(samples, "ai_decision_seconds_count", **level)
            waited = value(samples, "ai_wait_seconds_count", urgent="false")
            return samples if min(thought, waited) > 5 else None

        samples = await until(decided)
        assert ("tavolata_ai_queue", ()) in samples


async def test_no_label_of_a_metric_can_grow_with_tables_or_callers(tmp_path: Path) -> None:
    async def series(house: House) -> set[Any]:
        return {key for key in await metrics(house) if key[0].startswith("tavolata_")}

    async def live(house: House, tables: int) -> list[str]:
        ids = []
        for _ in range(tables):
            sitting = await house.sitting(2)
            await house.play_on(sitting, 1)
            await refused(house.view("unknown"))
            ids.append(sitting.table_id)
        return ids

    async with watched_house(tmp_path) as house:
        await live(house, 2)
        few = await series(house)
        ids = await live(house, 8)
        assert await series(house) == few
        _, text = await http(house, "/metrics")
        assert not any(table_id in text for table_id in ids)
        assert not re.search(r'"[0-9a-zA-Z_-]{20,}"', text)  # ids, tokens, hashes


# -- HTTP ----------------------------------------------------------------------------------------


async def test_http_answers_three_paths_and_outlives_rude_callers(tmp_path: Path) -> None:
    async with watched_house(tmp_path) as house:
        assert house.server is not None
        port = house.server.operation.port
        assert (await http(house, "/healthz"))[0] == 200
        status, text = await http(house, "/tables")
        assert (status, "/readyz" in text) == (404, True)
        idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(CALLERS)]
        rude = (b"GET /", b"\x00\xff\r\n\r\n", b"GET /healthz HTTP/9\r\n\r\n")
        for number, each in enumerate(idle):
            each.sendall(rude[number % 3])
            each.close()

        async def back() -> bool:
            try:
                return (await http(house, "/healthz"))[0] == 200
            except OSError:
                return False

        assert await until(back)
        assert (await house.create()).token


async def test_a_loop_that_stands_still_is_not_alive(tmp_path: Path) -> None:
    async with watched_house(tmp_path) as house:
        assert house.server is not None
        port = house.server.operation.port
        answers: list[int] = []

        def ask() -> None:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=10):
                    answers.append(200)
            except urllib.error.HTTPError as error:
                answers.append(error.code)

        asking = threading.Thread(target=ask)
        asking.start()
        asking.join()  # in the loop's own thread: nothing else runs in it meanwhile
        assert answers == [503]
        assert (await http(house, "/healthz"))[0] == 200


@pytest.mark.parametrize("bind", ["127.0.0.1:99999", "256.0.0.1:0"])
async def test_an_address_that_can_not_be_had_for_metrics_is_refused(
    tmp_path: Path, bind: str
) -> None:
    place = {"db": tmp_path / "tables.db", "bind": "127.0.0.1:0"}
    server = Server(settings.load(None, metrics_bind=bind, **place))
    with pytest.raises(ProbesRefused, match="for metrics"):
        await server.start()
    async with house_in(tmp_path):
        pass  # the file is free again


# -- channelz ------------------------------------------------------------------------------------


async def test_channelz_is_there_if_it_is_asked_for_and_counts_calls(tmp_path: Path) -> None:
    request = channelz_pb2.GetServersRequest(start_server_id=0)
    async with house_in(tmp_path) as house:
        stub: Any = channelz_pb2_grpc.ChannelzStub(house.channel)  # type: ignore[arg-type]
        with pytest.raises(grpc.aio.AioRpcError) as error:
            await stub.GetServers(request)
        assert error.value.code() == grpc.StatusCode.UNIMPLEMENTED
    async with house_in(tmp_path, channelz=True) as house:
        stub = channelz_pb2_grpc.ChannelzStub(house.channel)  # type: ignore[arg-type]
        for _ in range(3):
            await house.create()
        servers = (await stub.GetServers(request)).server
        assert any(each.data.calls_started >= 3 for each in servers)
        assert any(each.data.calls_succeeded >= 3 for each in servers)
