"""Tournaments over a real socket: made, watched, cancelled, killed, gone on with, exported."""

from __future__ import annotations

import asyncio
import io
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc
import pytest

from tavolata.ai.arena.tournament import folder as folders
from tavolata.ai.arena.tournament.backends.inline import Inline
from tavolata.ai.arena.tournament.model import Fault, FaultKind
from tavolata.ai.arena.tournament.play import Referee
from tavolata.ai.arena.tournament.policy import FaultPolicy
from tavolata.ai.arena.tournament.runner import run
from tavolata.ai.arena.tournament.specification import load
from tavolata.ai.players import player_specs
from tavolata.client import TournamentFailed, connect
from tavolata.ext.core.record import loads, replay
from tavolata.ext.registry import game_spec
from tavolata.service import settings
from tavolata.service.own_server import own_server
from tavolata.service.server import Server
from tavolata.service.tournaments.opening import TournamentsRefused
from tavolata.service.tournaments.process import LENGTH_BYTES, Frames, Teller
from tavolata.service.tournaments.shelf import NOTE, Note, Shelf
from tavolata.v1 import tournament_service_pb2 as pb
from tavolata.v1.tournament_pb2 import Tournament, TournamentFaultKind, TournamentState
from tavolata.v1.tournament_service_pb2_grpc import TournamentServiceStub
from tests.ai.arena.tournament.table_of_four import duels, field_of
from tests.service.house import House, fresh_id, house_in, refused, until
from tests.service.kill_loop import Target

WAITING = TournamentState.TOURNAMENT_STATE_WAITING
RUNNING = TournamentState.TOURNAMENT_STATE_RUNNING
FINISHED = TournamentState.TOURNAMENT_STATE_FINISHED
CANCELLED = TournamentState.TOURNAMENT_STATE_CANCELLED
FAILED = TournamentState.TOURNAMENT_STATE_FAILED


def spec(*entrants: str, deals: int = 10, title: str = "Small") -> str:
    """A round robin in mino_dice; entrants are lines of their tables."""
    tables = "\n".join(f"[[entrants]]\n{lines}" for lines in entrants)
    return (
        f'title = "{title}"\nseed = 3\n[[games]]\ngame = "mino_dice"\n{tables}\n'
        f'[format]\nkind = "round_robin"\n[stop]\nrule = "count"\ndeals = {deals}\n'
    )


GREEDY, RANDOM = 'player = "greedy"', 'player = "random"'
SEARCH = 'player = "ismcts"\niterations = 2_500'  # a tenth of a second or more for a match
QUICK = spec(GREEDY, RANDOM)
SLOW = spec(GREEDY, SEARCH)
ENDLESS = spec(GREEDY, SEARCH, deals=5_000)


def hash_inline(text: str, folder: Path) -> str:
    """The result hash of a tournament that is played here, one match after the other."""
    specification = load(text)
    with closing(folders.create(folder, specification)) as tournament:
        backend = Inline(specification.field, specification.policy)
        ending = run(specification.schedule(), tournament.store, backend)
    assert ending.result_hash is not None
    return ending.result_hash


