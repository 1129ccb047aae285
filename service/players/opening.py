"""The remote players of a server, as its settings say."""

from __future__ import annotations

from tavolata.service.ai_levels import ceiling_of, resolve
from tavolata.service.players.asking import RemotePlayers
from tavolata.service.players.offers import Board
from tavolata.service.players.roster import Roster, Rules
from tavolata.service.ports import Clock, Entropy
from tavolata.service.refusals import Refused
from tavolata.service.settings import Settings
from tavolata.service.tables.tables import Tables
from tavolata.v1.player_pb2 import AiPlayer


class PlayersRefused(Exception):
    """The settings can't be used: the message says why."""


def roster_of(settings: Settings, clock: Clock, entropy: Entropy) -> Roster:
    """The players that will be offered to this server."""
    rules = Rules(
        settings.players_faults_max,
        settings.players_withdrawn_s,
        settings.players_max,
        settings.player_connections_max,
        settings.player_decisions_max,
    )
    return Roster(clock, rules, entropy.name())


def replacement_of(settings: Settings) -> AiPlayer:
    """Who decides where a remote player doesn't. PlayersRefused if there is no such player."""
    ceiling = ceiling_of(settings)
    name, _, level = settings.players_replacement.partition(":")
    try:
        return resolve(AiPlayer(player=name, level=level), ceiling, "players_replacement")
    except Refused as refused:
        raise PlayersRefused(
            f"players_replacement is {settings.players_replacement!r}: {refused.message}"
        ) from None


def remote_players(
    settings: Settings, roster: Roster, board: Board, tables: Tables
) -> RemotePlayers:
    """Who asks them. PlayersRefused if there is no such player to replace them."""
    replacement, answer_s = replacement_of(settings), settings.players_answer_s
    return RemotePlayers(roster, board, tables, tables.clock, answer_s, replacement)
