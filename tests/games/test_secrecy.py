"""Two matches that a viewer can't tell apart by the rules are alike in all that the viewer gets.

Pairs come from the reference (positions.py). The check is shown to bite by leaks planted on
purpose (plants.py), each of which it has to report.
"""

from __future__ import annotations

from functools import cache
from random import Random

import pytest

from tavolata.ext.core.match import Match
from tavolata.ext.registry import GAMES
from tests.games.plants import planted_leaks
from tests.games.positions import exchanged_match, random_points
from tests.games.secrecy import ASPECTS, Aspect, differences
from tests.games.tables import Setting, covering_settings, setting_name

POINTS_A_MATCH = 14

Pair = tuple[Match, Match, int]


@cache
def pairs(game: str, number: int) -> tuple[Pair, ...]:
    """Equal-view pairs spread over a random match in one of the covering settings."""
    setting = covering_settings(game)[number]
    choice = Random(f"{game} {number} pairs")
    wanted = {choice.randrange(_steps(setting, game)) for _ in range(POINTS_A_MATCH)}
    found: list[Pair] = []
    for step, point in enumerate(random_points(game, setting, 77 + number)):
        if step not in wanted:
            continue
        acting = sorted(point.model.to_act())
        viewers = {choice.choice(acting), choice.randrange(-1, point.model.seats)}
        for viewer in sorted(viewers):
            other = exchanged_match(point, viewer, choice)
            if other is not None:
                found.append((point.match.copy(), other, viewer))
    return tuple(found)


def _steps(setting: Setting, game: str) -> int:
    """Actions of a whole match with these seats."""
    match = next(iter(random_points(game, setting, 1))).match
    while not match.over:
        seat = match.to_act[0]
        match.play(seat, match.legal(seat)[0])
    return match.decision_count


SETTINGS = [
    pytest.param(game, number, id=f"{game} {setting_name(setting)}")
    for game in GAMES
    for number, setting in enumerate(covering_settings(game))
]


@pytest.mark.parametrize(("game", "number"), SETTINGS)
def test_a_viewer_gets_the_same_of_matches_it_cannot_tell_apart(game: str, number: int) -> None:
    for one, other, viewer in pairs(game, number):
        found = differences(one, other, viewer)
        assert not found, (
            f"viewer {viewer}, turn {one.turn}: {', '.join(found)} differ between\n"
            f"{one.game.format_state(one.state_bytes())}\n"
            f"{other.game.format_state(other.state_bytes())}"
        )


@pytest.mark.parametrize("game", GAMES)
def test_pairs_are_made_for_seats_to_act_others_and_spectators(game: str) -> None:
    found = [pair for number in range(6) for pair in pairs(game, number)]
    assert len(found) >= 50
    assert all(one.state_bytes() != other.state_bytes() for one, other, _ in found)
    assert any(viewer in one.to_act for one, _, viewer in found)
    assert any(viewer >= 0 and viewer not in one.to_act for one, _, viewer in found)
    assert any(viewer == -1 for _, _, viewer in found)


@pytest.mark.parametrize(
    ("game", "aspect", "leak"),
    [
        pytest.param(game, aspect, leak, id=f"{game} {leak.__name__}")
        for game in GAMES
        for aspect, leak in planted_leaks(game)
    ],
)
def test_a_planted_leak_is_reported(game: str, aspect: str, leak: Aspect) -> None:
    aspects = {aspect: leak}
    assert any(
        differences(one, other, viewer, aspects) == [aspect]
        for number in range(6)
        for one, other, viewer in pairs(game, number)
    ), f"no pair shows {leak.__name__}"


@pytest.mark.parametrize("game", GAMES)
def test_every_aspect_has_a_leak_that_is_reported(game: str) -> None:
    assert {aspect for aspect, _ in planted_leaks(game)} == set(ASPECTS)
    assert len(planted_leaks(game)) >= 10
