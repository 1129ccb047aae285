"""Reports: every form holds what the summary says, whatever is in a label."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from itertools import combinations
from math import dist, inf
from xml.etree import ElementTree

import pytest
from jsonschema import Draft202012Validator
from rich.console import Console

from tavolata.ai.arena.tournament import report, results
from tavolata.ai.arena.tournament.model import Fault, FaultKind, MatchPlan
from tavolata.ai.arena.tournament.report import ink, words
from tavolata.ai.arena.tournament.report.figures import FIGURES, apart
from tavolata.ai.arena.tournament.report.structured import schema
from tavolata.ai.arena.tournament.summary import Summary
from tavolata.ext.registry import GAMES
from tests.ai.arena.tournament.games import entrant, field_of, play
from tests.ai.arena.tournament.simulated import by_strength, field, placed, tournament

pytestmark = pytest.mark.xdist_group("tournament report")  # one worker makes the summaries

NASTY = (
    "<script>alert(1)</script>",
    'quotes " and | and, commas',
    "$x_{2}$ [bold]--> ]]>",
    "two\nlines \x1b[31m & \u202e",
)
SHOWN = r"two\nlines \x1b[31m & \u202e"  # how the last is written where it could do harm
FETCHING = {"script", "link", "img", "iframe", "object", "embed", "base", "image"}
VOID = {"meta", "br", "link", "img", "input", "hr"}


@pytest.fixture(scope="module")
def real() -> Summary:
    """A deal or two of every game."""
    played = field_of(list(GAMES), [entrant("random"), entrant("greedy")])
    return results.summary(played, play(played, 2))


@pytest.fixture(scope="module")
def nasty() -> Summary:
    strength = dict(zip(NASTY, (0.5, 0.2, 0.0, -1.0), strict=True))
    outcomes = tournament(NASTY, 6, by_strength(strength, 0, 1))
    fault = Fault(FaultKind.CRASH, NASTY[0], 0, 0, "<b>")
    outcomes[0] = replace(outcomes[0], faults=(fault,))
    made = field(NASTY, 4)
    contest = replace(made.contests[0], name="<i>a & b</i>", options={"<u>": "<s>"})
    return results.summary(replace(made, contests=(contest,)), outcomes)


@pytest.fixture(scope="module")
def real_page(real: Summary) -> str:
    return report.html(real, "A title")


@pytest.fixture(scope="module")
def nasty_page(nasty: Summary) -> str:
    return report.html(nasty, "<script>title</script>")


@cache
def edge_cases() -> dict[str, Summary]:
    """Summaries in which something is missing."""
    pair = MatchPlan(0, 0, 0, 0, 0, 0, ("a", "b"))
    return {
        "nothing": results.summary(field("ab", 2), []),
        "one match": results.summary(field("ab", 2), [placed(pair, (1, 2))]),
        "all tied": results.summary(field("ab", 2), tournament("ab", 3, lambda *_: (1, 1))),
        "one player": results.summary(
            field("a", 2), [placed(replace(pair, labels=("a", "a")), (1, 2))]
        ),
        "two worlds": results.summary(
            field("abcd", 2),
            [
                placed(MatchPlan(0, 0, 0, group, deal, 0, labels), (1, 2))
                for group, labels in enumerate([("a", "b"), ("c", "d")])
                for deal in range(2)
            ],
        ),
    }


EDGES = ("nothing", "one match", "all tied", "one player", "two worlds")


class Reader(HTMLParser):
    """Reads a page as a browser would, and notes what is in it."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.wrong: list[str] = []
        self.text: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def printed(summary: Summary) -> str:
    console = Console(width=200, record=True, file=io.StringIO())
    report.terminal(summary, console)
    return console.export_text()


def svgs(page: str) -> list[str]:
    return re.findall(r"<svg.*?</svg>", page, re.DOTALL)


