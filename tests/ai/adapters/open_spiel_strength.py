"""Whether our ISMCTS in OpenSpiel's style is as strong as OpenSpiel's own, at equal iterations.

    python -m tests.ai.adapters.open_spiel_strength bids 2 --option rounds=1 --deals 100

Both play the same game over duplicate deals, with worlds from the same dealer and the same constant
of UCT; OpenSpiel's bot plays it through the adapter, its random playouts by our compiled rules.
Needs the extra `openspiel`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial

from tavolata.ai.adapters.open_spiel_players import OpenSpielIsmctsPlayer
from tavolata.ai.arena.duplicate import Entrant, Pairing, play_deals
from tavolata.ai.arena.statistics import standings
from tavolata.ai.player import Limits, Player
from tavolata.ext.core.game import Game
from tavolata.ext.core.spec import GameSpec, OptionValue
from tavolata.ext.registry import GAMES

SPAN = 2  # of OpenSpiel's rewards, -1 to 1; utilities span 1


class OpenSpielEntrant(Entrant):
    """OpenSpiel's bot at our table."""

    def factory(self) -> Callable[[Game], Player]:
        uct = dict(self.settings)["exploration"]
        return partial(OpenSpielIsmctsPlayer, exploration=SPAN * uct)


def compare(
    spec: GameSpec, seats: int, options: dict[str, OptionValue], iterations: int, uct: float,
    deals: int, seed: int,
) -> str:  # fmt: skip
    """The two, seat by seat in turn, in words."""
    limits, settings = Limits(iterations=iterations), (("exploration", uct),)
    ours = Entrant("ours", "infoset_uct", limits, settings)
    theirs = OpenSpielEntrant("OpenSpiel", "", limits, settings)
    lineup = tuple((ours, theirs)[seat % 2] for seat in range(seats))
    pairing = Pairing(spec.id, spec.complete(seats, options), lineup)
    table, pairs = standings(play_deals(pairing, deals, base=seed, processes=1))
    lines = [
        f"{row.label}: win share {row.win_share.mean:.3f} ± {row.win_share.half_width:.3f} "
        f"(fair {row.fair_share:.3f}), {row.think_ms:.1f} ms a decision, {row.matches} matches"
        for row in table
    ]
    lines += [
        f"{pair.label} - {pair.other}: win share {pair.win_share.mean:.3f} ± "
        f"{pair.win_share.half_width:.3f}, utility {pair.utility.mean:.3f} ± "
        f"{pair.utility.half_width:.3f}"
        for pair in pairs
    ]
    return "\n".join(lines)


def main() -> None:
    """Read the command line and print what came out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("game", choices=list(GAMES))
    parser.add_argument("seats", type=int)
    parser.add_argument("--option", action="append", default=[], help="name=number")
    parser.add_argument("--iterations", type=int, default=200)
    parser.add_argument("--uct", type=float, default=0.5, help="for utilities from 0 to 1")
    parser.add_argument("--deals", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    options: dict[str, OptionValue] = {}
    for text in given.option:
        name, _, value = text.partition("=")
        options[name] = int(value)
    print(
        compare(
            GAMES[given.game], given.seats, options, given.iterations, given.uct,
            given.deals, given.seed,
        )
    )  # fmt: skip


if __name__ == "__main__":
    main()
