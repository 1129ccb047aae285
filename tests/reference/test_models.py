"""Whole random matches of the reference at every table: they end, add up and keep their shape."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import pytest

from tests.reference.chance import seed_bytes
from tests.reference.model import BadOption, competition_ranking, placement_utility
from tests.reference.registry import GAMES, AnyModel, new_model

# Games whose options exclude each other have tests of their own.
SEATS = {"bouillabaisse": range(2, 13), "mino_dice": range(3, 7), "mister_bill": range(3, 9)}
ROUNDS = {
    "bouillabaisse": dict.fromkeys(range(2, 13), 6),
    "mino_dice": {3: 8, 4: 8, 5: 7, 6: 6},
    "mister_bill": dict.fromkeys(range(3, 9), 3),
}
CONCERNED = ("seat", "from", "to", "first", "second")
"""Keys of events that name the seats a thing happens to."""


def tables() -> Iterator[tuple[str, int, dict[str, object]]]:
    """Every number of seats with the defaults and with each value of each option."""
    for game, seat_counts in SEATS.items():
        for seats in seat_counts:
            yield game, seats, {}
            for name, values in GAMES[game].options_help.items():
                for value in list(values)[1:]:
                    yield game, seats, {name: value}


def play_randomly(model: AnyModel, choices: random.Random) -> None:
    """A random seat of those to act plays a random legal action, to the end."""
    while not model.over:
        seat = choices.choice(sorted(model.to_act()))
        names = model.legal(seat)
        assert names
        assert len(names) == len(set(names))
        model.play(seat, choices.choice(names))


@pytest.mark.parametrize(
    "table", list(tables()), ids=lambda t: f"{t[0]}-{t[1]}-{','.join(map(str, t[2].values()))}"
)
def test_a_random_match_ends_and_its_totals_are_the_sums_of_its_rounds(
    table: tuple[str, int, dict[str, object]],
) -> None:
    game, seats, options = table
    model = new_model(game, seats, options, seed_bytes(seats))
    play_randomly(model, random.Random(seats))
    assert model.to_act() == set()
    assert len(model.round_points) == ROUNDS[game][seats]
    assert model.totals() == [sum(column) for column in zip(*model.round_points, strict=True)]
    assert sum(model.utility()) == pytest.approx(seats / 2)
    assert model.events(-1)[-1]["placement"] == model.placement()


@pytest.mark.parametrize("game", GAMES)
def test_a_copy_plays_on_identically_and_leaves_the_original_alone(game: str) -> None:
    model = new_model(game, 4, {}, seed_bytes(3))
    choices = random.Random(3)
    for _ in range(25):
        seat = min(model.to_act())
        model.play(seat, choices.choice(model.legal(seat)))
    before = [(model.view(viewer), model.events(viewer)) for viewer in range(-1, 4)]
    twin = model.copy()
    play_randomly(twin, random.Random(4))
    assert [(model.view(viewer), model.events(viewer)) for viewer in range(-1, 4)] == before
    play_randomly(model, random.Random(4))
    assert model.events(0) == twin.events(0)
    assert model.outcomes == twin.outcomes


@pytest.mark.parametrize("game", GAMES)
def test_views_and_events_are_given_away_as_copies(game: str) -> None:
    model = new_model(game, 4, {}, seed_bytes(3))
    shown, events = model.view(0), model.events(0)
    for value in [*shown.values(), *(value for event in events for value in event.values())]:
        if isinstance(value, list):
            value.clear()
    fresh = new_model(game, 4, {}, seed_bytes(3))
    assert model.view(0) == fresh.view(0)
    assert model.events(0) == fresh.events(0)


@pytest.mark.parametrize("game", GAMES)
def test_every_viewer_gets_every_event_and_others_miss_only_the_secret_keys(game: str) -> None:
    model = new_model(game, 4, {}, seed_bytes(6))
    play_randomly(model, random.Random(6))
    spectator = model.events(-1)
    for viewer in range(4):
        stream = model.events(viewer)
        assert len(stream) == len(spectator)
        for seen, public in zip(stream, spectator, strict=True):
            assert {key: seen[key] for key in public} == public
            secret = seen.keys() - public.keys()
            if secret:
                # Of what goes from seat to seat both know what it was.
                assert viewer in [seen.get(key) for key in CONCERNED]
                assert secret in ({"cards"}, {"dice"}, {"bid"}, {"kind"}, {"kinds"})


def test_one_is_no_boolean() -> None:
    with pytest.raises(BadOption):
        new_model("bouillabaisse", 4, {"all_or_nothing": 1})
    assert new_model("bouillabaisse", 4, {"all_or_nothing": True}).options["all_or_nothing"] is True


@pytest.mark.parametrize(
    ("scores", "places", "utilities"),
    [
        ([9, 7, 7, 1], [1, 2, 2, 4], [1.0, 0.5, 0.5, 0.0]),
        ([5, 5, 5], [1, 1, 1], [0.5, 0.5, 0.5]),
        ([0, 10], [2, 1], [0.0, 1.0]),
    ],
)
def test_ties_share_a_place_and_the_mean_of_the_places_they_occupy(
    scores: Sequence[int], places: list[int], utilities: list[float]
) -> None:
    assert competition_ranking(scores, high_wins=True) == places
    assert competition_ranking([-score for score in scores], high_wins=False) == places
    assert placement_utility(places) == utilities
