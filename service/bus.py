"""The bus of a single process: everybody hears at once."""

from __future__ import annotations

from tavolata.service.ports import Hint


class LocalBus:
    """A Bus within this process."""

    def __init__(self) -> None:
        self._listeners: list[Hint] = []

    def announce(self, table_id: str, entry_number: int) -> None:
        """Tell every listener now."""
        for heard in self._listeners:
            heard(table_id, entry_number)

    def subscribe(self, heard: Hint) -> None:
        """Add a listener."""
        self._listeners.append(heard)

    async def close(self) -> None:
        """Nothing to let go of."""
