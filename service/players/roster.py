"""The players that programs offer: connected here, or to other servers of the store.

A fault is counted for the player, not for the connection. After several in a row the player is
withdrawn for a while; an answer that is played ends the row.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import structlog

from tavolata.service.players.offers import KNOWN_S, Counts, Standing, name_taken
from tavolata.service.ports import Clock
from tavolata.service.tables import refuse
from tavolata.v1.remote_player_pb2 import PlayerFaultKind, PlayerOffer

log = structlog.get_logger(__name__)
LIMIT_RETRY_S = 5.0
_COUNTED = {
    PlayerFaultKind.PLAYER_FAULT_KIND_SILENCE: "silences",
    PlayerFaultKind.PLAYER_FAULT_KIND_ILLEGAL_ACTION: "illegal_actions",
    PlayerFaultKind.PLAYER_FAULT_KIND_MALFORMED: "malformed_answers",
    PlayerFaultKind.PLAYER_FAULT_KIND_DISCONNECT: "disconnects",
}


class Line(Protocol):
    """A connection that offers a player."""

    @property
    def free(self) -> int:
        """Questions that it takes now."""

    @property
    def at_once(self) -> int:
        """Questions that it takes at a time."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What players may. faults_max: in a row, before one is withdrawn for withdrawn_s; players_max:
    known at a time; lines_max: connections of one player; at_once_max: questions of one
    connection."""

    faults_max: int = 5
    withdrawn_s: float = 60.0
    players_max: int = 100
    lines_max: int = 32
    at_once_max: int = 64


@dataclass(slots=True)
class _Known:
    standing: Standing
    lines: list[Line] = field(default_factory=list)
    row: int = 0  # faults since the last decision


class Roster:
    """Who is there. server_id: of this server, among those of the store."""

    def __init__(self, clock: Clock, rules: Rules, server_id: str) -> None:
        self._clock = clock
        self._rules = rules
        self.server_id = server_id
        self._known: dict[str, _Known] = {}
        self._others: dict[str, dict[str, Standing]] = {}  # by server, by player

    @property
    def faults_max(self) -> int:
        """Faults in a row after which a player isn't asked for a while."""
        return self._rules.faults_max

    # -- connections ------------------------------------------------------------------------------

    def add(self, offer: PlayerOffer, owner: str, line: Line) -> None:
        """A connection offers a player. Refused with PLAYER_NAME_TAKEN or LIMIT_EXCEEDED."""
        self.forget()
        name = offer.player
        if any(each.owner != owner for each in self._standings(name)):
            raise name_taken(name, "is offered by somebody else, or has been lately")
        known = self._known.get(name)
        if known is None:
            most = self._rules.players_max
            if len(self._known) >= most:
                raise refuse.limit_exceeded("players that are offered", most, LIMIT_RETRY_S)
            known = self._known[name] = _Known(Standing(name, owner=owner))
        if len(known.lines) >= self._rules.lines_max:
            limit = "connections of one player"
            raise refuse.limit_exceeded(limit, self._rules.lines_max, LIMIT_RETRY_S)
        standing = known.standing
        standing.game_ids = tuple(sorted(set(offer.game_ids)))
        standing.version, standing.summary = offer.version, offer.summary
        known.lines.append(line)
        self._count_lines(known)
        log.info("player.offered", player=name, version=offer.version, lines=len(known.lines))

    def remove(self, name: str, line: Line) -> None:
        """A connection has ended."""
        known = self._known[name]
        known.lines.remove(line)
        self._count_lines(known)
        log.info("player.gone", player=name, lines=len(known.lines))

    def _count_lines(self, known: _Known) -> None:
        standing = known.standing
        standing.connections = len(known.lines)
        standing.at_once = sum(line.at_once for line in known.lines)
        standing.seen_us = self._clock.now_us()

    def at_once(self, offered: int) -> int:
        """Decisions at a time that a connection is asked for that has offered so many."""
        return max(1, min(offered, self._rules.at_once_max))

    def line_for(self, name: str) -> Line | None:
        """The connection here with the most room, None if there is none with any."""
        known = self._known.get(name)
        lines = [] if known is None else [line for line in known.lines if line.free > 0]
        return max(lines, key=lambda line: line.free, default=None)

    # -- who asks ---------------------------------------------------------------------------------

    def asker(self, name: str, table_id: str) -> str | None:
        """The server that asks a player for its decisions at a table: the same one, whichever
        server looks, as far as they know the same. None: it can't be asked."""
        now_us = self._clock.now_us()
        able = [server for server, each in self._by_server(name) if each.present(now_us)]
        return max(able, key=lambda server: _rank(server, table_id), default=None)

    def withdrawn(self, name: str) -> bool:
        """Whether there are connections, and all servers that have some have withdrawn it."""
        now_us = self._clock.now_us()
        there = [each for each in self._standings(name) if each.connections]
        return bool(there) and not any(each.present(now_us) for each in there)

    def _by_server(self, name: str) -> Iterable[tuple[str, Standing]]:
        if name in self._known:
            yield self.server_id, self._known[name].standing
        for server, standings in self._others.items():
            if name in standings:
                yield server, standings[name]

    def _standings(self, name: str) -> list[Standing]:
        return [each for _, each in self._by_server(name)]

    # -- how it goes ------------------------------------------------------------------------------

    def decided(self, name: str) -> None:
        """A decision of its own is played."""
        known = self._known[name]
        known.standing.counts.decisions += 1
        known.row = 0

    def missed(self, name: str) -> None:
        """It couldn't be asked."""
        if name in self._known:
            self._known[name].standing.counts.missed += 1

    def faulted(self, name: str, kind: PlayerFaultKind.ValueType) -> float:
        """Count a fault; the seconds for which the player is withdrawn by it, mostly 0."""
        known = self._known[name]
        counts, counted = known.standing.counts, _COUNTED[kind]
        setattr(counts, counted, getattr(counts, counted) + 1)
        known.row += 1
        log.warning("player.fault", player=name, kind=counted, in_a_row=known.row)
        if known.row < self._rules.faults_max:
            return 0.0
        known.row = 0
        withdrawn_s = self._rules.withdrawn_s
        known.standing.withdrawn_until_us = self._clock.now_us() + round(withdrawn_s * 1e6)
        log.warning("player.withdrawn", player=name, seconds=withdrawn_s)
        return withdrawn_s

    # -- telling ----------------------------------------------------------------------------------

    def own(self) -> list[Standing]:
        """What this server knows by itself."""
        return [known.standing for known in self._known.values()]

    def hear(self, told: dict[str, list[Standing]]) -> None:
        """What the servers have told."""
        self._others = {
            server: {each.player: each for each in standings}
            for server, standings in told.items()
            if server != self.server_id
        }

    def find(self, name: str) -> Standing | None:
        """A player as all servers together know it, None if none does."""
        found = self._standings(name)
        if not found:
            return None
        latest = max(found, key=lambda each: (each.connections > 0, each.seen_us))
        counts, games = Counts(), set[str]()
        for each in found:
            counts.add(each.counts)
            if each.connections or not any(other.connections for other in found):
                games |= set(each.game_ids)
        now_us = self._clock.now_us()
        able = any(each.present(now_us) for each in found)
        return Standing(
            name,
            tuple(sorted(games)),
            latest.version,
            latest.summary,
            latest.owner,
            sum(each.connections for each in found),
            sum(each.at_once for each in found),
            0 if able else max(each.withdrawn_until_us for each in found),
            latest.seen_us,
            counts,
        )

    def games_of(self, name: str) -> Sequence[str] | None:
        """The games that a player plays, None if there is none of that name."""
        found = self.find(name)
        return None if found is None else found.game_ids

    def playing(self, game_id: str) -> list[Standing]:
        """The players that play a game, by name."""
        return [each for each in self.all() if game_id in each.game_ids]

    def all(self) -> list[Standing]:
        """All players, by name."""
        names = set(self._known).union(*self._others.values())
        return [found for name in sorted(names) if (found := self.find(name)) is not None]

    def forget(self) -> None:
        """Forget players that have had no connection for long."""
        before_us = self._clock.now_us() - round(KNOWN_S * 1e6)
        for name, known in list(self._known.items()):
            if not known.lines and known.standing.seen_us < before_us:
                del self._known[name]


def _rank(server_id: str, table_id: str) -> bytes:
    return hashlib.sha256(f"{server_id}\0{table_id}".encode()).digest()
