"""Players that programs offer: seated by name, asked, and replaced where they fail."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import grpc
import pytest

from tavolata.ai.basic import GreedyPlayer
from tavolata.ai.player import Decision, Limits, Observation, observe
from tavolata.ai.stop import Stop
from tavolata.client import connect, serve_player
from tavolata.ext.core.match import Match, Position
from tavolata.ext.registry import GAMES, game_spec
from tavolata.service.client.serving import observation_of
from tavolata.service.codecs import codec_of
from tavolata.service.players.offers import Counts
from tavolata.service.players.questions import observation_message
from tavolata.service.players.roster import Roster, Rules
from tavolata.service.refusals import Refused
from tavolata.v1 import catalog_service_pb2, catalog_service_pb2_grpc
from tavolata.v1 import player_service_pb2 as pb
from tavolata.v1.player_pb2 import AiPace, AiPlayer
from tavolata.v1.player_service_pb2_grpc import PlayerServiceStub
from tavolata.v1.remote_player_pb2 import Observation as Asked
from tavolata.v1.remote_player_pb2 import (
    PlayerAnswer,
    PlayerFault,
    PlayerOffer,
    PlayerStatus,
)
from tavolata.v1.replay_pb2 import Replay
from tavolata.v1.table_pb2 import SeatPlan, TableState
from tests.service.drawn_ports import DrawnClock
from tests.service.house import AI, CALLER, House, bearer, house_in, refusal_of, refused, until

ZOE = SeatPlan(ai=AiPlayer(player="zoe"))
Answers = Callable[[Asked], PlayerAnswer | None]


class Program:
    """A program that offers a player over a stream of its own. answers: None for no answer."""

    def __init__(self, house: House, answers: Answers, token: str | None = None) -> None:
        self.stream: Any = PlayerServiceStub(house.channel).Serve(metadata=bearer(token))
        self.asked: list[Asked] = []
        self.faults: list[PlayerFault] = []
        self.voids: list[int] = []
        self._answers = answers
        self._reading: asyncio.Task[None] | None = None

    async def offer(self, name: str = "zoe", **fields: Any) -> pb.ServeResponse:
        """Offer it; the first thing that the server says."""
        offer = PlayerOffer(player=name, **{"game_ids": sorted(GAMES)} | fields)
        await self.stream.write(pb.ServeRequest(offer=offer))
        first: pb.ServeResponse = await self.stream.read()
        self._reading = asyncio.create_task(self._read())
        return first

    async def _read(self) -> None:
        while isinstance(response := await self.stream.read(), pb.ServeResponse):
            match response.WhichOneof("message"):
                case "observation":
                    self.asked.append(response.observation)
                    answer = self._answers(response.observation)
                    if answer is not None:
                        answer.question = answer.question or response.observation.question
                        await self.stream.write(pb.ServeRequest(answer=answer))
                case "fault":
                    self.faults.append(response.fault)
                case "question_void":
                    self.voids.append(response.question_void.question)

    async def hang_up(self) -> None:
        """End the connection."""
        self.stream.cancel()
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)


@asynccontextmanager
async def offered(house: House, answers: Answers, **fields: Any) -> AsyncIterator[Program]:
    """A program that has offered a player, and hangs up at the end."""
    program = Program(house, answers)
    assert (await program.offer(**fields)).HasField("accepted")
    try:
        yield program
    finally:
        await program.hang_up()


def first_action(asked: Asked) -> PlayerAnswer:
    return PlayerAnswer(action=asked.legal_actions[0])


async def status(house: House, name: str = "zoe") -> PlayerStatus:
    listed = await PlayerServiceStub(house.channel).ListPlayers(pb.ListPlayersRequest())
    return next((each for each in listed.players if each.player == name), PlayerStatus())


async def played_out(house: House, *seats: SeatPlan, **fields: Any) -> Replay:
    """The record of a match without people."""
    made = await house.create(seats, **fields)
    table_id = made.table.table_id
    await house.start(table_id, made.token)

    async def over() -> bool:
        return (await house.table(table_id)).state == TableState.TABLE_STATE_FINISHED

    await until(over, within_s=60)
    return await house.replay(table_id)


def deciders(told: Replay, seat: int) -> list[str]:
    """Who decided for a seat, decision by decision."""
    return [
        each.decision.ai.player
        for each in told.entries
        if each.HasField("decision") and each.decision.seat == seat
    ]


def by_greed(asked: Asked) -> PlayerAnswer:
    """What the built-in player decides that goes by the game's rule of thumb."""
    known = observation_of(asked)
    player, limits = GreedyPlayer(known.game), Limits(iterations=1)
    decision = player.decide(known, limits, seed=asked.seed, stop=Stop())
    return PlayerAnswer(action=codec_of(asked.game_id).action_to(decision.action))


