from tavolata.ai.listed_worlds import ListedWorlds
from tavolata.ext.core.game import Dealer, Game
from tavolata.ext.core.replay import Replay

POOL: int

def believed(
    game: Game,
    dealer: Dealer,
    replay: Replay,
    seat: int,
    belief: float,
    slips: float,
    seed: int,
) -> ListedWorlds: ...
def explained(
    game: Game,
    dealer: Dealer,
    replay: Replay,
    seat: int,
    count: int,
    slips: float,
    seed: int,
) -> tuple[list[bytes], list[float]]: ...
def replayed(game: Game, replay: Replay, state: bytes) -> tuple[bytes, bytes]: ...
