"""Tables that play for people who have a single legal action."""

from __future__ import annotations

import asyncio
import itertools
from functools import partial
from pathlib import Path

import pytest
from google.protobuf.duration_pb2 import Duration

from tavolata.v1.catalog_service_pb2 import ListGamesRequest
from tavolata.v1.catalog_service_pb2_grpc import CatalogServiceStub
from tavolata.v1.player_pb2 import AiPace
from tavolata.v1.replay_pb2 import Decision, DecisionMaker
from tavolata.v1.table_pb2 import SeatControl, TimeControl
from tavolata.v1.view_pb2 import View
from tests.service.house import House, Sitting, house_in, until

SINGLE = DecisionMaker.DECISION_MAKER_SINGLE_ACTION
PERSON = DecisionMaker.DECISION_MAKER_PERSON
NO_PACE = AiPace(floor=Duration(), jitter=Duration())


async def choose(house: House, sitting: Sitting, seat: int) -> None:
    """Play a seat to the end, but never where there is nothing to choose."""
    answered: set[int] = set()
    watch = house.watch(sitting.table_id, sitting.tokens[seat], with_views=True)
    async for message in watch:
        view = message.snapshot.view
        if len(view.legal_actions) > 1 and view.turn not in answered:
            answered.add(view.turn)
            await house.play(sitting.table_id, sitting.tokens[seat], view)


async def decisions_of(house: House, sitting: Sitting) -> list[Decision]:
    """All decisions of a match that is over."""
    replay = await house.replay(sitting.table_id)
    return [each.decision for each in replay.entries if each.HasField("decision")]


@pytest.mark.parametrize("game", ["bouillabaisse", "cafe_international"])
async def test_people_are_asked_only_where_there_is_something_to_choose(
    house: House, game: str
) -> None:
    sitting = await house.sitting(2, game=game, play_single_actions=True, ai_pace=NO_PACE)
    await asyncio.gather(*(choose(house, sitting, seat) for seat in sitting.tokens))
    decisions = await decisions_of(house, sitting)
    singles = [each for each in decisions if len(each.legal_actions) == 1]
    assert singles
    for each in decisions:
        only = len(each.legal_actions) == 1
        assert each.made_by == (SINGLE if only else PERSON)
        assert bool(each.request_id) != only
        assert not each.HasField("ai")
        assert not each.HasField("effort")


async def test_it_is_off_unless_wanted(house: House) -> None:
    sitting = await house.sitting(2, ai_pace=NO_PACE)
    while len((await mover(house, sitting))[1].legal_actions) > 1:
        await house.play_on(sitting, 1)
    seat, view = await mover(house, sitting)
    await asyncio.sleep(0.1)
    assert (await mover(house, sitting))[1].turn == view.turn
    assert seat in view.seats_to_act


async def moved_on(house: House, sitting: Sitting, turn: int) -> bool:
    """Whether this decision has been made."""
    return (await house.view(sitting.table_id, sitting.owner)).turn > turn


async def mover(house: House, sitting: Sitting) -> tuple[int, View]:
    """Who is to act, with the view."""
    view = await house.view(sitting.table_id, sitting.owner)
    seat = view.seats_to_act[0]
    return seat, await house.view(sitting.table_id, sitting.tokens[seat])


async def test_where_who_has_a_choice_is_secret_everybody_is_asked(house: House) -> None:
    games = (await CatalogServiceStub(house.channel).ListGames(ListGamesRequest())).games
    secret = [game.game_id for game in games if game.puts_single_actions]
    assert secret == ["mister_bill"]  # MB-10
    sitting = await house.sitting(
        3, game=secret[0], play_single_actions=True, ai_pace=NO_PACE, seed=bytes(32)
    )
    while True:
        _, view = await mover(house, sitting)
        if len(view.legal_actions) == 1:
            break
        await house.play_on(sitting, 1)
    await asyncio.sleep(0.1)
    assert (await mover(house, sitting))[1].turn == view.turn
    await house.abort(sitting.table_id, sitting.owner)
    assert {each.made_by for each in await decisions_of(house, sitting)} <= {PERSON}


async def test_the_answer_comes_at_the_pace_of_ai_seats_and_within_the_seats_own_time(
    tmp_path: Path,
) -> None:
    floor_us = 200_000
    pace = AiPace(floor=Duration(nanos=floor_us * 1000), jitter=Duration())
    slow = AiPace(floor=Duration(seconds=50), jitter=Duration())
    timed = TimeControl(per_decision=Duration(seconds=1))
    async with house_in(tmp_path) as house:
        paced = await house.sitting(2, play_single_actions=True, ai_pace=pace)
        hurried = await house.sitting(2, play_single_actions=True, ai_pace=slow, time_control=timed)
        for sitting in (paced, hurried):
            while len((await mover(house, sitting))[1].legal_actions) > 1:
                await house.play_on(sitting, 1)
            _, view = await mover(house, sitting)
            await until(partial(moved_on, house, sitting, view.turn))
        table = await house.table(hurried.table_id)
        assert {s.control for s in table.seats} == {SeatControl.SEAT_CONTROL_OCCUPANT}
        rows = house.rows(
            "SELECT time_us, maker FROM entries WHERE table_id = ? AND kind = 'played'"
            " ORDER BY number",
            paced.table_id,
        )
        waits = [at - before for (before, _), (at, maker) in itertools.pairwise(rows) if maker == 4]
        assert waits
        assert min(waits) >= floor_us


async def test_a_person_who_is_quicker_has_played(house: House) -> None:
    slow = AiPace(floor=Duration(seconds=50), jitter=Duration())
    sitting = await house.sitting(2, play_single_actions=True, ai_pace=slow)
    await house.play_on(sitting)
    decisions = await decisions_of(house, sitting)
    assert any(len(each.legal_actions) == 1 for each in decisions)
    assert {each.made_by for each in decisions} == {PERSON}
    assert house.server is not None
    assert house.server.core.ai_seats.thinking_count == 0


async def test_single_actions_are_played_after_a_restart_too(house: House) -> None:
    pace = AiPace(floor=Duration(seconds=1), jitter=Duration())
    sitting = await house.sitting(2, play_single_actions=True, ai_pace=pace)
    while len((await mover(house, sitting))[1].legal_actions) > 1:
        await house.play_on(sitting, 1)
    turn = (await mover(house, sitting))[1].turn
    await house.restart()
    await until(partial(moved_on, house, sitting, turn))
    assert house.rows("SELECT 1 FROM entries WHERE maker = 4 AND turn = ?", turn)
