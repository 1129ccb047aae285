"""`tavolata replay` prints a match as docs/replay-format.md says and judges it by its exit code."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import tavolata
from tavolata.ext.core.match import Match
from tavolata.ext.core.record import Fairness, dumps, record_of
from tavolata.ext.registry import GAMES
from tavolata.service.cli.main import app
from tavolata.service.tables.fairness import commitment, match_seed
from tests.reference.chance import below, stream_words

Line = dict[str, Any]
DOC = Path(__file__).parents[2] / "docs" / "replay-format.md"
SERVER_SEED, SALT = bytes(range(32)), bytes([9]) * 32
NONCES = ((1, b"salt from seat 1"), (None, b"\x00"))


def write_match(path: Path, game_id: str, seats: int) -> Match:
    """A finished match of random actions with a promise, as a file."""
    game = GAMES[game_id].make(seats)
    promised = commitment(
        table_id="table-1",
        game_id=game_id,
        rules_version=game.spec.rules_version,
        seat_count=seats,
        options=game.options,
        server_seed=SERVER_SEED,
        salt=SALT,
    )
    seed = match_seed(SERVER_SEED, "table-1", NONCES)
    match = Match(game, seed, commitment=promised.hex())
    chance = random.Random(7)
    while not match.over:
        seat = chance.choice(match.to_act)
        match.play(seat, chance.choice(match.legal(seat)))
    fairness = Fairness("table-1", promised, SERVER_SEED, SALT, NONCES, reproducible=False)
    path.write_text(dumps(record_of(match, fairness)), encoding="utf-8")
    return match


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["replay", *map(str, arguments)])


def lines(result: Result) -> list[Line]:
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "match.json"


@pytest.mark.parametrize("game_id, seats", [("mino_dice", 3), ("bouillabaisse", 2)])
def test_every_line_has_the_keys_that_the_page_lists(file: Path, game_id: str, seats: int) -> None:
    write_match(file, game_id, seats)
    result = run(file, "--json")
    assert result.exit_code == 0, result.output
    rows = re.findall(r"^\| `(\w+)` \| (.*) \|$", DOC.read_text("utf-8"), re.MULTILINE)
    listed = {name: set(re.findall(r"`(\w+)`", keys)) for name, keys in rows}
    for line in lines(result):
        keys, kind = set(line) - {"type"}, line["type"]
        if kind == "event":
            assert {"number", "event"} < keys
        elif kind == "chance":
            last = {"shuffled"} if "shuffled" in keys else {"choices", "picked"}
            assert keys == {"purpose", "round", "index"} | last
        else:
            wanted = listed[kind] - {"null"}
            assert keys == wanted


@pytest.mark.parametrize("game_id, seats", [("mino_dice", 4), ("bouillabaisse", 3)])
def test_lines_tell_the_whole_match_in_order(file: Path, game_id: str, seats: int) -> None:
    match = write_match(file, game_id, seats)
    printed = lines(run(file, "--json"))
    assert [printed[0]["type"], printed[-1]["type"]] == ["match", "result"]
    decisions = [line for line in printed if line["type"] == "decision"]
    played = [(line["turn"], line["seat"], line["action"]) for line in decisions]
    name = match.game.action_name
    assert played == [(turn, seat, name(action)) for turn, seat, action in match.decisions]
    assert all(line["action"] in line["legal"] for line in decisions)
    events = [line for line in printed if line["type"] == "event"]
    assert [line["number"] for line in events] == list(range(1, match.event_count + 1))
    assert events[-1]["event"] == "match_ended"
    assert not any(value is None for line in events for value in line.values())
    # Chance, decisions and events alternate as they did: nothing stands before what caused it.
    kinds = [line["type"] for line in printed]
    assert kinds.index("chance") < kinds.index("event") < kinds.index("decision")
    for place, kind in enumerate(kinds):
        if kind == "decision":
            assert kinds[place - 1] == "scores"
            assert kinds[place + 1] in ("chance", "event")


def test_every_chance_outcome_can_be_drawn_again_from_the_printed_seed(file: Path) -> None:
    write_match(file, "mino_dice", 3)
    first, *rest = lines(run(file, "--json"))
    seed = bytes.fromhex(first["seed"])
    outcomes = [line for line in rest if line["type"] == "chance"]
    # 8 hands of 1 to 8 dice for each of 3 seats, one shuffle a hand, one pick of the first player.
    assert len(outcomes) == 3 * 36 + 8 + 1
    for line in outcomes:
        words = stream_words(seed, line["purpose"], line["round"], line["index"])
        if "picked" in line:
            assert line["picked"] == below(words, line["choices"])
            continue
        # The dice of MD-1, shuffled from the last place down.
        counts = zip(
            ("minotaur", "griffin", "mermaid", "red", "yellow", "purple", "gray"),
            (1, 3, 2, 7, 7, 8, 8),
            strict=True,
        )
        items = [kind for kind, count in counts for _ in range(count)]
        for last in range(len(items) - 1, 0, -1):
            other = below(words, last + 1)
            items[last], items[other] = items[other], items[last]
        assert line["shuffled"] == items


def test_scores_lead_to_the_result(file: Path) -> None:
    match = write_match(file, "bouillabaisse", 4)
    printed = lines(run(file, "--json"))
    scores = [line for line in printed if line["type"] == "scores"]
    booked = [line["totals"] for line in printed if line.get("event") == "round_scored"]
    standing = [totals for totals, _ in groupby(line["totals"] for line in scores)]
    assert standing == [[0, 0, 0, 0], *booked]
    result = printed[-1]
    assert (result["totals"], result["hash"]) == (list(match.totals()), match.hash.hex())
    assert scores[-1]["hash"] == result["hash"]
    assert result["over"] is True


def test_people_read_the_same_in_words(file: Path) -> None:
    match = write_match(file, "mino_dice", 3)
    result = run(file)
    assert result.exit_code == 0
    turn, seat, action = match.decisions[-1]
    assert f"turn {turn}: seat {seat} {match.game.action_name(action)} (out of: " in result.stdout
    assert "bids shown: bids " in result.stdout
    assert f"totals {' '.join(map(str, match.totals()))}; places" in result.stdout
    assert match.hash.hex() in result.stdout


# -- what is wrong ------------------------------------------------------------------------------


def change(key: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def make(data: dict[str, Any]) -> None:
        *path, last = key.split(".")
        for part in path:
            data = data[part]
        data[last] = value

    return make


@pytest.mark.parametrize(
    "key, value, told",
    [
        ("hash", "00" * 32, "hash: recorded 0000"),
        ("placement", [3, 3, 3], "placement: recorded (3, 3, 3)"),
        ("fairness.server_seed", "11" * 32, "commitment: recorded"),
        ("fairness.salt", "11" * 32, "commitment: recorded"),
        ("fairness.table_id", "table-2", "commitment: recorded"),
        ("fairness.nonces", [], "seed: recorded"),
        ("fairness.reproducible", True, "seed: recorded"),
    ],
)
def test_a_match_that_does_not_come_to_what_the_file_says_is_told_by_exit_code_1(
    file: Path, key: str, value: Any, told: str
) -> None:
    write_match(file, "mino_dice", 3)
    data = json.loads(file.read_text())
    change(key, value)(data)
    file.write_text(json.dumps(data))
    result = run(file, "--json")
    assert result.exit_code == 1
    assert told in result.stderr


@pytest.mark.parametrize(
    "key, value, told",
    [
        ("format", "tavolata.match/9", "record.format: 'tavolata.match/2' was expected"),
        ("game", "chess", "there are: "),
        ("rules_version", "0", "this program plays version '1'"),
        ("seats", 9, "allowed: 3 to 6"),
        ("options.scoring", "double", "allowed: full, simple"),
        ("seed", "xy", "record.seed: 'xy' does not match"),
    ],
)
def test_a_file_that_cannot_be_played_is_told_by_exit_code_2(
    file: Path, key: str, value: Any, told: str
) -> None:
    write_match(file, "mino_dice", 3)
    data = json.loads(file.read_text())
    change(key, value)(data)
    file.write_text(json.dumps(data))
    result = run(file)
    assert (result.exit_code, result.stdout) == (2, "")
    assert told in result.stderr


def test_files_that_are_none_are_told_by_exit_code_2(tmp_path: Path) -> None:
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe\x00")
    for path in (tmp_path, tmp_path / "missing", binary):
        result = run(path)
        assert (result.exit_code, result.stdout) == (2, "")
        assert str(path) in result.stderr


# -- the command itself -------------------------------------------------------------------------


def test_help_names_the_commands_and_version_the_version() -> None:
    runner = CliRunner()
    assert "replay" in runner.invoke(app, ["--help"]).stdout
    assert runner.invoke(app, ["--version"]).stdout == f"tavolata {tavolata.__version__}\n"


def test_help_loads_neither_games_nor_transport() -> None:
    code = (
        "import sys\nfrom tavolata.service.cli import main\n"
        "heavy = [m for m in ('grpc', 'google.protobuf', 'tavolata.ext', 'tavolata.ai')"
        " if m in sys.modules]\nprint(heavy)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
