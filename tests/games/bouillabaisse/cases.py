"""La bouillabaisse, rule by rule: what must happen, worked out by hand from the rules document.

With the dealer scripted as seat 0 the leaders of rounds 1-6 are seats 1, 2, 3, 4, 5, 6 (mod n).
"""

from __future__ import annotations

from tests.reference.casebook import (
    Case,
    Step,
    actions,
    do,
    do_all,
    first_legal,
    last_event,
    legal,
    over,
    placement,
    refused,
    round_sums,
    running,
    seen,
    seen_ever,
    to_act,
    totals,
    turn,
    utility,
    view,
)
from tests.reference.chance import Script

GAME = "bouillabaisse"
RANKS = "23456789TJQKA"
OPTION_NAMES: list[object] = ["first_lead", "twin_rule", "all_or_nothing", "all_or_nothing_last"]
DEALER_0: Script = {("dealer", 0, 0): 0}

# BO-2: seats -> removed cards in action order, hand = tricks a round.
DEALS: dict[int, tuple[str, int]] = {
    2: ("", 26),
    3: ("2C", 17),
    4: ("", 13),
    5: ("2C 2D", 10),
    6: ("2C 2D 2H 2S", 8),
    7: ("2C 2C 2D 2D 2S 2S", 14),
    8: ("", 13),
    9: ("2C 2C 2D 2H 2S", 11),
    10: ("2C 2D 2H 2S", 10),
    11: ("2C 2C 2D 2H 2S", 9),
    12: ("2C 2C 2D 2D 2H 2H 2S 2S", 8),
}


def run(suit: str, low: str, high: str) -> str:
    """The cards of a suit from low to high."""
    ranks = RANKS[RANKS.index(low) : RANKS.index(high) + 1]
    return " ".join(rank + suit for rank in ranks)


def pack(seats: int) -> list[str]:
    """The cards in play at a table of that size, in suit order."""
    cards = [rank + suit for suit in "CDHS" for rank in RANKS] * (1 if seats <= 6 else 2)
    for card in DEALS[seats][0].split():
        cards.remove(card)
    return cards


def deal(round_number: int, seats: int, hands: dict[int, str]) -> Script:
    """A scripted deal: the cards named, the places left filled with the rest in suit order."""
    rest = pack(seats)
    named = {seat: hands.get(seat, "").split() for seat in range(seats)}
    for hand in named.values():
        for card in hand:
            rest.remove(card)
    order: list[str] = []
    for seat in range(seats):
        missing = DEALS[seats][1] - len(named[seat])
        order += named[seat] + rest[:missing]
        del rest[:missing]
    return {("deal", round_number, 0): order}


def drawn(suit: str, rank: str, card: str) -> Script:
    """The three draws of BO-8."""
    return {
        ("suit", 2, 0): "CDHS".index(suit),
        ("rank", 3, 0): "TJQK".index(rank),
        ("card", 4, 0): 4 * "TJQK".index(card[0]) + "CDHS".index(card[1]),
    }


def plays(cards: str) -> list[str]:
    return [f"play {card}" for card in cards.split()]


def trick(leader: int, seats: int, cards: str) -> Step:
    """One trick: the cards in the order played, from the leader on."""
    return do_all(*(f"{(leader + i) % seats} play {card}" for i, card in enumerate(cards.split())))


def table(title: str, rules: str, seats: int, *steps: Step, **more: object) -> Case:
    """A case of this game; `rules` are ids separated by blanks."""
    return Case(title, tuple(rules.split()), GAME, seats, steps, **more)  # type: ignore[arg-type]


def in_round(number: int) -> Step:
    """Play on to the start of the round."""
    return first_legal("round", number)


# Every seat has one whole suit: whoever leads takes all the tricks.
def suited(round_number: int) -> Script:
    whole = {seat: run(suit, "2", "A") for seat, suit in enumerate("CDHS")}
    return deal(round_number, 4, whole)


SWEPT: Script = {**DEALER_0, **drawn("H", "Q", "KS")}
for _round in range(1, 7):
    SWEPT |= suited(_round)


