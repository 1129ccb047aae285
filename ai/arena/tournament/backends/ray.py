"""Matches on the machines of a Ray cluster, or on this one through Ray.

Every actor runs a watched worker process of its own, so that players are contained on the machine
they play on by the same code as without Ray. What Ray adds is the way there and back: an actor that
is lost with its chunk, or with its machine, is replaced, and the chunk is given out again.
"""

from __future__ import annotations

import os
import sys
from collections import Counter, deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from typing import Any

import ray
from ray.exceptions import ObjectLostError, RayActorError, RayError

from tavolata.ai.arena.tournament.backends import Played, WorkerError
from tavolata.ai.arena.tournament.backends.processes import Processes
from tavolata.ai.arena.tournament.model import Chunk, Field
from tavolata.ai.arena.tournament.policy import FaultPolicy

LOSSES_MAX = 10  # actors that may be lost with the same chunk


class Post:
    """What an actor is: one worker process and the one who watches it."""

    def __init__(self, field: Field, policy: FaultPolicy, path: Sequence[str]) -> None:
        """path: where else to look for players' modules."""
        sys.path.extend(place for place in path if place not in sys.path)
        self._backend = Processes(field, policy, workers=1)

    def play(self, chunk: Chunk) -> list[Played]:
        """All of the chunk."""
        return list(self._backend.run([chunk]))


class Ray:
    """Actors that stay from run to run."""

    def __init__(
        self,
        field: Field,
        policy: FaultPolicy,
        workers: int | None = None,
        address: str | None = None,
    ) -> None:
        """workers: one a core of the cluster unless given; address: of the cluster, as ``ray.init``
        takes it. Without one, Ray is started on this machine and ended by ``close``. A cluster's
        machines must have this program and the players installed."""
        self._ours = not ray.is_initialized()
        if self._ours:
            _start(workers, address)
        self.workers = workers or _cores()
        path = [] if address else sys.path
        self._arguments = ray.put(field), policy, path
        self._actors: list[Any] = []
        self._again: deque[Chunk] = deque()
        self._losses: Counter[int] = Counter()

    def run(self, chunks: Iterable[Chunk]) -> Generator[Played, None, None]:
        source = iter(chunks)
        flying: dict[Any, tuple[Any, Chunk]] = {}  # by Ray's reference: the actor and what it has
        try:
            while self._hand_out(source, flying):
                (reference,), _ = ray.wait(list(flying), num_returns=1)
                actor, chunk = flying.pop(reference)
                try:
                    parts = ray.get(reference)
                except (RayActorError, ObjectLostError):
                    self._lost(actor, chunk)
                else:
                    yield from parts
        except RayError as error:
            raise WorkerError(f"Ray can't go on: {error}") from None
        finally:
            self._again.clear()
            for actor in {actor for actor, _ in flying.values()}:
                self._dismiss(actor)

    def close(self) -> None:
        for actor in list(self._actors):
            self._dismiss(actor)
        if self._ours:
            ray.shutdown()

    def _hand_out(self, source: Iterator[Chunk], flying: dict[Any, tuple[Any, Chunk]]) -> bool:
        """Give a chunk to all that have none; False when all has been played."""
        while len(self._actors) < self.workers:
            self._actors.append(ray.remote(num_cpus=1)(Post).remote(*self._arguments))
        # One chunk each: the way takes milliseconds, and a second might wait behind a long first.
        busy = {actor for actor, _ in flying.values()}
        for actor in [actor for actor in self._actors if actor not in busy]:
            chunk = self._again.popleft() if self._again else next(source, None)
            if chunk is None:
                break
            flying[actor.play.remote(chunk)] = actor, chunk
        return bool(flying)

    def _lost(self, actor: Any, chunk: Chunk) -> None:
        self._losses[chunk.number] += 1
        if self._losses[chunk.number] >= LOSSES_MAX:
            raise WorkerError(
                f"{LOSSES_MAX} of Ray's workers were lost while they had the chunk of match "
                f"{chunk.plans[0].id}; Ray's logs say more"
            )
        self._again.append(chunk)
        self._dismiss(actor)

    def _dismiss(self, actor: Any) -> None:
        self._actors.remove(actor)
        ray.kill(actor)


def _cores() -> int:
    resources: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
    return max(1, int(resources.get("CPU", 1)))


def _start(workers: int | None, address: str | None) -> None:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # a tournament is nobody's business
    shared: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    if address is not None:
        ray.init(address, **shared)
    else:
        ray.init("local", num_cpus=workers, include_dashboard=False, **shared)
