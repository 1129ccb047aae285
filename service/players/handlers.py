"""PlayerService: each rpc says what is asked and answers with messages; it decides nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

from tavolata.ai.players import PlayerSpec
from tavolata.ext.registry import GAMES, UnknownGame, game_spec
from tavolata.service.ai_levels import players
from tavolata.service.players.admission import Admission
from tavolata.service.players.asking import RemotePlayers
from tavolata.service.players.offers import Standing
from tavolata.service.players.session import Session
from tavolata.service.ports import Clock
from tavolata.service.refusals import Refused, of_unknown_game
from tavolata.service.tables.wire import stamp
from tavolata.v1 import player_service_pb2 as pb
from tavolata.v1.remote_player_pb2 import PlayerStatus


class PlayerService:
    """The rpcs of tavolata.v1.PlayerService."""

    def __init__(
        self,
        remote: RemotePlayers,
        admission: Admission,
        clock: Clock,
        answer_s: float,
        stopped: asyncio.Event,
    ) -> None:
        """answer_s: what a remote player's answer may take; stopped: set when the server stops."""
        self._remote = remote
        self._admission = admission
        self._clock = clock
        self._new_session = partial(
            Session, remote.roster, clock, answer_s, stopped, remote.tell_others
        )

    async def ListPlayers(  # noqa: N802
        self, request: pb.ListPlayersRequest, context: Any
    ) -> pb.ListPlayersResponse:
        """Who can be seated. Refused with UNKNOWN_GAME."""
        game_id = request.game_id
        if game_id:
            try:
                game_spec(game_id)
            except UnknownGame as error:
                raise of_unknown_game(error) from None
        now_us = self._clock.now_us()
        built_in = [_built_in(spec) for _, spec in sorted(players().items())]
        remote = [status_of(each, now_us) for each in self._remote.roster.all()]
        return pb.ListPlayersResponse(
            players=[
                each for each in [*built_in, *remote] if not game_id or game_id in each.game_ids
            ]
        )

    async def Serve(  # noqa: N802
        self, requests: AsyncIterator[pb.ServeRequest | Refused], context: Any
    ) -> AsyncIterator[pb.ServeResponse]:
        """Let a program play."""
        owner = await self._admission.owner(context)
        async for response in self._new_session().responses(requests, owner):
            yield response


def _built_in(spec: PlayerSpec) -> PlayerStatus:
    return PlayerStatus(
        player=spec.name, summary=spec.description, game_ids=sorted(GAMES), present=True
    )


def status_of(standing: Standing, now_us: int) -> PlayerStatus:
    """What is told of a remote player."""
    until_us = standing.withdrawn_until_us
    return PlayerStatus(
        player=standing.player,
        summary=standing.summary,
        game_ids=standing.game_ids,
        remote=True,
        present=standing.present(now_us),
        version=standing.version,
        connections=standing.connections,
        decisions_at_once=standing.at_once,
        counts=standing.counts.message(),
        withdrawn_until=stamp(until_us) if until_us > now_us else None,
    )
