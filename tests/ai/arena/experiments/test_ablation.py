"""Ablations: what a list comes to, and that it is kept, gone on with and played alike."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tavolata.ai.arena.experiments.ablation import Row, load_study, rows
from tavolata.ai.arena.experiments.parts import DEFAULT
from tavolata.ai.arena.statistics import Interval
from tavolata.ai.arena.tournament.comparisons import Compared
from tavolata.ai.arena.tournament.folder import open_to_read
from tavolata.ai.arena.tournament.keys import Gauntlet, Sprt
from tavolata.ai.arena.tournament.specification import SpecificationError
from tavolata.service.cli.main import app

LIST = """
title = "Two changes"
seed = 5
[[games]]
game = "mino_dice"
[[games]]
game = "bids"
[limits]
iterations = 2
[default]
settings = { exploration = 0.8 }
[[ablations]]
label = "random playouts"
settings = { rule_playouts = false }
games = ["bids"]
[[ablations]]
label = "no search"
player = "greedy"
[stop]
rule = "count"
deals = 2
"""
EXAMPLE = Path(__file__).parents[4] / "examples" / "experiments" / "ablations.toml"


def ablate(file: Path, folder: Path) -> Result:
    arguments = ["ablate", str(file), "--folder", str(folder), "--backend", "inline"]
    return CliRunner().invoke(app, arguments)


def test_every_ablation_meets_the_default_in_the_games_in_which_it_is_a_change() -> None:
    study = load_study(LIST)
    assert [(each.name, each.challengers) for each in study.parts] == [
        ("mino_dice", ("no search",)),
        ("bids", ("random playouts", "no search")),
    ]
    assert study.comparison_count == 3
    bids = study.parts[1].specification
    assert isinstance(bids.format, Gauntlet)
    entrants = bids.field.entrants
    assert list(entrants) == [DEFAULT, "random playouts", "no search"]
    assert dict(entrants[DEFAULT].settings) == {"exploration": 0.8}
    assert dict(entrants["random playouts"].settings) == {"exploration": 0.8, "rule_playouts": 0.0}
    assert (entrants["no search"].player, entrants["no search"].settings) == ("greedy", ())
    assert {each.limits.iterations for each in entrants.values()} == {2}


def test_error_rates_of_a_sequential_test_are_shared_out_among_the_comparisons() -> None:
    test = 'rule = "sprt"\ndeals = 100\nh0 = -0.05\nh1 = 0.05\nalpha = 0.06\nbeta = 0.03'
    study = load_study(LIST.replace('rule = "count"\ndeals = 2', test))
    for part in study.parts:
        stop = part.specification.stop
        assert isinstance(stop, Sprt)
        assert (stop.alpha, stop.beta) == pytest.approx((0.02, 0.01))


@pytest.mark.parametrize(
    "old, new, says",
    [
        ('"greedy"', '"deep"', 'ablations[1].player is "deep"'),
        ("rule_playouts = false", "colour = 3", "ablations[0].settings.colour is no setting"),
        ("exploration = 0.8", "colour = 3", "default.settings.colour is no setting"),
        ('"no search"', '"default"', "ablations[1].label is"),
        ('games = ["bids"]', 'games = ["chess"]', "ablations[0].games is"),
        ('game = "mino_dice"', 'game = "bids"', "games[].name is"),
        ('game = "mino_dice"', 'game = "chess"', "games[0].game is"),
        ('game = "bids"', 'game = "bids"\nseats = 40', "games[1].seats is 40"),
        ('rule = "count"', 'rule = "soon"', "stop.rule is"),
        ("[[ablations]]", "[[changes]]", "changes is"),
        ("deals = 2", "deals = 0", "stop.deals is 0"),
    ],
)
def test_what_is_wrong_is_said_with_its_key_in_the_list(old: str, new: str, says: str) -> None:
    assert old in LIST
    with pytest.raises(SpecificationError) as refused:
        load_study(LIST.replace(old, new))
    assert says in str(refused.value)


def test_a_list_is_played_kept_and_told_again_and_comes_out_alike_elsewhere(tmp_path: Path) -> None:
    file = tmp_path / "list.toml"
    file.write_text(LIST)
    first = ablate(file, tmp_path / "one")
    assert first.exit_code == 0, first.output
    again = ablate(file, tmp_path / "one")  # all is played
    assert again.exit_code == 0
    other = ablate(file, tmp_path / "other")
    results = [
        json.loads((tmp_path / each / "results.json").read_text()) for each in ("one", "other")
    ]
    assert results[0]["results"] == results[1]["results"]
    assert (tmp_path / "one" / "table.md").read_text() in again.output
    assert other.exit_code == 0
    assert [len(each["runs"]) for each in results] == [2, 1]
    run = results[1]["runs"][0]
    assert run["machine"]["cores"] >= 1
    assert len(run["specification_sha256"]) == 64
    assert [(row["contest"], row["ablation"], row["deals"]) for row in results[0]["results"]] == [
        ("mino_dice", "no search", 2),
        ("bids", "random playouts", 2),
        ("bids", "no search", 2),
    ]
    kept = open_to_read(tmp_path / "one" / "bids")
    assert kept.result_hash is not None
    kept.close()


def test_another_list_is_refused_in_the_folder_of_one(tmp_path: Path) -> None:
    file = tmp_path / "list.toml"
    file.write_text(LIST.replace("deals = 2", "deals = 1"))
    assert ablate(file, tmp_path / "one").exit_code == 0
    before = (tmp_path / "one" / "results.json").read_bytes()
    file.write_text(LIST)
    refused = ablate(file, tmp_path / "one")
    assert refused.exit_code == 2
    assert "another file" in refused.output
    assert (tmp_path / "one" / "results.json").read_bytes() == before


def test_a_difference_is_told_only_when_it_is_sure_after_the_correction() -> None:
    compared = Compared(
        "bids", "a", DEFAULT, 2, (0.1, 0.3), Interval(0.2, 0.1), Interval(0.6, 0.1), 0.03
    )
    assert Row(compared, 0.03, None).said == "better"
    assert Row(compared, 0.06, None).said == "no difference shown"
    worse = replace(compared, utility=Interval(-0.2, 0.1))
    assert Row(worse, 0.01, None).said == "worse"


def test_rows_have_holm_s_correction_for_all_comparisons_of_the_list(tmp_path: Path) -> None:
    file = tmp_path / "list.toml"
    file.write_text(LIST)
    assert ablate(file, tmp_path / "one").exit_code == 0
    found = rows(load_study(LIST), tmp_path / "one")
    ranked = sorted(found, key=lambda row: row.compared.p)
    assert ranked[0].corrected == pytest.approx(min(1.0, 3 * ranked[0].compared.p))
    for lower, upper in pairwise(ranked):
        assert (lower.corrected or 0) <= (upper.corrected or 0)


def test_the_example_can_be_run() -> None:
    study = load_study(EXAMPLE)
    assert study.comparison_count >= 5
