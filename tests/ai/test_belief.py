"""Worlds weighted by what others have done: rounds played again, weights, and what is dealt."""

from __future__ import annotations

from collections import Counter
from math import log

import pytest

from tavolata.ai.belief import believed, explained, replayed
from tavolata.ai.ismcts import IsmctsPlayer
from tavolata.ai.known_world import KnownWorld
from tavolata.ai.player import Limits, observe
from tavolata.ai.stop import Stop
from tavolata.ext.core.match import Match, Position
from tavolata.ext.core.replay import Replay
from tavolata.ext.core.spec import OptionValue
from tavolata.ext.registry import GAMES
from tests.ai.situations import match_at

SETTINGS: list[tuple[int, dict[str, OptionValue]]] = [
    (3, {}),
    (4, {"first_lead": "dealer"}),
    (7, {"twin_rule": "last"}),
    (12, {}),
]


def rounds_replay(match: Match) -> Replay:
    """What the seat to act knows of the round."""
    (seat,) = match.to_act
    replay = match.game.replay(observe(match, seat).event_words)
    assert replay is not None
    return replay


@pytest.mark.parametrize(("seats", "options"), SETTINGS)
def test_a_round_played_again_leads_from_its_deal_to_the_same_world(
    seats: int, options: dict[str, OptionValue]
) -> None:
    game = GAMES["bouillabaisse"].make(seats, options)
    match = Match(game, seats.to_bytes(32, "big"))
    start, begun, rounds = match.state_bytes(), match.round_start, 1
    while rounds < 4:
        (seat,) = match.to_act
        if match.decision_count % 7 == 3:
            replay = rounds_replay(match)
            assert replayed(game, replay, match.state_bytes()) == (start, match.state_bytes())
            for world in Position(game, match.state_bytes(), 1).redeals(seat, 5):
                assert replayed(game, replay, world)[1] == world
        legal = match.legal(seat)
        match.play(seat, legal[match.decision_count % len(legal)])
        if match.round_start > begun:
            start, begun, rounds = match.state_bytes(), match.round_start, rounds + 1


def test_a_game_that_can_not_be_replayed_says_so() -> None:
    match = match_at("mino_dice", 4, 5, 20)
    seat = match.to_act[0]
    assert match.game.replay(observe(match, seat).event_words) is None
    first = IsmctsPlayer(match.game, belief=0.8)
    second = IsmctsPlayer(match.game)
    decisions = [
        player.analyse(observe(match, seat), Limits(iterations=200), seed=1, stop=Stop())
        for player in (first, second)
    ]
    assert decisions[0].statistics == decisions[1].statistics


def test_the_chances_are_those_of_every_decision_of_the_others() -> None:
    match = match_at("bouillabaisse", 4, 3, 30)
    game, (seat,) = match.game, match.to_act
    replay = rounds_replay(match)
    dealer = game.dealer(match.view(seat), seat)
    states, logarithms = explained(game, dealer, replay, seat, 20, 0.6, 1)
    for state, logarithm in zip(states, logarithms, strict=True):
        position = Position(game, replayed(game, replay, state)[0])
        expected = 0.0
        for mover, action in replay.decisions:
            legal = position.legal(mover)
            if mover != seat and len(legal) > 1:
                follows = position.rule(mover) == action
                expected += log(0.6 / len(legal) + 0.4 * follows)
            position.apply(mover, action)
        assert logarithm == pytest.approx(expected)
    assert len(set(logarithms)) > 1


def test_worlds_are_believed_in_proportion_and_none_is_ruled_out() -> None:
    match = match_at("bouillabaisse", 4, 3, 30)
    game, (seat,) = match.game, match.to_act
    dealer = game.dealer(match.view(seat), seat)
    replay = rounds_replay(match)
    states, logarithms = explained(game, dealer, replay, seat, 1_000, 0.5, 1)
    weighted = believed(game, dealer, replay, seat, 0.8, 0.5, 1)
    counts = Counter(weighted.sample(2, 200_000))
    likely = max(range(1_000), key=logarithms.__getitem__)
    unlikely = min(range(1_000), key=logarithms.__getitem__)
    assert 5 * counts[unlikely] < counts[likely]
    assert counts[unlikely] == pytest.approx(0.2 * 200, abs=25)
    assert len(set(states)) > 900


def test_who_played_by_the_rule_of_thumb_is_believed_to_hold_what_it_holds() -> None:
    """Its true cards explain its play better than most others would."""
    ranks = []
    for seed in range(12):
        match = Match(GAMES["bouillabaisse"].make(4), seed.to_bytes(32, "big"))
        while match.decision_count < 30:
            (seat,) = match.to_act
            match.play(seat, Position(match.game, match.state_bytes()).rule(seat))
        (seat,) = match.to_act
        replay, game = rounds_replay(match), match.game
        dealer = game.dealer(match.view(seat), seat)
        _, logarithms = explained(game, dealer, replay, seat, 100, 0.5, 1)
        known = KnownWorld(game, match.state_bytes())
        (truth,) = explained(game, known, replay, seat, 1, 0.5, 1)[1]
        ranks.append(sum(truth > each for each in logarithms) / 100)
    assert sum(ranks) / len(ranks) > 0.8


@pytest.mark.parametrize(
    ("settings", "says"),
    [({"belief": 1.1}, "belief is 1.1; allowed: 0 to 1"), ({"slips": 0.0}, "slips is 0.0")],
)
def test_shares_that_can_not_be_are_refused(settings: dict[str, float], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        IsmctsPlayer(GAMES["bouillabaisse"].make(4), **settings)  # type: ignore[arg-type]
