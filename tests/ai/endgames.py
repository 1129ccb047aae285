"""What the search gives away in the last tricks: ``python -m tests.ai.endgames``.

Opponents follow the rule of thumb. Exact play knows that, and looks at every world that fits what
the seat has seen and at every way in which the rest can go. Of Bids and Mino Dice, where worlds are
too many, exact play and the search are both given the same sample of them for all there is.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt

from tavolata.ai.ismcts import IsmctsPlayer
from tavolata.ai.listed_worlds import ListedWorlds
from tavolata.ai.player import Limits, Observation, observe
from tavolata.ai.stop import Stop
from tavolata.ext.core.game import Dealer, Game
from tavolata.ext.core.match import Match, Position
from tavolata.ext.registry import GAMES
from tests.ai.exact import Belief, action_values, by_rule, worlds_of

SEATS = 4
TRICK_GAMES = ("bouillabaisse", "bids", "mino_dice")
SAMPLED = {"bids": 150, "mino_dice": 100}  # worlds; of other games all are taken
ROLLS_MAX = 6  # dice still to be rolled in Mino Dice: each can show up to three faces
FOLLOWING_RULE = 0.7  # of the decisions on the way to a position


@dataclass(frozen=True)
class Endgame:
    """A position of the last tricks with more than one action, and what each is worth."""

    game: Game
    observation: Observation
    belief: Belief
    dealer: Dealer
    values: dict[int, float]

    @property
    def at_stake(self) -> float:
        """How much the best action is better than the worst."""
        return max(self.values.values()) - min(self.values.values())

    def regret(self, action: int) -> float:
        """How much the best action is better than this one."""
        return max(self.values.values()) - self.values[action]


def endgames(game_id: str, tricks: int, count: int) -> Iterator[Endgame]:
    """Positions with that many tricks to go, the one in play counted, in all rounds of matches."""
    seed = 0
    while count:
        match = _last_tricks(game_id, tricks, random.Random(f"{game_id} {tricks} {seed}"))
        seed += 1
        if match is not None:
            yield _solved(match, seed)
            count -= 1


def _last_tricks(game_id: str, tricks: int, draws: random.Random) -> Match | None:
    """A match at such a position in some round, or None if it had none there."""
    match = Match(GAMES[game_id].make(SEATS), draws.randbytes(32))
    decisions = draws.randrange(300)
    while not match.over:
        (seat, *together) = match.to_act
        hands = _hands(match)
        if match.decision_count >= decisions and not together and len(hands[seat]) == tricks:
            few = game_id != "mino_dice" or sum(map(len, hands)) <= ROLLS_MAX
            if few and len(match.legal(seat)) > 1 and draws.random() < 0.5:
                return match
        action = Position(match.game, match.state_bytes()).rule(seat)
        if draws.random() >= FOLLOWING_RULE:
            action = draws.choice(match.legal(seat))
        match.play(seat, action)
    return None


def _hands(match: Match) -> list[tuple[str, ...]]:
    hands = []
    for seat in range(SEATS):
        view = match.game.view(match.view(seat), seat)
        held = getattr(view, "hands", None) or getattr(view, "dice", None)
        assert held is not None
        hands.append(held[seat])
    return hands


def _solved(match: Match, seed: int) -> Endgame:
    game, (seat,) = match.game, match.to_act
    observation = observe(match, seat)
    if game.spec.id in SAMPLED:
        position = Position(game, match.state_bytes(), seed)
        worlds = Counter(position.redeals(seat, SAMPLED[game.spec.id]))
        belief = [(float(times), world) for world, times in worlds.items()]
        dealer: Dealer = ListedWorlds(game, list(worlds), [float(n) for n in worlds.values()])
    else:
        belief = worlds_of(game, match.state_bytes(), seat)
        dealer = game.dealer(observation.view_bytes, seat)
    values = action_values(game, belief, seat, by_rule)
    return Endgame(game, observation, belief, dealer, values)


def chosen(endgame: Endgame, iterations: int, seed: int, *, others_by_rule: int) -> int:
    """The action with most visits after a search."""
    player = IsmctsPlayer(endgame.game, others_by_rule=others_by_rule)
    searcher = player.searcher(
        endgame.observation, endgame.dealer, Limits(iterations=iterations), seed, Stop()
    )
    searcher.search()
    row = max(searcher.report()[3], key=lambda row: int(row["visits"]))
    return int(row["action"])


def main() -> None:
    """Print a table: mean regret in utility, and as a share of what was at stake."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--game", choices=TRICK_GAMES, action="append")
    parser.add_argument("--tricks", type=int, default=[2, 3], nargs="+")
    parser.add_argument("--positions", type=int, default=100)
    parser.add_argument("--iterations", type=int, default=[1_000, 4_000], nargs="+")
    arguments = parser.parse_args()
    print("game tricks worlds at_stake | player: regret +- interval, share of what was at stake")
    for game_id in arguments.game or TRICK_GAMES:
        for tricks in arguments.tricks:
            if game_id == "mino_dice" and tricks > 2:
                continue  # never few enough dice
            spots = list(endgames(game_id, tricks, arguments.positions))
            _report(spots, tricks, arguments.iterations)


def _report(spots: list[Endgame], tricks: int, iterations: list[int]) -> None:
    worlds = sum(len(spot.belief) for spot in spots) / len(spots)
    stake = sum(spot.at_stake for spot in spots)
    print(f"{spots[0].game.spec.id} {tricks} {worlds:.0f} {stake / len(spots):.4f}", flush=True)
    any_action = [
        max(spot.values.values()) - sum(spot.values.values()) / len(spot.values) for spot in spots
    ]
    _print_row("random", any_action, stake)
    rule = [
        spot.regret(Position(spot.game, spot.belief[0][1]).rule(spot.observation.seat))
        for spot in spots
    ]
    _print_row("greedy", rule, stake)
    for others, name in ((1, "opponents search"), (2, "opponents by rule")):
        for limit in iterations:
            regrets = [
                spot.regret(chosen(spot, limit, number, others_by_rule=others))
                for number, spot in enumerate(spots)
            ]
            _print_row(f"{limit} iterations, {name}", regrets, stake)


def _print_row(name: str, regrets: list[float], stake: float) -> None:
    count = len(regrets)
    mean = sum(regrets) / count
    spread = sqrt(sum((regret - mean) ** 2 for regret in regrets) / max(count - 1, 1))
    width = 1.96 * spread / sqrt(count)
    print(f"  {name:36} {mean:.5f} +- {width:.5f}  {sum(regrets) / stake:.3f}", flush=True)


if __name__ == "__main__":
    main()