def double_swept() -> Script:
    """Eight seats, two decks: the leader of every round holds the 13 highest clubs."""
    script: Script = {**DEALER_0, **drawn("H", "Q", "KS")}
    high = " ".join(run("C", "9", "A").split() * 2) + " 8C"
    low = " ".join(run("C", "2", "7").split() * 2) + " 8C"
    for number in range(1, 7):
        script |= deal(number, 8, {number: high, (number + 1) % 8: low})
    return script


# Playing first legal cards, the leader L takes 12 tricks with clubs, and the last trick,
# 2S AH AS KD, goes to the seat two places on.
def all_but_last(round_number: int) -> Script:
    lead = round_number % 4
    hands = {
        lead: run("C", "3", "A") + " 2S",
        (lead + 1) % 4: run("H", "2", "A"),
        (lead + 2) % 4: run("S", "3", "A") + " AD",
        (lead + 3) % 4: "2C " + run("D", "2", "K"),
    }
    return deal(round_number, 4, hands)


# The leader L leads clubs to a seat with one club; the two seats between have no clubs.
def club_lead(round_number: int, first: str, second: str) -> Script:
    lead = round_number % 4
    hands = {
        lead: run("C", "3", "A") + " 3D",
        (lead + 1) % 4: first,
        (lead + 2) % 4: second,
        (lead + 3) % 4: "2C",
    }
    return deal(round_number, 4, hands)


def only(seats: int, seat: int, points: int) -> list[int]:
    return [points if other == seat else 0 for other in range(seats)]


def scored(number: int, *points: int) -> Step:
    """The round has been booked with these points."""
    return last_event(-1, "round_scored", round=number, points=list(points))


AON: dict[str, object] = {"all_or_nothing": True}
AON_NONE: dict[str, object] = {"all_or_nothing": True, "all_or_nothing_last": "none"}

MAKING = [
    Case("one seat is too few", ("BO-1", "G-1"), GAME, 1, refused=("seats", [*range(2, 13)])),
    Case("13 seats are too many", ("BO-1", "G-1"), GAME, 13, refused=("seats", [*range(2, 13)])),
    Case(
        "an unknown option",
        ("G-1",),
        GAME,
        4,
        options={"trump": "S"},
        refused=("trump", OPTION_NAMES),
    ),
    Case(
        "first_lead out of range",
        ("G-1", "BO-3"),
        GAME,
        4,
        options={"first_lead": "left"},
        refused=("first_lead", ["after_dealer", "dealer"]),
    ),
    Case(
        "twin_rule out of range",
        ("G-1", "BO-6"),
        GAME,
        8,
        options={"twin_rule": "both"},
        refused=("twin_rule", ["first", "last"]),
    ),
    Case(
        "all_or_nothing is a boolean",
        ("G-1", "BO-15"),
        GAME,
        4,
        options={"all_or_nothing": "yes"},
        refused=("all_or_nothing", [False, True]),
    ),
    Case(
        "all_or_nothing_last out of range",
        ("G-1", "BO-17"),
        GAME,
        4,
        options={"all_or_nothing_last": "double"},
        refused=("all_or_nothing_last", ["reverse", "none"]),
    ),
    table(
        "options without effect at this table are accepted",
        "G-1 BO-6 BO-17",
        4,
        view(-1, round=1),
        options={"twin_rule": "last", "all_or_nothing_last": "none"},
    ),
]

DECKS = [
    table(
        f"{seats} seats: the cards removed and the hands dealt",
        "BO-1 BO-2",
        seats,
        view(-1, removed=removed.split(), hand_sizes=[hand] * seats, phase="play"),
        in_round(6),
        view(-1, removed=removed.split(), hand_sizes=[hand] * seats),
        first_legal(),
        over(),
        # What was played in round 6 is the whole pack: removed cards stay out.
        view(-1, played=sorted(pack(seats), key=lambda c: ("CDHS".index(c[1]), RANKS.index(c[0])))),
    )
    for seats, (removed, hand) in DEALS.items()
]

