"""Bad input: each has its own status and reason, names what is allowed, and changes nothing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration

from tavolata.ext.registry import GAMES
from tavolata.v1 import table_service_pb2 as pb
from tavolata.v1.bouillabaisse_pb2 import BouillabaisseAction, BouillabaisseOptions
from tavolata.v1.game_pb2 import Action, GameOptions
from tavolata.v1.mino_dice_pb2 import MinoDiceAction, MinoDiceOptions
from tavolata.v1.player_pb2 import AiPace, AiPlayer, SearchLimits
from tavolata.v1.table_pb2 import (
    CallerSeat,
    OpenSeat,
    SeatPlan,
    TableSettings,
    TimeControl,
)
from tests.service.house import (
    AI,
    CALLER,
    GREEDY,
    OPEN,
    House,
    Refusal,
    Sitting,
    bearer,
    fresh_id,
    refused,
)

INVALID = grpc.StatusCode.INVALID_ARGUMENT
NOT_FOUND = grpc.StatusCode.NOT_FOUND
FAILED = grpc.StatusCode.FAILED_PRECONDITION
DENIED = grpc.StatusCode.PERMISSION_DENIED
NOBODY = grpc.StatusCode.UNAUTHENTICATED
ABORTED = grpc.StatusCode.ABORTED


@dataclass(frozen=True)
class Case:
    """A call and the refusal that it must come back with."""

    name: str
    call: Callable[[House, Sitting], Awaitable[Any]]
    code: grpc.StatusCode
    reason: str
    metadata: dict[str, str]

    def __str__(self) -> str:
        return self.name


def creating(
    name: str, code: grpc.StatusCode, reason: str, metadata: dict[str, str], **fields: Any
) -> Case:
    """A CreateTable that differs from a right one in these fields."""
    seats = fields.pop("seats", [CALLER, OPEN, OPEN, OPEN])
    top: dict[str, Any] = {key: fields.pop(key) for key in ("seed", "request_id") if key in fields}
    settings = {"game_id": "bouillabaisse"} | fields

    async def call(house: House, _: Sitting) -> Any:
        request = pb.CreateTableRequest(
            **({"request_id": fresh_id()} | top), settings=TableSettings(**settings), seats=seats
        )
        return await house.stub.CreateTable(request)

    return Case(name, call, code, reason, metadata)


def limits(**fields: Any) -> AiPlayer:
    """An AI player with limits of its own."""
    return AiPlayer(player="ismcts", limits=SearchLimits(**fields))


BAD_TABLES = [
    creating("unknown game", NOT_FOUND, "UNKNOWN_GAME",
             {"game_id": "chess", "allowed": ", ".join(sorted(GAMES))}, game_id="chess"),
    creating("no game", INVALID, "INVALID_FIELD", {"field": "settings.game_id"}, game_id=""),
    creating("too many seats", INVALID, "SEAT_COUNT",
             {"seats": "13", "allowed": "2 to 12", "rule": "G-1"}, seats=[OPEN] * 13),
    creating("no seats", INVALID, "SEAT_COUNT", {"seats": "0", "allowed": "2 to 12"}, seats=[]),
    creating("options of another game", INVALID, "WRONG_GAME",
             {"game_id": "bouillabaisse", "given": "mino_dice"},
             options=GameOptions(mino_dice=MinoDiceOptions())),
    creating("option out of range", INVALID, "OPTION_OUT_OF_RANGE",
             {"option": "first_lead", "value": "99", "rule": "G-1"},
             options=GameOptions(
                 bouillabaisse=BouillabaisseOptions(first_lead=99))),  # type: ignore[arg-type]
    creating("unknown player", INVALID, "UNKNOWN_PLAYER",
             {"player": "oracle"}, fill_empty_seats=AiPlayer(player="oracle")),
    creating("unknown level", INVALID, "UNKNOWN_PLAYER",
             {"player": "ismcts", "level": "divine",
              "allowed": "beginner, easy, standard, strong, expert, master"},
             stand_in=AiPlayer(player="ismcts", level="divine")),
    creating("too many iterations", INVALID, "INVALID_FIELD",
             {"field": "settings.stand_in.limits.iterations", "allowed": "1 to 1000000"},
             stand_in=limits(iterations=10**9)),
    creating("limits that end nothing", INVALID, "INVALID_FIELD",
             {"field": "settings.stand_in.limits"}, stand_in=limits(nodes=5000)),
    creating("an empty seat plan", INVALID, "INVALID_FIELD",
             {"field": "seats[1]", "allowed": "open, caller or ai"}, seats=[OPEN, SeatPlan()]),
    creating("two seats for the caller", INVALID, "INVALID_FIELD", {"field": "seats[1]"},
             seats=[CALLER, CALLER]),
    creating("a long name", INVALID, "INVALID_FIELD",
             {"field": "seats[0].caller.display_name"},
             seats=[SeatPlan(caller=CallerSeat(display_name="x" * 65)), OPEN]),
    creating("a name with a control character", INVALID, "INVALID_FIELD",
             {"field": "seats[0].caller.display_name"},
             seats=[SeatPlan(caller=CallerSeat(display_name="a\nb")), OPEN]),
    creating("a short seed", INVALID, "INVALID_FIELD", {"field": "seed"}, seed=b"short"),
    creating("no time at all", INVALID, "INVALID_FIELD",
             {"field": "settings.time_control.per_decision", "allowed": "0.001 to 604800 s"},
             time_control=TimeControl(per_decision=Duration())),
    creating("a time whose parts have unlike signs", INVALID, "INVALID_FIELD",
             {"field": "settings.time_control.per_decision.nanos", "allowed": "0 to 999999999"},
             time_control=TimeControl(per_decision=Duration(seconds=2, nanos=-1))),
    creating("a pace whose parts have unlike signs", INVALID, "INVALID_FIELD",
             {"field": "settings.ai_pace.floor.nanos", "allowed": "0 to 999999999"},
             ai_pace=AiPace(floor=Duration(seconds=2, nanos=-1))),
    creating("a thinking time whose parts have unlike signs", INVALID, "INVALID_FIELD",
             {"field": "seats[1].ai.limits.think_time.nanos", "allowed": "0 to 999999999"},
             seats=[CALLER, SeatPlan(ai=limits(think_time=Duration(seconds=2, nanos=-1)))]),
    creating("an unknown visibility", INVALID, "INVALID_FIELD", {"field": "settings.visibility"},
             visibility=9),
    creating("no request id", INVALID, "REQUEST_ID_REQUIRED", {}, request_id=""),
    creating("a request id with a space", INVALID, "REQUEST_ID_REQUIRED", {}, request_id="a b"),
    creating("a long request id", INVALID, "REQUEST_ID_REQUIRED", {}, request_id="a" * 65),
]  # fmt: skip


# What the message of a reason without data says is wanted.
WANTED = {
    "BAD_TOKEN": "CreateTable and JoinTable give tokens",
    "MATCH_LIVE": "possible after the end only",
    "MATCH_STARTED": "possible before that only",
    "NOT_OWNER": "only the table's owner",
}


def assert_says_what_is_wrong(found: Refusal) -> None:
    """The message names the field or value that is wrong and all that is allowed in its place."""
    told = {key: value for key, value in found.metadata.items() if value and key != "table_id"}
    if found.reason in ("NOT_YOUR_TURN", "ILLEGAL_ACTION"):
        del told["current_turn"]  # it was right
    assert told or found.reason in (*WANTED, "TABLE_NOT_FOUND")
    for value in told.values():
        for word in value.split(", "):
            assert word in found.message
    assert WANTED.get(found.reason, "") in found.message
    if found.reason == "TABLE_NOT_FOUND":
        assert repr(found.metadata["table_id"]) in found.message


@pytest.mark.parametrize("case", BAD_TABLES, ids=str)
async def test_a_table_that_cant_be_made_is_refused_with_what_is_allowed(
    house: House, case: Case
) -> None:
    found = await refused(case.call(house, Sitting("", "", {})))
    assert (found.code, found.reason) == (case.code, case.reason)
    assert case.metadata.items() <= found.metadata.items()
    assert_says_what_is_wrong(found)
    if case.reason == "INVALID_FIELD":
        assert found.fields == (case.metadata["field"],)
    assert house.rows("SELECT count(*) FROM tables") == [(0,)]


@pytest.mark.parametrize("sign", ["x", "é", "\N{GRINNING FACE}"])
@pytest.mark.parametrize("count", [3_000, 16_000])
async def test_a_refusal_of_something_long_arrives_with_its_reason(
    house: House, sign: str, count: int
) -> None:
    long = sign * count
    found = await refused(house.stub.GetTable(pb.GetTableRequest(table_id=long)))
    assert (found.code, found.reason) == (NOT_FOUND, "TABLE_NOT_FOUND")
    assert found.message.startswith("there is no table")
    assert found.message.endswith("or no longer")
    found = await refused(house.create(game=long))
    assert (found.code, found.reason) == (NOT_FOUND, "UNKNOWN_GAME")
    assert found.metadata["allowed"] == ", ".join(sorted(GAMES))
    assert found.metadata["game_id"] != long
    found = await refused(house.create([CALLER, SeatPlan(ai=AiPlayer(player=long))]))
    assert (found.code, found.reason) == (INVALID, "UNKNOWN_PLAYER")
    assert "ismcts" in found.metadata["allowed"]


# -- at a table -----------------------------------------------------------------------------------

Call = Callable[..., Awaitable[Any]]
A_CARD = Action(bouillabaisse=BouillabaisseAction())


async def _play(house: House, sitting: Sitting, seat: int | None, **fields: Any) -> Any:
    """A PlayAction for a seat, right but for these fields."""
    token = fields.pop("token", None if seat is None else sitting.tokens[seat])
    view = await house.view(sitting.table_id)
    mover = view.seats_to_act[0]
    own = await house.view(sitting.table_id, sitting.tokens[mover])
    right: dict[str, Any] = {
        "request_id": fresh_id(),
        "table_id": sitting.table_id,
        "turn": view.turn,
        "action": own.legal_actions[0],
    }
    request = pb.PlayActionRequest(**(right | fields))
    return await house.stub.PlayAction(request, metadata=bearer(token))


async def _illegal(house: House, sitting: Sitting) -> Any:
    """A card that the seat to act does not hold: one of the other seat's."""
    mover = (await house.view(sitting.table_id)).seats_to_act[0]
    own = await house.view(sitting.table_id, sitting.tokens[mover])
    from tavolata.service.codecs import codec_of

    codec = codec_of("bouillabaisse")
    held = {codec.action_from(action) for action in own.legal_actions}
    # Card numbers are suit times 16 plus rank.
    other = next(16 * s + r for s in range(4) for r in range(13) if 16 * s + r not in held)
    return await _play(house, sitting, mover, action=codec.action_to(other))