def test_json_is_what_the_schema_says(real: Summary, nasty: Summary) -> None:
    Draft202012Validator.check_schema(schema())
    for summary in (real, nasty):
        Draft202012Validator(schema()).validate(json.loads(report.as_json(summary)))


@pytest.mark.parametrize("case", EDGES)
def test_json_of_a_summary_with_gaps_is_what_the_schema_says(case: str) -> None:
    Draft202012Validator(schema()).validate(json.loads(report.as_json(edge_cases()[case])))


def test_the_schema_refuses_what_is_no_summary(real: Summary) -> None:
    validator = Draft202012Validator(schema())
    for change in (
        {"format": "other"},
        {"matches": -1},
        {"surprise": 1},
        {"crosstable": None},
        {"standings": [{"label": "a"}]},
    ):
        assert not validator.is_valid(json.loads(report.as_json(real)) | change)


def test_json_holds_the_numbers_of_the_summary(nasty: Summary) -> None:
    read = json.loads(report.as_json(nasty))
    assert [row["label"] for row in read["standings"]] == [row.label for row in nasty.standings]
    for row, one in zip(read["standings"], nasty.standings, strict=True):
        assert row["elo"] == {"value": one.elo.value, "low": one.elo.low, "high": one.elo.high}
    assert sum(one["counts"]["crash"] for one in read["faults"]) == 1


def test_an_unknown_bound_is_null_in_json_and_empty_in_csv() -> None:
    summary = edge_cases()["one match"]
    assert summary.standings[0].elo.high == inf
    assert json.loads(report.as_json(summary))["standings"][0]["elo"]["high"] is None
    assert rows_of(report.as_csv(summary)["standings.csv"])[0]["elo_high"] == ""


def test_csv_loads_back_label_by_label_and_digit_by_digit(nasty: Summary) -> None:
    files = report.as_csv(nasty)
    overall = [row for row in rows_of(files["standings.csv"]) if row["contest"] == ""]
    assert [row["label"] for row in overall] == [row.label for row in nasty.standings]
    for row, one in zip(overall, nasty.standings, strict=True):
        assert float(row["elo"]) == one.elo.value
        assert (float(row["elo_low"]), float(row["elo_high"])) == (one.elo.low, one.elo.high)
        assert one.skill is not None
        assert float(row["openskill_mu"]) == one.skill.mu.value
        assert int(row["rank"]) == one.rank
    crossed = rows_of(files["crosstable.csv"])
    assert len(crossed) == 2 * 12
    assert {row["label"] for row in crossed} == set(NASTY)
    counts = sum(int(row["count"]) for row in rows_of(files["places.csv"]))
    assert counts == sum(int(row["count"]) for row in rows_of(files["totals.csv"])) == 6 * 4 * 4
    faults = {row["label"]: row for row in rows_of(files["faults.csv"])}
    assert (faults[NASTY[0]]["crash"], faults[NASTY[1]]["crash"]) == ("1", "0")


@pytest.mark.parametrize("case", EDGES)
def test_every_row_of_a_csv_file_has_every_field(case: str) -> None:
    for text in report.as_csv(edge_cases()[case]).values():
        lines = list(csv.reader(io.StringIO(text, newline="")))
        assert {len(line) for line in lines} == {len(lines[0])}


def test_the_page_fetches_nothing(real_page: str, nasty_page: str) -> None:
    for page in (real_page, nasty_page):
        for tag, attributes in Reader(page).tags:
            assert tag not in FETCHING
            for name in ("src", "href", "xlink:href", "srcset", "action", "data"):
                assert (attributes.get(name) or "#").startswith("#"), (tag, attributes)
            assert not any(name.startswith("on") for name in attributes)
        assert not re.search(r"@import|url\((?!['\"]?#)", page)