@pytest.fixture(scope="module")
def slow_hash(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The result hash of SLOW."""
    return hash_inline(SLOW, tmp_path_factory.mktemp("inline") / "slow")


class Club:
    """A house with tournaments, and short ways to call it."""

    def __init__(self, house: House, root: Path) -> None:
        self.house, self.root = house, root

    @property
    def stub(self) -> Any:
        """Of the house's server, which may be another one by now."""
        return TournamentServiceStub(self.house.channel)

    async def create(self, text: str, request_id: str = "", processes: int = 0) -> Tournament:
        """Make a tournament."""
        request = pb.CreateTournamentRequest(
            request_id=request_id or fresh_id(), specification=text, processes=processes
        )
        made: Tournament = (await self.stub.CreateTournament(request)).tournament
        return made

    async def get(self, tournament_id: str) -> Tournament:
        """The tournament."""
        request = pb.GetTournamentRequest(tournament_id=tournament_id)
        found: Tournament = (await self.stub.GetTournament(request)).tournament
        return found

    async def cancel(self, tournament_id: str) -> Tournament:
        """Cancel it."""
        request = pb.CancelTournamentRequest(tournament_id=tournament_id)
        ended: Tournament = (await self.stub.CancelTournament(request)).tournament
        return ended

    def watch(self, tournament_id: str) -> Any:
        """A watch, as an async iterator of messages."""
        return self.stub.WatchTournament(pb.WatchTournamentRequest(tournament_id=tournament_id))

    async def ended(self, tournament_id: str) -> Tournament:
        """The tournament once it is over."""
        last = Tournament()
        async for message in self.watch(tournament_id):
            last = message.tournament
        return last

    async def begun(self, tournament_id: str) -> Tournament:
        """The tournament once some of its matches are played."""
        async for message in self.watch(tournament_id):
            if message.tournament.progress.matches_done:
                found: Tournament = message.tournament
                return found
        raise AssertionError("it has ended without")

    def folders(self) -> list[str]:
        """The tournaments on the disk."""
        return sorted(path.parent.name for path in self.root.glob(f"*/{NOTE}"))


@asynccontextmanager
async def club_in(folder: Path, **flags: Any) -> AsyncIterator[Club]:
    """A club that is closed at the end."""
    root = folder / "tournaments"
    async with house_in(folder, tournaments_dir=root, **flags) as house:
        yield Club(house, root)


def processes_in(folder: Path) -> list[int]:
    """Ids of the processes whose arguments name the folder."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            arguments = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if str(folder).encode() in arguments:
            found.append(int(path.parent.name))
    return found


# -- from the making to the end -------------------------------------------------------------------


async def test_a_tournament_is_watched_to_the_result_that_it_has_anywhere(tmp_path: Path) -> None:
    expected = hash_inline(QUICK, tmp_path / "inline")
    async with club_in(tmp_path, tournament_processes_max=2) as club:
        made = await club.create(QUICK)
        assert (made.title, made.processes) == ("Small", 2)
        assert made.state in (WAITING, RUNNING)
        seen = [message.tournament async for message in club.watch(made.tournament_id)]
        done = [each.progress.matches_done for each in seen]
        assert done == sorted(done)
        last = seen[-1]
        assert [each.state for each in seen].count(FINISHED) == 1
        assert (last.state, last.result_hash) == (FINISHED, expected)
        assert (last.progress.matches_done, last.progress.matches_planned) == (20, 20)
        assert [row.label for row in last.progress.standings] == ["greedy", "random"]
        for row in last.progress.standings:
            assert row.elo.low < row.elo.value < row.elo.high
            assert row.matches == 20
        assert last.end_time.ToMicroseconds() >= last.create_time.ToMicroseconds()
        # Whoever comes later sees the end at once, also from another server.
        assert [each.tournament async for each in club.watch(made.tournament_id)] == [last]
        await club.house.restart()
        assert await club.get(made.tournament_id) == last
        got = await club.stub.GetTournament(
            pb.GetTournamentRequest(tournament_id=made.tournament_id)
        )
        assert got.specification == QUICK
        async with connect(club.house.target) as server:
            assert await server.tournaments.finished(made.tournament_id) == last
            assert await server.tournaments.specification(made.tournament_id) == QUICK


async def test_the_same_request_makes_one_tournament(tmp_path: Path) -> None:
    async with club_in(tmp_path) as club:
        twice = await asyncio.gather(*[club.create(QUICK, "one") for _ in range(2)])
        assert len({made.tournament_id for made in twice}) == 1
        await club.ended(twice[0].tournament_id)
        await club.house.restart()
        assert (await club.create(QUICK, "one")).tournament_id == twice[0].tournament_id
        for other in (club.create(SLOW, "one"), club.create(QUICK, "one", processes=1)):
            found = await refused(other)
            assert (found.code, found.reason) == (
                grpc.StatusCode.ALREADY_EXISTS,
                "REQUEST_ID_REUSED",
            )
        assert (await refused(club.create(QUICK, " "))).reason == "REQUEST_ID_REQUIRED"
        assert club.folders() == [twice[0].tournament_id]


def test_faults_are_told_by_entrant_and_kind() -> None:
    field, plans = field_of("greedy", "random"), duels("greedy", "random", deals=4)
    outcomes = [Referee(field, FaultPolicy()).play(plan) for plan in plans]
    crash = Fault(FaultKind.CRASH, "random", 1, 0, "")
    outcomes[0] = replace(outcomes[0], faults=(crash, crash))
    outcomes[1] = replace(outcomes[1], faults=(Fault(FaultKind.SLOW, "greedy", 0, 1, ""), crash))
    written = io.BytesIO()
    teller = Teller(field, Frames(written))
    teller.planned(plans, outcomes[:1])
    teller.played(outcomes[1:])
    written.seek(0)
    written.truncate()
    teller.tell(last=True)
    length, content = written.getvalue()[:LENGTH_BYTES], written.getvalue()[LENGTH_BYTES:]
    assert int.from_bytes(length, "big") == len(content)
    progress = Tournament.FromString(content).progress
    assert (progress.matches_done, progress.matches_planned) == (8, 8)
    assert [(row.label, row.kind, row.count) for row in progress.faults] == [
        ("greedy", TournamentFaultKind.TOURNAMENT_FAULT_KIND_SLOW, 1),
        ("random", TournamentFaultKind.TOURNAMENT_FAULT_KIND_CRASH, 3),
    ]


# -- what is refused ------------------------------------------------------------------------------


async def test_every_wrong_key_is_told_and_nothing_is_made(tmp_path: Path) -> None:
    text = (
        QUICK.replace("mino_dice", "chess").replace('"random"', '"oracle"')
        + "half_width = 0.1\n[limits]\nthink_ms = -1\n"
    )
    async with club_in(tmp_path) as club:
        found = await refused(club.create(text))
        assert (found.code, found.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_FIELD")
        assert set(found.fields) == {
            "specification.stop.half_width",
            "specification.limits.think_ms",
        }
        text = QUICK.replace("mino_dice", "chess").replace('"random"', '"oracle"')
        found = await refused(club.create(text))
        assert set(found.fields) == {
            "specification.games[0].game",
            "specification.entrants[1].player",
        }
        assert '"chess"' in found.message
        assert ", ".join(player_specs()) in found.message
        for text in ("", "title = ", "x" * 10):
            found = await refused(club.create(text))
            assert found.fields == ("specification",)
            assert "TOML" in found.message
        assert club.folders() == []


async def test_a_refusal_of_very_many_keys_arrives(tmp_path: Path) -> None:
    text = QUICK + "".join(f"wrong_{number} = 1\n" for number in range(2_000))
    async with club_in(tmp_path) as club:
        found = await refused(club.create(text))
        assert found.reason == "INVALID_FIELD"
        assert found.fields[0] == "specification.stop.wrong_0"
        assert 5 < len(found.fields) < 100


BEYOND = [
    (spec(GREEDY, RANDOM, deals=51), "specification.stop.deals", "at most 100 matches"),
    (spec(GREEDY, SEARCH + "0"), "specification.entrants[].iterations", "up to 3000"),
    (spec(GREEDY, 'player = "ismcts"\nthink_ms = 31'), "specification.entrants[].think_ms",
     "up to 30"),
    (spec(GREEDY, SEARCH + "\nnodes = 2000000"), "specification.entrants[].nodes",
     "up to 1000000"),
    (spec(GREEDY, SEARCH + "\nthreads = 3"), "specification.entrants[].threads", "up to 2"),
]  # fmt: skip


async def test_more_than_the_operator_allows_is_refused(tmp_path: Path) -> None:
    caps = {"ai_iterations_max": 3_000, "ai_nodes_max": 1_000_000, "ai_think_ms_max": 30}
    async with club_in(tmp_path, tournament_matches_max=100, **caps) as club:
        for text, field, allowed in BEYOND:
            found = await refused(club.create(text))
            assert (found.reason, found.fields) == ("INVALID_FIELD", (field,))
            assert allowed in found.message
        found = await refused(club.create(QUICK, processes=2))
        assert (found.reason, found.fields) == ("INVALID_FIELD", ("processes",))
        assert found.metadata["allowed"] == "0 to 1"
        assert club.folders() == []
        assert (await club.create(spec(GREEDY, RANDOM, deals=50), processes=1)).tournament_id


CALLS: list[Callable[[Club], Awaitable[Any]]] = [
    lambda club: club.create(QUICK),
    lambda club: club.get("nowhere"),
    lambda club: club.cancel("nowhere"),
    lambda club: club.watch("nowhere").read(),
    lambda club: club.stub.ListTournaments(pb.ListTournamentsRequest()),
    lambda club: club.stub.ExportTournament(pb.ExportTournamentRequest(format=1)).read(),  # type: ignore[arg-type]
]


async def test_a_server_without_a_folder_for_tournaments_says_so(house: House) -> None:
    for call in CALLS:
        found = await refused(call(Club(house, Path())))
        assert (found.code, found.reason) == (grpc.StatusCode.UNIMPLEMENTED, "TOURNAMENTS_OFF")
        assert found.metadata == {"setting": "tournaments_dir"}
        assert "tournaments_dir" in found.message


async def test_an_unknown_tournament_is_not_found(tmp_path: Path) -> None:
    async with club_in(tmp_path) as club:
        export = pb.ExportTournamentRequest(tournament_id="nowhere")
        calls = [call(club) for call in CALLS[1:4]]
        for call in [*calls, club.stub.ExportTournament(export).read()]:
            found = await refused(call)
            assert (found.code, found.reason) == (
                grpc.StatusCode.NOT_FOUND,
                "TOURNAMENT_NOT_FOUND",
            )
            assert found.metadata == {"tournament_id": "nowhere"}


async def test_a_folder_for_tournaments_is_one_server_s(tmp_path: Path) -> None:
    async with club_in(tmp_path) as club:
        flags = {"db": tmp_path / "other.db", "bind": "127.0.0.1:0"}
        second = Server(settings.load(None, tournaments_dir=club.root, **flags))
        with pytest.raises(TournamentsRefused, match="in use by another server"):
            await second.start()
    third = Server(settings.load(None, tournaments_dir=club.root, **flags))
    await third.start()
    await third.stop()


# -- ends before the end --------------------------------------------------------------------------


async def test_a_cancelled_tournament_ends_with_its_processes_and_keeps_its_matches(
    tmp_path: Path,
) -> None:
    async with club_in(tmp_path) as club:
        made = await club.create(ENDLESS)
        begun = await club.begun(made.tournament_id)
        assert begun.state == RUNNING
        assert len(processes_in(club.root / made.tournament_id)) == 1
        found = await refused(club.create(QUICK))  # one at a time
        assert (found.code, found.reason) == (
            grpc.StatusCode.RESOURCE_EXHAUSTED,
            "LIMIT_EXCEEDED",
        )
        assert found.retry
        watch = asyncio.create_task(club.ended(made.tournament_id))
        await asyncio.sleep(0)
        both = await asyncio.gather(*[club.cancel(made.tournament_id) for _ in range(2)])
        assert both[0] == both[1] == await watch
        cancelled = both[0]
        assert (cancelled.state, cancelled.result_hash) == (CANCELLED, "")
        assert processes_in(club.root / made.tournament_id) == []
        with closing(folders.open_to_read(club.root / made.tournament_id)) as kept:
            assert begun.progress.matches_done <= kept.store.count() < 10_000
        quick = await club.ended((await club.create(QUICK)).tournament_id)
        found = await refused(club.cancel(quick.tournament_id))
        assert (found.code, found.reason) == (
            grpc.StatusCode.FAILED_PRECONDITION,
            "TOURNAMENT_OVER",
        )
        assert found.metadata["state"] == "finished"
        await club.house.restart()
        assert await club.get(made.tournament_id) == cancelled
        assert processes_in(club.root / made.tournament_id) == []


async def test_a_stopping_server_ends_tournaments_at_a_checkpoint_and_the_next_goes_on(
    tmp_path: Path, slow_hash: str
) -> None:
    async with club_in(tmp_path) as club:
        made = await club.create(SLOW)
        begun = await club.begun(made.tournament_id)
        root = club.root / made.tournament_id
        watch = asyncio.create_task(refused(club.ended(made.tournament_id)))
        await asyncio.sleep(0)
        await club.house.close()
        assert (await watch).reason == "SHUTTING_DOWN"
        assert processes_in(root) == []
        with closing(folders.open_to_read(root)) as kept:
            before = kept.store.count()
            assert begun.progress.matches_done <= before < 20
        await club.house.open()
        last = await club.ended(made.tournament_id)
        assert (last.state, last.result_hash) == (FINISHED, slow_hash)


async def test_a_server_killed_in_the_middle_comes_to_the_same_result(
    tmp_path: Path, slow_hash: str
) -> None:
    root = tmp_path / "tournaments"
    target = Target(tmp_path)
    target.environment |= {"TAVOLATA_TOURNAMENTS_DIR": str(root)}
    await target.start()
    async with connect(target.bind) as server:
        try:
            made = await server.tournaments.create(SLOW)
            killed = 0
            async for tournament in server.tournaments.watch(made.tournament_id):
                done = tournament.progress.matches_done
                if not killed and done:
                    assert done < 20
                    await target.kill()
                    # What it has started does not outlive it for long.
                    await until(lambda: _none(root / made.tournament_id))
                    killed = done
                    await target.start()
                last = tournament
        finally:
            await target.stop()
    assert killed
    assert (last.state, last.progress.matches_done) == (FINISHED, 20)
    assert last.result_hash == slow_hash


async def _none(folder: Path) -> bool:
    return not processes_in(folder)


async def test_a_process_that_is_killed_is_replaced(tmp_path: Path, slow_hash: str) -> None:
    async with club_in(tmp_path) as club:
        made = await club.create(SLOW)
        await club.begun(made.tournament_id)
        (process,) = processes_in(club.root / made.tournament_id)
        os.kill(process, signal.SIGKILL)
        last = await club.ended(made.tournament_id)
        assert (last.state, last.failure) == (FINISHED, "")
        assert last.result_hash == slow_hash


async def test_a_tournament_that_cant_go_on_fails_and_says_why(tmp_path: Path) -> None:
    async with club_in(tmp_path) as club:
        made = await club.create(SLOW)
        await club.begun(made.tournament_id)
        await club.house.close()
        path = club.root / made.tournament_id / folders.SPECIFICATION
        path.write_text(path.read_text().replace("seed = 3", "seed = 4"))
        await club.house.open()
        last = await club.ended(made.tournament_id)
        assert last.state == FAILED
        async with connect(club.house.target) as server:
            with pytest.raises(TournamentFailed, match=r"is failed: .*seed: was 3, is 4"):
                await server.tournaments.finished(made.tournament_id)
        found = await refused(club.cancel(made.tournament_id))
        assert found.metadata["state"] == "failed"


# -- lists and files ------------------------------------------------------------------------------


DAMAGED = (
    "",
    "[]",
    "{}",
    '{"request_id": "", "digest": "", "tournament": {"state": "LOST"}}',
    '{"request_id": "", "digest": "", "tournament": 3}',
)


async def test_tournaments_are_listed_newest_first_page_by_page_but_for_damaged_ones(
    tmp_path: Path,
) -> None:
    shelf = Shelf(tmp_path / "tournaments")
    for number in range(5):
        tournament = Tournament(tournament_id=f"t{number}", state=FINISHED)
        tournament.create_time.FromSeconds(1_000 + number // 2)  # some in the same moment
        shelf.make(Note(f"request {number}", "", tournament), load(QUICK))
    shelf.close()
    for number, text in enumerate(DAMAGED):
        (tmp_path / "tournaments" / f"damaged{number}").mkdir()
        (tmp_path / "tournaments" / f"damaged{number}" / NOTE).write_text(text)
    async with club_in(tmp_path) as club:

        async def page(size: int, token: str = "") -> tuple[list[str], str]:
            request = pb.ListTournamentsRequest(page_size=size, page_token=token)
            answer = await club.stub.ListTournaments(request)
            return [each.tournament_id for each in answer.tournaments], answer.next_page_token

        assert await page(0) == (["t4", "t3", "t2", "t1", "t0"], "")
        assert await page(5) == await page(1_000) == await page(0)
        first, token = await page(2)
        made = await club.create(QUICK)  # comes before the first page
        second, token = await page(2, token)
        third, end = await page(2, token)
        assert first + second + third == ["t4", "t3", "t2", "t1", "t0"]
        assert end == ""
        assert (await page(1))[0] == [made.tournament_id]
        for size, token, field in ((-1, "", "page_size"), (2, "nonsense", "page_token")):
            found = await refused(page(size, token))
            assert (found.reason, found.fields) == ("INVALID_FIELD", (field,))


async def at(target: str, *arguments: object) -> tuple[int, str, str]:
    """`tavolata tournament` with a server: exit code, output, errors."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tavolata", "tournament", *map(str, arguments), "--server", target),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, errors = await process.communicate()
    return process.returncode or 0, out.decode(), errors.decode()