def playing(name: str, code: grpc.StatusCode, reason: str, metadata: dict[str, str],
            **fields: Any) -> Case:  # fmt: skip
    """A PlayAction of the seat to act that differs from a right one in these fields."""

    async def call(house: House, sitting: Sitting) -> Any:
        mover = (await house.view(sitting.table_id)).seats_to_act[0]
        return await _play(house, sitting, mover, **fields)

    return Case(name, call, code, reason, metadata)


async def _not_my_turn(house: House, sitting: Sitting) -> Any:
    mover = (await house.view(sitting.table_id)).seats_to_act[0]
    return await _play(house, sitting, 1 - mover)


BAD_CALLS = [
    playing("a stale turn", ABORTED, "STALE_TURN", {"turn": "0", "current_turn": "2"}, turn=0),
    playing("a turn to come", ABORTED, "STALE_TURN", {"turn": "3", "current_turn": "2"}, turn=3),
    playing("no token", NOBODY, "MISSING_TOKEN", {"allowed": "authorization: Bearer TOKEN"},
            token=None),
    playing("a wrong token", NOBODY, "BAD_TOKEN", {}, token="A" * 43),
    playing("an empty token", NOBODY, "BAD_TOKEN", {}, token=""),
    playing("an action of another game", INVALID, "WRONG_GAME",
            {"game_id": "bouillabaisse", "given": "mino_dice"},
            action=Action(mino_dice=MinoDiceAction())),
    playing("no action", INVALID, "INVALID_FIELD", {"field": "action"}, action=Action()),
    playing("an action without content", INVALID, "INVALID_FIELD", {}, action=A_CARD),
    playing("an unknown table", NOT_FOUND, "TABLE_NOT_FOUND", {"table_id": "nowhere"},
            table_id="nowhere"),
    playing("no request id for an action", INVALID, "REQUEST_ID_REQUIRED",
            {"allowed": "1 to 64 visible ASCII characters"}, request_id=""),
    Case("somebody else's turn", _not_my_turn, FAILED, "NOT_YOUR_TURN", {"current_turn": "2"}),
    Case("an illegal action", _illegal, INVALID, "ILLEGAL_ACTION", {"current_turn": "2"}),
    Case("joining a match in progress", lambda h, s: h.join(s.table_id), FAILED, "MATCH_STARTED",
         {}),
    Case("joining with a wrong token", lambda h, s: h.join(s.table_id, token="x"), NOBODY,  # noqa: S106
         "BAD_TOKEN", {}),
    Case("starting twice", lambda h, s: h.start(s.table_id, s.owner), FAILED, "MATCH_STARTED", {}),
    Case("starting without token", lambda h, s: h.start(s.table_id, None), NOBODY,
         "MISSING_TOKEN", {}),
    Case("starting somebody else's table", lambda h, s: h.start(s.table_id, s.tokens[1]), DENIED,
         "NOT_OWNER", {}),
    Case("aborting somebody else's table", lambda h, s: h.abort(s.table_id, s.tokens[1]), DENIED,
         "NOT_OWNER", {}),
    Case("leaving without token", lambda h, s: h.leave(s.table_id, None), NOBODY,
         "MISSING_TOKEN", {}),
    Case("resigning without token", lambda h, s: h.resign(s.table_id, None), NOBODY,
         "MISSING_TOKEN", {}),
    Case("a replay of a live match",
         lambda h, s: h.stub.GetReplay(pb.GetReplayRequest(table_id=s.table_id)), FAILED,
         "MATCH_LIVE", {}),
    Case("setting a seat in the match",
         lambda h, s: h.stub.SetSeat(
             pb.SetSeatRequest(request_id=fresh_id(), table_id=s.table_id, seat=1, ai=GREEDY),
             metadata=bearer(s.owner)), FAILED, "MATCH_STARTED", {}),
    Case("explaining for a spectator",
         lambda h, s: h.stub.GetView(pb.GetViewRequest(table_id=s.table_id, explain=[A_CARD])),
         NOBODY, "MISSING_TOKEN", {}),
    Case("a table that doesn't exist", lambda h, s: h.table("nowhere"), NOT_FOUND,
         "TABLE_NOT_FOUND", {"table_id": "nowhere"}),
]  # fmt: skip


