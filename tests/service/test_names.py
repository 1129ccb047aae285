"""Display names: people's names in any script, and nothing that could fake or hide text."""

from __future__ import annotations

import sys
import unicodedata

import grpc
import pytest

from tavolata.service.refusals import VALUE_BYTES_MAX, Refused
from tavolata.service.tables.names import ALLOWED, check_name
from tests.service.house import OPEN, House, fresh_id, refused


@pytest.mark.parametrize(
    "name",
    [
        "",
        "Ada Lovelace",
        "Søren Kierkegård-Ωμέγα",
        "עדה לבלייס",
        "عدا لوفليس",
        "می\u200cخواهم",  # Persian writes a non-joiner within words
        "क्\u200dष",
        "アダ\u3000ラブレス",
        "\N{MAN}\u200d\N{ROCKET}",
        "\N{WAVING WHITE FLAG}\ufe0f\u200d\N{RAINBOW}",
        "a" * 64,
    ],
)
def test_names_of_people_are_taken_as_they_are(name: str) -> None:
    assert check_name(name, "display_name") == name


@pytest.mark.parametrize(
    "name, told",
    [
        ("a" * 65, "has 65 characters"),
        ("admin\u202enimda", "has the character U+202E"),
        ("\u2066Ada\u2069", "U+2066"),
        ("Ada\u200f", "U+200F"),
        ("\u061cAda", "U+061C"),
        ("Ada\u2028seat 2 resigned", "U+2028"),
        ("Ada\u2029", "U+2029"),
        ("Ada\x85", "U+0085"),
        ("Ada\x7f", "U+007F"),
        ("\x1b[2J", "U+001B"),
        ("A\u200bda", "U+200B"),
        ("\ufeffAda", "U+FEFF"),
        ("A\u00adda", "U+00AD"),
        ("\U000e0041", "U+E0041"),
        ("\u3164", "U+3164"),
        ("\u2800", "U+2800"),
        ("\ue000", "U+E000"),
        ("\ufdd0", "U+FDD0"),
        ("\u200dAda", "U+200D joining nothing"),
        ("Ada\u200c", "U+200C joining nothing"),
        ("A\u200d\u200dda", "U+200D joining nothing"),
        ("A \u200dda", "U+200D joining nothing"),
    ],
)
def test_what_could_fake_or_hide_text_is_refused_with_what_is_allowed(name: str, told: str) -> None:
    with pytest.raises(Refused) as caught:
        check_name(name, "display_name")
    assert told in caught.value.message
    assert caught.value.message.endswith(ALLOWED)
    assert caught.value.metadata["allowed"] == ALLOWED


def test_no_character_that_controls_or_turns_text_is_taken_anywhere() -> None:
    for number in range(sys.maxunicode + 1):
        sign = chr(number)
        turns = unicodedata.bidirectional(sign) in {
            *("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI", "BN", "B", "S"),
        }
        if not turns or sign in "\u200c\u200d":
            continue
        with pytest.raises(Refused):
            check_name(f"a{sign}b", "display_name")


def test_the_refusal_fits_what_a_refusal_may_hold() -> None:
    assert len(ALLOWED.encode()) <= VALUE_BYTES_MAX


async def test_nobody_sits_down_under_such_a_name(house: House) -> None:
    made = await house.create([OPEN, OPEN])
    found = await refused(
        house.join(made.table.table_id, name="Ada\u202e", request_id=(request_id := fresh_id()))
    )
    assert (found.code, found.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_FIELD")
    assert found.fields == ("display_name",)
    joined = await house.join(made.table.table_id, name="Ada", request_id=request_id)
    assert joined.table.seats[joined.seat].occupant.person.display_name == "Ada"
