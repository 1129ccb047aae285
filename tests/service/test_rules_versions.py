"""A program meets tables that are played by a version of the rules that it doesn't have."""

from __future__ import annotations

from dataclasses import replace

import grpc
import pytest

from tavolata.ext.registry import GAMES
from tavolata.service.tables.model import Table as Held
from tavolata.v1 import table_service_pb2 as pb
from tavolata.v1.fairness_pb2 import Reveal
from tavolata.v1.table_pb2 import TableState
from tests.service.house import AI, CALLER, GREEDY, OPEN, House, bearer, fresh_id, refused

GAME = "bouillabaisse"
FAILED_PRECONDITION = grpc.StatusCode.FAILED_PRECONDITION


async def upgraded(house: House, monkeypatch: pytest.MonkeyPatch, version: str = "99") -> None:
    """Go on with a program that has other rules of the game, or none."""
    await house.close()
    if version:
        monkeypatch.setitem(GAMES, GAME, replace(GAMES[GAME], rules_version=version))
    else:
        monkeypatch.delitem(GAMES, GAME)
    await house.open()


@pytest.mark.parametrize("version", ["99", ""])
async def test_a_match_that_is_over_can_still_be_read(
    house: House, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    made = await house.create([CALLER, OPEN, AI], stand_in=GREEDY)
    first = made.table.table_id
    joined = await house.join(first, nonce=b"from the second seat")
    await house.start(first, made.token)
    await house.leave(first, made.token)
    await house.resign(first, joined.token)
    await house.join(first, token=made.token)
    await house.play_as_told(first, made.token)
    second = await house.sitting(2)
    await house.abort(second.table_id, second.owner)
    third = await house.sitting(3, reveal=Reveal.REVEAL_NEVER)
    await house.play_on(third)
    before = {
        each: (await house.table(each), await house.replay(each))
        for each in (first, second.table_id, third.table_id)
    }
    assert before[first][0].HasField("result")
    assert before[first][0].result.seats[1].resigned
    await upgraded(house, monkeypatch, version)
    for each, (table, replay) in before.items():
        assert await house.table(each) == table
        told = await house.replay(each)
        assert told.table == table
        assert told.proof == replay.proof
        assert told.final_hash == replay.final_hash
        assert not told.entries
        assert (await refused(house.watch(each).read())).reason == "RULES_VERSION"
        assert (await refused(house.view(each))).reason == "RULES_VERSION"


async def test_a_match_in_progress_waits_for_its_version_and_can_be_aborted(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    sitting = await house.sitting(3, stand_in=GREEDY)
    await house.play_on(sitting, 5)
    kept, table_id = GAMES[GAME], sitting.table_id
    view = await house.view(table_id)
    mover = sitting.tokens[view.seats_to_act[0]]
    view = await house.view(table_id, mover)
    await upgraded(house, monkeypatch)
    found = await refused(house.play(table_id, mover, view))
    assert (found.code, found.reason) == (FAILED_PRECONDITION, "RULES_VERSION")
    assert found.metadata == {
        "table_id": table_id,
        "game_id": GAME,
        "rules_version": kept.rules_version,
        "allowed": "99",
    }
    for call in (
        house.view(table_id, mover),
        house.watch(table_id, mover).read(),
        house.resign(table_id, mover),
        house.leave(table_id, mover),
    ):
        assert (await refused(call)).reason == "RULES_VERSION"
    table = await house.table(table_id)
    assert (table.state, table.rules_version) == (
        TableState.TABLE_STATE_PLAYING,
        kept.rules_version,
    )
    assert (await refused(house.view(table_id, "no token of this table"))).reason == "BAD_TOKEN"
    assert (await refused(house.replay(table_id))).reason == "MATCH_LIVE"
    # New tables are played by the rules that are there.
    assert (await house.sitting(2)).table_id
    # The program that it was made with plays it on as if nothing had been.
    await house.close()
    monkeypatch.setitem(GAMES, GAME, kept)
    await house.open()
    await house.play(table_id, mover, view)
    await house.play_on(sitting, 2)
    # Without its rules nothing remains but to abort it; that is in the record like any other end.
    await upgraded(house, monkeypatch)
    aborted = await house.abort(table_id, sitting.owner)
    assert aborted.state == TableState.TABLE_STATE_ABORTED
    await house.close()
    monkeypatch.setitem(GAMES, GAME, kept)
    await house.open()
    assert (await house.table(table_id)).state == TableState.TABLE_STATE_ABORTED
    replay = await house.replay(table_id)
    assert sum(each.HasField("decision") for each in replay.entries) == 8


async def test_ai_seats_of_another_version_are_left_to_a_server_that_has_it(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = await house.create([CALLER, AI])
    await house.start(made.table.table_id, made.token)
    await upgraded(house, monkeypatch)
    assert house.server is not None
    core = house.server.core
    await core.work.take_up()
    assert core.work.holds(made.table.table_id) is None
    assert core.ai_seats.thinking_count == 0
    held: Held = await core.tables.settled(made.table.table_id)
    assert held.rules is None


async def test_a_record_that_was_altered_is_refused_as_damaged(house: House) -> None:
    sitting = await house.sitting(2)
    await house.play_on(sitting, 3)
    await house.close()
    house.execute("UPDATE entries SET time_us = time_us + 1 WHERE kind = 'played' AND turn = 1")
    await house.open()
    play = pb.PlayActionRequest(request_id=fresh_id(), table_id=sitting.table_id)
    for call in (
        house.table(sitting.table_id),
        house.view(sitting.table_id),
        house.watch(sitting.table_id).read(),
        house.stub.PlayAction(play, metadata=bearer(sitting.owner)),
    ):
        found = await refused(call)
        assert (found.code, found.reason) == (grpc.StatusCode.DATA_LOSS, "TABLE_DAMAGED")
        assert found.metadata == {"table_id": sitting.table_id}