DEALING = [
    table(
        "the seat to the dealer's left leads, and the deal moves left",
        "BO-3",
        4,
        view(-1, dealer=2, leader=3, to_act=[3], round=1),
        to_act(3),
        seen_ever(-1, {"event": "round_started", "round": 1, "dealer": 2, "leader": 3}),
        in_round(2),
        view(-1, dealer=3, leader=0, to_act=[0]),
        in_round(3),
        view(-1, dealer=0, leader=1),
        in_round(6),
        view(-1, dealer=3, leader=0),
        script={("dealer", 0, 0): 2},
    ),
    table(
        "by option the dealer leads",
        "BO-3",
        5,
        view(-1, dealer=4, leader=4, to_act=[4]),
        in_round(2),
        view(-1, dealer=0, leader=0, to_act=[0]),
        script={("dealer", 0, 0): 4},
        options={"first_lead": "dealer"},
    ),
    table(
        "hands are dealt in blocks, seen by their seat alone",
        "BO-2 BO-19",
        4,
        view(2, hands=[None, None, run("H", "2", "A").split(), None]),
        seen_ever(
            2,
            {"event": "dealt", "seat": 1, "count": 13},
            {"event": "dealt", "seat": 2, "count": 13, "cards": run("H", "2", "A").split()},
            {"event": "dealt", "seat": 3, "count": 13},
        ),
        view(-1, hands=[None] * 4),
        seen_ever(-1, {"event": "dealt", "seat": 2, "count": 13}),
        script={**DEALER_0, **suited(1)},
    ),
]

SIX_HANDS = {
    1: "3C 9C QD 3H 7H KH 5S 9S",
    2: "4C 5C 3D TD AD 4H 4S 6S",
    3: "6C 7C 8C 5H 6H 8H 7S AS",
    4: "4D 9D",
    5: "KD",
    0: "5D",
}
PLAY = [
    table(
        "follow the led suit, or play anything without it",
        "BO-4 BO-5 BO-9 BO-19 G-2",
        6,
        turn(0),
        legal(1, *plays(SIX_HANDS[1])),
        legal(2),
        refused("G-2", 2, "play TD"),
        refused("G-2", 1, "play AD"),
        refused("G-2", 1, "play 1D"),
        refused("G-2", 1, "QD"),
        refused("G-2", 1, "bid 1"),
        refused("G-2", 6, "play QD"),
        do(1, "play QD"),
        turn(1),
        to_act(2),
        view(-1, led_suit="D", trick=[[1, "QD"]], last_trick=[], last_winner=None),
        legal(2, *plays("3D TD AD")),
        refused("BO-4", 2, "play 4C"),
        refused("G-2", 1, "play 3C"),
        do(2, "play TD"),
        legal(3, *plays(SIX_HANDS[3])),
        do(3, "play AS"),
        view(-1, voids=[[], [], [], ["D"], [], []]),
        # King of diamonds: the highest of the led suit. The ace of spades takes nothing.
        do_all("4 play 9D", "5 play KD", "0 play 5D"),
        seen(-1, {"event": "trick_taken", "seat": 5, "points": 5}),
        running(0, 0, 0, 0, 0, 5),
        to_act(5),
        turn(6),
        view(
            -1,
            leader=5,
            trick=[],
            led_suit=None,
            last_winner=5,
            last_trick=[[1, "QD"], [2, "TD"], [3, "AS"], [4, "9D"], [5, "KD"], [0, "5D"]],
            tricks_taken=[0, 0, 0, 0, 0, 1],
            hand_sizes=[7] * 6,
            played=["5D", "9D", "TD", "QD", "KD", "AS"],
            voids=[[], [], [], ["D"], [], []],
        ),
        script={**DEALER_0, **deal(1, 6, SIX_HANDS)},
    ),
    table(
        "ace is high and 2 is low",
        "BO-1 BO-5",
        4,
        trick(1, 4, "2D 3D KD AD"),
        last_event(-1, "trick_taken", seat=0, points=5),
        script={**DEALER_0, **deal(1, 4, {1: "2D", 2: "3D", 3: "KD", 0: "AD"})},
    ),
    table(
        "no suit is trump: the 2 that leads takes three aces",
        "BO-1 BO-5",
        4,
        trick(1, 4, "2D AH AS AC"),
        last_event(-1, "trick_taken", seat=1, points=5),
        script={**DEALER_0, **suited(1)},
    ),
    table(
        "all tricks are played, and a penalty suit may be led",
        "BO-7 BO-10",
        4,
        in_round(2),
        view(-1, drawn_suit="H", to_act=[2]),
        legal(2, *plays(run("H", "2", "A"))),
        trick(2, 4, "2H 2S 2C 2D"),
        last_event(-1, "trick_taken", seat=2, points=10),
        actions(44),
        view(-1, round=2, tricks_taken=[0, 0, 12, 0], hand_sizes=[1, 1, 1, 1]),
        script=SWEPT,
    ),
]


