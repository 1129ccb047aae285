"""AI players in seats: they answer by themselves, after a restart too, and hold nobody up."""

from __future__ import annotations

import asyncio
import itertools
from pathlib import Path
from typing import Any

from google.protobuf.duration_pb2 import Duration

from tavolata.ai.levels import DEFAULT_LEVEL, NAMES, levels_of
from tavolata.ai.player import Decision, Limits
from tavolata.ai.players import PlayerSpec
from tavolata.ext.registry import GAMES
from tavolata.service import ai_levels
from tavolata.v1 import table_service_pb2 as pb
from tavolata.v1.catalog_service_pb2 import GetGameRequest
from tavolata.v1.catalog_service_pb2_grpc import CatalogServiceStub
from tavolata.v1.player_pb2 import AiPace, AiPlayer, SearchLimits
from tavolata.v1.table_pb2 import SeatPlan, TableState, TimeControl
from tests.service.house import AI, CALLER, OPEN, House, bearer, house_in, until


def searcher(**limits: Any) -> SeatPlan:
    """A seat for an ISMCTS player with limits of its own."""
    return SeatPlan(ai=AiPlayer(player="ismcts", limits=SearchLimits(**limits)))


async def test_ai_players_go_on_by_themselves_after_a_restart(house: House) -> None:
    made = await house.create([AI, AI, AI])
    table_id = made.table.table_id
    await house.start(table_id, made.token)
    await house.restart()

    async def finished() -> bool:
        # Nobody asks for the table itself: it must have been taken up.
        state = house.rows("SELECT state FROM tables WHERE table_id = ?", table_id)[0][0]
        return bool(state == TableState.TABLE_STATE_FINISHED)

    await until(finished)


async def test_a_search_is_recorded_with_what_it_spent_and_its_seed(house: House) -> None:
    made = await house.create([CALLER, searcher(iterations=200)])
    table_id = made.table.table_id
    await house.start(table_id, made.token)
    await house.play_as_told(table_id, made.token)
    told = await house.replay(table_id)
    decisions = [entry.decision for entry in told.entries if entry.decision.seat == 1]
    chosen = [each for each in decisions if len(each.legal_actions) > 1]
    assert chosen
    assert {each.effort.iterations for each in chosen} == {200}
    assert len({each.search_seed for each in chosen}) == len(chosen)


async def test_aborting_stops_a_long_search_at_once(house: House) -> None:
    made = await house.create([searcher(think_time=Duration(seconds=25))] * 2)
    await house.start(made.table.table_id, made.token)
    await asyncio.sleep(0.1)
    assert house.server is not None
    assert house.server.core.ai_seats.thinking_count == 1
    await house.abort(made.table.table_id, made.token)
    assert house.server.core.ai_seats.thinking_count == 0
    # The thread is free again: another table's search gets through.
    other = await house.create([CALLER, searcher(iterations=50)])
    await house.start(other.table.table_id, other.token)
    await house.play_as_told(other.table.table_id, other.token)


async def test_calls_are_answered_while_searches_fill_all_cores(tmp_path: Path) -> None:
    async with house_in(tmp_path, ai_threads=2) as house:
        for _ in range(2):
            made = await house.create([searcher(think_time=Duration(seconds=25))] * 2)
            await house.start(made.table.table_id, made.token)
        sitting = await house.sitting(2)
        assert await house.play_on(sitting, 20) == 20
        # A search that held the interpreter's lock would have come to its end before.
        assert house.server is not None
        assert house.server.core.ai_seats.thinking_count == 2


async def test_a_seat_answers_no_sooner_than_its_pace_says(house: House) -> None:
    pace = AiPace(floor=Duration(nanos=300_000_000), jitter=Duration())
    made = await house.create([CALLER, AI], ai_pace=pace)
    table_id = made.table.table_id
    await house.start(table_id, made.token)

    async def answered() -> bool:
        view = await house.view(table_id, made.token)
        if view.legal_actions:
            await house.play(table_id, made.token, view)
        return view.turn >= 4

    await until(answered)
    times = house.rows("SELECT time_us, maker FROM entries WHERE kind IN ('started', 'played')")
    for (before, _), (at, maker) in itertools.pairwise(times):
        if maker == 2:  # an AI player
            assert at - before >= 300_000


ANSWERS: tuple[Any, ...] = (
    ValueError("a fault of this player"),
    SystemExit("an end to everything"),
    StopIteration(),
    Decision(-1),
    Decision("play QC"),  # type: ignore[arg-type]
    Decision(0, elapsed_ms=float("nan")),
    None,
    7,
)


async def test_a_player_that_fails_or_cheats_is_replaced_for_that_decision(
    house: House, monkeypatch: Any
) -> None:
    class Faulty:
        calls = 0

        def decide(self, observation: Any, limits: Any, *, seed: int, stop: Any) -> Any:
            answer = ANSWERS[Faulty.calls % len(ANSWERS)]
            Faulty.calls += 1
            if isinstance(answer, BaseException):
                raise answer
            return answer

    greedy = ai_levels.players()["greedy"]
    spec = PlayerSpec("greedy", greedy.description, greedy.limits, lambda game: Faulty())
    monkeypatch.setitem(ai_levels.players(), "greedy", spec)
    made = await house.create([CALLER, AI])
    table_id = made.table.table_id
    await house.start(table_id, made.token)

    async def some_played() -> bool:
        view = await house.view(table_id, made.token)
        if view.legal_actions:
            await house.play(table_id, made.token, view)
        return Faulty.calls > len(ANSWERS)

    await until(some_played)
    await house.abort(table_id, made.token)
    told = await house.replay(table_id)
    makers = {entry.decision.ai.player for entry in told.entries if entry.decision.HasField("ai")}
    assert makers == {"random"}


