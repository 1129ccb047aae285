"""What the dealer does with the bag, all that is hidden in Café International (CI-26)."""

from __future__ import annotations

import math
from collections import Counter
from random import Random

import pytest

from tavolata.ext.cafe_international import SPEC
from tavolata.ext.cafe_international.views import View
from tavolata.ext.core.game import Game
from tavolata.ext.core.match import Match, Position
from tavolata.ext.core.spec import Options
from tests.games.engine import shown_view
from tests.reference.chance import seed_bytes

SAMPLES = 20_000
ALL_OPTIONS: Options = {"regulars": True, "birthday": True, "joker_identity": "declared"}


def positions(seats: int, seed: int) -> list[Match]:
    """Every ninth decision of a random match."""
    options: Options = {**ALL_OPTIONS, "five_players": seats == 5}
    match, choice, found = Match(SPEC.make(seats, options), seed_bytes(seed)), Random(seed), []
    while not match.over:
        if match.decision_count % 9 == 0:
            found.append(match.copy())
        (seat,) = match.to_act
        match.play(seat, choice.choice(match.legal(seat)))
    return found


def bag_of(game: Game, state: bytes) -> list[int]:
    """Kinds in the bag, the next to be drawn first."""
    fields = game.unpack(state)
    assert not any(fields["order"][: 100 - fields["bag_size"]])
    return [kind - 1 for kind in fields["order"][100 - fields["bag_size"] :]]


@pytest.mark.parametrize("seats", [2, 3, 4, 5])
def test_a_sampled_world_differs_in_the_order_of_the_bag_and_in_nothing_else(seats: int) -> None:
    for match in positions(seats, seats):
        game, state = match.game, match.state_bytes()
        for viewer in range(-1, seats):
            seen = shown_view(game, match.view(viewer), viewer)
            for world in Position(game, state, viewer + 9).redeals(viewer, 3):
                assert Counter(bag_of(game, world)) == Counter(bag_of(game, state))
                assert bag_of(game, world) != bag_of(game, state)
                blanked = Position(game, world).blank(viewer)
                assert blanked == match.view(viewer)
                assert shown_view(game, blanked, viewer) == seen


def test_every_guest_in_the_bag_is_as_likely_to_be_drawn_first_as_last() -> None:
    match = positions(4, 5)[4]
    game, state = match.game, match.state_bytes()
    view = game.view(match.view(0), 0)
    assert isinstance(view, View)
    worlds = [bag_of(game, world) for world in Position(game, state, 3).redeals(0, SAMPLES)]
    for place in (0, 1, 4, view.bag_size // 2, view.bag_size - 1):
        often = Counter(world[place] for world in worlds)
        for kind, count in enumerate(view.bag):
            share = count / view.bag_size
            deviation = math.sqrt(SAMPLES * share * (1 - share))
            assert abs(often[kind] - SAMPLES * share) <= 5 * deviation


def test_two_draws_hang_together_as_without_replacement() -> None:
    """Of two guests drawn in a row, equal kinds are as rare as the bag's counts make them."""
    match = positions(3, 8)[3]
    game, state = match.game, match.state_bytes()
    view = game.view(match.view(0), 0)
    assert isinstance(view, View)
    size = view.bag_size
    share = sum(count * (count - 1) for count in view.bag) / (size * (size - 1))
    worlds = [bag_of(game, world) for world in Position(game, state, 4).redeals(0, SAMPLES)]
    alike = sum(world[0] == world[1] for world in worlds)
    assert abs(alike - SAMPLES * share) <= 5 * math.sqrt(SAMPLES * share * (1 - share))
