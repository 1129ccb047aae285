"""What the dealer lays where nobody sees it: the pile and the left-over (BI-3, BI-14, BI-23).

The sampled hands are judged in tests/games/test_dealer.py; here is what worlds of hands don't show.
"""

from __future__ import annotations

import math
from collections import Counter
from itertools import count, islice
from random import Random

import pytest

from tavolata.ext.bids import SPEC
from tavolata.ext.bids.views import View
from tavolata.ext.core.game import Game
from tavolata.ext.core.match import Match, Position
from tests.reference.chance import seed_bytes

OPTIONS = {"surprise": True, "lowest": True, "thief": True}
SAMPLES = 20_000
HIDDEN = 255  # in a pile of the state: a card that the viewer can't know


def positions(seats: int, seed: int) -> list[Match]:
    """Every ninth decision of a random match."""
    match, choice, found = Match(SPEC.make(seats, OPTIONS), seed_bytes(seed)), Random(seed), []
    while not match.over:
        if match.decision_count % 9 == 0:
            found.append(match.copy())
        (seat,) = match.to_act
        match.play(seat, choice.choice(match.legal(seat)))
    return found


def pile_of(game: Game, state: bytes) -> list[int]:
    fields = game.unpack(state)
    pile: list[int] = fields["pile"][: fields["pile_size"]]
    return pile


@pytest.mark.parametrize("seats", [3, 4, 5, 6])
def test_every_card_of_the_table_is_in_one_place_of_a_sampled_world(seats: int) -> None:
    for match in positions(seats, seats):
        game, state = match.game, match.state_bytes()
        everything = places(game, state)
        assert set(everything.values()) == {1}
        for viewer in range(-1, seats):
            for world in Position(game, state, viewer + 9).redeals(viewer, 3):
                assert places(game, world) == everything


def places(game: Game, state: bytes) -> Counter[str]:
    """How often each card is somewhere: in hands, the pile, left over, or seen to be gone."""
    fields = game.unpack(state)
    coloured = [fields["left_over"], fields["played"], *fields["hand"]]
    black = [fields["played_black"], *fields["black"]]
    size, known = fields["pile_size"], fields["pile_known"]
    cards = [card for word in coloured for card in range(56) if word >> card & 1]
    cards += [56 + card for word in black for card in range(20) if word >> card & 1]
    cards += fields["pile"][: size - known]
    return Counter(game.chance_item(0, card) for card in cards)


def test_every_place_of_the_pile_is_as_likely_for_every_card_that_may_lie_there() -> None:
    """BI-3: the numbers, 2X, -5 and Surprise may be in hands as well, Lowest and Thief never."""
    match = positions(4, 5)[1]
    game, state = match.game, match.state_bytes()
    view = match.game.unpack(match.view(0))
    hidden = view["pile"][: view["pile_size"]].count(HIDDEN)
    in_other_hands = view["blacks_held"] - (view["black"][0] & ~(1 << 19)).bit_count()
    seen = view["played_black"] | view["black"][0]
    dealable = [56 + n for n in (*range(10), 14, 15, 16) if not seen >> n & 1]
    never = [56 + n for n in (17, 18) if not seen >> n & 1]
    assert hidden == len(dealable) + len(never) - in_other_hands
    places_of: list[Counter[int]] = [Counter() for _ in range(hidden)]
    for world in Position(game, state, 3).redeals(0, SAMPLES):
        for place, card in enumerate(pile_of(game, world)[:hidden]):
            places_of[place][card] += 1
    in_pile = 1 - in_other_hands / len(dealable)
    for often in places_of:
        assert set(often) <= {*dealable, *never}
        for card in (*dealable, *never):
            share = (1.0 if card in never else in_pile) / hidden
            deviation = math.sqrt(SAMPLES * share * (1 - share))
            assert abs(often[card] - SAMPLES * share) < 5 * deviation


def test_a_buried_centre_stays_at_the_bottom_of_every_world() -> None:
    """BI-14: when a Surprise was bid and the trick won, the centre's place is public."""
    for match in buried():
        game, state = match.game, match.state_bytes()
        (bottom,) = shown_known(match)
        for viewer in range(-1, game.seat_count):
            for world in Position(game, state, 4).redeals(viewer, 20):
                assert game.chance_item(0, pile_of(game, world)[-1]) == bottom


def shown_known(match: Match) -> tuple[str, ...]:
    view = match.game.view(match.view(-1), -1)
    assert isinstance(view, View)
    return view.pile_known


def buried() -> list[Match]:
    """Five matches at a decision in which a card under the pile is known."""
    matches = (_until_buried(seed) for seed in count(1))
    return list(islice((match for match in matches if not match.over), 5))


def _until_buried(seed: int) -> Match:
    """A random match up to the first decision with a known card in the pile, or to its end."""
    match, choice = Match(SPEC.make(6, OPTIONS), seed_bytes(seed)), Random(seed)
    while not match.over and not match.game.unpack(match.state_bytes())["pile_known"]:
        (seat,) = match.to_act
        match.play(seat, choice.choice(match.legal(seat)))
    return match
