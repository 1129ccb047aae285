"""CatalogService says all that can be played, as seeds and rules have it."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import pytest

from tavolata.ext.registry import GAMES
from tavolata.service.catalog import CatalogHandlers
from tavolata.service.codecs import codec_of
from tavolata.service.refusals import Refused
from tavolata.v1.catalog_pb2 import Game
from tavolata.v1.catalog_service_pb2 import (
    GetGameRequest,
    GetRulesRequest,
    GetRulesResponse,
    ListGamesRequest,
)
from tests.games.tables import plain_options
from tests.service.from_messages import json_of

CONTEXT: Any = None  # no call of the catalog looks at it


async def game(game_id: str) -> Game:
    return (await CatalogHandlers().GetGame(GetGameRequest(game_id=game_id), CONTEXT)).game


async def rules(game_id: str, *rule_ids: str) -> GetRulesResponse:
    request = GetRulesRequest(game_id=game_id, rule_ids=rule_ids)
    return await CatalogHandlers().GetRules(request, CONTEXT)


def seed_text(*path: str) -> str:
    """A file of the seeds, read as it stands."""
    return files("tavolata").joinpath("seeds", *path).read_text(encoding="utf-8")


async def test_the_list_has_every_game_in_the_order_of_ids() -> None:
    listed = (await CatalogHandlers().ListGames(ListGamesRequest(), CONTEXT)).games
    assert [each.game_id for each in listed] == sorted(GAMES)
    assert list(listed) == [await game(game_id) for game_id in sorted(GAMES)]


@pytest.mark.parametrize(
    "game_id, title, seats, low_wins",
    [
        ("bids", "Bids", range(3, 7), False),
        ("bouillabaisse", "La bouillabaisse", range(2, 13), True),
        ("mino_dice", "Mino Dice", range(3, 7), False),
    ],
)
async def test_a_game_has_the_seats_and_the_winner_of_its_rules(
    game_id: str, title: str, seats: range, low_wins: bool
) -> None:
    found = await game(game_id)
    assert (found.title, found.low_wins) == (title, low_wins)
    assert list(found.seat_counts) == list(seats)
    assert found.usual_seat_count in seats
    assert found.summary


@pytest.mark.parametrize("game_id", GAMES)
async def test_options_are_those_of_the_seeds_with_all_they_say(game_id: str) -> None:
    found = await game(game_id)
    rows = json.loads(seed_text(game_id, "options.json"))
    assert [option.name for option in found.options] == [row["name"] for row in rows]
    for option, row in zip(found.options, rows, strict=True):
        assert (option.description, option.rule_id) == (row["description"], row["rule"])
        assert option.min_seats == row.get("min_seats", min(found.seat_counts))
        assert option.max_seats == row.get("max_seats", max(found.seat_counts))
        kind = {"bool": "boolean", "int": "integer", "enum": "choice"}[row["type"]]
        assert option.WhichOneof("kind") == kind
        default = row["default"]
        assert getattr(option, kind).default_value == (
            str(default) if kind == "choice" else default
        )
        if kind == "choice":
            assert [value.value for value in option.choice.values] == [*map(str, row["values"])]


@pytest.mark.parametrize("game_id", GAMES)
async def test_a_choice_names_the_enum_value_that_the_options_message_takes(game_id: str) -> None:
    codec = codec_of(game_id)
    specs = {option.name: option for option in GAMES[game_id].options}
    for option in (await game(game_id)).options:
        for shown, value in zip(option.choice.values, specs[option.name].values, strict=False):
            sent = json_of(codec.options_to({option.name: value}))
            assert (shown.value, shown.enum_value) == (str(value), sent[game_id][option.name])


@pytest.mark.parametrize("game_id", GAMES)
async def test_default_options_can_be_sent_back_as_they_are(game_id: str) -> None:
    found, spec = await game(game_id), GAMES[game_id]
    given = codec_of(game_id).options_from(found.default_options)
    for seats in found.seat_counts:
        needed = plain_options(game_id, seats)
        assert spec.complete(seats, given | needed) == spec.complete(seats, needed)


async def test_one_player_is_the_default_and_every_default_level_exists() -> None:
    players = (await game("mino_dice")).ai_players
    assert {"random", "greedy", "ismcts"} <= {player.player for player in players}
    assert [player.player for player in players if player.default_player] == ["ismcts"]
    for player in players:
        assert player.default_level in [level.level for level in player.levels]
        searching = [level.HasField("limits") for level in player.levels]
        assert all(searching) == any(searching) == (player.player not in ("random", "greedy"))


@pytest.mark.parametrize("game_id", GAMES)
async def test_every_game_lists_its_levels_with_what_they_are(game_id: str) -> None:
    (ismcts,) = [p for p in (await game(game_id)).ai_players if p.player == "ismcts"]
    assert [level.level for level in ismcts.levels] == [
        "beginner", "easy", "standard", "strong", "expert", "master",
    ]  # fmt: skip
    rungs = GAMES[game_id].search.levels
    listed = [(level.limits.iterations, level.temperature) for level in ismcts.levels]
    assert listed == [(rung.iterations, rung.temperature) for rung in rungs]
    iterations = [count for count, _ in listed]
    assert iterations == sorted(set(iterations))
    assert ismcts.levels[-1].temperature == 0


@pytest.mark.parametrize("game_id", ["chess", "", "Mino_Dice", "../mino_dice"])
async def test_an_unknown_game_is_refused_with_the_ids_there_are(game_id: str) -> None:
    for call in (game(game_id), rules(game_id)):
        with pytest.raises(Refused) as caught:
            await call
        assert caught.value.reason_name == "UNKNOWN_GAME"
        assert set(caught.value.metadata["allowed"].split(", ")) == set(GAMES)


@pytest.mark.parametrize(
    "game_id, prefix, count",
    [("bids", "BI", 23), ("bouillabaisse", "BO", 20), ("mino_dice", "MD", 20)],
)
async def test_all_rules_come_in_the_order_of_the_document(
    game_id: str, prefix: str, count: int
) -> None:
    found = await rules(game_id)
    assert [rule.rule_id for rule in found.rules] == [f"{prefix}-{n + 1}" for n in range(count)]
    assert found.rules_version == GAMES[game_id].rules_version
    document = seed_text(game_id, "rules.md")
    words = " ".join(document.split())
    for rule in found.rules:
        text = " ".join(rule.text.split())
        _, found_whole, rest = words.partition(f"- **{rule.rule_id}** ({rule.origin}) {text}")
        assert found_whole
        assert rest == "" or rest.startswith((" - ", " ## ")), rule.rule_id
        assert f"## {rule.section}\n" in document


async def test_rules_come_once_in_the_order_asked_for_and_those_of_all_games_too() -> None:
    found = await rules("mino_dice", "MD-7", "G-2", "MD-7", "MD-1", "MD-7")
    assert [rule.rule_id for rule in found.rules] == ["MD-7", "G-2", "MD-1"]
    assert "once a choice has been committed it stands" in found.rules[1].text.lower()


async def test_only_so_many_rules_can_be_asked_for_and_a_small_request_has_a_small_answer() -> None:
    assert len((await rules("mino_dice", *["MD-7"] * 200)).rules) == 1
    with pytest.raises(Refused) as caught:
        await rules("mino_dice", *["MD-7"] * 201)
    assert caught.value.reason_name == "INVALID_FIELD"
    assert caught.value.metadata == {"field": "rule_ids", "allowed": "at most 200"}
    assert "has 201 numbers" in caught.value.message


@pytest.mark.parametrize("rule_id", ["MD-99", "BO-1", "md-1", ""])
async def test_the_first_rule_that_does_not_exist_is_named(rule_id: str) -> None:
    with pytest.raises(Refused) as caught:
        await rules("mino_dice", "MD-1", rule_id, "MD-98")
    assert caught.value.reason_name == "UNKNOWN_RULE"
    assert caught.value.metadata == {"game_id": "mino_dice", "rule_id": rule_id}