@pytest.mark.parametrize("game", sorted(GAMES))
async def test_a_remote_player_is_asked_what_a_built_in_one_would_be_and_nothing_else(
    game: str, tmp_path: Path
) -> None:
    async with (
        house_in(tmp_path, players_answer_s=60) as house,
        offered(house, by_greed, with_packed=True, decisions_at_once=2) as program,
    ):
        told = await played_out(house, ZOE, AI, AI, ZOE, game=game)
    assert set(deciders(told, 0)) == set(deciders(told, 3)) == {"zoe"}
    assert set(deciders(told, 1)) == {"greedy"}
    asked = {(each.turn, each.seat): each for each in program.asked}
    assert len(asked) == len(program.asked)
    for known, seed, action in decided(told):
        if known.seat in (0, 3):
            found, wanted = asked.pop((known.turn, known.seat)), AiPlayer()
            for field in ("question", "time"):
                found.ClearField(field)
            made = observation_message(known, wanted, seed)
            assert found.SerializeToString(deterministic=True) == made.SerializeToString(
                deterministic=True
            )
        player = GreedyPlayer(known.game)
        decision = player.decide(known, Limits(iterations=1), seed=seed, stop=Stop())
        assert decision.action == action
    assert not asked


def decided(told: Replay) -> Iterator[tuple[Observation, int, int]]:
    """What each seat knew when it had to decide, the seed it was given, and its action: from the
    seed of the match, dealt and played again."""
    settings = told.table.settings
    spec, codec = game_spec(settings.game_id), codec_of(settings.game_id)
    game = spec.make(len(told.table.seats), codec.options_from(settings.options))
    match = Match(game, told.proof.match_seed)
    turn, known = -1, dict[int, Observation]()
    for entry in told.entries:
        if not entry.HasField("decision"):
            continue
        if match.turn != turn:  # those who choose at the same time know the same of each other
            turn, known = match.turn, {seat: observe(match, seat) for seat in match.to_act}
        decision = entry.decision
        action = codec.action_from(decision.action)
        yield known[decision.seat], decision.search_seed, action
        match.play(decision.seat, action, decision.turn)


@pytest.mark.parametrize("game", sorted(GAMES))
def test_worlds_that_a_seat_cannot_tell_apart_ask_the_same_bytes(game: str) -> None:
    match = Match(game_spec(game).make(4), bytes(32))
    for _ in range(12):
        match.play(match.to_act[0], match.legal(match.to_act[0])[0])
    seat = match.to_act[0]
    known = observe(match, seat)
    told = observation_message(known, AiPlayer(), 7).SerializeToString(deterministic=True)
    others = set()
    for seed in range(5):
        other = Position(match.game, match.state_bytes(), seed).redeal(seat)
        others.add(other.state_bytes())
        seen = Observation(
            match.game, seat, match.turn, other.blank(seat), other.legal(seat), known.event_words
        )
        asked = observation_message(seen, AiPlayer(), 7)
        assert asked.SerializeToString(deterministic=True) == told
    assert len(others) > 1


class Greedy:
    """A player of the package, as somebody serves it."""

    def decide(
        self, observation: Observation, limits: Limits, *, seed: int, stop: Stop
    ) -> Decision:
        return GreedyPlayer(observation.game).decide(observation, limits, seed=seed, stop=stop)


