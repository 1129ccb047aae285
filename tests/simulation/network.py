"""Calls and streams between clients and servers: late, lost, doubled, cut."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from google.protobuf.message import Message

from tavolata.service.refusals import Refused
from tests.simulation.servers import Replica
from tests.simulation.world import SimLoop, World

DEADLINE_S = 3.0
WINDOW = 32  # messages of a stream that are on their way or unread


class Gone(Exception):
    """No answer: whether the call was carried out is unknown."""


@dataclass(slots=True)
class NetTroubles:
    """How likely messages and streams are to be lost, and requests to come twice."""

    lost: float = 0.0
    doubled: float = 0.0
    cut: float = 0.0
    slowest_s: float = 0.1


class Context:
    """What a handler sees of a call."""

    def __init__(self, token: str | None) -> None:
        self._metadata = () if token is None else (("authorization", f"Bearer {token}"),)

    def invocation_metadata(self) -> tuple[tuple[str, str], ...]:
        """The metadata that carries the token."""
        return self._metadata

    def peer(self) -> str:
        """The address of the client."""
        return "ipv4:192.0.2.1:1"


class Network:
    """Everything between the clients' loop and the servers."""

    def __init__(self, world: World, clients: SimLoop, troubles: NetTroubles) -> None:
        self.world, self.clients, self.troubles = world, clients, troubles

    def _happens(self, likelihood: float) -> bool:
        return self.world.chance.random() < likelihood

    def _delay(self) -> float:
        return self.world.delay(self.troubles.slowest_s)

    # -- calls ------------------------------------------------------------------------------------

    async def call(self, replica: Replica, method: str, request: Message, token: str | None) -> Any:
        """The answer of a server, its refusal as Refused, or Gone."""
        answer: asyncio.Future[Any] = self.clients.create_future()
        running: list[asyncio.Task[None]] = []
        copies = 1 + self._happens(self.troubles.doubled)
        for _ in range(copies):
            if not self._happens(self.troubles.lost):
                self.world.after(
                    self._delay(),
                    lambda: self._arrive(replica, method, request, token, answer, running),
                )
        try:
            return await asyncio.wait_for(answer, DEADLINE_S)
        except TimeoutError:
            for task in running:
                replica.cancel(task)  # as gRPC tells the server that nobody waits any more
            raise Gone from None

    def _arrive(
        self,
        replica: Replica,
        method: str,
        request: Message,
        token: str | None,
        answer: asyncio.Future[Any],
        running: list[asyncio.Task[None]],
    ) -> None:
        if not replica.up:
            self._back(answer, error=Gone())
            return
        copy = type(request).FromString(request.SerializeToString())

        async def handle() -> None:
            try:
                value = await getattr(replica.handlers, method)(copy, Context(token))
            except Refused as refused:
                self._back(answer, error=refused)
            except asyncio.CancelledError:
                raise
            except Exception as error:  # noqa: BLE001 - INTERNAL, which must never be
                self.world.faults.append(f"{method}: {error!r}")
                self._back(answer, error=Gone())
            else:
                self._back(answer, type(value).FromString(value.SerializeToString()))

        running.append(replica.begin(handle(), lambda: self._back(answer, error=Gone())))

    def _back(
        self, answer: asyncio.Future[Any], value: Any = None, error: Exception | None = None
    ) -> None:
        if self._happens(self.troubles.lost):
            return

        def land() -> None:
            if answer.done():
                return
            if error is None:
                answer.set_result(value)
            else:
                answer.set_exception(error)

        self.world.after(self._delay(), land)

    # -- streams ----------------------------------------------------------------------------------

    async def stream(
        self, replica: Replica, method: str, request: Message, token: str | None
    ) -> AsyncIterator[Any]:
        """The messages of a server stream in order; Refused or Gone at its end, or nothing."""
        inbox: asyncio.Queue[Any] = asyncio.Queue()
        line = _Line(self, replica, inbox)
        self.world.after(self._delay(), lambda: line.open(method, request, token))
        try:
            while True:
                # A stream that never opens must not be waited for for ever.
                message = await asyncio.wait_for(inbox.get(), 60.0)
                line.read()
                if isinstance(message, Exception):
                    raise message
                if message is None:
                    return
                yield message
        except TimeoutError:
            raise Gone from None
        finally:
            line.hang_up()


class _Line:
    """One stream: the server waits when too much is unread."""

    def __init__(self, network: Network, replica: Replica, inbox: asyncio.Queue[Any]) -> None:
        self._network, self._world = network, network.world
        self._replica, self._inbox = replica, inbox
        self._unread = 0
        self._room: asyncio.Future[None] | None = None
        self._arrives = 0.0
        self._task: asyncio.Task[None] | None = None
        self._down = False

    def open(self, method: str, request: Message, token: str | None) -> None:
        """Begin at the server."""
        if not self._replica.up or self._down:
            self._send(Gone())
            return
        copy = type(request).FromString(request.SerializeToString())

        async def tell() -> None:
            try:
                async for message in getattr(self._replica.handlers, method)(copy, Context(token)):
                    if self._network._happens(self._network.troubles.cut):
                        self._send(Gone())
                        return
                    await self._wait_for_room()
                    self._send(type(message).FromString(message.SerializeToString()))
            except Refused as refused:
                self._send(refused)
            except asyncio.CancelledError:
                raise
            except Exception as error:  # noqa: BLE001 - INTERNAL, which must never be
                self._world.faults.append(f"{method}: {error!r}")
                self._send(Gone())
            else:
                self._send(None)

        self._task = self._replica.begin(tell(), lambda: self._send(Gone()))

    async def _wait_for_room(self) -> None:
        while self._unread >= WINDOW:
            self._room = self._replica.loop.create_future()
            await self._room

    def _send(self, message: Any) -> None:
        self._unread += 1
        self._arrives = max(self._arrives, self._world.now + self._network._delay())
        self._world.at(self._arrives, lambda: self._inbox.put_nowait(message))

    def read(self) -> None:
        """The client has taken a message."""
        self._unread -= 1
        if self._room is not None and not self._room.done():
            self._room.set_result(None)

    def hang_up(self) -> None:
        """The client wants no more."""
        self._down = True
        if self._task is not None:
            self._replica.cancel(self._task)
