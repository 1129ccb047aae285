"""How `tavolata tournament` plays: back ends, signals, and what is said at the end."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import closing, contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, NoReturn

import typer

if TYPE_CHECKING:
    from types import FrameType

    from tavolata.ai.arena.tournament.backends import Backend
    from tavolata.ai.arena.tournament.folder import Tournament
    from tavolata.ai.arena.tournament.model import MatchOutcome
    from tavolata.ai.arena.tournament.specification import Specification

REFUSED = 2  # exit code: what was asked for can't be done
FAILED = 1  # exit code: it was tried and did not come out right
STOPPING = b"stopping after the matches in progress; once more stops at once\n"
SIGNALLED = 128  # exit code: this plus the signal that stopped the run


class Where(StrEnum):
    """Where matches are played. The result is the same everywhere."""

    processes = "processes"
    inline = "inline"
    ray = "ray"


def play(
    tournament: Tournament,
    workers: int | None,
    where: Where,
    ray: str | None,
    *,
    go_on: str | None = None,
) -> None:
    """Play to the end, or until a signal; always tell what there is and what can be done next.

    go_on: the command that goes on with what was stopped, of which this is a part; None: it is a
    tournament by itself.
    """
    from tavolata.ai.arena.tournament.backends import WorkerError
    from tavolata.ai.arena.tournament.runner import ForeignResults
    from tavolata.ai.arena.tournament.runner import run as run_tournament
    from tavolata.ai.arena.tournament.store import StoreError
    from tavolata.service.cli.tournament_progress import progress

    received: list[int] = []
    next_ = go_on or f"tavolata tournament resume {tournament.folder}"
    kept = f"what was played is kept; go on with: {next_}"
    with closing(tournament):
        try:
            with (
                closing(backend_of(tournament.specification, workers, where, ray)) as backend,
                _signals(received),  # after Ray, which has handlers of its own
                progress(tournament.field) as observer,
            ):
                ending = run_tournament(
                    tournament.specification.schedule(),
                    tournament.store,
                    backend,
                    observer,
                    lambda: bool(received),
                )
        except KeyboardInterrupt:
            stop(f"stopped; {kept}", SIGNALLED + (received or [signal.SIGINT])[0])
        except (WorkerError, ForeignResults, StoreError) as error:
            stop(f"{error}\n{kept}", FAILED)
    if ending.result_hash is None:
        stop(f"stopped after {ending.matches} matches; {kept}", SIGNALLED + received[0])
    if go_on is not None:
        return
    typer.echo(f"{ending.matches} matches; result hash: {ending.result_hash}")
    typer.echo(f"results: tavolata tournament standings {tournament.folder}")


def rehearse(
    specification: Specification, workers: int | None, where: Where, ray: str | None
) -> None:
    """Play some matches, and tell what all of them would take and could show."""
    from tavolata.ai.arena.tournament.backends import WorkerError
    from tavolata.ai.arena.tournament.dry_run import SECONDS, forecast
    from tavolata.ai.arena.tournament.dry_run_text import lines

    typer.echo(f"playing some matches, for {SECONDS:.0f} s or somewhat longer", err=True)
    try:
        with closing(backend_of(specification, workers, where, ray)) as backend:
            found = forecast(specification, backend)
    except KeyboardInterrupt:
        stop("stopped", SIGNALLED + signal.SIGINT)
    except WorkerError as error:
        stop(str(error), FAILED)
    typer.echo("\n".join(lines(found)))


def backend_of(
    specification: Specification, workers: int | None, where: Where, ray: str | None
) -> Backend:
    """The back end that was asked for; ends the program where there is none."""
    field, policy = specification.field, specification.policy
    if where is Where.ray or ray is not None:
        try:
            from tavolata.ai.arena.tournament.backends.ray import Ray
        except ModuleNotFoundError:
            stop("Ray is not installed; it comes with the extra: tavolata[ray]", REFUSED)
        try:
            return Ray(field, policy, workers, ray)
        except ConnectionError as error:
            stop(f"there is no Ray cluster at {ray}: {error}", REFUSED)
    if where is Where.inline:
        from tavolata.ai.arena.tournament.backends.inline import Inline

        return Inline(field, policy)
    from tavolata.ai.arena.tournament.backends.processes import Processes

    return Processes(field, policy, workers)


@contextmanager
def _signals(received: list[int]) -> Iterator[None]:
    """Collect signals that ask for an end; the second one ends at once."""

    def on_signal(number: int, _: FrameType | None) -> None:
        received.append(number)
        if len(received) > 1:
            raise KeyboardInterrupt
        os.write(2, STOPPING)  # the display may be in the middle of a buffered write

    before = {
        number: signal.signal(number, on_signal) for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def play_again(tournament: Tournament, outcome: MatchOutcome, where: Where) -> MatchOutcome:
    """The match of an outcome, played alone."""
    from tavolata.ai.arena.tournament.model import Chunk

    with closing(backend_of(tournament.specification, 1, where, None)) as backend:
        (played,) = backend.run([Chunk(0, (outcome.plan,))])
    return played.outcomes[0]


def stop(text: str, code: int) -> NoReturn:
    """End the program with a word on standard error."""
    typer.echo(text, err=True)
    raise typer.Exit(code)
