"""The tournaments of a server on disk: a folder each, with a note of what the service knows of it.

A note is written to the disk before anybody is told of it. A tournament whose note names no end
goes on when the server starts.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import structlog
from google.protobuf.json_format import MessageToDict, ParseDict, ParseError

from tavolata.ai.arena.tournament import folder as folders
from tavolata.ai.arena.tournament.specification import Specification
from tavolata.service.tournaments.opening import TournamentsRefused
from tavolata.v1.tournament_pb2 import Tournament, TournamentState

log = structlog.get_logger(__name__)
NOTE = "service.json"
LOCK = "lock"
DRAFT = ".new-"
EXPORT = ".export-"
OVER = (
    TournamentState.TOURNAMENT_STATE_FINISHED,
    TournamentState.TOURNAMENT_STATE_CANCELLED,
    TournamentState.TOURNAMENT_STATE_FAILED,
)


@dataclass(slots=True)
class Note:
    """What is kept of a tournament besides its matches. digest: of what it was made with."""

    request_id: str
    digest: str
    tournament: Tournament

    @property
    def is_over(self) -> bool:
        """Whether the tournament has ended."""
        return self.tournament.state in OVER


class Shelf:
    """The folder of all tournaments; one server at a time has it."""

    def __init__(self, root: Path) -> None:
        """Take the folder, making it if need be. TournamentsRefused says what is wrong."""
        self.root = root
        try:
            root.mkdir(parents=True, exist_ok=True)
            self._lock = _locked(root / LOCK)
        except OSError as error:
            raise TournamentsRefused(f"the tournaments of {root} can't be used: {error}") from error
        for left in [*root.glob(f"{DRAFT}*"), *root.glob(f"{EXPORT}*")]:
            shutil.rmtree(left, ignore_errors=True)

    def folder(self, tournament_id: str) -> Path:
        """Where a tournament is."""
        return self.root / tournament_id

    def notes(self) -> list[Note]:
        """All there are, in no order; one that can't be read is left out and told in the log."""
        found = []
        for path in self.root.glob(f"*/{NOTE}"):
            try:
                found.append(_read(path))
            except (OSError, ValueError, KeyError, TypeError, ParseError) as error:
                log.error("tournament.not_read", folder=str(path.parent), error=str(error))
        return found

    def make(self, note: Note, specification: Specification) -> None:
        """A new tournament: all of it, or nothing. OSError if there is no room."""
        tournament_id = note.tournament.tournament_id
        draft = self.root / f"{DRAFT}{tournament_id}"
        try:
            folders.create(draft, specification).close()
            _write(draft / NOTE, note)
            draft.rename(self.folder(tournament_id))
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            raise
        _sync(self.root)

    def keep(self, note: Note) -> None:
        """Replace a tournament's note."""
        _write(self.folder(note.tournament.tournament_id) / NOTE, note)

    def specification(self, tournament_id: str) -> str:
        """The text that the tournament was made with."""
        path = self.folder(tournament_id) / folders.SPECIFICATION
        return path.read_text(encoding="utf-8")

    def close(self) -> None:
        """Let another server have it."""
        self._lock.close()


def _locked(path: Path) -> IO[str]:
    lock = path.open("a", encoding="utf-8")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.close()
        raise TournamentsRefused(
            f"the tournaments of {path.parent} are in use by another server; give each its own"
        ) from None
    return lock


def _read(path: Path) -> Note:
    held = json.loads(path.read_text(encoding="utf-8"))
    return Note(held["request_id"], held["digest"], ParseDict(held["tournament"], Tournament()))


def _write(path: Path, note: Note) -> None:
    held = {
        "request_id": note.request_id,
        "digest": note.digest,
        "tournament": MessageToDict(note.tournament, preserving_proto_field_name=True),
    }
    draft = path.with_name(f".{path.name}")
    with draft.open("w", encoding="utf-8") as file:
        json.dump(held, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    _sync(path.parent)


def _sync(folder: Path) -> None:
    """Have the names in a folder on the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
