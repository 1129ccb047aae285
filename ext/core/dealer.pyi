from collections.abc import Collection, Sequence

class NoDeal(ValueError): ...

class ExactDealer:
    item_count: int
    def __init__(
        self,
        classes: Sequence[Sequence[int]],
        sizes: Sequence[int],
        allowed: Sequence[Collection[int]],
    ) -> None: ...
    def sample_places(self, seed: int, worlds: int) -> list[list[int]]: ...
