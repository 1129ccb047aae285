"""Refusals: what the service answers to a request that it does not carry out.

A refusal has a reason (the API's ErrorReason), words that say what was wrong and what is allowed,
and metadata for programs. Here it gets its status code, and its form on the wire: the status of a
failed call, or a `Refusal` inside a stream. Anything else that is raised is a fault, not a refusal.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import grpc
from google.protobuf import duration_pb2
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status

from tavolata.ext.core import errors
from tavolata.ext.registry import GAMES, UnknownGame
from tavolata.v1 import errors_pb2
from tavolata.v1.errors_pb2 import ErrorReason

if TYPE_CHECKING:
    from tavolata.ai.players import UnknownPlayer
    from tavolata.ext.core.match import Match

DOMAIN = "tavolata.v1"
# A refusal travels in a call's trailers, of which many clients take 8 KiB at most. It may tell what
# the caller sent, of any length, three times over and every byte written as three.
MESSAGE_BYTES_MAX = 600
VALUE_BYTES_MAX = 300
_PREFIX = "ERROR_REASON_"

STATUS_CODES: Mapping[ErrorReason.ValueType, grpc.StatusCode] = {
    ErrorReason.Value(value.name): grpc.StatusCode[
        value.GetOptions().Extensions[errors_pb2.status_code]
    ]
    for value in ErrorReason.DESCRIPTOR.values
    if value.number
}


@dataclass(frozen=True, slots=True)
class FieldViolation:
    """A field of the request, as a path like `settings.game_id`, and what is wrong with it."""

    field: str
    description: str


class Refused(Exception):
    """A request that is refused and has changed nothing."""

    def __init__(
        self,
        reason: ErrorReason.ValueType,
        message: str,
        metadata: Mapping[str, object] | None = None,
        field_violations: Iterable[FieldViolation] = (),
        retry_delay: float | None = None,
    ) -> None:
        """metadata: the keys that the reason's comment in errors.proto names, values of any type
        that `str` shows well; sequences are joined by commas. retry_delay: in seconds. Texts that
        are too long lose their middle: what is allowed stands at their end."""
        super().__init__(message)
        self.reason = reason
        self.message = _cut(message, MESSAGE_BYTES_MAX)
        self.metadata = {
            key: _cut(_shown(value), VALUE_BYTES_MAX) for key, value in (metadata or {}).items()
        }
        self.field_violations = tuple(
            FieldViolation(each.field, _cut(each.description, MESSAGE_BYTES_MAX))
            for each in field_violations
        )
        self.retry_delay = retry_delay

    @property
    def code(self) -> grpc.StatusCode:
        """The status code that always goes with the reason."""
        return STATUS_CODES[self.reason]

    @property
    def reason_name(self) -> str:
        """The reason as ErrorInfo has it, such as `STALE_TURN`."""
        return ErrorReason.Name(self.reason).removeprefix(_PREFIX)


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()  # as option values are written
    if isinstance(value, tuple | list):
        return ", ".join(map(_shown, value))
    return str(value)


def _cut(text: str, bytes_max: int) -> str:
    """The text, or its beginning and its end."""
    raw = text.encode(errors="replace")
    if len(raw) <= bytes_max:
        return text
    end = bytes_max // 2
    kept = (raw[: bytes_max - end - 5], raw[-end:])
    return " ... ".join(part.decode(errors="ignore") for part in kept)


def invalid_field(field: str, problem: str, allowed: str) -> Refused:
    """INVALID_FIELD for one field: `problem` completes the sentence "<field> ..."."""
    return invalid_fields([(FieldViolation(field, f"{field} {problem}"), allowed)])


def invalid_fields(found: list[tuple[FieldViolation, str]]) -> Refused:
    """INVALID_FIELD for all fields found wrong, each with what is allowed; at least one."""
    first, allowed = found[0]
    return Refused(
        ErrorReason.ERROR_REASON_INVALID_FIELD,
        "; ".join(f"{violation.description}; allowed: {what}" for violation, what in found),
        {"field": first.field, "allowed": allowed},
        [violation for violation, _ in found],
    )


# -- what the rules refuse ------------------------------------------------------------------------


def of_setting(error: errors.SettingError) -> Refused:
    """A table that can't be made: seats, an option, or a combination of options (G-1)."""
    metadata: dict[str, object] = {"allowed": error.allowed, "rule": error.rule}
    match error:
        case errors.SeatCountError():
            metadata["seats"] = error.given
        case errors.UnknownOption():
            metadata["option"] = error.name
        case _:
            metadata |= {"option": error.name, "value": error.given}
    return Refused(_reason(error), str(error), metadata)


