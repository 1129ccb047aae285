"""The log of a match: grows without losing a word, and can be read back in order."""

from __future__ import annotations

import array

import pytest

from tavolata.ext.core.match import Match, Position
from tavolata.ext.core.records import ChanceOutcome, Decision, MatchEnded, NumberedEvent
from tavolata.ext.registry import GAMES
from tests.games.probe import random_match
from tests.games.tables import plain_options
from tests.reference.chance import seed_bytes

FIRST_CAPACITY = 1024  # words


def largest_table(game: str) -> Match:
    seats = GAMES[game].seats_max
    rules = GAMES[game].make(seats, plain_options(game, seats))
    *_, match = random_match(rules, 31)
    return match


def words_in(match: Match) -> int:
    """At least the words of all events and of decisions, five each; chance comes on top."""
    return len(match.event_words(0)) // 4 + 5 * match.decision_count


@pytest.mark.parametrize("game", GAMES)
def test_a_log_that_outgrew_its_memory_has_every_entry_in_order(game: str) -> None:
    match = largest_table(game)
    assert words_in(match) > FIRST_CAPACITY
    entries = match.entries()
    decided = [entry for entry in entries if isinstance(entry, Decision)]
    names = [(turn, seat, match.game.action_name(action)) for turn, seat, action in match.decisions]
    assert [(entry.turn, entry.seat, entry.action) for entry in decided] == names
    numbered = [entry for entry in entries if isinstance(entry, NumberedEvent)]
    assert numbered == match.full_events()
    assert [entry.number for entry in numbered] == list(range(1, match.event_count + 1))
    assert isinstance(entries[0], ChanceOutcome | NumberedEvent)
    assert entries[-1] == NumberedEvent(
        match.event_count, MatchEnded(match.placement(), match.totals())
    )


@pytest.mark.parametrize("game", GAMES)
def test_a_copy_taken_at_any_size_has_the_same_log_and_grows_on_its_own(game: str) -> None:
    seats = GAMES[game].seats_max
    rules = GAMES[game].make(seats, plain_options(game, seats))
    sizes = set()
    for step, match in enumerate(random_match(rules, 31)):
        if step % 25 == 0 and not match.over:
            twin = match.copy()
            before = match.entries()
            assert twin.entries() == before
            twin.play(twin.to_act[0], twin.legal(twin.to_act[0])[0])
            assert match.entries() == before
            assert twin.entries()[: len(before)] == before
            sizes.add(words_in(match) // FIRST_CAPACITY)
    assert len(sizes) > 1


@pytest.mark.parametrize("game", GAMES)
def test_events_after_a_number_are_the_rest_of_all_events(game: str) -> None:
    match = largest_table(game)
    for viewer in (-1, 0, match.game.seat_count - 1):
        everything = match.events(viewer)
        for after in (0, 1, 7, match.event_count - 1, match.event_count, match.event_count + 5):
            assert match.events(viewer, after) == everything[after:]
        assert match.events(viewer, -3) == everything


@pytest.mark.parametrize("game", GAMES)
def test_event_words_are_the_events_of_the_viewer(game: str) -> None:
    """`[size, kind, seen, public count, public..., secret...]`: secrets for who may see them."""
    match = Match(GAMES[game].make(GAMES[game].seats_usual), seed_bytes(8))
    for viewer in range(-1, match.game.seat_count):
        words = array.array("i", match.event_words(viewer))
        at = 0
        for entry in match.events(viewer):
            size, kind, seen, public = words[at : at + 4]
            shown = tuple(words[at + 4 : at + 4 + public])
            secret = tuple(words[at + 4 + public : at + size]) if seen else None
            assert match.game.event(kind, shown, secret) == entry.event
            at += size
        assert at == len(words)


@pytest.mark.parametrize("viewer", [-2, 99])
def test_a_viewer_that_is_not_there_is_refused(viewer: int) -> None:
    match = Match(GAMES["bouillabaisse"].make(4), bytes(32))
    with pytest.raises(ValueError, match=f"there is no viewer {viewer}"):
        match.view(viewer)
    with pytest.raises(ValueError, match=f"there is no viewer {viewer}"):
        match.events(viewer)
    with pytest.raises(ValueError, match=f"there is no viewer {viewer}"):
        match.event_words(viewer)


def test_a_copy_of_a_scripted_match_keeps_its_script() -> None:
    script: dict[tuple[str, int, int], int | list[int]] = {("suit", 2, 0): 3, ("dealer", 0, 0): 1}
    rules = GAMES["bouillabaisse"].make(4)
    ends = []
    for copies in (False, True):
        match = Match(rules, seed_bytes(2), script=script)
        while not match.over:
            match.play(match.to_act[0], match.legal(match.to_act[0])[0])
            match = match.copy() if copies else match
        ends.append((match.hash, match.entries()))
    assert ends[0] == ends[1]


@pytest.mark.parametrize("seat", [-2, -1, 4, 35])
def test_a_seat_that_is_not_there_is_refused_by_a_position(seat: int) -> None:
    match = Match(GAMES["bouillabaisse"].make(4), bytes(32))
    position = Position(match.game, match.state_bytes())
    for ask in (position.legal, position.legal_bits, position.rule):
        with pytest.raises(ValueError, match=f"there is no seat {seat}; seats are 0 to 3"):
            ask(seat)
    with pytest.raises(ValueError, match=f"there is no seat {seat}; seats are 0 to 3"):
        position.apply(seat, 0)
    if seat != -1:
        for look in (position.blank, position.redeal):
            with pytest.raises(ValueError, match=f"there is no viewer {seat}"):
                look(seat)
    assert position.state_bytes() == match.state_bytes()
