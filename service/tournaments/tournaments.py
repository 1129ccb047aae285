"""All tournaments of the server: made, played, watched, cancelled, and gone on with at a start."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any, TypeVar

import structlog

from tavolata.service.ports import Clock, Entropy
from tavolata.service.refusals import invalid_field
from tavolata.service.tables import refuse as refuse_call
from tavolata.service.tables.requests import check_request_id, digest_of
from tavolata.service.tournaments import process, refuse
from tavolata.service.tournaments.admission import Caps, admitted, processes_for
from tavolata.service.tournaments.entry import Entry, state_word
from tavolata.service.tournaments.running import END_S, Running
from tavolata.service.tournaments.shelf import Note, Shelf
from tavolata.v1.tournament_pb2 import Tournament, TournamentState

log = structlog.get_logger(__name__)
Made = TypeVar("Made")

LOSSES_MAX = 3  # processes in a row that end without having played a match
AGAIN_S = 1.0  # before the next try
RETRY_S = 30.0  # what a client is told to wait for a free place
NO_ROOM = (errno.ENOSPC, errno.EDQUOT)


class Tournaments:
    """Those on a shelf. What is refused is raised as Refused."""

    def __init__(
        self, shelf: Shelf, caps: Caps, at_a_time: int, clock: Clock, entropy: Entropy
    ) -> None:
        self.shelf = shelf
        self._caps = caps
        self._at_a_time = at_a_time
        self._clock = clock
        self._entropy = entropy
        self._entries: dict[str, Entry] = {}
        self._by_request: dict[str, Entry] = {}
        self._places = asyncio.Semaphore(at_a_time)
        self._making = asyncio.Lock()
        self._under_way: set[asyncio.Task[Any]] = set()
        self.stopping = False

    async def take_up(self) -> None:
        """Read what there is, and go on with what has not ended, oldest first."""
        notes = await asyncio.to_thread(self.shelf.notes)
        for entry in sorted(map(Entry, notes), key=lambda entry: entry.position):
            self._add(entry)
            if not entry.note.is_over:
                self._begin(entry)

    def _add(self, entry: Entry) -> None:
        self._entries[entry.message.tournament_id] = entry
        self._by_request[entry.note.request_id] = entry

    async def close(self) -> None:
        """End all processes after the matches in progress, or without them if these take long."""
        self.stopping = True
        live = [entry for entry in self._entries.values() if entry.task is not None]
        for entry in self._entries.values():
            entry.tell()
        for entry in live:
            if entry.running is not None:
                entry.running.stop()
            elif entry.task is not None:
                entry.task.cancel()
        tasks = [entry.task for entry in live if entry.task is not None]
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=END_S)
            for entry in live:
                if entry.task in late and entry.running is not None:
                    entry.running.kill()
            await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.gather(*self._under_way, return_exceptions=True)
        self.shelf.close()

    # -- calls ------------------------------------------------------------------------------------

    async def create(self, request_id: str, text: str, processes: int) -> Entry:
        """A new tournament, or the one that was made by the same request."""
        check_request_id(request_id)
        digest = digest_of(text.encode(), str(processes).encode()).hex()
        return await self._whole(lambda: self._create(request_id, digest, text, processes))

    async def _create(self, request_id: str, digest: str, text: str, asked: int) -> Entry:
        async with self._making:
            known = self._by_request.get(request_id)
            if known is not None:
                if known.note.digest != digest:
                    raise refuse_call.request_id_reused(request_id)
                return known
            if self.stopping:
                raise refuse_call.shutting_down()
            processes = processes_for(asked, self._caps)
            if not text:
                raise invalid_field("specification", "is missing", "a tournament file in TOML")
            # Much of it is arithmetic over all pairs of entrants: others need not wait for it.
            specification = await asyncio.to_thread(admitted, text, self._caps)
            if sum(not entry.note.is_over for entry in self._entries.values()) >= self._at_a_time:
                raise refuse_call.limit_exceeded("tournaments at a time", self._at_a_time, RETRY_S)
            note = Note(request_id, digest, self._fresh(specification.title, processes))
            await self._kept(lambda: self.shelf.make(note, specification))
            entry = Entry(note)
            self._add(entry)
            self._begin(entry)
            log.info("tournament.made", tournament_id=note.tournament.tournament_id)
            return entry

    def _fresh(self, title: str, processes: int) -> Tournament:
        made = Tournament(
            tournament_id=self._entropy.bytes(10).hex(),
            title=title,
            state=TournamentState.TOURNAMENT_STATE_WAITING,
            processes=processes,
        )
        made.create_time.FromMicroseconds(self._clock.now_us())
        return made

    def find(self, tournament_id: str) -> Entry:
        """The tournament. Refused with TOURNAMENT_NOT_FOUND."""
        entry = self._entries.get(tournament_id)
        if entry is None:
            raise refuse.not_found(tournament_id)
        return entry

    def newest_first(self) -> list[Entry]:
        """All tournaments."""
        return sorted(self._entries.values(), key=lambda entry: entry.position, reverse=True)

    async def watch(self, tournament_id: str) -> AsyncIterator[Tournament]:
        """The tournament now and at every change, until it is over."""
        entry = self.find(tournament_id)
        while True:
            changed = entry.changed
            is_over = entry.note.is_over
            yield entry.message
            if is_over:
                return
            if self.stopping:
                raise refuse_call.shutting_down()
            await changed.wait()

    async def cancel(self, tournament_id: str) -> Entry:
        """End the tournament for good."""
        entry = self.find(tournament_id)
        return await self._whole(lambda: self._cancel(entry))

    async def _cancel(self, entry: Entry) -> Entry:
        async with entry.cancelling:
            if entry.is_ending and entry.task is not None:
                await asyncio.wait([entry.task])
            if entry.message.state == TournamentState.TOURNAMENT_STATE_CANCELLED:
                return entry
            if entry.note.is_over:
                raise refuse.over(entry.message.tournament_id, state_word(entry.message.state))
            if self.stopping:
                raise refuse_call.shutting_down()
            entry.is_cancelled = True
            # First on the disk: a server that is killed now must not go on with it.
            note = self._ended(entry, TournamentState.TOURNAMENT_STATE_CANCELLED)
            try:
                await self._kept(lambda: self.shelf.keep(note))
            except BaseException:
                entry.is_cancelled = False
                raise
            await self._stand_down(entry)
            await self._end(entry, TournamentState.TOURNAMENT_STATE_CANCELLED)
            return entry

    async def _stand_down(self, entry: Entry) -> None:
        """Have the entry's process and task end."""
        task = entry.task
        if task is None:
            return
        if entry.running is None:  # it waits for its turn
            task.cancel()
        else:
            entry.running.cancel()
        await asyncio.wait([task], timeout=END_S)
        if entry.running is not None:
            entry.running.kill()
        await asyncio.gather(task, return_exceptions=True)

    async def _kept(self, write: Callable[[], None]) -> None:
        """Write to the shelf. Refused with STORE_FULL if there is no room."""
        try:
            await asyncio.to_thread(write)
        except OSError as error:
            if error.errno in NO_ROOM:
                raise refuse_call.store_full() from error
            raise

    async def _whole(self, work: Callable[[], Coroutine[Any, Any, Made]]) -> Made:
        """Do it to its end, also when the caller has gone."""
        task = asyncio.create_task(work())
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        return await asyncio.shield(task)

    # -- playing ----------------------------------------------------------------------------------

    def _begin(self, entry: Entry) -> None:
        entry.task = asyncio.create_task(self._in_turn(entry))

    async def _in_turn(self, entry: Entry) -> None:
        try:
            async with self._places:
                await self._play(entry)
        except Exception:
            log.exception("tournament.lost", tournament_id=entry.message.tournament_id)
            entry.message.failure = "a fault of the server; its log has more"
            await self._over(entry, TournamentState.TOURNAMENT_STATE_FAILED)
        finally:
            entry.running = None

    async def _play(self, entry: Entry) -> None:
        """Until it is over, cancelled, or the server stops."""
        message, losses = entry.message, 0
        while self._goes_on(entry):
            done = message.progress.matches_done
            running = entry.running = Running(lambda frame: self._heard(entry, frame))
            code = await running.play(self.shelf.folder(message.tournament_id), message.processes)
            if entry.is_cancelled:
                return
            if code == process.FINISHED:
                await self._over(entry, TournamentState.TOURNAMENT_STATE_FINISHED)
                return
            if self.stopping:
                return
            if code not in (process.UNABLE, process.BUSY):
                losses = 1 if message.progress.matches_done > done else losses + 1
                self._tell_loss(entry, code, running.last_words, losses)
            if code == process.UNABLE or losses >= LOSSES_MAX:
                await self._over(entry, TournamentState.TOURNAMENT_STATE_FAILED)
                return
            await self._clock.sleep(AGAIN_S)

    def _goes_on(self, entry: Entry) -> bool:
        return not (self.stopping or entry.is_cancelled)

    def _tell_loss(self, entry: Entry, code: int, words: str, losses: int) -> None:
        """A process has ended by itself; if that was the last try, say why it failed."""
        name = entry.message.tournament_id
        log.warning("tournament.interrupted", tournament_id=name, exit_code=code, error=words)
        if losses >= LOSSES_MAX:
            entry.message.failure = (
                f"its process has ended {losses} times without having played a match; the last "
                f"time with exit code {code}: {words}"
            )

    async def _over(self, entry: Entry, state: TournamentState.ValueType) -> None:
        entry.is_ending = True
        await self._end(entry, state)

    def _heard(self, entry: Entry, frame: Tournament) -> None:
        """Take over what the process tells."""
        message = entry.message
        if frame.HasField("progress"):
            message.progress.CopyFrom(frame.progress)
        entry.result_hash = frame.result_hash
        message.failure = frame.failure
        message.state = TournamentState.TOURNAMENT_STATE_RUNNING
        entry.tell()

    async def _end(self, entry: Entry, state: TournamentState.ValueType) -> None:
        """Put down that it has ended, then tell."""
        note = self._ended(entry, state)
        try:
            await asyncio.to_thread(self.shelf.keep, note)
        except OSError as error:  # after a restart it comes to the same end once more
            log.error("tournament.end_not_kept", error=str(error))
        entry.note = note
        entry.tell()
        log.info(
            "tournament.ended",
            tournament_id=note.tournament.tournament_id,
            state=state_word(state),
        )

    def _ended(self, entry: Entry, state: TournamentState.ValueType) -> Note:
        """The entry's note as it is once it has ended so."""
        made = Tournament()
        made.CopyFrom(entry.message)
        made.state = state
        made.end_time.FromMicroseconds(self._clock.now_us())
        if made.HasField("progress"):
            made.progress.matches_per_second = 0.0
            made.progress.ClearField("time_left")
        if state == TournamentState.TOURNAMENT_STATE_FINISHED:
            made.result_hash = entry.result_hash
        return Note(entry.note.request_id, entry.note.digest, made)
