"""Bids at the terminal: every key in positions that are known card by card, and whole matches."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tavolata.service.client import Connection, RetryPolicy, connect
from tavolata.service.server import Server
from tavolata.service.terminal.client import play_at
from tavolata.service.terminal.table import Wanted, make_table
from tavolata.service.terminal.voice import Voice
from tavolata.v1 import bids_pb2 as pb
from tavolata.v1 import event_pb2, game_pb2, score_pb2, table_pb2, view_pb2
from tests.client.players import Reader, Typist
from tests.client.positions import Desk, table_of


def cards(*names: str) -> list[pb.BidsCard.ValueType]:
    return [pb.BidsCard.Value(f"BIDS_CARD_{name}") for name in names]


def made(*bids: tuple[int, str]) -> list[pb.BidsBidMade]:
    return [pb.BidsBidMade(seat=seat, card=cards(name)[0]) for seat, name in bids]


def bid(name: str) -> game_pb2.Action:
    return game_pb2.Action(bids=pb.BidsAction(bid=pb.BidsBid(card=cards(name)[0])))


def in_a_trick() -> view_pb2.View:
    """Round 2: seat 0 bids third for black 6; seat 3 leads the bids with a red 9."""
    hand = pb.BidsHand(cards=cards("RED_2", "RED_10", "YELLOW_4", "BLACK_3", "DOUBLE"))
    game = pb.BidsView(
        round=2,
        phase=pb.BIDS_PHASE_BID,
        leader=2,
        centre=pb.BIDS_CARD_BLACK_6,
        seats=[
            pb.BidsSeat(hand=hand, hand_size=5, tricks_won=2, won=cards("BLACK_1", "MINUS_FIVE")),
            pb.BidsSeat(hand_size=5, lucky=1),
            pb.BidsSeat(hand_size=4, tricks_won=2, won=cards("BLACK_9")),
            pb.BidsSeat(hand_size=4, minus_fives=1),
        ],
        bids=made((2, "GREEN_7"), (3, "RED_9")),
        winning=3,
        last_bids=made((2, "BLUE_8"), (3, "RED_8"), (0, "RED_1"), (1, "YELLOW_1")),
        last_centre=pb.BIDS_CARD_DOUBLE,
        pile_size=7,
        left_over=1,
    )
    return view_pb2.View(
        viewer_seat=0,
        state=table_pb2.TABLE_STATE_PLAYING,
        turn=62,
        seats_to_act=[0],
        legal_actions=[bid(n) for n in ("RED_2", "RED_10", "YELLOW_4", "BLACK_3", "DOUBLE")],
        scores=score_pb2.ScoreSheet(
            totals=[10, 8, 20, -5],
            running_points=[-4, 0, 9, 0],
            places=[2, 3, 1, 4],
            rounds=[score_pb2.RoundScore(round=1, points=[10, 8, 20, -5])],
        ),
        game=game_pb2.GameView(bids=game),
    )


def at_a_theft() -> view_pb2.View:
    """Seat 0 has won the Thief and may rob seat 2 or seat 3."""
    view = in_a_trick()
    game = view.game.bids
    game.phase = pb.BIDS_PHASE_THEFT
    game.centre = pb.BIDS_CARD_THIEF
    for seat, name in ((2, "BLACK_9"), (3, "BLACK_2")):
        game.theft.append(pb.BidsTheft(seat=seat, card=cards(name)[0]))
    del view.legal_actions[:]
    view.legal_actions.extend(
        game_pb2.Action(bids=pb.BidsAction(steal=each)) for each in game.theft
    )
    return view


@pytest.fixture
async def server() -> AsyncIterator[Connection]:
    """Nobody listens there: these keys are answered from what the client knows."""
    async with connect("127.0.0.1:9", policy=RetryPolicy(call_s=0.2)) as connection:
        yield connection


ANSWERS = [
    (
        "c",
        (
            "To be won: black 6. 2 bids: green 7 from AI 2, red 9 from Anna (seat 3). "
            "7 cards in the pile."
        ),
    ),
    ("2", "Bid 2: red 9 from Anna (seat 3)."),
    ("3", "There is no bid 3: 2 bids on the table."),
    (
        "f",
        (
            "Nothing is to be followed: any card may be bid. The highest number wins. "
            "To be won: black 6."
        ),
    ),
    ("t", "It is your turn to bid a card."),
    (
        "s",
        (
            "Totals after 1 round: 1. AI 2 20, 2. you 10, 3. Bruno 8, 4. Anna (seat 3) minus 5. "
            "In round 2 so far, points: you minus 4, Bruno 0, AI 2 9, Anna (seat 3) 0; tricks: "
            "you 2, Bruno 0, AI 2 2, Anna (seat 3) 0. Black cards won: you black 1 and minus 5; "
            "AI 2 black 9. "
            "Lucky rounds: Bruno 1. Minus fives won: Anna (seat 3) 1. The highest total wins."
        ),
    ),
    (
        "b",
        (
            "The last trick was for 2X: blue 8 from AI 2, red 8 from Anna (seat 3), red 1 "
            "from you, yellow 1 from Bruno; it was burnt."
        ),
    ),
    (
        "l",
        (
            "You hold 5 cards: red 2, 10; yellow 4; black 3; 2X. You may bid a card: #1 red 2; "
            "#2 red 10; #3 yellow 4; #4 black 3; #5 2X."
        ),
    ),
    ("red 10", "Chosen: red 10. Enter to bid a card."),
    ("K3", "Chosen: black 3. Enter to bid a card."),
    ("2x", "Chosen: 2X. Enter to bid a card."),
]


@pytest.mark.parametrize(("key", "answer"), ANSWERS, ids=[key for key, _ in ANSWERS])
async def test_a_key_is_answered_in_a_trick(server: Connection, key: str, answer: str) -> None:
    assert await Desk(server, in_a_trick(), table_of("bids")).said(key) == answer


async def test_a_turn_tells_what_is_to_be_won_and_who_is_ahead(server: Connection) -> None:
    desk = Desk(server, None, table_of("bids"))
    assert desk.turn(in_a_trick()) == (
        "Your turn. To be won: black 6. Bids: green 7 from AI 2, red 9 from Anna (seat 3). "
        "Anna (seat 3) would win. You hold 5 cards: red 2, 10; yellow 4; black 3; 2X. "
        "Any may be chosen."
    )


async def test_who_is_ahead_is_not_told_where_the_table_keeps_it_back(server: Connection) -> None:
    view = in_a_trick()
    view.game.bids.ClearField("winning")
    assert "would win" not in Desk(server, None, table_of("bids")).turn(view)


async def test_a_theft_names_the_cards_with_the_seats_that_have_them(server: Connection) -> None:
    desk = Desk(server, None, table_of("bids"))
    assert desk.turn(at_a_theft()).endswith(
        "You won the Thief and steal a card. You hold 5 cards: red 2, 10; yellow 4; black 3; 2X. "
        "Choose: #1 black 9 of seat 2; #2 black 2 of seat 3."
    )
    assert await desk.said("k2") == "Chosen: black 2 of seat 3. Enter to steal a card."


@pytest.mark.parametrize(
    ("option", "rule"),
    [
        ("minus_five", "BI-13"),
        ("surprise", "BI-14"),
        ("lowest", "BI-15"),
        ("thief", "BI-16"),
        ("ally", "BI-19"),
    ],
)
async def test_r_tells_the_rules_that_the_options_bring_in(
    server: Connection, option: str, rule: str
) -> None:
    table = table_of("bids")
    setattr(table.settings.options.bids, option, False)
    assert rule not in await Desk(server, in_a_trick(), table).said("r")
    setattr(table.settings.options.bids, option, True)
    said = await Desk(server, in_a_trick(), table).said("r")
    assert said.startswith("Round 2 of 5.")
    assert rule in said


@pytest.mark.parametrize("key", ["f", "r"])
@pytest.mark.parametrize(
    ("colours", "lowest", "wins"),
    [
        (False, False, "The highest number wins."),
        (False, True, "The lowest number wins."),
        (True, False, "The colour with the most cards wins, and in it the highest number;"),
        (True, True, "The colour with the most cards wins, and in it the lowest number;"),
    ],
)
async def test_which_bid_wins_is_told_as_it_is_at_this_table(
    server: Connection, key: str, colours: bool, lowest: bool, wins: str
) -> None:
    view, table = in_a_trick(), table_of("bids")
    view.game.bids.lowest = lowest
    table.settings.options.bids.colours = colours
    assert wins in await Desk(server, view, table).said(key)


@pytest.mark.parametrize(("seats", "luck"), [(3, 12), (4, 8), (5, 8), (6, 7)])
async def test_r_tells_what_a_lucky_loser_gets(server: Connection, seats: int, luck: int) -> None:
    view, table = in_a_trick(), table_of("bids")
    del view.game.bids.seats[min(seats, 4) :]
    view.game.bids.seats.extend([pb.BidsSeat(hand_size=5)] * (seats - 4))
    said = await Desk(server, view, table).said("r")
    assert f"gets {luck}, the second time {2 * luck}, and so on" in said


async def test_a_turn_says_what_a_surprise_is_and_that_low_numbers_win(server: Connection) -> None:
    view = in_a_trick()
    view.game.bids.centre = pb.BIDS_CARD_SURPRISE
    view.game.bids.lowest = True
    assert (
        Desk(server, None, table_of("bids"))
        .turn(view)
        .startswith(
            "Your turn. To be won: Surprise, the next card of the pile, unseen. Low numbers win. "
        )
    )


async def test_what_happens_is_told_in_whole_sentences(server: Connection) -> None:
    desk = Desk(server, in_a_trick(), table_of("bids"))
    happened = [
        pb.BidsEvent(lowest_set=pb.BidsLowestSet()),
        pb.BidsEvent(centre_turned=pb.BidsCentreTurned(card=pb.BIDS_CARD_SURPRISE)),
        pb.BidsEvent(bid_made=made((1, "BLACK_7"))[0]),
        pb.BidsEvent(trick_won=pb.BidsTrickWon(seat=0)),
        pb.BidsEvent(card_taken=pb.BidsCardTaken(seat=0, card=pb.BIDS_CARD_MINUS_FIVE)),
        pb.BidsEvent(
            blacks_won=pb.BidsBlacksWon(
                seat=0, cards=cards("BLACK_7", "MINUS_FIVE", "SURPRISE"), points=2
            )
        ),
        pb.BidsEvent(stolen=pb.BidsStolen(thief=0, victim=1, card=pb.BIDS_CARD_BLACK_4)),
        pb.BidsEvent(allied=pb.BidsAllied(ally=2, winner=0)),
        pb.BidsEvent(trick_burnt=pb.BidsTrickBurnt(next=1)),
        pb.BidsEvent(points_doubled=pb.BidsPointsDoubled(seat=0, points=-8)),
        pb.BidsEvent(centre_buried=pb.BidsCentreBuried(card=pb.BIDS_CARD_BLACK_5)),
        pb.BidsEvent(
            round_scored=pb.BidsRoundScored(
                round=2, points=[4, 16, 9, 0], lucky=[0, 16, 0, 0], totals=[14, 24, 29, -5]
            )
        ),
        pb.BidsEvent(bonus_scored=pb.BidsBonusScored(seat=2, points=30)),
    ]
    events = [event_pb2.Event(game=game_pb2.GameEvent(bids=event)) for event in happened]
    assert desk.told(events).splitlines() == [
        "Lowest is set aside: low numbers win.",
        "To be won: Surprise, the next card of the pile, unseen.",
        "Bruno bid black 7.",
        "You won the trick.",
        "You turned up minus 5.",
        "You took black 7, minus 5 and Surprise, for 2 points.",
        "You stole black 4 from Bruno.",
        "AI 2 and you share what they earn this round.",
        "The trick is burnt. Bruno will bid first.",
        "Your points are doubled to minus 8.",
        "Black 5 goes under the pile.",
        (
            "Round 2 is over. Points: you 4, Bruno 16, AI 2 9, Anna (seat 3) 0. Lucky without a "
            "trick: Bruno with 16, counted in. Totals: you 14, Bruno 24, AI 2 29, "
            "Anna (seat 3) minus 5."
        ),
        "AI 2 won minus 5 often enough: 30 points more.",
    ]


@pytest.mark.parametrize("options", [["thief=yes", "surprise=yes"], ["colours=yes", "rounds=2"]])
async def test_a_whole_match_is_played_by_typing_what_the_lines_ask_for(
    service: Server, options: list[str]
) -> None:
    out = Reader()
    async with connect(f"127.0.0.1:{service.port}") as server:
        wanted = Wanted("bids", seats=4, name="Anna", player="greedy", options=options)
        seat = await make_table(server, wanted, Typist(out, []), Voice(out, "never"))
        unfinished = await play_at(server, seat, Typist(out, ["s", "q"]), Voice(out, "never"))
        result = (await server.table(seat.table_id)).result
    text = out.getvalue()
    assert not unfinished
    assert f"you with {result.seats[0].total}".replace("with -", "with minus ") in text
