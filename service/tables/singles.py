"""Decisions that leave a person nothing to decide, at tables that don't put them."""

from __future__ import annotations

from tavolata.service.tables.model import OCCUPANT, PERSON, PLAYING, Table


def plays_singles(table: Table) -> bool:
    """Whether the table plays for people who have a single legal action. Never in a game where who
    has a choice is secret."""
    rules = table.rules
    wanted = table.setup.settings.play_single_actions
    return wanted and rules is not None and not rules.game.spec.hides_single_actions


def single_action(table: Table, number: int) -> int | None:
    """The only legal action of a person who is to act and is there, if the table plays it."""
    match, seat = table.match, table.seats[number]
    if not plays_singles(table) or match is None or table.state != PLAYING:
        return None
    if seat.kind != PERSON or seat.control != OCCUPANT or number not in match.to_act:
        return None
    legal = match.legal(number)
    return legal[0] if len(legal) == 1 else None
