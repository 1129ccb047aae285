"""Around every call: size and form of the request, limits, log fields, refusals, faults.

Made as method handlers rather than gRPC interceptors: those cost more than the whole of this for
every call.
"""

from __future__ import annotations

import asyncio
import ipaddress
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

import grpc
import structlog
from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass

from tavolata.service import logs
from tavolata.service.buckets import Buckets
from tavolata.service.clock import SystemClock
from tavolata.service.deadline import ENDS_AT
from tavolata.service.ports import Entropy
from tavolata.service.refusals import Refused, invalid_field, to_status
from tavolata.service.tables import refuse
from tavolata.service.telemetry import SILENCE, Telemetry
from tavolata.v1.errors_pb2 import ErrorReason

log = structlog.get_logger(__name__)
_BEARER = "bearer "
SAVED_S = 2.0  # for so long a caller may save up calls


@dataclass(slots=True)
class Limits:
    """Of requests at a time: calls that answer once, and streams; bytes of a message; seconds for a
    call that answers once and has no deadline. Of one address, 0 for any number: streams at a time,
    and calls and streams begun in a second."""

    calls: int
    streams: int
    message_bytes: int
    call_s: float
    caller_streams: int = 0
    caller_calls_per_s: float = 0.0


def token_of(context: Any) -> str | None:
    """The caller's token, None without an authorization header, empty if that is malformed."""
    return bearer_in(context, "authorization")


def bearer_in(context: Any, header: str) -> str | None:
    """What a header bears, None without it, empty if it is malformed."""
    for key, value in context.invocation_metadata():
        if key == header:
            text = value if isinstance(value, str) else ""
            return text[len(_BEARER) :].strip() if text.lower().startswith(_BEARER) else ""
    return None


def address_of(context: Any) -> str:
    """Where the caller is: the network address without the port, in IPv6 the network of 64 bits,
    within which one caller may have any; for another transport all that is known."""
    scheme, _, place = context.peer().partition(":")
    if scheme not in ("ipv4", "ipv6"):
        return f"{scheme}:{place}"
    host = unquote(place.rpartition(":")[0]).strip("[]").partition("%")[0]
    address = ipaddress.ip_address(host)
    if address.version == 6 and address.ipv4_mapped is None:
        return str(ipaddress.ip_network((host, 64), strict=False))
    return str(getattr(address, "ipv4_mapped", None) or address)


