"""A policy on PettingZoo's observations against our rule of thumb, in PettingZoo's loop.

The policy here takes any legal action; put a trained one in its place.

    python pettingzoo_match.py [GAME] [MATCHES]
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from tavolata.ai.adapters.pettingzoo_env import env
from tavolata.ai.adapters.pettingzoo_players import TavolataPolicy
from tavolata.ai.basic import GreedyPlayer
from tavolata.ai.player import Limits


def main(name: str = "bouillabaisse", matches: int = 5) -> None:
    table = env(name)
    draws = np.random.default_rng(1)

    def policy(seen: dict[str, Any]) -> int:
        return int(draws.choice(np.flatnonzero(seen["action_mask"])))

    ours = TavolataPolicy(GreedyPlayer(), Limits(iterations=1))
    total = 0.0
    for match in range(matches):
        table.reset(seed=match)
        for agent in table.agent_iter():
            seen, reward, ended, cut, _ = table.last()
            if agent == "seat_0":
                total += reward
            if ended or cut:
                table.step(None)
            else:
                table.step(policy(seen) if agent == "seat_0" else ours(table))
    print(f"seat_0 got {total / matches:+.2f} a match; -1 is last, +1 first")


if __name__ == "__main__":
    main(*sys.argv[1:2], *map(int, sys.argv[2:3]))
