"""AnalysisService over a socket: hints in play, reviews afterwards, and who gets which."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import grpc
import pytest
import pytest_asyncio
from google.protobuf.duration_pb2 import Duration

from tavolata.ext.registry import GAMES
from tavolata.service.codecs import codec_of
from tavolata.v1 import analysis_pb2, table_pb2
from tavolata.v1 import analysis_service_pb2 as pb
from tavolata.v1.analysis_service_pb2_grpc import AnalysisServiceStub
from tavolata.v1.fairness_pb2 import Reveal
from tavolata.v1.player_pb2 import SearchLimits
from tests.service.house import (
    AI,
    CALLER,
    OPEN,
    House,
    Refusal,
    bearer,
    house_in,
    refusal_of,
    until,
)

ALLOWED = table_pb2.HINTS_ALLOWED
FEW = SearchLimits(iterations=600)
ENDLESS = SearchLimits(think_time=Duration(seconds=30))
ONLY_ACTION, BEST = analysis_pb2.DECISION_MARK_ONLY_ACTION, analysis_pb2.DECISION_MARK_BEST


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[House]:
    """One server for the tests here that change none of its limits."""
    async with house_in(tmp_path_factory.mktemp("analysis"), analyses_max=50) as made:
        yield made


pytestmark = pytest.mark.asyncio(loop_scope="module")


def analyze(house: House, table_id: str, token: str | None = None, **fields: Any) -> Any:
    """An analysis, as an async iterator of messages."""
    fields.setdefault("limits", FEW)
    request = pb.AnalyzeRequest(table_id=table_id, **fields)
    return AnalysisServiceStub(house.channel).Analyze(request, metadata=bearer(token))


def review(house: House, table_id: str, token: str | None = None, **fields: Any) -> Any:
    """A review, as an async iterator of messages."""
    fields.setdefault("limits", SearchLimits(iterations=60))
    request = pb.ReviewMatchRequest(table_id=table_id, **fields)
    return AnalysisServiceStub(house.channel).ReviewMatch(request, metadata=bearer(token))


async def all_of(call: Any) -> list[Any]:
    """Every message of a stream that hasn't been read yet."""
    messages = []
    while (message := await call.read()) is not grpc.aio.EOF:
        messages.append(message)
    return messages


