"""`tavolata tournament` as people use it: real processes, signals, kills."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest
from typer.testing import CliRunner, Result

from tavolata.ai.arena.tournament.folder import RESULTS, SPECIFICATION
from tavolata.ai.arena.tournament.store import Store, StoreError
from tavolata.ext.core.record import loads, replay
from tavolata.ext.registry import game_spec
from tavolata.service.cli.tournament import app

SPEC = """
title = "Small"
seed = 3
[[games]]
game = "mino_dice"
[[entrants]]
player = "greedy"
[[entrants]]
player = "ismcts"
iterations = {iterations}
[format]
kind = "round_robin"
[stop]
rule = "count"
deals = {deals}
"""
GIVE_UP_S = 120


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "tavolata", "tournament", *map(str, arguments)]


def tournament(*arguments: str | Path) -> Result:
    """The command in this process; what is to be killed gets one of its own, see ``started``."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def started(*arguments: str | Path, path: Path | None = None) -> subprocess.Popen[str]:
    """A process of its own session, as a terminal would start it, with players on the path."""
    environment = os.environ | (
        {"PYTHONPATH": os.pathsep.join([str(path), *sys.path])} if path else {}
    )
    return subprocess.Popen(
        command(*arguments),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    )


def wait_until(condition: Callable[[], bool]) -> None:
    """An endless wait would say nothing about what is missing."""
    for _ in range(GIVE_UP_S * 50):
        if condition():
            return
        time.sleep(0.02)
    raise AssertionError(f"waited {GIVE_UP_S} s for what did not happen")


def count(folder: Path) -> int:
    """Matches stored so far, by whoever runs the tournament."""
    if not (folder / RESULTS).exists():
        return 0
    try:
        store = Store(folder / RESULTS, readonly=True)
    except StoreError:  # it is being made
        return 0
    try:
        return store.count()
    finally:
        store.close()


def spec_of(folder: Path, *, deals: int, iterations: int) -> Path:
    path = folder / "small.toml"
    path.write_text(SPEC.format(deals=deals, iterations=iterations))
    return path


