"""Whole matches at the terminal, through its lines and through a pseudo terminal."""

from __future__ import annotations

import asyncio
import os
import pty
import select
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import pytest

from tavolata.client import Connection, Refused, Seat, connect
from tavolata.ext.core.record import loads, replay
from tavolata.ext.registry import game_spec
from tavolata.service.replays import check_fairness
from tavolata.service.server import Server
from tavolata.service.terminal.client import play_at
from tavolata.service.terminal.options import WrongOption
from tavolata.service.terminal.table import NoTable, Wanted, make_table, sit_down
from tavolata.service.terminal.voice import Voice
from tavolata.v1 import mino_dice_pb2, table_pb2
from tests.client.players import Reader, Typist, answer_to


async def new_table(server: Connection, wanted: Wanted) -> Seat:
    out = Reader()
    return await make_table(server, wanted, Typist(out, []), Voice(out, "never"))


@pytest.mark.parametrize(
    ("game_id", "options"),
    [
        ("mino_dice", ["scoring=simple"]),
        ("bouillabaisse", ["all_or_nothing=yes", "first_lead=dealer"]),
    ],
)
async def test_a_whole_match_is_played_by_typing_what_the_lines_ask_for(
    service: Server, tmp_path: Path, game_id: str, options: list[str]
) -> None:
    path = tmp_path / "match.json"
    out = Reader()
    async with connect(f"127.0.0.1:{service.port}") as server:
        seat = await new_table(
            server, Wanted(game_id, seats=4, name="Anna", player="greedy", options=options)
        )
        unfinished = await play_at(
            server, seat, Typist(out, ["s", "t", f"save {path}", "q"]), Voice(out, "never")
        )
        result = (await server.table(seat.table_id)).result
    record = loads(path.read_text())
    check_fairness(record)
    assert list(replay(record, game_spec).totals()) == [each.total for each in result.seats]
    text = out.getvalue()
    assert not unfinished
    assert text.count("Your turn.") == sum(who == 0 for _, who, _ in record.decisions)
    assert "\x1b" not in text
    assert f"you with {result.seats[0].total}".replace("with -", "with minus ") in text
    assert "It is nobody's turn: the match is over." in text
    rounds = text.rpartition("Round by round: you ")[2].partition(";")[0].split(", ")
    points = [int(each.replace("minus ", "-")) for each in rounds]
    assert len(points) > 1
    assert sum(points) == result.seats[0].total


async def test_people_join_a_table_by_its_id_leave_it_and_come_back(service: Server) -> None:
    async with connect(f"127.0.0.1:{service.port}") as server:
        anna = await new_table(
            server, Wanted("mino_dice", seats=3, people=2, name="Anna", player="greedy")
        )
        bruno = await sit_down(server, anna.table_id, "Bruno", None, "")
        assert bruno.number == 1
        with pytest.raises(Refused) as full:
            await sit_down(server, anna.table_id, "Carla", None, "")
        assert full.value.reason == "TABLE_FULL"
        await anna.start()
        out = Reader()
        assert await play_at(server, bruno, Typist(out, [], ["n", "q", "y"]), Voice(out, "never"))
        assert "Seat 0 Anna; seat 1 you; seat 2 AI greedy, level standard." in out.getvalue()
        table = await server.table(anna.table_id)
        assert table.seats[1].control == table_pb2.SEAT_CONTROL_LEFT
        await sit_down(server, anna.table_id, "", None, bruno.token)
        table = await server.table(anna.table_id)
        assert table.seats[1].control == table_pb2.SEAT_CONTROL_OCCUPANT


async def test_who_joins_while_one_waits_is_called_by_name_from_the_first_event(
    service: Server,
) -> None:
    out = Reader()
    async with connect(f"127.0.0.1:{service.port}") as server:
        anna = await new_table(
            server, Wanted("bouillabaisse", seats=3, people=3, name="Anna", seed=bytes(32))
        )
        bruno = await sit_down(server, anna.table_id, "Bruno", None, "")

        async def the_last_comes() -> None:
            await sit_down(server, anna.table_id, "Carla", None, "")
            await anna.start()

        async with asyncio.timeout(30):
            await play_at(server, bruno, Waiting(out, the_last_comes), Voice(out, "never"))
    assert "Seat 2: Carla." in out.getvalue()
    (started,) = [line for line in out.getvalue().splitlines() if line.startswith("Round 1:")]
    assert "Carla" in started, "seat 2 deals or leads with this seed"
    assert "seat 2" not in started


class Waiting:
    """Lets something happen when the table is told, and leaves with the first cards."""

    def __init__(self, out: Reader, happen: Callable[[], Awaitable[object]]) -> None:
        self._out = out
        self._happen = happen
        self._typed: list[str] = []

    async def next(self) -> str | None:
        while not self._typed:
            line = await self._out.lines.get()
            if line.startswith("Table "):
                await self._happen()
            elif line.startswith("You hold"):
                self._typed = ["q", "y"]
        return self._typed.pop(0)


