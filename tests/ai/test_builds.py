"""The portable build and the one for this processor search alike, to the last statistic."""

from __future__ import annotations

import os
import subprocess
import sys

from tavolata.ext.core.cpu import level

PROGRAM = """
from tavolata.ai.baselines import InfosetUctPlayer
from tavolata.ai.ismcts import IsmctsPlayer
from tavolata.ai.player import Limits
from tavolata.ai.stop import Stop
from tavolata.ext.core.cpu import level
from tavolata.ext.registry import GAMES
from tests.ai.situations import observations

print(level())
for game in GAMES:
    for number, observation in enumerate(observations(game)):
        for kind in IsmctsPlayer, InfosetUctPlayer:
            player = kind(observation.game)
            decision = player.analyse(observation, Limits(iterations=700), seed=number, stop=Stop())
            print(decision.action, decision.statistics)
"""


def searched_on(build: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=os.environ | {"TAVOLATA_CPU": build, "PYTHONPATH": "."},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


def test_every_build_decides_alike() -> None:
    portable, best = searched_on("base"), searched_on(level())
    assert portable[0] == "base"
    assert best[0] == level()
    assert portable[1:] == best[1:]
    assert len(portable) > 10
