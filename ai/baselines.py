"""Searching players to measure others against."""

from __future__ import annotations

import time
from dataclasses import replace

from tavolata.ai.ismcts import THREAD_SEED, IsmctsPlayer, shares
from tavolata.ai.known_world import KnownWorld
from tavolata.ai.player import Limits, Observation
from tavolata.ai.search import Searcher
from tavolata.ai.stop import Stop
from tavolata.ext.core.cpu import best_build
from tavolata.ext.core.game import Dealer, Game
from tavolata.ext.core.match import Position

WORLDS = 20
NODES_LEAST = 1_000  # of a tree
SHORTEST_MS = 0.01  # of a world
OPEN_SPIEL_UCT = 0.5  # 1 for returns that span 2, as the adapter gives OpenSpiel's own

ALL_EVENTS = 0xFFFFFFFF  # kinds, a bit each


class PimcPlayer(IsmctsPlayer):
    """Perfect Information Monte Carlo: worlds are dealt, each is searched as if everybody saw
    it, and the sums of all trees are compared at the root.

    exploration, rule_playouts, others_by_rule, widening: as in IsmctsPlayer; worlds: how many,
    each with its share of the limits, one after another. A world's tree is searched by the same
    loop; as every world of a tree is the same, that is plain UCT.
    """

    def __init__(
        self,
        game: Game,
        *,
        exploration: float | None = None,
        rule_playouts: bool | None = None,
        others_by_rule: bool | None = None,
        widening: float | None = None,
        worlds: float = WORLDS,
    ) -> None:
        super().__init__(
            game,
            exploration=exploration,
            rule_playouts=rule_playouts,
            others_by_rule=others_by_rule,
            per_observer=False,
            widening=widening,
        )
        if not (worlds == int(worlds) and 1 <= worlds <= 10_000):
            raise ValueError(f"worlds is {worlds}; allowed: whole numbers from 1 to 10000")
        self.worlds = int(worlds)

    def _searched(
        self, observation: Observation, limits: Limits, seed: int, stop: Stop
    ) -> list[Searcher]:
        """Searches of worlds that have been run one after another, in one thread."""
        game = observation.game
        started = time.perf_counter()
        parts = shares(replace(limits, threads=1), self.worlds)
        worlds = Position(game, observation.view_bytes, seed).redeals(observation.seat, len(parts))
        searchers: list[Searcher] = []
        for number, (world, part) in enumerate(zip(worlds, parts, strict=True)):
            left_ms = limits.think_ms and limits.think_ms - 1000 * (time.perf_counter() - started)
            if left_ms is not None and left_ms <= 0 and searchers:
                break
            searcher = self.searcher(
                observation,
                KnownWorld(game, world),
                self._part(part, left_ms, len(parts) - number),
                seed + number * THREAD_SEED,
                stop,
            )
            searcher.search()
            searchers.append(searcher)
        return searchers

    def _part(self, limits: Limits, left_ms: float | None, worlds_left: int) -> Limits:
        """The limits of a world: an even share of the time that is left and of the memory."""
        think_ms = left_ms and max(left_ms / worlds_left, SHORTEST_MS)
        nodes = max(limits.nodes // self.worlds, NODES_LEAST)
        return replace(limits, think_ms=think_ms, nodes=nodes)


class InfosetUctPlayer(IsmctsPlayer):
    """ISMCTS in OpenSpiel's style: UCT over all that the seat to act knows, with random playouts.

    exploration: UCT's constant for utilities from 0 to 1; whole_match: play out to the end of the
    match, as OpenSpiel does, not to the horizon of the round.
    """

    def __init__(
        self, game: Game, *, exploration: float = OPEN_SPIEL_UCT, whole_match: bool = False
    ) -> None:
        super().__init__(
            game, exploration=exploration, rule_playouts=False, others_by_rule=False, widening=0.0
        )
        self.observed_events = ALL_EVENTS
        self.whole_match = bool(whole_match)
        self._loop = best_build("tavolata.ai", "_infoset_uct").Loop

    def searcher(
        self, observation: Observation, dealer: Dealer, limits: Limits, seed: int, stop: Stop
    ) -> Searcher:
        """One search of the worlds that this dealer deals, not begun yet."""
        made = super().searcher(observation, dealer, limits, seed, stop)
        made.whole_match = self.whole_match  # type: ignore[attr-defined]
        return made
