"""What the search thinks of bids in Mino Dice, against play: ``python -m tests.ai.bids_met``.

Four seats play by the search. ``chances``: the share of iterations in which the chosen bid was met,
against how often it is met in the end. ``distance``: how far the chosen bid is from the best, which
is found by playing on with every bid from worlds that fit what the seat saw.
"""

from __future__ import annotations

import argparse
import random
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from math import sqrt
from typing import Any

from tavolata.ai.ismcts import IsmctsPlayer
from tavolata.ai.player import Limits, Observation, observe
from tavolata.ai.stop import Stop
from tavolata.ext.core.match import Match, Position
from tavolata.ext.registry import GAMES

SEATS = 4
FIRST_ROLL = 16  # actions below are bids
GAME = GAMES["mino_dice"].make(SEATS)


@dataclass(frozen=True)
class Bidding:
    """A bid as it was chosen, with what the search made of it, and whether it was met."""

    hand: int
    bid: int
    expected: float
    met: bool


def rows_of(player: IsmctsPlayer, seen: Observation, iterations: int, seed: int) -> list[Any]:
    """The search's statistics of each legal action."""
    dealer = GAME.dealer(seen.view_bytes, seen.seat)
    searcher = player.searcher(seen, dealer, Limits(iterations=iterations), seed, Stop())
    searcher.search()
    return searcher.report()[3]


def most_visited(rows: Iterable[Any]) -> Any:
    """The row of the action that the search takes."""
    return max(rows, key=lambda row: row["strategy"] or row["visits"])


def chances(
    bidder: IsmctsPlayer, player: IsmctsPlayer, matches: int, iterations: int, first_seed: int
) -> list[Bidding]:
    """Every bid of so many matches."""
    biddings = []
    for number in range(first_seed, first_seed + matches):
        match = Match(GAME, number.to_bytes(32, "big"))
        draws = random.Random(number)
        while not match.over:
            before, made = match.totals(), []
            for seat in match.to_act:
                row = most_visited(
                    rows_of(bidder, observe(match, seat), iterations, draws.getrandbits(64))
                )
                made.append((seat, row["action"], row["gained"] / row["visits"]))
            hand = max(match.legal(0))
            for seat, bid, _ in made:
                match.play(seat, bid)
            while len(match.to_act) == 1:
                seat = match.to_act[0]
                match.play(seat, _action(player, match, seat, iterations, draws))
            after = match.totals()
            biddings += [
                Bidding(hand, bid, expected, after[seat] > before[seat])
                for seat, bid, expected in made
            ]
    return biddings


def _action(
    player: IsmctsPlayer, match: Match, seat: int, iterations: int, draws: random.Random
) -> int:
    seen = observe(match, seat)
    seed = draws.getrandbits(64)
    if len(seen.legal_actions) == 1:
        return seen.legal_actions[0]
    return int(most_visited(rows_of(player, seen, iterations, seed))["action"])


def distances(
    bidder: IsmctsPlayer, player: IsmctsPlayer, arguments: argparse.Namespace
) -> list[tuple[int, int, list[list[float]]]]:
    """Of positions to bid in: the hand, the bid chosen, and for each bid the seat's points in every
    hand played on."""
    found = []
    for number in range(arguments.positions):
        draws = random.Random(f"{arguments.seed} {number}")
        state = _opening(2 + number % 6, draws)
        seat = draws.randrange(SEATS)
        position = Position(GAME, state)
        seen = Observation(GAME, seat, 0, position.blank(seat), position.legal(seat), b"")
        bid = most_visited(rows_of(bidder, seen, arguments.iterations, 1))["action"]
        worlds = Position(GAME, state, number).redeals(seat, arguments.playouts)
        points = [
            [
                _points(bidder, player, world, seat, other, arguments.own_iterations, place)
                for place, world in enumerate(worlds)
            ]
            for other in seen.legal_actions
        ]
        found.append((2 + number % 6, bid, points))
    return found


def _opening(hand: int, draws: random.Random) -> bytes:
    """The first position of that hand of a match that goes by the rule of thumb."""
    match = Match(GAME, draws.randbytes(32))
    while len(match.to_act) < SEATS or max(match.legal(0)) < hand:
        seat = match.to_act[0]
        match.play(seat, Position(GAME, match.state_bytes()).rule(seat))
    return match.state_bytes()