async def _everything(house: House, sitting: Sitting) -> list[Any]:
    """All that there is to know of a table, from outside and in the file."""
    seen: list[Any] = [(await house.table(sitting.table_id)).SerializeToString(deterministic=True)]
    for token in (None, *sitting.tokens.values()):
        view = await house.view(sitting.table_id, token)
        view.ClearField("server_time")
        seen.append(view.SerializeToString(deterministic=True))
    seen.append(house.rows("SELECT * FROM entries ORDER BY table_id, number"))
    seen.append(house.rows("SELECT * FROM tables ORDER BY table_id"))
    return seen


@pytest.mark.parametrize("case", BAD_CALLS, ids=str)
async def test_a_bad_call_is_refused_with_what_is_allowed_and_changes_nothing(
    house: House, case: Case
) -> None:
    sitting = await house.sitting(2)
    await house.play_on(sitting, 2)
    before = await _everything(house, sitting)
    found = await refused(case.call(house, sitting))
    assert (found.code, found.reason) == (case.code, case.reason)
    assert case.metadata.items() <= found.metadata.items()
    assert_says_what_is_wrong(found)
    assert await _everything(house, sitting) == before
    await house.play_on(sitting, 1)


async def test_an_illegal_action_names_the_rule_and_so_does_an_explanation(house: House) -> None:
    sitting = await house.sitting(2)
    await house.play_on(sitting, 1)
    found = await refused(_illegal(house, sitting))
    assert found.metadata["rule"] in ("BO-4", "G-2")
    assert found.metadata["rule"] in found.message


