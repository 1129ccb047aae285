"""Judging sampled worlds: against everything that fits what was seen, and by replaying it.

The reference judges: `tests.reference.worlds` enumerates and replays. Nothing of the dealer's own
reasoning (voids, counts of unseen cards) is used here.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from random import Random

from tavolata.ext.core.match import Position
from tests.games.mister_bill import unseen as mister_bill
from tests.games.positions import Point, holdings, random_points
from tests.games.tables import Setting
from tests.reference.chance import Script, ScriptedChance
from tests.reference.mister_bill import MisterBill
from tests.reference.model import EventLog, IllegalMove
from tests.reference.registry import AnyModel, new_model
from tests.reference.worlds import (
    History,
    World,
    by_round,
    enumerate_worlds,
    history_of,
    physical_deal_count,
    script_of,
    true_world,
    unseen_in,
)

ACTION_EVENTS = ("played", "bid_committed", "rolled", "bid_made", "stolen")
JUDGED_BY_FACTS = ("mister_bill",)
"""Games whose worlds are not judged by replaying what was seen."""
HIDDEN_MAX = 13
"""Hidden cards of Mister Bill beyond which the reference takes long to enumerate."""
ALL_DIFFERENT = ("bids",)
"""Games in which no two cards are alike."""


@dataclass(frozen=True)
class Spot:
    """A point of a match with the viewer whose unseen cards are dealt, and its history."""

    point: Point
    viewer: int
    history: History

    def __str__(self) -> str:
        match = self.point.match
        return f"viewer {self.viewer}: {match.game.format_state(match.state_bytes())}"


def spots(
    game: str, setting: Setting, seed: int, share: float, *, mostly_first: bool = False
) -> Iterator[Spot]:
    """About that share of the decisions of a random match, each seen by a viewer at random.

    The seat to act is taken every second time: it is the one that searches.
    """
    choice = Random(f"{seed} spots")
    for point in random_points(game, setting, seed, mostly_first=mostly_first):
        if choice.random() < share:
            acting = sorted(point.model.to_act())
            viewer = choice.choice(acting)
            if choice.random() < 0.5:
                viewer = choice.randrange(-1, point.model.seats)
            still = Point(point.fast.copy(), point.model.copy())
            yield Spot(still, viewer, history_of(still.model, viewer))


def sampled_states(spot: Spot, count: int, seed: int) -> Counter[bytes]:
    """How often the dealer gave each state."""
    match = spot.point.match
    position = Position(match.game, match.state_bytes(), seed)
    counts: Counter[bytes] = Counter()
    while count > 0:
        # In portions: ten million states at once would not fit into memory.
        counts.update(position.redeals(spot.viewer, min(count, 20_000)))
        count -= 20_000
    return counts


def sampled_worlds(spot: Spot, count: int, seed: int) -> Counter[World]:
    """How often the dealer gave each world."""
    worlds: Counter[World] = Counter()
    for state, times in sampled_states(spot, count, seed).items():
        worlds[holdings(spot.point.match.game, state)] += times
    return worlds


class Judge:
    """Whether worlds fit what a viewer saw, by replaying the round in progress in the reference.

    The rounds before it are the same in every world, so they are replayed once, up to the action
    that ends the last of them.
    """

    def __init__(self, spot: Spot) -> None:
        self.spot = spot
        self.history = spot.history
        *past, now = by_round(spot.history)
        self.past_actions = sum(event["event"] in ACTION_EVENTS for row in past for event in row)
        self.past_events = sum(map(len, past))
        self.seen = now
        self.before: AnyModel | None = None
        if past and not isinstance(spot.point.model, MisterBill):
            script, actions = script_of(self.history, true_world(spot.point.model))
            self.before = self._table(script)
            for seat, action in actions[: self.past_actions - 1]:
                self.before.play(seat, action)

    def _table(self, script: Script) -> AnyModel:
        history = self.history
        return new_model(history.game, history.seats, history.options, script=script)

    def fits(self, world: World) -> bool:
        """Whether the match could have gone as it was seen, had the seats held this.

        Of Mister Bill: as far as the facts on record tell (MB-27).
        """
        if isinstance(self.spot.point.model, MisterBill):
            return mister_bill.allows(self.spot.point.model, self.spot.viewer, world)
        try:
            script, actions = script_of(self.history, world)
            if self.before is None:
                model = self._table(script)
            else:
                model = self.before.copy()
                assert isinstance(model.chance, ScriptedChance)
                model.chance.script.update(script)
            for seat, action in actions[max(self.past_actions - 1, 0) :]:
                model.play(seat, action)
        except (IllegalMove, ValueError):
            return False
        now = EventLog(model.log._events[self.past_events :])
        return now.seen_by(self.history.viewer) == self.seen


def small_spots(
    game: str, settings: Iterable[Setting], seed: int, deals_max: int, number: int = 0
) -> Iterator[Spot]:
    """Positions with few ways to deal and, where cards are alike, duplicates among the unseen.

    One a setting. Counting from `number`, the odd ones have a seat that may hold several alike, so
    that worlds differ in the number of physical deals. All are from early rounds: late ones are no
    different for a dealer, but take long to replay.
    """
    if game == "mister_bill":
        yield from _small_spots_by_facts(settings, seed, deals_max, number)
        return
    for match_number, setting in enumerate(settings):
        matches = spots(game, setting, seed + match_number, 0.6, mostly_first=True)
        early = islice(matches, 110)
        if not _has_duplicates_if_any(next(early)):
            continue
        for spot in early:
            unseen = unseen_in(spot.history)
            may_hold_two = number % 2 == 0 or max(unseen.sizes) > 1
            few = 20 <= physical_deal_count(unseen) <= deals_max
            if few and may_hold_two and _has_duplicates_if_any(spot):
                number += 1
                yield spot
                break


def _small_spots_by_facts(
    settings: Iterable[Setting], seed: int, deals_max: int, number: int
) -> Iterator[Spot]:
    """The same of Mister Bill: the odd ones have worlds of unlike weights."""
    for match_number, setting in enumerate(settings):
        for spot in islice(spots("mister_bill", setting, seed + match_number, 0.3), 60):
            sizes = [len(hand) for hand in true_world(spot.point.model)]
            hidden = sum(sizes) - (sizes[spot.viewer] if spot.viewer >= 0 else 0)
            if hidden > HIDDEN_MAX:
                continue
            expected = expected_worlds(spot)
            unlike = number % 2 == 0 or len(set(expected.values())) > 1
            if 20 <= len(expected) <= deals_max and unlike:
                number += 1
                yield spot
                break


def expected_worlds(spot: Spot) -> dict[World, int]:
    """Every world that agrees with what was seen, in proportion to its physical deals.

    Of Mister Bill: to the deals and unseen draws that the facts on record leave open.
    """
    if isinstance(spot.point.model, MisterBill):
        return mister_bill.weights(spot.point.model, spot.viewer)
    return enumerate_worlds(spot.history)


def _has_duplicates_if_any(spot: Spot) -> bool:
    if spot.history.game in ALL_DIFFERENT:
        return True
    cards = unseen_in(spot.history).cards
    return len(set(cards)) < len(cards)


@dataclass(frozen=True)
class Fit:
    """How well counts follow the expected shares."""

    z: float
    """Chi-square as a standard normal deviate (Wilson and Hilferty)."""
    distance: float
    """Total variation between the sampled and the expected shares."""
    distance_expected: float
    """What the mean total variation of honest samples of this size is at most."""


def fit(counts: Mapping[World, int], expected: Mapping[World, int]) -> Fit:
    """Compare counts of worlds with their expected weights; every counted world must be expected.

    Worlds expected less than five times are put together, as chi-square wants it.
    """
    samples, weight = sum(counts.values()), sum(expected.values())
    square, rare_seen, rare_due, cells = 0.0, 0, 0.0, 0
    distance = spread = 0.0
    for world, ways in expected.items():
        share = ways / weight
        due, seen = samples * share, counts.get(world, 0)
        distance += abs(seen / samples - share) / 2
        spread += math.sqrt(share * (1 - share) / samples) / 2
        if due < 5:
            rare_seen, rare_due = rare_seen + seen, rare_due + due
            continue
        square += (seen - due) ** 2 / due
        cells += 1
    if rare_due >= 5:
        square += (rare_seen - rare_due) ** 2 / rare_due
        cells += 1
    return Fit(chi_square_deviate(square, cells - 1), distance, spread)


def chi_square_deviate(square: float, freedom: int) -> float:
    """A chi-square value as a standard normal deviate; 0 without a degree of freedom."""
    if freedom < 1:
        return 0.0
    k = 2 / (9 * freedom)
    return float(((square / freedom) ** (1 / 3) - (1 - k)) / math.sqrt(k))