async def test_the_command_line_submits_follows_and_exports(tmp_path: Path) -> None:
    file, wrong = tmp_path / "quick.toml", tmp_path / "wrong.toml"
    file.write_text(QUICK)
    wrong.write_text(QUICK.replace("greedy", "oracle"))
    root = tmp_path / "tournaments"
    async with own_server("--tournaments-dir", str(root)) as server:
        refusal, submitted = await asyncio.gather(
            at(server.target, "submit", wrong), at(server.target, "submit", file)
        )
        assert refusal[0] == 2
        assert "specification.entrants[0].player" in refusal[2]
        assert "Traceback" not in refusal[2]
        name = submitted[1].strip()
        code, watched, _ = await at(server.target, "watch", name)
        assert code == 0
        assert "finished, 20 of 20 matches" in watched
        status, shown, listed, late, _, _ = await asyncio.gather(
            at(server.target, "status", name, "--json"),
            at(server.target, "standings", name),
            at(server.target, "list"),
            at(server.target, "cancel", name),
            at(server.target, "export", name, tmp_path / "all.json"),
            at(server.target, "export", name, tmp_path / "logs", "--as", "records"),
        )
        said = json.loads(status[1])
        assert (said["state"], said["matches"], said["faults"]) == ("finished", 20, [])
        assert said["result_hash"] in watched
        assert shown[1].index("greedy") < shown[1].index("random")
        assert name in listed[1]
        assert (late[0], "finished" in late[2]) == (2, True)
        exported = json.loads((tmp_path / "all.json").read_text())
        assert exported["matches"] == 20
        records = sorted((tmp_path / "logs").iterdir())
        matches = [replay(loads(path.read_text()), game_spec) for path in records]
        assert len({match.hash for match in matches}) == 20
        assert list(root.glob(".export-*")) == []
