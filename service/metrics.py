"""What is counted and measured, for Prometheus.

Labels come from what is installed: methods of the API, status codes, AI players and their levels,
states of tables, kinds of errors; and from the remote players that there are. No table, seat,
caller or address is ever one.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter as Counted
from collections.abc import AsyncIterator, Iterable
from contextlib import AbstractContextManager, aclosing
from typing import Any

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    GCCollector,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)

from tavolata import __version__
from tavolata.service.players.measures import PlayerMeasures
from tavolata.service.ports import Conflict, Fenced, StoreAway, StoreError, StoreFull
from tavolata.service.telemetry import NOTHING, Answer
from tavolata.v1.table_pb2 import TableState

_LATENCY_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30)
_THINKING_S = (0.001, 0.005, 0.02, 0.1, 0.5, 1, 2, 5, 10, 30, 60)
_LAG_S = (0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1, 5)
_ENTRIES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
_STATES = {
    number: name.removeprefix("TABLE_STATE_").lower()
    for name, number in TableState.items()
    if number
}
_KINDS = ("conflict", "fenced", "full", "away", "unavailable")


class Metrics:
    """The measurements of one server; see Telemetry."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        PlatformCollector(registry=registry)
        GCCollector(registry=registry)
        Gauge("tavolata_build_info", "The program", ["version"], registry=registry).labels(
            __version__
        ).set(1)
        self._rpcs = Histogram(
            "tavolata_rpc_duration_seconds",
            "Calls that answer once, by method and status code",
            ["method", "code"],
            buckets=_LATENCY_S,
            registry=registry,
        )
        self._streams = Gauge("tavolata_streams", "Open streams", ["method"], registry=registry)
        self._streams_ended = Counter(
            "tavolata_streams_ended",
            "Streams that have ended, by status code",
            ["method", "code"],
            registry=registry,
        )
        self._messages = Counter(
            "tavolata_stream_messages",
            "Messages sent on streams",
            ["method"],
            registry=registry,
        )
        self._make_store_metrics()
        self._make_ai_metrics()
        self._make_gauges()

    def _make_store_metrics(self) -> None:
        registry = self.registry
        self._commit_entries = Histogram(
            "tavolata_commit_entries",
            "Entries of a transaction",
            buckets=_ENTRIES,
            registry=registry,
        )
        self._commit_seconds = Histogram(
            "tavolata_commit_duration_seconds",
            "Durations of transactions",
            buckets=_LATENCY_S,
            registry=registry,
        )
        self._store_errors = Counter(
            "tavolata_store_errors",
            "What the store hasn't done; conflicts come of other servers and repeated calls",
            ["kind"],
            registry=registry,
        )
        for kind in _KINDS:
            self._store_errors.labels(kind)
        self.probe_seconds = Histogram(
            "tavolata_probe_duration_seconds",
            "Durations of the write by which readiness is found out",
            buckets=_LATENCY_S,
            registry=registry,
        )
        self._claims = Counter("tavolata_work_claims", "Tables claimed", registry=registry)
        self._leases_lost = Counter(
            "tavolata_work_leases_lost",
            "Times that all claims were given up for lack of a lease",
            registry=registry,
        )

    def _make_ai_metrics(self) -> None:
        self._ai_wait = Histogram(
            "tavolata_ai_wait_seconds",
            "Time of decisions in the queue; urgent: a person waits",
            ["urgent"],
            buckets=_THINKING_S,
            registry=self.registry,
        )
        self._ai_waits = {each: self._ai_wait.labels(str(each).lower()) for each in (True, False)}
        self._ai_decision = Histogram(
            "tavolata_ai_decision_seconds",
            "Time of thinking, by player and level",
            ["player", "level"],
            buckets=_THINKING_S,
            registry=self.registry,
        )

    def _make_gauges(self) -> None:
        def gauge(name: str, text: str, *labels: str) -> Gauge:
            return Gauge(f"tavolata_{name}", text, labels, registry=self.registry)

        self._tables = gauge("tables", "Tables in this server's memory", "state")
        self.claimed_tables = gauge("claimed_tables", "Tables that this server acts for")
        self.watchers = gauge("watchers", "Watches that are open")
        self.ai_queue = gauge("ai_queue", "Decisions that no thread has begun")
        self.ai_seats_deciding = gauge("ai_seats_deciding", "Seats whose decision is being made")
        self.players = PlayerMeasures(self.registry)
        self.ready = gauge("ready", "1 if the store takes writes and the server isn't stopping")
        self.loop_lag = Histogram(
            "tavolata_event_loop_lag_seconds",
            "How much later than asked the event loop runs what is due, sampled",
            buckets=_LAG_S,
            registry=self.registry,
        )

    # -- what is told -----------------------------------------------------------------------------

    def around(self, method: str, answer: Answer, *, streams: bool) -> Answer:
        """See Telemetry."""
        return self._stream(method, answer) if streams else self._unary(method, answer)

    def _unary(self, method: str, answer: Answer) -> Answer:
        passed, clock = self._rpcs.labels(method, "OK"), time.perf_counter

        async def measured(request: Any, context: Any) -> Any:
            began = clock()
            try:
                response = await answer(request, context)
            except BaseException as error:
                took = clock() - began
                self._rpcs.labels(method, code_of(error, context)).observe(took)
                raise
            passed.observe(clock() - began)
            return response

        return measured

    def _stream(self, method: str, answer: Answer) -> Answer:
        open_now, sent = self._streams.labels(method), self._messages.labels(method)

        async def measured(request: Any, context: Any) -> AsyncIterator[Any]:
            code = "OK"
            open_now.inc()
            try:
                async with aclosing(answer(request, context)) as responses:
                    async for response in responses:
                        sent.inc()
                        yield response
            except BaseException as error:
                code = code_of(error, context)
                raise
            finally:
                open_now.dec()
                self._streams_ended.labels(method, code).inc()

        return measured

    def committing(self, table_id: str) -> AbstractContextManager[None]:
        """Nothing: what a caller waits is in the duration of its call."""
        return NOTHING

    def committed(self, entries: int, seconds: float) -> None:
        """See Telemetry."""
        self._commit_entries.observe(entries)
        self._commit_seconds.observe(seconds)

    def store_error(self, error: StoreError) -> None:
        """See Telemetry."""
        self._store_errors.labels(_kind_of(error)).inc()

    def deciding(self, table_id: str, player: str, level: str) -> AbstractContextManager[None]:
        """Nothing: it is told of what it took."""
        return NOTHING

    def waited(self, seconds: float, *, urgent: bool) -> None:
        """See Telemetry."""
        self._ai_waits[urgent].observe(seconds)

    def decided(self, player: str, level: str, seconds: float) -> None:
        """See Telemetry."""
        self._ai_decision.labels(player, level).observe(seconds)

    def claimed(self, tables: int) -> None:
        """See Telemetry."""
        self._claims.inc(tables)

    def lease_lost(self) -> None:
        """See Telemetry."""
        self._leases_lost.inc()

    def close(self) -> None:
        """Nothing is sent to anybody."""

    # -- what is asked ----------------------------------------------------------------------------

    def count_tables(self, states: Iterable[int]) -> None:
        """Tell how many tables are in which state; all others are in none."""
        counted = Counted(states)
        for number, name in _STATES.items():
            self._tables.labels(name).set(counted[number])

    def text(self) -> bytes:
        """Everything, in Prometheus's text format."""
        return generate_latest(self.registry)


def code_of(error: BaseException, context: Any) -> str:
    """The status code that a call ends with after this."""
    code = context.code()
    if code is not None:
        return str(getattr(code, "name", code))
    return "CANCELLED" if isinstance(error, asyncio.CancelledError | GeneratorExit) else "UNKNOWN"


def _kind_of(error: StoreError) -> str:
    match error:
        case Fenced():
            return "fenced"
        case Conflict():
            return "conflict"
        case StoreFull():
            return "full"
        case StoreAway():
            return "away"
        case _:
            return "unavailable"
