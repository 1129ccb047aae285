"""An async client for Tavolata: `import tavolata.client`.

It sends each change under one request id however often it has to try, follows a table over lost
connections without a gap or a duplicate, and turns refusals into exceptions.

    async with connect("localhost:50051") as server:
        seats = [person("Anna"), *[ai_player()] * 3]
        seat = await server.create_table(settings("bouillabaisse"), seats)
        await seat.start()
        result = await play_match(seat, lambda view: view.legal_actions[0])
"""

from __future__ import annotations

from tavolata.service.client.connection import (
    Connection,
    ai_player,
    connect,
    open_seat,
    person,
    settings,
)
from tavolata.service.client.errors import Refused, ServiceError, Unreachable
from tavolata.service.client.playing import Decide, MatchLost, play_match
from tavolata.service.client.retry import RetryPolicy
from tavolata.service.client.seat import Seat, new_request_id
from tavolata.service.client.serving import serve_player
from tavolata.service.client.stream import AttachedSeat, PlayStream
from tavolata.service.client.tournaments import TournamentFailed, Tournaments
from tavolata.service.client.watching import Update

__all__ = [
    "AttachedSeat",
    "Connection",
    "Decide",
    "MatchLost",
    "PlayStream",
    "Refused",
    "RetryPolicy",
    "Seat",
    "ServiceError",
    "TournamentFailed",
    "Tournaments",
    "Unreachable",
    "Update",
    "ai_player",
    "connect",
    "new_request_id",
    "open_seat",
    "person",
    "play_match",
    "serve_player",
    "settings",
]
