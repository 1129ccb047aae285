"""What servers of one database tell each other of remote players; see players/offers.py."""

# ruff: noqa: S608 - put together from constants

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from tavolata.service.players.offers import KNOWN_S, TOLD_S, Standing
from tavolata.service.store.postgres_sql import NOW_US

_TELL = f"""
WITH gone AS (
    DELETE FROM remote_players
    WHERE (server_id = $1 AND player <> ALL ($2::text[]))
    OR told_us < {NOW_US} - {round(KNOWN_S * 1e6)}
),
late AS (DELETE FROM remote_calls WHERE called_us < {NOW_US} - {round(KNOWN_S * 1e6)})
INSERT INTO remote_players (server_id, player, body, told_us)
SELECT $1, player, body, {NOW_US} FROM unnest($2::text[], $3::text[]) AS told (player, body)
ORDER BY player
ON CONFLICT (server_id, player) DO UPDATE SET body = excluded.body, told_us = excluded.told_us
"""
_TOLD = f"""
SELECT server_id, body, told_us > {NOW_US} - {round(TOLD_S * 1e6)} FROM remote_players
"""
_CALL = f"""
INSERT INTO remote_calls (server_id, table_id, called_us) VALUES ($1, $2, {NOW_US})
ON CONFLICT (server_id, table_id) DO NOTHING
"""
_CALLS = "DELETE FROM remote_calls WHERE server_id = $1 RETURNING table_id"

Read = Callable[[Callable[[Any], Any]], Awaitable[Any]]


class PostgresBoard:
    """A Board in a database."""

    def __init__(self, use: Read) -> None:
        """use: calls a function with a connection, and raises StoreError."""
        self._use = use
        self._told = False  # whether this server has rows

    async def tell(self, server_id: str, standings: Sequence[Standing], now_us: int) -> None:
        """Replace what a server has told; see Board."""
        if not standings and not self._told:
            return
        names = [each.player for each in standings]
        bodies = [json.dumps(each.to_body()) for each in standings]
        await self._use(lambda line: line.execute(_TELL, server_id, names, bodies))
        self._told = bool(standings)

    async def told(self) -> dict[str, list[Standing]]:
        """What servers have told lately; see Board."""
        found: dict[str, list[Standing]] = {}
        for server_id, body, fresh in await self._use(lambda line: line.fetch(_TOLD)):
            standing = Standing.from_body(json.loads(body))
            if not fresh:
                standing.connections = standing.at_once = 0
            found.setdefault(str(server_id), []).append(standing)
        return found

    async def call(self, server_id: str, table_id: str) -> None:
        """Ask a server to follow a table."""
        await self._use(lambda line: line.execute(_CALL, server_id, table_id))

    async def calls(self, server_id: str) -> list[str]:
        """The tables that a server has been called to; see Board."""
        if not self._told:
            return []
        rows = await self._use(lambda line: line.fetch(_CALLS, server_id))
        return [str(row[0]) for row in rows]
