"""The same matches through Ray, started on this machine, with a worker of its killed."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tavolata.ai.arena.tournament.backends.inline import Inline
from tavolata.ai.arena.tournament.model import FaultKind, MatchOutcome
from tavolata.ai.arena.tournament.policy import FaultPolicy
from tests.ai.arena.tournament.table_of_four import (
    chunked,
    duels,
    field_of,
    hash_of,
    outcomes_of,
)

pytest.importorskip("ray", reason="the extra `ray` is not installed")

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("_bad_players")]


def playing() -> list[int]:
    """The processes of ours that Ray calls by what they do, and that have a chunk."""
    parents, found = {}, []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            state = (entry / "stat").read_text()
            title = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        parents[int(entry.name)] = int(state.rpartition(")")[2].split()[1])
        if title.startswith(b"ray::Post.play"):
            found.append(int(entry.name))
    return [process for process in found if os.getpid() in ancestors(process, parents)]


def ancestors(process: int, parents: dict[int, int]) -> Iterator[int]:
    while process in parents:
        process = parents[process]
        yield process


def test_a_worker_of_rays_killed_while_it_holds_a_chunk_changes_nothing() -> None:
    """And a player that takes its worker down is found out on Ray as it is without."""
    from tavolata.ai.arena.tournament.backends.ray import Ray

    field = field_of("greedy", "random", "exiting")
    sound = duels("greedy", "random", deals=16)
    bad = [plan for plan in duels("greedy", "exiting", deals=1, block=1) if plan.rotation == 0]
    expected = outcomes_of(Inline(field, FaultPolicy()), chunked(sound, 32))
    backend = Ray(field, FaultPolicy(), workers=2)
    try:
        outcomes: list[MatchOutcome] = []
        for played in backend.run(chunked([*sound, *bad], 4)):
            outcomes += played.outcomes
            if not backend._losses:
                for process in playing():
                    os.kill(process, signal.SIGKILL)
        lost = backend._losses.total()
    finally:
        backend.close()
    assert lost >= 1
    outcomes.sort(key=lambda outcome: outcome.plan)
    assert [outcome.plan for outcome in outcomes] == [*sound, *bad]
    assert hash_of(outcomes[: len(sound)]) == hash_of(expected)
    assert [outcome.faults for outcome in outcomes[: len(sound)]] == [()] * len(sound)
    kinds = {(fault.kind, fault.label) for fault in outcomes[-1].faults}
    assert kinds == {(FaultKind.CRASH, "exiting")}