class Calls:
    """Makes the method handlers of services."""

    def __init__(self, limits: Limits, entropy: Entropy, telemetry: Telemetry = SILENCE) -> None:
        self._limits = limits
        self._telemetry = telemetry
        self._entropy = entropy
        self._calls = 0
        self._streams = 0
        self._streams_of: Counter[str] = Counter()  # by address
        rate = limits.caller_calls_per_s
        self._rates = Buckets(SystemClock(), rate, SAVED_S * rate) if rate else None
        self.idle = asyncio.Event()  # no call is being answered
        self.idle.set()
        self.stopping = False

    def _ended(self) -> None:
        if not self._calls and not self._streams:
            self.idle.set()

    def _admit(self, context: Any) -> None:
        """Refused with SHUTTING_DOWN, or with LIMIT_EXCEEDED if the caller asks too often."""
        if self.stopping:
            raise refuse.shutting_down()
        if self._rates is not None and (wait_s := self._rates.take(address_of(context))):
            limit, allowed = "calls of one address in a second", self._limits.caller_calls_per_s
            raise refuse.limit_exceeded(limit, round(allowed), max(wait_s, 0.01))

    def forget_idle(self) -> None:
        """Forget the callers who haven't asked for a while."""
        if self._rates is not None:
            self._rates.forget_full()

    def handler_of(self, service: ServiceDescriptor, servicer: object) -> grpc.GenericRpcHandler:
        """A handler for every method of the service that the servicer has."""
        methods: dict[str, grpc.RpcMethodHandler[Any, Any]] = {
            method.name: self._method(method, getattr(servicer, method.name))
            for method in service.methods
            if hasattr(servicer, method.name)
        }
        return grpc.method_handlers_generic_handler(service.full_name, methods)

    def _method(
        self, method: MethodDescriptor, call: Callable[..., Any]
    ) -> grpc.RpcMethodHandler[Any, Any]:
        read = self._reader(GetMessageClass(method.input_type))
        write = GetMessageClass(method.output_type).SerializeToString
        streams = method.server_streaming
        answer = (self._streaming if streams else self._unary)(method.name, call)
        full_name = f"{method.containing_service.name}/{method.name}"
        answer = self._telemetry.around(full_name, answer, streams=streams)
        if not streams:
            return grpc.unary_unary_rpc_method_handler(answer, read, write)
        if method.client_streaming:
            return grpc.stream_stream_rpc_method_handler(answer, read, write)
        return grpc.unary_stream_rpc_method_handler(answer, read, write)

    def _reader(self, message: type[Message]) -> Callable[[bytes], Message | Refused]:
        """Parses a request; one that can't be taken becomes its refusal."""
        size_max = self._limits.message_bytes

        def read(data: bytes) -> Message | Refused:
            if len(data) > size_max:
                return refuse.too_large(len(data), size_max)
            try:
                return message.FromString(data)
            except DecodeError:
                return invalid_field(
                    "request", f"is no {message.DESCRIPTOR.full_name}", "a message of the API"
                )

        return read

    def _unary(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        async def answer(request: Any, context: Any) -> Any:
            try:
                if isinstance(request, Refused):
                    raise request
                logs.CALL.set((name, request))
                self._admit(context)
                if self._calls >= self._limits.calls:
                    raise refuse.limit_exceeded("calls at a time", self._limits.calls, 0.5)
                self._calls += 1
                self.idle.clear()
                try:
                    return await self._in_time(call, request, context)
                finally:
                    self._calls -= 1
                    self._ended()
            except Refused as refused:
                log.debug("call.refused", reason=refused.reason_name)
                status = to_status(refused)
            except (asyncio.CancelledError, grpc.aio.AbortError):
                raise
            except Exception as error:  # noqa: BLE001 - told as a fault, with the whole of it in the log
                status = to_status(fault_refusal(self._entropy, error))
            return await context.abort_with_status(status)

        return answer

    async def _in_time(self, call: Callable[..., Any], request: Any, context: Any) -> Any:
        """The answer, before the caller's deadline, at which gRPC cancels this, or else the
        server's; what is waited for is cancelled with it, and a search knows it beforehand."""
        left_s = context.time_remaining()
        ENDS_AT.set(time.monotonic() + (self._limits.call_s if left_s is None else left_s))
        if left_s is not None:
            return await call(request, context)
        scope = asyncio.timeout(self._limits.call_s)
        try:
            async with scope:
                return await call(request, context)
        except TimeoutError:
            if not scope.expired():
                raise
            raise refuse.out_of_time(self._limits.call_s) from None

    def _begin_stream(self, context: Any) -> str:
        """Count a stream; the address it is counted for. Refused with LIMIT_EXCEEDED."""
        limits, address = self._limits, address_of(context)
        if self._streams >= limits.streams:
            raise refuse.limit_exceeded("streams at a time", limits.streams, 5.0)
        if limits.caller_streams and self._streams_of[address] >= limits.caller_streams:
            limit = "streams of one address at a time"
            raise refuse.limit_exceeded(limit, limits.caller_streams, 5.0)
        self._streams += 1
        self._streams_of[address] += 1
        self.idle.clear()
        return address

    def _end_stream(self, address: str) -> None:
        self._streams -= 1
        self._streams_of[address] -= 1
        if not self._streams_of[address]:
            del self._streams_of[address]
        self._ended()

    def _streaming(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        async def answer(request: Any, context: Any) -> AsyncIterator[Any]:
            try:
                if isinstance(request, Refused):
                    raise request
                logs.CALL.set((name, request))
                self._admit(context)
                address = self._begin_stream(context)
                try:
                    async for response in call(request, context):
                        yield response
                    return
                finally:
                    self._end_stream(address)
            except Refused as refused:
                log.debug("call.refused", reason=refused.reason_name)
                status = to_status(refused)
            except (asyncio.CancelledError, grpc.aio.AbortError, GeneratorExit):
                raise
            except Exception as error:  # noqa: BLE001 - told as a fault, with the whole of it in the log
                status = to_status(fault_refusal(self._entropy, error))
            await context.abort_with_status(status)

        return answer


def fault_refusal(entropy: Entropy, error: Exception) -> Refused:
    """For a fault of ours: in the log in full, to the caller by the number of the incident."""
    incident = entropy.name()
    log.error("call.fault", incident=incident, exc_info=error)
    return Refused(
        ErrorReason.ERROR_REASON_INTERNAL_FAULT,
        f"a fault of the server; the incident is {incident} in its log",
        {"incident": incident},
    )
