"""When the end of a worker is held to be a player's doing."""

from __future__ import annotations

import pytest

from tavolata.ai.arena.tournament.backends import WorkerError
from tavolata.ai.arena.tournament.backends.suspects import CRASHES, HANGS, LOSSES_MAX, Suspects
from tavolata.ai.arena.tournament.model import FaultKind
from tavolata.ai.arena.tournament.notes import NOBODY, Note, Notes
from tests.ai.arena.tournament.table_of_four import duels

PLANS = tuple(duels("greedy", "random", deals=3))


def note(position: int, seat: int = NOBODY, decision: int = 0) -> Note:
    return Note(position, seat, decision, since=0.0)


def test_what_a_worker_held_is_played_again_with_the_match_at_which_it_ended_alone() -> None:
    suspects = Suspects()
    assert suspects.split(PLANS, note(2, 1, 5), "exit code 1") == [
        PLANS[:2],
        PLANS[2:3],
        PLANS[3:],
    ]
    assert suspects.split(PLANS, note(0, 1, 5), "exit code 1") == [PLANS[:1], PLANS[1:]]
    assert suspects.split(PLANS, note(5, 1, 5), "exit code 1") == [PLANS[:5], PLANS[5:]]
    assert suspects.split(PLANS[:1], note(-1), "exit code 1") == [PLANS[:1]]


def test_one_end_is_nobodys_fault_and_the_same_again_is() -> None:
    suspects = Suspects()
    for _ in range(CRASHES - 1):
        suspects.split(PLANS[2:3], note(0, 1, 5), "killed by SIGSEGV")
        assert suspects.known(PLANS) == {}
    suspects.split(PLANS[2:3], note(0, 1, 5), "killed by SIGSEGV")
    ((plan, (fault,)),) = suspects.known(PLANS).items()
    assert plan == PLANS[2]
    assert (fault.kind, fault.label, fault.seat, fault.decision) == (
        FaultKind.CRASH,
        PLANS[2].labels[1],
        1,
        5,
    )
    assert "SIGSEGV" in fault.detail


def test_hangs_and_crashes_are_counted_apart_and_by_decision() -> None:
    suspects = Suspects()
    for _ in range(HANGS - 1):
        suspects.split(PLANS, note(0, 1, 5), None)
    for _ in range(CRASHES - 1):
        suspects.split(PLANS, note(0, 1, 5), "exit code 1")
        suspects.split(PLANS, note(0, 1, 6), "exit code 1")
        suspects.split(PLANS, note(1, 1, 5), "exit code 1")
    assert suspects.known(PLANS) == {}
    suspects.split(PLANS, note(0, 1, 5), None)
    assert [fault.kind for fault in suspects.known(PLANS)[PLANS[0]]] == [FaultKind.HANG]


def test_a_player_that_ends_workers_at_ever_other_decisions_is_found_out_in_the_end() -> None:
    suspects = Suspects()
    for decision in range(LOSSES_MAX):
        assert suspects.known(PLANS) == {}
        suspects.split(PLANS, note(0, 1, decision), "exit code 1")
    assert PLANS[0] in suspects.known(PLANS)


@pytest.mark.parametrize("position", [-1, 0])
def test_a_match_that_ends_workers_without_a_player_is_an_error(position: int) -> None:
    suspects = Suspects()
    for _ in range(LOSSES_MAX - 1):
        suspects.split(PLANS, note(position), "exit code 1")
    with pytest.raises(WorkerError, match=r"match 0\.0\.0\.0\.0 .* no player was being asked"):
        suspects.split(PLANS, note(position), "exit code 1")


def test_notes_are_read_from_the_other_side_of_the_memory() -> None:
    buffer = bytearray(Notes.SIZE)
    here, there = Notes(buffer), Notes(buffer)
    here.clear()
    here.match(3)
    here.asking(2, 17)
    seen = there.read()
    assert seen is not None
    assert (seen.position, seen.seat, seen.decision) == (3, 2, 17)
    here.answered()
    seen = there.read()
    assert seen is not None
    assert (seen.position, seen.seat) == (3, NOBODY)


def test_a_note_half_written_is_not_read() -> None:
    buffer = bytearray(Notes.SIZE)
    notes = Notes(buffer)
    notes.asking(1, 2)
    buffer[0] += 1  # the count before is of the next note already
    assert notes.read() is None
