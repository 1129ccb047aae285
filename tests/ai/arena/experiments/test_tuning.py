"""Tuning with tiny budgets: what is tried, and that a search goes on as if never interrupted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tavolata.ai.arena.experiments.tuning import FRESH, Search, load_tuning
from tavolata.ai.arena.tournament.specification import SpecificationError
from tavolata.service.cli.main import app

FILE = """
title = "Exploration"
seed = 9
trials = 4
deals = 2
[[games]]
game = "mino_dice"
[limits]
iterations = 2
[parameters.exploration]
from = 0.25
to = 4.0
log = true
[parameters.rule_playouts]
choices = [false, true]
[confirm]
rule = "count"
deals = 3
"""
EXAMPLE = Path(__file__).parents[4] / "examples" / "experiments" / "tuning.toml"


def tune(file: Path, folder: Path) -> Result:
    arguments = ["tune", str(file), "--folder", str(folder), "--backend", "inline"]
    return CliRunner().invoke(app, arguments)


def results(folder: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads((folder / "results.json").read_text())["results"]
    return found


def test_trials_stay_within_the_bounds_and_the_best_one_meets_the_default_on_fresh_deals(
    tmp_path: Path,
) -> None:
    file, folder = tmp_path / "tune.toml", tmp_path / "one"
    file.write_text(FILE)
    done = tune(file, folder)
    assert done.exit_code == 0, done.output
    search = Search(load_tuning(FILE), folder)
    assert len(search.finished) == 4
    assert all(0.25 <= each.params["exploration"] <= 4.0 for each in search.finished)
    assert all(each.params["rule_playouts"] in (False, True) for each in search.finished)
    assert search.best.value == max(each.value or 0.0 for each in search.finished)
    confirm = search.next_part()
    assert confirm is not None
    assert confirm.name == "confirm"
    assert confirm.is_over(folder)
    specification = confirm.specification
    assert specification.field.seed == 9 + FRESH
    assert dict(specification.field.entrants["tuned"].settings) == {
        name: float(value) for name, value in search.best.params.items()
    }
    (row,) = confirm.compared(folder)
    assert row.deals == 3


def test_an_interrupted_search_ends_as_one_that_was_not(tmp_path: Path) -> None:
    file = tmp_path / "tune.toml"
    file.write_text(FILE)
    assert tune(file, tmp_path / "whole").exit_code == 0
    broken = tmp_path / "broken"
    broken.mkdir()
    search = Search(load_tuning(FILE), broken)
    for _ in range(2):  # the second is asked for, and not played any more
        part = search.next_part()
        assert part is not None
    (broken / "experiment.toml").write_text(FILE)
    assert tune(file, broken).exit_code == 0
    assert results(broken) == results(tmp_path / "whole")
    assert results(broken)["confirmed"]


def test_all_trials_play_the_same_deals() -> None:
    tuning = load_tuning(FILE)
    parts = [
        tuning.part(name, {"exploration": c}, fresh=False) for name, c in [("a", 0.5), ("b", 2)]
    ]
    plans = [part.specification.schedule().next_block([]) for part in parts]
    assert plans[0] == plans[1]
    assert {part.specification.field.seed for part in parts} == {9}


@pytest.mark.parametrize(
    "old, new, says",
    [
        ("[parameters.rule_playouts]", "[parameters.colour]", "parameters.settings.colour is no"),
        ("from = 0.25", "from = 5.0", "from is below to"),
        ("from = 0.25", "from = -1.0", "from is above 0 on a log scale"),
        ("to = 4.0", "", "from and to, or choices"),
        ("choices = [false, true]", "choices = [true]", "parameters.rule_playouts"),
        ("trials = 4", "trials = 0", "trials is 0"),
        ("deals = 2", "deals = 1", "deals is 1"),
        ('game = "mino_dice"', 'game = "chess"', "games[0].game is"),
    ],
)
def test_what_is_wrong_is_said_with_its_key(old: str, new: str, says: str) -> None:
    assert old in FILE
    with pytest.raises(SpecificationError) as refused:
        load_tuning(FILE.replace(old, new, 1))
    assert says in str(refused.value)


def test_the_example_can_be_run() -> None:
    assert load_tuning(EXAMPLE).read.trials >= 10