async def test_who_goes_without_a_word_does_not_keep_the_others_waiting(service: Server) -> None:
    class Gone:
        async def next(self) -> str | None:
            return None

    async with connect(f"127.0.0.1:{service.port}") as server:
        seat = await new_table(server, Wanted("mino_dice", seats=3, player="greedy"))
        await seat.start()
        await play_at(server, seat, Gone(), Voice(Reader(), "never"))
        table = await server.table(seat.table_id)
    assert table.seats[0].control == table_pb2.SEAT_CONTROL_LEFT


async def test_resigning_is_confirmed_and_the_match_can_be_watched_to_its_end(
    service: Server,
) -> None:
    out = Reader()
    async with connect(f"127.0.0.1:{service.port}") as server:
        seat = await new_table(server, Wanted("mino_dice", seats=3, player="greedy"))
        await seat.start()
        await play_at(server, seat, Typist(out, ["q"], ["resign", "y"]), Voice(out, "never"))
        result = (await server.table(seat.table_id)).result
    assert result.seats[0].resigned
    assert ", resigned" in out.getvalue()


async def test_why_names_the_rule_that_forbids_a_card(service: Server) -> None:
    out = Reader()
    async with connect(f"127.0.0.1:{service.port}") as server:
        seat = await new_table(
            server,
            Wanted("bouillabaisse", seats=2, player="greedy", seed=bytes(32)),
        )
        # In some trick the script has to follow: it asks why whenever something is forbidden.
        typist = _Curious(out)
        await play_at(server, seat, typist, Voice(out, "never"))
    answers = [line for line in out.getvalue().splitlines() if line.startswith("Not allowed now:")]
    assert typist.asked == len(answers) > 0
    assert all("BO-4: Whoever leads plays a card of its choice." in each for each in answers)


class _Curious(Typist):
    """Asks why before each forced choice, until it has been told; then leaves."""

    def __init__(self, out: Reader) -> None:
        super().__init__(out, ["q"])
        self._out = out
        self.asked = 0

    async def next(self) -> str | None:
        while not self._typed:
            line = await self._out.lines.get()
            self._typed = answer_to(line)
            if line.startswith("Not allowed now"):
                self._typed = ["q", "y"]
            elif line.startswith("Your turn. ") and "Choose: " in line and "are led" in line:
                self.asked += 1
                self._typed = ["w"]
        return self._typed.pop(0)


@pytest.mark.parametrize(
    ("wanted", "error", "said"),
    [
        (Wanted("mino_dice", options=["scoring=double"]), WrongOption, "allowed: full, simple"),
        (Wanted("mino_dice", options=["speed=9"]), WrongOption, "one of: follow_after_special"),
        (Wanted("bouillabaisse", options=["all_or_nothing"]), WrongOption, "write name=value"),
        (Wanted("mino_dice", seats=3, people=4), NoTable, "don't fit at a table of 3 seats"),
        (Wanted("mino_dice", seats=9), Refused, "SEAT_COUNT"),
        (Wanted("chess"), Refused, "UNKNOWN_GAME"),
        (Wanted("mino_dice", player="oracle"), Refused, "UNKNOWN_PLAYER"),
    ],
)
async def test_a_table_that_cannot_be_made_is_refused_with_what_is_allowed(
    service: Server, wanted: Wanted, error: type[Exception], said: str
) -> None:
    async with connect(f"127.0.0.1:{service.port}") as server:
        with pytest.raises(error, match=said):
            await new_table(server, wanted)


async def test_options_are_set_by_their_names_in_the_rules(service: Server) -> None:
    async with connect(f"127.0.0.1:{service.port}") as server:
        seat = await new_table(
            server, Wanted("mino_dice", options=["all_flags=last", "flag_scope=none"])
        )
        table = await server.table(seat.table_id)
    options = table.settings.options.mino_dice
    assert options.all_flags == mino_dice_pb2.MINO_DICE_ALL_FLAGS_LAST
    assert options.flag_scope == mino_dice_pb2.MINO_DICE_FLAG_SCOPE_NONE
    assert options.scoring == mino_dice_pb2.MINO_DICE_SCORING_FULL


@pytest.mark.parametrize("name", ["Mino Dice", "mino dice", "mino_dice", " MINO DICE "])
async def test_a_game_is_chosen_by_its_name_too(service: Server, name: str) -> None:
    out = Reader()
    async with connect(f"127.0.0.1:{service.port}") as server:
        typist = Typist(out, [], ["dice", name, "3"])
        seat = await make_table(server, Wanted(), typist, Voice(out, "never"))
        table = await server.table(seat.table_id)
    assert (table.settings.game_id, len(table.seats)) == ("mino_dice", 3)
    assert "'dice' is not among" in out.getvalue()


async def test_what_is_not_said_is_asked(service: Server) -> None:
    out = Reader()
    async with connect(f"127.0.0.1:{service.port}") as server:
        games = [game.game_id for game in await server.games()]
        number = str(games.index("mino_dice") + 1)
        typist = Typist(out, [], ["9", number, "17", "5"])
        seat = await make_table(server, Wanted(), typist, Voice(out, "never"))
        table = await server.table(seat.table_id)
    assert (table.settings.game_id, len(table.seats)) == ("mino_dice", 5)
    assert "'9' is not among 1" in out.getvalue()
    assert "'17' is not among 3, 4, 5 and 6." in out.getvalue()


