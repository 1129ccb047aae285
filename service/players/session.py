"""One stream of PlayerService.Serve: an offer, questions out, answers in."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

from google.protobuf.duration_pb2 import Duration

from tavolata.ai.player import Decision
from tavolata.ai.player import Observation as Known
from tavolata.service.players.offers import check_offer
from tavolata.service.players.questions import Fault, decision_of, observation_message
from tavolata.service.players.roster import Roster
from tavolata.service.ports import Clock
from tavolata.service.refusals import Refused, invalid_field
from tavolata.service.tables import refuse
from tavolata.service.tables.wire import stamp
from tavolata.v1.play_pb2 import Pong
from tavolata.v1.player_pb2 import AiPlayer
from tavolata.v1.player_service_pb2 import ServeRequest, ServeResponse
from tavolata.v1.remote_player_pb2 import (
    OfferAccepted,
    PlayerAnswer,
    PlayerFault,
    PlayerFaultKind,
    PlayerOffer,
    QuestionVoid,
)

READY_MAX = 256  # messages that wait for the program to read
_SILENCE = PlayerFaultKind.PLAYER_FAULT_KIND_SILENCE
_MALFORMED = PlayerFaultKind.PLAYER_FAULT_KIND_MALFORMED
_DISCONNECT = PlayerFaultKind.PLAYER_FAULT_KIND_DISCONNECT


@dataclass(slots=True)
class _Question:
    known: Known
    asked_at: float
    answer: asyncio.Future[Decision]


class Session:
    """A stream; a Line of the roster from its offer to its end."""

    def __init__(
        self,
        roster: Roster,
        clock: Clock,
        answer_s: float,
        stopped: asyncio.Event,
        tell_others: Callable[[], Awaitable[None]],
    ) -> None:
        """answer_s: what an answer may take; stopped: set when the server stops; tell_others:
        makes a new player known to other servers, or is refused."""
        self._roster = roster
        self._clock = clock
        self._answer_s = answer_s
        self._stopped = stopped
        self._tell_others = tell_others
        self._offer: PlayerOffer | None = None
        self._open: dict[int, _Question] = {}
        self._asked = 0
        self._ready: deque[ServeResponse] = deque()
        self._more = asyncio.Event()
        self._room = asyncio.Event()
        self.at_once = 0

    @property
    def free(self) -> int:
        """Questions that it takes now."""
        return 0 if len(self._ready) >= READY_MAX else self.at_once - len(self._open)

    # -- the stream -------------------------------------------------------------------------------

    async def responses(
        self, requests: AsyncIterator[ServeRequest | Refused], owner: str
    ) -> AsyncIterator[ServeResponse]:
        """What the server sends, until the program has half-closed or the server stops. owner: a
        digest of who offers. Refused as PlayerService.Serve says."""
        loop = asyncio.get_running_loop()
        taking = loop.create_task(self._take_all(requests, owner))
        stopping = loop.create_task(self._stopped.wait())
        for task in (taking, stopping):
            task.add_done_callback(lambda _: self._more.set())
        try:
            while True:
                self._more.clear()
                while self._ready:
                    yield self._ready.popleft()
                self._room.set()
                if self._ready:
                    continue
                if stopping.done():
                    raise refuse.shutting_down()
                if taking.done():
                    taking.result()
                    return
                await self._more.wait()
        finally:
            for task in (taking, stopping):
                task.cancel()
            await asyncio.gather(taking, stopping, return_exceptions=True)
            self._end()

    def _end(self) -> None:
        if self._offer is None:
            return
        self._roster.remove(self._offer.player, self)
        self._offer = None
        self.at_once = 0
        if self._stopped.is_set():
            return  # it isn't the program's fault, and who waits for an answer stops, too
        for question in self._open.values():
            if not question.answer.done():
                question.answer.set_exception(Fault(_DISCONNECT, "the connection has ended"))

    async def _take_all(self, requests: AsyncIterator[ServeRequest | Refused], owner: str) -> None:
        async for request in requests:
            if isinstance(request, Refused):
                raise request
            kind = request.WhichOneof("message")
            if self._offer is None:
                if kind != "offer":
                    raise invalid_field("message", f"is {kind or 'empty'}", "an offer first")
                await self._take_offer(request.offer, owner)
                continue
            match kind:
                case "answer":
                    self._take_answer(request.answer)
                case "ping":
                    time = stamp(self._clock.now_us())
                    pong = Pong(payload=request.ping.payload, server_time=time)
                    self._send(ServeResponse(pong=pong))
                case _:
                    raise invalid_field("message", f"is {kind or 'empty'}", "answer or ping")
            while len(self._ready) >= READY_MAX:
                self._room.clear()
                await self._room.wait()

    async def _take_offer(self, offer: PlayerOffer, owner: str) -> None:
        check_offer(offer)
        await self._tell_others()  # and hears of them: the name may be taken there
        self.at_once = self._roster.at_once(offer.decisions_at_once)
        self._roster.add(offer, owner, self)
        self._offer = offer
        await self._tell_others()
        accepted = OfferAccepted(
            answer_time=_duration(self._answer_s), decisions_at_once=self.at_once
        )
        self._send(ServeResponse(accepted=accepted))

    def _send(self, response: ServeResponse) -> None:
        self._ready.append(response)
        self._more.set()

    # -- questions --------------------------------------------------------------------------------

    async def ask(self, known: Known, player: AiPlayer, seed: int, within_s: float) -> Decision:
        """The player's decision. Fault if it gives none in that time, or none that counts."""
        assert self._offer is not None  # noqa: S101
        self._asked += 1
        number = self._asked
        message = observation_message(known, player, seed)
        message.question = number
        message.time.CopyFrom(_duration(within_s))
        if not self._offer.with_packed:
            message.ClearField("packed_view")
            message.ClearField("packed_events")
        loop = asyncio.get_running_loop()
        question = _Question(known, self._clock.monotonic(), loop.create_future())
        self._open[number] = question
        self._send(ServeResponse(observation=message))
        try:
            return await asyncio.wait_for(question.answer, within_s)
        except TimeoutError:
            fault = Fault(_SILENCE, f"no answer in {within_s:.3g} s")
            fault.question = number
            raise fault from None
        finally:
            del self._open[number]
            if question.answer.cancelled() and self._offer is not None:
                self._send(ServeResponse(question_void=QuestionVoid(question=number)))

    def _take_answer(self, answer: PlayerAnswer) -> None:
        if not 1 <= answer.question <= self._asked:
            message = f"question {answer.question} was never asked"
            allowed = f"allowed: 1 to {self._asked}" if self._asked else "none has been yet"
            self.fault(Fault(_MALFORMED, f"{message}; {allowed}"))
            return
        question = self._open.get(answer.question)
        if question is None or question.answer.done():
            return  # too late, or twice
        took_s = self._clock.monotonic() - question.asked_at
        try:
            question.answer.set_result(decision_of(question.known, answer, took_s))
        except Fault as fault:
            fault.question = answer.question
            question.answer.set_exception(fault)

    def fault(self, fault: Fault) -> None:
        """Count a fault, and tell the program of it if it still listens."""
        if self._offer is None:
            return
        withdrawn_s = self._roster.faulted(self._offer.player, fault.kind)
        self.tell_fault(fault, withdrawn_s)

    def tell_fault(self, fault: Fault, withdrawn_s: float) -> None:
        """Tell the program of a fault."""
        if self._offer is None or len(self._ready) >= READY_MAX:
            return
        told = PlayerFault(question=fault.question, kind=fault.kind, message=str(fault))
        if withdrawn_s:
            told.withdrawn_for.CopyFrom(_duration(withdrawn_s))
        self._send(ServeResponse(fault=told))


def _duration(seconds: float) -> Duration:
    made = Duration()
    made.FromMilliseconds(max(1, round(seconds * 1000)))
    return made
