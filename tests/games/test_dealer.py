"""Worlds that a search deals: each fits what its seat has seen, in proportion to physical deals.

The reference enumerates and judges. `python -m tests.games.worlds_campaign` is the long form.
"""

from __future__ import annotations

from functools import cache
from itertools import islice
from random import Random
from typing import Any

import pytest

from tavolata.ai.player import observe
from tavolata.ext.core.match import Position
from tavolata.ext.registry import GAMES
from tests.games.dealing import (
    ALL_DIFFERENT,
    JUDGED_BY_FACTS,
    Judge,
    Spot,
    expected_worlds,
    fit,
    sampled_states,
    sampled_worlds,
    small_spots,
    spots,
)
from tests.games.engine import new_fast, shown_view
from tests.games.positions import OPEN_HANDS, holdings
from tests.games.secrecy import decisions_on
from tests.games.tables import covering_settings
from tests.reference.chance import seed_bytes
from tests.reference.worlds import consistent, true_world

SMALL_POSITIONS = 14
SAMPLES = 20_000
DEALS_MAX = 3_000
HIDDEN_HANDS = [game for game in GAMES if game not in OPEN_HANDS]
REPLAYED = [game for game in HIDDEN_HANDS if game not in JUDGED_BY_FACTS]


def in_one_process(games: list[str]) -> list[Any]:
    """The games as parameters; tests of a game share a process, and what it has to look for."""
    return [pytest.param(each, marks=pytest.mark.xdist_group(f"dealer-{each}")) for each in games]


@cache
def chosen_spots(game: str) -> tuple[Spot, ...]:
    settings = covering_settings(game) * 20
    return tuple(islice(small_spots(game, settings, 4_000, DEALS_MAX), SMALL_POSITIONS))


@pytest.mark.parametrize("number", range(SMALL_POSITIONS))
@pytest.mark.parametrize("game", in_one_process(HIDDEN_HANDS))
def test_worlds_come_in_proportion_to_their_physical_deals(game: str, number: int) -> None:
    spot = chosen_spots(game)[number]
    expected = expected_worlds(spot)
    counts = sampled_worlds(spot, SAMPLES, seed=number)
    assert set(counts) <= set(expected), f"a world that doesn't fit: {spot}"
    result = fit(counts, expected)
    assert result.z < 5, f"chi-square is {result.z:.1f} deviations off: {spot}"
    assert result.distance < 1.5 * result.distance_expected + 0.002, f"{result}: {spot}"


@pytest.mark.parametrize(
    "game", in_one_process([game for game in HIDDEN_HANDS if game not in ALL_DIFFERENT])
)
def test_the_proportions_are_not_those_of_distinct_states(game: str) -> None:
    """The check tells physical deals from states where a seat may hold several alike."""
    spot = chosen_spots(game)[1]
    expected = expected_worlds(spot)
    counts = sampled_worlds(spot, 100_000, seed=1)
    assert fit(counts, expected).z < 5
    assert fit(counts, dict.fromkeys(expected, 1)).z > 15


MATCHES = [
    pytest.param(game, number, id=f"{game} {number}")
    for game in HIDDEN_HANDS
    for number in range(len(covering_settings(game)))
]


def match_spots(game: str, number: int) -> list[Spot]:
    """A few positions of a match in one of the covering settings, anywhere in it."""
    setting = covering_settings(game)[number]
    return list(spots(game, setting, 500 + number, share=0.012))


@pytest.mark.parametrize(("game", "number"), MATCHES)
def test_every_sampled_world_fits_what_was_seen(game: str, number: int) -> None:
    for spot in match_spots(game, number):
        judge = Judge(spot)
        for world in sampled_worlds(spot, 8, seed=number):
            assert judge.fits(world), f"{world} does not fit: {spot}"


