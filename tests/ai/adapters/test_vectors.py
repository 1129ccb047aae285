"""Observations and rewards as numbers."""

from __future__ import annotations

import pytest

np = pytest.importorskip("numpy")

from tavolata.ai.adapters.vectors import Encoding, Reward  # noqa: E402
from tests.ai.situations import match_at  # noqa: E402


@pytest.mark.parametrize("kind", ["bits", "bytes"])
def test_a_view_can_be_had_back_from_its_vector(kind: str) -> None:
    match = match_at("bids", 4, 3, 20)
    encoding = Encoding(match.game, kind)
    for seat in range(4):
        vector = encoding.vector(match.view(seat), seat)
        assert vector.shape == (encoding.size,)
        assert list(vector[:4]) == [int(other == seat) for other in range(4)]
        assert vector.max() <= encoding.highest
        assert encoding.view(vector) == match.view(seat)


def test_places_are_worth_even_steps_and_shared_ones_their_mean() -> None:
    assert Reward(low_wins=False).of([9, 2, 5, 1]) == pytest.approx([1, -1 / 3, 1 / 3, -1])
    assert Reward(low_wins=True).of([9, 2, 5, 2]) == pytest.approx([-1, 2 / 3, -1 / 3, 2 / 3])
    assert Reward(low_wins=False).of([4, 4]) == [0, 0]


def test_scores_count_against_the_mean_of_the_others() -> None:
    assert Reward(False, "score").of([10, 4, 1]) == pytest.approx([7.5, -1.5, -6])
    assert Reward(True, "score").of([10, 4, 1]) == pytest.approx([-7.5, 1.5, 6])


def test_unknown_kinds_are_refused_with_those_there_are() -> None:
    match = match_at("bids", 4, 3, 0)
    with pytest.raises(ValueError, match="observation is 'words'; allowed: bits, bytes"):
        Encoding(match.game, "words")
    with pytest.raises(ValueError, match="reward is 'fame'; allowed: placement, score"):
        Reward(False, "fame")
