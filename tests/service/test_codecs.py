"""Codecs lose nothing, refuse what is not theirs, and fit the games and the API as they are."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from itertools import product
from typing import Any

import pytest
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from tavolata.ext.core.errors import CombinationError, SettingError
from tavolata.ext.core.match import Match, Position
from tavolata.ext.core.records import MatchEnded
from tavolata.ext.core.spec import GameSpec, Options, OptionSpec, OptionValue
from tavolata.ext.registry import GAMES, UnknownGame
from tavolata.service.codecs import CODECS, codec_of, score_sheet
from tavolata.service.refusals import Refused
from tavolata.v1 import bouillabaisse_pb2, game_pb2
from tests.service.from_messages import action_name, event_fields, json_of, view_fields

SPECTATOR = -1
# These stand in the View around a game's view.
AROUND = {"to_act", "totals", "points", "round_points"}
TABLES = [
    pytest.param(game_id, seats, id=f"{game_id}-{seats}")
    for game_id, spec in GAMES.items()
    for seats in range(spec.seats_min, spec.seats_max + 1)
]
OPTIONS = [
    pytest.param(game_id, option, id=f"{game_id}-{option.name}")
    for game_id, spec in GAMES.items()
    for option in spec.options
]
ENUM_OPTIONS = [
    pytest.param(game_id, option, id=f"{game_id}-{option.name}")
    for game_id, spec in GAMES.items()
    for option in spec.options
    if option.type == "enum"
]


def random_match(game_id: str, seats: int, seed: int, *, sensible: bool = False) -> Iterator[Match]:
    """A match with random options and actions, at every decision and at the end.

    sensible: four actions of five by the rule of thumb, which come to ends that random ones don't.
    """
    chance = random.Random(seed)
    spec = GAMES[game_id]
    match = Match(spec.make(seats, random_options(spec, seats, chance)), chance.randbytes(32))
    while not match.over:
        yield match
        seat = chance.choice(match.to_act)
        if sensible and chance.random() < 0.8:
            position = Position(match.game, match.state_bytes(), chance.getrandbits(64))
            match.play(seat, position.rule(seat))
        else:
            match.play(seat, chance.choice(match.legal(seat)))
    yield match


def random_options(spec: GameSpec, seats: int, chance: random.Random) -> Options:
    """Random values that may be played together."""
    while True:
        options = {option.name: chance.choice(values_of(option)) for option in spec.options}
        with suppress(CombinationError):
            return spec.complete(seats, options)


def values_of(option: OptionSpec) -> list[OptionValue]:
    """Values that an option may have: all of them, or the ends of its range."""
    if option.type == "bool":
        return [False, True]
    return list(option.values) or [option.minimum, option.maximum]


# -- nothing is lost ------------------------------------------------------------------------------


@pytest.mark.parametrize("game_id, seats", TABLES)
def test_every_view_of_a_match_is_complete_in_its_message(game_id: str, seats: int) -> None:
    codec = codec_of(game_id)
    for number, match in enumerate(random_match(game_id, seats, seed=seats)):
        viewer = number % (seats + 1) - 1
        view: Any = match.game.view(match.view(viewer), viewer)
        whole = asdict(view)
        inside = {name: value for name, value in whole.items() if name not in AROUND}
        assert view_fields(game_id, codec.view_to(view)) == inside
        scores = json_of(score_sheet(view, match.placement()))
        assert tuple(scores["totals"]) == view.totals == match.totals()
        assert tuple(scores["running_points"]) == view.points == match.running_points()
        assert tuple(scores["places"]) == match.placement()
        assert tuple(tuple(row["points"]) for row in scores["rounds"]) == view.round_points
        assert [row["round"] for row in scores["rounds"]] == [*range(1, len(view.round_points) + 1)]


@pytest.mark.parametrize("game_id, seats", TABLES)
def test_every_event_of_a_match_is_complete_in_its_message(game_id: str, seats: int) -> None:
    codec = codec_of(game_id)
    *_, match = random_match(game_id, seats, seed=100 + seats)
    seen = [match.full_events(), match.events(SPECTATOR), match.events(0)]
    for numbered in (entry for entries in seen for entry in entries):
        if isinstance(numbered.event, MatchEnded):
            continue
        name, fields = event_fields(game_id, codec.event_to(numbered.event))
        event: Any = numbered.event
        shown = {key: value for key, value in asdict(event).items() if value is not None}
        assert (name, fields) == (type(event).__name__, shown)


@pytest.mark.parametrize("game_id, seats", TABLES)
def test_every_action_of_a_match_has_a_message_of_its_own(game_id: str, seats: int) -> None:
    codec = codec_of(game_id)
    for match in random_match(game_id, seats, seed=200 + seats):
        for action in {action for seat in match.to_act for action in match.legal(seat)}:
            sent = codec.action_to(action).SerializeToString()
            received = game_pb2.Action.FromString(sent)
            assert codec.action_from(received) == action
            assert action_name(game_id, received) == match.game.action_name(action)


@pytest.mark.parametrize("game_id", GAMES)
def test_all_kinds_of_events_come_through(game_id: str) -> None:
    codec, spec = codec_of(game_id), GAMES[game_id]
    wanted = len(message_of(game_pb2.GameEvent, game_id).fields)
    happened: set[str] = set()
    for seed, seats in product(range(100, 140), range(spec.seats_min, spec.seats_max + 1)):
        *_, match = random_match(game_id, seats, seed + seats, sensible=seed % 2 == 0)
        events = [entry.event for entry in match.full_events()]
        happened |= {
            event_fields(game_id, codec.event_to(event))[0]
            for event in events
            if not isinstance(event, MatchEnded)
        }
        if len(happened) == wanted:
            return
    raise AssertionError(f"only these happened: {sorted(happened)}")


# -- options --------------------------------------------------------------------------------------


@pytest.mark.parametrize("game_id", GAMES)
def test_options_left_unset_take_their_defaults(game_id: str) -> None:
    spec, codec = GAMES[game_id], codec_of(game_id)
    empty = game_pb2.GameOptions()
    getattr(empty, game_id).SetInParent()
    for options in (game_pb2.GameOptions(), empty):
        completed = spec.complete(spec.seats_usual, codec.options_from(options))
        assert completed == {option.name: option.default for option in spec.options}


@pytest.mark.parametrize("game_id, option", OPTIONS)
def test_every_value_of_an_option_comes_back_alone(game_id: str, option: OptionSpec) -> None:
    codec = codec_of(game_id)
    for value in values_of(option):
        sent = codec.options_to({option.name: value}).SerializeToString()
        received = codec.options_from(game_pb2.GameOptions.FromString(sent))
        assert received == {option.name: value}


@pytest.mark.parametrize("game_id, option", OPTIONS)
def test_enum_values_are_named_as_the_rules_name_them(game_id: str, option: OptionSpec) -> None:
    codec = codec_of(game_id)
    for value in values_of(option):
        shown = json_of(codec.options_to({option.name: value}))[game_id][option.name]
        if option.type == "enum":
            assert shown.lower().endswith(f"_{value}")
            assert shown == codec.options.enum_name(option.name, value)
        else:
            assert shown == value


@pytest.mark.parametrize("game_id", GAMES)
def test_an_option_that_the_game_does_not_have_is_refused_by_its_number(game_id: str) -> None:
    options = game_pb2.GameOptions()
    # Field 99 as a varint: key 99 << 3, then 1.
    getattr(options, game_id).MergeFromString(b"\x98\x06\x01")
    with refused("UNKNOWN_OPTION") as caught:
        codec_of(game_id).options_from(options)
    names = [option.name for option in GAMES[game_id].options]
    assert caught.value.metadata["option"] == "99"
    assert set(caught.value.metadata["allowed"].split(", ")) == set(names)


@pytest.mark.parametrize("game_id, option", ENUM_OPTIONS)
def test_an_enum_value_that_does_not_exist_is_refused_with_the_allowed_ones(
    game_id: str, option: OptionSpec
) -> None:
    options = game_pb2.GameOptions()
    setattr(getattr(options, game_id), option.name, 77)
    with refused("OPTION_OUT_OF_RANGE") as caught:
        codec_of(game_id).options_from(options)
    assert caught.value.metadata == {
        "option": option.name,
        "value": "77",
        "allowed": ", ".join(map(str, option.values)),
        "rule": "G-1",
    }


@pytest.mark.parametrize("game_id", GAMES)
def test_options_of_another_game_are_refused(game_id: str) -> None:
    for other, number in other_games(game_id):
        options = game_pb2.GameOptions.FromString(empty_field(number))
        with refused("WRONG_GAME") as caught:
            codec_of(game_id).options_from(options)
        assert caught.value.metadata == {"game_id": game_id, "given": other}


# -- actions that are none ------------------------------------------------------------------------


@pytest.mark.parametrize("game_id", GAMES)
def test_an_action_of_another_game_is_refused(game_id: str) -> None:
    for other, number in other_games(game_id):
        action = game_pb2.Action.FromString(empty_field(number))
        with refused("WRONG_GAME") as caught:
            codec_of(game_id).action_from(action)
        assert caught.value.metadata == {"game_id": game_id, "given": other}


@pytest.mark.parametrize("game_id", GAMES)
def test_an_empty_action_is_refused_where_it_is_empty(game_id: str) -> None:
    own = number_of(game_id)
    for sent, field in ((b"", "explain[2]"), (empty_field(own), f"explain[2].{game_id}")):
        with refused("INVALID_FIELD") as caught:
            codec_of(game_id).action_from(game_pb2.Action.FromString(sent), "explain[2]")
        assert caught.value.metadata["field"] == field
        assert [violation.field for violation in caught.value.field_violations] == [field]


@pytest.mark.parametrize("game_id", GAMES)
def test_an_action_with_a_field_from_the_future_is_not_taken_for_another(game_id: str) -> None:
    codec = codec_of(game_id)
    match = Match(GAMES[game_id].make(GAMES[game_id].seats_usual), bytes(32))
    action = game_pb2.Action()
    action.CopyFrom(codec.action_to(match.legal(match.to_act[0])[0]))
    getattr(action, game_id).MergeFromString(b"\x98\x06\x01")
    with refused("INVALID_FIELD"):
        codec.action_from(action)


@pytest.mark.parametrize("card", [0, 14, 16, 62, 64, 99, -1])
def test_a_number_that_is_no_card_is_refused_by_field_and_value(card: int) -> None:
    play = bouillabaisse_pb2.BouillabaissePlay()
    play.card = card  # type: ignore[assignment]
    action = game_pb2.Action(bouillabaisse=bouillabaisse_pb2.BouillabaisseAction(play=play))
    with refused("INVALID_FIELD") as caught:
        codec_of("bouillabaisse").action_from(action)
    assert caught.value.metadata["field"] == "action.bouillabaisse.play.card"
    assert str(card) in caught.value.message


# -- the contract ---------------------------------------------------------------------------------


def test_an_unknown_game_has_no_codec() -> None:
    with pytest.raises(UnknownGame, match=", ".join(GAMES)):
        codec_of("chess")


def test_every_game_has_a_codec_and_the_same_field_in_all_four_messages() -> None:
    assert set(CODECS) == set(GAMES)
    four: tuple[type[Message], ...] = (
        game_pb2.GameOptions,
        game_pb2.Action,
        game_pb2.GameView,
        game_pb2.GameEvent,
    )
    for message in four:
        (oneof,) = message.DESCRIPTOR.oneofs
        numbers = {field.name: field.number for field in oneof.fields}
        assert numbers == {game_id: number_of(game_id) for game_id in GAMES}


@pytest.mark.parametrize("game_id", GAMES)
def test_options_messages_have_the_fields_that_the_rules_have_options(game_id: str) -> None:
    message = message_of(game_pb2.GameOptions, game_id)
    types = {
        "bool": (FieldDescriptor.TYPE_BOOL, True),
        "int": (FieldDescriptor.TYPE_SINT32, True),
        "enum": (FieldDescriptor.TYPE_ENUM, False),
    }
    wanted = {option.name: types[option.type] for option in GAMES[game_id].options}
    assert {field.name: (field.type, field.has_presence) for field in message.fields} == wanted


@pytest.mark.parametrize("game_id, option", OPTIONS)
def test_defaults_pass_their_own_check(game_id: str, option: OptionSpec) -> None:
    assert option.check(option.default) == option.default
    with pytest.raises(SettingError, match=option.name) as caught:
        option.check("no such value")
    assert "no such value" in str(caught.value)
    assert option.allowed in str(caught.value)


def message_of(message: type[Message], game_id: str) -> Any:
    """The descriptor of the game's own message in one of the four."""
    return message.DESCRIPTOR.fields_by_name[game_id].message_type


def number_of(game_id: str) -> int:
    """The number of the game's field in Action."""
    return game_pb2.Action.DESCRIPTOR.fields_by_name[game_id].number


def other_games(game_id: str) -> list[tuple[str, int]]:
    """Fields of other games: those of the API, and one that only a newer API has."""
    fields = game_pb2.Action.DESCRIPTOR.oneofs_by_name["action"].fields
    there = [(field.name, field.number) for field in fields if field.name != game_id]
    return [*there, ("field 15", 15)]


def empty_field(number: int) -> bytes:
    """A message with one field, an empty message (numbers to 15 take one byte of key)."""
    return bytes([number << 3 | 2, 0])


@contextmanager
def refused(reason: str) -> Iterator[pytest.ExceptionInfo[Refused]]:
    """Expects a Refused with this reason."""
    with pytest.raises(Refused) as caught:
        yield caught
    assert caught.value.reason_name == reason
