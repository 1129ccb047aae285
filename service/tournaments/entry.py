"""A tournament in the server's memory."""

from __future__ import annotations

import asyncio

from tavolata.service.tournaments.running import Running
from tavolata.service.tournaments.shelf import Note
from tavolata.v1.tournament_pb2 import Tournament, TournamentState


class Entry:
    """One tournament."""

    def __init__(self, note: Note) -> None:
        self.note = note
        self.changed = asyncio.Event()  # set, and replaced, with the next change
        self.is_cancelled = False
        self.is_ending = False  # its end is being put down
        self.cancelling = asyncio.Lock()
        self.result_hash = ""  # told by the process, shown once the tournament has ended
        self.running: Running | None = None
        self.task: asyncio.Task[None] | None = None

    @property
    def message(self) -> Tournament:
        """The tournament as it is; it changes."""
        return self.note.tournament

    @property
    def position(self) -> tuple[int, str]:
        """Its place among all, oldest first."""
        return self.message.create_time.ToMicroseconds(), self.message.tournament_id

    def tell(self) -> None:
        """Let watchers know that it has changed."""
        told, self.changed = self.changed, asyncio.Event()
        told.set()


def state_word(state: TournamentState.ValueType) -> str:
    """A state in words, such as `finished`."""
    return TournamentState.Name(state).removeprefix("TOURNAMENT_STATE_").lower()
