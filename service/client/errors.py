"""What can go wrong in a call, as exceptions; and which failures are worth another try."""

from __future__ import annotations

from collections.abc import Mapping

import grpc
from google.rpc import error_details_pb2, status_pb2

from tavolata.v1 import errors_pb2

_DETAILS = "grpc-status-details-bin"

# Without an ErrorInfo these come from the transport (a reset stream, a connection that went away in
# the middle), so they say nothing about what became of the call.
_TRANSPORT = (grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN, grpc.StatusCode.CANCELLED)
_PASSING = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)
_CODES = {code.value[0]: code for code in grpc.StatusCode}


class ServiceError(Exception):
    """Whatever a call of this client can fail with."""


class Unreachable(ServiceError):
    """No answer within the deadline.

    What a call was to change may or may not have been changed. The same call with the same
    ``request_id`` tells which.
    """


class Refused(ServiceError):
    """The service refused the call; nothing has changed.

    code: the gRPC status; reason: the name of an ErrorReason without its prefix, such as
    ``STALE_TURN``, empty where the transport refused; message: for people; metadata: the keys that
    the reason's comment in ``errors.proto`` names; field_violations: field to what is wrong;
    retry_delay_s: seconds after which another try makes sense, None if none does.
    """

    def __init__(
        self,
        code: grpc.StatusCode,
        reason: str,
        message: str,
        metadata: Mapping[str, str] | None = None,
        field_violations: Mapping[str, str] | None = None,
        retry_delay_s: float | None = None,
    ) -> None:
        super().__init__(f"{reason or code.name}: {message}")
        self.code = code
        self.reason = reason
        self.message = message
        self.metadata = dict(metadata or {})
        self.field_violations = dict(field_violations or {})
        self.retry_delay_s = retry_delay_s

    @property
    def passing(self) -> bool:
        """Whether the same call can succeed later: outcome unknown, or a limit reached."""
        if self.code in _PASSING:
            return True
        if self.code == grpc.StatusCode.RESOURCE_EXHAUSTED:
            return self.retry_delay_s is not None
        return not self.reason and self.code in _TRANSPORT


def refused_call(error: grpc.aio.AioRpcError) -> Refused:
    """The refusal in the status of a failed call."""
    status = status_pb2.Status()
    for key, value in error.trailing_metadata() or ():
        if key == _DETAILS and isinstance(value, bytes):
            status.ParseFromString(value)
    info = error_details_pb2.ErrorInfo()
    bad = error_details_pb2.BadRequest()
    retry = error_details_pb2.RetryInfo()
    delay = None
    for detail in status.details:
        detail.Unpack(info)
        detail.Unpack(bad)
        if detail.Unpack(retry):
            delay = retry.retry_delay.ToTimedelta().total_seconds()
    return Refused(
        error.code(),
        info.reason,
        error.details() or "no details",
        info.metadata,
        {each.field: each.description for each in bad.field_violations},
        delay,
    )


def refused_in_stream(refusal: errors_pb2.Refusal) -> Refused:
    """The refusal that came as a message of a stream."""
    name = errors_pb2.ErrorReason.Name(refusal.reason)
    delay = (
        refusal.retry_delay.ToTimedelta().total_seconds()
        if refusal.HasField("retry_delay")
        else None
    )
    return Refused(
        _CODES.get(refusal.code, grpc.StatusCode.UNKNOWN),
        name.removeprefix("ERROR_REASON_"),
        refusal.message,
        refusal.metadata,
        retry_delay_s=delay,
    )
