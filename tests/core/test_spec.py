"""What a table may be made with (G-1), on the options of games as `seeds/` states them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tavolata.ext.core.errors import (
    CombinationError,
    SeatCountError,
    SettingError,
    UnknownOption,
)
from tavolata.ext.core.match import Match
from tavolata.ext.core.spec import GameSpec, OptionValue, options_of
from tavolata.ext.registry import GAMES
from tests.games.tables import plain_options

# Only options are looked at here, so games that have no rules yet will do: theirs say more.
_ANY = next(iter(GAMES.values()))
BIDS = replace(_ANY, id="bids", seats_min=3, seats_max=6, options=options_of("bids"))
CAFE = replace(_ANY, id="cafe", seats_min=2, seats_max=5, options=options_of("cafe_international"))


@pytest.mark.parametrize("seats, ally", [(3, False), (4, False), (5, True), (6, True)])
def test_a_default_may_depend_on_the_number_of_seats(seats: int, ally: bool) -> None:
    assert BIDS.complete(seats, {})["ally"] is ally


def test_every_option_is_in_the_completed_ones_with_given_values_kept() -> None:
    completed = BIDS.complete(5, {"five_player_max": 10, "rounds": 20})
    assert set(completed) == {option.name for option in BIDS.options}
    assert (completed["five_player_max"], completed["rounds"]) == (10, 20)


@pytest.mark.parametrize("seats", [2, 7, 0, -1])
def test_a_wrong_number_of_seats_is_refused_with_the_allowed_ones(seats: int) -> None:
    with pytest.raises(SeatCountError, match=r"allowed: 3 to 6 \(G-1\)"):
        BIDS.complete(seats, {})


def test_an_unknown_option_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownOption, match=r"jokers.*allowed: five_player_max, minus_five"):
        BIDS.complete(4, {"jokers": 2})


@pytest.mark.parametrize(
    "name, value, allowed",
    [
        ("rounds", 0, "1 to 20"),
        ("rounds", 21, "1 to 20"),
        ("rounds", True, "1 to 20"),
        ("rounds", "5", "1 to 20"),
        ("five_player_max", 11, "12, 10"),
        ("five_player_max", "12", "12, 10"),
        ("thief", 1, "true, false"),
        ("thief", "true", "true, false"),
        ("thief_fallback", "best", "best_bid, next_worst"),
        ("thief_fallback", True, "best_bid, next_worst"),
    ],
)
def test_a_value_that_an_option_cannot_have_is_refused(
    name: str, value: OptionValue, allowed: str
) -> None:
    with pytest.raises(SettingError) as refused:
        BIDS.complete(5, {name: value})
    assert (refused.value.name, refused.value.given) == (name, value)
    assert refused.value.allowed == allowed
    assert refused.value.reason == "OPTION_OUT_OF_RANGE"


@pytest.mark.parametrize(
    "spec, seats, options, name, allowed",
    [
        (BIDS, 4, {"thief": True, "colours": True}, "thief", "false, as thief is not playable"),
        (BIDS, 3, {"ally": True}, "ally", "false, as ally must be off with 3 players"),
        (BIDS, 6, {"ally": False}, "ally", "true, as ally must be on with 6 players"),
        (CAFE, 5, {}, "five_players", "true, as five seats need five_players to be on"),
    ],
)
def test_values_that_the_seats_or_other_options_rule_out_are_refused(
    spec: GameSpec, seats: int, options: dict[str, OptionValue], name: str, allowed: str
) -> None:
    with pytest.raises(CombinationError) as refused:
        spec.complete(seats, options)
    assert refused.value.name == name
    assert refused.value.allowed.startswith(allowed)


@pytest.mark.parametrize(
    "spec, seats, options",
    [
        (BIDS, 4, {"thief": True, "colours": False}),
        (BIDS, 4, {"thief": False, "colours": True}),
        (BIDS, 4, {"ally": True}),
        (BIDS, 5, {"ally": False}),
        (
            BIDS,
            3,
            {"five_player_max": 10},
        ),  # without effect there, no reason to refuse
        (CAFE, 5, {"five_players": True}),
        (CAFE, 4, {"five_players": True}),
    ],
)
def test_combinations_that_no_rule_refuses_are_taken(
    spec: GameSpec, seats: int, options: dict[str, OptionValue]
) -> None:
    assert spec.complete(seats, options).items() >= options.items()


@pytest.mark.parametrize("spec", GAMES.values(), ids=lambda spec: spec.id)
def test_every_game_can_be_made_with_its_defaults_at_every_number_of_seats(spec: GameSpec) -> None:
    for seats in range(spec.seats_min, spec.seats_max + 1):
        assert spec.make(seats, plain_options(spec.id, seats)).seat_count == seats
    assert spec.seats_min <= spec.seats_usual <= spec.seats_max
    assert spec.summary.endswith(".")


@pytest.mark.parametrize("spec", GAMES.values(), ids=lambda spec: spec.id)
def test_the_best_place_goes_to_the_total_that_the_spec_says_wins(spec: GameSpec) -> None:
    match = Match(spec.make(spec.seats_usual), bytes(32))
    while not match.over:
        seat = match.to_act[0]
        match.play(seat, match.legal(seat)[0])
    totals = match.totals()
    assert len(set(totals)) > 1
    best = min(totals) if spec.low_wins else max(totals)
    assert [place == 1 for place in match.placement()] == [total == best for total in totals]
