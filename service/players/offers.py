"""What a program offers, how a player has done, and the port by which servers tell each other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Protocol

from tavolata.ai.players import player_specs
from tavolata.ext.registry import UnknownGame, game_spec
from tavolata.service.refusals import Refused, invalid_field, of_unknown_game
from tavolata.v1.errors_pb2 import ErrorReason
from tavolata.v1.remote_player_pb2 import PlayerCounts, PlayerOffer

NAME = re.compile(r"[a-z][a-z0-9_.-]{0,39}")
VERSION_MAX = 80
SUMMARY_MAX = 200
LEVEL = "standard"  # the only one that a remote player has


@dataclass(slots=True)
class Counts:
    """How a player has done; see PlayerCounts."""

    decisions: int = 0
    silences: int = 0
    illegal_actions: int = 0
    malformed_answers: int = 0
    disconnects: int = 0
    missed: int = 0

    def add(self, other: Counts) -> None:
        """Take another server's into account."""
        for each in fields(self):
            setattr(self, each.name, getattr(self, each.name) + getattr(other, each.name))

    def message(self) -> PlayerCounts:
        """For whoever asks."""
        return PlayerCounts(**asdict(self))


@dataclass(slots=True)
class Standing:
    """What a server knows of a player that programs offer to it. owner: a digest of who offers it,
    empty if that isn't known; at_once: decisions over all connections; withdrawn_until_us: wall
    time, 0 if it isn't withdrawn; seen_us: when a connection was there last."""

    player: str
    game_ids: tuple[str, ...] = ()
    version: str = ""
    summary: str = ""
    owner: str = ""
    connections: int = 0
    at_once: int = 0
    withdrawn_until_us: int = 0
    seen_us: int = 0
    counts: Counts = field(default_factory=Counts)

    def present(self, now_us: int) -> bool:
        """Whether it can be asked."""
        return self.connections > 0 and self.withdrawn_until_us <= now_us

    def to_body(self) -> dict[str, Any]:
        """As JSON values."""
        return asdict(self)

    @classmethod
    def from_body(cls, body: dict[str, Any]) -> Standing:
        """What `to_body` made."""
        given = dict(body)
        given["game_ids"] = tuple(given["game_ids"])
        given["counts"] = Counts(**given["counts"])
        return cls(**given)


class Board(Protocol):
    """Where the servers of one store tell each other which players they can ask, and call one
    another to a table. What it says may be late. All raise StoreError."""

    async def tell(self, server_id: str, standings: Sequence[Standing], now_us: int) -> None:
        """Replace what a server has told before."""

    async def told(self) -> dict[str, list[Standing]]:
        """What servers have told lately, by server; the connections of those that have told nothing
        for TOLD_S are none."""

    async def call(self, server_id: str, table_id: str) -> None:
        """Ask a server to follow a table, at which a player sits that it can ask."""

    async def calls(self, server_id: str) -> list[str]:
        """The tables that a server has been called to since it asked last."""


TOLD_S = 5.0  # a server that has told nothing for that long can ask nobody
KNOWN_S = 3600.0  # a player is remembered that long after its last connection


class NoBoard:
    """Of a server that has its store for itself."""

    async def tell(self, server_id: str, standings: Sequence[Standing], now_us: int) -> None:
        """There is nobody to tell."""

    async def told(self) -> dict[str, list[Standing]]:
        """Nobody tells anything."""
        return {}

    async def call(self, server_id: str, table_id: str) -> None:
        """There is nobody to call."""

    async def calls(self, server_id: str) -> list[str]:
        """Nobody calls."""
        return []


def check_offer(offer: PlayerOffer) -> None:
    """Refused with INVALID_FIELD, UNKNOWN_GAME or PLAYER_NAME_TAKEN."""
    if not NAME.fullmatch(offer.player):
        allowed = "1 to 40 characters out of a-z, 0-9, _, - and ., the first a letter"
        raise invalid_field("offer.player", f"is {offer.player!r}", allowed)
    if offer.player in player_specs():
        raise name_taken(offer.player, "is the name of one of the server's own players")
    if not offer.game_ids:
        raise invalid_field("offer.game_ids", "is empty", "ids of games; see ListGames")
    for game_id in offer.game_ids:
        try:
            game_spec(game_id)
        except UnknownGame as error:
            raise of_unknown_game(error) from None
    for name, most in (("version", VERSION_MAX), ("summary", SUMMARY_MAX)):
        text: str = getattr(offer, name)
        if len(text) > most or not (text.isprintable() or not text):
            problem = f"has {len(text)} characters" if len(text) > most else "isn't one line"
            raise invalid_field(f"offer.{name}", problem, f"at most {most} printable ones")


def name_taken(player: str, why: str) -> Refused:
    """PLAYER_NAME_TAKEN."""
    return Refused(
        ErrorReason.ERROR_REASON_PLAYER_NAME_TAKEN,
        f"{player!r} {why}; offer the player under another name",
        {"player": player},
    )
