"""Traces by OpenTelemetry: a span a call, a commit, an AI player's decision.

Where they go, how many are kept and what the service is called is said by the standard OTEL_*
variables. No span has more of a request than the table's id.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractContextManager, aclosing, contextmanager
from typing import Any

import grpc
from opentelemetry import context as contexts
from opentelemetry.propagate import extract
from opentelemetry.sdk.resources import (
    SERVICE_NAME,
    SERVICE_VERSION,
    OTELResourceDetector,
    Resource,
)
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, set_span_in_context

from tavolata import __version__
from tavolata.service.metrics import Metrics, code_of
from tavolata.service.telemetry import Answer

FLUSH_S = 2.0
TABLE_ID = "tavolata.table_id"
# What is the server's fault; anything else is an answer.
_FAULTS = {"UNKNOWN", "DEADLINE_EXCEEDED", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS"}


class TracedMetrics(Metrics):
    """Metrics that draw traces, too."""

    def __init__(self, provider: TracerProvider) -> None:
        super().__init__()
        self._provider = provider
        self._tracer = provider.get_tracer("tavolata", __version__)

    def around(self, method: str, answer: Answer, *, streams: bool) -> Answer:
        """See Telemetry."""
        measured = super().around(method, answer, streams=streams)
        return self._stream_span(method, measured) if streams else self._span(method, measured)

    def _span(self, method: str, answer: Answer) -> Answer:
        async def traced(request: Any, context: Any) -> Any:
            with self._call(method, request, context) as span:
                response = await answer(request, context)
                _set_table(span, getattr(response, "table", None))
                return response

        return traced

    def _stream_span(self, method: str, answer: Answer) -> Answer:
        async def traced(request: Any, context: Any) -> AsyncIterator[Any]:
            with self._call(method, request, context):
                async with aclosing(answer(request, context)) as responses:
                    async for response in responses:
                        yield response

        return traced

    @contextmanager
    def _call(self, method: str, request: Any, context: Any) -> Iterator[Span]:
        service, _, name = method.partition("/")
        headers = {
            key: value for key, value in context.invocation_metadata() if key == "traceparent"
        }
        span = self._tracer.start_span(
            f"tavolata.v1.{method}",
            context=extract(headers),
            kind=SpanKind.SERVER,
            attributes={
                "rpc.system": "grpc",
                "rpc.service": f"tavolata.v1.{service}",
                "rpc.method": name,
            },
        )
        _set_table(span, request)
        # A call has its task to itself: what it began ends with it, so nothing is detached. A
        # stream that is given up may be ended in another task, where it couldn't be.
        contexts.attach(set_span_in_context(span))
        code = "OK"
        try:
            yield span
        except BaseException as error:
            code = code_of(error, context)
            raise
        finally:
            span.set_attribute("rpc.grpc.status_code", grpc.StatusCode[code].value[0])
            if code in _FAULTS:
                span.set_status(Status(StatusCode.ERROR, code))
            span.end()

    def committing(self, table_id: str) -> AbstractContextManager[None]:
        """See Telemetry."""
        return self._within("commit", {TABLE_ID: table_id})

    def deciding(self, table_id: str, player: str, level: str) -> AbstractContextManager[None]:
        """See Telemetry."""
        attributes = {TABLE_ID: table_id, "tavolata.player": player, "tavolata.level": level}
        return self._within("decision", attributes)

    @contextmanager
    def _within(self, name: str, attributes: dict[str, str]) -> Iterator[None]:
        # What goes wrong is told by the call; an exception's text isn't ours to send away.
        with self._tracer.start_as_current_span(
            name, attributes=attributes, record_exception=False, set_status_on_exception=False
        ):
            yield

    def close(self) -> None:
        """Send what is left, if that can be done in a moment."""
        flushing = threading.Thread(target=self._shut_down, daemon=True)
        flushing.start()
        flushing.join(FLUSH_S)

    def _shut_down(self) -> None:
        with contextlib.suppress(Exception):
            self._provider.force_flush(round(FLUSH_S * 1000))
            self._provider.shutdown()


def _set_table(span: Span, message: Any) -> None:
    table_id = getattr(message, "table_id", "")
    if table_id:
        span.set_attribute(TABLE_ID, table_id)


def provider(*processors: Any) -> TracerProvider:
    """What makes spans and hands them to these processors. OTEL_SERVICE_NAME and
    OTEL_RESOURCE_ATTRIBUTES add to what is known of the service."""
    known = Resource({SERVICE_NAME: "tavolata", SERVICE_VERSION: __version__})
    made = TracerProvider(
        resource=known.merge(OTELResourceDetector().detect()), shutdown_on_exit=False
    )
    for each in processors:
        made.add_span_processor(each)
    return made


def otlp() -> TracedMetrics:
    """Traces sent in batches by OTLP over gRPC, as the OTEL_* variables say."""
    from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    return TracedMetrics(provider(BatchSpanProcessor(OTLPSpanExporter())))
