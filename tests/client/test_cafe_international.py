"""Café International's board in the terminal: drawn, told, and what chairs score."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tavolata.client import Connection, RetryPolicy, connect
from tavolata.service.terminal.cafe_board import Board, guest, guests
from tavolata.service.terminal.games import cafe_international as screen
from tavolata.service.terminal.voice import Voice
from tavolata.v1 import cafe_international_pb2 as pb
from tavolata.v1 import game_pb2, score_pb2, view_pb2
from tests.client.positions import Desk, table_of
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
    assert board.to_mend([6]) == ["Spain (table 6) has 2 women and no men"]
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


def seat(name: str, chair: int) -> game_pb2.Action:
    made = pb.CafeInternationalSeatGuest(guest=kind(name), chair=chair)
    return game_pb2.Action(cafe_international=pb.CafeInternationalAction(seat=made))


def at_table_6() -> view_pb2.View:
    """Spain's table 6 has a woman and a man; a man of Spain may join them."""
    game = view_with(
        guests={6: "spain_woman", 13: "spain_man"},
        phase=pb.CAFE_INTERNATIONAL_PHASE_TURN,
        seats=[
            pb.CafeInternationalSeat(hand=[kind("spain_man"), kind("cuba_man")], hand_limit=5),
            *[pb.CafeInternationalSeat(hand=[kind("usa_woman")], hand_limit=5)] * 3,
        ],
    )
    bar = pb.CafeInternationalBarGuest(guest=kind("cuba_man"))
    return view_pb2.View(
        viewer_seat=0,
        turn=4,
        seats_to_act=[0],
        scores=score_pb2.ScoreSheet(totals=[5, 0, -2, 9], places=[2, 3, 4, 1]),
        game=game_pb2.GameView(cafe_international=game),
        legal_actions=[
            seat("spain_man", 12),
            seat("spain_man", 19),
            game_pb2.Action(cafe_international=pb.CafeInternationalAction(bar=bar)),
        ],
    )


@pytest.fixture
async def server() -> AsyncIterator[Connection]:
    """Nobody listens there: these keys are answered from what the client knows."""
    async with connect("127.0.0.1:9", policy=RetryPolicy(call_s=0.2)) as connection:
        yield connection


@pytest.fixture
def desk(server: Connection) -> Desk:
    return Desk(server, at_table_6(), table_of("cafe_international"))


def test_choices_are_the_legal_actions_and_then_what_is_not_allowed(desk: Desk) -> None:
    choices = screen.choices(at_table_6(), desk.session.room)
    assert [choice.name for choice in choices[:3]] == [
        "Spain man on chair 12 for +3",
        "Spain man on chair 19 for +3",
        "Cuba man to the bar for +1",
    ]
    others = [action_name("cafe_international", choice.action) for choice in choices[3:]]
    # Spain's other free chairs are those of table 7, Cuba's those of tables 18 and 19.
    assert others == [
        *(f"seat spain_man {chair}" for chair in (24, 25, 29)),
        *(f"seat cuba_man {chair}" for chair in (26, 30, 31, 34, 36, 37, 40)),
    ]
    assert choices[3].name == "Spain man on chair 24, alone"


def test_what_a_forbidden_chair_would_break_is_said(desk: Desk) -> None:
    view = at_table_6()
    view.game.cafe_international.guests.add(chair=19, guest=kind("spain_man"))
    del view.legal_actions[:2]
    names = [choice.name for choice in screen.choices(view, desk.session.room)]
    assert "Spain man on chair 12, after which Spain (table 6) has 1 woman and 3 men" in names


def test_a_turn_tells_totals_the_bar_ones_guests_and_the_choices(desk: Desk) -> None:
    assert desk.turn(at_table_6()) == (
        "Your turn. Totals: you 5, Bruno 0, AI 2 minus 2, Anna (seat 3) 9. The next place at the "
        "bar, 1 of 20, gives 1. You hold 2 guests: Spain man and Cuba man. Choose: #1 Spain man on "
        "chair 12 for +3; #2 Spain man on chair 19 for +3; #3 Cuba man to the bar for +1."
    )