def twin_trick(title: str, cards: str, rule: str, winner: int) -> Case:
    """Seven seats, seat 0 leads; every seat has a heart and plays it."""
    hands = dict(enumerate(cards.split()))
    return table(
        title,
        "BO-6",
        7,
        trick(0, 7, cards),
        last_event(-1, "trick_taken", seat=winner, points=5),
        to_act(winner),
        script={("dealer", 0, 0): 6, **deal(1, 7, hands)},
        options={"twin_rule": rule},
    )


TWIN_HAND = "3C 3C 4C 5C QC QC 4D 7D 7D 9H JH 3S AS AS"
TWINS = [
    twin_trick("of twins the first takes", "KH AH AH 3H 4H 5H 6H", "first", 1),
    twin_trick("of twins the last takes by option", "KH AH AH 3H 4H 5H 6H", "last", 2),
    twin_trick("the leader's card is the first twin", "AH 2H 3H 4H 5H 6H AH", "first", 0),
    twin_trick("the leader's twin comes last", "AH 2H 3H 4H 5H 6H AH", "last", 6),
    twin_trick("lower twins take nothing", "AH KH KH 3H 4H 5H 6H", "last", 0),
    table(
        "twin cards in a hand are one action",
        "BO-1 BO-19",
        7,
        legal(0, *plays("3C 4C 5C QC 4D 7D 9H JH 3S AS")),
        do(0, "play QC"),
        # The other queen of clubs is still there.
        view(0, hands=[TWIN_HAND.replace("QC QC", "QC").split(), *[None] * 6]),
        script={("dealer", 0, 0): 6, **deal(1, 7, {0: TWIN_HAND})},
    ),
]

DRAWS = [
    *(
        table(
            f"the drawn suit {suit}",
            "BO-8",
            4,
            view(-1, drawn_suit=None, drawn_rank=None, drawn_card=None),
            in_round(2),
            seen(
                -1,
                {"event": "dealt", "seat": 3, "count": 13},
                {"event": "suit_drawn", "suit": suit},
            ),
            view(-1, drawn_suit=suit, drawn_rank=None, drawn_card=None),
            script={("suit", 2, 0): number},
        )
        for number, suit in enumerate("CDHS")
    ),
    *(
        table(
            f"the drawn rank {rank}",
            "BO-8",
            4,
            in_round(3),
            seen(
                -1,
                {"event": "dealt", "seat": 3, "count": 13},
                {"event": "rank_drawn", "rank": rank},
            ),
            view(-1, drawn_rank=rank, drawn_card=None),
            script={("rank", 3, 0): number},
        )
        for number, rank in enumerate("TJQK")
    ),
    *(
        table(
            f"the drawn card {card}",
            "BO-8",
            4,
            in_round(4),
            seen(
                -1,
                {"event": "dealt", "seat": 3, "count": 13},
                {"event": "card_drawn", "card": card},
            ),
            view(-1, drawn_card=card),
            script={("card", 4, 0): number},
        )
        for number, card in enumerate(rank + suit for rank in "TJQK" for suit in "CDHS")
    ),
    table(
        "the three draws stay in force, and may name the same card thrice",
        "BO-8",
        4,
        in_round(5),
        view(-1, drawn_suit="H", drawn_rank="Q", drawn_card="QH"),
        seen(-1, {"event": "dealt", "seat": 3, "count": 13}),
        in_round(6),
        view(-1, drawn_suit="H", drawn_rank="Q", drawn_card="QH"),
        seen(-1, {"event": "dealt", "seat": 3, "count": 13}),
        script=drawn("H", "Q", "QH"),
    ),
]

