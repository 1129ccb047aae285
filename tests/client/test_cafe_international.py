"""Café International's board in the terminal: drawn, told, and what chairs score."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tavolata.service.terminal.cafe_board import Board, guest, guests
from tavolata.service.terminal.games import cafe_international as screen
from tavolata.service.terminal.screen import drawing_of, screen_of
from tavolata.v1 import cafe_international_pb2 as pb
from tavolata.v1 import game_pb2, view_pb2
from tests.service.from_messages import action_name

BOARD = json.loads(
    (Path(__file__).parents[2] / "seeds" / "cafe_international" / "board.json").read_text("utf-8")
)
NONE = pb.CAFE_INTERNATIONAL_NATION_UNSPECIFIED


def kind(name: str) -> pb.CafeInternationalGuest.ValueType:
    return pb.CafeInternationalGuest.Value(f"CAFE_INTERNATIONAL_GUEST_{name.upper()}")


def nation(name: str) -> pb.CafeInternationalNation.ValueType:
    return pb.CafeInternationalNation.Value(f"CAFE_INTERNATIONAL_NATION_{name.upper()}")


def view_with(**fields: object) -> pb.CafeInternationalView:
    """A view with guests given as `{chair: name}`, `name as nation` for declared jokers."""
    sitting = fields.pop("guests", {})
    assert isinstance(sitting, dict)
    made = pb.CafeInternationalView(**fields)  # type: ignore[arg-type]
    for chair, text in sorted(sitting.items()):
        name, _, declared = text.partition(" as ")
        made.guests.add(
            chair=chair, guest=kind(name), nation=nation(declared) if declared else NONE
        )
    return made


def test_the_drawing_has_every_table_and_free_chair_once_and_fits_a_terminal() -> None:
    rows = Board(view_with()).drawing().splitlines()
    cells = " ".join(rows[:13]).split()
    assert sorted(int(cell) for cell in cells if cell.isdecimal()) == list(range(1, 69))
    tables = [cell for cell in cells if cell.startswith("[")]
    assert sorted(int(cell[3:-1]) for cell in tables) == list(range(1, 25))
    assert all(len(row) <= 78 for row in rows[:13])


def test_every_cell_of_the_drawing_is_where_the_board_has_it() -> None:
    rows = Board(view_with()).drawing().splitlines()
    for row in (*BOARD["tables"], *BOARD["chairs"]):
        cell = rows[row["row"]][6 * row["column"] : 6 * row["column"] + 6].strip()
        shown = cell[3:-1] if "nation" in row else cell
        assert shown == str(row["id"])


def test_guests_are_drawn_by_nation_and_sex() -> None:
    board = Board(view_with(guests={8: "italy_woman", 45: "joker_man as turkey", 1: "joker_woman"}))
    cells = (
        " ".join(board.drawing().splitlines()[:13]).replace("[", " [").replace("]", "] ").split()
    )
    assert {"ITw", "JOm:TR", "JOw"} <= set(cells)
    assert not {"8", "45", "1"} & set(cells)


TABLE_6 = {6: "spain_woman", 13: "spain_man", 19: "spain_woman"}  # Spain, and 12 is China's too


@pytest.mark.parametrize(
    ("sitting", "name", "chair", "declared", "points"),
    [
        ({}, "spain_man", 13, "", 0),
        ({13: "spain_woman"}, "spain_man", 6, "", 2),
        ({13: "spain_woman", 6: "spain_man"}, "spain_man", 19, "", 3),
        (TABLE_6, "spain_man", 12, "", 8),
        (TABLE_6, "china_man", 12, "", 4),
        (TABLE_6, "joker_man", 12, "", 8),
        (TABLE_6, "joker_man", 12, "spain", 8),
        (TABLE_6, "joker_man", 12, "china", 4),
        (TABLE_6 | {5: "china_woman", 11: "china_man", 18: "china_woman"}, "joker_man", 12, "", 16),
        (
            TABLE_6 | {5: "china_woman", 11: "china_man", 18: "china_woman"},
            "spain_man",
            12,
            "",
            8 + 4,
        ),
    ],
)
def test_a_chair_scores_by_ci_12_to_14(
    sitting: dict[int, str], name: str, chair: int, declared: str, points: int
) -> None:
    board = Board(view_with(guests=sitting))
    assert board.points(kind(name), chair, nation(declared) if declared else NONE) == points


def test_birthday_tables_score_double() -> None:
    board = Board(view_with(guests=TABLE_6, birthday=nation("spain")))
    assert board.points(kind("spain_man"), 12, NONE) == 16
    assert board.points(kind("china_man"), 12, NONE) == 8


def test_a_guest_who_would_be_alone_or_out_of_balance_needs_another() -> None:
    board = Board(view_with(guests={6: "spain_woman", 13: "spain_man", 2: "italy_man"}))
    assert board.needs_another(kind("cuba_man"), 36)
    assert board.needs_another(kind("italy_man"), 9)
    assert not board.needs_another(kind("italy_woman"), 9)
    assert not board.needs_another(kind("spain_man"), 19)


def test_what_is_to_be_mended_is_told() -> None:
    view = view_with(guests={6: "spain_woman", 13: "spain_woman", 36: "cuba_man"})
    board = Board(view)
    assert board.to_mend([6]) == ["Spain (table 6) has 2 women and 0 men"]
    assert board.to_mend([36]) == ["the guest on chair 36 is alone"]
    view.parties.append(6)
    assert Board(view).to_mend([6]) == []


def test_tables_are_told_by_nation_with_guests_and_free_chairs() -> None:
    told = Board(view_with(guests={8: "italy_man"})).told()
    assert told.startswith(
        "Africa (table 1): Italy man on chair 8; free: 1, 7 and 14 (also table 20, Africa). "
        "Italy (table 2): Italy man on chair 8; free: 2, 9 (also table 3, Italy) and "
        "15 (also table 21, Great Britain). Empty: Africa (20), China (4 and 5), "
    )


def test_guests_are_counted_in_words() -> None:
    assert guest(kind("joker_man")) == "joker man"
    held = [kind("usa_woman"), kind("usa_woman"), kind("italy_man")]
    assert guests(held) == "2 USA women and Italy man"
    assert guests([]) == "nobody"


def test_choices_are_the_legal_actions_and_then_what_is_not_allowed() -> None:
    def seat(name: str, chair: int) -> game_pb2.Action:
        made = pb.CafeInternationalSeatGuest(guest=kind(name), chair=chair)
        return game_pb2.Action(cafe_international=pb.CafeInternationalAction(seat=made))

    game = view_with(
        guests={6: "spain_woman", 13: "spain_man"},
        phase=pb.CAFE_INTERNATIONAL_PHASE_TURN,
        seats=[pb.CafeInternationalSeat(hand=[kind("spain_man"), kind("cuba_man")], hand_limit=5)],
    )
    view = view_pb2.View(
        viewer_seat=0,
        game=game_pb2.GameView(cafe_international=game),
        legal_actions=[seat("spain_man", 12), seat("spain_man", 19)],
    )
    choices = screen.choices(view)
    assert [choice.name for choice in choices[:2]] == [
        "Spain man on chair 12 for +3",
        "Spain man on chair 19 for +3",
    ]
    others = [action_name("cafe_international", choice.action) for choice in choices[2:]]
    # Spain's other free chairs are those of table 7, Cuba's those of tables 18 and 19.
    assert others == [
        *(f"seat spain_man {chair}" for chair in (24, 25, 29)),
        *(f"seat cuba_man {chair}" for chair in (26, 30, 31, 34, 36, 37, 40)),
    ]


def test_only_games_with_a_board_are_drawn() -> None:
    empty = view_pb2.View(game=game_pb2.GameView(cafe_international=view_with()))
    assert "[AF1]" in drawing_of(screen_of("cafe_international"), empty)
    assert drawing_of(screen_of("mino_dice"), empty) == ""