async def test_l_has_a_line_for_chairs_that_come_to_the_same(desk: Desk) -> None:
    assert (await desk.said("l")).splitlines() == [
        "You hold 2 guests: Spain man and Cuba man. You may seat guests, use the bar or swap:",
        "Spain man for +3, on chair 12 or 19.",
        "To the bar for +1: Cuba man.",
        "10 others are not allowed now; W and a name says why.",
    ]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("spain 12", "Spain man on chair 12 for +3"),
        ("s m 19", "Spain man on chair 19 for +3"),
        ("bar cuba", "Cuba man to the bar for +1"),
        ("cuba bar", "Cuba man to the bar for +1"),
    ],
)
async def test_a_guest_is_chosen_with_its_chair_or_the_bar(
    desk: Desk, text: str, name: str
) -> None:
    assert (await desk.said(text)).startswith(f"Chosen: {name}. ")


async def test_a_chair_is_meant_by_its_whole_number(server: Connection) -> None:
    view = at_table_6()
    del view.legal_actions[:]
    view.legal_actions.extend(seat("spain_man", chair) for chair in (2, 22, 29))
    desk = Desk(server, view, table_of("cafe_international"))
    assert (await desk.said("spain 2")).startswith("Chosen: Spain man on chair 2 for ")


async def test_a_text_that_fits_a_crowd_of_choices_does_not_tell_them_all(desk: Desk) -> None:
    view = at_table_6()
    del view.legal_actions[:]
    view.legal_actions.extend(seat("joker_woman", chair) for chair in range(30, 50))
    desk.turn(view)
    said = await desk.said("joker")
    assert said == (
        "'joker' fits 20 choices, joker woman on chair 30 for +0, needs another for one. L lists."
    )


def test_full_tables_are_told_by_number_only() -> None:
    full = {6: "spain_woman", 12: "spain_man", 13: "spain_woman", 19: "spain_man"}
    told = Board(view_with(guests=full)).told()
    assert "Full: Spain (6). Empty: " in told
    assert "Spain (table 6)" not in told
    assert "China (table 5): Spain man on chair 12; free: " in told


async def test_the_board_is_drawn_at_every_turn_once_asked_for(desk: Desk) -> None:
    assert "[ES6]" in await desk.said("d")
    assert await desk.said("d on") == "From now on the board is drawn whenever it is your turn."
    assert "[ES6]" in desk.turn(at_table_6())
    assert await desk.said("d off") == "From now on the board is drawn when you type D."


async def test_a_narrow_terminal_is_told_that_the_board_does_not_fit(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Voice, "columns", 60)
    assert await desk.said("d") == (
        "The board needs 78 columns and the terminal has 60. C tells the tables in words."
    )


async def test_why_groups_chairs_and_asks_about_no_more_than_the_server_explains(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[game_pb2.Action] = []

    async def explain(actions: list[game_pb2.Action]) -> list[view_pb2.ActionExplanation]:
        asked.extend(actions)
        return [view_pb2.ActionExplanation(action=each, rule_id="CI-7") for each in actions]

    view = at_table_6()
    hand = view.game.cafe_international.seats[0].hand
    nations = ("china", "cuba", "france", "germany", "india", "italy", "russia", "turkey", "usa")
    hand.extend(kind(f"{each}_woman") for each in nations)
    desk.turn(view)
    monkeypatch.setattr(desk.seat, "explain", explain)
    said = await desk.said("w")
    assert len(asked) == 64 < len(screen.choices(view, desk.session.room)) - 3
    assert said.startswith("Not allowed now: Spain man on chair 24, 25 or 29, alone; Cuba man on ")
    assert said.count("Cuba woman on chair") == 1


async def test_only_games_with_a_board_are_drawn(server: Connection, desk: Desk) -> None:
    assert "ITw a woman of Italy" in await desk.said("d")
    dice = Desk(server, at_table_6(), table_of("mino_dice"))
    assert await dice.said("d") == "This game has no board to draw."
