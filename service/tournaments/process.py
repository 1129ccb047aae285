"""The process of one tournament: plays it, tells the server how far it is, ends when told.

    python -m tavolata.service.tournaments.process FOLDER PROCESSES

On standard output are frames, each a length of four bytes and a `Tournament` with what has changed.
On standard input come STOP (play and keep what has begun, and end) and CANCEL (end at once); the
end of that stream means that the server is gone, and is a CANCEL. Whatever happens, what is kept
are whole matches.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from tavolata.v1.tournament_pb2 import (
    Tournament,
    TournamentEstimate,
    TournamentFaultKind,
    TournamentFaults,
    TournamentProgress,
    TournamentStanding,
)

if TYPE_CHECKING:
    from tavolata.ai.arena.tournament.estimates import Estimate
    from tavolata.ai.arena.tournament.model import Field, MatchOutcome, MatchPlan
    from tavolata.ai.arena.tournament.summary import Standing

# Exit codes. Any other: the process was killed, or is at fault itself.
FINISHED = 0
STOPPED = 10
BUSY = 11  # another process plays in the folder, perhaps for a moment only
UNABLE = 12  # the last frame says why

STOP, CANCEL = b"s", b"c"  # on standard input
NICE = 10  # people at tables come first
FRAME_S = 0.3  # between two frames, at least
LENGTH_BYTES = 4
LAST_S = 10.0  # what an end at once may take


class Frames:
    """Writes what has changed."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def write(self, changed: Tournament) -> None:
        """Tell the server; nothing happens if it is gone."""
        content = changed.SerializeToString()
        with suppress(OSError):
            self._file.write(len(content).to_bytes(LENGTH_BYTES, "big") + content)
            self._file.flush()


class Teller:
    """Follows the tournament and tells how far it is, now and then."""

    def __init__(self, field: Field, frames: Frames) -> None:
        from tavolata.service.cli.tournament_progress import Count

        self._field = field
        self._frames = frames
        self._count = Count()
        self._faults: Counter[tuple[str, str]] = Counter()
        self._outcomes: list[MatchOutcome] = []
        self._standings: list[TournamentStanding] = []
        self._told = self._standings_due = -inf

    def planned(self, plans: Sequence[MatchPlan], done: Sequence[MatchOutcome]) -> None:
        """A block was planned, of which some is done."""
        self._count.block(len(plans), done)
        self._take(done)
        self._tell_if_due()

    def played(self, outcomes: Sequence[MatchOutcome]) -> None:
        """Matches were played."""
        self._count.add(outcomes)
        self._take(outcomes)
        self._tell_if_due()

    def _tell_if_due(self) -> None:
        if time.monotonic() - self._told >= FRAME_S:
            self.tell()

    def _take(self, outcomes: Sequence[MatchOutcome]) -> None:
        self._outcomes += [replace(outcome, record=b"") for outcome in outcomes]
        self._faults.update(
            (fault.label, fault.kind.name) for outcome in outcomes for fault in outcome.faults
        )

    def tell(self, *, last: bool = False) -> None:
        """Send a frame; the last one has the standings after all matches."""
        if last or time.monotonic() >= self._standings_due:
            self._look()
        self._told = time.monotonic()
        self._frames.write(Tournament(progress=self._progress()))

    def _progress(self) -> TournamentProgress:
        count = self._count
        made = TournamentProgress(
            matches_done=count.done,
            matches_planned=count.planned,
            matches_per_second=count.rate,
            standings=self._standings,
            faults=[
                TournamentFaults(
                    label=label,
                    kind=TournamentFaultKind.Value(f"TOURNAMENT_FAULT_KIND_{kind}"),
                    count=number,
                )
                for (label, kind), number in sorted(self._faults.items())
            ],
        )
        if count.rate:
            made.time_left.FromMilliseconds(round(1000 * (count.planned - count.done) / count.rate))
        return made

    def _look(self) -> None:
        """Make the standings anew; the workers wait meanwhile."""
        from tavolata.ai.arena.tournament.results import standings
        from tavolata.service.cli.tournament_progress import STANDINGS_S, STANDINGS_SHARE

        began = time.monotonic()
        self._standings = [_standing(row) for row in standings(self._field, self._outcomes)]
        ended = time.monotonic()
        self._standings_due = ended + max(STANDINGS_S, (ended - began) / STANDINGS_SHARE)


def _standing(row: Standing) -> TournamentStanding:
    return TournamentStanding(
        rank=row.rank,
        label=row.label,
        matches=row.matches,
        elo=_estimate(row.elo),
        score=_estimate(row.score),
        win_share=_estimate(row.win_share),
        part=row.part,
    )


def _estimate(estimate: Estimate) -> TournamentEstimate:
    return TournamentEstimate(value=estimate.value, low=estimate.low, high=estimate.high)


def play(folder: Path, processes: int, frames: Frames, stopped: threading.Event) -> int:
    """Play what is left in the folder; the exit code."""
    from tavolata.ai.arena.tournament import folder as folders
    from tavolata.ai.arena.tournament.backends import WorkerError
    from tavolata.ai.arena.tournament.backends.processes import Processes
    from tavolata.ai.arena.tournament.runner import ForeignResults, run
    from tavolata.ai.arena.tournament.specification import SpecificationError
    from tavolata.ai.arena.tournament.store import StoreError

    try:
        with closing(folders.open_to_run(folder)) as tournament:
            specification = tournament.specification
            field = specification.field
            teller = Teller(field, frames)
            with closing(Processes(field, specification.policy, processes)) as backend:
                ending = run(
                    specification.schedule(), tournament.store, backend, teller, stopped.is_set
                )
            teller.tell(last=True)
    except folders.FolderBusy:
        return BUSY
    except (folders.FolderError, SpecificationError, StoreError, WorkerError, ForeignResults) as e:
        frames.write(Tournament(failure=str(e)))
        return UNABLE
    if ending.result_hash is None:
        return STOPPED
    frames.write(Tournament(result_hash=ending.result_hash))
    return FINISHED


def _heed(stopped: threading.Event) -> None:
    """Do what the server says, in a thread of its own."""
    # Unbuffered: at the end of the process Python would wait for the buffer of a thread that reads.
    while (words := os.read(0, 64)) and CANCEL not in words:
        stopped.set()
    # As Ctrl-C would: so that the workers are ended, and what players started with them.
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
    time.sleep(LAST_S)
    os._exit(STOPPED)


def main() -> int:
    """Play the tournament that the arguments name."""
    frames = Frames(os.fdopen(os.dup(1), "wb"))
    os.dup2(2, 1)  # what a player's module prints must not get between the frames
    os.nice(NICE)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    stopped = threading.Event()
    try:
        threading.Thread(target=_heed, args=(stopped,), daemon=True).start()
        return play(Path(sys.argv[1]), int(sys.argv[2]), frames, stopped)
    except KeyboardInterrupt:
        return STOPPED


if __name__ == "__main__":
    sys.exit(main())
