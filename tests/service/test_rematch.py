"""Rematches: the same seats for the people who had them, and for nobody else."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from tavolata.v1 import table_service_pb2 as pb
from tavolata.v1.table_pb2 import CallerSeat, OpenSeat, SeatPlan, TableState
from tests.service.house import (
    AI,
    GREEDY,
    OPEN,
    House,
    Refusal,
    Sitting,
    bearer,
    fresh_id,
    house_in,
    refused,
)
from tests.service.postgres import Databases

ABORTED = TableState.TABLE_STATE_ABORTED


async def rematch(
    house: House,
    table_id: str,
    token: str | None,
    *,
    request_id: str | None = None,
    **fields: Any,
) -> pb.RematchResponse:
    """The caller's seat at the rematch."""
    request = pb.RematchRequest(request_id=request_id or fresh_id(), table_id=table_id, **fields)
    return await house.stub.Rematch(request, metadata=bearer(token))


async def played(house: House, people: int = 2, **fields: Any) -> Sitting:
    """A match that is over: aborted, as that is quick."""
    sitting = await house.sitting(people, **fields)
    await house.abort(sitting.table_id, sitting.owner)
    return sitting


async def test_everybody_gets_the_own_seat_at_the_same_new_table(house: House) -> None:
    names = ["Ada", "Grace", "Hedy"]
    made = await house.create(
        [SeatPlan(caller=CallerSeat(display_name=names[0])), AI, OPEN, OPEN, OPEN],
        fill_empty_seats=GREEDY,
        seed=bytes(32),
        game="mino_dice",
    )
    table_id, tokens = made.table.table_id, {0: made.token}
    for seat, name in ((2, names[1]), (4, names[2])):
        tokens[seat] = (await house.join(table_id, seat=seat, name=name)).token
    before = await house.start(table_id, made.token)
    await house.resign(table_id, tokens[4])
    await house.abort(table_id, tokens[0])
    first = await rematch(house, table_id, tokens[2])
    assert first.table.table_id != table_id
    assert first.table.owner_seat == first.seat == 2
    assert first.table.settings == before.settings
    assert first.table.state == TableState.TABLE_STATE_OPEN
    # A deal of its own, and never a seed that somebody gave.
    assert not first.table.fairness.reproducible
    assert first.table.fairness.commitment != before.fairness.commitment
    waiting = [seat.occupant.open.held_for.display_name for seat in first.table.seats]
    assert waiting == [names[0], "", "", "", names[2]]
    assert first.table.seats[1].occupant.ai == first.table.seats[3].occupant.ai
    assert first.table.seats[1].occupant.ai.player == GREEDY.player
    for seat, name in ((4, names[2]), (0, names[0])):
        answer = await rematch(house, table_id, tokens[seat])
        assert (answer.table.table_id, answer.seat) == (first.table.table_id, seat)
        assert answer.token != tokens[seat]
        assert answer.table.seats[seat].occupant.person.display_name == name
        assert answer.table.owner_seat == 2
    await house.start(first.table.table_id, first.token)
    view = await house.view(first.table.table_id, answer.token)
    assert view.viewer_seat == 0


async def test_fifty_calls_at_once_make_one_table_and_void_tokens_that_nobody_used(
    house: House,
) -> None:
    sitting = await played(house)
    ids = {seat: fresh_id() for seat in sitting.tokens}
    answers = await asyncio.gather(
        *(
            rematch(house, sitting.table_id, token, request_id=ids[seat])
            for seat, token in sitting.tokens.items()
            for _ in range(25)
        )
    )
    assert len({answer.table.table_id for answer in answers}) == 1
    new = answers[0].table.table_id
    for seat in sitting.tokens:
        own = [answer.token for answer in answers if answer.seat == seat]
        assert len(own) == len(set(own)) == 25
        good = 0
        for token in own:
            request = pb.GetTableRequest(table_id=new)
            call = house.stub.GetTable(request, metadata=bearer(token))
            good += not isinstance(await _answer(call), Refusal)
        assert good == 1
    used = await refused(rematch(house, sitting.table_id, sitting.tokens[0], request_id=ids[0]))
    assert used.reason == "REQUEST_ID_REUSED"


async def _answer(call: Any) -> Any:
    try:
        return await refused(call)
    except AssertionError:
        return None


