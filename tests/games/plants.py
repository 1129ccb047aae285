"""Leaks planted to show that the secrecy check sees them: each replaces one aspect of a match.

A leak reads the true state. It stands for a mistake that rules, core or players could make.
"""

from __future__ import annotations

import array
import zlib
from collections.abc import Mapping

from tavolata.ai.player import observe
from tavolata.ext.core.match import Match, Position
from tests.games import secrecy
from tests.games.positions import OPEN_HANDS, holdings
from tests.games.secrecy import Aspect


def neighbour(match: Match, viewer: int) -> int:
    return (viewer + 1) % match.game.seat_count


def hidden_number(match: Match, viewer: int) -> int:
    """A number that hangs on what the other seats hold."""
    held = holdings(match.game, match.state_bytes())
    others = [hand for seat, hand in enumerate(held) if seat != viewer]
    return zlib.crc32(repr(others).encode())


# Views


def view_not_blanked(match: Match, viewer: int) -> object:
    return match.state_bytes()


def view_of_the_neighbour(match: Match, viewer: int) -> object:
    return match.view(neighbour(match, viewer))


def view_with_a_bit_in_the_padding(match: Match, viewer: int) -> object:
    view = bytearray(match.view(viewer))
    view[-1] = hidden_number(match, viewer) & 1
    return bytes(view)


def view_with_a_hidden_count(match: Match, viewer: int) -> object:
    """How many different ranks or initials of kinds the neighbour holds."""
    held = holdings(match.game, match.state_bytes())[neighbour(match, viewer)]
    return match.view(viewer) + bytes([len({name[0] for name in held})])


def view_that_knows_true_voids(match: Match, viewer: int) -> object:
    """Suits or colours that others are out of, whether they have shown it or not."""
    view = match.game.view(match.view(viewer), viewer)
    held = holdings(match.game, match.state_bytes())
    groups = [sorted({name[-1] for name in hand}) for hand in held]
    return view, groups


def view_with_open_bids(match: Match, viewer: int) -> object:
    """Mino Dice: bids as they were committed."""
    view = match.game.view(match.view(viewer), viewer)
    return view, match.game.unpack(match.state_bytes())["bids"]


def view_of_the_pile(match: Match, viewer: int) -> object:
    """Bids: the pile in its order, which nobody knows but for what was buried."""
    view = match.game.view(match.view(viewer), viewer)
    return view, match.game.unpack(match.state_bytes())["pile"]


def view_with_what_is_left_over(match: Match, viewer: int) -> object:
    """Bids: the coloured cards that were set aside."""
    left_over = match.game.unpack(match.state_bytes())["left_over"]
    return match.view(viewer) + left_over.to_bytes(8, "big")


def rule_that_knows_the_next_card(match: Match, viewer: int) -> object:
    """Bids: as if the top of the pile were turned up."""
    if viewer not in match.to_act:
        return None
    return match.legal(viewer)[match.game.unpack(match.state_bytes())["pile"][0] % 2 :]


def view_with_what_others_know(match: Match, viewer: int) -> object:
    """Mister Bill: the facts of every seat, not the viewer's alone."""
    return match.view(viewer), match.game.unpack(match.state_bytes())["facts"]


def view_with_open_gifts(match: Match, viewer: int) -> object:
    """Mister Bill: gifts as they were committed."""
    view = match.game.view(match.view(viewer), viewer)
    return view, match.game.unpack(match.state_bytes())["gifts"]


def turns_that_reveal_a_waiter(match: Match, viewer: int) -> object:
    """Mister Bill, MB-10: whether a decision leaves anything to decide."""
    return secrecy.public_facts(match, viewer), [len(match.legal(s)) > 1 for s in match.to_act]


def worlds_in_which_others_know_what_they_know(match: Match, viewer: int) -> object:
    """Mister Bill: other seats' facts left as they are in a sampled world."""
    facts = match.game.unpack(match.state_bytes())["facts"]
    return secrecy.sampled_worlds(match, viewer), facts


def bag_of(match: Match) -> list[int]:
    """Café International: the bag, the next to be drawn first."""
    fields = match.game.unpack(match.state_bytes())
    order: list[int] = fields["order"][100 - fields["bag_size"] :]
    return order


def bag_number(match: Match) -> int:
    return zlib.crc32(bytes(bag_of(match)))


def view_with_a_bit_of_the_bag(match: Match, viewer: int) -> object:
    """Café International: a bit where the view is padded."""
    return match.view(viewer)[:-1] + bytes([bag_number(match) & 1])