def _points(
    bidder: IsmctsPlayer,
    player: IsmctsPlayer,
    world: bytes,
    seat: int,
    bid: int,
    iterations: int,
    seed: int,
) -> float:
    """What the hand brings the seat with this bid, everything else by the search."""
    position = Position(GAME, world, seed)
    draws = random.Random(seed)
    before = position.totals()[seat]
    bids = {}
    for other in position.to_act:
        legal = position.legal(other)
        seen = Observation(GAME, other, 0, position.blank(other), legal, b"")
        rows = rows_of(bidder, seen, iterations, draws.getrandbits(64))
        bids[other] = bid if other == seat else most_visited(rows)["action"]
    for other, chosen in bids.items():
        position.apply(other, chosen)
    while position.to_act:
        (mover,) = position.to_act
        legal = position.legal(mover)
        seen = Observation(GAME, mover, 0, position.blank(mover), legal, b"")
        action = legal[0]
        if len(legal) > 1:
            action = most_visited(rows_of(player, seen, iterations, draws.getrandbits(64)))[
                "action"
            ]
        position.apply(mover, action)
    return float(position.totals()[seat] - before)


def main() -> None:
    """Print what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["chances", "distance"])
    parser.add_argument("--matches", type=int, default=100)
    parser.add_argument("--iterations", type=int, default=4_000, help="of a decision")
    parser.add_argument("--positions", type=int, default=24)
    parser.add_argument("--playouts", type=int, default=100, help="hands played on with each bid")
    parser.add_argument("--own-iterations", type=int, default=300, help="of decisions in those")
    parser.add_argument("--others-by-rule", type=int, choices=[0, 1, 2])
    parser.add_argument("--rule-playouts", type=int, choices=[0, 1])
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    rule_playouts = None if arguments.rule_playouts is None else bool(arguments.rule_playouts)
    bidder = IsmctsPlayer(
        GAME, others_by_rule=arguments.others_by_rule, rule_playouts=rule_playouts
    )
    player = IsmctsPlayer(GAME)
    if arguments.what == "chances":
        _print_chances(
            chances(bidder, player, arguments.matches, arguments.iterations, arguments.seed)
        )
    else:
        _print_distances(distances(bidder, player, arguments))


def _print_chances(biddings: list[Bidding]) -> None:
    groups: dict[str, list[Bidding]] = defaultdict(list)
    for each in biddings:
        groups["all"].append(each)
        groups[f"hand {each.hand}"].append(each)
        groups[f"bid {min(each.bid, 4)}{'+' if each.bid >= 4 else ''}"].append(each)
        groups[f"expected {10 * int(10 * min(each.expected, 0.999))}% to"].append(each)
    for name in sorted(groups):
        rows = groups[name]
        off = [each.expected - each.met for each in rows]
        mean, width = _mean(off)
        met = sum(each.met for each in rows) / len(rows)
        print(
            f"{name:18} {len(rows):6} bids, met {100 * met:5.1f} %, "
            f"expected - met {100 * mean:5.1f} +- {100 * width:.1f} points"
        )


def _print_distances(found: list[tuple[int, int, list[list[float]]]]) -> None:
    away, lost = [], []
    for hand, bid, points in found:
        means = [sum(row) / len(row) for row in points]
        best = means.index(max(means))
        away.append(abs(bid - best))
        differences = [a - b for a, b in zip(points[best], points[bid], strict=True)]
        mean, width = _mean(differences)
        lost.append(mean)
        print(
            f"hand {hand}: bid {bid}, best {best}, better by {mean:.1f} +- {width:.1f} points; "
            f"means {' '.join(f'{mean:.0f}' for mean in means)}"
        )
    mean, width = _mean([float(each) for each in away])
    print(f"distance {mean:.2f} +- {width:.2f} tricks over {len(found)} positions")
    mean, width = _mean(lost)
    print(f"points lost {mean:.2f} +- {width:.2f} a bid")


def _mean(values: list[float]) -> tuple[float, float]:
    """The mean and half the width of its 95 % interval."""
    mean = sum(values) / len(values)
    spread = sqrt(sum((value - mean) ** 2 for value in values) / max(len(values) - 1, 1))
    return mean, 1.96 * spread / sqrt(len(values))


if __name__ == "__main__":
    main()
