"""Random matches played on the compiled rules and on the reference at once, compared step by step.

Each has its own chance: the same 32-byte seed through two independent implementations of the
documented stream. The first difference is an AssertionError with the command that shows it again.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from tavolata.ext.core.match import Position
from tavolata.ext.core.spec import OptionValue
from tests.games.engine import FastEngine, item_codes, new_fast
from tests.reference.chance import Key, Outcome, Script, seed_bytes
from tests.reference.mino_dice import COUNTS, SPECIALS, roll_index
from tests.reference.model import SPECTATOR, EventLog
from tests.reference.registry import AnyModel, new_model

# Seats that play by rule meet their bids, which is what bonuses need.
STYLES = ("random", "first", "last", "rule", "rule")
ROUNDS_MAX = 8


@dataclass(frozen=True)
class Plan:
    """A match to play: the table, the seed of the deal and of the choices, and how to choose.

    `sorted_deals` lays every shuffled deal out by rank or kind, so that single seats hold all
    that is strong: sweeps and bonuses that honest deals show once in thousands of matches.
    """

    game: str
    seats: int
    options: tuple[tuple[str, OptionValue], ...]
    seed: int
    sorted_deals: bool = False

    def __str__(self) -> str:
        options = " ".join(f"--option {name}={value}" for name, value in self.options)
        rigged = " --sorted-deals" if self.sorted_deals else ""
        return (
            f"python -m tests.games.campaign --game {self.game} --seats {self.seats} {options} "
            f"--seed {self.seed} --matches 1{rigged}"
        )


def compare_match(plan: Plan, *, every_view: bool = True) -> int:
    """Play the match to its end on both; returns the number of actions.

    every_view: compare all viewers after every action; otherwise the actor, the spectator and
    one seat in turn, and all viewers whenever a decision closed something (an event besides it).
    """
    script = _sorted_script(plan) if plan.sorted_deals else {}
    options = dict(plan.options)
    seed = seed_bytes(plan.seed)
    fast = new_fast(plan.game, plan.seats, options, seed, script)
    model = new_model(plan.game, plan.seats, options, seed, script)
    comparison = _Comparison(plan, fast, model)
    choice = Random(f"{plan.seed} choices")
    styles = [choice.choice(STYLES) for _ in range(plan.seats)]
    if plan.sorted_deals and choice.random() < 0.5:
        styles = ["rule"] * plan.seats
    comparison.compare(range(SPECTATOR, plan.seats))
    while not model.over:
        seat = choice.choice(sorted(model.to_act()))
        action = _chosen(fast, seat, styles[seat], choice)
        model.play(seat, action)
        fast.play(seat, action)
        comparison.steps += 1
        if every_view or comparison.events_since() > 1:
            comparison.compare(range(SPECTATOR, plan.seats))
        else:
            comparison.compare({SPECTATOR, seat, comparison.steps % plan.seats})
    comparison.compare_end()
    return comparison.steps


def _chosen(fast: FastEngine, seat: int, style: str, choice: Random) -> str:
    legal = fast.legal(seat)
    if style == "random" or choice.random() < 0.1:
        return choice.choice(legal)
    if style == "rule":
        position = Position(fast.game, fast.match.state_bytes())
        return fast.game.action_name(position.rule(seat))
    return legal[0 if style == "first" else -1]


def _sorted_script(plan: Plan) -> Script:
    """Every round's shuffle in the order of rank or kind, the blocks moved round the table."""
    options = dict(plan.options)
    deal = next(
        outcome
        for outcome in new_model(plan.game, plan.seats, options).outcomes
        if isinstance(outcome.value, tuple)
    )
    assert isinstance(deal.value, tuple)
    codes = item_codes(plan.game, deal.purpose)
    script: Script = {}
    choice = Random(f"{plan.seed} deals")
    for number in range(deal.round, ROUNDS_MAX + 1):
        order = sorted(deal.value, key=lambda name: codes[name] % 16)
        if choice.random() < 0.5:
            order.reverse()
        start = choice.randrange(len(order))
        key: Key = (deal.purpose, number, deal.index)
        script[key] = order[start:] + order[:start]
        if choice.random() < 0.5:
            # In turn instead of in blocks: what is strong meets in a trick.
            size = number if deal.purpose == "draw" else len(order) // plan.seats
            given = order[: size * plan.seats]
            turns = [card for seat in range(plan.seats) for card in given[seat :: plan.seats]]
            script[key] = turns + order[len(given) :]
    return script | (_strong_rolls(plan, choice) if plan.game == "mino_dice" else {})


