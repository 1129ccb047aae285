"""The ISMCTS player: one tree a thread, merged at the root, and a choice from the statistics."""

from __future__ import annotations

import random
import time
from dataclasses import replace
from math import sqrt
from threading import Thread
from typing import Any

from tavolata.ai.belief import believed
from tavolata.ai.player import ActionStatistics, Decision, Limits, Observation
from tavolata.ai.search import Searcher
from tavolata.ai.stop import Stop
from tavolata.ext.core.cpu import best_build
from tavolata.ext.core.game import Dealer, Game

THREAD_SEED = 0x9E3779B97F4A7C15  # odd, so that the threads' streams start far apart
POOL_SEED = 0x5851F42D4C957F2D  # so that worlds are not drawn by the stream that searches them
STRATEGY_FLOOR = 0.8  # of the greatest share; rarer actions are not learned away yet
CHOICE_FLOOR = 0.1  # of the greatest share; what the search hardly looked at is never chosen


class IsmctsPlayer:
    """Information Set Monte Carlo Tree Search; settings left out are the game's own.

    exploration: c of UCB in standard deviations of the seat's utility; rule_playouts: play out by
    the game's rule of thumb, not at random; others_by_rule: where other seats
    follow the rule of thumb, which knows the hand they were dealt, not statistics that don't:
    0 nowhere, 1 at simultaneous decisions, 2 everywhere in the tree;
    per_observer: where actions or chance are hidden from some, a node is what the acting seat can
    tell apart; if not, it is the actions that led there, hidden ones too;
    widening: after n visits of a node at most 1 + widening x sqrt(n) actions are tried there, the
    rule of thumb's first; 0 tries every action once before any twice;
    belief: share of the worlds that are weighted by how well they explain what others have done in
    the round, in games that can replay it; slips: share of others' decisions in which, for that,
    they are not taken to follow the rule of thumb;
    temperature: 0 takes the action with most visits; above it, actions with a tenth of its visits
    or more are drawn with the chances visits^(1 / temperature) (Wu et al., AAAI 2019).
    """

    depth = 0  # decisions in the tree; 0: no limit

    def __init__(
        self,
        game: Game,
        *,
        exploration: float | None = None,
        rule_playouts: bool | None = None,
        others_by_rule: int | None = None,
        per_observer: bool = True,
        widening: float | None = None,
        belief: float = 0.0,
        slips: float = 0.9,
        temperature: float = 0.0,
    ) -> None:
        if not temperature >= 0:
            raise ValueError(f"temperature is {temperature}; allowed: 0 or more")
        if not 0 <= belief <= 1:
            raise ValueError(f"belief is {belief}; allowed: 0 to 1")
        if not 0 < slips <= 1:
            raise ValueError(f"slips is {slips}; allowed: above 0 to 1")
        hints = game.spec.search
        self.exploration = hints.exploration if exploration is None else exploration
        self.rule_playouts = hints.rule_playouts if rule_playouts is None else rule_playouts
        if others_by_rule not in (None, 0, 1, 2):
            raise ValueError(f"others_by_rule is {others_by_rule}; allowed: 0, 1, 2")
        by_rule = hints.others_by_rule if others_by_rule is None else others_by_rule
        self.others_by_rule = int(by_rule)
        observed = hints.observed_events if per_observer else ()
        self.observed_events = sum(1 << kind for kind in observed)  # kinds of events, a bit each
        self.widening = hints.widening if widening is None else widening
        self.belief = belief
        self.slips = slips
        self.temperature = temperature
        self._loop: type[Searcher] = best_build("tavolata.ai", "_search").Loop

    def decide(
        self, observation: Observation, limits: Limits, *, seed: int, stop: Stop
    ) -> Decision:
        """The action to take. A single legal action is taken without a search, unless the time
        that takes would tell others that there was no choice."""
        hides = observation.game.spec.hides_single_actions
        if len(observation.legal_actions) == 1 and not hides:
            return Decision(observation.legal_actions[0])
        return self.analyse(observation, limits, seed=seed, stop=stop)

    def analyse(
        self, observation: Observation, limits: Limits, *, seed: int, stop: Stop
    ) -> Decision:
        """Search in any case, and report statistics for every legal action."""
        started = time.perf_counter()
        searchers = self._searched(observation, limits, seed, stop)
        reports = [searcher.report() for searcher in searchers]
        rows = _merged([report[3] for report in reports])
        statistics = statistics_of(rows, observation.seat)
        strategy = sum(row["strategy"] for row in rows)
        return Decision(
            action=_choice(statistics, strategy > 0, self.temperature, seed),
            iterations=sum(report[0] for report in reports),
            nodes=sum(report[1] for report in reports),
            elapsed_ms=1000 * (time.perf_counter() - started),
            statistics=statistics,
        )

    def _searched(
        self, observation: Observation, limits: Limits, seed: int, stop: Stop
    ) -> list[Searcher]:
        """Searches that have been run, one a thread."""
        dealer = self._dealer(observation, seed)
        searchers = [
            self.searcher(observation, dealer, share, seed + thread * THREAD_SEED, stop)
            for thread, share in enumerate(shares(limits, limits.threads))
        ]
        first, *others = searchers
        threads = [Thread(target=searcher.search) for searcher in others]
        for thread in threads:
            thread.start()
        first.search()  # here, as a thread more would take longer to begin
        for thread in threads:
            thread.join()
        return searchers

    def _dealer(self, observation: Observation, seed: int) -> Dealer:
        """Of worlds that fit what the seat has seen."""
        game, seat = observation.game, observation.seat
        dealer = game.dealer(observation.view_bytes, seat)
        replay = game.replay(observation.event_words) if self.belief else None
        if replay is None or all(who == seat for who, _ in replay.decisions):
            return dealer
        return believed(game, dealer, replay, seat, self.belief, self.slips, seed ^ POOL_SEED)

    def searcher(
        self, observation: Observation, dealer: Dealer, limits: Limits, seed: int, stop: Stop
    ) -> Searcher:
        """One search of the worlds that this dealer deals, not begun yet."""
        return self._loop(
            observation.game,
            dealer,
            observation.seat,
            observation.legal_actions,
            limits,
            stop,
            self.exploration,
            self.rule_playouts,
            self.others_by_rule,
            self.observed_events,
            self.widening,
            self.depth,
            seed,
        )


