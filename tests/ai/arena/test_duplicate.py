"""Duplicate matches: same deals for all, whoever plays them where, and honest comparisons."""

from __future__ import annotations

import json
import subprocess
import sys
from math import inf, sqrt

import pytest

from tavolata.ai.arena.duplicate import (
    Entrant,
    MatchResult,
    Pairing,
    PlayerFault,
    SeatResult,
    deal_seed,
    decision_seed,
    play_deals,
    play_match,
)
from tavolata.ai.arena.statistics import interval, standings, student
from tavolata.ai.player import Decision, Limits, Observation
from tavolata.ai.players import BUILT_IN, PlayerSpec
from tavolata.ai.stop import Stop
from tavolata.ext.registry import GAMES

ONE = Limits(iterations=1)
GREEDY, RANDOM = Entrant("greedy", "greedy", ONE), Entrant("random", "random", ONE)


def pairing(game: str, *entrants: Entrant) -> Pairing:
    return Pairing(game, GAMES[game].complete(len(entrants), {}), entrants)


def test_rotations_are_all_different_and_seat_everybody_equally_often() -> None:
    assert pairing("bouillabaisse", GREEDY, RANDOM, GREEDY, RANDOM).rotations() == [
        (GREEDY, RANDOM, GREEDY, RANDOM),
        (RANDOM, GREEDY, RANDOM, GREEDY),
    ]
    three = pairing("bouillabaisse", GREEDY, RANDOM, RANDOM).rotations()
    assert sorted(row.index(GREEDY) for row in three) == [0, 1, 2]


def test_a_deal_gives_every_rotation_the_same_hands() -> None:
    spec = GAMES["bouillabaisse"]
    seen = []
    for entrants in pairing("bouillabaisse", GREEDY, RANDOM, RANDOM).rotations():
        match, _ = play_match(spec.make(3), entrants, deal_seed(5, 2), lambda number: number)
        dealt = [e.event for e in match.full_events() if type(e.event).__name__ == "Dealt"]
        assert len(dealt) == 18
        seen.append(dealt)
    assert seen[0] == seen[1] == seen[2]


def test_seeds_differ_between_deals_and_between_decisions() -> None:
    assert len({deal_seed(base, deal) for base in range(4) for deal in range(50)}) == 200
    keys = [
        (1, deal, turned, number) for deal in range(5) for turned in range(4) for number in range(9)
    ]
    assert len({decision_seed(*key) for key in keys}) == len(keys)


@pytest.mark.parametrize("game", list(GAMES))
def test_processes_play_what_one_process_plays(game: str) -> None:
    seats = GAMES[game].seats_usual
    lineup = pairing(game, *[(GREEDY, RANDOM)[seat % 2] for seat in range(seats)])

    def outcome(processes: int) -> list[tuple[int, int, str]]:
        deals = play_deals(lineup, 3, base=9, processes=processes)
        return sorted((r.deal, r.rotation, r.hash) for deal in deals for r in deal)

    assert outcome(1) == outcome(2)


def test_an_illegal_answer_is_the_players_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    class Cheat:
        def decide(
            self, observation: Observation, limits: Limits, *, seed: int, stop: Stop
        ) -> Decision:
            return Decision(-1)

    cheat = PlayerSpec("cheat", "answers nonsense", ONE, lambda game: Cheat())
    monkeypatch.setattr("tavolata.ai.players.BUILT_IN", (*BUILT_IN, cheat))
    entrants = [Entrant("cheat", "cheat", ONE), RANDOM, RANDOM, RANDOM]
    with pytest.raises(PlayerFault, match="cheat chose -1"):
        play_match(GAMES["bouillabaisse"].make(4), entrants, bytes(32), lambda number: number)


