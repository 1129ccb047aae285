"""What the service tells about itself while it works: counted by metrics, drawn as traces.

The parts above the ports know this protocol alone; a simulation gives them the silent one.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

from tavolata.service.ports import StoreError

Answer = Callable[..., Any]
NOTHING: AbstractContextManager[None] = nullcontext()


class Telemetry(Protocol):
    """Who is told. Every method returns at once and raises nothing."""

    def around(self, method: str, answer: Answer, *, streams: bool) -> Answer:
        """The handler of an rpc, measured; method: as in `TableService/PlayAction`."""

    def committing(self, table_id: str) -> AbstractContextManager[None]:
        """Around a caller's wait for an entry to be durable."""

    def committed(self, entries: int, seconds: float) -> None:
        """A transaction has ended that had so many entries."""

    def store_error(self, error: StoreError) -> None:
        """The store hasn't done what it was asked."""

    def deciding(self, table_id: str, player: str, level: str) -> AbstractContextManager[None]:
        """Around an AI player's decision, its time in the queue included."""

    def waited(self, seconds: float, *, urgent: bool) -> None:
        """That long a decision has waited for a thread; told in that thread."""

    def decided(self, player: str, level: str, seconds: float) -> None:
        """That long an AI player has thought."""

    def claimed(self, tables: int) -> None:
        """This server has claimed tables."""

    def lease_lost(self) -> None:
        """What this server had claimed may be another's by now."""


class Silence:
    """Nobody is told."""

    def around(self, method: str, answer: Answer, *, streams: bool) -> Answer:
        """The handler itself."""
        return answer

    def committing(self, table_id: str) -> AbstractContextManager[None]:
        """Nothing around it."""
        return NOTHING

    def committed(self, entries: int, seconds: float) -> None:
        """Not told."""

    def store_error(self, error: StoreError) -> None:
        """Not told."""

    def deciding(self, table_id: str, player: str, level: str) -> AbstractContextManager[None]:
        """Nothing around it."""
        return NOTHING

    def waited(self, seconds: float, *, urgent: bool) -> None:
        """Not told."""

    def decided(self, player: str, level: str, seconds: float) -> None:
        """Not told."""

    def claimed(self, tables: int) -> None:
        """Not told."""

    def lease_lost(self) -> None:
        """Not told."""


SILENCE = Silence()