def shares(limits: Limits, count: int) -> list[Limits]:
    """What each of ``count`` searches side by side may spend: iterations are shared out, and none
    goes without, so there may be fewer."""
    if limits.iterations is None or count == 1:
        return [limits] * count
    searches = min(count, limits.iterations)
    least, more = divmod(limits.iterations, searches)
    return [
        replace(limits, iterations=least + (number < more), threads=1) for number in range(searches)
    ]


def _merged(reports: list[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Sums over the threads, action by action."""
    first, *others = reports
    for report in others:
        for row, more in zip(first, report, strict=True):
            for key in ("visits", "gained", "square", "strategy"):
                row[key] += more[key]
            for key in ("utility", "score"):
                row[key] = [a + b for a, b in zip(row[key], more[key], strict=True)]
    return first


def statistics_of(rows: list[dict[str, Any]], seat: int) -> tuple[ActionStatistics, ...]:
    """Of every action, from the sums that a search of this seat's decision reports."""
    visits, strategy = (sum(row[key] for row in rows) for key in ("visits", "strategy"))
    return tuple(_statistics(row, seat, visits, strategy) for row in rows)


def _statistics(
    row: dict[str, Any], seat: int, all_visits: int, all_strategy: float
) -> ActionStatistics:
    """Of one action, from its sums and those of all actions."""
    visits = row["visits"]
    utilities = tuple([value / visits for value in row["utility"]] if visits else row["utility"])
    mean = utilities[seat]
    spread = max(row["square"] - visits * mean * mean, 0.0)  # sum of squared deviations
    if all_strategy:
        share = row["strategy"] / all_strategy
    else:
        share = visits / all_visits if all_visits else 0.0
    return ActionStatistics(
        action=row["action"],
        visits=visits,
        availability=all_visits,
        share=share,
        mean=mean,
        half_width=1.96 * sqrt(spread / (visits - 1) / visits) if visits > 1 else 0.5,
        utilities=utilities,
        scores=tuple([value / visits for value in row["score"]] if visits else row["score"]),
    )


def _choice(
    statistics: tuple[ActionStatistics, ...], mixed: bool, temperature: float, seed: int
) -> int:
    """Most visits, or freer by the temperature; where seats choose at once, by the average strategy
    without its rare actions."""
    best = max(statistics, key=lambda row: (row.share, row.mean))
    if not best.share or not (mixed or temperature):
        return best.action
    floor, exponent = (CHOICE_FLOOR, 1 / temperature) if temperature else (STRATEGY_FLOOR, 1.0)
    likely = [row for row in statistics if row.share >= floor * best.share]
    weights = [(row.share / best.share) ** exponent for row in likely]
    draws = random.Random(seed)  # noqa: S311 - nothing secret hangs on it, and it must repeat
    return draws.choices(likely, weights)[0].action