class _Terminal:
    """`tavolata play` on a pseudo terminal."""

    def __init__(self, *arguments: str, **environment: str) -> None:
        self._fd, inner = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tavolata", "play", *arguments],
            stdin=inner,
            stdout=inner,
            stderr=inner,
            # A shell lets what it starts in the background ignore the interrupt.
            preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
            env={
                **os.environ,
                "TAVOLATA_AI_FLOOR_S": "0",
                "TAVOLATA_AI_JITTER_S": "0",
                "COLUMNS": "2000",
                **environment,
            },
        )
        os.close(inner)
        self.text = ""
        self._rest = ""

    def type(self, line: str) -> None:
        os.write(self._fd, line.encode() + b"\n")

    def lines(self) -> list[str]:
        """The lines that have come since the last call; waits for some."""
        if not select.select([self._fd], [], [], 60)[0]:
            raise AssertionError(f"nothing for a minute after: {self.text[-2000:]}")
        try:
            text = os.read(self._fd, 65536).decode()
        except OSError:  # Linux says so when the other end is closed
            raise EOFError from None
        self.text += text
        *lines, self._rest = (self._rest + text).replace("\r", "").split("\n")
        return lines

    def hang_up(self) -> None:
        os.close(self._fd)

    def end(self) -> int:
        try:
            while True:
                self.lines()
        except EOFError:
            os.close(self._fd)
        return self.process.wait(60)


def test_a_match_is_played_on_a_terminal_with_a_server_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "match.json"
    terminal = _Terminal("mino_dice", "--seats", "3", "--ai", "greedy", "--seed", "x", NO_COLOR="1")
    over = False
    while not over:
        for line in terminal.lines():
            for typed in answer_to(line):
                terminal.type(typed)
            over = over or line.startswith("Save saves the replay")
    terminal.type(f"save {path}")
    while not path.exists() or not path.read_text().strip().endswith("}"):
        terminal.lines()
    terminal.type("q")
    assert terminal.end() == 0
    assert len(replay(loads(path.read_text()), game_spec).placement()) == 3
    assert "\x1b" not in terminal.text


def test_a_terminal_gets_colours_unless_told_otherwise_and_interrupting_leaves() -> None:
    terminal = _Terminal("mino_dice", "--seats", "3", "--ai", "random", NO_COLOR="")
    while "Press Enter to start" not in terminal.text:
        terminal.lines()
    assert "\x1b[" in terminal.text
    terminal.process.send_signal(signal.SIGINT)
    assert terminal.end() == 0
    assert "You have left the table." in terminal.text


def test_interrupting_a_match_says_the_way_back_and_it_leads_there(tmp_path: Path) -> None:
    db = tmp_path / "mine.db"
    table = ("mino_dice", "--seats", "3", "--ai", "greedy", "--db", str(db))
    terminal = _Terminal(*table, NO_COLOR="1", COLUMNS="40")
    while "Press Enter" not in terminal.text:
        terminal.lines()
    terminal.type("")
    while "Your turn." not in terminal.text:
        terminal.lines()
    terminal.process.send_signal(signal.SIGINT)
    assert terminal.end() == 0
    left, _, way_back = terminal.text.partition("To come back: tavolata play ")
    assert "You have left the table." in left
    again = _Terminal(*way_back.split())
    while "Your turn." not in again.text:
        again.lines()
    assert "The match is in progress." in again.text
    again.process.send_signal(signal.SIGINT)
    assert again.end() == 0


def test_the_client_ends_when_its_terminal_is_gone() -> None:
    terminal = _Terminal("mino_dice", "--seats", "3", "--ai", "random")
    while "Press Enter to start" not in terminal.text:
        terminal.lines()
    terminal.hang_up()
    assert terminal.process.wait(60) in (0, 1)


def test_the_demo_plays_to_the_end_and_checks_the_replay() -> None:
    done = _demo("--games", "mino_dice", "--seats", "3", "--level", "easy", "--seed", "t")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "AI ismcts, level easy" in done.stdout
    assert "Hand 8 is over." in done.stdout
    assert "Replay checked:" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--games", "chess"), "UNKNOWN_GAME"),
        (("--seats", "13", "--games", "bouillabaisse"), "SEAT_COUNT"),
    ],
)
def test_a_demo_that_cannot_be_played_fails_and_says_why(
    arguments: tuple[str, ...], said: str
) -> None:
    done = _demo(*arguments)
    assert done.returncode == 1
    assert f"The demo failed. {said}: " in done.stdout


def _demo(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tavolata", "demo", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_file_that_cannot_be_used_is_said_and_nothing_is_started(tmp_path: Path) -> None:
    missing = tmp_path / "nowhere" / "x.db"
    done = subprocess.run(
        [sys.executable, "-m", "tavolata", "play", "mino_dice", "--db", str(missing)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert str(missing.parent) in done.stdout
