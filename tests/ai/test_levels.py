"""Levels: what is chosen from a search, and that a level plays alike wherever it plays."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest
from typer.testing import CliRunner

from tavolata.ai.ismcts import IsmctsPlayer, _choice
from tavolata.ai.levels import DEFAULT_LEVEL, NAMES, UnknownLevel, level_names, levels_of
from tavolata.ai.player import ActionStatistics, Decision, Limits, Observation, observe
from tavolata.ai.players import UnknownPlayer, player_spec
from tavolata.ai.stop import Stop
from tavolata.ext.core.match import Match
from tavolata.ext.registry import GAMES
from tavolata.service.ai_levels import Ceiling
from tavolata.service.cli.main import app
from tests.ai.situations import match_at

ISMCTS = player_spec("ismcts")
DRAWS = 4_000
# 99.99 % points of chi-square with 1 to 4 degrees of freedom (standard tables).
CHI_SQUARE = (15.14, 18.42, 21.11, 23.51)


def rows(*visits: int) -> tuple[ActionStatistics, ...]:
    """Statistics of actions 10, 11, ... with these visits and equal means."""
    all_visits = sum(visits)
    return tuple(
        ActionStatistics(10 + n, count, all_visits, count / all_visits, 0.5, 0.1, (0.5,), (0.0,))
        for n, count in enumerate(visits)
    )


def drawn(visits: tuple[int, ...], temperature: float) -> Counter[int]:
    made = rows(*visits)
    return Counter(_choice(made, False, temperature, seed) for seed in range(DRAWS))


def opening(game_id: str) -> Observation:
    match = Match(GAMES[game_id].make(GAMES[game_id].seats_usual), bytes(32))
    return observe(match, match.to_act[0])


def decided(observation: Observation, name: str, seed: int = 1) -> Decision:
    spec = player_spec(name)
    player = spec.make(observation.game)
    return player.decide(observation, spec.limits, seed=seed, stop=Stop())


def test_without_temperature_the_most_visited_action_is_taken_whatever_the_seed() -> None:
    assert drawn((30, 60, 59), 0.0) == {11: DRAWS}


def test_of_equally_visited_actions_the_better_one_is_taken() -> None:
    first, second = rows(50, 50)
    assert _choice((first, replace(second, mean=0.51)), False, 0.0, 1) == second.action


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_shares_are_visits_to_the_inverse_temperature(temperature: float) -> None:
    visits = (400, 200, 100, 80, 60)
    weights = [count ** (1 / temperature) for count in visits]
    counts = drawn(visits, temperature)
    expected = [DRAWS * weight / sum(weights) for weight in weights]
    chi_square = sum((counts[10 + n] - each) ** 2 / each for n, each in enumerate(expected))
    assert chi_square < CHI_SQUARE[len(visits) - 2]


@pytest.mark.parametrize("temperature", [0.5, 10.0, 1e9, float("inf")])
def test_what_has_less_than_a_tenth_of_the_best_one_s_visits_is_never_chosen(
    temperature: float,
) -> None:
    counts = drawn((1_000, 100, 99, 1, 0), temperature)
    assert set(counts) <= {10, 11}


def test_an_action_at_the_floor_is_chosen_at_a_high_temperature() -> None:
    counts = drawn((1_000, 101, 99), 1e9)
    assert min(counts[10], counts[11]) > DRAWS / 2 - 4 * DRAWS**0.5


@pytest.mark.parametrize("temperature", [-0.1, float("nan")])
def test_a_temperature_below_zero_is_refused(temperature: float) -> None:
    with pytest.raises(ValueError, match="0 or more"):
        IsmctsPlayer(GAMES["bids"].make(4), temperature=temperature)


def test_a_search_that_was_stopped_before_it_began_still_chooses_at_a_temperature() -> None:
    observation, stop = opening("bids"), Stop()
    stop.set()
    player = IsmctsPlayer(observation.game, temperature=1.0)
    decision = player.decide(observation, Limits(iterations=100), seed=1, stop=stop)
    assert decision.action in observation.legal_actions


@pytest.mark.parametrize("game_id", list(GAMES))
def test_every_game_has_every_level_from_weak_to_strong(game_id: str) -> None:
    levels = levels_of(ISMCTS, GAMES[game_id])
    assert tuple(levels) == NAMES == level_names(ISMCTS)
    assert len(NAMES) >= 6
    for weaker, stronger in pairwise(levels.values()):
        assert (weaker.limits.iterations or 0) < (stronger.limits.iterations or 0)
    assert levels["master"].temperature == 0


@pytest.mark.parametrize("game_id", list(GAMES))
def test_levels_are_limits_in_iterations_that_a_server_allows(game_id: str) -> None:
    ceiling = Ceiling()
    for level in levels_of(ISMCTS, GAMES[game_id]).values():
        assert level.limits.think_ms is None
        assert level.limits.threads == 1
        assert 1 <= (level.limits.iterations or 0) <= ceiling.iterations
        assert level.limits.nodes <= ceiling.nodes


@pytest.mark.parametrize("name", NAMES[:3])
@pytest.mark.parametrize("game_id", list(GAMES))
def test_a_level_spends_its_iterations_and_decides_alike_every_time(
    game_id: str, name: str
) -> None:
    observation = opening(game_id)
    first = decided(observation, f"ismcts@{name}")
    assert first.iterations == levels_of(ISMCTS, GAMES[game_id])[name].limits.iterations
    assert first.action in observation.legal_actions
    again = decided(opening(game_id), f"ismcts@{name}")
    assert (again.action, again.statistics) == (first.action, first.statistics)


def test_equal_views_get_equal_decisions_at_a_level() -> None:
    match = match_at("mino_dice", 4, 5, 0)
    alone = [decided(observe(match, 2), "ismcts@beginner", seed) for seed in range(8)]
    match.play(0, match.legal(0)[0])  # a bid that seat 2 doesn't see
    after = [decided(observe(match, 2), "ismcts@beginner", seed) for seed in range(8)]
    assert [each.statistics for each in alone] == [each.statistics for each in after]
    assert [each.action for each in alone] == [each.action for each in after]


def test_a_level_stays_within_what_it_is_allowed() -> None:
    observation = opening("bids")
    player = player_spec("ismcts@master").make(observation.game)
    decision = player.decide(observation, Limits(iterations=7), seed=1, stop=Stop())
    assert decision.iterations == 7


def test_players_that_do_not_search_have_one_level() -> None:
    assert level_names(player_spec("greedy")) == (DEFAULT_LEVEL,)
    observation = opening("bids")
    at_level = decided(observation, "greedy@standard")
    assert at_level.action == decided(observation, "greedy").action


def test_a_searching_player_without_a_temperature_has_a_lighter_and_a_stronger_level() -> None:
    flat = player_spec("flat")
    iterations = [each.limits.iterations for each in levels_of(flat, GAMES["mino_dice"]).values()]
    assert iterations == [500, 4_000, 32_000]


@pytest.mark.parametrize(
    "player, says",
    [
        ("ismcts@godlike", "has no level 'godlike'; it has: beginner, easy"),
        ("deep@easy", "no player 'deep'"),
        ("ismcts@easy:temperature=1", "takes iterations, think_ms"),
    ],
)
def test_a_match_of_players_at_levels_that_are_not_there_is_refused(player: str, says: str) -> None:
    refused = CliRunner().invoke(app, ["match", "mino_dice", player, "greedy", "--deals", "1"])
    assert refused.exit_code == 2
    assert says in " ".join(refused.output.replace("│", " ").split())


def test_players_at_levels_meet_in_a_match() -> None:
    arguments = ["match", "mino_dice", "ismcts@easy", "low=ismcts@beginner", "--deals", "1"]
    played = CliRunner().invoke(app, [*arguments, "--processes", "1", "--json"])
    assert played.exit_code == 0, played.output
    spent = {row["label"]: row["iterations"] for row in json.loads(played.output)["standings"]}
    easy, beginner = (
        levels_of(ISMCTS, GAMES["mino_dice"])[name].limits.iterations or 0
        for name in ("easy", "beginner")
    )
    assert 0 < spent["ismcts@easy"] <= easy
    assert 0 < spent["low"] <= beginner


def test_unknown_levels_and_players_are_named_with_what_there_is() -> None:
    with pytest.raises(UnknownLevel, match="'ismcts' has no level 'godlike'; it has: beginner, "):
        player_spec("ismcts@godlike")
    with pytest.raises(UnknownLevel, match="'greedy' has no level 'master'; it has: standard"):
        player_spec("greedy@master")
    with pytest.raises(UnknownPlayer, match="no player 'deep'"):
        player_spec("deep@master")