def view_of_the_bag(match: Match, viewer: int) -> object:
    return match.game.view(match.view(viewer), viewer), bag_of(match)


def events_of_the_next_draw(match: Match, viewer: int) -> object:
    return [*match.events(viewer), bag_of(match)[:2]]


def event_bytes_of_the_next_draw(match: Match, viewer: int) -> object:
    return match.event_words(viewer) + bytes(bag_of(match)[:2])


def event_bytes_padded_by_the_bag(match: Match, viewer: int) -> object:
    return match.event_words(viewer) + bytes(bag_number(match) % 4)


def points_that_foresee_the_draw(match: Match, viewer: int) -> object:
    return [points + bag_number(match) % 2 for points in match.running_points()]


def legal_actions_ordered_by_the_bag(match: Match, viewer: int) -> object:
    actions = match.legal(viewer) if viewer >= 0 else ()
    start = bag_number(match) % max(len(actions), 1)
    return actions[start:] + actions[:start]


def refusal_that_names_the_next_guest(match: Match, viewer: int) -> object:
    return secrecy.refusals(match, viewer), bag_of(match)[0]


def rule_that_knows_the_next_guest(match: Match, viewer: int) -> object:
    if viewer not in match.to_act:
        return None
    legal = match.legal(viewer)
    return legal[bag_of(match)[0] % len(legal)]


def worlds_that_draw_what_comes(match: Match, viewer: int) -> object:
    """A dealer that leaves the front of the bag as it is."""
    return secrecy.sampled_worlds(match, viewer), bag_of(match)[:3]


# Events


def _split(words: bytes) -> list[bytes]:
    numbers = array.array("i", words)
    parts, at = [], 0
    while at < len(numbers):
        size = numbers[at]
        parts.append(numbers[at : at + size].tobytes())
        at += size
    return parts


def _widened(match: Match, viewers: list[int]) -> bytes:
    """Each event as the best informed of these viewers gets it."""
    streams = [_split(match.event_words(viewer)) for viewer in viewers]
    return b"".join(max(versions, key=len) for versions in zip(*streams, strict=True))


def event_secrets_for_everybody(match: Match, viewer: int) -> object:
    return _widened(match, list(range(match.game.seat_count)))


def event_secrets_for_the_neighbour(match: Match, viewer: int) -> object:
    return _widened(match, [viewer, neighbour(match, viewer)])


def event_length_by_content(match: Match, viewer: int) -> object:
    """Secret parts blanked but packed, so that their length tells something."""
    return match.event_words(viewer) + bytes(len(zlib.compress(match.event_words(0))))


def events_in_the_order_of_content(match: Match, viewer: int) -> object:
    """Deals reported strongest hand first."""
    held = holdings(match.game, match.state_bytes())
    order = sorted(range(len(held)), key=lambda seat: held[seat])
    return match.events(viewer), order


def events_with_every_secret(match: Match, viewer: int) -> object:
    return match.full_events()


# Facts, legality and refusals


def facts_with_a_running_hash(match: Match, viewer: int) -> object:
    """The hash covers the deal: with few cards hidden it can be searched for."""
    return secrecy.public_facts(match, viewer), match.hash


def facts_with_the_seed(match: Match, viewer: int) -> object:
    return secrecy.public_facts(match, viewer), match.seed


def points_that_run_ahead(match: Match, viewer: int) -> object:
    return [points + hidden_number(match, viewer) % 2 for points in match.running_points()]


def legal_actions_ordered_by_hidden_cards(match: Match, viewer: int) -> object:
    actions = match.legal(viewer) if viewer >= 0 else ()
    start = hidden_number(match, viewer) % max(len(actions), 1)
    return actions[start:] + actions[:start]


def refusal_that_names_the_holder(match: Match, viewer: int) -> object:
    held = holdings(match.game, match.state_bytes())
    return [
        (answer, [seat for seat, hand in enumerate(held) if _item(match, action) in hand])
        for action in range(match.game.action_count)
        for answer in [secrecy.refusal_of(match, viewer, action)]
    ]


def _item(match: Match, action: int) -> str:
    try:
        return match.game.action_name(action).split()[1]
    except (ValueError, IndexError):
        return ""


# Players and sampled worlds


def rule_that_looks_into_hands(match: Match, viewer: int) -> object:
    actions = match.legal(viewer) if viewer >= 0 else ()
    return actions[hidden_number(match, viewer) % len(actions)] if actions else None


