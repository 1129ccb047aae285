"""The searching baselines: what their trees do, what they know, and what they find."""

from __future__ import annotations

from math import log, sqrt

import pytest

from tavolata.ai.baselines import InfosetUctPlayer, PimcPlayer
from tavolata.ai.player import Decision, Limits, Observation, observe
from tavolata.ai.search import Searcher
from tavolata.ai.stop import Stop
from tavolata.ext.core.game import Dealer
from tavolata.ext.core.match import Match, Position
from tavolata.ext.registry import GAMES
from tests.ai.situations import match_at, observations

BASELINES = (InfosetUctPlayer, PimcPlayer)
UCT = 0.7
TIE = 1e-5

Row = tuple[int, int, int, int, int, float]  # parent, actor, action, visits, availability, reward


def decide(
    player: type, observation: Observation, iterations: int, seed: int = 1, **settings: float
) -> Decision:
    made = player(observation.game, **settings)
    decision: Decision = made.analyse(
        observation, Limits(iterations=iterations), seed=seed, stop=Stop()
    )
    return decision


def searched(observation: Observation, iterations: int) -> Searcher:
    player = InfosetUctPlayer(observation.game, exploration=UCT)
    dealer = observation.game.dealer(observation.view_bytes, observation.seat)
    searcher = player.searcher(observation, dealer, Limits(iterations=iterations), 5, Stop())
    searcher.search()
    return searcher


def edges_by_state(searcher: Searcher) -> dict[int, dict[int, Row]]:
    """Of every information state's row its edges by action."""
    rows = searcher.tree()
    used = searcher.report()[1]
    states: dict[int, dict[int, Row]] = {
        number: {} for number, row in enumerate(rows[:used]) if number == 0 or row[0] >= used
    }
    for number, row in enumerate(rows[:used]):
        if number not in states:
            states[row[0]][row[2]] = row
    return states


@pytest.mark.parametrize("game_id", list(GAMES))
@pytest.mark.parametrize("decisions", [8, 24])
def test_every_iteration_takes_the_step_that_uct_says(game_id: str, decisions: int) -> None:
    """The tree after each iteration less the one before is the path that this iteration took. In
    every node of it an action without visits was taken while there was one, and else one with the
    greatest UCT value by the numbers before, worked out here from the formula."""
    match = match_at(game_id, GAMES[game_id].seats_usual, 4, decisions)
    observation = observe(match, match.to_act[0])
    before = edges_by_state(searched(observation, 1))
    seen = {"first": 0, "again": 0}
    for iterations in range(2, 130):
        searcher = searched(observation, iterations)
        rows, after = searcher.tree(), edges_by_state(searcher)
        paid: dict[int, float] = {}
        for state, edges in after.items():
            old = before.get(state, {})
            taken = [
                edge
                for action, edge in edges.items()
                if action not in old or old[action][3] != edge[3]
            ]
            if not taken:
                continue
            assert len(taken) == 1
            (_, actor, action, _, _, reward) = taken[0]
            legal = rows[state][2]
            if len(old) < legal:
                assert action not in old
                seen["first"] += 1
            else:
                visits = sum(edge[3] for edge in old.values())
                values = {
                    each: edge[5] / edge[3] + UCT * sqrt(log(visits) / edge[3])
                    for each, edge in old.items()
                }
                assert values[action] > max(values.values()) - 2 * TIE
                seen["again"] += 1
            gain = reward - (old[action][5] if action in old else 0.0)
            assert gain == pytest.approx(paid.setdefault(actor, gain))
            assert -1e-9 <= gain <= 1 + 1e-9
        assert sum(edge[3] for edge in after[0].values()) == iterations
        before = after
    assert min(seen.values()) >= 4


def test_other_seats_have_a_node_for_each_hand_they_may_hold() -> None:
    """The next seat's hand is one of very many, so no two worlds meet in a node."""
    match = match_at("bouillabaisse", 4, 3, 0)
    seat = match.to_act[0]
    searcher = searched(observe(match, seat), 400)
    sets = [row for row in searcher.tree() if row[0] == -1]
    assert len(sets) == 400
    assert {row[2] for row in sets} == {(seat + 1) % 4}


def test_where_all_is_open_a_node_is_a_line_of_play() -> None:
    """Two hands that lie open, three cards each: as many nodes as there are lines to a decision."""
    match = ending("bouillabaisse", 2, 3)
    searcher = searched(observe(match, match.to_act[0]), 5_000)
    lines = decisions_below(Position(match.game, match.state_bytes()))
    assert lines > 20
    assert len([row for row in searcher.tree() if row[0] == -1]) == lines - 1


def decisions_below(position: Position) -> int:
    if not position.to_act:
        return 0
    (seat,) = position.to_act
    count = 1
    for action in position.legal(seat):
        after = Position(position.game, position.state_bytes())
        after.apply(seat, action)
        count += decisions_below(after)
    return count


def ending(game_id: str, seats: int, left: int, seed: int = 9) -> Match:
    """A match with so many cards left in the hand to play, all decisions the lowest."""
    match = match_at(game_id, seats, seed, 0)
    while True:
        seat = match.to_act[0]
        if match.game.unpack(match.state_bytes())["hand"][seat].bit_count() == left:
            return match
        match.play(seat, match.legal(seat)[0])


