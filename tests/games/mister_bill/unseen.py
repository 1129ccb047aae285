"""What the reference says of hidden hands of Mister Bill, as the suites over all games ask for it.

Cards move between hidden hands, so worlds are judged by the facts on record (MB-27), not by a
replay; pairs of matches that look the same come from cards that changed places all along.
"""

from __future__ import annotations

from collections import Counter
from random import Random

from tavolata.ext.core.match import Match
from tests.games.engine import new_fast
from tests.reference.chance import Script
from tests.reference.mister_bill import MisterBill
from tests.reference.mister_bill_facts import Record
from tests.reference.mister_bill_twins import exchanged
from tests.reference.mister_bill_worlds import (
    World,
    cards_in_play,
    fits,
    true_world,
    worlds_by_facts,
)
from tests.reference.model import SPECTATOR

TRIES = 60


def weights(model: MisterBill, viewer: int) -> dict[World, int]:
    """The worlds that the viewer's facts allow with their weights; ValueError if too many."""
    return {world: weight.product for world, weight in worlds_by_facts(model, viewer).items()}


def allows(model: MisterBill, viewer: int, world: World) -> bool:
    """Whether a world agrees with what has left play and satisfies the viewer's facts."""
    true = true_world(model)
    if sum(map(Counter, world), Counter()) != cards_in_play(model):
        return False
    if any(len(hand) != len(held) for hand, held in zip(world, true, strict=True)):
        return False
    if any(len(set(hand)) < len(hand) for hand in world):
        return False
    if viewer != SPECTATOR and world[viewer] != true[viewer]:
        return False
    return all(
        fits(model.facts.records.get((viewer, seat), Record()), hand)
        for seat, hand in enumerate(world)
    )


def exchanged_match(model: MisterBill, viewer: int, choice: Random) -> Match | None:
    """A match that the viewer can't tell from this one, all chance still to come being other."""
    for _ in range(TRIES):
        twin = exchanged(model, viewer, choice)
        if twin is None or true_world(twin) == true_world(model):
            continue
        script: Script = {
            (outcome.purpose, outcome.round, outcome.index): outcome.value
            if isinstance(outcome.value, int)
            else list(outcome.value)
            for outcome in twin.outcomes
        }
        seed = choice.randbytes(32)
        engine = new_fast("mister_bill", twin.seats, twin.options, seed, script)
        for actions in twin.actions:
            for seat, action in actions:
                engine.play(seat, action)
        return engine.match
    return None