def worlds_over_the_true_state(match: Match, viewer: int) -> object:
    """A dealer that leaves the true hand of one seat standing."""
    world = Position(match.game, match.state_bytes(), 1).redeal(viewer)
    return holdings(match.game, match.state_bytes())[0], world.state_bytes()


def worlds_from_the_match_seed(match: Match, viewer: int) -> object:
    seed = int.from_bytes(match.seed[:8], "big")
    return Position(match.game, match.state_bytes(), seed).redeals(viewer, 3)


def decisions_from_the_true_state(match: Match, viewer: int) -> object:
    """A cheat: each action played out in the world as it is."""
    if viewer not in match.to_act:
        return None
    scores = []
    for action in match.legal(viewer):
        world = Position(match.game, match.state_bytes(), 1)
        world.apply(viewer, action)
        world.playout(1)
        scores.append(world.totals()[viewer])
    return scores


def decisions_seeded_by_the_match(match: Match, viewer: int) -> object:
    if viewer not in match.to_act:
        return None
    seed = int.from_bytes(match.seed[:8], "big")
    return secrecy.decisions_on(observe(match, viewer), seed)


PLANTS: Mapping[str, list[Aspect]] = {
    "view_bytes": [
        view_not_blanked,
        view_of_the_neighbour,
        view_with_a_bit_in_the_padding,
        view_with_a_hidden_count,
    ],
    "typed_view": [view_that_knows_true_voids],
    "event_bytes": [
        event_secrets_for_everybody,
        event_secrets_for_the_neighbour,
        event_length_by_content,
    ],
    "events": [events_in_the_order_of_content, events_with_every_secret],
    "public_facts": [facts_with_a_running_hash, facts_with_the_seed, points_that_run_ahead],
    "legal": [legal_actions_ordered_by_hidden_cards],
    "refusals": [refusal_that_names_the_holder],
    "rule_of_thumb": [rule_that_looks_into_hands],
    "sampled_worlds": [worlds_over_the_true_state, worlds_from_the_match_seed],
    "decisions": [decisions_from_the_true_state, decisions_seeded_by_the_match],
    "analyses": [decisions_from_the_true_state],
}
"""The leaks by the aspect they replace."""

MINO_DICE_PLANTS: Mapping[str, list[Aspect]] = {"typed_view": [view_with_open_bids]}

BIDS_PLANTS: Mapping[str, list[Aspect]] = {
    "typed_view": [view_of_the_pile],
    "view_bytes": [view_with_what_is_left_over],
    "rule_of_thumb": [rule_that_knows_the_next_card],
}

CAFE_PLANTS: Mapping[str, list[Aspect]] = {
    "view_bytes": [view_not_blanked, view_with_a_bit_of_the_bag],
    "typed_view": [view_of_the_bag],
    "event_bytes": [event_bytes_of_the_next_draw, event_bytes_padded_by_the_bag],
    "events": [events_of_the_next_draw],
    "public_facts": [
        facts_with_a_running_hash,
        facts_with_the_seed,
        points_that_foresee_the_draw,
    ],
    "legal": [legal_actions_ordered_by_the_bag],
    "refusals": [refusal_that_names_the_next_guest],
    "rule_of_thumb": [rule_that_knows_the_next_guest],
    "sampled_worlds": [worlds_that_draw_what_comes, worlds_from_the_match_seed],
    "decisions": [decisions_from_the_true_state, decisions_seeded_by_the_match],
    "analyses": [decisions_from_the_true_state],
}
"""Café International: all leaks, as every hand is open there."""

MISTER_BILL_PLANTS: Mapping[str, list[Aspect]] = {
    "view_bytes": [view_with_what_others_know],
    "typed_view": [view_with_open_gifts],
    "public_facts": [turns_that_reveal_a_waiter],
    "sampled_worlds": [worlds_in_which_others_know_what_they_know],
}

PLANTS_OF: Mapping[str, Mapping[str, list[Aspect]]] = {
    "bids": BIDS_PLANTS,
    "mino_dice": MINO_DICE_PLANTS,
    "mister_bill": MISTER_BILL_PLANTS,
}
"""Leaks of one game more."""


def planted_leaks(game: str) -> list[tuple[str, Aspect]]:
    """Every leak of a game with the aspect it replaces."""
    tables = [PLANTS, PLANTS_OF.get(game, {})]
    if game in OPEN_HANDS:
        tables = [CAFE_PLANTS]
    return [(aspect, leak) for table in tables for aspect, leaks in table.items() for leak in leaks]