POINTS = [
    table(
        "round 1: 5 a trick",
        "BO-9",
        4,
        trick(1, 4, "2D 2H 2S 2C"),
        running(0, 5, 0, 0),
        trick(1, 4, "3D 3H 3S 3C"),
        running(0, 10, 0, 0),
        totals(0, 0, 0, 0),
        script={**DEALER_0, **suited(1)},
    ),
    table(
        "round 2: 10 a card of the drawn suit",
        "BO-10",
        4,
        in_round(2),
        trick(2, 4, "AC KH QH 2C"),
        last_event(-1, "trick_taken", seat=2, points=20),
        running(0, 0, 20, 0),
        script={**DEALER_0, **drawn("H", "Q", "KS"), **club_lead(2, "KH", "QH")},
    ),
    table(
        "round 3: 50 a card of the drawn rank",
        "BO-11",
        4,
        in_round(3),
        trick(3, 4, "QC QH QS 2C"),
        last_event(-1, "trick_taken", seat=3, points=150),
        running(0, 0, 0, 150),
        script={**DEALER_0, **drawn("H", "Q", "KS"), **club_lead(3, "QH", "QS")},
    ),
    table(
        "round 4: 200 for the drawn card",
        "BO-12",
        4,
        in_round(4),
        trick(0, 4, "KC KS KH 2C"),
        last_event(-1, "trick_taken", seat=0, points=200),
        trick(0, 4, "AC 2D 2H 3H"),
        last_event(-1, "trick_taken", seat=0, points=0),
        running(200, 0, 0, 0),
        # Clubs are gone after the lead: seats 1-3 discard what they were dealt.
        script={
            **DEALER_0,
            **drawn("H", "Q", "KS"),
            **deal(4, 4, {0: run("C", "3", "A") + " 3D", 1: "KS 2D", 2: "KH 2H", 3: "2C 3H"}),
        },
    ),
    table(
        "round 4 with two decks: 200 a copy",
        "BO-12",
        8,
        in_round(4),
        trick(4, 8, "AC 2C KS KS 2D 2D 2H 2H"),
        last_event(-1, "trick_taken", seat=4, points=400),
        running(0, 0, 0, 0, 400, 0, 0, 0),
        script={
            **DEALER_0,
            **drawn("H", "Q", "KS"),
            **deal(
                4,
                8,
                {
                    4: run("C", "2", "A"),
                    5: run("C", "2", "A"),
                    6: "KS",
                    7: "KS",
                    0: "2D",
                    1: "2D",
                    2: "2H",
                    3: "2H",
                },
            ),
        },
    ),
    table(
        # 5 for the trick, QH 10 + 50 + 200, QS 50.
        "round 5: a card that is several of the drawn ones counts for each",
        "BO-13",
        4,
        in_round(5),
        trick(1, 4, "AC QH QS 2C"),
        last_event(-1, "trick_taken", seat=1, points=315),
        running(0, 315, 0, 0),
        script={**DEALER_0, **drawn("H", "Q", "QH"), **club_lead(5, "QH", "QS")},
    ),
    table(
        # 5 for the trick, KH 10, QS 50 + 200.
        "round 5: the four aims add up",
        "BO-13",
        4,
        in_round(5),
        trick(1, 4, "AC KH QS 2C"),
        running(0, 265, 0, 0),
        script={**DEALER_0, **drawn("H", "Q", "QS"), **club_lead(5, "KH", "QS")},
    ),
    table(
        "round 6: the same, subtracted",
        "BO-14",
        4,
        in_round(6),
        trick(2, 4, "AC QH QS 2C"),
        last_event(-1, "trick_taken", seat=2, points=-315),
        running(0, 0, -315, 0),
        script={**DEALER_0, **drawn("H", "Q", "QH"), **club_lead(6, "QH", "QS")},
    ),
]

