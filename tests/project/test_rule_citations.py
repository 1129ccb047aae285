"""Rules are cited: every rule of a registered game by a test, and nothing that is no rule anywhere.

A citation is a rule id in a Python string, comment or table of the tests; a span like `BO-9 to
BO-14` cites what is between.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from tavolata.ext.core import seeds
from tavolata.ext.registry import GAMES

ROOT = Path(__file__).parents[2]
SEEDS = ROOT / "seeds"
NO_RULE = ("-98", "-99")  # numbers that tests of unknown rules use; no game has so many
RULED_GAMES = sorted(path.parent.name for path in SEEDS.glob("*/rules.md"))

# Modules of tests, and the tables that they read. Models and docstrings of engines are no tests.
TESTS = [
    path
    for pattern in ("**/test_*.py", "games/*/cases*.py", "games/*/counts.txt")
    for path in sorted((ROOT / "tests").glob(pattern))
    if path != Path(__file__)
]
SOURCES = [
    path
    for folder in ("ext", "ai", "service", "tests", "proto", "docs")
    for path in sorted((ROOT / folder).rglob("*"))
    if path.suffix in (".py", ".pyx", ".pxi", ".pxd", ".pyi", ".proto", ".md", ".txt")
]


@cache
def rule_ids() -> frozenset[str]:
    """Every rule of every game, and those of all games together."""
    documents = [seeds.conventions(), *map(seeds.rules, RULED_GAMES)]
    return frozenset(rule for document in documents for rule in document.by_id)


@cache
def citation() -> re.Pattern[str]:
    prefixes = sorted({rule.split("-")[0] for rule in rule_ids()}, key=len, reverse=True)
    return re.compile(rf"(?<![\w-])(?:{'|'.join(prefixes)})-\d+(?![\w-]|\.\d)")


def cited_in(text: str) -> set[str]:
    """The ids in a text, those within a span included."""
    cited = set(citation().findall(text))
    for first, last in re.findall(rf"({citation().pattern}) to ({citation().pattern})", text):
        prefix, low = first.split("-")
        high = last.split("-")[1]
        cited |= {f"{prefix}-{number}" for number in range(int(low), int(high) + 1)}
    return cited


@pytest.mark.parametrize("game", GAMES)
def test_every_rule_of_a_game_is_cited_by_a_test(game: str) -> None:
    cited = set().union(*(cited_in(path.read_text(encoding="utf-8")) for path in TESTS))
    missing = [rule.id for rule in seeds.rules(game).rules if rule.id not in cited]
    assert not missing, f"no test cites {', '.join(missing)}"


def test_the_rules_of_all_games_are_cited_by_a_test() -> None:
    cited = set().union(*(cited_in(path.read_text(encoding="utf-8")) for path in TESTS))
    assert set(seeds.conventions().by_id) <= cited


def test_every_cited_rule_exists() -> None:
    unknown = {
        f"{path.relative_to(ROOT)}: {rule}"
        for path in SOURCES
        for rule in cited_in(path.read_text(encoding="utf-8")) - rule_ids()
        if not rule.endswith(NO_RULE)
    }
    assert not unknown
    assert not [rule for rule in rule_ids() if rule.endswith(NO_RULE)]


def test_a_span_cites_what_is_between_and_a_longer_word_nothing() -> None:
    assert cited_in("BO-9 to BO-12, MD-3") == {"BO-9", "BO-10", "BO-11", "BO-12", "MD-3"}
    assert cited_in("TABO-9 BO-9x XMD-3 md-3 BO-") == set()