async def test_a_player_of_the_package_is_served_by_the_client(tmp_path: Path) -> None:
    async with house_in(tmp_path, players_answer_s=60) as house, connect(house.target) as server:
        serving = serve_player(server, "zoe", Greedy(), ["bids"], decisions_at_once=4, version="7")
        task = asyncio.create_task(serving)

        async def present() -> bool:
            return (await status(house)).version == "7"

        await until(present)
        told = await played_out(house, ZOE, ZOE, AI, game="bids")
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        counts = (await server.players("bids"))[-1].counts
    assert counts.decisions == len(deciders(told, 0)) + len(deciders(told, 1))
    assert set(deciders(told, 0)) == {"zoe"}


async def test_what_a_served_player_raises_ends_its_serving(tmp_path: Path) -> None:
    class Broken:
        def decide(self, *arguments: object, **others: object) -> Decision:
            raise ZeroDivisionError

    async with house_in(tmp_path, players_answer_s=0.3) as house, connect(house.target) as server:
        task = asyncio.create_task(serve_player(server, "zoe", Broken(), ["bids"]))

        async def present() -> bool:
            return (await status(house)).present

        await until(present)
        await played_out(house, ZOE, AI, AI, game="bids")
        with pytest.raises(ZeroDivisionError):
            await task


def test_the_packed_form_gives_the_observation_back() -> None:
    match = Match(game_spec("bids").make(3), bytes(32))
    known = observe(match, match.to_act[0])
    back = observation_of(observation_message(known, AiPlayer(), 1))
    assert (back.view, back.events, back.legal_actions) == (
        known.view,
        known.events,
        known.legal_actions,
    )
    asked = observation_message(known, AiPlayer(), 1)
    asked.rules_version = "0"
    with pytest.raises(ValueError, match="same version"):
        observation_of(asked)


def _illegal(asked: Asked) -> PlayerAnswer:
    """A card that the seat hasn't got, or may not play."""
    codec = codec_of("bouillabaisse")
    legal = {codec.action_from(action) for action in asked.legal_actions}
    number = next(n for n in range(32) if n not in legal)
    return PlayerAnswer(action=codec.action_to(number))


def _nonsense(asked: Asked) -> PlayerAnswer:
    return PlayerAnswer(action=codec_of("mino_dice").action_to(0))


def _unasked(asked: Asked) -> PlayerAnswer:
    answer = first_action(asked)
    answer.question = asked.question + 1000
    return answer


def _boundless(asked: Asked) -> PlayerAnswer:
    answer = first_action(asked)
    answer.effort.iterations = 10**18
    return answer


def _backwards(asked: Asked) -> PlayerAnswer:
    answer = first_action(asked)
    answer.effort.think_time.seconds = -5
    return answer


@pytest.mark.parametrize(
    ("answers", "counted"),
    [
        (lambda asked: None, "silences"),
        (_illegal, "illegal_actions"),
        (_nonsense, "malformed_answers"),
        (lambda asked: PlayerAnswer(), "malformed_answers"),
        (_boundless, "malformed_answers"),
        (_backwards, "malformed_answers"),
    ],
)
async def test_a_fault_is_counted_and_a_built_in_player_decides(
    answers: Answers, counted: str, tmp_path: Path
) -> None:
    answer_s = 0.05 if counted == "silences" else 60
    flags = {"players_answer_s": answer_s, "players_faults_max": 10**6}
    async with house_in(tmp_path, **flags) as house, offered(house, answers) as program:
        told = await played_out(house, ZOE, AI, AI)
        counts = (await status(house)).counts
    assert set(deciders(told, 0)) == {"greedy"}
    faults = Counts()
    setattr(faults, counted, len(program.asked))
    assert counts == faults.message()
    assert len(deciders(told, 0)) == len(program.asked) == len(program.faults)
    assert [each.question for each in program.faults] == [each.question for each in program.asked]
    assert all(each.message for each in program.faults)


async def test_an_answer_to_a_question_that_was_never_asked_is_a_fault_of_its_own(
    tmp_path: Path,
) -> None:
    flags = {"players_answer_s": 0.05, "players_faults_max": 10**6}
    async with house_in(tmp_path, **flags) as house, offered(house, _unasked) as program:
        await played_out(house, ZOE, AI, AI)
        counts = (await status(house)).counts
    assert counts.malformed_answers == counts.silences == len(program.asked)
    assert "was never asked" in program.faults[0].message


