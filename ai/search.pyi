from typing import Any

from tavolata.ai.player import Limits
from tavolata.ai.stop import Stop
from tavolata.ext.core.game import Dealer, Game

class Searcher:
    def __init__(
        self,
        game: Game,
        dealer: Dealer,
        seat: int,
        legal: tuple[int, ...],
        limits: Limits,
        stop: Stop,
        exploration: float,
        rule_playouts: bool,
        others_by_rule: int,
        observed: int,
        widening: float,
        depth: int,
        seed: int,
    ) -> None: ...
    def search(self) -> None: ...
    def search_on(self, iterations: int, ms: float) -> bool: ...
    def compare(self) -> None: ...
    def follow(
        self, decision: dict[int, int], root: bytes | None = None
    ) -> tuple[bytes, tuple[int, ...], list[int]]: ...
    def tree(self) -> list[tuple[int, int, int, int, int, float]]: ...
    def report(self) -> tuple[int, int, float, list[dict[str, Any]]]: ...