async def refused(call: Any) -> Refusal:
    """The refusal of a stream that must be refused."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await all_of(call)
    return refusal_of(caught.value)


async def reason(call: Any) -> str:
    """The reason of that refusal."""
    return (await refused(call)).reason


async def short_match(house: House, game: str, **fields: Any) -> tuple[str, str, int]:
    """A table that is over after a few decisions: its id, the owner's token, and seat 0's."""
    seats = [CALLER, *[AI] * (GAMES[game].seats_usual - 1)]
    made = await house.create(seats, game=game, **fields)
    table_id, token = made.table.table_id, made.token
    await house.start(table_id, token)
    played = 0
    while played < 3:
        view = await house.view(table_id, token)
        if view.legal_actions:
            await house.play(table_id, token, view)
            played += 1
        await asyncio.sleep(0)
    await house.abort(table_id, token)
    return table_id, token, played


def timeless(messages: list[Any]) -> list[bytes]:
    """The bytes of messages without the times in them."""
    for message in messages:
        message.analysis.ClearField("think_time")
    return [message.SerializeToString(deterministic=True) for message in messages]


@pytest.mark.parametrize("game", GAMES)
async def test_a_hint_grows_and_tells_of_every_legal_action_and_seat(
    shared: House, game: str
) -> None:
    seats = [CALLER, *[AI] * (GAMES[game].seats_usual - 1)]
    made = await shared.create(seats, game=game, hints=ALLOWED)
    table_id, token = made.table.table_id, made.token
    assert made.table.settings.hints == ALLOWED
    await shared.start(table_id, token)

    async def asked() -> Any:
        view = await shared.view(table_id, token)
        return view if list(view.seats_to_act) == [0] else None

    view = await until(asked)
    told = await all_of(analyze(shared, table_id, token))
    assert [each.analysis.iterations for each in told] == [250, 500, 600]
    assert [each.analysis.final for each in told] == [False, False, True]
    for each in told:
        assert (each.analysis.turn, each.analysis.seat) == (view.turn, 0)
        actions = each.analysis.actions
        assert [row.action for row in actions] == list(view.legal_actions)
        assert sum(row.visits for row in actions) == each.analysis.iterations
        assert sum(row.share for row in actions) == pytest.approx(1)
        for row in actions:
            assert row.HasField("reward") == (row.visits > 0)
            assert len(row.seats) == (len(seats) if row.visits else 0)
            if row.visits:
                assert 0 <= row.reward.mean <= 1
                assert row.seats[0].utility == pytest.approx(row.reward.mean)
    for one, other in pairwise(told):
        rows = zip(one.analysis.actions, other.analysis.actions, strict=True)
        assert all(less.visits <= more.visits for less, more in rows)
    again = await all_of(analyze(shared, table_id, token, turn=view.turn))
    assert timeless(again) == timeless(told)
    other_seed = await all_of(analyze(shared, table_id, token, seed=1))
    assert timeless(other_seed) != timeless(told)
    await shared.abort(table_id, token)


@pytest.mark.parametrize("game", GAMES)
async def test_a_review_judges_every_decision_and_adds_up(shared: House, game: str) -> None:
    table_id, _, _ = await short_match(shared, game)
    replay = await shared.replay(table_id)
    decisions = [entry.decision for entry in replay.entries if entry.HasField("decision")]
    start, *judged, last = await all_of(review(shared, table_id, hindsight=True))
    assert start.start.decisions == len(decisions) == len(judged)
    for made, message in zip(decisions, judged, strict=True):
        told = message.decision
        assert told.legal_action_count == len(made.legal_actions)
        made.ClearField("legal_actions")
        assert told.decision == made
        for judgement in (told.then, told.hindsight):
            is_best = judgement.best == made.action
            only = told.legal_action_count == 1
            best = ONLY_ACTION if only else BEST
            assert (judgement.mark == best) == is_best
            assert judgement.HasField("cost") != is_best
        assert len(told.seats) == len(replay.table.seats)
    assert [each.seat for each in last.summary.seats] == list(range(len(replay.table.seats)))
    for each in last.summary.seats:
        own = [m.decision for m in judged if m.decision.decision.seat == each.seat]
        assert each.decisions == len(own) == sum(row.count for row in each.then.counts)
        if own:
            costs = sum(told.then.cost.mean for told in own) / len(own)
            assert each.then.average_cost == pytest.approx(costs)
            costs = sum(told.hindsight.cost.mean for told in own) / len(own)
            assert each.hindsight.average_cost == pytest.approx(costs)


@pytest.mark.parametrize("game", GAMES)
async def test_a_past_decision_is_analyzed_as_its_seat_saw_it_then(
    shared: House, game: str
) -> None:
    """The hint in play and the analysis afterwards are the same, but for time."""
    seats = [CALLER, *[AI] * (GAMES[game].seats_usual - 1)]
    made = await shared.create(seats, game=game, hints=ALLOWED)
    table_id, token = made.table.table_id, made.token
    await shared.start(table_id, token)

    async def asked() -> Any:
        view = await shared.view(table_id, token)
        return view if list(view.seats_to_act) == [0] else None

    view = await until(asked)
    hint = await all_of(analyze(shared, table_id, token))
    await shared.play(table_id, token, view)
    await shared.abort(table_id, token)
    past = await all_of(analyze(shared, table_id, turn=view.turn, seat=0))
    replay = await shared.replay(table_id)
    decisions = [entry.decision for entry in replay.entries if entry.HasField("decision")]
    if [each.turn for each in decisions].count(view.turn) == 1:
        assert timeless(past) == timeless(hint)
    else:  # the others had committed, as the hint saw; the analysis takes all as they began
        assert game in ("mino_dice", "mister_bill")
    assert [row.action for row in past[-1].analysis.actions] == list(view.legal_actions)


async def test_hints_are_forbidden_unless_the_table_allows_them(shared: House) -> None:
    for hints in (table_pb2.HINTS_UNSPECIFIED, table_pb2.HINTS_FORBIDDEN):
        sitting = await shared.sitting(2, hints=hints)
        settings = (await shared.table(sitting.table_id)).settings
        assert settings.hints == table_pb2.HINTS_FORBIDDEN
        for token in sitting.tokens.values():
            assert await reason(analyze(shared, sitting.table_id, token)) == "HINTS_FORBIDDEN"
        await shared.abort(sitting.table_id, sitting.owner)


async def test_in_play_only_the_seat_to_act_gets_a_hint_and_of_its_own(shared: House) -> None:
    sitting = await shared.sitting(3, hints=ALLOWED)
    table_id = sitting.table_id
    view = await shared.view(table_id, sitting.owner)
    [acting] = view.seats_to_act
    other = next(seat for seat in sitting.tokens if seat != acting)
    assert await reason(analyze(shared, table_id)) == "MISSING_TOKEN"
    assert await reason(analyze(shared, table_id, "A" * 43)) == "BAD_TOKEN"
    found = await refused(analyze(shared, table_id, sitting.tokens[other], seat=acting))
    assert (found.reason, found.metadata["seats_to_act"]) == ("NOT_YOUR_TURN", str(acting))
    found = await refused(analyze(shared, table_id, sitting.tokens[acting], turn=view.turn + 1))
    assert (found.reason, found.metadata["current_turn"]) == ("STALE_TURN", str(view.turn))
    assert await reason(analyze(shared, "nowhere")) == "TABLE_NOT_FOUND"
    assert await reason(review(shared, table_id, sitting.owner)) == "MATCH_LIVE"
    [*_, last] = await all_of(analyze(shared, table_id, sitting.tokens[acting]))
    assert last.analysis.final
    await shared.resign(table_id, sitting.tokens[acting])
    assert await reason(analyze(shared, table_id, sitting.tokens[acting])) == "SEAT_RESIGNED"


async def test_an_owner_without_a_seat_gets_no_hint_and_none_is_given_before_the_match(
    shared: House,
) -> None:
    made = await shared.create([OPEN, AI], hints=ALLOWED)
    table_id = made.table.table_id
    assert await reason(analyze(shared, table_id, made.token)) == "MATCH_NOT_STARTED"
    assert await reason(review(shared, table_id)) == "MATCH_NOT_STARTED"
    await shared.join(table_id)
    await shared.start(table_id, made.token)
    assert await reason(analyze(shared, table_id, made.token)) == "NOT_SEATED"
    await shared.abort(table_id, made.token)
    assert await reason(analyze(shared, table_id)) == "INVALID_FIELD"


async def test_hands_that_are_not_revealed_are_analyzed_for_their_own_seat_alone(
    shared: House,
) -> None:
    sitting = await shared.sitting(2, reveal=Reveal.REVEAL_NEVER)
    table_id = sitting.table_id
    await shared.play_on(sitting, 6)
    await shared.abort(table_id, sitting.owner)
    for seat, token in sitting.tokens.items():
        start, *judged, last = await all_of(review(shared, table_id, token))
        assert start.start.decisions == len(judged) == 3
        assert {each.decision.decision.seat for each in judged} == {seat}
        assert [each.seat for each in last.summary.seats] == [seat]
        turn = judged[0].decision.decision.turn
        assert (await all_of(analyze(shared, table_id, token, turn=turn)))[-1].analysis.final
        other = sitting.tokens[1 - seat]
        for call in (
            analyze(shared, table_id, turn=turn),
            analyze(shared, table_id, other, turn=turn),
            review(shared, table_id),
            review(shared, table_id, other, seats=[seat]),
            review(shared, table_id, token, seats=[0, 1]),
            review(shared, table_id, token, hindsight=True),
        ):
            found = await refused(call)
            assert (found.reason, found.code) == (
                "NOT_REVEALED",
                grpc.StatusCode.FAILED_PRECONDITION,
            )


async def test_decisions_and_seats_that_there_are_not_are_refused_with_those_there_are(
    shared: House,
) -> None:
    table_id, token, _ = await short_match(shared, "mino_dice")
    replay = await shared.replay(table_id)
    decisions = [entry.decision for entry in replay.entries if entry.HasField("decision")]
    found = await refused(analyze(shared, table_id, turn=10_000))
    allowed = f"0 to {decisions[-1].turn}"
    assert (found.reason, found.metadata["allowed"]) == ("DECISION_NOT_FOUND", allowed)
    found = await refused(analyze(shared, table_id, turn=0, seat=99))
    assert found.reason == "DECISION_NOT_FOUND"
    together = [each.seat for each in decisions if each.turn == 0]
    assert len(together) > 1
    found = await refused(analyze(shared, table_id, turn=0))
    assert (found.reason, found.fields) == ("INVALID_FIELD", ("seat",))
    found = await refused(review(shared, table_id, seats=[0, 99]))
    assert (found.reason, found.metadata["seat"]) == ("NO_SUCH_SEAT", "99")
    for limits in (
        SearchLimits(),
        SearchLimits(iterations=0),
        SearchLimits(iterations=10**12),
        SearchLimits(think_time=Duration(seconds=-1)),
    ):
        for call in (
            analyze(shared, table_id, turn=0, seat=0, limits=limits),
            review(shared, table_id, token, limits=limits),
        ):
            assert await reason(call) == "INVALID_FIELD"


async def test_a_spectator_who_is_behind_gets_no_analysis_before_the_replay(
    shared: House,
) -> None:
    sitting = await shared.sitting(2, spectator_delay=Duration(seconds=3600), hints=ALLOWED)
    await shared.play_on(sitting, 2)
    await shared.abort(sitting.table_id, sitting.owner)
    table_id = sitting.table_id
    assert await reason(analyze(shared, table_id, turn=0)) in ("MATCH_NOT_STARTED", "MISSING_TOKEN")
    assert await reason(review(shared, table_id)) in ("MATCH_NOT_STARTED", "MATCH_LIVE")
    assert (await all_of(review(shared, table_id, sitting.owner)))[0].start.decisions == 2


async def test_a_hint_ends_early_when_the_decision_is_made(shared: House) -> None:
    sitting = await shared.sitting(2, hints=ALLOWED)
    view = await shared.view(sitting.table_id, sitting.owner)
    token = sitting.tokens[view.seats_to_act[0]]
    call = analyze(shared, sitting.table_id, token, limits=ENDLESS)
    await call.read()
    await shared.play(sitting.table_id, token, await shared.view(sitting.table_id, token))
    told = await all_of(call)
    assert told[-1].analysis.final
    assert told[-1].analysis.think_time.seconds < 30
    await shared.abort(sitting.table_id, sitting.owner)


def running(house: House) -> int:
    """Analyses under way at a server."""
    assert house.server is not None
    return house.server._searching.running


async def test_a_cancelled_analysis_ends_its_search_and_so_does_a_deadline(shared: House) -> None:
    sitting = await shared.sitting(2, hints=ALLOWED)
    view = await shared.view(sitting.table_id, sitting.owner)
    token = sitting.tokens[view.seats_to_act[0]]

    async def idle() -> bool:
        return running(shared) == 0

    call = analyze(shared, sitting.table_id, token, limits=ENDLESS)
    await call.read()
    assert running(shared) == 1
    call.cancel()
    await until(idle)
    request = pb.AnalyzeRequest(table_id=sitting.table_id, limits=ENDLESS)
    late = AnalysisServiceStub(shared.channel).Analyze(request, metadata=bearer(token), timeout=0.3)
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await all_of(late)
    assert caught.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    await until(idle)
    await shared.abort(sitting.table_id, sitting.owner)
    reviewing = review(shared, sitting.table_id)
    await all_of(reviewing)
    assert await idle()


async def test_only_so_many_analyses_run_at_a_time_and_a_stop_ends_them(tmp_path: Path) -> None:
    async with house_in(tmp_path, analyses_max=3, caller_analyses_max=2) as house:
        sitting = await house.sitting(2, hints=ALLOWED)
        view = await house.view(sitting.table_id, sitting.owner)
        token = sitting.tokens[view.seats_to_act[0]]
        calls = [analyze(house, sitting.table_id, token, limits=ENDLESS) for _ in range(2)]
        for call in calls:
            await call.read()
        found = await refused(analyze(house, sitting.table_id, token))
        assert (found.reason, found.metadata["limit"], found.retry) == (
            "LIMIT_EXCEEDED",
            "analyses of one caller at a time",
            True,
        )
        reading = [asyncio.ensure_future(refused(call)) for call in calls]
        await asyncio.sleep(0)
        await house.close()
        assert [each.reason for each in await asyncio.gather(*reading)] == ["SHUTTING_DOWN"] * 2


async def test_whose_time_for_searches_is_used_up_gets_no_analysis(tmp_path: Path) -> None:
    async with house_in(tmp_path, caller_ai_s_per_min=0.05) as house:
        sitting = await house.sitting(2, hints=ALLOWED)
        view = await house.view(sitting.table_id, sitting.owner)
        token = sitting.tokens[view.seats_to_act[0]]
        limits = SearchLimits(think_time=Duration(nanos=200_000_000))
        await all_of(analyze(house, sitting.table_id, token, limits=limits))
        found = await refused(analyze(house, sitting.table_id, token))
        assert found.metadata["limit"] == "seconds of search in a minute for one caller"
        assert found.retry


async def test_a_table_made_with_hints_that_there_are_not_is_refused(shared: House) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await shared.create([CALLER, AI], hints=9)
    assert refusal_of(caught.value).fields == ("settings.hints",)


async def test_the_numbers_of_actions_are_those_of_the_codec(shared: House) -> None:
    """What a message calls an action is what the match played."""
    table_id, _, _ = await short_match(shared, "bids")
    codec = codec_of("bids")
    _, first, *_ = await all_of(review(shared, table_id))
    decision = first.decision.decision
    [*_, last] = await all_of(analyze(shared, table_id, turn=decision.turn, seat=decision.seat))
    numbers = [codec.action_from(row.action) for row in last.analysis.actions]
    assert numbers == sorted(numbers)
    assert codec.action_from(decision.action) in numbers
