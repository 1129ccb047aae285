from typing import Any, Final

from tavolata.ai.basic import NativePlayer
from tavolata.ext.core.match import Match

NOTE_BYTES: Final[int]

def bin_of(elapsed_ms: float) -> int: ...

class NativeMatch:
    def __init__(
        self, match: Match, players: tuple[NativePlayer, ...], key: bytes, notes: Any = None
    ) -> None: ...
    def play(self) -> bool: ...
    def spent(self) -> list[tuple[int, float, dict[int, int]]]: ...