async def test_a_player_whose_connection_ends_is_replaced_and_goes_on_when_it_is_back(
    tmp_path: Path,
) -> None:
    flags = {"players_answer_s": 0.3, "players_faults_max": 10**6}
    async with house_in(tmp_path, **flags) as house:
        async with offered(house, lambda asked: None) as program:
            made = await house.create([ZOE, AI, AI])
            await house.start(made.table.table_id, made.token)

            async def asked() -> bool:
                return bool(program.asked)

            await until(asked)

        async def noticed() -> bool:
            return (await status(house)).counts.disconnects == 1

        await until(noticed)
        gone = await status(house)
        assert (gone.remote, gone.present, gone.connections) == (True, False, 0)
        async with offered(house, first_action):
            assert (await status(house)).present

            async def over() -> bool:
                table = await house.table(made.table.table_id)
                return table.state == TableState.TABLE_STATE_FINISHED

            await until(over, within_s=60)
            told = await house.replay(made.table.table_id)
    assert deciders(told, 0)[0] == "greedy"
    assert deciders(told, 0)[-1] == "zoe"


async def test_a_player_that_is_nowhere_is_not_waited_for_again_and_again(tmp_path: Path) -> None:
    flags = {"players_answer_s": 0.2, "players_faults_max": 2}
    async with house_in(tmp_path, **flags) as house:
        async with offered(house, first_action):
            made = await house.create([ZOE, AI, AI])
        await house.start(made.table.table_id, made.token)

        async def over() -> bool:
            table = await house.table(made.table.table_id)
            return table.state == TableState.TABLE_STATE_FINISHED

        await until(over)  # two waits and a hundred decisions
        told = await house.replay(made.table.table_id)
        counts = (await status(house)).counts
    assert set(deciders(told, 0)) == {"greedy"}
    assert counts == Counts(missed=len(deciders(told, 0))).message()


async def test_after_faults_in_a_row_a_player_is_withdrawn_and_asked_no_more(
    tmp_path: Path,
) -> None:
    flags = {"players_faults_max": 3, "players_withdrawn_s": 600, "players_answer_s": 60}
    async with house_in(tmp_path, **flags) as house, offered(house, _illegal) as program:
        told = await played_out(house, ZOE, AI, AI)
        shown = await status(house)
        game = (
            await catalog_service_pb2_grpc.CatalogServiceStub(house.channel).GetGame(
                catalog_service_pb2.GetGameRequest(game_id="bouillabaisse")
            )
        ).game
        assert house.server is not None
        house.server.operation._refresh()
        measured = house.server.operation._metrics.text().decode()
    assert 'remote_player_decisions_total{outcome="illegal_actions",player="zoe"} 3.0' in measured
    assert 'remote_player_connections{player="zoe"} 1.0' in measured
    assert len(program.asked) == 3
    assert [bool(each.withdrawn_for.seconds) for each in program.faults] == [False, False, True]
    assert set(deciders(told, 0)) == {"greedy"}
    assert shown.counts.missed == len(deciders(told, 0)) - 3
    assert not shown.present
    assert shown.HasField("withdrawn_until")
    (zoe,) = [each for each in game.ai_players if each.player == "zoe"]
    assert (zoe.remote, zoe.present) == (True, False)


async def test_an_answer_that_counts_ends_the_row_of_faults(tmp_path: Path) -> None:
    def every_other(asked: Asked) -> PlayerAnswer:
        return (_illegal if asked.question % 2 else first_action)(asked)

    async with (
        house_in(tmp_path, players_faults_max=2, players_answer_s=60) as house,
        offered(house, every_other) as program,
    ):
        told = await played_out(house, ZOE, AI, AI)
    assert deciders(told, 0)[:4] == ["greedy", "zoe"] * 2
    assert len(deciders(told, 0)) == len(program.asked)


