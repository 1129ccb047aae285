"""The quick judge of sampled worlds says what the reference says, which replays them."""

from __future__ import annotations

from itertools import islice
from random import Random

import pytest

from tests.games.dealing import Judge, sampled_worlds, spots
from tests.games.facts import JUDGED, FactsJudge, spoiled
from tests.games.tables import covering_settings
from tests.reference.worlds import true_world


@pytest.mark.parametrize("game", JUDGED)
def test_the_quick_judge_agrees_with_replaying_about_right_and_spoiled_worlds(game: str) -> None:
    choice = Random(game)
    judged = wrong = 0
    for number, setting in enumerate(islice(covering_settings(game), 12)):
        for spot in islice(spots(game, setting, 400 + number, 0.08, mostly_first=True), 4):
            slow, quick = Judge(spot), FactsJudge(spot.history)
            assert quick.fits(true_world(spot.point.model))
            for world in sampled_worlds(spot, 3, number):
                assert quick.fits(world)
                holders = [seat for seat, held in enumerate(world) if held]
                if len(holders) < 2:
                    continue
                odd = spoiled(world, *choice.sample(holders, 2))
                fits = slow.fits(odd)
                assert quick.fits(odd) == fits, (spot, odd)
                judged += 1
                wrong += not fits
    assert judged > 60
    assert wrong > 10