async def test_a_stand_in_that_is_thinking_gives_way_to_the_person(house: House) -> None:
    slow = AiPlayer(player="ismcts", limits=SearchLimits(think_time=Duration(seconds=25)))
    made = await house.create([CALLER, OPEN], stand_in=slow)
    table_id = made.table.table_id
    other = await house.join(table_id)
    await house.start(table_id, made.token)
    tokens = {0: made.token, 1: other.token}
    mover = (await house.view(table_id)).seats_to_act[0]
    await house.leave(table_id, tokens[mover])
    assert house.server is not None
    ai_seats = house.server.core.ai_seats
    assert ai_seats.thinking_count == 1
    request = pb.JoinTableRequest(request_id="back", table_id=table_id)
    await house.stub.JoinTable(request, metadata=bearer(tokens[mover]))
    assert ai_seats.thinking_count == 0
    view = await house.view(table_id, tokens[mover])
    await house.play(table_id, tokens[mover], view)


async def test_a_decision_in_the_making_outlives_that_its_table_is_loaded_anew(
    house: House,
) -> None:
    control = TimeControl(per_decision=Duration(seconds=3600))
    seats = [CALLER, OPEN, searcher(think_time=Duration(seconds=25))]
    made = await house.create(seats, game="mino_dice", time_control=control)
    await house.join(made.table.table_id)
    await house.start(made.table.table_id, made.token)
    assert house.server is not None
    core = house.server.core
    dropped = await core.tables.settled(made.table.table_id)
    thoughts, timers = dict(core.ai_seats._thoughts), dict(core.ai_seats._timers)
    assert len(thoughts) == len(timers) == 1
    core.tables._drop(dropped)
    core.tables._publish(dropped)  # as when an entry of its that was under way comes to nothing

    async def loaded() -> bool:
        table = core.tables._tables.get(made.table.table_id)
        return table is not None and table is not dropped

    await until(loaded)  # nobody has asked for it
    assert core.ai_seats._thoughts == thoughts
    assert core.ai_seats._timers == timers


def test_a_limit_that_a_table_leaves_open_is_the_servers() -> None:
    ceiling = ai_levels.Ceiling(iterations=500, nodes=2_000, think_ms=700)
    given = AiPlayer(player="ismcts", limits=SearchLimits(iterations=5))
    player = ai_levels.resolve(given, ceiling, "ai")
    spec = ai_levels.players()["ismcts"]
    assert player.level == NAMES[-1]
    _, limits = ai_levels.seated(player, spec, GAMES["bids"], ceiling)
    assert limits == Limits(iterations=5, think_ms=700, nodes=2_000)


def test_the_servers_limits_hold_for_built_in_levels_too() -> None:
    ceiling = ai_levels.Ceiling(iterations=500, nodes=2_000, think_ms=700)
    spec = ai_levels.players()["ismcts"]
    for name, level in levels_of(spec, GAMES["bids"]).items():
        player = ai_levels.resolve(AiPlayer(player="ismcts", level=name), ceiling, "ai")
        _, limits = ai_levels.seated(player, spec, GAMES["bids"], ceiling)
        assert limits.iterations == min(level.limits.iterations or 0, 500)
        assert (limits.think_ms, limits.nodes) == (700, 2_000)


def test_a_table_whose_level_is_there_no_more_goes_on_at_the_default() -> None:
    spec, ceiling = ai_levels.players()["ismcts"], ai_levels.Ceiling()
    old, default = (AiPlayer(player="ismcts", level=name) for name in ("quick", DEFAULT_LEVEL))
    limits = [ai_levels.seated(each, spec, GAMES["bids"], ceiling)[1] for each in (old, default)]
    assert limits[0] == limits[1]


async def test_a_search_at_a_level_of_its_own_spends_no_more_than_the_server_allows(
    tmp_path: Path,
) -> None:
    strong = SeatPlan(ai=AiPlayer(player="ismcts", level="strong"))
    async with house_in(tmp_path, ai_iterations_max=3) as house:
        game = await CatalogServiceStub(house.channel).GetGame(GetGameRequest(game_id="bids"))
        (ismcts,) = [player for player in game.game.ai_players if player.player == "ismcts"]
        assert {level.limits.iterations for level in ismcts.levels} == {3}
        made = await house.create([CALLER, strong])
        await house.start(made.table.table_id, made.token)
        await house.play_as_told(made.table.table_id, made.token)
        told = await house.replay(made.table.table_id)
    efforts = [e.decision.effort for e in told.entries if e.decision.HasField("effort")]
    assert max(effort.iterations for effort in efforts) == 3
