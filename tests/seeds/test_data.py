"""The data agree with the tables and options that the rules of record state, and add up."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest

from tavolata.ext.core.seeds import load_json, rules

GAMES = ("mino_dice", "bouillabaisse", "bids", "cafe_international", "mister_bill")
GLYPHS = {"♣": "C", "♦": "D", "♠": "S", "♥": "H"}


def _table(text: str) -> list[list[str]]:
    """The body rows of the only table in a text, as stripped cells."""
    lines = [line.strip() for line in text.splitlines()]
    rows = [line.strip("|").split("|") for line in lines if line.startswith("|")]
    return [[cell.strip() for cell in row] for row in rows[2:]]


def _section(game: str, title: str) -> str:
    return next(section.text for section in rules(game).sections if section.title == title)


def test_mino_dice_has_36_dice_with_the_faces_of_md_1() -> None:
    kinds = load_json("mino_dice", "dice")["kinds"]
    assert sum(kind["count"] for kind in kinds) == 36
    stated = _table(rules("mino_dice").rule("MD-1").text)
    assert [row[0] for row in stated] == [kind["id"] for kind in kinds]
    for (_, count, faces), kind in zip(stated, kinds, strict=True):
        assert int(count) == kind["count"]
        wanted: list[str] = []
        for part in faces.split(","):
            words = part.split()
            # "3 flag" is three flags, "7 7 6 6" are the numbers themselves.
            wanted += [words[1]] * int(words[0]) if words[-1].isalpha() else words
        assert wanted == kind["faces"]


def test_mino_dice_groups_and_cycle_name_the_same_special_dice() -> None:
    dice = load_json("mino_dice", "dice")
    special = {kind["id"] for kind in dice["kinds"] if kind["group"] == "special"}
    assert special == set(dice["special_cycle"])
    assert {face for kind in dice["kinds"] for face in kind["faces"]} == set(dice["faces"])
    rows = {row[0]: row[1] for row in _table(rules("mino_dice").rule("MD-10").text)}
    cycle = dice["special_cycle"]
    for better, worse in zip(cycle, cycle[1:] + cycle[:1], strict=True):
        assert worse in rows[better]
        assert better not in rows[worse]


def test_mino_dice_hands_are_those_of_md_2_and_the_bag_suffices() -> None:
    hands = load_json("mino_dice", "dice")["hands"]
    assert (hands["3"], hands["4"], hands["5"], hands["6"]) == (8, 8, 7, 6)
    assert all(int(seats) * last_hand <= 36 for seats, last_hand in hands.items())


@pytest.mark.parametrize("seats", range(2, 13))
def test_bouillabaisse_deals_every_card_that_is_not_taken_out(seats: int) -> None:
    deck = load_json("bouillabaisse", "deck")
    key = str(seats)
    cards = len(deck["suits"]) * len(deck["ranks"]) * deck["decks"][key]
    assert cards == 52 * (2 if seats > 6 else 1)
    assert cards == deck["hand_size"][key] * seats + len(deck["removed"][key])
    assert max(Counter(deck["removed"][key]).values(), default=0) <= deck["decks"][key]


def test_bouillabaisse_takes_out_the_cards_of_bo_2() -> None:
    deck = load_json("bouillabaisse", "deck")
    for seats, decks, out, hand in _table(rules("bouillabaisse").rule("BO-2").text):
        assert deck["decks"][seats] == int(decks)
        assert deck["hand_size"][seats] == int(hand)
        copies = 2 if "both copies" in out else 1
        wanted = [card[0] + GLYPHS[card[1]] for card in re.findall("2[♣♦♠♥]", out)] * copies
        assert Counter(deck["removed"][seats]) == Counter(wanted), seats


def _round_sum(deck: Any, seats: str, number: int, suit: str) -> int:
    """Points of a round over all seats, from the cards that are dealt."""
    dealt = Counter(
        rank + each["symbol"]
        for each in deck["suits"]
        for rank in deck["ranks"]
        for _ in range(deck["decks"][seats])
    ) - Counter(deck["removed"][seats])
    items = {
        "trick": deck["hand_size"][seats],
        "suit": sum(copies for card, copies in dealt.items() if card[1] == suit),
        "rank": sum(copies for card, copies in dealt.items() if card[0] == "Q"),
        "card": dealt["Q" + suit],
    }
    this = deck["rounds"][number - 1]
    total = sum(items[term["item"]] * term["points"] for term in this["terms"])
    return int(this["sign"] * total)


@pytest.mark.parametrize("seats", [str(number) for number in range(2, 13)])
def test_bouillabaisse_rounds_sum_to_the_figures_of_the_checks(seats: str) -> None:
    deck = load_json("bouillabaisse", "deck")
    rows = {row[0]: row[1:] for row in _table(_section("bouillabaisse", "Checks"))}
    first, second, fifth = ([int(n) for n in cell.split("/")] for cell in rows[seats])
    for place, suit in enumerate(GLYPHS.values()):
        assert [_round_sum(deck, seats, 1, suit)] == first
        assert _round_sum(deck, seats, 2, suit) == (second * 4)[place if len(second) > 1 else 0]
        assert _round_sum(deck, seats, 3, suit) == 200 * deck["decks"][seats]
        assert _round_sum(deck, seats, 4, suit) == 200 * deck["decks"][seats]
        assert _round_sum(deck, seats, 5, suit) == (fifth * 4)[place if len(fifth) > 1 else 0]
        assert _round_sum(deck, seats, 6, suit) == -_round_sum(deck, seats, 5, suit)


def test_bouillabaisse_draws_before_rounds_2_3_and_4_only() -> None:
    deck = load_json("bouillabaisse", "deck")
    assert [this["draw"] for this in deck["rounds"]] == [None, "suit", "rank", "card", None, None]
    assert deck["drawable_ranks"] == ["T", "J", "Q", "K"]
    assert "2" not in deck["drawable_ranks"]  # a removed card can't be drawn


@pytest.mark.parametrize("row", load_json("bids", "deck")["tables"], ids=str)
def test_bids_hands_use_up_all_cards_but_those_left_over(row: dict[str, Any]) -> None:
    settings = ((0, row["left_over_without_ally"]), (1, row["left_over_with_ally"]))
    for ally, left_over in settings:
        if left_over is not None:
            cards = row["colours"] * row["number_max"] + row["blacks_dealt"] + ally
            assert cards == row["hand"] * row["seats"] + left_over
    # The smallest pile (numbers and 2X alone) has a centre for every trick.
    assert row["number_max"] + 1 - row["blacks_dealt"] >= row["hand"]
    assert (settings[0][1] is None) == (row["seats"] == 6)
    assert (settings[1][1] is None) == (row["seats"] == 3)


def test_bids_tables_are_those_of_bi_1() -> None:
    stated = _table(rules("bids").rule("BI-1").text)
    rows = [row for row in load_json("bids", "deck")["tables"] if row["five_player_max"] != 10]
    for cells, row in zip(stated, rows, strict=True):
        keys = ("seats", "colours", "number_max", "blacks_dealt", "hand")
        assert [int(cell) for cell in cells[:5]] == [row[key] for key in keys]
        figures = [int(number) for number in re.findall(r"\d+", cells[5])]
        both = (row["left_over_without_ally"], row["left_over_with_ally"])
        assert figures == [number for number in both if number is not None]
    short = next(row for row in load_json("bids", "deck")["tables"] if row["five_player_max"] == 10)
    assert (short["number_max"], short["hand"]) == (10, 8)
    assert (short["left_over_without_ally"], short["left_over_with_ally"]) == (2, 3)


def test_bids_lucky_factors_and_special_cards_are_those_of_the_rules() -> None:
    deck = load_json("bids", "deck")
    stated = _table(rules("bids").rule("BI-20").text)
    assert {seats: int(amount) for seats, amount in stated} == deck["lucky_factor"]
    cards = {card["id"]: card for card in deck["special_cards"]}
    in_hands = {name for name, card in cards.items() if card["in_hands"]}
    assert in_hands == {"double", "minus_five", "surprise", "ally"}
    assert [name for name, card in cards.items() if card["number"] is not None] == ["minus_five"]
    assert [name for name, card in cards.items() if not card["black"]] == ["ally"]
    assert deck["minus_five_bonus"] == {"count": 3, "points": 30}


def test_cafe_board_has_the_counts_of_ci_1() -> None:
    board = load_json("cafe_international", "board")
    nation = {table["id"]: table["nation"] for table in board["tables"]}
    shared = [chair["tables"] for chair in board["chairs"] if len(chair["tables"]) == 2]
    assert (len(board["tables"]), len(board["chairs"]), len(shared)) == (24, 68, 28)
    assert sum(nation[a] != nation[b] for a, b in shared) == 18
    assert Counter(nation.values()) == {entry["id"]: 2 for entry in board["nations"]}
    stated = re.search(r"12 nations \((.*?)\)", rules("cafe_international").rule("CI-1").text)
    assert stated is not None
    assert stated[1].split(", ") == [entry["name"] for entry in board["nations"]]


def test_cafe_chairs_are_the_four_cells_next_to_a_table() -> None:
    board = load_json("cafe_international", "board")
    steps = {"north": (0, -1), "east": (1, 0), "south": (0, 1), "west": (-1, 0)}
    chair_at = {(chair["column"], chair["row"]): chair for chair in board["chairs"]}
    cells = list(chair_at) + [(table["column"], table["row"]) for table in board["tables"]]
    assert len(set(cells)) == 24 + 68
    tables_of: dict[int, list[int]] = {chair["id"]: [] for chair in board["chairs"]}
    for table in board["tables"]:
        for side, (right, down) in steps.items():
            chair = chair_at[table["column"] + right, table["row"] + down]
            assert table["chairs"][side] == chair["id"]
            tables_of[chair["id"]].append(table["id"])
    assert {chair["id"]: chair["tables"] for chair in board["chairs"]} == tables_of


def test_cafe_bar_and_tiles_are_those_of_ci_2_to_ci_4() -> None:
    stated = _table(rules("cafe_international").rule("CI-3").text)
    values = [int(value) for row in stated for value in row[1].split()]
    board = load_json("cafe_international", "board")
    assert board["bar"] == values
    assert (len(values), sum(values)) == (20, -105)
    tiles = load_json("cafe_international", "tiles")
    counts = {(kind["nation"], kind["sex"]): kind["count"] for kind in tiles["kinds"]}
    natives = {(n["id"], sex): 4 for n in board["nations"] for sex in ("woman", "man")}
    assert counts == natives | {(None, "woman"): 2, (None, "man"): 2}
    assert sum(counts.values()) == 100
    assert tiles["hand_limit"] == 5


def test_mister_bill_has_the_47_cards_of_mb_1() -> None:
    kinds = load_json("mister_bill", "cards")["kinds"]
    by_group = {
        group: [kind["count"] for kind in kinds if kind["group"] == group]
        for group in ("dish", "waiter", "bill", "shift_change")
    }
    assert by_group == {"dish": [4] * 6, "waiter": [4] * 5, "bill": [3], "shift_change": [0]}
    assert sum(kind["count"] for kind in kinds) == 47
    named = rules("mister_bill").rule("MB-1").text
    assert all(kind["id"] in named for kind in kinds if kind["group"] == "dish")
    # In every deck Mister Bills alone are odd in number, so they alone can stay unpaired.
    options = {option["name"]: option for option in load_json("mister_bill", "options")}
    assert all(copies % 2 == 0 for copies in options["bonus_waiter"]["values"])


def test_mister_bill_hands_are_those_of_the_examples() -> None:
    cards = sum(kind["count"] for kind in load_json("mister_bill", "cards")["kinds"])
    words = {"five": 5, "two": 2, "seven": 7}
    rows = _table(_section("mister_bill", "Examples"))
    assert [int(row[0]) for row in rows] == list(range(3, 9))
    for seats, stated in ((int(row[0]), row[1]) for row in rows):
        sizes: list[int] = []
        for part in re.split(r", then |, ", stated):
            times = re.fullmatch(r"(?:(\w+) times )?(\d+)", part)
            assert times is not None
            sizes += [int(times[2])] * words.get(times[1] or "", 1)
        dealt = Counter(card % seats for card in range(cards))
        assert sizes == [dealt[seat] for seat in range(seats)]


def test_mister_bill_team_cards_and_piles_fit_any_number_of_players() -> None:
    cards = load_json("mister_bill", "cards")
    colours = Counter(card["colour"] for card in cards["team_cards"])
    assert [card["number"] for card in cards["team_cards"]] == list(range(1, 9))
    assert colours == {1: 2, 2: 2, 3: 2, 4: 2}
    assert all(card["colour"] == (card["number"] + 1) // 2 for card in cards["team_cards"])
    stated = rules("mister_bill").rule("MB-3").text
    piles = cards["score_piles"]
    for number in ("1", "2", "3"):
        assert " ".join(map(str, piles[number])) in stated
        assert piles[number] == sorted(piles[number], reverse=True)
    assert len(piles["3"]) == 8 - 1  # all seats but the last take a card
    assert len(piles["1"]) == 2 * (8 // 2 - 1)  # all teams but the last take two
    assert sum(piles[number][0] for number in piles) == 16


ALL_OPTIONS = [(game, option) for game in GAMES for option in load_json(game, "options")]


@pytest.mark.parametrize(
    ("game", "option"),
    ALL_OPTIONS,
    ids=[f"{game}-{option['name']}" for game, option in ALL_OPTIONS],
)
def test_an_option_is_what_its_rule_says(game: str, option: dict[str, Any]) -> None:
    text = rules(game).rule(option["rule"]).text
    stated = text[text.index(f"`{option['name']}`") :]
    for words in _range_as_written(option):
        assert words in stated
    default = re.escape(_shown(option["default"]))
    assert re.search(rf"{default} \(default|\(default {default}\b", stated)
    assert option["default"] in _values(option)
    assert set(option.get("default_by_seats", {}).values()) <= set(_values(option))
    assert option.get("min_seats", 0) <= option.get("max_seats", 99)


def _values(option: dict[str, Any]) -> list[Any]:
    if option["type"] == "int":
        return list(range(option["min"], option["max"] + 1))
    return [False, True] if option["type"] == "bool" else list(option["values"])


def _range_as_written(option: dict[str, Any]) -> list[str]:
    if option["type"] == "int":
        return [f"{option['min']} to {option['max']}"]
    return [_shown(value) for value in _values(option)]


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"`{value}`" if isinstance(value, str) else str(value)
