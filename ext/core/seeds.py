"""The games' data and rules of record, read from the package and checked.

Here lives everything that reads the `seeds` tree. What the data mean in a game
does not belong here: each game's own module turns them into tables.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from types import MappingProxyType
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, best_match

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_RULE = re.compile(r"- \*\*([A-Z]+-\d+)\*\* \(([^()]+)\) (\S.*)")
_RULE_LIKE = re.compile(r"\s*[-*]?\s*\*\*[A-Z]+-\d+")
_ORIGIN = re.compile(r"\b[SPR]\b")


class SeedError(Exception):
    """A seed file is missing or wrong; says which file, where in it, and what."""

    def __init__(self, file: str, place: str, problem: str) -> None:
        self.file = file
        self.place = place
        self.problem = problem
        super().__init__(f"{file}: {place}: {problem}")


@dataclass(frozen=True, slots=True)
class Rule:
    """One numbered rule.

    `marks` is what stands in the parentheses, say `S; per griffin P`. `text` has
    one line per paragraph or table row. `section` is the title of its section.
    """

    id: str
    marks: str
    text: str
    section: str

    @property
    def origins(self) -> frozenset[str]:
        """Subset of {"S", "P", "R"}: summary, published rules, ruling."""
        return frozenset(_ORIGIN.findall(self.marks))


@dataclass(frozen=True, slots=True)
class Section:
    """A section: its rules in order, and its lines that belong to no rule."""

    title: str
    rules: tuple[Rule, ...]
    text: str


@dataclass(frozen=True, slots=True)
class RulesText:
    """The rules of record of one game, in the order of the document."""

    title: str
    introduction: str
    sections: tuple[Section, ...]
    by_id: Mapping[str, Rule]

    @property
    def rules(self) -> tuple[Rule, ...]:
        return tuple(self.by_id.values())

    def rule(self, rule_id: str) -> Rule:
        """The rule with this id. KeyError, naming the title, if there is none."""
        try:
            return self.by_id[rule_id]
        except KeyError:
            raise KeyError(f"{self.title} has no rule {rule_id}") from None


def load_json(game_id: str, name: str, *, root: Traversable | None = None) -> Any:
    """The data file `<name>.json` of a game, after validation by `<name>.schema.json`.

    `root` replaces the packaged seeds tree. SeedError if a file is missing, is not
    JSON, repeats a key, or breaks the schema.
    """
    folder = _game_folder(game_id, root)
    if not _NAME.fullmatch(name):
        raise SeedError(f"{game_id}/{name!r}", "file name", "must be lower case, without suffix")
    file = f"{game_id}/{name}.json"
    data = _parse_json(_read_text(folder, game_id, f"{name}.json"), file)
    schema_text = _read_text(folder, game_id, f"{name}.schema.json")
    # best_match picks the deepest cause, so the message names the key to mend.
    breach = best_match(_validator(f"{game_id}/{name}.schema.json", schema_text).iter_errors(data))
    if breach is not None:
        raise SeedError(file, _place(breach.absolute_path), breach.message)
    return data


def rules(game_id: str, *, root: Traversable | None = None) -> RulesText:
    """The rules of record of a game. SeedError if the text does not parse."""
    folder = _game_folder(game_id, root)
    return parse_rules(_read_text(folder, game_id, "rules.md"), f"{game_id}/rules.md")


def conventions(*, root: Traversable | None = None) -> RulesText:
    """What holds for all games: rules G-1, G-2 and the sections around them."""
    return parse_rules(_read_text(_root(root), ".", "README.md"), "README.md")


def parse_rules(text: str, file: str) -> RulesText:
    """Read a rules document; `file` names it in errors.

    SeedError, with the line number, for a rule line that is not of the documented
    form or outside a section, an origin without S, P or R, a repeated id, or a
    missing title.
    """
    lines = text.splitlines()
    if not lines or not lines[0].startswith("# "):
        raise SeedError(file, "line 1", "must be '# ' and the title")
    introduction, *bodies = _split_sections(lines)
    for number, line in introduction:
        if _RULE_LIKE.match(line):
            raise SeedError(file, f"line {number}", "a rule stands before the first section")
    by_id: dict[str, Rule] = {}
    sections = tuple(_parse_section(body, file, by_id) for body in bodies)
    intro = _unwrap([line for _, line in introduction[1:]])
    return RulesText(lines[0][2:].strip(), intro, sections, MappingProxyType(by_id))


_Numbered = list[tuple[int, str]]


def _split_sections(lines: list[str]) -> list[_Numbered]:
    parts: list[_Numbered] = [[]]
    for number, line in enumerate(lines, start=1):
        if line.startswith("## "):
            parts.append([])
        parts[-1].append((number, line))
    return parts


def _parse_section(body: _Numbered, file: str, by_id: dict[str, Rule]) -> Section:
    title = body[0][1][3:].strip()
    loose: list[str] = []
    found: list[tuple[int, list[str]]] = []
    target = loose
    for number, line in body[1:]:
        if _RULE_LIKE.match(line):
            target = [line]
            found.append((number, target))
        elif target is not loose and (line.startswith("  ") or not line):
            target.append(line[2:])
        else:
            target = loose
            loose.append(line)
    made = [_parse_rule(number, lines, title, file) for number, lines in found]
    for (number, _), rule in zip(found, made, strict=True):
        if rule.id in by_id:
            raise SeedError(file, f"line {number}", f"{rule.id} occurs a second time")
        by_id[rule.id] = rule
    return Section(title, tuple(made), _unwrap(loose))


def _parse_rule(number: int, lines: list[str], section: str, file: str) -> Rule:
    match = _RULE.fullmatch(lines[0])
    if match is None:
        raise SeedError(file, f"line {number}", "a rule begins '- **XX-1** (S) text'")
    rule_id, marks, first = match.groups()
    rule = Rule(rule_id, marks, _unwrap([first, *lines[1:]]), section)
    if not rule.origins:
        raise SeedError(file, f"line {number}", f"{rule_id} has no origin S, P or R")
    return rule


def _unwrap(lines: list[str]) -> str:
    """Join wrapped lines; table rows, bullets and blank lines stay apart."""
    out: list[str] = []
    joins = False
    for line in lines:
        words = line.strip()
        if joins and words and not words.startswith(("|", "- ")):
            out[-1] += " " + words
        else:
            out.append(line.rstrip())
        joins = bool(words) and not words.startswith("|")
    return "\n".join(out).strip("\n")


def _root(root: Traversable | None) -> Traversable:
    return files("tavolata").joinpath("seeds") if root is None else root


def _game_folder(game_id: str, root: Traversable | None) -> Traversable:
    seeds = _root(root)
    folders = sorted(item.name for item in seeds.iterdir() if _NAME.fullmatch(item.name))
    if game_id not in folders:
        raise SeedError(repr(game_id), "game id", f"must be one of {', '.join(folders)}")
    return seeds.joinpath(game_id)


def _read_text(folder: Traversable, game_id: str, filename: str) -> str:
    path = folder.joinpath(filename)
    if not path.is_file():
        raise SeedError(f"{game_id}/{filename}", "file", "does not exist")
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise SeedError(f"{game_id}/{filename}", f"byte {error.start}", "is not UTF-8") from None


@lru_cache(maxsize=32)
def _validator(file: str, schema_text: str) -> Draft202012Validator:
    """Cached: checking a schema takes several times as long as using it."""
    schema = _parse_json(schema_text, file)
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        raise SeedError(file, _place(error.absolute_path), error.message) from None
    return Draft202012Validator(schema)


def _parse_json(text: str, file: str) -> Any:
    def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for key, value in pairs:
            if key in made:
                raise SeedError(file, f"key {key!r}", "occurs twice in one object")
            made[key] = value
        return made

    def no_constant(constant: str) -> Any:
        raise SeedError(file, f"number {constant}", "is not JSON")

    try:
        return json.loads(text, object_pairs_hook=unique_keys, parse_constant=no_constant)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise SeedError(file, place, error.msg) from None


def _place(path: Any) -> str:
    """A JSON path as people write it: kinds[3].count, or `top level`."""
    parts = (f"[{key}]" if isinstance(key, int) else f".{key}" for key in path)
    return "".join(parts).lstrip(".") or "top level"
