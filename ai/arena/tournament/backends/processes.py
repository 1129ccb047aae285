"""Matches in spawned processes, one a core, each watched from here.

A worker that ends while it holds plans, or that waits for a player longer than the policy's
patience, is replaced and its plans are played again: what came before the match at which it ended,
that match alone, and what comes after. So a worker killed from outside changes nothing, and a
player that takes its worker down again at the same decision is found out: then the fault is known,
and the match is played without asking it there.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from contextlib import suppress
from multiprocessing.connection import wait
from typing import Any

from tavolata.ai.arena.tournament.backends import Played, WorkerError
from tavolata.ai.arena.tournament.backends.suspects import Suspects
from tavolata.ai.arena.tournament.backends.worker import Broken, Ready, Task, work
from tavolata.ai.arena.tournament.model import Chunk, Field, MatchPlan
from tavolata.ai.arena.tournament.notes import NOBODY, Note, Notes
from tavolata.ai.arena.tournament.policy import FaultPolicy

STARTS_MAX = 10  # workers in a row that end before they are ready
STILL_S = 60.0  # without a sign of life from outside players' code, where things take microseconds
GOODBYE_S = 0.5  # what a worker gets to end by itself


class Worker:
    """One process, as seen by the one that started it."""

    def __init__(self, field: Field, policy: FaultPolicy) -> None:
        context = multiprocessing.get_context("spawn")
        buffer = context.RawArray("b", Notes.SIZE)
        self.notes = Notes(buffer)
        self.notes.clear()
        self.connection, theirs = context.Pipe()
        self.process = context.Process(
            target=work, args=(theirs, buffer, field, policy, os.getpid()), daemon=True
        )
        self.process.start()
        theirs.close()
        self.ready = False
        self.plans: tuple[MatchPlan, ...] = ()

    @property
    def is_at_work(self) -> bool:
        """Whether something is to be heard from it."""
        return bool(self.plans) or not self.ready

    def give(self, task: Task) -> None:
        """Hand over plans. If the process has ended, ``received`` will tell."""
        self.plans = task.plans
        self.notes.clear()
        with suppress(OSError):
            self.connection.send(task)

    def received(self) -> Any:
        """What the worker has sent; EOFError or OSError if it has ended without."""
        if not self.process.is_alive():
            self._kill_group()  # a child of its would keep the connection open
        if not self.connection.poll():
            raise EOFError
        return self.connection.recv()

    def end(self, grace_s: float = 0.0) -> str:
        """End it and what it has started; how it ended in words."""
        self.connection.close()
        self.process.join(grace_s)
        self._kill_group()
        self.process.kill()
        self.process.join()
        code = self.process.exitcode
        self.process.close()
        return words_of_exit(code)

    def _kill_group(self) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid or 0, signal.SIGKILL)


def words_of_exit(code: int | None) -> str:
    """How a process ended."""
    if code is not None and code < 0:
        return f"killed by {signal.Signals(-code).name}"
    return f"exit code {code}"


class Processes:
    """Spawned workers that stay from run to run."""

    def __init__(
        self,
        field: Field,
        policy: FaultPolicy,
        workers: int | None = None,
        still_s: float = STILL_S,
    ) -> None:
        """workers: one a core unless given; still_s: after which a worker is replaced that stands
        still without a player being asked."""
        self.workers = workers or os.cpu_count() or 1
        self._field = field
        self._policy = policy
        self._still_s = still_s
        self._crew: list[Worker] = []
        self._again: deque[tuple[MatchPlan, ...]] = deque()  # these come before new ones
        self._suspects = Suspects()
        self._starts_failed = 0

    def run(self, chunks: Iterable[Chunk]) -> Generator[Played, None, None]:
        source = (chunk.plans for chunk in chunks)
        try:
            while self._hand_out(source):
                for worker in self._heard():
                    yield from self._news_of(worker)
                for worker, note in self._overdue():
                    self._lost(worker, note)
        finally:
            self._again.clear()
            for worker in [worker for worker in self._crew if worker.plans]:
                self._dismiss(worker)

    def close(self) -> None:
        for worker in list(self._crew):
            self._dismiss(worker, GOODBYE_S)

    def process_ids(self) -> list[int]:
        """Of the workers there are."""
        return [worker.process.pid or 0 for worker in self._crew]

    def _dismiss(self, worker: Worker, grace_s: float = 0.0) -> str:
        self._crew.remove(worker)
        return worker.end(grace_s)

    def _hand_out(self, source: Iterator[tuple[MatchPlan, ...]]) -> bool:
        """Give plans to all that are free; False when all has been played."""
        while len(self._crew) < self.workers:
            self._crew.append(Worker(self._field, self._policy))
        for worker in self._crew:
            if worker.ready and not worker.plans:
                plans = self._again.popleft() if self._again else next(source, None)
                if plans is None:
                    return any(worker.plans for worker in self._crew)
                worker.give(Task(plans, self._suspects.known(plans)))
        return True

    # -- what comes back ------------------------------------------------------------------------

    def _heard(self) -> list[Worker]:
        """The workers that have sent something or ended; waits no longer than any patience."""
        by_source: dict[Any, Worker] = {}
        for worker in self._crew:
            by_source[worker.connection] = by_source[worker.process.sentinel] = worker
        heard = wait(list(by_source), self._seconds_of_patience())
        return list(dict.fromkeys(by_source[source] for source in heard))

    def _news_of(self, worker: Worker) -> Generator[Played, None, None]:
        try:
            message = worker.received()
        except (EOFError, OSError):
            self._lost(worker)
            return
        if isinstance(message, Broken):
            raise WorkerError(f"a worker can't go on:\n{message.text}")
        if isinstance(message, Ready):
            worker.ready = True
            self._starts_failed = 0
        else:
            worker.plans = ()
            yield message

    def _lost(self, worker: Worker, overdue: Note | None = None) -> None:
        """Have played again what a worker held, and remember at whom it ended."""
        how = self._dismiss(worker)
        if not worker.ready:
            self._starts_failed += 1
            if self._starts_failed >= STARTS_MAX:
                raise WorkerError(f"workers end before they begin ({how}); see their error output")
        if worker.plans:
            note = worker.notes.read()
            # It may have answered between the look at the clock and the kill.
            hung = overdue is not None and overdue.seat != NOBODY and note == overdue
            parts = self._suspects.split(worker.plans, note, None if hung else how)
            self._again.extendleft(reversed(parts))

    # -- patience -------------------------------------------------------------------------------

    def _due(self, worker: Worker, note: Note) -> float:
        """When patience with what the worker is doing ends, in ``time.monotonic``."""
        if note.seat == NOBODY:
            return note.since + self._still_s
        label = worker.plans[note.position].labels[note.seat]
        think_ms = self._field.entrants[label].limits.think_ms or 0.0
        return note.since + (self._policy.patience_ms + think_ms) / 1000

    def _at_work(self) -> list[tuple[Worker, Note]]:
        """The workers that have plans or are starting, with what they do."""
        notes = [(worker, worker.notes.read()) for worker in self._crew]
        return [(worker, note) for worker, note in notes if note and worker.is_at_work]

    def _seconds_of_patience(self) -> float:
        now, longest = time.monotonic(), min(self._still_s, self._policy.patience_ms / 1000)
        left = [self._due(worker, note) - now for worker, note in self._at_work()]
        return max(0.0, min([longest, *left]))

    def _overdue(self) -> list[tuple[Worker, Note]]:
        now = time.monotonic()
        return [(worker, note) for worker, note in self._at_work() if self._due(worker, note) < now]
