"""The dealer of one known position."""

from __future__ import annotations

import pytest

from tavolata.ai.known_world import KnownWorld
from tavolata.ai.player import Limits
from tavolata.ai.search import Searcher
from tavolata.ai.stop import Stop
from tavolata.ext.core.cpu import best_build
from tests.ai.situations import match_at


def test_a_search_of_a_known_world_has_no_other_cards_than_are_in_it() -> None:
    """With the hands known, each seat's moves in the tree are cards that it really holds."""
    match = match_at("bouillabaisse", 4, 3, 20)
    seat = match.to_act[0]
    loop: type[Searcher] = best_build("tavolata.ai", "_search").Loop
    dealer = KnownWorld(match.game, match.state_bytes())
    searcher = loop(
        match.game, dealer, seat, match.legal(seat), Limits(iterations=3_000), Stop(),
        1.0, False, False, 0, 0.0, 0, 7,
    )  # fmt: skip
    searcher.search()
    hands = match.game.unpack(match.state_bytes())["hand"]
    moves = {(actor, action) for _, actor, action, *_ in searcher.tree()[1:]}
    assert len({actor for actor, _ in moves}) == 4
    assert all(hands[actor] >> action & 1 for actor, action in moves)


def test_what_is_no_position_of_the_game_is_refused_with_its_length() -> None:
    match = match_at("bouillabaisse", 4, 3, 0)
    with pytest.raises(ValueError, match=r"bouillabaisse has \d+ bytes, not 3"):
        KnownWorld(match.game, b"abc")
