"""Spawned workers: the same matches as in this process, whatever happens to a worker."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Iterator

import pytest

from tavolata.ai.arena.tournament.backends import WorkerError
from tavolata.ai.arena.tournament.backends.inline import Inline
from tavolata.ai.arena.tournament.backends.processes import Processes
from tavolata.ai.arena.tournament.model import (
    Chunk,
    Contest,
    FaultKind,
    Field,
    MatchOutcome,
    MatchPlan,
)
from tavolata.ai.arena.tournament.pace import Pace
from tavolata.ai.arena.tournament.policy import FaultPolicy, OnFault
from tests.ai.arena.tournament.table_of_four import (
    SEATS,
    chunked,
    duels,
    field_of,
    hash_of,
    outcomes_of,
)

NOT_CAUGHT_HERE = {
    "exiting": FaultKind.CRASH,
    "segfaulting": FaultKind.CRASH,
    "looping": FaultKind.HANG,
    "sleeping": FaultKind.HANG,
    "holding": FaultKind.HANG,
}
POLICY = FaultPolicy()


@pytest.mark.parametrize(("workers", "size"), [(1, 3), (2, 1), (3, 5)])
def test_the_result_does_not_depend_on_workers_and_chunks(workers: int, size: int) -> None:
    field, plans = field_of("greedy", "random"), duels("greedy", "random", deals=8)
    expected = hash_of(outcomes_of(Inline(field, POLICY), chunked(plans, 16)))
    found = outcomes_of(Processes(field, POLICY, workers), chunked(plans, size))
    assert [outcome.plan for outcome in found] == plans
    assert hash_of(found) == expected


def test_workers_stay_from_run_to_run() -> None:
    field, plans = field_of("greedy", "random"), duels("greedy", "random", deals=4)
    backend = Processes(field, POLICY, 1)
    first = [
        outcome for played in backend.run(chunked(plans[:4], 2)) for outcome in played.outcomes
    ]
    workers = backend.process_ids()
    rest = [outcome for played in backend.run(chunked(plans[4:], 2)) for outcome in played.outcomes]
    assert backend.process_ids() == workers
    backend.close()
    assert backend.process_ids() == []
    assert [outcome.plan for outcome in first + rest] == plans


def test_a_worker_killed_while_it_holds_a_chunk_changes_nothing() -> None:
    """Every worker is killed again and again: when one has brought something the others hold some,
    and the one that brought it has been killed before it is given more."""
    field, plans = field_of("greedy", "random"), duels("greedy", "random", deals=24)
    expected = hash_of(outcomes_of(Inline(field, POLICY), chunked(plans, 48)))
    backend = Processes(field, POLICY, 2)
    outcomes: list[MatchOutcome] = []
    kills = 0
    for played in backend.run(chunked(plans, 8)):
        outcomes += played.outcomes
        if kills < 3:
            for worker in backend.process_ids():
                os.kill(worker, signal.SIGKILL)
                kills += 1
    backend.close()
    assert kills >= 3
    outcomes.sort(key=lambda outcome: outcome.plan)
    assert [outcome.plan for outcome in outcomes] == plans
    assert [outcome.faults for outcome in outcomes] == [()] * len(plans)
    assert hash_of(outcomes) == expected


def test_a_worker_that_stands_still_by_no_fault_of_the_player_changes_nothing() -> None:
    """A stopped process looks like a player that never answers, once, or like nothing at all."""
    field, plans = field_of("greedy", "random"), duels("greedy", "random", deals=40)
    expected = hash_of(outcomes_of(Inline(field, POLICY), chunked(plans, 80)))
    backend = Processes(field, FaultPolicy(patience_ms=1500), 2, still_s=5)
    outcomes: list[MatchOutcome] = []
    stopped = False
    for played in backend.run(chunked(plans, 20)):
        outcomes += played.outcomes
        if not stopped:
            stopped = True
            for worker in backend.process_ids():
                os.kill(worker, signal.SIGSTOP)
    backend.close()
    outcomes.sort(key=lambda outcome: outcome.plan)
    assert [outcome.faults for outcome in outcomes] == [()] * len(plans)
    assert hash_of(outcomes) == expected


@pytest.mark.usefixtures("_bad_players")
@pytest.mark.parametrize(
    ("on_fault", "labels"),
    [(OnFault.REPLACE, list(NOT_CAUGHT_HERE)), (OnFault.FORFEIT, ["exiting", "holding"])],
)
def test_players_that_take_their_worker_down_are_found_out_by_kind(
    on_fault: OnFault, labels: list[str]
) -> None:
    """Each in a match of its own, and the sound matches around them stay what they are."""
    field = field_of("sound", *labels)
    plans = [
        MatchPlan(0, 0, 0, group, 0, 0, ("sound", label, "sound", "sound"))
        for group, label in enumerate(["sound", *labels, "sound"])
    ]
    policy = FaultPolicy(on_fault=on_fault, patience_ms=700)
    outcomes = outcomes_of(Processes(field, policy, 2), chunked(plans, 4))
    assert [outcome.plan for outcome in outcomes] == plans
    found = {fault.label: (fault.kind, fault.seat) for o in outcomes for fault in o.faults}
    assert found == {label: (NOT_CAUGHT_HERE[label], 1) for label in labels}
    assert Counter(len(outcome.faults) for outcome in outcomes) == {1: len(labels), 0: 2}
    details = {fault.label: fault.detail for o in outcomes for fault in o.faults}
    assert "exit code 7" in details["exiting"]
    assert "SIGSEGV" in details.get("segfaulting", "SIGSEGV")
    # A raised exception at the same decisions is the same fault, and is contained without a worker.
    raising = field_of("sound", "raising")
    for outcome in outcomes[1:-1]:
        seated = ("sound", "raising", "sound", "sound")
        plan = MatchPlan(0, 0, 0, outcome.plan.group, 0, 0, seated)
        (like,) = outcomes_of(Inline(raising, policy), [Chunk(0, (plan,))])
        assert outcome.hash == like.hash
        assert [(s.place, s.utility) for s in outcome.seats] == [
            (s.place, s.utility) for s in like.seats
        ]


@pytest.mark.usefixtures("_bad_players")
def test_what_a_player_prints_stays_out_of_the_runners_output(
    capfd: pytest.CaptureFixture[str],
) -> None:
    field, plans = field_of("printing", "sound"), duels("printing", "sound", deals=1)
    assert len(outcomes_of(Processes(field, POLICY, 1), chunked(plans, 2))) == 2
    said = capfd.readouterr()
    assert "hello" not in said.out
    assert "hello" in said.err


def test_a_game_that_can_not_be_made_is_told_and_not_tried_for_ever() -> None:
    good = field_of("greedy")
    contest = Contest("m", "tarot", SEATS, {})
    field = Field((contest,), good.entrants, good.seed)
    backend = Processes(field, POLICY, 1)
    with pytest.raises(WorkerError, match="there is no game 'tarot'"):
        list(backend.run(chunked(duels("greedy", "greedy", deals=1), 1)))
    backend.close()


def test_chunks_are_taken_only_when_there_is_a_worker_for_them() -> None:
    field, plans = field_of("greedy", "random"), duels("greedy", "random", deals=6)
    taken = 0

    def chunks() -> Iterator[Chunk]:
        nonlocal taken
        for chunk in chunked(plans, 1):
            taken += 1
            yield chunk

    backend = Processes(field, POLICY, 2)
    for number, _ in enumerate(backend.run(chunks()), start=1):
        assert taken <= number + 2
    backend.close()
    assert taken == len(plans)


def test_matches_left_in_the_middle_are_dropped_and_the_next_run_is_whole() -> None:
    field, plans = field_of("greedy", "random"), duels("greedy", "random", deals=6)
    backend = Processes(field, POLICY, 2)
    left = backend.run(chunked(plans, 2))
    next(left)
    left.close()
    again = outcomes_of(backend, chunked(plans, 2))
    assert [outcome.plan for outcome in again] == plans


def test_pace_makes_chunks_of_half_a_second_from_what_it_learns() -> None:
    field, plans = field_of("greedy", "random"), duels("greedy", "random", deals=40)
    pace = Pace()
    sizes = []
    backend = Inline(field, POLICY)
    for played in backend.run(pace.chunks(plans)):
        pace.learn(played)
        sizes.append(len(played.outcomes))
    assert sizes[0] == 1  # nothing is known yet
    assert sum(sizes) == len(plans)
    assert max(sizes) > 10