def children_of(process: int) -> list[int]:
    """The processes that it has started and that are there still."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == process and fields[0] != "Z":
            found.append(int(entry.name))
    return found


def is_alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_a_runner_killed_and_interrupted_anywhere_comes_to_the_same_hash(tmp_path: Path) -> None:
    spec = spec_of(tmp_path, deals=24, iterations=40)
    whole = tournament("run", spec, "--folder", tmp_path / "whole", "--backend", "inline")
    assert whole.exit_code == 0, whole.stderr
    expected = json.loads(tournament("status", tmp_path / "whole", "--json").stdout)
    assert expected["matches"] == 48
    folder, draws = tmp_path / "parts", random.Random(os.urandom(8))
    arguments: list[str | Path] = ["run", spec, "--folder", folder]
    for number in (signal.SIGKILL, signal.SIGINT, signal.SIGKILL):
        before = count(folder)
        runner = started(*arguments, "--workers", "2")
        wait_until(lambda: count(folder) > before or runner.poll() is not None)  # noqa: B023
        time.sleep(draws.uniform(0, 0.4))
        workers = children_of(runner.pid)
        runner.send_signal(number)
        _, said = runner.communicate()
        wait_until(lambda: not any(map(is_alive, workers)))  # noqa: B023
        if number == signal.SIGINT and count(folder) < 48:
            assert runner.returncode == 128 + signal.SIGINT
            assert f"tavolata tournament resume {folder}" in said
        arguments = ["resume", folder]
    last = tournament("resume", folder)
    assert last.exit_code == 0, last.stderr
    assert expected["result_hash"] in last.stdout
    status = json.loads(tournament("status", folder, "--json").stdout)
    assert status == expected
    assert status["state"] == "finished"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_second_signal_ends_at_once_what_would_take_long(
    tmp_path: Path, bad_players_path: Path, number: signal.Signals
) -> None:
    spec = spec_of(tmp_path, deals=4, iterations=1)
    spec.write_text(spec.read_text().replace('"ismcts"', '"sleeping"'))
    folder = tmp_path / "t"
    runner = started("run", spec, "--folder", folder, "--workers", "1", path=bad_players_path)
    wait_until(lambda: len(children_of(runner.pid)) > 1)  # the worker, and what tidies up after it
    workers = children_of(runner.pid)
    runner.send_signal(number)
    assert runner.stderr is not None
    assert any("stopping after the matches in progress" in line for line in runner.stderr)
    runner.send_signal(number)
    _, said = runner.communicate()
    assert runner.returncode == 128 + number
    assert f"tavolata tournament resume {folder}" in said
    wait_until(lambda: not any(map(is_alive, workers)))
    assert count(folder) == 0


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("finished")
    done = tournament("run", spec_of(folder, deals=2, iterations=5), "--folder", folder / "t")
    assert done.exit_code == 0, done.stderr
    assert "of 4 matches" in done.stderr
    assert "4 matches; result hash: " in done.stdout
    return folder / "t"


def test_a_finished_tournament_says_so_and_is_not_run_again(finished: Path) -> None:
    resumed = tournament("resume", finished)
    assert resumed.exit_code == 0
    assert resumed.stdout.startswith("finished: 4 matches")
    again = tournament("run", finished / SPECIFICATION, "--folder", finished)
    assert again.exit_code == 2
    assert "holds a tournament; resume it" in again.stderr


def test_a_match_is_played_again_by_its_id_and_written_down(finished: Path, tmp_path: Path) -> None:
    file = tmp_path / "match.json"
    done = tournament("match", finished, "0.0.0.1.1", "--record", file)
    assert done.exit_code == 0, done.stderr
    assert "seat 1: greedy" in done.stdout
    assert "played again it is the same" in done.stdout
    match = replay(loads(file.read_text()), game_spec)
    assert f"hash {match.hash.hex()}" in done.stdout


def test_a_match_that_comes_out_otherwise_is_told(finished: Path, tmp_path: Path) -> None:
    other = tmp_path / "t"
    other.mkdir()
    for name in (SPECIFICATION, RESULTS):
        (other / name).write_bytes((finished / name).read_bytes())
    with apsw.Connection(str(other / RESULTS)) as results:
        results.execute("UPDATE outcomes SET hash = zeroblob(32) WHERE deal = 1 AND rotation = 1")
    done = tournament("match", other, "0.0.0.1.1", "--backend", "inline")
    assert done.exit_code == 1
    assert "it came out otherwise" in done.stderr
    assert tournament("match", other, "0.0.0.1.0", "--backend", "inline").exit_code == 0


def test_results_are_exported_and_every_match_can_be_replayed(
    finished: Path, tmp_path: Path
) -> None:
    assert tournament("export", finished, tmp_path / "all.json").exit_code == 0
    assert json.loads((tmp_path / "all.json").read_text())["matches"] == 4
    assert tournament("export", finished, tmp_path / "csv", "--as", "csv").exit_code == 0
    rows = (tmp_path / "csv" / "standings.csv").read_text().splitlines()
    assert {label for row in rows for label in ("greedy", "ismcts") if label in row.split(",")} == {
        "greedy",
        "ismcts",
    }
    assert tournament("export", finished, tmp_path / "logs", "--as", "records").exit_code == 0
    logs = [loads(path.read_text()) for path in (tmp_path / "logs").iterdir()]
    assert len({replay(log, game_spec).hash for log in logs}) == 4
    assert tournament("report", finished, "--to", tmp_path / "r.html").exit_code == 0
    assert "<svg" in (tmp_path / "r.html").read_text()
    table = tournament("standings", finished)
    assert "greedy" in table.stdout
    assert "ismcts" in table.stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("resume", "{none}"), "there is no tournament.toml in it"),
        (("status", "{none}"), "there is no tournament.toml in it"),
        (("standings", "{none}"), "there is no tournament.toml in it"),
        (("run", "{none}/x.toml"), "No such file"),
        (("match", "{finished}", "0.0.9"), "no match '0.0.9' has been played; an id is contest."),
        (("run", "{wrong}"), "games[0].game"),
        (("run", "{wrong}"), "mino_dice"),
    ],
)
def test_what_is_wrong_is_told_with_what_is_allowed(
    finished: Path, tmp_path: Path, arguments: tuple[str, ...], says: str
) -> None:
    wrong = tmp_path / "wrong.toml"
    wrong.write_text(SPEC.format(deals=1, iterations=1).replace("mino_dice", "tarot"))
    places = {"none": tmp_path / "none", "finished": finished, "wrong": wrong}
    done = tournament(*[text.format(**places) for text in arguments])
    assert done.exit_code == 2
    assert says in done.stderr
    assert isinstance(done.exception, SystemExit)
    assert {path.name for path in tmp_path.iterdir()} == {"wrong.toml"}


def test_every_key_of_the_file_is_told() -> None:
    told = tournament("keys").stdout
    for key in ("seed", "games[].seats", "entrants[].iterations", "format.kind", "stop.deals"):
        assert f"\n{key}" in f"\n{told}"
