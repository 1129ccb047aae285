"""Reading a line of text: what is wrong is told with the word it stands in."""

from __future__ import annotations

import pytest

from tavolata.ext.core.line import Words, items, number, place, split
from tavolata.ext.core.match import Match
from tavolata.ext.registry import GAMES


def test_a_word_is_read_by_its_key() -> None:
    words = Words("round=2  left=a=b empty=")
    assert words.read("round", int) == 2
    assert words.read("left", str) == "a=b"
    assert words.read("empty", str) == ""
    with pytest.raises(ValueError, match="the position has no word 'right'"):
        words.read("right", str)
    with pytest.raises(
        ValueError, match=r"^left=a=b: 'a=b' is no number; numbers here are 0 to 9$"
    ):
        words.read("left", lambda text: number(text, 0, 9))


def test_parts_numbers_and_names_say_what_is_wanted() -> None:
    assert items("-") == []
    assert items("2C.KH") == ["2C", "KH"]
    assert split("1/2", "/", 2) == ["1", "2"]
    with pytest.raises(ValueError, match="has 2 parts between '/', 3 are wanted"):
        split("1/2", "/", 3)
    assert number("-4", -4, 4) == -4
    with pytest.raises(ValueError, match="5 is not -4 to 4"):
        number("5", -4, 4)
    assert place("b", ("a", "b")) == 1
    with pytest.raises(ValueError, match="'c' is none of a, b"):
        place("c", ("a", "b"))


@pytest.mark.parametrize("game_id", list(GAMES))
@pytest.mark.parametrize("wrong", ["?", "", "9999999", "99/99", "1.?"])
def test_a_position_names_the_word_that_is_wrong(game_id: str, wrong: str) -> None:
    game = GAMES[game_id].make(3)
    words = game.format_state(Match(game, bytes(32)).state_bytes()).split()
    for at, word in enumerate(words):
        key = word.partition("=")[0]
        broken = " ".join([*words[:at], f"{key}={wrong}", *words[at + 1 :]])
        with pytest.raises(ValueError, match=f"^{key}="):
            game.parse_state(broken)


def test_a_round_whose_suit_counts_needs_one_drawn() -> None:
    game = GAMES["bouillabaisse"].make(3)
    line = game.format_state(Match(game, bytes(32)).state_bytes())
    with pytest.raises(ValueError, match="no suit is drawn, but it counts in round 2"):
        game.parse_state(line.replace("round=1", "round=2"))