async def test_explanations_say_what_is_legal_and_which_rule_forbids_the_rest(
    house: House,
) -> None:
    from tavolata.service.codecs import codec_of

    sitting = await house.sitting(2)
    mover = (await house.view(sitting.table_id)).seats_to_act[0]
    token = sitting.tokens[mover]
    legal = (await house.view(sitting.table_id, token)).legal_actions
    codec = codec_of("bouillabaisse")
    cards = [codec.action_to(16 * suit + rank) for suit in range(4) for rank in range(13)]
    request = pb.GetViewRequest(table_id=sitting.table_id, explain=cards)
    answer = await house.stub.GetView(request, metadata=bearer(token))
    assert [each.action for each in answer.explanations] == cards
    assert [each.legal for each in answer.explanations] == [card in legal for card in cards]
    assert all(bool(each.rule_id) != each.legal for each in answer.explanations)


BEFORE_THE_MATCH = [
    Case("a view before the match", lambda h, s: h.view(s.table_id), FAILED, "MATCH_NOT_STARTED",
         {}),
    Case("resigning before the match", lambda h, s: h.resign(s.table_id, s.owner), FAILED,
         "MATCH_NOT_STARTED", {}),
    Case("a replay before the match",
         lambda h, s: h.stub.GetReplay(pb.GetReplayRequest(table_id=s.table_id)), FAILED,
         "MATCH_NOT_STARTED", {}),
    Case("starting with open seats", lambda h, s: h.start(s.table_id, s.owner), FAILED,
         "OPEN_SEATS", {"seats": "2"}),
    Case("a seat that is taken", lambda h, s: h.join(s.table_id, seat=1), FAILED, "SEAT_TAKEN",
         {"seat": "1", "allowed": "2"}),
    Case("a seat that doesn't exist", lambda h, s: h.join(s.table_id, seat=7), INVALID,
         "NO_SUCH_SEAT", {"seat": "7", "allowed": "0 to 2"}),
    Case("a long nonce", lambda h, s: h.join(s.table_id, nonce=b"x" * 65), INVALID,
         "INVALID_FIELD", {"field": "nonce"}),
    Case("another seat than the token's",
         lambda h, s: h.join(s.table_id, seat=2, token=s.tokens[1]), INVALID, "INVALID_FIELD",
         {"field": "seat"}),
    Case("setting the owner's own seat",
         lambda h, s: h.stub.SetSeat(
             pb.SetSeatRequest(request_id=fresh_id(), table_id=s.table_id, seat=0, ai=GREEDY),
             metadata=bearer(s.owner)), FAILED, "SEAT_TAKEN", {"seat": "0"}),
    Case("setting a seat to nothing",
         lambda h, s: h.stub.SetSeat(
             pb.SetSeatRequest(request_id=fresh_id(), table_id=s.table_id, seat=2),
             metadata=bearer(s.owner)), INVALID, "INVALID_FIELD", {"field": "occupant"}),
    Case("setting a seat that doesn't exist",
         lambda h, s: h.stub.SetSeat(
             pb.SetSeatRequest(
                 request_id=fresh_id(), table_id=s.table_id, seat=9, open=OpenSeat()),
             metadata=bearer(s.owner)), INVALID, "NO_SUCH_SEAT", {"seat": "9"}),
]  # fmt: skip


