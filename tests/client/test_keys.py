"""Every key of BO-20, and those beyond it, answered in positions that are known card by card."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tavolata.service.client import Connection, RetryPolicy, connect
from tavolata.v1 import bouillabaisse_pb2 as bo
from tavolata.v1 import event_pb2, game_pb2
from tavolata.v1 import mino_dice_pb2 as md
from tests.client import positions
from tests.client.positions import Desk, table_of


@pytest.fixture
async def server() -> AsyncIterator[Connection]:
    """Nobody listens there: these keys are answered from what the client knows."""
    async with connect("127.0.0.1:9", policy=RetryPolicy(call_s=0.2)) as connection:
        yield connection


@pytest.fixture
def cards(server: Connection) -> Desk:
    return Desk(server, positions.cards_in_round_five(), table_of("bouillabaisse"))


@pytest.fixture
def dice(server: Connection) -> Desk:
    return Desk(server, positions.dice_in_a_trick(), table_of("mino_dice"))


@pytest.fixture
def bids(server: Connection) -> Desk:
    return Desk(server, positions.bids_open(), table_of("mino_dice"))


@pytest.mark.parametrize("key", ["c", "C", "table"])
async def test_c_tells_the_cards_on_the_table(cards: Desk, key: str) -> None:
    assert await cards.said(key) == (
        "2 cards on the table: 10 of hearts from AI 2, queen of hearts from Anna (seat 3)."
    )


async def test_c_tells_the_last_trick_and_its_taker_when_the_table_is_empty(
    server: Connection,
) -> None:
    desk = Desk(server, positions.cards_between_tricks(), table_of("bouillabaisse"))
    assert await desk.said("c") == (
        "No cards are on the table. The last trick was 2 of spades from Bruno, ace of spades from "
        "AI 2, king of diamonds from Anna (seat 3), 3 of spades from you; AI 2 took it."
    )


@pytest.mark.parametrize(
    ("key", "answer"),
    [
        ("1", "Card 1: 10 of hearts from AI 2."),
        ("2", "Card 2: queen of hearts from Anna (seat 3)."),
        ("3", "There is no card 3: 2 cards on the table."),
        ("9", "There is no card 9: 2 cards on the table."),
    ],
)
async def test_a_number_tells_the_card_at_that_place(cards: Desk, key: str, answer: str) -> None:
    assert await cards.said(key) == answer


async def test_f_tells_the_led_suit(cards: Desk) -> None:
    assert await cards.said("f") == "Hearts are led."


async def test_f_tells_that_no_suit_is_led(server: Connection) -> None:
    desk = Desk(server, positions.cards_between_tricks(), table_of("bouillabaisse"))
    assert await desk.said("F") == "No suit is led."


async def test_r_tells_the_rules_of_the_round_and_all_that_was_drawn(cards: Desk) -> None:
    assert await cards.said("r") == (
        "Round 5: the points of rounds 1 to 4 all apply together. A card to which more than one of "
        "them applies brings each of these amounts. "
        "In force: suit clubs, rank king and card jack of diamonds."
    )


@pytest.mark.parametrize(
    ("number", "rule", "in_force"),
    [
        (1, "BO-9", None),
        (2, "BO-10", "suit clubs"),
        (3, "BO-11", "rank king"),
        (4, "BO-12", "card jack of diamonds"),
        (6, "BO-14", "suit clubs, rank king and card jack of diamonds"),
    ],
)
async def test_r_names_only_the_draws_that_are_in_force(
    server: Connection, number: int, rule: str, in_force: str | None
) -> None:
    view = positions.cards_in_round_five()
    view.game.bouillabaisse.round = number
    view.game.bouillabaisse.round_rule_id = rule
    said = await Desk(server, view, table_of("bouillabaisse")).said("r")
    assert said.startswith(f"Round {number}: ")
    assert said.partition("In force: ")[2] == (f"{in_force}." if in_force else "")


@pytest.mark.parametrize(
    ("number", "last", "part"),
    [
        (5, bo.BOUILLABAISSE_ALL_OR_NOTHING_LAST_REVERSE, "All or nothing is on. "),
        (4, bo.BOUILLABAISSE_ALL_OR_NOTHING_LAST_REVERSE, "Round 4 is exempt"),
        (6, bo.BOUILLABAISSE_ALL_OR_NOTHING_LAST_REVERSE, "In round 6 it works the other way"),
        (6, bo.BOUILLABAISSE_ALL_OR_NOTHING_LAST_NONE, "All or nothing has no effect"),
    ],
)
async def test_r_tells_what_all_or_nothing_does_in_the_round(
    server: Connection,
    number: int,
    last: bo.BouillabaisseAllOrNothingLast.ValueType,
    part: str,
) -> None:
    view, table = positions.cards_in_round_five(), table_of("bouillabaisse")
    view.game.bouillabaisse.round = number
    table.settings.options.bouillabaisse.all_or_nothing = True
    table.settings.options.bouillabaisse.all_or_nothing_last = last
    said = await Desk(server, view, table).said("r")
    assert part in said
    assert "Option" not in said


@pytest.mark.parametrize("number", [5, 6])
def test_the_first_turn_of_a_round_without_draws_says_what_is_in_force(
    server: Connection, number: int
) -> None:
    view = positions.cards_in_round_five()
    view.game.bouillabaisse.round = number
    del view.game.bouillabaisse.last_trick[:]
    desk = Desk(server, None, table_of("bouillabaisse"))
    assert desk.turn(view).startswith(
        "Your turn. In force: suit clubs, rank king and card jack of diamonds. Hearts are led. "
    )


async def test_s_tells_the_scores_and_the_points_so_far(cards: Desk) -> None:
    assert await cards.said("s") == (
        "Totals after 4 rounds: 1. you 55, 2. Anna (seat 3) 80, 3. Bruno 100, 4. AI 2 360. "
        "In round 5 so far, points: you 5, Bruno 25, AI 2 35, Anna (seat 3) 0; "
        "tricks: you 1, Bruno 3, AI 2 5, Anna (seat 3) 0. The lowest total wins."
    )


async def test_t_tells_whose_turn_it_is(server: Connection, cards: Desk) -> None:
    assert await cards.said("t") == "It is your turn to play a card."
    other = Desk(server, positions.cards_between_tricks(), table_of("bouillabaisse"))
    assert await other.said("t") == "It is AI 2's turn to play a card (an AI, thinking)."


async def test_enter_without_a_choice_says_what_can_be_chosen(cards: Desk) -> None:
    assert await cards.said("") == (
        "First choose what to play, by its name or number. "
        "Choose: #2 4 of hearts; #3 king of hearts."
    )


async def test_what_is_forbidden_does_not_replace_what_was_chosen(cards: Desk) -> None:
    await cards.said("kh")
    assert (await cards.said("p qs")).startswith("That did not reach the server: "), "it asks why"
    assert cards.session.chosen_action == positions.play("KH")


async def test_play_before_ones_turn_chooses_ahead(server: Connection) -> None:
    desk = Desk(server, positions.cards_between_tricks(), table_of("bouillabaisse"))
    assert (await desk.said("p kh")).startswith("Chosen: king of hearts. It is AI 2's turn")
    assert desk.session.chosen_action == positions.play("KH")


async def test_l_tells_what_one_holds_and_what_is_allowed_now(cards: Desk) -> None:
    assert await cards.said("l") == (
        "You hold 4 cards: clubs 2; hearts 4, king; spades queen. "
        "You may play a card: #2 4 of hearts; #3 king of hearts. "
        "Not allowed now: #1 2 of clubs; #4 queen of spades."
    )


@pytest.mark.parametrize("text", ["4h", "#2", "4 of hearts", "4", "# 2", "4♥", "4 h", "h4"])
async def test_a_card_is_chosen_by_name_or_number(cards: Desk, text: str) -> None:
    said = await cards.said(text)
    if text == "4":  # a bare number is a place on the table
        assert said == "There is no card 4: 2 cards on the table."
    else:
        assert said == "Chosen: 4 of hearts. Enter to play a card."


async def test_a_card_that_breaks_a_rule_can_be_chosen_but_is_said_to(cards: Desk) -> None:
    assert await cards.said("qs") == (
        "Chosen: queen of spades. It is not allowed now; W QS says why."
    )


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("7d", "There is no choice '7d'. L lists them; ? explains the keys."),
        ("#5", "There is no choice '#5'. L lists them; ? explains the keys."),
        ("of hearts", "Which one: 4 of hearts or king of hearts?"),
    ],
)
async def test_a_name_that_fits_none_or_several_is_asked_back(
    cards: Desk, text: str, answer: str
) -> None:
    assert await cards.said(text) == answer


async def test_the_same_keys_work_for_dice(dice: Desk) -> None:
    assert await dice.said("c") == (
        "2 dice on the table: mermaid, a flag from AI 2, yellow 5 from Anna (seat 3)."
    )
    assert await dice.said("2") == "Die 2: yellow 5 from Anna (seat 3)."
    assert await dice.said("3") == "There is no die 3: 2 dice on the table."
    assert await dice.said("f") == "Yellow is led."
    assert await dice.said("t") == "It is your turn to roll a die."
    assert await dice.said("b") == "There is no last trick in this hand."
    assert await dice.said("s") == (
        "Totals after 2 rounds: 1. you 30, 1. Anna (seat 3) 30, 3. AI 2 20, 4. Bruno minus 20. "
        "Hand 3, tricks taken of those bid: you 0 of 1, Bruno 0 of 0, AI 2 0 of 2, "
        "Anna (seat 3) 0 of 3. The highest total wins."
    )
    assert await dice.said("l") == (
        "You hold 3 dice: 2 red and yellow. "
        "You may roll a die: #2 yellow. Not allowed now: #1 red (2 of them)."
    )


async def test_r_tells_what_a_hand_of_dice_pays(dice: Desk) -> None:
    said = await dice.said("r")
    assert said.startswith("Hand 3, 3 dice each. Minotaur beats griffin, griffin mermaid, mermaid")
    assert (
        "missed it costs 10 a trick (MD-13). A bid of 0 met brings 30; missed it costs 30" in said
    )
    assert "50 for a minotaur taken with a mermaid, 30 for each griffin in a trick" in said
    assert "no bonus for a trick with a flag in it (MD-16)" in said


@pytest.mark.parametrize(
    ("option", "value", "part"),
    [
        ("scoring", md.MINO_DICE_SCORING_SIMPLE, "missed it brings nothing (MD-17)"),
        ("griffin_bonus", md.MINO_DICE_GRIFFIN_BONUS_ONCE, "30 for a griffin in a trick"),
        ("flag_scope", md.MINO_DICE_FLAG_SCOPE_HAND, "in a hand in which one took a flag"),
        ("flag_scope", md.MINO_DICE_FLAG_SCOPE_NONE, "flags change nothing in that"),
        ("all_flags", md.MINO_DICE_ALL_FLAGS_LAST, "Of flags alone the last wins (MD-11)."),
        ("three_way", md.MINO_DICE_THREE_WAY_MERMAID, "the last mermaid wins (MD-12)."),
        (
            "follow_after_special",
            md.MINO_DICE_FOLLOW_AFTER_SPECIAL_FREE,
            "Where a special die leads, no colour has to be followed (MD-9).",
        ),
    ],
)
async def test_r_tells_what_the_options_of_dice_change(
    server: Connection, dice: Desk, option: str, value: int, part: str
) -> None:
    table = table_of("mino_dice")
    setattr(table.settings.options.mino_dice, option, value)
    assert part in await Desk(server, positions.dice_in_a_trick(), table).said("r")
    assert part not in await dice.said("r")


async def test_the_simple_scoring_has_no_bonuses(server: Connection) -> None:
    table = table_of("mino_dice")
    table.settings.options.mino_dice.scoring = md.MINO_DICE_SCORING_SIMPLE
    said = await Desk(server, positions.dice_in_a_trick(), table).said("r")
    assert "onus" not in said
    assert "10 a trick" not in said


@pytest.mark.parametrize(
    ("follow", "said"),
    [
        (
            md.MINO_DICE_FOLLOW_AFTER_SPECIAL_FIRST_NUMBER,
            "No colour is led yet: the first number die sets it.",
        ),
        (
            md.MINO_DICE_FOLLOW_AFTER_SPECIAL_FREE,
            "No colour is led: a special die led, so any die may be rolled.",
        ),
    ],
)
async def test_f_tells_what_a_special_die_that_leads_means(
    server: Connection, follow: md.MinoDiceFollowAfterSpecial.ValueType, said: str
) -> None:
    view, table = positions.dice_in_a_trick(), table_of("mino_dice")
    view.game.mino_dice.ClearField("led_colour")
    del view.game.mino_dice.trick[1:]
    table.settings.options.mino_dice.follow_after_special = follow
    assert await Desk(server, view, table).said("f") == said


async def test_while_bids_are_open_a_number_is_a_bid(bids: Desk) -> None:
    assert await bids.said("2") == "Chosen: bid 2. Enter to bid."
    assert await bids.said("bid 0") == "Chosen: bid 0. Enter to bid."
    assert await bids.said("7") == "There is no bid 7: 0 to 3 can be bid."
    assert await bids.said("t") == "To bid, all at once: you, Bruno and Anna (seat 3)."
    assert (await bids.said("s")).endswith(
        "Hand 3, bids are open; in: AI 2. The highest total wins."
    )


async def test_r_with_a_number_reads_that_rule(cards: Desk) -> None:
    assert (await cards.said("r bo-5")).startswith("The trick goes to the highest card")
    assert await cards.said("r bo-99") == "There is no rule bo-99: they are BO-1 to BO-20."


async def test_help_names_every_key_of_the_rules(cards: Desk) -> None:
    said = await cards.said("?")
    starts = ("Enter alone:", "C:", "1 to 9:", "F:", "R:", "S:", "T:")
    assert all(any(line.startswith(start) for line in said.splitlines()) for start in starts)
    assert await cards.said("h") == said


async def test_leaving_and_resigning_are_asked_back_and_can_be_called_off(cards: Desk) -> None:
    assert await cards.said("q", "no") == "You stay."
    assert await cards.said("resign", "") == "You stay."
    assert not cards.session.gone


async def test_a_replay_is_not_saved_before_the_end(cards: Desk) -> None:
    assert await cards.said("save x.json") == "A replay can be saved when the match is over."


async def test_an_action_that_finds_no_server_is_told_and_stays_to_be_sent_again(
    cards: Desk,
) -> None:
    said = await cards.said("kh", "")
    assert said.startswith("That did not reach the server: ")
    assert await cards.said("") == said or "did not reach" in await cards.said("")


def _game(event: game_pb2.GameEvent) -> event_pb2.Event:
    return event_pb2.Event(number=2, game=event)


def test_simultaneous_bids_are_told_by_seat_and_shown_together(bids: Desk) -> None:
    events = [
        md.MinoDiceEvent(bid_committed=md.MinoDiceBidCommitted(seat=2)),
        md.MinoDiceEvent(bid_committed=md.MinoDiceBidCommitted(seat=0, bid=1)),
        md.MinoDiceEvent(bid_committed=md.MinoDiceBidCommitted(seat=1)),
        md.MinoDiceEvent(bid_committed=md.MinoDiceBidCommitted(seat=3)),
        md.MinoDiceEvent(bids_shown=md.MinoDiceBidsShown(bids=[1, 0, 2, 3])),
    ]
    told = bids.told([_game(game_pb2.GameEvent(mino_dice=each)) for each in events])
    assert told.splitlines() == [
        "AI 2 has bid.",
        "Your bid is in: 1.",
        "Bruno has bid.",
        "Anna (seat 3) has bid.",
        "All bids are in: you 1, Bruno 0, AI 2 2, Anna (seat 3) 3; 6 in all.",
    ]


def test_what_others_play_is_told_and_their_cards_are_not(cards: Desk) -> None:
    dealt = bo.BouillabaisseHand(cards=[positions.card("2C"), positions.card("AC")])
    events = [
        bo.BouillabaisseEvent(dealt=bo.BouillabaisseDealt(seat=0, count=2, cards=dealt)),
        bo.BouillabaisseEvent(dealt=bo.BouillabaisseDealt(seat=1, count=2)),
        bo.BouillabaisseEvent(played=bo.BouillabaissePlayed(seat=2, card=positions.card("TH"))),
        bo.BouillabaisseEvent(trick_taken=bo.BouillabaisseTrickTaken(seat=1, points=-55)),
    ]
    told = cards.told([_game(game_pb2.GameEvent(bouillabaisse=each)) for each in events])
    assert told.splitlines() == [
        "You hold 2 cards: clubs 2, ace.",
        "AI 2 played the 10 of hearts.",
        "Bruno took the trick for minus 55 points.",
    ]


def test_a_turn_says_what_is_led_and_what_may_be_played(cards: Desk) -> None:
    told = cards.turn(positions.cards_in_round_five())
    assert told == "Your turn. Hearts are led. Choose: #2 4 of hearts; #3 king of hearts."


async def test_what_was_chosen_ahead_is_there_when_the_turn_comes(server: Connection) -> None:
    desk = Desk(server, positions.cards_between_tricks(), table_of("bouillabaisse"))
    assert (await desk.said("kh")).startswith("Chosen: king of hearts. It is AI 2's turn")
    assert desk.turn(positions.cards_in_round_five()) == (
        "Your turn. Hearts are led. You have chosen king of hearts. "
        "Choose: #2 4 of hearts; #3 king of hearts."
    )
    assert desk.session.chosen_action == positions.play("KH")


async def test_what_was_chosen_ahead_is_forgotten_if_it_may_not_be_played(
    server: Connection,
) -> None:
    desk = Desk(server, positions.cards_between_tricks(), table_of("bouillabaisse"))
    await desk.said("qs")
    desk.turn(positions.cards_in_round_five())
    assert desk.session.chosen_action is None


async def test_a_single_legal_action_is_chosen_already(dice: Desk) -> None:
    told = dice.turn(positions.dice_in_a_trick())
    assert told == (
        "Your turn. Yellow is led. You bid 1 and have 0. You can only choose yellow. Press Enter."
    )
    assert dice.session.chosen_action == positions.roll(md.MINO_DICE_KIND_YELLOW)
