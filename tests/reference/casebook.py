"""Rule cases: small scripted matches with what the rules say must happen, and how to run them.

A case runs on anything that follows `Engine`, the reference models among them. The tables are
`tests/games/*/cases.py`; this module knows no game.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from tests.reference.chance import Script, seed_bytes
from tests.reference.model import BadOption, IllegalMove


class Engine(Protocol):
    """A match that a case can be run on; see `tests.reference.model.Model` for each method."""

    @property
    def turn(self) -> int: ...
    @property
    def over(self) -> bool: ...
    def to_act(self) -> set[int]: ...
    def legal(self, seat: int) -> list[str]: ...
    def play(self, seat: int, action: str) -> None: ...
    def totals(self) -> list[int]: ...
    def running_points(self) -> list[int]: ...
    def placement(self) -> list[int]: ...
    def utility(self) -> list[float]: ...
    def view(self, viewer: int) -> dict[str, object]: ...
    def events(self, viewer: int) -> list[dict[str, object]]: ...


class NewEngine(Protocol):
    """Makes a match; raises BadOption if the table is refused.

    The script gives chance outcomes by (purpose, round, index); the seed gives all others.
    """

    def __call__(
        self, game: str, seats: int, options: Mapping[str, object], seed: bytes, script: Script
    ) -> Engine: ...


Step = Callable[[Engine], None]
"""One thing done to a match, or one expectation of it (AssertionError if it fails)."""


@dataclass(frozen=True)
class Case:
    """A scripted match: the table, the chance, the steps; `rules` are the ids it shows."""

    title: str
    rules: tuple[str, ...]
    game: str
    seats: int
    steps: tuple[Step, ...] = ()
    options: dict[str, object] = field(default_factory=dict)
    script: Script = field(default_factory=dict)
    seed: int = 7
    refused: tuple[str, list[object]] | None = None
    """The option (or `seats`) refused when the table is made, and its allowed values; G-1."""

    def __str__(self) -> str:
        return f"{self.title} ({' '.join(self.rules)})"


def run_case(case: Case, new_engine: NewEngine) -> None:
    """Run a case; AssertionError if the engine doesn't do what the rules say."""
    try:
        engine = new_engine(
            case.game, case.seats, case.options, seed_bytes(case.seed), dict(case.script)
        )
    except BadOption as refusal:
        if case.refused is None:
            raise
        _check_refusal(case, refusal.name, refusal.allowed)
        return
    assert case.refused is None, f"{case}: the table was made, {case.refused} was not refused"
    for number, step in enumerate(case.steps):
        try:
            step(engine)
        except (AssertionError, IllegalMove) as failure:
            raise AssertionError(f"{case}: step {number}: {failure}") from failure


def _check_refusal(case: Case, name: str, allowed: list[object]) -> None:
    assert case.refused is not None
    expected_name, expected = case.refused
    assert name == expected_name, f"{case}: {name} was refused, not {expected_name}"
    # The order in which the allowed values are named is free.
    got = sorted(map(repr, allowed))
    assert got == sorted(map(repr, expected)), f"{case}: allowed are {got}, not {expected}"


# Things done


def do(seat: int, action: str) -> Step:
    """The seat plays the action."""

    def step(engine: Engine) -> None:
        engine.play(seat, action)

    return step


def do_all(*moves: str) -> Step:
    """Several actions, each as `seat action`."""

    def step(engine: Engine) -> None:
        for move in moves:
            seat, _, action = move.partition(" ")
            engine.play(int(seat), action)

    return step


def first_legal(key: str | None = None, value: object = None) -> Step:
    """The lowest seat to act plays its first legal action, until the public view has the value.

    Without a key: until the match is over.
    """

    def step(engine: Engine) -> None:
        while not engine.over:
            if key is not None and engine.view(-1)[key] == value:
                return
            seat = min(engine.to_act())
            engine.play(seat, engine.legal(seat)[0])
        assert key is None, f"the match ended before {key} was {value!r}"

    return step


