DOMAIN: bytes
SEED_BYTES: int

class WordStream:
    def __init__(self, seed: bytes, round: int, purpose: str, index: int) -> None: ...
    def word(self) -> int: ...
    def below(self, n: int) -> int: ...

class KeyedChance:
    seed: bytes
    purposes: tuple[str, ...]
    script: dict[tuple[str, int, int], int | list[int]]
    def __init__(
        self,
        seed: bytes,
        purposes: tuple[str, ...],
        script: dict[tuple[str, int, int], int | list[int]] | None = None,
    ) -> None: ...
    def outcome_of_pick(self, purpose: int, round: int, index: int, n: int) -> int: ...
    def outcome_of_shuffle(
        self, purpose: int, round: int, index: int, items: list[int]
    ) -> list[int]: ...
