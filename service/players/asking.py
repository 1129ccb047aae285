"""Decisions of remote players: asking them, here or through another server, and when not to wait.

A match is one server's to act for; its remote players may be connected to others. What such a
player answers is played by the server that asked it, as a person's action is by the server that
heard it: the log takes whichever comes first, the answer or the decision of the built-in player
that the acting server puts in its place when the time is over.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import structlog

from tavolata.ai.player import Decision
from tavolata.ai.player import Observation as Known
from tavolata.service.players.offers import Board
from tavolata.service.players.questions import Fault
from tavolata.service.players.roster import Roster
from tavolata.service.players.session import Session
from tavolata.service.ports import Clock, StoreError
from tavolata.service.refusals import Refused
from tavolata.service.tables import refuse
from tavolata.service.tables.model import Table
from tavolata.service.tables.tables import Tables
from tavolata.v1.player_pb2 import AiPlayer
from tavolata.v1.remote_player_pb2 import PlayerFaultKind

log = structlog.get_logger(__name__)
LOOK_S = 0.1  # between looks for a connection while none can take a question
TELL_S = 1.0  # between exchanges with the other servers
ELSEWHERE_S = 2.0  # longer to wait for what another server has asked
_DISCONNECT = PlayerFaultKind.PLAYER_FAULT_KIND_DISCONNECT


@dataclass(frozen=True, slots=True)
class Case:
    """A decision that a remote player is to make. pace_s: before which its answer isn't played;
    acting: whether this server acts for the match."""

    table_id: str
    player: AiPlayer
    known: Known
    seed: int
    pace_s: float
    acting: Callable[[], bool]


class RemotePlayers:
    """The remote players as AI seats need them."""

    def __init__(
        self,
        roster: Roster,
        board: Board,
        tables: Tables,
        clock: Clock,
        answer_s: float,
        replacement: AiPlayer,
    ) -> None:
        """answer_s: what an answer may take; replacement: decides when there is none."""
        self.roster = roster
        self.replacement = replacement
        self._board = board
        self._tables = tables
        self._clock = clock
        self._answer_s = answer_s
        self._absences: Counter[str] = Counter()  # decisions in a row waited for in vain
        self._called: dict[str, str] = {}  # tables, and the server that each was called to
        self._tasks: set[asyncio.Task[None]] = set()

    # -- decisions --------------------------------------------------------------------------------

    def asked_here(self, table: Table, seat: int) -> bool:
        """Whether this server asks the player of a seat, whoever acts for the match."""
        player = table.seats[seat].ai
        if player is None or not player.remote:
            return False
        return self.roster.asker(player.player, table.table_id) == self.roster.server_id

    async def decide(self, case: Case) -> Decision | None:
        """The player's decision; None if another player has to decide in its place or, for a server
        that doesn't act for the match, if it is to do nothing.

        A player that is connected nowhere is waited for as long as for an answer, but no more after
        as many such waits in a row as faults withdraw it, until it is back.
        """
        name, roster = case.player.player, self.roster
        until = self._clock.monotonic() + self._answer_s
        while not roster.withdrawn(name):
            asker = roster.asker(name, case.table_id)
            left = until - self._clock.monotonic()
            if asker is not None:
                self._absences.pop(name, None)
            elif self._absences[name] >= roster.faults_max:
                break
            if asker == roster.server_id and left > 0:
                line = roster.line_for(name)
                if line is not None:
                    again, decision = await self._ask(cast("Session", line), case, left)
                    if not again:
                        return decision
                    continue
            elif not case.acting():
                return None
            elif asker is not None and asker != roster.server_id:
                left += ELSEWHERE_S + max(0.0, case.pace_s - self._answer_s)
                await self._call(asker, case.table_id)
            if left <= 0:
                self._absences[name] += asker is None
                break
            await self._clock.sleep(min(left, LOOK_S))
        self._called.pop(case.table_id, None)
        if case.acting():
            roster.missed(name)
        return None

    async def _ask(self, line: Session, case: Case, left: float) -> tuple[bool, Decision | None]:
        """Whether another connection may be asked, and the decision if there is one."""
        name = case.player.player
        try:
            decision = await line.ask(case.known, case.player, case.seed, left)
        except Fault as fault:
            line.tell_fault(fault, self.roster.faulted(name, fault.kind))
            return fault.kind == _DISCONNECT and self.roster.line_for(name) is not None, None
        self.roster.decided(name)
        return False, decision

    async def _call(self, server_id: str, table_id: str) -> None:
        if self._called.get(table_id) == server_id:
            return
        try:
            await self._board.call(server_id, table_id)
        except StoreError as error:
            log.warning("players.not_called", table_id=table_id, error=str(error))
        else:
            self._called[table_id] = server_id

    # -- other servers ----------------------------------------------------------------------------

    async def run(self) -> None:
        """Exchange with other servers again and again; ends by being cancelled."""
        while True:
            try:
                await self._exchange()
            except StoreError as error:
                log.warning("players.not_exchanged", error=str(error))
            except Exception:
                log.exception("players.not_exchanged")
            await self._clock.sleep(TELL_S)

    async def tell_others(self) -> None:
        """Let other servers know who is here, and hear of them. Refused with STORE_UNAVAILABLE."""
        try:
            await self._exchange()
        except StoreError as error:
            raise refuse.store_unavailable() from error

    async def _exchange(self) -> None:
        roster = self.roster
        roster.forget()
        await self._board.tell(roster.server_id, roster.own(), self._clock.now_us())
        roster.hear(await self._board.told())
        for table_id in await self._board.calls(roster.server_id):
            self._tables.called.add(table_id)
            self._load(table_id)
        here = self._tables.has_in_memory
        self._tables.called = {each for each in self._tables.called if here(each)} | self._loads

    @property
    def _loads(self) -> set[str]:
        return {task.get_name() for task in self._tasks}

    def seen(self, table: Table) -> None:
        """Keep a table in memory to which this server was called, while it is played."""
        table_id = table.table_id
        if table.over:
            self._called.pop(table_id, None)
        if table_id not in self._tables.called:
            return
        if table.over:
            self._tables.called.discard(table_id)
        elif table.dead:
            self._load(table_id)

    def _load(self, table_id: str) -> None:
        async def load() -> None:
            try:
                await self._tables.settled(table_id)
            except Refused as refused:
                log.warning("players.not_followed", table_id=table_id, reason=refused.reason_name)
                return
            self._tables.reconsider(table_id)

        loop = asyncio.get_running_loop()
        task = loop.create_task(load(), name=table_id, context=contextvars.Context())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Tell other servers that nobody is here any more."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        try:
            await self._board.tell(self.roster.server_id, self.roster.own(), self._clock.now_us())
        except StoreError as error:
            log.warning("players.not_exchanged", error=str(error))