def test_labels_are_text_and_nothing_else(nasty_page: str) -> None:
    reader = Reader(nasty_page)
    assert "<script" not in nasty_page.lower()
    assert {tag for tag, _ in reader.tags}.isdisjoint({"i", "u", "s", "script"})
    text = "".join(reader.text)
    for label in (*NASTY[:3], SHOWN, "<script>title</script>", "<i>a & b</i>", "<u> = <s>"):
        assert label in text


@pytest.mark.parametrize("case", EDGES)
def test_a_summary_with_gaps_makes_a_page_and_a_table(case: str) -> None:
    summary = edge_cases()[case]
    page = report.html(summary, case)
    reader = Reader(page)
    assert (reader.open, reader.wrong) == ([], [])
    assert case in "".join(reader.text)
    assert "nan" not in re.sub(r"<[^>]*>", "", page).lower()
    text = printed(summary)
    if case == "nothing":
        assert "No match has been played yet" in text
        assert not svgs(page)
    else:
        deals = "1 match over 1 deal" if summary.matches == 1 else f"{summary.matches} matches over"
        assert deals in text
    if case == "two worlds":
        assert "Not everybody" in page
        assert "Not everybody" in text


def test_the_page_is_well_formed_and_its_ids_are_unique(real_page: str) -> None:
    reader = Reader(real_page)
    assert (reader.open, reader.wrong) == ([], [])
    ids = [attributes["id"] for _, attributes in reader.tags if attributes.get("id")]
    assert len(ids) == len(set(ids))
    known = set(ids)
    links = re.findall(r'(?:href="|url\()#([^")]+)', real_page)
    assert links
    assert set(links) <= known


def test_every_plot_is_xml_with_a_name_for_each_axis(real: Summary, real_page: str) -> None:
    # Ratings, crosstable, convergence, two of times, seats; and three of every game.
    assert len(svgs(real_page)) == 6 + 3 * 5
    expected = {
        "ratings": ["Elo points"],
        "crosstable": ["%"],
        "times": ["ms"],
        "convergence": ["Elo points", "deals"],
        "strength_and_time": ["Elo points", "ms"],
        "places": ["seat", "%"],
        "seats": ["seat", "%"],
        "totals": ["points"],
    }
    assert set(expected) == set(FIGURES)
    for name, units in expected.items():
        subject = {
            "crosstable": real.crosstable,
            "places": real.contests[0],
            "totals": real.contests[0],
        }.get(name, real)
        root = ElementTree.fromstring(FIGURES[name](subject))  # noqa: S314 # we made it
        text = " ".join("".join(node.itertext()) for node in root.iter() if node.tag[-4:] == "text")
        assert all(unit in text for unit in units), (name, text)


def test_every_plot_is_a_file_of_its_own(nasty: Summary) -> None:
    files = report.as_svgs(nasty)
    assert len(files) == 6 + 3
    assert "1--i-a-b-i--places.svg" in files
    for name, text in files.items():
        assert re.fullmatch(r"[a-zA-Z0-9_-]+\.svg", name)
        assert ElementTree.fromstring(text).tag.endswith("svg")  # noqa: S314 # we made it
        assert "var(" not in text
    assert report.as_svgs(edge_cases()["nothing"]) == {}


def test_equal_summaries_give_equal_texts_without_a_date(nasty: Summary, nasty_page: str) -> None:
    assert report.html(nasty, "<script>title</script>") == nasty_page
    assert report.as_json(nasty) == report.as_json(nasty)
    assert not re.search(r"20\d\d-\d\d-\d\d", nasty_page)


def test_a_label_commands_no_terminal(nasty: Summary) -> None:
    text = printed(nasty)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert SHOWN in text
    assert "[bold]" in text
    assert NASTY[0] in text


def test_the_terminal_shows_every_contest_and_faults_only_where_there_are_some(
    real: Summary, nasty: Summary
) -> None:
    text = printed(real)
    for part in real.contests:
        assert f"{part.contest.name}: {part.contest.seats} seats" in text
    assert "faults" not in text
    assert "faults" in printed(nasty)


