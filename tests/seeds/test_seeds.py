"""Reading the seeds tree: good files are read, broken ones are refused by name and place."""

from __future__ import annotations

import copy
import json
import re
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tavolata.ext.core.seeds import SeedError, conventions, load_json, parse_rules, rules

SEEDS = Path(__file__).parents[2] / "seeds"
GAMES = {
    "mino_dice": ("MD", 1, 20),
    "bouillabaisse": ("BO", 1, 20),
    "bids": ("BI", 1, 23),
    "cafe_international": ("CI", 0, 26),
    "mister_bill": ("MB", 1, 27),
}
DATA = sorted(
    (path.parent.name, path.stem)
    for path in SEEDS.glob("*/*.json")
    if not path.name.endswith(".schema.json")
)
# Keys of options.json that an option may do without.
OPTIONAL = {"default_by_seats", "min_seats", "max_seats", "refused"}


def test_every_game_has_a_folder_with_rules_and_options() -> None:
    assert {path.parent.name for path in SEEDS.glob("*/rules.md")} == set(GAMES)
    assert {game for game, name in DATA if name == "options"} == set(GAMES)
    assert {game for game, name in DATA if name != "options"} == set(GAMES)


def test_every_data_file_has_a_schema_and_every_schema_a_data_file() -> None:
    schemas = {(p.parent.name, p.name.split(".")[0]) for p in SEEDS.glob("*/*.schema.json")}
    assert schemas == set(DATA)


@pytest.mark.parametrize(("game", "name"), DATA)
def test_a_data_file_validates_and_is_what_stands_on_disk(game: str, name: str) -> None:
    schema = json.loads((SEEDS / game / f"{name}.schema.json").read_text("utf-8"))
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert load_json(game, name) == json.loads((SEEDS / game / f"{name}.json").read_text("utf-8"))


