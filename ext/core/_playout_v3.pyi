from tavolata.ext.core.game import Game, PlayoutLoop

class Loop(PlayoutLoop):
    def first_rounds(
        self, game: Game, count: int, seed: int, policy: int, generic: bool
    ) -> int: ...