async def test_nobody_gets_anothers_seat(house: House) -> None:
    sitting = await played(house, 3)
    other = await played(house)
    mine = fresh_id()
    first = await rematch(house, sitting.table_id, sitting.tokens[0], request_id=mine)
    new = first.table.table_id
    for token, reason in (
        (None, "MISSING_TOKEN"),
        ("x", "BAD_TOKEN"),
        (other.owner, "BAD_TOKEN"),
        (first.token, "BAD_TOKEN"),
    ):
        assert (await refused(rematch(house, sitting.table_id, token))).reason == reason
    # The earlier token isn't one of the new table; a request id that was seen gives nothing away.
    assert (await refused(house.view(new, sitting.tokens[0]))).reason == "BAD_TOKEN"
    stolen = rematch(house, sitting.table_id, sitting.tokens[1], request_id=mine)
    assert (await refused(stolen)).reason == "REQUEST_ID_REUSED"
    joined = await refused(house.join(new, request_id=mine))
    assert joined.reason == "REQUEST_ID_REUSED"
    # Held seats aren't for others, named or not, until the owner says so.
    assert (await refused(house.join(new))).reason == "TABLE_FULL"
    assert (await refused(house.join(new, seat=1))).reason == "TABLE_FULL"
    twice = await refused(rematch(house, sitting.table_id, sitting.tokens[0]))
    assert (twice.reason, twice.metadata["seat"]) == ("SEAT_TAKEN", "0")
    opened = pb.SetSeatRequest(request_id=fresh_id(), table_id=new, seat=1, open=OpenSeat())
    await house.stub.SetSeat(opened, metadata=bearer(first.token))
    held = await refused(house.join(new, seat=2))
    assert (held.reason, held.metadata["allowed"]) == ("SEAT_TAKEN", "1")
    assert (await house.join(new)).seat == 1
    late = await refused(rematch(house, sitting.table_id, sitting.tokens[1]))
    assert late.reason == "SEAT_TAKEN"
    # Who gets up may come back.
    second = await rematch(house, sitting.table_id, sitting.tokens[2])
    await house.leave(new, second.token)
    again = await rematch(house, sitting.table_id, sitting.tokens[2])
    assert (again.table.table_id, again.seat) == (new, 2)


async def test_seats_of_those_who_stay_away_are_filled_or_keep_the_match_waiting(
    house: House,
) -> None:
    filled = await played(house, 3, fill_empty_seats=GREEDY)
    first = await rematch(house, filled.table_id, filled.tokens[1])
    table = await house.start(first.table.table_id, first.token)
    kinds = [seat.occupant.WhichOneof("occupant") for seat in table.seats]
    assert kinds == ["ai", "person", "ai"]
    late = await refused(rematch(house, filled.table_id, filled.tokens[0]))
    assert late.reason == "MATCH_STARTED"
    unfilled = await played(house, 2)
    first = await rematch(house, unfilled.table_id, unfilled.tokens[0])
    told = await refused(house.start(first.table.table_id, first.token))
    assert told.reason == "OPEN_SEATS"
    assert "seat 1 is open" in told.message


async def test_a_rematch_follows_a_match_that_is_over(house: House) -> None:
    waiting = await house.create()
    call = rematch(house, waiting.table.table_id, waiting.token)
    assert (await refused(call)).reason == "MATCH_NOT_STARTED"
    live = await house.sitting(2)
    assert (await refused(rematch(house, live.table_id, live.owner))).reason == "MATCH_LIVE"
    await house.play_on(live)
    first = await rematch(house, live.table_id, live.owner)
    await house.abort(first.table.table_id, first.token)
    told = await refused(rematch(house, live.table_id, live.tokens[1]))
    assert told.reason == "MATCH_ABORTED"
    unseated = await house.create([AI, AI])
    await house.start(unseated.table.table_id, unseated.token)
    await house.abort(unseated.table.table_id, unseated.token)
    call = rematch(house, unseated.table.table_id, unseated.token)
    assert (await refused(call)).reason == "NOT_SEATED"
    assert (await refused(rematch(house, "nothing", "x"))).reason == "TABLE_NOT_FOUND"
    for fields, field in (({"rotate_seats": 2}, "rotate_seats"), ({"nonce": bytes(65)}, "nonce")):
        told = await refused(rematch(house, live.table_id, live.owner, **fields))
        assert (told.reason, told.fields) == ("INVALID_FIELD", (field,))
    told = await refused(rematch(house, live.table_id, live.owner, request_id=" "))
    assert told.reason == "REQUEST_ID_REQUIRED"


async def test_seats_may_move_on_and_a_rematch_may_follow_a_rematch(house: House) -> None:
    sitting = await house.sitting(3, fill_empty_seats=GREEDY)
    table_id, tokens = sitting.table_id, dict(sitting.tokens)
    owner = sitting.owner
    for _ in range(3):
        await house.abort(table_id, owner)
        seated = [
            await rematch(house, table_id, tokens[seat], rotate_seats=1, nonce=b"n")
            for seat in range(3)
        ]
        assert [answer.seat for answer in seated] == [1, 2, 0]
        assert [nonce.seat for nonce in seated[-1].table.fairness.nonces] == [1, 2, 0]
        table_id, owner = seated[0].table.table_id, seated[0].token
        tokens = {answer.seat: answer.token for answer in seated}
        await house.start(table_id, owner)


async def test_it_is_the_same_table_after_a_restart_and_at_any_server(
    databases: Databases, tmp_path: Path
) -> None:
    async with house_in(tmp_path) as house:
        sitting = await played(house)
        first = await rematch(house, sitting.table_id, sitting.tokens[0])
        await house.restart()
        second = await rematch(house, sitting.table_id, sitting.tokens[1])
        assert first.table.table_id == second.table.table_id
    own = await databases.fresh()
    async with house_in(tmp_path, store=own) as one, house_in(tmp_path, store=own) as two:
        sitting = await played(one)
        answers = await asyncio.gather(
            rematch(one, sitting.table_id, sitting.tokens[0]),
            rematch(two, sitting.table_id, sitting.tokens[1]),
        )
        assert len({answer.table.table_id for answer in answers}) == 1
        assert [answer.seat for answer in answers] == [0, 1]
        assert (await two.table(answers[0].table.table_id)).HasField("owner_seat")