@pytest.mark.parametrize(
    ("value", "digits", "signed", "text"),
    [
        (1234.56, 1, False, "1,234.6"),
        (-0.04, 1, True, "0.0"),
        (-3.0, 0, False, "\N{MINUS SIGN}3"),
        (3.2, 0, True, "+3"),
        (0.0, 0, True, "0"),
    ],
)
def test_numbers_are_written_for_people(value: float, digits: int, signed: bool, text: str) -> None:
    assert words.number(value, digits, signed=signed) == text


def linear(colour: str) -> list[float]:
    """Red, green and blue of linear light (IEC 61966-2-1)."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]


def times_matrix(rows: Sequence[Sequence[float]], values: Sequence[float]) -> list[float]:
    return [sum(a * b for a, b in zip(row, values, strict=True)) for row in rows]


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2 defines it."""
    return times_matrix([(0.2126, 0.7152, 0.0722)], linear(colour))[0]


def cielab(light: Sequence[float]) -> list[float]:
    """CIE 1976 L*a*b* of linear sRGB under D65."""
    to_xyz = [
        (0.4124 / 0.9505, 0.3576 / 0.9505, 0.1805 / 0.9505),
        (0.2126, 0.7152, 0.0722),
        (0.0193 / 1.089, 0.1192 / 1.089, 0.9505 / 1.089),
    ]
    inside = [min(max(part, 0.0), 1.0) for part in light]
    x, y, z = (
        part ** (1 / 3) if part > 0.008856 else 7.787 * part + 16 / 116
        for part in times_matrix(to_xyz, inside)
    )
    return [116 * y - 16, 500 * (x - y), 200 * (y - z)]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("paper", [0, 1])
def test_text_and_marks_stand_out_on_light_and_on_dark_paper(paper: int) -> None:
    background = ink.COLOURS["paper"][paper]
    for name, colours in ink.COLOURS.items():
        if name in ("ink", "soft"):
            assert contrast(colours[paper], background) >= 4.5, name
        elif name.startswith("series"):
            assert contrast(colours[paper], background) >= 3, name


# Machado, Oliveira and Fernandes 2009, severity 1.0, on linear light.
SIGHT: dict[str, Sequence[Sequence[float]]] = {
    "normal": [(1, 0, 0), (0, 1, 0), (0, 0, 1)],
    "protanopia": [
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ],
    "deuteranopia": [
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ],
    "tritanopia": [
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ],
}


@pytest.mark.parametrize("paper", [0, 1])
@pytest.mark.parametrize("sight", SIGHT)
def test_series_are_told_apart_with_any_sight(sight: str, paper: int) -> None:
    seen = {
        name: cielab(times_matrix(SIGHT[sight], linear(colours[paper])))
        for name, colours in ink.COLOURS.items()
        if name.startswith("series")
    }
    for (name, one), (other, two) in combinations(seen.items(), 2):
        # A difference of 2.3 can just be noticed side by side; lines and dots are small.
        assert dist(one, two) > 25, (name, other)


def test_every_colour_of_a_plot_in_the_page_has_a_dark_twin(real_page: str) -> None:
    for svg in svgs(real_page):
        bare = re.sub(r"var\(--[a-z0-9-]+, #[0-9a-f]{6}\)", "", svg)
        for light, _ in ink.COLOURS.values():
            assert light not in bare


def test_series_differ_in_colour_and_marker() -> None:
    looks = [ink.series(number)[:2] for number in range(49)]
    assert len(set(looks)) == 49


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ([5.0, 5.0], [5.0, 6.0]),
        ([0.0, 9.9, 10.0], [0.0, 9.0, 10.0]),
        ([7.0, 2.0], [7.0, 2.0]),
    ],
)
def test_names_are_moved_apart_in_their_order(
    wanted: Sequence[float], expected: Sequence[float]
) -> None:
    assert apart(wanted, 1.0, 0.0, 10.0) == expected