@pytest.mark.parametrize("case", BEFORE_THE_MATCH, ids=str)
async def test_a_bad_call_before_the_match_is_refused_and_changes_nothing(
    house: House, case: Case
) -> None:
    made = await house.create([CALLER, OPEN, OPEN])
    joined = await house.join(made.table.table_id, seat=1)
    sitting = Sitting(made.table.table_id, made.token, {0: made.token, 1: joined.token})
    for token in sitting.tokens.values():
        await refused(house.view(sitting.table_id, token))
    before = await house.table(sitting.table_id), house.rows("SELECT * FROM entries")
    found = await refused(case.call(house, sitting))
    assert (found.code, found.reason) == (case.code, case.reason)
    assert case.metadata.items() <= found.metadata.items()
    assert (await house.table(sitting.table_id), house.rows("SELECT * FROM entries")) == before


async def test_a_full_table_says_so(house: House) -> None:
    made = await house.create([CALLER, AI])
    found = await refused(house.join(made.table.table_id))
    assert (found.code, found.reason) == (FAILED, "TABLE_FULL")
    assert found.metadata == {"seats": "2"}


async def test_an_owner_without_a_seat_can_neither_play_nor_leave(house: House) -> None:
    slow = AiPlayer(player="ismcts")
    slow.limits.think_time.FromSeconds(20)
    made = await house.create([SeatPlan(ai=slow)] * 2)
    table_id = made.table.table_id
    await house.start(table_id, made.token)
    for call in (house.leave, house.resign):
        found = await refused(call(table_id, made.token))
        assert (found.code, found.reason) == (DENIED, "NOT_SEATED")
    request = pb.PlayActionRequest(request_id=fresh_id(), table_id=table_id, action=A_CARD)
    found = await refused(house.stub.PlayAction(request, metadata=bearer(made.token)))
    assert (found.code, found.reason) == (DENIED, "NOT_SEATED")
    await house.abort(table_id, made.token)


