"""Playing seats of a service with a player of one's own: `Connection.serve_player`.

The player is one as the package `tavolata` knows them, `ai.player.Player`; a program in any
language does the same with the messages of PlayerService.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import grpc

from tavolata.service.client.errors import Refused, refused_call
from tavolata.service.client.retry import Identity, Patience, RetryPolicy, bearer, known_by
from tavolata.v1 import player_service_pb2, player_service_pb2_grpc, remote_player_pb2

if TYPE_CHECKING:
    from tavolata.ai.player import Decision, Limits, Observation, Player
    from tavolata.ai.stop import Stop
    from tavolata.service.client.connection import Connection

PlayerOffer = remote_player_pb2.PlayerOffer
_Request = player_service_pb2.ServeRequest
_Response = player_service_pb2.ServeResponse
_Stream = grpc.aio.StreamStreamCall[_Request, _Response]
OnFault = Callable[[remote_player_pb2.PlayerFault], None]
# The rest is for the way to the server and back.
THINKING_SHARE = 0.8


class Serving:
    """A player that is offered, and answers; `run` does it, over lost connections too."""

    def __init__(
        self,
        channel: grpc.aio.Channel,
        policy: RetryPolicy,
        offer: PlayerOffer,
        player: Player,
        limits: Limits,
        *,
        token: str = "",
        identity: Identity | None = None,
        on_fault: OnFault | None = None,
    ) -> None:
        """player: used by several threads at a time if it is offered for several decisions; token:
        the server's for players; on_fault: told of what the server counts as faults."""
        self._stub = player_service_pb2_grpc.PlayerServiceStub(channel)
        self._policy = policy
        self._offer = offer
        self._player = player
        self._limits = limits
        self._token, self._identity = token, identity
        self._on_fault = on_fault
        self._broken: BaseException | None = None  # what the player has raised
        self._thinking: dict[int, tuple[asyncio.Task[None], Stop]] = {}

    async def run(self) -> None:
        """Serve until cancelled. Raises Refused if the offer is, or Unreachable, or what the player
        raises."""
        clock = asyncio.get_running_loop().time
        patience = Patience(self._policy, self._policy.silence_s)
        while True:
            opened = clock()
            failure = await self._one_stream(patience)
            await patience.wait(failure, lasted_s=clock() - opened)

    async def _one_stream(self, patience: Patience) -> Refused:
        metadata = bearer(self._token) + known_by(self._identity)
        stream: _Stream = self._stub.Serve(metadata=metadata)
        try:
            await stream.write(_Request(offer=self._offer))
            async for response in stream:
                patience.reset()
                self._take(stream, response)
        except grpc.aio.AioRpcError as error:
            return refused_call(error)
        except asyncio.CancelledError:
            if self._broken is not None:
                raise self._broken from None
            raise
        except asyncio.InvalidStateError:  # it ended before the offer was sent
            return Refused(await stream.code(), "", await stream.details() or "")
        finally:
            for task, stop in self._thinking.values():
                stop.set()
                task.cancel()
            self._thinking.clear()
            stream.cancel()
        return Refused(grpc.StatusCode.UNAVAILABLE, "", "the server ended the stream")

    def _take(self, stream: _Stream, response: _Response) -> None:
        from tavolata.ai.stop import Stop

        match response.WhichOneof("message"):
            case "observation":
                number, stop = response.observation.question, Stop()
                work = self._answer(stream, response.observation, stop)
                task = asyncio.get_running_loop().create_task(work)
                self._thinking[number] = (task, stop)
                task.add_done_callback(lambda done: self._thought(number, stream, done))
            case "question_void":
                if held := self._thinking.get(response.question_void.question):
                    held[1].set()
            case "fault" if self._on_fault is not None:
                self._on_fault(response.fault)

    def _thought(self, number: int, stream: _Stream, done: asyncio.Task[None]) -> None:
        self._thinking.pop(number, None)
        if not done.cancelled() and (error := done.exception()) is not None:
            self._broken = error
            stream.cancel()

    async def _answer(
        self, stream: _Stream, asked: remote_player_pb2.Observation, stop: Stop
    ) -> None:
        from tavolata.service.codecs import codec_of

        observation = observation_of(asked)
        think_ms = asked.time.ToNanoseconds() / 1e6 * THINKING_SHARE
        if self._limits.think_ms is not None:
            think_ms = min(think_ms, self._limits.think_ms)
        limits = replace(self._limits, think_ms=think_ms)
        if asked.limits.HasField("iterations"):
            limits = replace(limits, iterations=asked.limits.iterations)

        def decide() -> Decision:
            return self._player.decide(observation, limits, seed=asked.seed, stop=stop)

        decision = await asyncio.to_thread(decide)
        answer = remote_player_pb2.PlayerAnswer(
            question=asked.question, action=codec_of(asked.game_id).action_to(decision.action)
        )
        answer.effort.iterations, answer.effort.nodes = decision.iterations, decision.nodes
        answer.effort.think_time.FromNanoseconds(round(decision.elapsed_ms * 1e6))
        with suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError):  # the reader tells
            await stream.write(_Request(answer=answer))


def observation_of(asked: remote_player_pb2.Observation) -> Observation:
    """A question as the package's players are asked it; it has to carry its packed form. ValueError
    if the server's rules aren't those of this package."""
    from tavolata.ai.player import Observation
    from tavolata.ext.registry import game_spec
    from tavolata.service.codecs import codec_of

    spec, codec = game_spec(asked.game_id), codec_of(asked.game_id)
    game = spec.make(asked.seat_count, codec.options_from(asked.options))
    if asked.rules_version != spec.rules_version or len(asked.packed_view) != game.state_bytes:
        raise ValueError(
            f"the server plays {spec.name} by the rules {asked.rules_version}, and this program has"
            f" {spec.rules_version}, or another form of the same: use the same version of tavolata"
        )
    return Observation(
        game=game,
        seat=asked.seat,
        turn=asked.turn,
        view_bytes=asked.packed_view,
        legal_actions=tuple(codec.action_from(action) for action in asked.legal_actions),
        event_words=asked.packed_events,
    )


def offer_of(
    name: str, games: Sequence[str], version: str, summary: str, decisions_at_once: int
) -> PlayerOffer:
    """An offer that asks for what the package's players need."""
    return PlayerOffer(
        player=name,
        game_ids=games,
        version=version,
        summary=summary,
        decisions_at_once=decisions_at_once,
        with_packed=True,
    )


async def serve_player(
    server: Connection, name: str, player: Player, games: Sequence[str], **others: Any
) -> None:
    """See ``Connection.serve_player``."""
    await server.serve_player(name, player, games, **others)
