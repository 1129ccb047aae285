"""A tournament as a folder: ``tournament.toml`` as it is run, ``results.sqlite``, and a lock.

What may go on in a folder is decided here: a new tournament begins in a new one, an interrupted
one goes on by the specification that it began with, and one process at a time writes.
"""

from __future__ import annotations

import fcntl
import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from tavolata import __version__
from tavolata.ai.arena.tournament.model import Field, MatchOutcome
from tavolata.ai.arena.tournament.specification import Specification, SpecificationError, load
from tavolata.ai.arena.tournament.store import Store
from tavolata.ext.registry import game_spec

SPECIFICATION = "tournament.toml"
RESULTS = "results.sqlite"
LOCK = "lock"
LOCK_TRIES = 10


class FolderError(RuntimeError):
    """The folder does not allow what was asked for; says why and what can be done."""


class FolderBusy(FolderError):
    """Another process plays the tournament in this folder."""


@dataclass(frozen=True, slots=True)
class Tournament:
    """An open folder. ``close`` it when done."""

    folder: Path
    specification: Specification
    store: Store
    lock: IO[str] | None = None

    @property
    def field(self) -> Field:
        return self.specification.field

    @property
    def result_hash(self) -> str | None:
        """The result hash of a finished tournament, None while there are matches to play."""
        return self.store.facts().get("result_hash")

    def find(self, match_id: str) -> MatchOutcome:
        """A match that was played. FolderError if there is none of this id."""
        outcome = self.store.find(match_id)
        if outcome is None:
            raise FolderError(
                f"no match {match_id!r} has been played; an id is "
                "contest.round.group.deal.rotation, like 0.0.2.11.1"
            )
        return outcome

    def close(self) -> None:
        self.store.close()
        if self.lock is not None:
            self.lock.close()


def create(folder: Path, specification: Specification) -> Tournament:
    """A new tournament in a folder that does not exist or is empty; it holds the lock."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        if (folder / SPECIFICATION).exists():
            raise FolderError(f"{folder} holds a tournament; resume it, or choose another folder")
        raise FolderError(f"{folder} is not an empty folder; choose another one")
    folder.mkdir(parents=True, exist_ok=True)
    lock = _locked(folder)
    draft = folder / f".{SPECIFICATION}"
    draft.write_text(specification.text, encoding="utf-8")
    draft.replace(folder / SPECIFICATION)
    store = Store(folder / RESULTS)
    store.put(_beginning(specification))
    return Tournament(folder, specification, store, lock)


def open_to_run(folder: Path) -> Tournament:
    """A tournament that was begun here, to go on with; it holds the lock.

    FolderError if there is none, if it is being run, or if its specification, a game's rules or
    what this program makes of them are not what it began with. SpecificationError for a broken one.
    """
    specification = _specification(folder)
    lock = _locked(folder)
    store = Store(folder / RESULTS)
    try:
        _check_unchanged(folder, specification, store)
    except BaseException:
        store.close()
        lock.close()
        raise
    return Tournament(folder, specification, store, lock)


def open_to_read(folder: Path) -> Tournament:
    """A tournament to look at, also while it is being run."""
    if not (folder / RESULTS).exists():
        _specification(folder)
        raise FolderError(f"{folder} has no results yet")
    store = Store(folder / RESULTS, readonly=True)
    # By what the matches were played, whatever has become of the file since.
    text = store.facts().get("specification")
    if text is None:
        store.close()
        raise FolderError(f"{folder} has no results yet")
    return Tournament(folder, load(text), store)


def is_running(folder: Path) -> bool:
    """Whether a process is playing the tournament in this folder."""
    with (folder / LOCK).open("a", encoding="utf-8") as lock:
        return not _try_to_lock(lock)


def _specification(folder: Path) -> Specification:
    if not (folder / SPECIFICATION).exists():
        raise FolderError(f"{folder} holds no tournament: there is no {SPECIFICATION} in it")
    return load(folder / SPECIFICATION)


def _locked(folder: Path) -> IO[str]:
    lock = (folder / LOCK).open("a", encoding="utf-8")
    for _ in range(LOCK_TRIES):  # somebody who only looks has it for a moment
        if _try_to_lock(lock):
            return lock
        time.sleep(0.05)
    lock.close()
    raise FolderBusy(f"{folder} is being run by another process")


def _try_to_lock(lock: IO[str]) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _beginning(specification: Specification) -> dict[str, str]:
    return {
        "specification": specification.text,
        "digest": specification.digest(),
        "rules": json.dumps(_rules(specification.field)),
        "program": __version__,
    }


def _rules(field: Field) -> dict[str, str]:
    return {contest.game: game_spec(contest.game).rules_version for contest in field.contests}


def _check_unchanged(folder: Path, specification: Specification, store: Store) -> None:
    facts = store.facts()
    if "digest" not in facts:  # it ended before anything was put down
        store.put(_beginning(specification))
        return
    began, now = json.loads(facts["rules"]), _rules(specification.field)
    changed = [
        f"{game} was {began[game]}, is {now[game]}"
        for game in sorted(began.keys() & now)
        if began[game] != now[game]
    ]
    if changed:
        raise FolderError(
            f"rules have changed since this tournament began: {'; '.join(changed)}. "
            f"It was run by tavolata {facts['program']}"
        )
    if facts["digest"] != specification.digest():
        raise FolderError(
            f"{folder / SPECIFICATION} is not what this tournament began with: "
            f"{_changes(specification, facts)}. Undo that to resume it, or run the changed "
            "specification in another folder"
        )


def _changes(specification: Specification, facts: dict[str, str]) -> str:
    try:
        changes = specification.changes_from(load(facts["specification"]))
    except SpecificationError:
        changes = []
    return "; ".join(changes) or f"tavolata {facts['program']} read it otherwise"