def of_play(error: errors.RulesError, match: Match, *, seat: int, table_id: str) -> Refused:
    """An action that `match`, unchanged since, refused for `seat` of the table (G-2)."""
    metadata: dict[str, object]
    match error:
        case errors.StaleTurn():
            metadata = {"turn": error.turn, "current_turn": error.current}
        case errors.IllegalAction():
            metadata = {"rule": error.rule, "current_turn": match.turn}
        case errors.NotToAct():
            metadata = {"seat": seat, "seats_to_act": match.to_act, "current_turn": match.turn}
        case errors.AlreadyCommitted():
            metadata = {"rule": error.rule, "current_turn": match.turn}
        case errors.MatchOver():
            metadata = {"table_id": table_id}
        case _:
            raise TypeError(f"{type(error).__name__} is no refusal of an action") from error
    return Refused(_reason(error), str(error), metadata)


def _reason(error: errors.RulesError) -> ErrorReason.ValueType:
    return ErrorReason.Value(_PREFIX + error.reason)


def of_unknown_game(error: UnknownGame) -> Refused:
    """A game id that no game has."""
    return Refused(
        ErrorReason.ERROR_REASON_UNKNOWN_GAME,
        str(error),
        {"game_id": error.game_id, "allowed": sorted(GAMES)},
    )


def of_unknown_player(error: UnknownPlayer, *, level: str = "") -> Refused:
    """A player name that no player has; `level` is what was asked for beside it."""
    from tavolata.ai.players import player_specs  # the search is loaded where it is used

    return Refused(
        ErrorReason.ERROR_REASON_UNKNOWN_PLAYER,
        str(error),
        {"player": error.name, "level": level, "allowed": sorted(player_specs())},
    )


# -- on the wire ----------------------------------------------------------------------------------


def to_rpc_status(refused: Refused) -> status_pb2.Status:
    """The refusal as google.rpc.Status: an ErrorInfo, then BadRequest, RetryInfo if any."""
    made = status_pb2.Status(code=_number(refused.code), message=refused.message)
    made.details.add().Pack(
        error_details_pb2.ErrorInfo(
            reason=refused.reason_name, domain=DOMAIN, metadata=refused.metadata
        )
    )
    if refused.field_violations:
        request = error_details_pb2.BadRequest()
        for violation in refused.field_violations:
            request.field_violations.add(field=violation.field, description=violation.description)
        made.details.add().Pack(request)
    if refused.retry_delay is not None:
        delay = _duration(refused.retry_delay)
        made.details.add().Pack(error_details_pb2.RetryInfo(retry_delay=delay))
    return made


def to_status(refused: Refused) -> grpc.Status:
    """The refusal as the status that ends a call, for `context.abort_with_status`."""
    return rpc_status.to_status(to_rpc_status(refused))


def to_refusal(refused: Refused) -> errors_pb2.Refusal:
    """The refusal as a message in a stream that goes on."""
    made = errors_pb2.Refusal(
        code=_number(refused.code),
        reason=refused.reason,
        message=refused.message,
        metadata=refused.metadata,
    )
    if refused.retry_delay is not None:
        made.retry_delay.CopyFrom(_duration(refused.retry_delay))
    return made


def _number(code: grpc.StatusCode) -> int:
    number: int = code.value[0]
    return number


def _duration(seconds: float) -> duration_pb2.Duration:
    made = duration_pb2.Duration()
    made.FromNanoseconds(round(seconds * 1e9))
    return made
