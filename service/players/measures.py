"""Remote players for Prometheus: how many there are, and how each has done.

Their names are labels. There are at most `players_max` of them; of one that is forgotten no more
is told.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from tavolata.service.players.offers import Standing


class PlayerMeasures(Collector):
    """What is told of the players that are offered to this server."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.standings: Sequence[Standing] = ()
        registry.register(self)

    def collect(self) -> Iterable[Metric]:
        """See Collector."""
        connections = GaugeMetricFamily(
            "tavolata_remote_player_connections",
            "Connections that offer a player to this server",
            labels=["player"],
        )
        outcomes = CounterMetricFamily(
            "tavolata_remote_player_decisions",
            "What became of a remote player's decisions: made by it, or by a built-in one and why",
            labels=["player", "outcome"],
        )
        for each in self.standings:
            connections.add_metric([each.player], each.connections)
            for outcome, count in asdict(each.counts).items():
                outcomes.add_metric([each.player, outcome], count)
        return connections, outcomes
