"""Refusals carry what errors.proto promises for their reason, as a status and inside a stream."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import cast

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration
from google.rpc import error_details_pb2
from grpc_status import rpc_status

from tavolata.ai.players import UnknownPlayer
from tavolata.ext.core import errors
from tavolata.ext.core.match import Match
from tavolata.ext.registry import GAMES, UnknownGame
from tavolata.service.refusals import (
    DOMAIN,
    STATUS_CODES,
    FieldViolation,
    Refused,
    invalid_field,
    invalid_fields,
    of_play,
    of_setting,
    of_unknown_game,
    of_unknown_player,
    to_refusal,
    to_rpc_status,
    to_status,
)
from tavolata.v1 import errors_pb2
from tavolata.v1.errors_pb2 import ErrorReason

PROTO = Path(errors_pb2.__file__).with_name("errors.proto").read_text(encoding="utf-8")


def promised() -> dict[str, tuple[str, set[str]]]:
    """By reason: the status code and the metadata keys that its comment in errors.proto names."""
    found = {}
    for comment, name in re.findall(r"((?:  //.*\n)+)  ERROR_REASON_(\w+) = [1-9]", PROTO):
        words = " ".join(line.strip().removeprefix("//").strip() for line in comment.splitlines())
        code = words.split(".")[0]
        _, _, metadata = words.partition("Metadata:")
        listed = re.sub(r"\([^)]*\)", "", metadata.split(";")[0])
        found[name] = (code, set(re.findall(r"`(\w+)`", listed)))
    return found


PROMISED = promised()


def test_every_reason_has_the_status_code_that_its_comment_says() -> None:
    codes = {ErrorReason.Name(reason): code.name for reason, code in STATUS_CODES.items()}
    assert codes == {f"ERROR_REASON_{name}": code for name, (code, _) in PROMISED.items()}
    assert len(codes) == len(ErrorReason.values()) - 1


def test_every_refusal_of_the_rules_is_a_reason_of_the_api() -> None:
    def subclasses(parent: type[errors.RulesError]) -> list[type[errors.RulesError]]:
        return [
            child for direct in parent.__subclasses__() for child in (direct, *subclasses(direct))
        ]

    kinds = subclasses(errors.RulesError)
    assert {kind.reason for kind in kinds} <= set(PROMISED)
    assert len({kind.reason for kind in kinds}) == len(kinds)


# -- the rules refuse ---------------------------------------------------------------------------


def refused_setting(seats: int, **options: bool | int | str) -> errors.SettingError:
    with pytest.raises(errors.SettingError) as caught:
        GAMES["bouillabaisse"].complete(seats, options)
    return caught.value


@pytest.mark.parametrize(
    "error, reason, metadata",
    [
        (
            refused_setting(13),
            "SEAT_COUNT",
            {"seats": "13", "allowed": "2 to 12", "rule": "G-1"},
        ),
        (
            refused_setting(4, twin_rule="middle"),
            "OPTION_OUT_OF_RANGE",
            {"option": "twin_rule", "value": "middle", "allowed": "first, last", "rule": "G-1"},
        ),
        (
            refused_setting(4, all_or_nothing=1),
            "OPTION_OUT_OF_RANGE",
            {"option": "all_or_nothing", "value": "1", "allowed": "true, false", "rule": "G-1"},
        ),
        (
            errors.CombinationError("thief", True, "false, as thief and colours clash"),
            "OPTION_COMBINATION",
            {
                "option": "thief",
                "value": "true",
                "allowed": "false, as thief and colours clash",
                "rule": "G-1",
            },
        ),
        (
            refused_setting(4, jokers=2),
            "UNKNOWN_OPTION",
            {
                "option": "jokers",
                "allowed": "first_lead, twin_rule, all_or_nothing, all_or_nothing_last",
                "rule": "G-1",
            },
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_a_table_that_cannot_be_made_is_refused_with_what_is_allowed(
    error: errors.SettingError, reason: str, metadata: dict[str, str]
) -> None:
    refused = of_setting(error)
    assert (refused.reason_name, refused.metadata) == (reason, metadata)
    assert set(refused.metadata) == PROMISED[reason][1]
    assert metadata["allowed"] in refused.message


def bidding() -> Match:
    """Mino Dice before any of three bids: a simultaneous decision."""
    return Match(GAMES["mino_dice"].make(3), bytes(32))


def play_twice(match: Match) -> None:
    match.play(0, 0)
    match.play(0, 0)


def play_to_the_end(match: Match) -> None:
    while True:
        seat = match.to_act[0] if match.to_act else 0
        match.play(seat, match.legal(seat)[0] if match.to_act else 0)


def bid_and_roll_out_of_turn(match: Match) -> None:
    for seat in range(3):
        match.play(seat, 0)
    match.play((match.to_act[0] + 1) % 3, 16)


@pytest.mark.parametrize(
    "play, reason",
    [
        (lambda match: match.play(0, 0, 5), "STALE_TURN"),
        (lambda match: match.play(0, 2), "ILLEGAL_ACTION"),
        (bid_and_roll_out_of_turn, "NOT_YOUR_TURN"),
        (play_twice, "ALREADY_COMMITTED"),
        (play_to_the_end, "MATCH_FINISHED"),
    ],
    ids=["stale", "illegal", "not to act", "committed", "over"],
)
def test_an_action_that_the_rules_refuse_carries_what_its_reason_promises(
    play: Callable[[Match], None], reason: str
) -> None:
    match = bidding()
    with pytest.raises(errors.RulesError) as caught:
        play(match)
    refused = of_play(caught.value, match, seat=0, table_id="T1")
    assert refused.reason_name == reason
    assert set(refused.metadata) == PROMISED[reason][1]
    known = {
        "table_id": "T1",
        "current_turn": str(match.turn),
        "seats_to_act": ", ".join(map(str, match.to_act)),
        "seat": "0",
        "turn": "5",
    }
    assert all(refused.metadata[key] == known[key] for key in refused.metadata if key in known)
    if reason == "ILLEGAL_ACTION":
        assert re.fullmatch(r"(MD|G)-\d+", refused.metadata["rule"])


def test_an_unknown_game_is_refused_with_the_ids_there_are() -> None:
    refused = of_unknown_game(UnknownGame("chess"))
    assert refused.reason_name == "UNKNOWN_GAME"
    assert refused.metadata == {"game_id": "chess", "allowed": ", ".join(sorted(GAMES))}


def test_an_unknown_player_is_refused_with_the_players_there_are() -> None:
    refused = of_unknown_player(UnknownPlayer("deep"), level="strong")
    assert refused.reason_name == "UNKNOWN_PLAYER"
    assert set(refused.metadata) == PROMISED["UNKNOWN_PLAYER"][1]
    assert {"greedy", "ismcts", "random"} <= set(refused.metadata["allowed"].split(", "))


# -- on the wire --------------------------------------------------------------------------------


def test_a_status_has_exactly_one_error_info() -> None:
    refused = of_unknown_game(UnknownGame("chess"))
    status = to_rpc_status(refused)
    assert (status.code, status.message) == (5, refused.message)  # 5 is NOT_FOUND
    (detail,) = status.details
    info = error_details_pb2.ErrorInfo()
    assert detail.Unpack(info)
    assert (info.domain, info.reason) == (DOMAIN, "UNKNOWN_GAME")
    assert dict(info.metadata) == refused.metadata


def test_invalid_fields_are_all_listed_in_a_bad_request() -> None:
    refused = invalid_fields(
        [
            (FieldViolation("nonce", "nonce has 65 bytes"), "0 to 64 bytes"),
            (FieldViolation("seat", "seat is 9"), "0 to 3"),
        ]
    )
    assert refused.metadata == {"field": "nonce", "allowed": "0 to 64 bytes"}
    assert "0 to 3" in refused.message
    info, request = to_rpc_status(refused).details
    assert info.TypeName() == "google.rpc.ErrorInfo"
    listed = error_details_pb2.BadRequest()
    assert request.Unpack(listed)
    assert [(each.field, each.description) for each in listed.field_violations] == [
        ("nonce", "nonce has 65 bytes"),
        ("seat", "seat is 9"),
    ]


def test_a_refusal_that_will_pass_says_when_to_try_again() -> None:
    refused = Refused(
        ErrorReason.ERROR_REASON_LIMIT_EXCEEDED,
        "64 tables are open",
        {"limit": "tables_open", "allowed": 64},
        retry_delay=1.25,
    )
    retry = error_details_pb2.RetryInfo()
    assert to_rpc_status(refused).details[1].Unpack(retry)
    delay = Duration(seconds=1, nanos=250_000_000)
    assert retry.retry_delay == delay
    assert to_refusal(refused).retry_delay == delay
    assert not to_refusal(invalid_field("turn", "is 9", "0 to 3")).HasField("retry_delay")


def test_a_refusal_in_a_stream_says_what_the_status_says() -> None:
    refused = invalid_field("action", "is empty", "action.mino_dice")
    message, status = to_refusal(refused), to_rpc_status(refused)
    info = error_details_pb2.ErrorInfo()
    assert status.details[0].Unpack(info)
    assert (message.code, message.message) == (status.code, status.message)
    assert ErrorReason.Name(message.reason) == f"ERROR_REASON_{info.reason}"
    assert dict(message.metadata) == dict(info.metadata)


async def test_the_details_of_a_refusal_reach_a_client() -> None:
    refused = of_setting(refused_setting(4, twin_rule="middle"))

    async def refuse(request: bytes, context: grpc.aio.ServicerContext[bytes, bytes]) -> bytes:
        await context.abort_with_status(to_status(refused))

    handler = grpc.method_handlers_generic_handler(
        "test.Refusing", {"Refuse": grpc.unary_unary_rpc_method_handler(refuse)}
    )
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((handler,))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            call: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes]
            call = channel.unary_unary("/test.Refusing/Refuse")
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await call(b"")
    finally:
        await server.stop(None)
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert caught.value.details() == refused.message
    # It reads trailing metadata only, which the error of an asynchronous call has too.
    assert rpc_status.from_call(cast("grpc.Call", caught.value)) == to_rpc_status(refused)