@pytest.mark.parametrize("game", REPLAYED)
def test_the_judge_agrees_with_a_replay_of_the_whole_match(game: str) -> None:
    choice = Random(game)
    verdicts = []
    for number in range(0, len(covering_settings(game)), 4):
        for spot in match_spots(game, number)[::2]:
            judge, true = Judge(spot), true_world(spot.point.model)
            assert judge.fits(true)
            mixed = [card for hand in true for card in hand]
            choice.shuffle(mixed)
            sizes = [len(hand) for hand in true]
            starts = [sum(sizes[:seat]) for seat in range(len(sizes))]
            other = tuple(
                tuple(mixed[start : start + size])
                for start, size in zip(starts, sizes, strict=True)
            )
            verdict = consistent(spot.history, other, spot.viewer)
            assert judge.fits(other) == verdict
            verdicts.append(verdict)
    assert False in verdicts


@pytest.mark.parametrize(("game", "number"), MATCHES)
def test_sampled_states_show_the_viewer_what_it_sees(game: str, number: int) -> None:
    for spot in match_spots(game, number):
        match = spot.point.match
        seen = shown_view(match.game, match.view(spot.viewer), spot.viewer)
        for state in sampled_states(spot, 4, seed=number):
            world = Position(match.game, state)
            shown = shown_view(match.game, world.blank(spot.viewer), spot.viewer)
            # Others' open choices are withdrawn; else the viewer sees no difference.
            open_keys = {"to_act", "committed", "bids"} if len(world.to_act) > 1 else set()
            assert {k: v for k, v in shown.items() if k not in open_keys} == {
                k: v for k, v in seen.items() if k not in open_keys
            }, f"{spot}"
            if spot.viewer >= 0:
                own = holdings(match.game, match.state_bytes())[spot.viewer]
                assert holdings(match.game, state)[spot.viewer] == own


@pytest.mark.parametrize("number", range(len(covering_settings("mino_dice"))))
def test_open_bids_of_other_seats_are_withdrawn(number: int) -> None:
    setting = covering_settings("mino_dice")[number]
    seen_committed = False
    for spot in spots("mino_dice", setting, 900 + number, share=0.3):
        match = spot.point.match
        shown = spot.point.model.view(-1)
        if shown["phase"] != "bid":
            continue
        seen_committed = seen_committed or bool(shown["committed"])
        for state in sampled_states(spot, 3, seed=number):
            world = Position(match.game, state)
            others = set(range(match.game.seat_count)) - {spot.viewer}
            assert others <= set(world.to_act), f"{spot}"
            own = match.game.view(state, spot.viewer)
            if spot.viewer >= 0:
                assert (spot.viewer in world.to_act) == (spot.viewer in match.to_act)
                bid = getattr(own, "bids")[spot.viewer]  # noqa: B009 - a view of any game
                bids = spot.point.model.view(spot.viewer)["bids"]
                assert isinstance(bids, list)
                assert bid == bids[spot.viewer]
    assert seen_committed


@pytest.mark.parametrize("seats", [3, 4, 5, 6])
def test_who_else_has_committed_changes_no_decision(seats: int) -> None:
    """Mino Dice, MD-4: bids are chosen at the same time, whatever the order they come in."""
    choice = Random(seats)
    for seed in range(6):
        match = new_fast("mino_dice", seats, {}, seed_bytes(seed)).match
        for _ in range(choice.randrange(3) * 40):
            seat = choice.choice(match.to_act)
            match.play(seat, choice.choice(match.legal(seat)))
        while len(match.to_act) < seats:
            match.play(match.to_act[0], match.legal(match.to_act[0])[0])
        viewer, *others = choice.sample(range(seats), seats)
        alone = observe(match, viewer)
        worlds = Position(match.game, match.state_bytes(), 5).redeals(viewer, 20)
        for other in others:
            match.play(other, choice.choice(match.legal(other)))
            if viewer in match.to_act:
                later = observe(match, viewer)
                assert later.view_bytes != alone.view_bytes
                assert decisions_on(later) == decisions_on(alone)
                dealt = Position(match.game, match.state_bytes(), 5).redeals(viewer, 20)
                assert dealt == worlds
