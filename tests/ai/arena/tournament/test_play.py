"""One match by the policy on faults, in this process."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tavolata.ai.arena.tournament.model import Fault, FaultKind, MatchOutcome, MatchPlan
from tavolata.ai.arena.tournament.play import Referee, match_seed, record_of, replayed
from tavolata.ai.arena.tournament.policy import FaultPolicy, OnFault, OnSlow
from tavolata.ai.player import Limits
from tavolata.ext.core.match import Match
from tavolata.ext.core.record import RecordMismatch, dumps, loads, replay
from tavolata.ext.registry import GAMES, game_spec
from tests.ai.arena.tournament.table_of_four import ONE, SEATS, duels, field_of

REPLACE, FORFEIT = FaultPolicy(), FaultPolicy(on_fault=OnFault.FORFEIT)
CAUGHT_HERE = {
    "illegal": FaultKind.ILLEGAL,
    "nonsense": FaultKind.ILLEGAL,
    "raising": FaultKind.CRASH,
    "quitting": FaultKind.CRASH,
    "unmakeable": FaultKind.CRASH,
}
pytestmark = pytest.mark.usefixtures("_bad_players")


def plan_of(*labels: str) -> MatchPlan:
    return MatchPlan(0, 0, 0, 0, 0, 0, labels)


def play(policy: FaultPolicy, *labels: str, limits: Limits = ONE) -> MatchOutcome:
    field = field_of(*dict.fromkeys(labels), limits=limits)
    return Referee(field, policy).play(plan_of(*labels))


@pytest.mark.parametrize("name", CAUGHT_HERE)
def test_the_rule_of_thumb_plays_on_for_a_player_at_fault(name: str) -> None:
    """These players are the rule of thumb until their fault, so the match is that of sound ones."""
    outcome = play(REPLACE, "sound", name, "sound", "sound")
    (fault,) = outcome.faults
    assert (fault.kind, fault.label, fault.seat) == (CAUGHT_HERE[name], name, 1)
    assert outcome.hash == play(REPLACE, "sound", "sound", "sound", "sound").hash
    assert outcome.seats[1].decisions < outcome.seats[0].decisions


@pytest.mark.parametrize("name", CAUGHT_HERE)
def test_a_forfeited_match_ends_at_the_fault(name: str) -> None:
    outcome = play(FORFEIT, "sound", name, "sound", "sound")
    (fault,) = outcome.faults
    assert (fault.kind, fault.label, fault.seat) == (CAUGHT_HERE[name], name, 1)
    whole = replayed(field_of("sound"), play(REPLACE, "sound", "sound", "sound", "sound"))
    match = replayed(field_of("sound", name), outcome)
    assert match.decisions == whole.decisions[: fault.decision]
    assert not match.over
    assert outcome.hash == match.hash


def test_who_forfeits_is_last_and_the_others_share_the_places_above() -> None:
    outcome = play(FORFEIT, "sound", "sound", "sound", "unmakeable")
    assert outcome.faults[0].decision == 3  # nothing is scored yet, so the others are tied
    assert [seat.place for seat in outcome.seats] == [1, 1, 1, 4]
    assert [seat.utility for seat in outcome.seats] == pytest.approx([2 / 3, 2 / 3, 2 / 3, 0])
    assert [seat.won for seat in outcome.seats] == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0])


def test_others_are_placed_as_they_stand_when_somebody_forfeits() -> None:
    field = field_of("sound", "raising")
    for plan in duels("sound", "raising", deals=20):
        outcome = Referee(field, FORFEIT).play(plan)
        loser = outcome.faults[0].seat
        totals = {seat.seat: seat.total for seat in outcome.seats if seat.seat != loser}
        for seat, total in totals.items():
            better = sum(other > total for other in totals.values())
            tied = sum(other == total for other in totals.values())
            result = outcome.seats[seat]
            assert result.place == 1 + better
            mean_place = sum(range(better + 1, better + tied + 1)) / tied
            assert result.utility == pytest.approx((SEATS - mean_place) / (SEATS - 1))
        assert outcome.seats[loser].place == SEATS
        assert outcome.seats[loser].utility == 0
        assert sum(seat.won for seat in outcome.seats) == pytest.approx(1)


def test_a_fault_tells_what_and_where() -> None:
    details = [
        play(REPLACE, "sound", name, "sound", "sound").faults[0].detail
        for name in ("illegal", "nonsense", "raising")
    ]
    assert "which is not legal" in details[0]
    assert "'pass'" in details[1]
    assert details[2].startswith("ZeroDivisionError: what is one of none? (bad_players.py, line")


def test_every_seat_can_be_at_fault_in_one_match() -> None:
    outcome = play(REPLACE, "raising", "illegal", "quitting", "unmakeable")
    assert sorted(fault.seat for fault in outcome.faults) == [0, 1, 2, 3]
    assert outcome.hash == play(REPLACE, *["sound"] * SEATS).hash


def test_a_late_answer_is_counted_and_played() -> None:
    limits = Limits(think_ms=1)
    policy = FaultPolicy(slow_ms=9)
    outcome = play(policy, "late", "late", "sound", "sound", limits=limits)
    assert {fault.kind for fault in outcome.faults} == {FaultKind.SLOW}
    assert {fault.label for fault in outcome.faults} >= {"late"}
    assert "allowed 10 ms" in outcome.faults[0].detail
    assert outcome.hash == play(REPLACE, *["sound"] * SEATS).hash


def test_a_late_answer_ends_the_match_where_the_policy_says_so() -> None:
    policy = FaultPolicy(slow_ms=9, on_slow=OnSlow.FAULT, on_fault=OnFault.FORFEIT)
    outcome = play(policy, "late", "late", "late", "late", limits=Limits(think_ms=1))
    (fault,) = outcome.faults
    assert fault.kind is FaultKind.SLOW
    assert outcome.seats[fault.seat].place == SEATS


def test_nobody_is_late_without_a_time_limit() -> None:
    assert play(FaultPolicy(slow_factor=0, slow_ms=0), *["late"] * SEATS).faults == ()


def test_a_known_fault_is_not_suffered_again() -> None:
    """As if the player had done it: the same log, the same results."""
    suffered = play(FORFEIT, "sound", "raising", "sound", "sound")
    (fault,) = suffered.faults
    known = replace(fault, label="sound", kind=FaultKind.HANG)
    outcome = Referee(field_of("sound"), FORFEIT).play(plan_of(*["sound"] * SEATS), [known])
    assert outcome.faults == (known,)
    assert outcome.hash == suffered.hash
    assert [(s.place, s.utility) for s in outcome.seats] == [
        (s.place, s.utility) for s in suffered.seats
    ]


def test_a_known_fault_comes_at_the_first_decision_from_there_on() -> None:
    known = Fault(FaultKind.HANG, "sound", 2, 5, "no answer")
    outcome = Referee(field_of("sound"), REPLACE).play(plan_of(*["sound"] * SEATS), [known])
    (fault,) = outcome.faults
    assert fault.decision >= 5
    assert replayed(field_of("sound"), outcome).decisions[fault.decision][1] == 2


def test_a_deal_is_the_same_for_all_and_contests_have_their_own() -> None:
    field = field_of("sound", "random", names=("a", "b"))
    first = MatchPlan(0, 0, 0, 0, 7, 0, ("sound",) * SEATS)
    same = MatchPlan(3, 0, 2, 4, 7, 1, ("random",) * SEATS)
    other = replace(first, contest=1)
    assert match_seed(field, first) == match_seed(field, same)
    seeds = {match_seed(field, replace(first, contest=c, deal=d)) for c in (0, 1) for d in range(9)}
    assert len(seeds) == 18
    assert match_seed(field, other) != match_seed(replace(field, seed=6), other)


def test_a_deal_does_not_change_when_a_contest_is_added_before() -> None:
    plan = MatchPlan(0, 0, 0, 0, 7, 0, ("sound",) * SEATS)
    alone = match_seed(field_of("sound", names=("b",)), plan)
    assert match_seed(field_of("sound", names=("a", "b")), replace(plan, contest=1)) == alone


def test_random_players_are_not_alike_in_other_groups() -> None:
    referee = Referee(field_of("random"), REPLACE)
    plan = plan_of(*["random"] * SEATS)
    assert referee.play(plan).hash == referee.play(plan).hash
    assert len({referee.play(replace(plan, group=group)).hash for group in range(5)}) == 5
    assert len({referee.play(replace(plan, round=number)).hash for number in range(5)}) == 5


@pytest.mark.parametrize("game", list(GAMES))
def test_a_match_is_made_again_from_its_actions(game: str) -> None:
    spec = GAMES[game]
    field = field_of("random", "greedy")
    contest = replace(
        field.contests[0],
        game=game,
        seats=spec.seats_usual,
        options=spec.complete(spec.seats_usual, {}),
    )
    field = replace(field, contests=(contest,))
    labels = tuple(("random", "greedy")[seat % 2] for seat in range(spec.seats_usual))
    outcome = Referee(field, REPLACE).play(plan_of(*labels))
    match: Match = replay(loads(dumps(record_of(field, outcome))), game_spec)
    assert match.hash == outcome.hash
    assert match.over
    assert match.totals() == tuple(seat.total for seat in outcome.seats)


def test_a_match_that_does_not_come_to_its_hash_is_noticed() -> None:
    outcome = play(REPLACE, *["sound"] * SEATS)
    with pytest.raises(RecordMismatch, match="hash"):
        replayed(field_of("sound"), replace(outcome, hash=bytes(32)))