def actions(count: int) -> Step:
    """That many first legal actions of the lowest seat to act."""

    def step(engine: Engine) -> None:
        for _ in range(count):
            seat = min(engine.to_act())
            engine.play(seat, engine.legal(seat)[0])

    return step


# Things expected


def _same(what: str, got: object, expected: object) -> None:
    assert got == expected, f"{what}: got {got!r}, expected {expected!r}"


def legal(seat: int, *names: str) -> Step:
    """The seat's legal actions, in action order."""
    return lambda engine: _same(f"legal({seat})", engine.legal(seat), list(names))


def to_act(*seats: int) -> Step:
    return lambda engine: _same("to_act", set(engine.to_act()), set(seats))


def turn(number: int) -> Step:
    return lambda engine: _same("turn", engine.turn, number)


def totals(*points: int) -> Step:
    return lambda engine: _same("totals", engine.totals(), list(points))


def running(*points: int) -> Step:
    return lambda engine: _same("running points", engine.running_points(), list(points))


def placement(*places: int) -> Step:
    return lambda engine: _same("placement", engine.placement(), list(places))


def utility(*values: float) -> Step:
    """Placement utility, compared to nine digits."""
    return lambda engine: _same(
        "utility",
        [round(value, 9) for value in engine.utility()],
        [round(value, 9) for value in values],
    )


def over() -> Step:
    return lambda engine: _same("over", (engine.over, set(engine.to_act())), (True, set()))


def view(viewer: int, **keys: object) -> Step:
    """What the viewer's view says under these keys."""

    def step(engine: Engine) -> None:
        shown = engine.view(viewer)
        for key, expected in keys.items():
            assert key in shown, f"view({viewer}) has no {key}"
            _same(f"view({viewer})[{key}]", shown[key], expected)

    return step


def seen(viewer: int, *events: dict[str, object]) -> Step:
    """The last events as the viewer got them."""
    return lambda engine: _same(
        f"events({viewer})", engine.events(viewer)[-len(events) :], list(events)
    )


def seen_ever(viewer: int, *events: dict[str, object]) -> Step:
    """These events in the viewer's stream, one after another, not necessarily the last."""

    def step(engine: Engine) -> None:
        stream = engine.events(viewer)
        wanted = list(events)
        runs = [stream[start : start + len(wanted)] for start in range(len(stream))]
        assert wanted in runs, f"events({viewer}) has no run {wanted!r}"

    return step


def last_event(viewer: int, name: str, **keys: object) -> Step:
    """What the last event of that name says under these keys, to that viewer."""

    def step(engine: Engine) -> None:
        events = [event for event in engine.events(viewer) if event["event"] == name]
        assert events, f"events({viewer}) has no {name}"
        got = {key: events[-1].get(key) for key in keys}
        _same(f"last {name} to {viewer}", got, keys)

    return step


def refused(rule_id: str, seat: int, action: str) -> Step:
    """The action is refused under the rule and changes nothing anybody can see; G-2."""

    def step(engine: Engine) -> None:
        seats = len(engine.totals())
        before = [(engine.view(viewer), engine.events(viewer)) for viewer in range(-1, seats)]
        try:
            engine.play(seat, action)
        except IllegalMove as refusal:
            _same(f"rule refusing {action!r} of seat {seat}", refusal.rule_id, rule_id)
        else:
            raise AssertionError(f"{action!r} of seat {seat} was not refused")
        after = [(engine.view(viewer), engine.events(viewer)) for viewer in range(-1, seats)]
        assert before == after, f"refusing {action!r} changed something"

    return step


def round_sums(*sums: int) -> Step:
    """The sum over the seats of the points of every finished round."""

    def step(engine: Engine) -> None:
        rounds = engine.view(-1)["round_points"]
        assert isinstance(rounds, list)
        _same("sums of rounds", [sum(points) for points in rounds], list(sums))

    return step
