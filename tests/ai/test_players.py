"""Players by name, from here and from other packages."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tavolata.ai.basic import GreedyPlayer, RandomPlayer
from tavolata.ai.player import Decision, Limits, observe
from tavolata.ai.players import BUILT_IN, UnknownPlayer, player_spec, player_specs
from tavolata.ai.stop import Stop
from tavolata.ext.registry import GAMES
from tests.ai.situations import match_at, observations

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", [spec.name for spec in BUILT_IN])
@pytest.mark.parametrize("game_id", list(GAMES))
def test_every_built_in_player_decides_legally_in_every_game(name: str, game_id: str) -> None:
    for observation in observations(game_id):
        player = player_spec(name).make(observation.game)
        decision = player.decide(observation, Limits(iterations=50), seed=3, stop=Stop())
        assert decision.action in observation.legal_actions


def test_the_random_player_takes_every_legal_action() -> None:
    match = match_at("bouillabaisse", 4, 1, 0)
    observation = observe(match, match.to_act[0])
    limits = Limits(iterations=1)
    taken = {
        RandomPlayer().decide(observation, limits, seed=seed, stop=Stop()).action
        for seed in range(400)
    }
    assert taken == set(observation.legal_actions)


def test_the_greedy_player_needs_no_seed() -> None:
    for observation in observations("bouillabaisse"):
        decisions = {
            GreedyPlayer().decide(observation, Limits(iterations=1), seed=seed, stop=Stop())
            for seed in range(5)
        }
        assert len(decisions) == 1
        assert isinstance(decisions.pop(), Decision)


def test_an_observation_tells_the_events_of_the_round_as_the_seat_may_see_them() -> None:
    match = match_at("bouillabaisse", 4, 6, 60)
    seat = match.to_act[0]
    events = [entry.event for entry in match.events(seat, match.round_start)]
    assert list(observe(match, seat).events) == events
    dealt = [event for event in events if type(event).__name__ == "Dealt"]
    assert [getattr(event, "cards") is None for event in dealt] == [  # noqa: B009
        other != seat for other in range(4)
    ]


def test_an_unknown_player_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(UnknownPlayer, match=r"there are: .*greedy.*ismcts"):
        player_spec("clairvoyant")
    assert {"random", "greedy", "ismcts"} <= set(player_specs())


IS_NATIVE = """
from native_player import eager
from tavolata.ai.basic import is_native
print(is_native(type(eager(None))))
"""


@pytest.mark.parametrize(
    ("package", "player"),
    [
        ("lowest_player", "lowest"),
        ("trial_player", "trial:iterations=20"),
        ("native_player", "eager:adventures=30"),
    ],
)
def test_a_player_of_another_package_plays_by_its_entry_point(
    package: str, player: str, tmp_path: Path
) -> None:
    """One in Python, and two in Cython that are built against the .pxd files of the package."""
    install = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation"]
    source = tmp_path / "source"
    source.mkdir()
    for file in (ROOT / "examples" / package).iterdir():
        if file.suffix in (".py", ".pyx", ".toml"):
            (source / file.name).write_bytes(file.read_bytes())
    subprocess.run([*install, "--target", str(tmp_path / "site"), str(source)], check=True)
    played = subprocess.run(
        [
            sys.executable,
            "-m",
            "tavolata",
            "match",
            "bouillabaisse",
            "greedy",
            f"own={player}",
            "--deals",
            "2",
        ],
        env=os.environ | {"PYTHONPATH": str(tmp_path / "site")},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert played.returncode == 0, played.stderr
    assert re.search(r"(own - greedy|greedy - own): utility", played.stdout)
    if package == "native_player":
        told = subprocess.run(
            [sys.executable, "-c", IS_NATIVE],
            env=os.environ | {"PYTHONPATH": str(tmp_path / "site")},
            capture_output=True,
            text=True,
            check=True,
        )
        assert told.stdout.strip() == "True"
