"""Everything of a match that one viewer can get at, and what differs of it between two matches.

Two matches that the rules don't let a viewer tell apart must not differ in anything listed here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tavolata.ai.analysis import analysing
from tavolata.ai.player import Limits, Observation, observe
from tavolata.ai.players import BUILT_IN
from tavolata.ai.stop import Stop
from tavolata.ext.core.errors import RulesError
from tavolata.ext.core.match import Match, Position

Aspect = Callable[[Match, int], object]

SEARCH_LIMITS = Limits(iterations=60)
SEARCH_SEED = 20_231


def view_bytes(match: Match, viewer: int) -> object:
    return match.view(viewer)


def typed_view(match: Match, viewer: int) -> object:
    return match.game.view(match.view(viewer), viewer)


def event_bytes(match: Match, viewer: int) -> object:
    return match.event_words(viewer)


def events(match: Match, viewer: int) -> object:
    return match.events(viewer)


def public_facts(match: Match, viewer: int) -> object:
    """What the service tells about the course of a match to everybody."""
    return (
        match.turn,
        match.to_act,
        match.over,
        match.decision_count,
        match.event_count,
        match.round_start,
        match.totals(),
        match.running_points(),
        match.placement(),
    )


def legal(match: Match, viewer: int) -> object:
    return match.legal(viewer) if viewer >= 0 else ()


def refusals(match: Match, viewer: int) -> object:
    """The answer to every action number that the viewer could send, legal ones included."""
    return [refusal_of(match, viewer, action) for action in range(-1, match.game.action_count + 1)]


def refusal_of(match: Match, viewer: int, action: int) -> tuple[str, str]:
    try:
        match.check(viewer, action)
    except RulesError as refusal:
        return refusal.reason, str(refusal)
    return "", ""


def rule_of_thumb(match: Match, viewer: int) -> object:
    """The rule's action in the true state: it may read only what the seat may know."""
    if viewer not in match.to_act:
        return None
    return Position(match.game, match.state_bytes(), SEARCH_SEED).rule(viewer)


def sampled_worlds(match: Match, viewer: int) -> object:
    """Worlds dealt over the true state, of which nothing may shine through."""
    return Position(match.game, match.state_bytes(), SEARCH_SEED).redeals(viewer, 3)


def decisions(match: Match, viewer: int) -> object:
    """What every built-in player decides in the viewer's seat."""
    if viewer not in match.to_act:
        return None
    return decisions_on(observe(match, viewer))


def decisions_on(observation: Observation, seed: int = SEARCH_SEED) -> dict[str, object]:
    """Action and root statistics of every built-in player."""
    found: dict[str, object] = {}
    for spec in BUILT_IN:
        player = spec.make(observation.game)
        decision = player.decide(observation, SEARCH_LIMITS, seed=seed, stop=Stop())
        found[spec.name] = (decision.action, decision.iterations, decision.statistics)
    return found


def analyses(match: Match, viewer: int) -> object:
    """What an analysis of the decision tells at the end, seeded by what the viewer sees."""
    if viewer not in match.to_act:
        return None
    *_, last = analysing(observe(match, viewer), SEARCH_LIMITS, seed=SEARCH_SEED, stop=Stop())
    assert last is not None
    return last.found.action, last.found.nodes, last.found.statistics


ASPECTS: Mapping[str, Aspect] = {
    function.__name__: function
    for function in (
        view_bytes,
        typed_view,
        event_bytes,
        events,
        public_facts,
        legal,
        refusals,
        rule_of_thumb,
        sampled_worlds,
        decisions,
        analyses,
    )
}


def differences(
    one: Match, other: Match, viewer: int, aspects: Mapping[str, Aspect] = ASPECTS
) -> list[str]:
    """Names of the aspects that tell the two matches apart."""
    return [name for name, look in aspects.items() if look(one, viewer) != look(other, viewer)]
