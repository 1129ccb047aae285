"""Traces: which spans there are, whose they are, and that they arrive where OTEL_* says."""

from __future__ import annotations

import asyncio
import queue
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest

from tavolata.service import settings
from tavolata.service.server import Server
from tavolata.v1 import table_service_pb2 as pb
from tavolata.v1.table_service_pb2_grpc import TableServiceStub
from tests.service.house import AI, CALLER, House, house_in, refused, until

pytest.importorskip("opentelemetry.sdk", reason="needs the extra otel, which test has")

from opentelemetry.proto.collector.trace.v1 import (
    trace_service_pb2,
    trace_service_pb2_grpc,
)
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from tavolata.service.tracing import TABLE_ID, TracedMetrics, provider

PLAY = "tavolata.v1.TableService/PlayAction"


class TracedHouse(House):
    """A house whose spans stay in memory."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.exporter = InMemorySpanExporter()

    async def open(self) -> None:
        """Start the server."""
        chosen = settings.load(None, db=self.db, **self.flags)
        metrics = TracedMetrics(provider(SimpleSpanProcessor(self.exporter)))
        self.server = Server(chosen, metrics)
        await self.server.start()
        self.target = f"127.0.0.1:{self.server.port}"
        self.channel = grpc.aio.insecure_channel(self.target)
        self.stub = TableServiceStub(self.channel)

    def spans(self, name: str) -> list[ReadableSpan]:
        """The spans of a name that have ended."""
        return [span for span in self.exporter.get_finished_spans() if span.name == name]


async def test_a_call_is_a_span_of_the_callers_trace_and_its_commit_one_below(
    tmp_path: Path,
) -> None:
    house = TracedHouse(tmp_path)
    await house.open()
    sitting = await house.sitting(2)
    seat = (await house.view(sitting.table_id)).seats_to_act[0]
    token = sitting.tokens[seat]
    view = await house.view(sitting.table_id, token)
    request = pb.PlayActionRequest(
        request_id="traced", table_id=sitting.table_id, turn=0, action=view.legal_actions[0]
    )
    trace, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
    await house.stub.PlayAction(
        request,
        metadata=(
            ("authorization", f"Bearer {token}"),
            ("traceparent", f"00-{trace}-{parent}-01"),
        ),
    )
    await refused(house.view("nowhere"))
    watch = house.watch(sitting.table_id)
    await watch.read()
    await house.close()

    (played,) = house.spans(PLAY)
    assert played.parent is not None
    assert played.context is not None
    assert f"{played.context.trace_id:032x}" == trace
    assert f"{played.parent.span_id:016x}" == parent
    assert played.attributes is not None
    assert played.attributes[TABLE_ID] == sitting.table_id
    assert played.attributes["rpc.grpc.status_code"] == 0
    below = [
        span
        for span in house.spans("commit")
        if span.parent and span.parent.span_id == played.context.span_id
    ]
    assert len(below) == 1
    (created,) = house.spans("tavolata.v1.TableService/CreateTable")
    assert created.attributes is not None
    assert created.attributes[TABLE_ID] == sitting.table_id
    codes = {
        span.attributes["rpc.grpc.status_code"]
        for span in house.spans("tavolata.v1.TableService/GetView")
        if span.attributes
    }
    assert codes == {0, grpc.StatusCode.NOT_FOUND.value[0]}
    (watched,) = house.spans("tavolata.v1.TableService/WatchTable")
    assert watched.end_time is not None
    # What is sent away tells nothing that a log wouldn't.
    text = "".join(span.to_json() for span in house.exporter.get_finished_spans())
    for secret in (*sitting.tokens.values(), "legal_actions", "server_seed"):
        assert secret not in text


async def test_what_calls_at_the_same_time_do_is_not_mixed_up(tmp_path: Path) -> None:
    house = TracedHouse(tmp_path)
    await house.open()
    sittings = await asyncio.gather(*(house.sitting(2) for _ in range(8)))
    await asyncio.gather(*(house.play_on(sitting, 4) for sitting in sittings))
    await house.close()
    calls = {span.context.span_id: span for span in house.spans(PLAY) if span.context}
    assert len(calls) == 32
    commits = [each for each in house.spans("commit") if each.parent]
    below = [each for each in commits if each.parent and each.parent.span_id in calls]
    assert len(below) == 32
    for commit in below:
        assert commit.parent is not None
        call = calls[commit.parent.span_id]
        assert commit.attributes is not None
        assert call.attributes is not None
        assert commit.attributes[TABLE_ID] == call.attributes[TABLE_ID]


async def test_a_decision_of_an_ai_player_is_a_span(tmp_path: Path) -> None:
    house = TracedHouse(tmp_path)
    await house.open()
    made = await house.create([AI, AI, AI], game="mino_dice")
    await house.start(made.table.table_id, made.token)

    async def decided() -> Any:
        return house.spans("decision")

    (span, *_) = await until(decided)
    await house.close()
    assert span.attributes == {
        TABLE_ID: made.table.table_id,
        "tavolata.player": "greedy",
        "tavolata.level": "standard",
    }


class _Collector(trace_service_pb2_grpc.TraceServiceServicer):
    def __init__(self) -> None:
        self.received: queue.Queue[Any] = queue.Queue()

    def Export(self, request: Any, context: Any) -> Any:  # noqa: N802
        self.received.put(request)
        return trace_service_pb2.ExportTraceServiceResponse()


@contextmanager
def collector() -> Iterator[tuple[str, _Collector]]:
    """A collector on a real socket."""
    server = grpc.server(ThreadPoolExecutor(2))
    made = _Collector()
    add: Any = trace_service_pb2_grpc.add_TraceServiceServicer_to_server
    add(made, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield f"http://127.0.0.1:{port}", made
    finally:
        server.stop(0)


async def test_spans_reach_the_collector_that_the_environment_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with collector() as (address, made):
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", address)
        monkeypatch.setenv("OTEL_SERVICE_NAME", "tables-at-home")
        async with house_in(tmp_path, traces="otlp") as house:
            await house.create([CALLER, AI])
        # The server has stopped: what it had is sent.
        request = await asyncio.to_thread(made.received.get, True, 20)
        (resource,) = request.resource_spans
        names = {span.name for scope in resource.scope_spans for span in scope.spans}
        assert {"tavolata.v1.TableService/CreateTable", "commit"} <= names
        known = {each.key: each.value.string_value for each in resource.resource.attributes}
        assert known["service.name"] == "tables-at-home"
        assert known["service.version"]


async def test_a_collector_that_is_not_there_holds_up_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
    async with asyncio.timeout(20):
        async with house_in(tmp_path, traces="otlp") as house:
            sitting = await house.sitting(2)
            assert await house.play_on(sitting, 3) == 3