SWEEPS = [
    table(
        # R5 = 65 + 130 + 200 + 200.
        "whole rounds swept with the option off",
        "BO-9 BO-10 BO-11 BO-12 BO-13 BO-14 BO-18",
        4,
        first_legal(),
        over(),
        view(
            -1,
            round_points=[
                only(4, 1, 65),
                only(4, 2, 130),
                only(4, 3, 200),
                only(4, 0, 200),
                only(4, 1, 595),
                only(4, 2, -595),
            ],
        ),
        totals(200, 660, -465, 200),
        # -465 first, 200 and 200 share the second place, 660 is fourth.
        placement(2, 4, 1, 2),
        # Mean places 2.5, 4, 1, 2.5: (4 - p) / 3.
        utility(0.5, 0.0, 1.0, 0.5),
        view(-1, phase="over", to_act=[], totals=[200, 660, -465, 200], points=[0] * 4),
        seen(
            -1,
            {
                "event": "round_scored",
                "round": 6,
                "points": [0, 0, -595, 0],
                "totals": [200, 660, -465, 200],
            },
            {"event": "match_ended", "placement": [2, 4, 1, 2], "totals": [200, 660, -465, 200]},
        ),
        refused("G-2", 0, "play 2C"),
        script=SWEPT,
    ),
    table(
        "whole rounds swept with all_or_nothing",
        "BO-15 BO-16 BO-17 BO-18",
        4,
        actions(52),
        scored(1, 0, -65, 0, 0),
        first_legal(),
        view(
            -1,
            round_points=[
                only(4, 1, -65),
                only(4, 2, -130),
                only(4, 3, -200),
                only(4, 0, 200),
                only(4, 1, -595),
                only(4, 2, 595),
            ],
        ),
        totals(200, -660, 465, -200),
        placement(3, 1, 4, 2),
        script=SWEPT,
        options=AON,
    ),
    table(
        "all_or_nothing_last = none leaves round 6 subtracted",
        "BO-17",
        4,
        first_legal(),
        scored(6, 0, 0, -595, 0),
        totals(200, -660, -725, -200),
        placement(4, 2, 1, 3),
        script=SWEPT,
        options=AON_NONE,
    ),
    table(
        "all_or_nothing_last has no effect without all_or_nothing",
        "BO-17",
        4,
        first_legal(),
        totals(200, 660, -465, 200),
        script=SWEPT,
        options={"all_or_nothing_last": "none"},
    ),
    table(
        "two decks swept with all_or_nothing",
        "BO-12 BO-15 BO-16 BO-17",
        8,
        first_legal(),
        view(
            -1,
            round_points=[
                only(8, 1, -65),
                only(8, 2, -260),
                only(8, 3, -400),
                only(8, 4, 400),
                only(8, 5, -1125),
                only(8, 6, 1125),
            ],
        ),
        script=double_swept(),
        options=AON,
    ),
    table(
        "round 1: twelve tricks of thirteen turn nothing around",
        "BO-15",
        4,
        actions(52),
        scored(1, 0, 60, 0, 5),
        script={**DEALER_0, **all_but_last(1)},
        options=AON,
    ),
    table(
        "round 2: all cards of the drawn suit are enough, not all tricks are needed",
        "BO-15",
        4,
        in_round(3),
        scored(2, 0, 0, -130, 0),
        script={**DEALER_0, **drawn("C", "Q", "KS"), **all_but_last(2)},
        options=AON,
    ),
    table(
        # 2S and AS lie in the last trick, which seat 0 takes.
        "round 2: eleven cards of thirteen turn nothing around",
        "BO-15",
        4,
        in_round(3),
        scored(2, 20, 0, 110, 0),
        script={**DEALER_0, **drawn("S", "Q", "KS"), **all_but_last(2)},
        options=AON,
    ),
    table(
        "round 2 at three: the twelve clubs that were dealt are all there are",
        "BO-2 BO-15",
        3,
        in_round(3),
        scored(2, 0, 0, -120),
        script={**DEALER_0, **drawn("C", "Q", "KS"), **deal(2, 3, {2: run("C", "3", "A")})},
        options=AON,
    ),
    table(
        "round 3: all four cards of the rank, -200, without the last trick",
        "BO-15",
        4,
        in_round(4),
        scored(3, 0, 0, 0, -200),
        script={**DEALER_0, **drawn("H", "Q", "KS"), **all_but_last(3)},
        options=AON,
    ),
    table(
        # KD lies in the last trick, which seat 1 takes.
        "round 3: three cards of four turn nothing around",
        "BO-11 BO-15",
        4,
        in_round(4),
        scored(3, 0, 50, 0, 150),
        script={**DEALER_0, **drawn("H", "K", "KS"), **all_but_last(3)},
        options=AON,
    ),
    table(
        # Seat 3 wins twelve tricks with clubs; the last, 2S 8C AS QD AS AH KS AH, is seat 5's,
        # who played the first of the two aces. Seat 3 has a queen of every suit, but not all.
        "round 3 with two decks: seven cards of eight turn nothing around",
        "BO-6 BO-11 BO-15",
        8,
        in_round(4),
        scored(3, 0, 0, 0, 350, 0, 50, 0, 0),
        script={
            **DEALER_0,
            **drawn("H", "Q", "KS"),
            **deal(
                3,
                8,
                {
                    3: run("C", "9", "A") + " " + run("C", "9", "A") + " 2S",
                    4: run("C", "2", "7") + " " + run("C", "2", "7") + " 8C",
                    5: "8C 7H AS " + run("H", "2", "6") + " " + run("H", "2", "6"),
                    6: run("D", "2", "7") + " " + run("D", "2", "7") + " QD",
                },
            ),
        },
        options=AON,
    ),
    table(
        "round 4: the one card there is never turns around",
        "BO-16",
        4,
        in_round(5),
        scored(4, 200, 0, 0, 0),
        script={**DEALER_0, **drawn("H", "K", "QC"), **all_but_last(4)},
        options=AON,
    ),
    table(
        # 12 x 5 + 13 x 10 + 4 x 50 + 200 = 590; the last trick is 5.
        "round 5: every point card but not every trick turns nothing around",
        "BO-13 BO-15",
        4,
        in_round(6),
        scored(5, 0, 590, 0, 5),
        script={**DEALER_0, **drawn("C", "Q", "QC"), **all_but_last(5)},
        options=AON,
    ),
    table(
        "round 6: every point card but not every trick turns nothing around",
        "BO-14 BO-17",
        4,
        first_legal(),
        scored(6, -5, 0, -590, 0),
        script={**DEALER_0, **drawn("C", "Q", "QC"), **all_but_last(6)},
        options=AON,
    ),
]