def test_the_rule_of_thumb_beats_random_and_the_search_beats_the_rule_of_thumb() -> None:
    search = Entrant("ismcts", "ismcts", Limits(iterations=400))
    for better, worse, deals in ((GREEDY, RANDOM, 20), (search, GREEDY, 12)):
        lineup = pairing("bouillabaisse", better, worse, better, worse)
        table, pairs = standings(play_deals(lineup, deals, base=3, processes=1))
        assert table[0].label == better.label
        assert pairs[0].utility.mean > 0


def result(deal: int, rotation: int, *rows: tuple[str, float]) -> MatchResult:
    return MatchResult(
        deal,
        rotation,
        tuple(
            SeatResult(label, seat, int(10 * utility), 1, 0.0, utility, 1, 0, 0.0)
            for seat, (label, utility) in enumerate(rows)
        ),
        "",
    )


def test_players_are_compared_deal_by_deal() -> None:
    """Deals differ a lot, the players by 0.1 in each: paired, the difference has no spread."""
    deals = [
        [result(0, 0, ("a", 0.2), ("b", 0.1)), result(0, 1, ("b", 0.3), ("a", 0.4))],
        [result(1, 0, ("a", 0.9), ("b", 0.8)), result(1, 1, ("b", 0.7), ("a", 0.8))],
    ]
    table, pairs = standings(deals)
    assert [row.label for row in table] == ["a", "b"]
    assert table[0].utility.mean == pytest.approx((0.3 + 0.85) / 2)
    assert table[0].utility.half_width == pytest.approx(12.706 * 0.55 / sqrt(2) / sqrt(2), rel=1e-3)
    assert pairs[0].utility.mean == pytest.approx(0.1)
    assert pairs[0].utility.half_width == pytest.approx(0.0, abs=1e-9)
    assert pairs[0].utility.excludes_zero


def test_matches_are_counted_once_however_many_seats_a_player_has_in_them() -> None:
    deal = [
        result(0, 0, ("a", 0.2), ("b", 0.1), ("a", 0.2)),
        result(0, 1, ("b", 0.3), ("a", 0.4), ("b", 0.3)),
    ]
    table, _ = standings([deal, [result(1, 0, ("b", 0.3), ("b", 0.3), ("b", 0.3)), deal[0]]])
    assert {row.label: row.matches for row in table} == {"a": 3, "b": 4}
    assert {row.seats for row in table} == {3}


def test_one_deal_shows_nothing() -> None:
    assert interval([0.5]).half_width == inf
    assert not interval([0.5]).excludes_zero


@pytest.mark.parametrize(
    ("degrees", "point"),
    [(1, 12.706), (5, 2.571), (10, 2.228), (20, 2.086), (60, 2.000), (120, 1.980)],
)
def test_students_t_is_that_of_the_tables(degrees: int, point: float) -> None:
    assert student(degrees) == pytest.approx(point, abs=6e-4)


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tavolata", "match", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_command_prints_one_object_for_programs() -> None:
    done = run("mino_dice", "greedy", "random", "--deals", "2", "--seats", "3", "--json")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert {row["label"] for row in answer["standings"]} == {"greedy", "random"}
    assert len(answer["matches"]) == 6
    assert answer["options"]["scoring"] == "full"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("tarot", "greedy"), "there is no game 'tarot'"),
        (("mino_dice", "nobody"), "there is no player 'nobody'"),
        (("mino_dice", "greedy", "--seats", "9"), "seats is 9; allowed: 3 to 6"),
        (("mino_dice", "greedy", "--option", "scoring=odd"), "allowed: full, simple"),
        (("mino_dice", "greedy", "--option", "tempo=1"), "tempo"),
        (("mino_dice", "ismcts:depth=3", "greedy"), "ismcts takes iterations, think_ms"),
        (("mino_dice", "ismcts:iterations=x", "greedy"), "'x' is not a number"),
    ],
)
def test_the_command_says_what_is_wrong_and_what_is_allowed(
    arguments: tuple[str, ...], says: str
) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    words = " ".join(done.stderr.replace("│", " ").split())
    assert says in words