async def test_several_connections_share_what_there_is_to_decide(tmp_path: Path) -> None:
    seats = [ZOE] * 6
    async with (
        house_in(tmp_path, players_answer_s=60) as house,
        offered(house, first_action) as first,
        offered(house, first_action) as second,
    ):
        shown = await status(house)
        assert (shown.connections, shown.decisions_at_once) == (2, 2)
        # All six bid at the same time, two of them at first.
        await played_out(house, *seats, game="mino_dice")
    assert min(len(first.asked), len(second.asked)) > 10


async def test_the_time_of_an_answer_does_not_shorten_the_pace(tmp_path: Path) -> None:
    pace = AiPace()
    pace.floor.FromMilliseconds(20)
    async with house_in(tmp_path) as house, offered(house, first_action):
        told = await played_out(house, ZOE, ZOE, ZOE, ai_pace=pace)
    times = [
        each.decision.time.ToNanoseconds() for each in told.entries if each.HasField("decision")
    ]
    assert min(after - before for before, after in pairwise(times)) >= 20_000_000


async def test_a_question_is_void_when_the_match_is_aborted(tmp_path: Path) -> None:
    async with house_in(tmp_path) as house, offered(house, lambda asked: None) as program:
        made = await house.create([CALLER, ZOE])
        await house.start(made.table.table_id, made.token)
        view = await house.view(made.table.table_id, made.token)
        if view.legal_actions:
            await house.play(made.table.table_id, made.token, view)

        async def asked() -> bool:
            return bool(program.asked)

        await until(asked)
        await house.abort(made.table.table_id, made.token)

        async def void() -> bool:
            return bool(program.voids)

        await until(void)
        counts = (await status(house)).counts
    assert program.voids == [program.asked[-1].question]
    assert counts == Counts().message()


async def test_seats_are_given_to_remote_players_by_name_level_and_game(tmp_path: Path) -> None:
    async with house_in(tmp_path) as house:
        assert (await refused(house.create([CALLER, ZOE]))).reason == "UNKNOWN_PLAYER"
        async with offered(house, first_action, game_ids=["mino_dice"]):
            other_game = await refused(house.create([CALLER, ZOE, AI], game="bids"))
            assert (other_game.reason, other_game.metadata["allowed"]) == (
                "UNKNOWN_PLAYER",
                "mino_dice",
            )
            strong = SeatPlan(ai=AiPlayer(player="zoe", level="strong"))
            level = await refused(house.create([CALLER, strong, AI], game="mino_dice"))
            assert (level.reason, level.metadata["allowed"]) == ("UNKNOWN_PLAYER", "standard")
            stand_in = house.create(
                [CALLER, AI, AI], game="mino_dice", stand_in=AiPlayer(player="zoe")
            )
            assert (await refused(stand_in)).fields == ("settings.stand_in.player",)
            made = await house.create(
                [CALLER, ZOE, AI], game="mino_dice", fill_empty_seats=AiPlayer(player="zoe")
            )
            assert made.table.settings.fill_empty_seats.remote
            assert made.table.seats[1].occupant.ai.remote
            assert not made.table.seats[2].occupant.ai.remote


@pytest.mark.parametrize(
    ("message", "reason", "says"),
    [
        (pb.ServeRequest(), "INVALID_FIELD", "offer"),
        (pb.ServeRequest(answer=PlayerAnswer()), "INVALID_FIELD", "an offer first"),
        (PlayerOffer(game_ids=["bids"]), "INVALID_FIELD", "1 to 40"),
        (PlayerOffer(player="Zoe", game_ids=["bids"]), "INVALID_FIELD", "a-z"),
        (PlayerOffer(player="z" * 41, game_ids=["bids"]), "INVALID_FIELD", "1 to 40"),
        (PlayerOffer(player="ismcts", game_ids=["bids"]), "PLAYER_NAME_TAKEN", "own players"),
        (PlayerOffer(player="zoe"), "INVALID_FIELD", "ListGames"),
        (PlayerOffer(player="zoe", game_ids=["chess"]), "UNKNOWN_GAME", "chess"),
        (PlayerOffer(player="zoe", game_ids=["bids"], version="v" * 81), "INVALID_FIELD", "80"),
        (PlayerOffer(player="zoe", game_ids=["bids"], summary="a\nb"), "INVALID_FIELD", "line"),
    ],
)
async def test_an_offer_with_something_wrong_is_refused_with_what_is_allowed(
    house: House, message: Any, reason: str, says: str
) -> None:
    request = message if isinstance(message, pb.ServeRequest) else pb.ServeRequest(offer=message)
    stream: Any = PlayerServiceStub(house.channel).Serve()
    await stream.write(request)
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await stream.read()
    assert refusal_of(error.value).reason == reason
    assert says in refusal_of(error.value).message
    assert not (await status(house)).player


