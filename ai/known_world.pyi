from tavolata.ext.core.game import Dealer, Game

class KnownWorld(Dealer):
    def __init__(self, game: Game, state: bytes) -> None: ...