BOOKING = [
    table(
        "points are booked with the last trick, and the next round is dealt",
        "BO-18 BO-15 BO-9",
        4,
        actions(51),
        totals(0, 0, 0, 0),
        running(0, 60, 0, 0),
        actions(1),
        seen_ever(
            -1,
            {"event": "trick_taken", "seat": 1, "points": 5},
            {
                "event": "round_scored",
                "round": 1,
                "points": [0, -65, 0, 0],
                "totals": [0, -65, 0, 0],
            },
            {"event": "round_started", "round": 2, "dealer": 1, "leader": 2},
        ),
        totals(0, -65, 0, 0),
        running(0, 0, 0, 0),
        placement(2, 1, 2, 2),
        turn(52),
        view(
            -1,
            round=2,
            round_points=[[0, -65, 0, 0]],
            played=[],
            last_trick=[],
            last_winner=None,
            tricks_taken=[0] * 4,
            voids=[[], [], [], []],
        ),
        script=SWEPT,
        options=AON,
    ),
]

SECRECY = [
    table(
        "with two players each sees both hands, a spectator neither",
        "BO-19",
        2,
        *(
            view(
                viewer,
                hands=[
                    run("C", "2", "A").split() + run("H", "2", "A").split(),
                    run("D", "2", "A").split() + run("S", "2", "A").split(),
                ],
            )
            for viewer in (0, 1)
        ),
        view(-1, hands=[None, None], hand_sizes=[26, 26]),
        seen_ever(-1, {"event": "dealt", "seat": 0, "count": 26}),
        seen_ever(
            0,
            {
                "event": "dealt",
                "seat": 1,
                "count": 26,
                "cards": run("D", "2", "A").split() + run("S", "2", "A").split(),
            },
        ),
        seen_ever(
            1,
            {
                "event": "dealt",
                "seat": 0,
                "count": 26,
                "cards": run("C", "2", "A").split() + run("H", "2", "A").split(),
            },
        ),
        script={
            **DEALER_0,
            **deal(1, 2, {0: run("C", "2", "A") + " " + run("H", "2", "A")}),
        },
    ),
    table(
        "who didn't follow is known void for the rest of the round",
        "BO-19",
        4,
        trick(1, 4, "2D 2H 2S 2C"),
        *(view(viewer, voids=[["D"], [], ["D"], ["D"]]) for viewer in (-1, 0, 1, 2, 3)),
        trick(1, 4, "3D 3H 3S 3C"),
        view(-1, voids=[["D"], [], ["D"], ["D"]]),
        in_round(2),
        view(-1, voids=[[], [], [], []]),
        # Round 2: seat 2 leads hearts.
        trick(2, 4, "2H 2S 2C 2D"),
        view(-1, voids=[["H"], ["H"], [], ["H"]]),
        script=SWEPT,
    ),
    table(
        "the keyboard queries are answered from the view",
        "BO-20 BO-8 BO-18",
        4,
        # C with nothing on the table and no last trick, F, T.
        view(-1, trick=[], last_trick=[], last_winner=None, led_suit=None, to_act=[1]),
        trick(1, 4, "2D 2H 2S 2C"),
        # C with nothing on the table: the last trick and who took it.
        view(
            -1,
            trick=[],
            last_trick=[[1, "2D"], [2, "2H"], [3, "2S"], [0, "2C"]],
            last_winner=1,
        ),
        # C and 1-9: the cards on the table; F: the led suit; T: whose turn it is.
        do_all("1 play 3D", "2 play 3H"),
        view(-1, trick=[[1, "3D"], [2, "3H"]], led_suit="D", to_act=[3]),
        # S: the scores and the points so far.
        view(-1, totals=[0, 0, 0, 0], points=[0, 5, 0, 0]),
        # R: the round and the draws in force.
        in_round(4),
        view(-1, round=4, drawn_suit="H", drawn_rank="Q", drawn_card="KS"),
        view(-1, totals=[0, 65, 130, 200], points=[0, 0, 0, 0]),
        script=SWEPT,
    ),
]