async def test_a_second_offer_on_a_stream_ends_it(house: House) -> None:
    program = Program(house, first_action)
    await program.offer()
    offer = PlayerOffer(player="eve", game_ids=["bids"])
    await program.stream.write(pb.ServeRequest(offer=offer))
    assert await program.stream.code() == grpc.StatusCode.INVALID_ARGUMENT
    await program.hang_up()


async def test_a_server_that_everybody_reaches_takes_players_from_nobody_unless_told_so(
    tmp_path: Path,
) -> None:
    file = tmp_path / "token"
    file.write_text("0123456789abcdef\n")

    async def answer(token: str | None = None, **flags: Any) -> str:
        """The reason of the refusal, empty if the offer is accepted."""
        async with house_in(tmp_path, **flags) as house:
            program = Program(house, first_action, token)
            try:
                first = await program.offer()
                return "" if first.HasField("accepted") else "nothing"
            except grpc.aio.AioRpcError as error:
                return refusal_of(error).reason
            finally:
                await program.hang_up()

    public: dict[str, Any] = {"bind": "0.0.0.0:0", "insecure_public": True}
    assert await answer() == ""
    assert await answer(**public) == "PLAYERS_CLOSED"
    assert await answer(**public, players_open=True) == ""
    for token, wanted in (
        (None, "BAD_PLAYERS_TOKEN"),
        ("0123456789abcdeg", "BAD_PLAYERS_TOKEN"),
        ("0123456789abcdef", ""),
    ):
        assert await answer(token, **public, players_token_file=file) == wanted
        assert await answer(token, players_token_file=file) == wanted


def test_a_name_is_its_owners_and_numbers_are_bounded() -> None:
    class Line:
        free = at_once = 3

    roster = Roster(DrawnClock(), Rules(players_max=2, lines_max=2), "here")
    zoe = PlayerOffer(player="zoe", game_ids=["bids"])
    roster.add(zoe, "somebody", Line())
    roster.add(zoe, "somebody", Line())
    for offer, owner, reason in (
        (zoe, "somebody else", "PLAYER_NAME_TAKEN"),
        (zoe, "", "PLAYER_NAME_TAKEN"),
        (zoe, "somebody", "LIMIT_EXCEEDED"),
    ):
        with pytest.raises(Refused) as error:
            roster.add(offer, owner, Line())
        assert error.value.reason_name == reason
    roster.add(PlayerOffer(player="eve", game_ids=["bids"]), "", Line())
    with pytest.raises(Refused) as error:
        roster.add(PlayerOffer(player="bob", game_ids=["bids"]), "", Line())
    assert error.value.reason_name == "LIMIT_EXCEEDED"


async def test_the_example_program_plays_over_a_socket(house: House) -> None:
    example = Path(__file__).parents[2] / "examples" / "remote_player" / "remote_player.py"
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, str(example), "--server", house.target, "--name", "rosa"),
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        assert b"rosa is there" in await asyncio.wait_for(process.stdout.readline(), 60)
        rosa = SeatPlan(ai=AiPlayer(player="rosa"))
        told = await played_out(house, rosa, rosa, AI)
        house.flags["bind"] = house.target
        await house.restart()
        assert b"rosa is there" in await asyncio.wait_for(process.stdout.readline(), 60)
    finally:
        process.kill()
        await process.wait()
    assert set(deciders(told, 0)) == set(deciders(told, 1)) == {"rosa"}