def _strong_rolls(plan: Plan, choice: Random) -> Script:
    """Nearly all special dice show their special face, the first of the die."""
    return {
        ("roll", hand, roll_index(seat, kind, before)): 0
        for hand in range(1, ROUNDS_MAX + 1)
        for seat in range(plan.seats)
        for kind in SPECIALS
        for before in range(COUNTS[kind])
        if choice.random() < 0.85
    }


class _Comparison:
    def __init__(self, plan: Plan, fast: FastEngine, model: AnyModel) -> None:
        self.plan = plan
        self.fast = fast
        self.model = model
        self.steps = 0
        self.compared_events = [0] * (plan.seats + 1)
        self.events_before = 0

    def events_since(self) -> int:
        count = self.fast.match.event_count
        since = count - self.events_before
        self.events_before = count
        return since

    def compare(self, viewers: range | set[int]) -> None:
        fast, model = self.fast, self.model
        self.same("over", fast.over, model.over)
        self.same("turn", fast.turn, model.turn)
        self.same("to act", fast.to_act(), model.to_act())
        for seat in range(self.plan.seats):
            self.same(f"legal({seat})", fast.legal(seat), model.legal(seat))
        self.same("totals", fast.totals(), model.totals())
        self.same("running points", fast.running_points(), model.running_points())
        self.same("placement", fast.placement(), model.placement())
        for viewer in viewers:
            self.same(f"view({viewer})", fast.view(viewer), model.view(viewer))
            self._compare_events(viewer)

    def _compare_events(self, viewer: int) -> None:
        """The events that this viewer's stream has got since it was last compared."""
        after = self.compared_events[viewer]
        new = EventLog(self.model.log._events[after:]).seen_by(viewer)
        self.same(f"events({viewer}) after {after}", self.fast.events(viewer, after), new)
        self.compared_events[viewer] += len(new)

    def compare_end(self) -> None:
        """Whole event streams, everything chance gave, and what the match was worth."""
        fast, model = self.fast, self.model
        self.compare(range(SPECTATOR, self.plan.seats))
        for viewer in range(SPECTATOR, self.plan.seats):
            self.same(f"all events({viewer})", fast.events(viewer), model.events(viewer))
        self.same("chance", _by_key(fast.outcomes), _by_key(model.outcomes))
        self.same("utility", fast.utility(), model.utility())
        exact = fast.match.utility()
        totals = model.totals()
        for one in range(self.plan.seats):
            for other in range(self.plan.seats):
                orders = (exact[one] > exact[other]) == self._ahead(one, other, totals)
                assert orders, self.failure(f"utility {exact} orders {totals} otherwise")

    def _ahead(self, one: int, other: int, totals: list[int]) -> bool:
        """Whether a seat did better. Equal places are equal totals, so nothing else decides."""
        places = self.model.placement()
        assert places[one] != places[other] or totals[one] == totals[other]
        return places[one] < places[other]

    def same(self, what: str, fast: object, reference: object) -> None:
        if fast != reference:
            raise AssertionError(
                self.failure(f"{what}\n  compiled  {fast}\n  reference {reference}")
            )

    def failure(self, text: str) -> str:
        return f"after {self.steps} actions of: {self.plan}\n  {text}"


def _by_key(outcomes: list[Outcome]) -> list[Outcome]:
    return sorted(outcomes, key=lambda outcome: (outcome.round, outcome.purpose, outcome.index))