def _paths(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a JSON value; of a list only the first and the last element."""
    yield at
    if isinstance(value, dict):
        for key in value:
            yield from _paths(value[key], (*at, key))
    elif isinstance(value, list) and value:
        for index in sorted({0, len(value) - 1}):
            yield from _paths(value[index], (*at, index))


def _at(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


def _broken_copies(data: Any) -> Iterator[tuple[str, Any]]:
    for path in _paths(data):
        found = _at(data, path)
        if isinstance(found, dict):
            broken = copy.deepcopy(data)
            _at(broken, path)["unheard_of"] = {}
            yield f"a key too many at {path}", broken
        if path:
            broken = copy.deepcopy(data)
            _at(broken, path[:-1])[path[-1]] = 1.5
            yield f"1.5 in place of {path}", broken
        if path and isinstance(path[-1], str) and not set(path) & OPTIONAL:
            broken = copy.deepcopy(data)
            del _at(broken, path[:-1])[path[-1]]
            yield f"{path} missing", broken


def _copy_of(game: str, name: str, to: Path) -> Path:
    (to / game).mkdir()
    shutil.copy(SEEDS / game / f"{name}.schema.json", to / game)
    return to / game / f"{name}.json"


def _refused_file(game: str, name: str, root: Path) -> str:
    try:
        load_json(game, name, root=root)
    except SeedError as refusal:
        return refusal.file
    return "accepted"


@pytest.mark.parametrize(("game", "name"), DATA)
def test_each_broken_copy_of_a_data_file_is_refused(game: str, name: str, tmp_path: Path) -> None:
    file = _copy_of(game, name, tmp_path)
    data = load_json(game, name)
    copies = 0
    for what, broken in _broken_copies(data):
        file.write_text(json.dumps(broken), "utf-8")
        assert _refused_file(game, name, tmp_path) == f"{game}/{name}.json", what
        copies += 1
    assert copies > 20
    file.write_text(json.dumps(data), "utf-8")
    assert load_json(game, name, root=tmp_path) == data


def test_a_refusal_names_the_file_the_place_and_the_value(tmp_path: Path) -> None:
    data = load_json("mino_dice", "dice")
    data["kinds"][3]["faces"][5] = "8"
    _copy_of("mino_dice", "dice", tmp_path).write_text(json.dumps(data), "utf-8")
    with pytest.raises(SeedError, match=r"^mino_dice/dice\.json: kinds\[3\]\.faces\[5\]: '8' is"):
        load_json("mino_dice", "dice", root=tmp_path)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('{"faces": [', "line 1, column 12"),
        ('{"faces": [],\n "faces": []}', "key 'faces'"),
        ('{"hands": NaN}', "number NaN"),
        ("[]", "top level"),
    ],
)
def test_text_that_is_not_proper_json_is_refused(text: str, place: str, tmp_path: Path) -> None:
    _copy_of("mino_dice", "dice", tmp_path).write_text(text, "utf-8")
    with pytest.raises(SeedError) as refusal:
        load_json("mino_dice", "dice", root=tmp_path)
    assert (refusal.value.file, refusal.value.place) == ("mino_dice/dice.json", place)


def test_bytes_that_are_not_utf8_are_refused(tmp_path: Path) -> None:
    _copy_of("mino_dice", "dice", tmp_path).write_bytes(b'{"a": "\xff"}')
    with pytest.raises(SeedError, match=r"mino_dice/dice\.json: byte 7: is not UTF-8"):
        load_json("mino_dice", "dice", root=tmp_path)


def test_a_broken_schema_is_refused_as_the_schema(tmp_path: Path) -> None:
    file = _copy_of("mino_dice", "dice", tmp_path)
    shutil.copy(SEEDS / "mino_dice" / "dice.json", file)
    file.with_suffix(".schema.json").write_text('{"properties": {"hands": {"type": "die"}}}')
    with pytest.raises(SeedError, match=r"^mino_dice/dice\.schema\.json: properties\.hands\.type"):
        load_json("mino_dice", "dice", root=tmp_path)


def test_missing_files_and_unknown_games_are_refused_with_what_there_is() -> None:
    with pytest.raises(SeedError, match=r"^mino_dice/deck\.json: file: does not exist"):
        load_json("mino_dice", "deck")
    with pytest.raises(SeedError, match="'chess': game id: must be one of bids, bouillabaisse, "):
        load_json("chess", "deck")
    with pytest.raises(SeedError, match=r"'\.\./seeds': game id"):
        rules("../seeds")
    with pytest.raises(SeedError, match="file name"):
        load_json("mino_dice", "../bids/deck")


def test_seeds_are_read_from_an_archive_as_from_a_folder(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "seeds.zip", "w") as archive:
        for path in sorted(SEEDS.rglob("*.*")):
            archive.write(path, f"seeds/{path.relative_to(SEEDS)}")
    root = zipfile.Path(tmp_path / "seeds.zip", "seeds/")
    assert load_json("bids", "deck", root=root) == load_json("bids", "deck")
    assert rules("bids", root=root) == rules("bids")


@pytest.mark.parametrize("game", GAMES)
def test_rule_ids_are_unique_contiguous_and_complete(game: str) -> None:
    prefix, first, last = GAMES[game]
    text = rules(game)
    ids = [rule.id for rule in text.rules]
    assert ids == [f"{prefix}-{number}" for number in range(first, last + 1)]
    assert ids == [rule.id for section in text.sections for rule in section.rules]


@pytest.mark.parametrize("game", GAMES)
def test_every_rule_cited_in_the_text_exists(game: str) -> None:
    text = rules(game)
    known = set(text.by_id) | set(conventions().by_id)
    for rule in text.rules:
        assert set(re.findall(r"\b[A-Z]{1,2}-\d+\b", rule.text)) <= known, rule.id


def test_the_conventions_hold_the_two_rules_on_refusals() -> None:
    assert [rule.id for rule in conventions().rules] == ["G-1", "G-2"]


@pytest.mark.parametrize("game", GAMES)
def test_every_document_has_its_closing_sections(game: str) -> None:
    titles = [section.title for section in rules(game).sections]
    assert {"Who knows what", "Examples", "Utility"} - set(titles) == (
        {"Examples"} if game == "bouillabaisse" else set()
    )
    assert ("Checks" in titles) == (game == "bouillabaisse")
    assert all(section.rules or section.text for section in rules(game).sections)


@pytest.mark.parametrize("game", GAMES)
def test_table_rows_are_whole_so_that_no_wrapped_line_looks_like_one(game: str) -> None:
    for line in (SEEDS / game / "rules.md").read_text("utf-8").splitlines():
        if line.lstrip().startswith("|"):
            assert line.endswith("|"), line


def test_rules_are_found_by_id_with_origin_text_and_section() -> None:
    text = parse_rules(
        "# Tollgate\n\nPay or\npass.\n\n## Paying\n\nBefore.\n"
        "- **TG-1** (S; toll R) One\n  two.\n\n  | a | b |\n  |---|---|\n  | 1 | 2 |\n"
        "- **TG-2** (P) Three.\n- An example.\n",
        "tollgate/rules.md",
    )
    assert (text.title, text.introduction) == ("Tollgate", "Pay or pass.")
    first = text.rule("TG-1")
    assert (first.marks, first.section) == ("S; toll R", "Paying")
    assert first.origins == frozenset("SR")
    assert first.text == "One two.\n\n| a | b |\n|---|---|\n| 1 | 2 |"
    assert text.rule("TG-2").text == "Three."
    assert text.sections[0].text == "Before.\n- An example."
    with pytest.raises(KeyError, match="Tollgate has no rule TG-3"):
        text.rule("TG-3")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("", "line 1"),
        ("Tollgate\n", "line 1"),
        ("# T\n- **TG-1** (S) early\n## A\n", "line 2"),
        ("# T\n## A\n- **TG-1** no origin\n", "line 3"),
        ("# T\n## A\n- **TG-1** (X) unknown origin\n", "line 3"),
        ("# T\n## A\n- **TG-1** (S)\n", "line 3"),
        ("# T\n## A\n- **TG-1 (S) unclosed\n", "line 3"),
        ("# T\n## A\n**TG-1** (S) no bullet\n", "line 3"),
        ("# T\n## A\n- **TG-1** (S) a\n  - **TG-2** (S) indented\n", "line 4"),
        ("# T\n## A\n- **TG-1** (S) a\n## B\n- **TG-1** (S) again\n", "line 5"),
    ],
)
def test_rules_that_do_not_parse_are_refused_with_the_line(text: str, place: str) -> None:
    with pytest.raises(SeedError) as refusal:
        parse_rules(text, "tollgate/rules.md")
    assert (refusal.value.file, refusal.value.place) == ("tollgate/rules.md", place)
