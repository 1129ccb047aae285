"""How a tournament went, told from its outcomes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tavolata.ai.arena.tournament.course import lines
from tavolata.ai.arena.tournament.model import MatchOutcome, MatchPlan
from tavolata.ai.arena.tournament.specification import Specification, load
from tests.ai.arena.tournament.made_up import crash, play_all

BASE = """
games = [{ game = "mister_bill" }]
faults.faults_max = 3
[[entrants]]
player = "random"
label = "p{iterations}"
iterations = [1, 2, 3, 4, 5]
"""


def told(
    text: str, fault: str = "", blocks: int | None = None
) -> tuple[list[str], list[MatchOutcome]]:
    """The lines, where who has the higher number is better by a tenth a step."""
    spec: Specification = load(BASE + text)

    def utility(label: str, plan: MatchPlan) -> float:
        return 0.1 * int(label[1:]) + (0.02 if (plan.deal + int(label[1:])) % 2 else -0.02)

    done = play_all(
        spec.schedule(), utility, lambda plan: [crash(fault)] if fault in plan.labels else []
    )

    def of_block(block: int) -> list[MatchOutcome]:
        found = [each for each in done if each.plan.block == block]
        return found[:-1] if block == blocks else found

    return list(lines(spec, of_block)), done


def test_a_knock_out_is_told_with_its_byes_and_its_winner() -> None:
    text, _ = told('[format]\nkind = "knock_out"\n[stop]\nrule = "count"\ndeals = 4')
    assert text[0] == "mister_bill: first minus second entrant, in utility"
    assert "  round 1: p4 - p5: -0.100 over 4 deals" in text
    assert [line for line in text if "no opponent" in line] == [
        f"  round 1: p{number} has no opponent" for number in (1, 2, 3)
    ]
    assert text[-1] == "  winner: p5"


def test_a_swiss_tournament_is_told_with_its_points() -> None:
    text, _ = told('[format]\nkind = "swiss"\nrounds = 3\n[stop]\nrule = "count"\ndeals = 4')
    assert sum("no opponent" in line for line in text) == 3
    # Two meetings and a bye in each of three rounds. p4 met the last in each of its meetings or
    # better, p5 had the bye of the first round: both have won all, p4 against more points.
    points = text[-1].partition("points after round 3: ")[2].split(", ")
    assert sum(float(entry.split()[1]) for entry in points) == 9
    assert points[:2] == ["p4 3", "p5 3"]


def test_decisions_of_a_test_are_told() -> None:
    text, _ = told(
        '[format]\nkind = "gauntlet"\nchallengers = ["p3"]\n'
        '[stop]\nrule = "sprt"\ndeals = 100\nh0 = -0.05\nh1 = 0.05'
    )
    assert len(text) == 5
    assert all("h1 is accepted" in line for line in text if "p3 - p1" in line or "p3 - p2" in line)
    assert all("h0 is accepted" in line for line in text if "p3 - p4" in line or "p3 - p5" in line)


def test_what_goes_on_is_told_to_go_on() -> None:
    stop = '[stop]\nrule = "width"\ndeals = 100\nhalf_width = 0.001'
    text, _ = told(f'[format]\nkind = "round_robin"\n{stop}', blocks=2)
    assert all(line.endswith("over 40 deals; goes on") for line in text[1:])
    text, _ = told(f'[format]\nkind = "mixed"\n{stop}', blocks=0)
    assert text[1:] == [] or all("over 0 deals; goes on" in line for line in text[1:])


@pytest.mark.parametrize("kind", ["round_robin", "mixed"])
def test_who_was_withdrawn_is_told(kind: str) -> None:
    stop = '[stop]\nrule = "width"\ndeals = 100\nhalf_width = 0.001'
    text, _ = told(f'[format]\nkind = "{kind}"\n{stop}', fault="p2")
    assert text[-1] == "p2 was withdrawn for its faults"


def test_the_command_tells_it_from_the_folder(tmp_path: Path) -> None:
    (tmp_path / "cup.toml").write_text(
        """
        games = [{ game = "mister_bill", seats = 3 }]
        entrants = [{ player = "greedy" }, { player = "random" }]
        format.kind = "knock_out"
        stop = { rule = "count", deals = 2 }
        """
    )

    def command(*words: str) -> str:
        return subprocess.run(
            [sys.executable, "-m", "tavolata", "tournament", *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    command("run", "cup.toml", "--backend", "inline")
    text = command("meetings", "cup").splitlines()
    assert text[0] == "mister_bill: first minus second entrant, in utility"
    assert "round 1: greedy - random: " in text[1]
    assert text[2].startswith("  winner: ")