@pytest.mark.parametrize("ended", ["finished", "aborted"])
async def test_at_a_table_that_is_over_nothing_is_possible_any_more(
    house: House, ended: str
) -> None:
    sitting = await house.sitting(2)
    view = await house.view(sitting.table_id, sitting.tokens[0])
    if ended == "finished":
        await house.play_on(sitting)
    else:
        await house.abort(sitting.table_id, sitting.owner)
    other = pb.PlayActionRequest(
        request_id=fresh_id(), table_id=sitting.table_id, turn=view.turn, action=A_CARD
    )
    calls = [
        house.stub.PlayAction(other, metadata=bearer(sitting.tokens[0])),
        house.join(sitting.table_id),
        house.join(sitting.table_id, token=sitting.tokens[1]),
        house.leave(sitting.table_id, sitting.tokens[1]),
        house.resign(sitting.table_id, sitting.tokens[1]),
        house.start(sitting.table_id, sitting.owner),
        house.abort(sitting.table_id, sitting.owner),
    ]
    for call in calls:
        found = await refused(call)
        assert (found.code, found.reason) == (FAILED, f"MATCH_{ended.upper()}")


async def test_a_message_over_the_limit_is_refused_with_the_limit(house: House) -> None:
    request = pb.CreateTableRequest(request_id=fresh_id(), seed=b"x" * 70_000)
    found = await refused(house.stub.CreateTable(request))
    assert found.code == grpc.StatusCode.RESOURCE_EXHAUSTED
    assert found.reason == "MESSAGE_TOO_LARGE"
    assert found.metadata == {"bytes": str(request.ByteSize()), "allowed": "65536"}
    assert not found.retry


async def test_bytes_that_are_no_message_are_refused_and_are_no_fault(house: House) -> None:
    for method in ("CreateTable", "PlayAction", "GetView", "JoinTable"):
        call: Any = house.channel.unary_unary(f"/tavolata.v1.TableService/{method}")
        found = await refused(call(b"\xff\xff\xff\xff"))
        assert (found.code, found.reason) == (INVALID, "INVALID_FIELD")
    watch: Any = house.channel.unary_stream("/tavolata.v1.TableService/WatchTable")
    with pytest.raises(grpc.aio.AioRpcError) as error:
        async for _ in watch(b"\xff\xff\xff\xff"):
            pass
    assert error.value.code() == INVALID


async def test_a_nonce_is_refused_where_the_seed_was_given(house: House) -> None:
    made = await house.create(seed=bytes(32))
    assert made.table.fairness.reproducible
    found = await refused(house.join(made.table.table_id, nonce=b"abc"))
    assert (found.code, found.reason) == (INVALID, "INVALID_FIELD")
    assert found.fields == ("nonce",)