# The Checks table: seats -> R1, R2 by drawn suit, R5 by drawn suit (clubs, diamonds, spades,
# hearts: the order of that table).
CHECKS: dict[int, tuple[int, list[int], list[int]]] = {
    2: (130, [130, 130, 130, 130], [660, 660, 660, 660]),
    3: (85, [120, 130, 130, 130], [605, 615, 615, 615]),
    4: (65, [130, 130, 130, 130], [595, 595, 595, 595]),
    5: (50, [120, 120, 130, 130], [570, 570, 580, 580]),
    6: (40, [120, 120, 120, 120], [560, 560, 560, 560]),
    7: (70, [240, 240, 240, 260], [1110, 1110, 1110, 1130]),
    8: (65, [260, 260, 260, 260], [1125, 1125, 1125, 1125]),
    9: (55, [240, 250, 250, 250], [1095, 1105, 1105, 1105]),
    10: (50, [250, 250, 250, 250], [1100, 1100, 1100, 1100]),
    11: (45, [240, 250, 250, 250], [1085, 1095, 1095, 1095]),
    12: (40, [240, 240, 240, 240], [1080, 1080, 1080, 1080]),
}
SUMS = [
    table(
        f"sums of the rounds, {seats} seats, drawn suit {suit}",
        "BO-1 BO-2 BO-9 BO-10 BO-11 BO-12 BO-13 BO-14",
        seats,
        first_legal(),
        round_sums(
            first,
            seconds[number],
            200 if seats <= 6 else 400,
            200 if seats <= 6 else 400,
            fifths[number],
            -fifths[number],
        ),
        script={("suit", 2, 0): "CDHS".index(suit)},
    )
    for seats, (first, seconds, fifths) in CHECKS.items()
    for number, suit in enumerate("CDSH")
]

CASES: list[Case] = [
    *MAKING,
    *DECKS,
    *DEALING,
    *PLAY,
    *TWINS,
    *DRAWS,
    *POINTS,
    *SWEEPS,
    *BOOKING,
    *SECRECY,
    *SUMS,
]
