"""What decided a tournament is in every form of its report: verdicts, rounds, brackets."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from functools import cache

import pytest
from jsonschema import Draft202012Validator

from tavolata.ai.arena.tournament import report, results
from tavolata.ai.arena.tournament.course import courses
from tavolata.ai.arena.tournament.model import MatchPlan
from tavolata.ai.arena.tournament.report import words
from tavolata.ai.arena.tournament.report.structured import schema
from tavolata.ai.arena.tournament.specification import load
from tavolata.ai.arena.tournament.summary import Summary
from tests.ai.arena.tournament.made_up import crash, play_all
from tests.ai.arena.tournament.simulated import field, placed

pytestmark = pytest.mark.xdist_group("tournament report")

BASE = """
games = [{ game = "mister_bill" }]
faults.faults_max = 3
[[entrants]]
player = "random"
label = "<p{iterations}>"
iterations = [1, 2, 3, 4, 5]
"""
COUNT = '[stop]\nrule = "count"\ndeals = 4'
SPRT = '[stop]\nrule = "sprt"\ndeals = 100\nh0 = -0.05\nh1 = 0.05'
FORMATS = {
    "knock_out": f'[format]\nkind = "knock_out"\n{COUNT}',
    "swiss": f'[format]\nkind = "swiss"\nrounds = 3\n{COUNT}',
    "gauntlet": f'[format]\nkind = "gauntlet"\nchallengers = ["<p3>"]\n{SPRT}',
    "mixed": f'[format]\nkind = "mixed"\n{SPRT}',
}


@cache
def told(kind: str, fault: str = "") -> Summary:
    """A little summary with the courses of a tournament in which the higher number is better."""
    spec = load(BASE + FORMATS[kind])

    def utility(label: str, plan: MatchPlan) -> float:
        return 0.1 * int(label[2]) + (0.02 if (plan.deal + int(label[2])) % 2 else -0.02)

    done = play_all(
        spec.schedule(), utility, lambda plan: [crash(fault)] if fault in plan.labels else []
    )
    found, withdrawn = courses(spec, lambda block: [one for one in done if one.plan.block == block])
    pair = MatchPlan(0, 0, 0, 0, 0, 0, ("a", "b"))
    little = results.summary(field("ab", 2), [placed(pair, (1, 2))])
    return replace(little, courses=found, withdrawn=withdrawn)


def meetings(kind: str, fault: str = "") -> str:
    """The section of the page, without tags."""
    page = report.html(told(kind, fault), "A title")
    section = re.search(r'<section id="meetings">.*?</section>', page, re.DOTALL)
    assert section is not None
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", section.group()))


@pytest.mark.parametrize("kind", FORMATS)
def test_courses_in_json_are_what_the_schema_says(kind: str) -> None:
    read = json.loads(report.as_json(told(kind)))
    Draft202012Validator(schema()).validate(read)
    assert read["courses"][0]["format"] == kind


def test_a_bracket_is_on_the_page_round_by_round_with_its_winner() -> None:
    text = meetings("knock_out")
    assert "3 rounds over" in text
    assert "winner: &lt;p5&gt;" in text
    # Five entrants: one meeting and three byes, two semi-finals, one final, which is between the
    # better halves of the bracket.
    rows = told("knock_out").courses[0].encounters
    assert [row.round for row in rows] == [1, 1, 1, 1, 2, 2, 3]
    assert text.count("no opponent") == 3
    assert rows[-1].winner == "<p5>"


def test_swiss_rounds_are_on_the_page_with_the_points() -> None:
    text = meetings("swiss")
    assert "Points after 3 rounds: &lt;p4&gt; 3.0, &lt;p5&gt; 3.0," in text
    rows = told("swiss").courses[0].encounters
    assert [row.round for row in rows] == [1, 1, 1, 2, 2, 2, 3, 3, 3]
    # The higher number is better in every meeting.
    assert all(row.winner == max(row.first, row.second or "") for row in rows)


def test_verdicts_of_a_test_are_on_the_page_with_its_hypotheses() -> None:
    text = meetings("gauntlet")
    assert f"SPRT of a mean difference of {words.MINUS}0.05 (h0) against 0.05 (h1)" in text
    assert (text.count("h1 accepted"), text.count("h0 accepted")) == (2, 2)
    rows = csv.DictReader(io.StringIO(report.as_csv(told("gauntlet"))["encounters.csv"]))
    assert {(row["second"], row["verdict"]) for row in rows} == {
        ("<p1>", "h1"),
        ("<p2>", "h1"),
        ("<p4>", "h0"),
        ("<p5>", "h0"),
    }


def test_every_two_at_mixed_tables_have_a_verdict_and_no_winner() -> None:
    (course,) = told("mixed").courses
    assert len(course.encounters) == 10
    # In the order of the file the second is the better one.
    assert all(one.verdict == "h0" and one.winner is None for one in course.encounters)


def test_who_was_withdrawn_is_on_the_page() -> None:
    text = meetings("gauntlet", "<p2>")
    assert "&lt;p2&gt; was withdrawn for its faults." in text
    assert "one was withdrawn" in text


def test_a_page_of_matches_alone_has_no_section_of_meetings() -> None:
    page = report.html(replace(told("mixed"), courses=()), "A title")
    assert 'id="meetings"' not in page
    assert '"#meetings"' not in page
