"""Whole matches and playouts of a game as digests; run as a program to do so in another process.

`python -m tests.games.probe PROBE GAME` prints one line a setting; PROBES names them.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterator
from random import Random

from tavolata.ext.core.game import Game
from tavolata.ext.core.match import Match, Position
from tests.games.engine import make_game
from tests.games.tables import Setting, covering_settings, setting_name
from tests.reference.chance import seed_bytes

RANDOM, RULE = 0, 1


def random_match(game: Game, seed: int) -> Iterator[Match]:
    """The match at every decision of a random play of it, and at its end; one object, moving on."""
    match = Match(game, seed_bytes(seed))
    choice = Random(f"{seed} moves")
    while not match.over:
        yield match
        seat = choice.choice(match.to_act)
        match.play(seat, choice.choice(match.legal(seat)))
    yield match


def matches(setting: Setting, game: str) -> str:
    """The running hash of a random match, and of the views of it."""
    rules = make_game(game, *setting)
    views = hashlib.sha256()
    for match in random_match(rules, 11):
        last = match
        for viewer in range(-1, rules.seat_count):
            views.update(match.view(viewer))
    return f"{last.hash.hex()} {views.hexdigest()} {last.utility()}"


def playouts(setting: Setting, game: str) -> str:
    """Final states of playouts, redeals and rules of thumb from the decisions of a match."""
    rules = make_game(game, *setting)
    digest = hashlib.sha256()
    for number, match in enumerate(random_match(rules, 12)):
        if number % 9 or match.over:
            continue
        for policy in (RANDOM, RULE):
            for generic in (False, True):
                position = Position(rules, match.state_bytes(), number)
                (position.generic_playout if generic else position.playout)(policy)
                digest.update(position.state_bytes())
        digest.update(b"".join(Position(rules, match.state_bytes(), 5).redeals(match.to_act[0], 3)))
        digest.update(str(position.utility()).encode())
    return digest.hexdigest()


def methods(setting: Setting, game: str) -> str:
    """Calls every method of the interface; one that is missing aborts the process with its name."""
    rules = make_game(game, *setting)
    match = Match(rules, seed_bytes(3))
    position = Position(rules, match.state_bytes(), 3)
    for seat in position.to_act:
        assert position.rule(seat) in position.legal(seat)
        assert not rules.has_bits or position.legal_bits(seat)
        action = position.legal(seat)[0]
        assert rules.action_number(rules.action_name(action)) == action
        assert rules.why_illegal(match.state_bytes(), seat, rules.action_count).text
    for viewer in range(-1, rules.seat_count):
        view = position.blank(viewer)
        assert rules.view(view, viewer)
        rules.dealer(view, viewer)
        assert position.redeal(viewer).to_act
        assert match.events(viewer)
    assert rules.pack(rules.unpack(match.state_bytes())) == match.state_bytes()
    assert rules.parse_state(rules.format_state(match.state_bytes())) == match.state_bytes()
    assert match.entries()
    position.generic_playout(RULE)
    while not position.over:
        assert position.horizon
        position.utility()
        position.advance()
        position.playout(RANDOM)
    position.utility()
    while not match.over:
        match.play(match.to_act[0], match.legal(match.to_act[0])[0])
    scores = (match.totals(), match.running_points(), match.placement(), match.utility())
    return " ".join(map(str, scores))


def builds(setting: Setting, game: str) -> str:
    """The module that the rules are from."""
    return type(make_game(game, *setting)).__module__


PROBES: dict[str, Callable[[Setting, str], str]] = {
    "matches": matches,
    "playouts": playouts,
    "methods": methods,
    "builds": builds,
}


def report(probe: str, game: str) -> list[str]:
    """A line a covering setting."""
    return [
        f"{setting_name(setting)}: {PROBES[probe](setting, game)}"
        for setting in covering_settings(game)
    ]


if __name__ == "__main__":
    print("\n".join(report(sys.argv[1], sys.argv[2])))
