"""Hints, reviews and rematches at the terminal, and a review of a file without a server."""

from __future__ import annotations

import json
import re
from pathlib import Path

from typer.testing import CliRunner

from tavolata.ext.core.record import dumps, loads, record_of
from tavolata.service.cli.main import app
from tavolata.service.client import Seat, connect
from tavolata.service.server import Server
from tavolata.service.terminal.client import play_at
from tavolata.service.terminal.table import Wanted, make_table
from tavolata.service.terminal.voice import Voice
from tests.ai.test_review import greedy_match
from tests.client.players import Reader, Typist, answer_to


class Curious:
    """Asks for a hint at the first turn, for a review at the end, and for a rematch after it."""

    def __init__(self, reader: Reader, path: Path) -> None:
        self._reader = reader
        self._typed: list[str] = []
        self._first = True
        self._path = path
        self._rematch = False

    async def next(self) -> str | None:
        """The next line."""
        while not self._typed:
            line = await self._reader.lines.get()
            if line.startswith("Your turn.") and self._rematch:
                self._typed = ["q", "y"]
            elif line.startswith("Your turn.") and self._first:
                self._first = False
                self._typed = ["hint", *answer_to(line)]
            elif line.startswith("Save saves the replay"):
                self._typed = [f"save {self._path}", "review"]
            elif ": average cost" in line:
                self._rematch = True
                self._typed = ["rematch"]
            else:
                self._typed = answer_to(line)
        return self._typed.pop(0)


async def test_hint_review_and_rematch_are_told_in_words(service: Server, tmp_path: Path) -> None:
    path = tmp_path / "match.json"
    out = Reader()
    voice = Voice(out, "never")
    async with connect(f"127.0.0.1:{service.port}") as server:
        wanted = Wanted("mister_bill", seats=4, name="Anna", player="greedy", seed=bytes(32))
        seat = await make_table(server, wanted, Typist(out, []), voice)
        again: list[Seat] = []
        assert await play_at(server, seat, Curious(out, path), voice, again.append)
        assert [each.table_id != seat.table_id for each in again] == [True]
        games = [(await server.table(each.table_id)).settings for each in (seat, *again)]
        assert games[0] == games[1]
    text = out.getvalue()
    hint = re.search(r"^Hint, after [\d,]+ tries: .*$", text, re.MULTILINE)
    assert hint
    assert re.search(r"worth \d+\.\d of 100, give or take \d+\.\d\. ", hint.group())
    assert re.search(r"Points to expect at the end of the round: you -?[\d.]+, AI 1 ", hint.group())
    own = sum(who == 0 for _, who, _ in loads(path.read_text()).decisions)
    assert f"{own} decisions. Enter ends the review." in text
    summary = rf"^You, {own} decisions: average cost -?\d+\.\d\d of 100; \d"
    assert re.search(summary, text, re.MULTILINE)
    assert " With hindsight: average cost" in text
    assert text.count("Press Enter to start the match.") == 2
    ran = CliRunner().invoke(app, ["review", str(path), "--seat", "0"])
    of_the_file = ran.output.replace("Seat 0", "You").replace("seat 0", "you").splitlines()[1:]
    assert [line for line in of_the_file if line not in text.splitlines()] == []


async def test_where_hints_are_forbidden_the_key_says_so(service: Server) -> None:
    out = Reader()
    voice = Voice(out, "never")
    async with connect(f"127.0.0.1:{service.port}") as server:
        wanted = Wanted("bouillabaisse", seats=2, player="greedy", hints=False)
        seat = await make_table(server, wanted, Typist(out, []), voice)
        await seat.start()
        await play_at(server, seat, Asking(out), voice)
    assert "the table was made without hints" in out.getvalue()
    assert "A match can be reviewed when it is over." in out.getvalue()
    assert "A rematch is played when the match is over." in out.getvalue()


class Asking:
    """Asks for everything that there is not, at its turn, and leaves."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._typed: list[str] = []

    async def next(self) -> str | None:
        """The next line."""
        while not self._typed:
            line = await self._reader.lines.get()
            if line.startswith("Your turn."):
                self._typed = ["hint", "review", "rematch", "q", "y"]
        return self._typed.pop(0)


def recorded(path: Path) -> Path:
    """The record of a match of players of the rule of thumb."""
    path.write_text(dumps(record_of(greedy_match("mister_bill"))))
    return path


def test_a_file_is_reviewed_without_a_server_in_words_and_for_programs(tmp_path: Path) -> None:
    file = recorded(tmp_path / "match.json")
    decisions = loads(file.read_text()).decisions
    ran = CliRunner().invoke(app, ["review", str(file), "--iterations", "60", "--every"])
    assert ran.exit_code == 0, ran.output
    lines = ran.output.splitlines()
    assert lines[0] == f"{len(decisions)} decisions."
    told = [line for line in lines if line.startswith("Turn ")]
    for line, (turn, seat, name) in zip(told, decisions, strict=True):
        assert line.startswith(f"Turn {turn}, seat {seat}: {name}. ")
    assert [line.partition(",")[0] for line in lines[-4:]] == [f"Seat {n}" for n in range(4)]
    options = ["--iterations", "60", "--json", "--seat", "1", "--no-hindsight"]
    ran = CliRunner().invoke(app, ["review", str(file), *options])
    start, *judged, summary = map(json.loads, ran.output.splitlines())
    assert start["start"]["decisions"] == len(judged) == sum(seat == 1 for _, seat, _ in decisions)
    assert {each["decision"]["decision"]["seat"] for each in judged} == {1}
    assert all("hindsight" not in each["decision"] for each in judged)
    [own] = summary["summary"]["seats"]
    assert own["decisions"] == len(judged)


def test_a_file_that_is_no_match_and_a_seat_that_there_is_not_are_refused(tmp_path: Path) -> None:
    file = recorded(tmp_path / "match.json")
    ran = CliRunner().invoke(app, ["review", str(file), "--seat", "4"])
    assert (ran.exit_code, "allowed: 0 to 3" in ran.output) == (2, True)
    broken = json.loads(file.read_text())
    broken["totals"][0] += 1
    file.write_text(json.dumps(broken))
    assert CliRunner().invoke(app, ["review", str(file)]).exit_code == 1
    file.write_text("{}")
    assert CliRunner().invoke(app, ["review", str(file)]).exit_code == 2
