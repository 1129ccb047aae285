"""A player that sees every card, to tell how much there would be to gain by knowing more.

It has a name in matches in this process and nowhere else: ``tavolata.ai.players`` doesn't know it,
so no table, tournament or worker can seat it. Whoever plays a match has to show it the position.
"""

from __future__ import annotations

from collections.abc import Sequence

from tavolata.ai.ismcts import IsmctsPlayer
from tavolata.ai.known_world import KnownWorld
from tavolata.ai.player import Limits, Observation, Player
from tavolata.ai.players import PlayerSpec, player_spec
from tavolata.ai.search import Searcher
from tavolata.ai.stop import Stop
from tavolata.ext.core.game import Game
from tavolata.ext.core.match import Match


class CheatingPlayer(IsmctsPlayer):
    """The loop of ISMCTS in the true position, in one thread. What chance does later it doesn't
    know, unless it is in the position, as the order of a pile is.

    exploration, rule_playouts, others_by_rule, widening: as in IsmctsPlayer.
    """

    def __init__(
        self,
        game: Game,
        *,
        exploration: float | None = None,
        rule_playouts: bool | None = None,
        others_by_rule: int | None = None,
        widening: float | None = None,
    ) -> None:
        super().__init__(
            game,
            exploration=exploration,
            rule_playouts=rule_playouts,
            others_by_rule=others_by_rule,
            per_observer=False,
            widening=widening,
        )
        self._position: bytes | None = None

    def see(self, position: bytes) -> None:
        """The true position of the next decision."""
        self._position = position

    def _searched(
        self, observation: Observation, limits: Limits, seed: int, stop: Stop
    ) -> list[Searcher]:
        if self._position is None:
            raise ValueError("a player that sees all has to be shown the position first")
        world = KnownWorld(observation.game, self._position)
        self._position = None
        searcher = self.searcher(observation, world, limits, seed, stop)
        searcher.search()
        return [searcher]


class Truth:
    """The position of a match as it was before any seat had chosen at the decision in progress, so
    that who sees all still doesn't see what others choose at the same time."""

    def __init__(self, match: Match, players: Sequence[Player]) -> None:
        self._match = match
        self._wanted = any(isinstance(player, CheatingPlayer) for player in players)
        self._turn, self._position = -1, b""

    def show(self, player: Player) -> None:
        """Show it to a player that sees all, nothing to any other. To be called at every decision
        of every seat."""
        if self._wanted and self._match.turn != self._turn:
            self._turn, self._position = self._match.turn, self._match.state_bytes()
        if isinstance(player, CheatingPlayer):
            player.see(self._position)


CHEATING = PlayerSpec(
    "cheating",
    "sees every card, 4,000 iterations",
    Limits(iterations=4_000),
    CheatingPlayer,
    ("exploration", "rule_playouts", "others_by_rule", "widening"),
)


def arena_player_spec(name: str) -> PlayerSpec:
    """The player of this name in matches in this process; UnknownPlayer names those that may
    sit at other tables too."""
    return CHEATING if name == CHEATING.name else player_spec(name)