def values_of(position: Position) -> dict[int, float]:
    """What the seat to act gets by each action where two see everything and play their best."""
    (seat,) = position.to_act
    values = {}
    for action in position.legal(seat):
        after = Position(position.game, position.state_bytes())
        after.apply(seat, action)
        values[action] = value_for(after, seat)
    return values


def value_for(position: Position, seat: int) -> float:
    if not position.to_act:
        return position.utility()[seat]
    best = max(values_of(position).values())
    return best if position.to_act == (seat,) else 1.0 - best


@pytest.mark.parametrize(("player", "exploration"), [(InfosetUctPlayer, 0.05), (PimcPlayer, 1.0)])
def test_the_last_cards_of_an_open_game_are_played_as_well_as_can_be(
    player: type, exploration: float
) -> None:
    """Two hands that lie open, so exhaustive play is the right answer. Utilities of a round differ
    by hundredths: of all that can be lost, a tenth at most is."""
    asked = 0
    for seed in range(30):
        match = ending("bouillabaisse", 2, 4, seed)
        seat = match.to_act[0]
        values = values_of(Position(match.game, match.state_bytes()))
        best, worst = max(values.values()), min(values.values())
        if best - worst < 0.01:
            continue
        chosen = decide(player, observe(match, seat), 4_000, exploration=exploration).action
        assert values[chosen] >= best - 0.1 * (best - worst)
        asked += 1
    assert asked >= 3


@pytest.mark.parametrize("player", BASELINES)
@pytest.mark.parametrize("game_id", list(GAMES))
def test_the_same_observation_and_seed_give_the_same_decision(player: type, game_id: str) -> None:
    for observation in observations(game_id, 2):
        first = decide(player, observation, 100, seed=8)
        decide(player, observation, 60, seed=2)
        again = decide(player, observation, 100, seed=8)
        assert first.action in observation.legal_actions
        assert (first.action, first.statistics) == (again.action, again.statistics)


@pytest.mark.parametrize("player", BASELINES)
def test_who_has_committed_in_secret_what_changes_nothing(player: type) -> None:
    match = match_at("mino_dice", 4, 5, 0)
    alone = decide(player, observe(match, 2), 200)
    match.play(0, match.legal(0)[0])
    match.play(3, match.legal(3)[-1])
    assert decide(player, observe(match, 2), 200).statistics == alone.statistics


@pytest.mark.parametrize("player", BASELINES)
@pytest.mark.parametrize("game_id", ["bids", "mister_bill"])
def test_hands_that_the_seat_can_not_tell_apart_lead_to_one_decision(
    player: type, game_id: str
) -> None:
    match = match_at(game_id, 4, 6, 9)
    seat = match.to_act[0]
    observation = observe(match, seat)
    other = Position(match.game, match.state_bytes(), seed=3).redeal(seat)
    assert other.state_bytes() != match.state_bytes()
    twin = Observation(
        match.game, seat, match.turn, other.blank(seat), other.legal(seat), observation.event_words
    )
    assert decide(player, observation, 150).statistics == decide(player, twin, 150).statistics


def test_playouts_of_the_whole_match_end_with_its_totals() -> None:
    """Bids has five rounds of at least some points: totals at the end are those of all of them."""
    match = match_at("bids", 4, 3, 0)
    observation = observe(match, match.to_act[0])
    round_only = decide(InfosetUctPlayer, observation, 200).statistics[0].scores
    whole = decide(InfosetUctPlayer, observation, 200, whole_match=True).statistics[0].scores
    assert sum(whole) > 3 * sum(round_only) > 0


def test_worlds_get_their_shares_of_the_iterations() -> None:
    match = match_at("bouillabaisse", 4, 3, 0)
    observation = observe(match, match.to_act[0])
    player = PimcPlayer(match.game, worlds=7)
    decision = player.analyse(observation, Limits(iterations=100), seed=1, stop=Stop())
    assert decision.iterations == 100
    assert sum(row.visits for row in decision.statistics) == 100


def test_a_time_limit_is_for_all_worlds_together() -> None:
    """When it has run out there are no more worlds, after one that gives an answer at least."""
    match = match_at("bouillabaisse", 4, 3, 0)
    observation = observe(match, match.to_act[0])
    searches: list[Limits] = []

    class Watched(PimcPlayer):
        def searcher(
            self, observation: Observation, dealer: Dealer, limits: Limits, seed: int, stop: Stop
        ) -> Searcher:
            searches.append(limits)
            return super().searcher(observation, dealer, limits, seed, stop)

    decision = Watched(match.game, worlds=100).analyse(
        observation, Limits(think_ms=5.0), seed=1, stop=Stop()
    )
    assert 1 <= len(searches) <= 100
    assert searches[0].think_ms is not None
    assert searches[0].think_ms <= 5.0 / 100
    assert decision.iterations >= len(searches)


@pytest.mark.parametrize("worlds", [0, 2.5, 10_001])
def test_numbers_of_worlds_that_can_not_be_are_refused(worlds: float) -> None:
    game = GAMES["bids"].make(4)
    with pytest.raises(ValueError, match="allowed: whole numbers from 1 to 10000"):
        PimcPlayer(game, worlds=worlds)
