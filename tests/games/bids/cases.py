"""Bids, rule by rule: what must happen, worked out by hand from the rules document.

A trick is written in bidding order, `seat card` a bid, bids separated by `|`. Hands are scripted
from the tricks; what a case doesn't name is filled up with the cards that come first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

from tests.reference.bids_cards import Setting, deal_script
from tests.reference.casebook import (
    Case,
    Engine,
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

GAME = "bids"
OPTIONS: dict[str, list[object]] = {
    "five_player_max": [12, 10],
    "minus_five": [True, False],
    "surprise": [False, True],
    "lowest": [False, True],
    "thief": [False, True],
    "ally": [False, True],
    "rounds": list(range(1, 21)),
    "colours": [False, True],
    "highlight_winning": [True, False],
    "thief_fallback": ["best_bid", "next_worst"],
}
Fields = dict[str, object]


def parsed(trick: str) -> list[tuple[int, str]]:
    bids = []
    for bid in trick.split("|"):
        seat, card = bid.split()
        bids.append((int(seat), card))
    return bids


def cards(text: str) -> list[str]:
    return text.split()


def tricks(*written: str) -> Step:
    """The bids of the tricks, one after another."""
    return do_all(*(f"{seat} bid {card}" for trick in written for seat, card in parsed(trick)))


def filled(
    setting: Setting, named: Sequence[Sequence[str]], pile: Sequence[str]
) -> list[list[str]]:
    """Whole hands: the cards named, then black numbers from the top, the Ally, the coloured."""
    hands = [list(hand) for hand in named]
    held = [card for hand in hands for card in hand]
    free = [card for card in setting.may_be_dealt if card[0] == "K"]
    free = [card for card in reversed(free) if card not in held and card not in pile]
    blacks = setting.row.blacks_dealt - sum(card in setting.may_be_dealt for card in held)
    rest = free[:blacks] + setting.ally + setting.coloured
    rest = [card for card in rest if card not in held]
    for hand in hands:
        while len(hand) < setting.hand:
            hand.append(rest.pop(0))
    return hands


def scripted(
    seats: int, options: Mapping[str, object], written: Sequence[str], pile: str
) -> Script:
    """Round 1 with hands from which the tricks can be bid; the first bid's seat leads."""
    setting = Setting(seats, options)
    named: list[list[str]] = [[] for _ in range(seats)]
    for trick in written:
        for seat, card in parsed(trick):
            named[seat].append(card)
    order = pile.split()
    leader = parsed(written[0])[0][0]
    hands = filled(setting, named, order)
    return {("leader", 0, 0): leader, **deal_script(setting, 1, hands, order)}


def table(title: str, rules: str, seats: int, *steps: Step, **more: object) -> Case:
    """A case of this game; `rules` are ids separated by blanks."""
    return Case(title, tuple(rules.split()), GAME, seats, steps, **more)  # type: ignore[arg-type]


def played(
    title: str, rules: str, written: list[str], pile: str, *steps: Step, **options: object
) -> Case:
    """The tricks bid as written, with the pile turned up in this order, and then the steps."""
    seats = len(parsed(written[0]))
    return table(
        title,
        rules,
        seats,
        tricks(*written),
        *steps,
        script=scripted(seats, options, written, pile),
        options=options,
    )


def watched(
    title: str, rules: str, written: str, pile: str, winning: list[int | None], **options: object
) -> Case:
    """One trick, and which seat's bid is highlighted after each bid but the last."""
    bids = parsed(written)
    steps: list[Step] = [view(-1, winning=None)]
    for (seat, card), wins in zip(bids[:-1], winning, strict=True):
        steps += [do(seat, f"bid {card}"), view(-1, winning=wins), view(seat, winning=wins)]
    return table(
        title,
        rules,
        len(bids),
        *steps,
        script=scripted(len(bids), options, [written], pile),
        options=options,
    )


def won(seat: int, *cards: str, points: int) -> Fields:
    return {"event": "blacks_won", "seat": seat, "cards": list(cards), "points": points}


def taken(seat: int, card: str) -> Fields:
    return {"event": "card_taken", "seat": seat, "card": card}


def turned(card: str) -> Fields:
    return {"event": "centre_turned", "card": card}


def stolen(thief: int, victim: int, card: str) -> Fields:
    return {"event": "stolen", "thief": thief, "victim": victim, "card": card}


def doubled(seat: int, points: int) -> Fields:
    return {"event": "points_doubled", "seat": seat, "points": points}


LOWEST_SET: Fields = {"event": "lowest_set"}


def wins(title: str, rules: str, trick: str, winner: int, centre: str = "K5", **o: object) -> Case:
    """One trick, and who wins it and leads."""
    pile = f"Lowest {centre}" if o.get("lowest") else centre
    return played(
        title,
        rules,
        [trick],
        pile,
        last_event(-1, "trick_won", seat=winner),
        view(-1, last_winner=winner, leader=winner, to_act=[winner], last_centre=centre),
        **o,
    )


def burns(title: str, rules: str, trick: str, leads: int, centre: str = "K5", **o: object) -> Case:
    """One trick that nobody wins, and who leads the next."""
    seats = len(parsed(trick))
    pile = f"Lowest {centre}" if o.get("lowest") else centre
    return played(
        title,
        rules,
        [trick],
        pile,
        last_event(-1, "trick_burnt", next=leads),
        view(-1, last_winner=None, leader=leads, to_act=[leads], last_centre=centre),
        view(-1, tricks_won=[0] * seats, won=[[]] * seats),
        running(*[0] * seats),
        **o,
    )


def on(*names: str) -> dict[str, object]:
    """Options that are on."""
    return dict.fromkeys(names, True)


MAKING = [
    Case("two seats are too few", ("BI-1", "G-1"), GAME, 2, refused=("seats", [3, 4, 5, 6])),
    Case("seven seats are too many", ("BI-1", "G-1"), GAME, 7, refused=("seats", [3, 4, 5, 6])),
    Case(
        "an unknown option", ("G-1",), GAME, 4, options={"aces": 1}, refused=("aces", list(OPTIONS))
    ),
    *(
        Case(
            f"{name} = {value!r} is out of range",
            ("G-1", rule),
            GAME,
            4,
            options={name: value},
            refused=(name, OPTIONS[name]),
        )
        for name, value, rule in [
            ("five_player_max", 11, "BI-1"),
            ("minus_five", 1, "BI-2"),
            ("surprise", "on", "BI-2"),
            ("lowest", "on", "BI-2"),
            ("thief", 0, "BI-2"),
            ("ally", "on", "BI-3"),
            ("rounds", 0, "BI-4"),
            ("rounds", 21, "BI-4"),
            ("rounds", True, "BI-4"),
            ("colours", "off", "BI-4"),
            ("highlight_winning", 1, "BI-4"),
            ("thief_fallback", "none", "BI-17"),
        ]
    ),
    *(
        Case(title, ("G-1", "BI-4"), GAME, seats, options=on(*names), refused=(name, [allowed]))
        for title, seats, names, name, allowed in [
            ("no Thief with colours", 4, ["thief", "colours"], "thief", False),
            ("three play without the Ally", 3, ["ally"], "ally", False),
        ]
    ),
    Case(
        "six play with the Ally",
        ("G-1", "BI-4"),
        GAME,
        6,
        options={"ally": False},
        refused=("ally", [True]),
    ),
    *(
        table(
            f"without effect, but accepted: {options}",
            "G-1",
            seats,
            view(-1, round=1, phase="bid"),
            options=options,
        )
        for seats, options in [
            (3, {"five_player_max": 10, "ally": False}),
            (6, {"thief_fallback": "next_worst", "ally": True}),
        ]
    ),
]


def in_hands(count: int) -> Step:
    """How many cards in all the hands are not coloured; none of them Lowest or Thief."""

    def step(engine: Engine) -> None:
        held: list[str] = []
        for seat in range(len(engine.totals())):
            hands = engine.view(seat)["hands"]
            assert isinstance(hands, list)
            held += hands[seat]
        others = [card for card in held if card[0] not in "RGBY"]
        assert len(others) == count, f"{others} are in hands, not {count}"
        assert not {"Lowest", "Thief"} & set(others)

    return step


def deck(
    seats: int, options: dict[str, object], hand: int, left_over: int, pile: int, black: int
) -> Case:
    """How many cards go where; `black` is how many of the hands' cards are black or white."""
    return table(
        f"{seats} seats with {options or 'defaults'}",
        "BI-1 BI-2 BI-3 BI-4",
        seats,
        seen_ever(
            -1,
            {
                "event": "round_started",
                "round": 1,
                "leader": 1,
                "left_over": left_over,
                "pile": pile,
            },
        ),
        view(-1, left_over=left_over, hand_sizes=[hand] * seats),
        in_hands(black),
        first_legal("round", 2),
        view(-1, left_over=left_over, hand_sizes=[hand] * seats),
        last_event(-1, "round_started", leader=2, left_over=left_over, pile=pile),
        in_hands(black),
        script={("leader", 0, 0): 1},
        options=options,
    )


DECKS = [
    # Pile: the blacks numbered 1 to M, 2X, -5 and the options' cards, less those in hands.
    deck(3, {}, 10, 1, 11, 1),
    deck(3, {"minus_five": False}, 10, 1, 10, 1),
    deck(3, {"surprise": True, "lowest": True, "thief": True}, 10, 1, 14, 1),
    deck(4, {}, 10, 1, 11, 1),
    deck(4, {"ally": True}, 10, 2, 11, 2),
    deck(4, {"lowest": True}, 10, 1, 12, 1),
    deck(5, {}, 10, 1, 12, 3),
    deck(5, {"ally": False}, 10, 0, 12, 2),
    deck(5, {"five_player_max": 10}, 8, 3, 10, 3),
    deck(5, {"five_player_max": 10, "ally": False}, 8, 2, 10, 2),
    deck(6, {}, 10, 0, 13, 4),
    deck(6, {"minus_five": False, "thief": True}, 10, 0, 13, 4),
    table(
        "three players: red, green, blue from 1 to 10; the left-over card is never seen",
        "BI-1 BI-3 BI-23",
        3,
        view(0, hands=[[f"R{v}" for v in range(1, 11)], None, None]),
        view(1, hands=[None, [f"G{v}" for v in range(1, 11)], None]),
        view(2, hands=[None, None, [*(f"B{v}" for v in range(1, 10)), "2X"]]),
        view(-1, hands=[None, None, None], centre="-5", left_over=1),
        script={
            ("left_over", 1, 0): ["B10", *(f"{c}{v}" for c in "RGB" for v in range(1, 11))][:1]
            + [f"{c}{v}" for c in "RGB" for v in range(1, 11) if (c, v) != ("B", 10)],
            ("blacks", 1, 0): ["2X", *(f"K{v}" for v in range(1, 11)), "-5"],
            ("deal", 1, 0): [f"{c}{v}" for c in "RGB" for v in range(1, 11) if (c, v) != ("B", 10)]
            + ["2X"],
            ("pile", 1, 0): ["-5", *(f"K{v}" for v in range(1, 11))],
        },
    ),
    table(
        "six players: four colours to 14, all of them in hands, three blacks and the Ally",
        "BI-1 BI-2 BI-3",
        6,
        *(
            view(seat, hands=[hand if seat == other else None for other in range(6)])
            for seat, hand in enumerate(
                [
                    [f"R{v}" for v in range(1, 11)],
                    [*(f"R{v}" for v in range(11, 15)), *(f"G{v}" for v in range(1, 7))],
                    [*(f"G{v}" for v in range(7, 15)), "B1", "B2"],
                    [f"B{v}" for v in range(3, 13)],
                    ["B13", "B14", *(f"Y{v}" for v in range(1, 9))],
                    [*(f"Y{v}" for v in range(9, 15)), "K14", "-5", "Surprise", "Ally"],
                ]
            )
        ),
        view(-1, centre="Thief", pile_size=14, played=["Lowest", "Thief"], lowest=True),
        script={
            ("left_over", 1, 0): [f"{c}{v}" for c in "RGBY" for v in range(1, 15)],
            ("blacks", 1, 0): [
                "Surprise",
                "K14",
                "-5",
                *(f"K{v}" for v in range(1, 14)),
                "2X",
            ],
            ("deal", 1, 0): [f"{c}{v}" for c in "RGBY" for v in range(1, 15)]
            + ["K14", "-5", "Surprise", "Ally"],
            ("pile", 1, 0): ["Lowest", "Thief", "2X", *(f"K{v}" for v in range(1, 14))],
        },
        options={"surprise": True, "lowest": True, "thief": True},
    ),
]

# Seat 0 wins every trick if everybody bids from the low end of the hand: see `sweep`.
SWEEPS = {
    3: [
        "R7 R8 R9 R10 G8 G9 G10 B8 B9 B10",
        "R1 R2 R3 R4 R5 R6 G1 G2 G3 G4",
        "G5 G6 G7 B1 B2 B3 B4 B5 B6 K1",
    ],
    4: [
        "R8 R9 R10 G9 G10 B9 B10 Y8 Y9 Y10",
        "R1 R2 R3 R4 R5 R6 R7 G1 G2 G3",
        "G4 G5 G6 G7 G8 B1 B2 B3 B4 B5",
        "B6 B7 B8 Y1 Y2 Y3 Y4 Y5 Y6 K1",
    ],
    5: [
        "R10 R11 R12 G11 G12 B11 B12 Y10 Y11 Y12",
        "R1 R2 R3 R4 R5 R6 R7 R8 R9 G1",
        "G2 G3 G4 G5 G6 G7 G8 G9 G10 B1",
        "B2 B3 B4 B5 B6 B7 B8 B9 B10 Y1",
        "Y2 Y3 Y4 Y5 Y6 Y7 Y8 Y9 K1 K2",
    ],
    6: [
        "R12 R13 R14 G13 G14 B13 B14 Y12 Y13 Y14",
        "R1 R2 R3 R4 R5 R6 R7 R8 R9 R10",
        "R11 G1 G2 G3 G4 G5 G6 G7 G8 G9",
        "G10 G11 G12 B1 B2 B3 B4 B5 B6 B7",
        "B8 B9 B10 B11 B12 Y1 Y2 Y3 Y4 Y5",
        "Y6 Y7 Y8 Y9 Y10 Y11 K1 K2 K3 Ally",
    ],
}


def sweep(seats: int, number: int, pile: str, winner: int = 0, **options: object) -> Script:
    """A round in which `winner` takes every trick when all bid their first legal cards.

    The blacks K1 (K2, K3) are bid late by the seat before the winner, the Ally last.
    """
    hands = [hand.split() for hand in SWEEPS[seats]]
    order = [hands[(seat - winner) % seats] for seat in range(seats)]
    return deal_script(Setting(seats, options), number, order, pile.split())


def numbers(first: int, last: int) -> str:
    return " ".join(f"K{v}" for v in range(first, last + 1))


# -5, doubled, then 2 to 9 and K1 in the last trick: 2 x -5 + 44 + 1 = 35.
PILE_35 = f"-5 2X {numbers(2, 10)}"
ROUND_35 = 35

COURSE = [
    table(
        "round r is led by the seat r-1 places to the left of the first leader",
        "BI-5",
        4,
        view(-1, round=1, leader=2, to_act=[2], phase="bid"),
        first_legal("round", 2),
        view(-1, leader=3, to_act=[3]),
        first_legal("round", 3),
        view(-1, leader=0),
        first_legal("round", 4),
        view(-1, leader=1),
        first_legal("round", 5),
        view(-1, leader=2),
        first_legal(),
        over(),
        view(-1, round=5, phase="over", to_act=[], centre=None),
        refused("G-2", 0, "bid R1"),
        script={("leader", 0, 0): 2},
    ),
    *(
        table(
            f"{rounds} rounds by option",
            "BI-4 BI-22",
            3,
            first_legal("round", rounds),
            actions(29),
            view(-1, phase="bid", hand_sizes=[int(seat == last) for seat in range(3)]),
            actions(1),
            over(),
            turn(30 * rounds),
            # The winner's seat of the sweep leads; the last to bid is the one before it.
            script={
                ("leader", 0, 0): 0,
                **{
                    key: value
                    for number in range(1, rounds + 1)
                    for key, value in sweep(3, number, PILE_35).items()
                },
            },
            options={"rounds": rounds},
        )
        for rounds, last in [(1, 2), (20, 2)]
    ),
    table(
        "the top card of the pile lies in the middle; bids go clockwise, any card may be bid",
        "BI-6 BI-7 BI-23 G-2",
        3,
        view(-1, centre="K4", pile_size=10, pile_known=[], bids=[], last_bids=[], last_centre=None),
        legal(1, *(f"bid {card}" for card in cards(SWEEPS[3][0]))),
        legal(0),
        legal(2),
        refused("G-2", 0, "bid B6"),
        refused("G-2", -1, "bid R7"),
        refused("G-2", 3, "bid R7"),
        refused("G-2", 1, "bid R1"),
        refused("G-2", 1, "bid K4"),
        refused("G-2", 1, "bid Y1"),
        refused("G-2", 1, "bid R15"),
        refused("G-2", 1, "bid Joker"),
        refused("G-2", 1, "play R7"),
        refused("G-2", 1, "steal 0 K4"),
        refused("G-2", 1, "bid"),
        refused("G-2", 1, "bid  R7"),
        do(1, "bid R7"),
        seen(-1, {"event": "bid_made", "seat": 1, "card": "R7"}),
        turn(1),
        to_act(2),
        legal(2, *(f"bid {card}" for card in cards(SWEEPS[3][1]))),
        refused("G-2", 1, "bid R8"),
        do(2, "bid R1"),
        to_act(0),
        # Red was led and black is no colour to follow: seat 0 bids what it likes.
        do(0, "bid K1"),
        seen(
            -1,
            {"event": "bid_made", "seat": 0, "card": "K1"},
            {"event": "trick_won", "seat": 1},
            won(1, "K1", "K4", points=5),
            turned("K5"),
        ),
        to_act(1),
        turn(3),
        running(0, 5, 0),
        totals(0, 0, 0),
        view(
            -1,
            leader=1,
            centre="K5",
            pile_size=9,
            bids=[],
            last_bids=[[1, "R7"], [2, "R1"], [0, "K1"]],
            last_centre="K4",
            last_winner=1,
            tricks_won=[0, 1, 0],
            won=[[], ["K1", "K4"], []],
            played=["R1", "R7", "K1", "K4", "K5"],
            hand_sizes=[9, 9, 9],
            theft=[],
            points=[0, 5, 0],
        ),
        script={
            ("leader", 0, 0): 1,
            **sweep(3, 1, f"{numbers(4, 10)} K2 K3 2X -5", winner=1),
        },
    ),
    table(
        "a new round is dealt at once and starts from nothing",
        "BI-5 BI-21 BI-20 BI-23",
        3,
        actions(29),
        # 2 x -5 + (2 + ... + 8).
        running(25, 0, 0),
        totals(0, 0, 0),
        view(-1, tricks_won=[9, 0, 0], won=[[*numbers(2, 8).split(), "-5"], [], []]),
        actions(1),
        seen_ever(
            -1,
            {"event": "trick_won", "seat": 0},
            won(0, "K1", "K9", points=10),
            {
                "event": "round_scored",
                "round": 1,
                "points": [ROUND_35, 12, 12],
                "lucky": [0, 12, 12],
                "totals": [ROUND_35, 12, 12],
            },
            {"event": "round_started", "round": 2, "leader": 1, "left_over": 1, "pile": 11},
        ),
        running(0, 0, 0),
        totals(ROUND_35, 12, 12),
        placement(1, 2, 2),
        view(
            -1,
            round=2,
            leader=1,
            tricks_won=[0, 0, 0],
            won=[[], [], []],
            minus_fives=[1, 0, 0],
            lucky=[0, 1, 1],
            last_bids=[],
            last_centre=None,
            last_winner=None,
            round_points=[[ROUND_35, 12, 12]],
            played=["K10"],
            centre="K10",
            pile_size=10,
        ),
        script={
            ("leader", 0, 0): 0,
            **sweep(3, 1, PILE_35),
            **sweep(3, 2, f"K10 -5 2X {numbers(2, 9)}"),
        },
    ),
]
TRICKS = [
    played(
        "example: centre 5, bids 5, 4, black 7",
        "BI-7 BI-12",
        ["0 R5 | 1 G4 | 2 K7"],
        "K5 K8",
        seen(
            -1,
            {"event": "trick_won", "seat": 2},
            won(2, "K5", "K7", points=12),
            turned("K8"),
        ),
        running(0, 0, 12),
        view(-1, won=[[], [], ["K5", "K7"]], leader=2),
    ),
    burns("example: bids 9, 7, 9, 4", "BI-8", "0 R9 | 1 R7 | 2 G9 | 3 R4", 2),
    burns("the last to bid leads, not the highest seat", "BI-8", "2 R9 | 0 G9 | 1 B2", 0),
    burns("three tied", "BI-8", "1 R9 | 2 G9 | 3 B9 | 0 Y2", 3),
    burns("a black and a coloured number tie", "BI-8 BI-7", "0 K9 | 1 R9 | 2 G8", 1),
    wins("a tie below the highest is none", "BI-8 BI-7", "0 R8 | 1 G8 | 2 B9", 2),
    wins("colours mean nothing without the option", "BI-4 BI-7", "0 R5 | 1 R6 | 2 G7 | 3 R4", 2),
    wins("10 is more than 9", "BI-7", "0 R9 | 1 G10 | 2 B8", 1, "K6"),
    wins("2X bids no number", "BI-10", "0 2X | 1 R1 | 2 G2", 2),
    wins("-5 bids less than 1", "BI-10", "0 -5 | 1 R1 | 2 G2", 2),
    wins("the Ally bids no number", "BI-10 BI-19", "0 Ally | 1 R1 | 2 G2 | 3 B1", 2, ally=True),
    wins("Surprise bids no number", "BI-10 BI-14", "0 Surprise | 1 R1 | 2 G2", 2, surprise=True),
    played(
        "a burnt trick takes the centre and the blacks bid out of play",
        "BI-8 BI-21",
        ["0 R9 | 1 G9 | 2 K3", "1 B5 | 2 R4 | 0 G3"],
        "K5 K8 K6",
        seen_ever(-1, {"event": "trick_burnt", "next": 1}, turned("K8")),
        running(0, 8, 0),
        view(-1, won=[[], ["K8"], []], played=cards("R4 R9 G3 G9 B5 K3 K5 K6 K8")),
    ),
    watched(
        "the winning bid so far; none before a number, none while it would burn",
        "BI-4 BI-10 BI-8",
        "0 Ally | 1 R5 | 2 G5 | 3 B5 | 4 R7 | 5 R8",
        "K4",
        [None, 1, None, None, 4],
    ),
    watched(
        "a -5 is a number and can be winning",
        "BI-4 BI-10",
        "0 2X | 1 -5 | 2 K3 | 3 R5 | 4 R7 | 5 R8",
        "K4",
        [None, 1, 2, 3, 4],
    ),
    watched(
        "no highlight by option",
        "BI-4",
        "0 R5 | 1 R6 | 2 R7",
        "K4",
        [None, None],
        highlight_winning=False,
    ),
    watched(
        "under Lowest the lowest number so far",
        "BI-4 BI-15",
        "0 R5 | 1 R6 | 2 G5 | 3 B4",
        "Lowest K4",
        [0, 0, None],
        lowest=True,
    ),
    watched(
        "with colours, as the colours stand",
        # K6 in the middle, so red 5 alone, then green 7; the second red makes red the most.
        "BI-4 BI-9",
        "0 R5 | 1 G7 | 2 R2 | 3 G1",
        "K6",
        [0, 1, 0],
        colours=True,
    ),
]

COLOURS = [
    wins(
        "example: red 9, red 3, blue 10, green 8",
        "BI-9",
        "0 R9 | 1 R3 | 2 B10 | 3 G8",
        0,
        "K6",
        colours=True,
    ),
    played(
        "example: black 4 in place of green 8",
        "BI-9 BI-12",
        ["0 R9 | 1 R3 | 2 B10 | 3 K4"],
        "K6 K8",
        seen(-1, {"event": "trick_won", "seat": 0}, won(0, "K4", "K6", points=10), turned("K8")),
        colours=True,
    ),
    wins("the centre makes black the most", "BI-9", "0 R9 | 1 G3 | 2 B10 | 3 K4", 3, colours=True),
    wins(
        # One of each colour: all candidates, black 1 by the centre has no bid.
        "the centre alone is no candidate",
        "BI-9",
        "0 R9 | 1 G3 | 2 B10 | 3 Y1",
        2,
        colours=True,
    ),
    burns("one of each, highest tied", "BI-9 BI-8", "0 R9 | 1 G10 | 2 B10 | 3 Y1", 2, colours=True),
    burns(
        "two colours have two each and the same highest",
        "BI-9 BI-8",
        "1 R9 | 2 G9 | 3 R3 | 0 G4",
        2,
        "K6",
        colours=True,
    ),
    wins(
        "a tie in another colour burns nothing",
        "BI-9",
        "0 R5 | 1 R3 | 2 B10 | 3 G10",
        0,
        colours=True,
    ),
    wins(
        "the 2X bid and the centre are two blacks, but none of the bids has a number",
        "BI-9 BI-10",
        "0 2X | 1 R3 | 2 B10 | 3 G8",
        2,
        colours=True,
    ),
    wins(
        # Black: -5 and the centre; its highest number is -5.
        "-5 and the centre are the most",
        "BI-9 BI-10",
        "0 -5 | 1 R3 | 2 B10 | 3 G8",
        0,
        colours=True,
    ),
    wins(
        "a 2X in the middle counts as black",
        "BI-9 BI-10",
        "0 K1 | 1 R3 | 2 B10 | 3 G8",
        0,
        "2X",
        colours=True,
    ),
    wins(
        "a -5 in the middle counts as black",
        "BI-9 BI-10",
        "0 K1 | 1 R3 | 2 B10 | 3 G8",
        0,
        "-5",
        colours=True,
    ),
    wins(
        # Black: centre, 2X and K2; red three: the highest number of both is R9.
        "blacks without a number count for those that have one",
        "BI-9 BI-10",
        "0 2X | 1 K2 | 2 R9 | 3 R3 | 4 Ally",
        1,
        colours=True,
    ),
    wins(
        "three blacks and three reds: the highest of both",
        "BI-9 BI-10",
        "0 2X | 1 K2 | 2 R9 | 3 R3 | 4 R4 | 5 Ally",
        2,
        colours=True,
    ),
    wins(
        # Red 2, black 2 by the centre; the Ally helps neither.
        "the Ally counts for no colour",
        "BI-9 BI-10",
        "0 R2 | 1 Ally | 2 K7 | 3 R9",
        3,
        ally=True,
        colours=True,
    ),
    wins(
        "Surprise in the middle counts as black",
        "BI-9 BI-10 BI-14",
        "0 K2 | 1 R9 | 2 G5 | 3 B8",
        0,
        "Surprise",
        colours=True,
        surprise=True,
    ),
    wins(
        "a Surprise bid counts as black, and so does the centre that won't be taken",
        "BI-9 BI-10 BI-14",
        "0 Surprise | 1 K2 | 2 R9 | 3 R8 | 4 G7",
        1,
        colours=True,
        surprise=True,
    ),
    wins(
        "colours under Lowest: the most frequent first, its lowest number",
        "BI-15 BI-9",
        "0 R9 | 1 R3 | 2 B1 | 3 G2",
        1,
        colours=True,
        lowest=True,
    ),
    wins(
        # One of each, black's is the centre alone; with the Lowest set aside counted, too.
        "the Lowest set aside counts for no colour",
        "BI-15 BI-9",
        "0 R9 | 1 R8 | 2 K7 | 3 G1",
        2,
        colours=True,
        lowest=True,
    ),
    wins(
        # K and the centre: two. Counting the Lowest would make three and let K7 win.
        "two reds against a black and the centre: the lowest of both",
        "BI-15 BI-9",
        "0 R9 | 1 R2 | 2 K7 | 3 G1",
        1,
        colours=True,
        lowest=True,
    ),
    burns(
        "colours under Lowest: one of each, the lowest tied",
        "BI-15 BI-9 BI-8",
        "0 R2 | 1 G2 | 2 B8 | 3 Y9",
        1,
        colours=True,
        lowest=True,
    ),
]

PRIZES = [
    played(
        "example: 8 points, 2X in the middle, a black 3 bid: 8 x 2 + 3",
        "BI-11 BI-12",
        ["0 R9 | 1 R7 | 2 G4", "0 R10 | 1 R8 | 2 K3", "0 B9 | 1 B7 | 2 B4"],
        "K8 2X K5 K6",
        seen_ever(
            -1,
            {"event": "trick_won", "seat": 0},
            doubled(0, 16),
            won(0, "K3", "2X", points=3),
            turned("K5"),
        ),
        # Later points are not doubled: 19 + 5.
        running(24, 0, 0),
        view(-1, won=[["K3", "K5", "K8"], [], []]),
    ),
    played(
        "a 2X that was bid doubles the winner's points, not its bidder's",
        "BI-11 BI-12",
        ["0 R9 | 1 R7 | 2 G4", "0 R3 | 1 R8 | 2 G5", "1 G10 | 2 B4 | 0 2X"],
        "K8 K6 K5 K4",
        seen_ever(-1, doubled(1, 12), won(1, "K5", "2X", points=5)),
        running(8, 17, 0),
        view(-1, won=[["K8"], ["K5", "K6"], []]),
    ),
    played(
        "nothing doubled is nothing",
        "BI-11",
        ["0 R9 | 1 R7 | 2 G4"],
        "2X K5",
        seen_ever(-1, doubled(0, 0), won(0, "2X", points=0)),
        running(0, 0, 0),
        view(-1, tricks_won=[1, 0, 0], won=[[], [], []]),
    ),
    played(
        "a burnt 2X doubles nothing",
        "BI-11 BI-8",
        ["0 R9 | 1 R7 | 2 G4", "0 R10 | 1 B10 | 2 G5"],
        "K8 2X K5",
        running(8, 0, 0),
    ),
    played(
        "-5 subtracts 5, and points below nothing are doubled too",
        "BI-11 BI-12",
        ["0 R9 | 1 R7 | 2 G4", "0 R10 | 1 R8 | 2 G5"],
        "-5 2X K6",
        running(-10, 0, 0),
        view(-1, minus_fives=[1, 0, 0], won=[["-5"], [], []]),
    ),
    played(
        "a -5 that was bid counts for the winner",
        "BI-12 BI-13",
        ["0 R9 | 1 -5 | 2 G4"],
        "K2 K6",
        seen_ever(-1, won(0, "K2", "-5", points=-3)),
        running(-3, 0, 0),
        view(-1, minus_fives=[1, 0, 0], won=[["K2", "-5"], [], []]),
    ),
    played(
        "2X in the middle with -5 bid: doubled first, then 5 less",
        "BI-11 BI-12",
        ["0 R9 | 1 R7 | 2 G4", "0 R10 | 1 -5 | 2 G5"],
        "K8 2X K6",
        running(11, 0, 0),
    ),
]


def swept(rounds: int, *winners: int) -> Script:
    """Rounds of three seats swept by these winners in turn."""
    script: Script = {("leader", 0, 0): 0}
    for number, winner in zip(range(1, rounds + 1), winners, strict=True):
        script |= sweep(3, number, PILE_35, winner)
    return script


MATCHES = [
    table(
        # 3 x 35 + 30; 12 + 24 + 36.
        "three -5s in the match: 30 once, after the last round",
        "BI-13 BI-20 BI-22",
        3,
        actions(60),
        totals(70, 36, 36),
        view(-1, minus_fives=[2, 0, 0], lucky=[0, 2, 2]),
        actions(30),
        over(),
        totals(135, 72, 72),
        placement(1, 2, 2),
        utility(1.0, 0.25, 0.25),
        running(0, 0, 0),
        view(
            -1,
            minus_fives=[3, 0, 0],
            lucky=[0, 3, 3],
            round_points=[[35, 12, 12], [35, 24, 24], [35, 36, 36]],
            totals=[135, 72, 72],
            left_over=1,
            pile_size=1,
            hand_sizes=[0, 0, 0],
            hands=[None, None, None],
        ),
        seen(
            -1,
            {
                "event": "round_scored",
                "round": 3,
                "points": [35, 36, 36],
                "lucky": [0, 36, 36],
                "totals": [105, 72, 72],
            },
            {"event": "bonus_scored", "seat": 0, "points": 30},
            {"event": "match_ended", "placement": [1, 2, 2], "totals": [135, 72, 72]},
        ),
        script=swept(3, 0, 0, 0),
        options={"rounds": 3},
    ),
    table(
        "four -5s bring no second 30, and none before the end",
        "BI-13",
        3,
        actions(90),
        totals(105, 72, 72),
        actions(30),
        totals(170, 120, 120),
        view(-1, minus_fives=[4, 0, 0]),
        script=swept(4, 0, 0, 0, 0),
        options={"rounds": 4},
    ),
    table(
        "lucky rounds count on through the match: 12, not 12 again, 24",
        "BI-20 BI-13 BI-22",
        3,
        actions(90),
        over(),
        # Seat 0: 35 + 12 + 35, seat 1: 12 + 35 + 24, seat 2: 12 + 24 + 36. Two -5s are no bonus.
        totals(82, 71, 72),
        placement(1, 3, 2),
        utility(1.0, 0.0, 0.5),
        view(
            -1,
            minus_fives=[2, 1, 0],
            lucky=[1, 2, 3],
            round_points=[[35, 12, 12], [12, 35, 24], [35, 24, 36]],
        ),
        script=swept(3, 0, 1, 0),
        options={"rounds": 3},
    ),
    table(
        # 2 + ... + 10 = 54, doubled by the last centre, + K1.
        "four seats: a lucky round is 8",
        "BI-20 BI-11",
        4,
        actions(40),
        totals(109, 8, 8, 8),
        placement(1, 2, 2, 2),
        # The three tied occupy places 2 to 4, 3 on average.
        utility(1.0, 1 / 3, 1 / 3, 1 / 3),
        script={("leader", 0, 0): 0, **sweep(4, 1, f"{numbers(2, 10)} 2X -5")},
        options={"rounds": 1},
    ),
    table(
        # 3 + ... + 12 = 75, + K1 + K2.
        "five seats: a lucky round is 8",
        "BI-20",
        5,
        actions(50),
        totals(78, 8, 8, 8, 8),
        script={("leader", 0, 0): 3, **sweep(5, 1, f"{numbers(3, 12)} 2X -5", ally=False)},
        options={"rounds": 1, "ally": False},
    ),
    table(
        # 4 + ... + 13 = 85, + 1 + 2 + 3 = 91: 45 each for the winner and its ally, seat 5, whose
        # luck is its own. Lucky rounds of six: 7, 14, 21.
        "third lucky round of a seat among six: 21, and luck is not shared with the ally",
        "BI-20 BI-19",
        6,
        actions(180),
        view(
            -1,
            round_points=[
                [45, 7, 7, 7, 7, 52],
                [45, 14, 14, 14, 14, 59],
                [45, 21, 21, 21, 21, 66],
            ],
            lucky=[0, 3, 3, 3, 3, 3],
            allies=[5, 0],
        ),
        totals(135, 42, 42, 42, 42, 177),
        placement(2, 3, 3, 3, 3, 1),
        script={
            ("leader", 0, 0): 0,
            **{
                key: value
                for number in (1, 2, 3)
                for key, value in sweep(6, number, f"{numbers(4, 14)} 2X -5").items()
            },
        },
        options={"rounds": 3},
    ),
    table(
        "a trick that earned nothing counts as won: no luck",
        "BI-21 BI-20",
        3,
        tricks("0 R1 | 1 R8 | 2 G5"),
        view(-1, tricks_won=[0, 1, 0], won=[[], [], []]),
        running(0, 0, 0),
        actions(27),
        # Seat 0: -5 + (2 + ... + 9) + K1.
        totals(40, 0, 12),
        script={
            ("leader", 0, 0): 0,
            **deal_script(
                Setting(3, {}),
                1,
                [
                    cards("R1 R7 R9 R10 G8 G9 G10 B8 B9 B10"),
                    cards("R2 R3 R4 R5 R6 R8 G1 G2 G3 G4"),
                    cards(SWEEPS[3][2]),
                ],
                cards(f"2X -5 {numbers(2, 10)}"),
            ),
        },
        options={"rounds": 1},
    ),
]

SURPRISE = [
    played(
        "Surprise in the middle: the winner takes the next card of the pile",
        "BI-14 BI-12 BI-23",
        ["0 R5 | 1 G4 | 2 B3"],
        "Surprise K9 K3",
        seen(
            -1,
            {"event": "trick_won", "seat": 0},
            taken(0, "K9"),
            won(0, "K9", "Surprise", points=9),
            turned("K3"),
        ),
        running(9, 0, 0),
        # Thirteen blacks, one of them in a hand; three are off the pile.
        view(-1, won=[["K9"], [], []], last_centre="Surprise", pile_size=9, pile_known=[]),
        view(-1, played=["R5", "G4", "B3", "K3", "K9", "Surprise"]),
        surprise=True,
    ),
    table(
        "nobody sees the card that is bid for",
        "BI-14 BI-23",
        3,
        view(0, centre="Surprise", pile_size=11, pile_known=[], played=["Surprise"]),
        view(-1, centre="Surprise", pile_size=11, played=["Surprise"]),
        seen(1, turned("Surprise")),
        script=scripted(3, {"surprise": True}, ["0 R5 | 1 G4 | 2 B3"], "Surprise K9 K3"),
        options={"surprise": True},
    ),
    played(
        "a burnt Surprise leaves play, the unseen card is the next centre",
        "BI-14 BI-8",
        ["0 R5 | 1 G5 | 2 B3"],
        "Surprise K9 K3",
        seen(-1, {"event": "trick_burnt", "next": 1}, turned("K9")),
        view(-1, centre="K9", pile_size=10, pile_known=[], last_centre="Surprise"),
        surprise=True,
    ),
    played(
        "a burnt Surprise over Lowest: set aside when it is turned up, and in force from then",
        "BI-14 BI-15",
        ["0 R5 | 1 G5 | 2 B3", "1 R7 | 2 R8 | 0 R6"],
        "Surprise Lowest K9 K3",
        seen_ever(-1, {"event": "trick_burnt", "next": 1}, LOWEST_SET, turned("K9")),
        last_event(-1, "trick_won", seat=0),
        running(9, 0, 0),
        surprise=True,
        lowest=True,
    ),
    played(
        "a Surprise bid: the next card instead of the centre, which goes under the pile",
        "BI-14 BI-12 BI-23",
        ["0 R5 | 1 Surprise | 2 B3"],
        "K6 K9 K3",
        seen(
            -1,
            {"event": "trick_won", "seat": 0},
            taken(0, "K9"),
            {"event": "centre_buried", "card": "K6"},
            won(0, "K9", "Surprise", points=9),
            turned("K3"),
        ),
        running(9, 0, 0),
        # Twelve on the pile at first, three drawn, one put under it.
        view(0, pile_known=["K6"], pile_size=10, last_centre="K6", centre="K3"),
        view(-1, pile_known=["K6"], pile_size=10, won=[["K9"], [], []]),
        surprise=True,
    ),
    played(
        "a Surprise bid burnt: nobody gets anything and the centre leaves play",
        "BI-14 BI-8",
        ["0 R5 | 1 Surprise | 2 B5"],
        "K6 K9 K3",
        seen(-1, {"event": "trick_burnt", "next": 2}, turned("K9")),
        running(0, 0, 0),
        view(-1, pile_known=[], pile_size=10, won=[[], [], []]),
        surprise=True,
    ),
    played(
        "the Surprise that was bid and the other blacks bid: those are won as ever",
        "BI-14 BI-12",
        ["0 K5 | 1 Surprise | 2 B3 | 3 R2 | 4 R3"],
        "K6 K9 K3",
        seen_ever(-1, taken(0, "K9"), {"event": "centre_buried", "card": "K6"}),
        seen_ever(-1, won(0, "K5", "K9", "Surprise", points=14)),
        surprise=True,
    ),
    played(
        "a 2X taken doubles",
        "BI-14 BI-11",
        ["0 R9 | 1 G4 | 2 B3", "0 R5 | 1 G3 | 2 B2"],
        "K7 Surprise 2X K3",
        seen_ever(-1, taken(0, "2X"), doubled(0, 14), won(0, "2X", "Surprise", points=0)),
        running(14, 0, 0),
        surprise=True,
    ),
    played(
        "a -5 taken is won",
        "BI-14 BI-12 BI-13",
        ["0 R9 | 1 G4 | 2 B3"],
        "Surprise -5 K3",
        running(-5, 0, 0),
        view(-1, minus_fives=[1, 0, 0], won=[["-5"], [], []]),
        surprise=True,
    ),
    played(
        "a 2X that goes under the pile doubles nothing",
        "BI-14 BI-11",
        ["0 R9 | 1 G4 | 2 B3", "0 R5 | 1 Surprise | 2 B2"],
        "K7 2X K4 K3",
        seen_ever(-1, taken(0, "K4"), {"event": "centre_buried", "card": "2X"}),
        running(11, 0, 0),
        view(-1, pile_known=["2X"]),
        surprise=True,
    ),
    played(
        "a Lowest taken is set aside, the next card is taken, low numbers win from the next trick",
        "BI-14 BI-15",
        ["0 R9 | 1 G4 | 2 B3", "0 R5 | 1 G6 | 2 B7"],
        "Surprise Lowest K4 K3 K8",
        seen_ever(
            -1,
            {"event": "trick_won", "seat": 0},
            LOWEST_SET,
            taken(0, "K4"),
            won(0, "K4", "Surprise", points=4),
            turned("K3"),
        ),
        last_event(-1, "trick_won", seat=0),
        running(7, 0, 0),
        view(-1, lowest=True),
        surprise=True,
        lowest=True,
    ),
    played(
        "a Surprise bid under which Lowest comes: the same, and the centre under the pile",
        "BI-14 BI-15",
        ["0 R9 | 1 Surprise | 2 B3"],
        "K5 Lowest K4 K3",
        seen(
            -1,
            {"event": "trick_won", "seat": 0},
            LOWEST_SET,
            taken(0, "K4"),
            {"event": "centre_buried", "card": "K5"},
            won(0, "K4", "Surprise", points=4),
            turned("K3"),
        ),
        view(-1, lowest=True, pile_known=["K5"]),
        surprise=True,
        lowest=True,
    ),
    played(
        "a Thief taken steals",
        "BI-14 BI-16",
        ["0 R9 | 1 G4 | 2 B3", "0 R1 | 1 G3 | 2 B2"],
        "K7 Surprise Thief K3",
        view(-1, phase="theft", to_act=[1], theft=[[0, "K7"]]),
        seen(
            -1,
            {"event": "trick_won", "seat": 1},
            taken(1, "Thief"),
            won(1, "Surprise", "Thief", points=0),
        ),
        do(1, "steal 0 K7"),
        running(0, 7, 0),
        surprise=True,
        thief=True,
    ),
    played(
        "a Thief that goes under the pile steals nothing",
        "BI-14 BI-16",
        ["0 R9 | 1 G4 | 2 B3", "0 R1 | 1 G3 | 2 Surprise"],
        "K7 Thief K4 K3",
        view(-1, phase="bid", to_act=[1], pile_known=["Thief"]),
        running(7, 4, 0),
        surprise=True,
        thief=True,
    ),
    played(
        "a Lowest and a Thief under one Surprise: the trick was still one for the high numbers",
        "BI-14 BI-15 BI-16",
        ["0 R9 | 1 G4 | 2 B3", "0 R5 | 1 G9 | 2 B8", "1 R1 | 2 B7 | 0 R3"],
        "K7 K6 Surprise Lowest Thief K3",
        # Seat 2 won with 7; the worst bid is seat 1's, the lowest.
        view(-1, phase="theft", to_act=[2], theft=[[1, "K6"]], lowest=False),
        do(2, "steal 1 K6"),
        view(-1, phase="bid", lowest=True, won=[["K7"], [], ["K6"]]),
        surprise=True,
        lowest=True,
        thief=True,
    ),
]

LOWEST = [
    played(
        "Lowest is set aside and another centre turned up: the lowest number wins from this trick",
        "BI-15",
        ["0 R5 | 1 G4 | 2 B3", "2 B5 | 0 R1 | 1 G2"],
        "Lowest K6 K9 K3",
        seen_ever(-1, LOWEST_SET, turned("K6")),
        seen_ever(-1, {"event": "trick_won", "seat": 2}, won(2, "K6", points=6), turned("K9")),
        running(9, 0, 6),
        view(-1, lowest=True, played=cards("R1 R5 G2 G4 B3 B5 K3 K6 K9 Lowest")),
        lowest=True,
    ),
    played(
        "before it is turned up the highest wins, after it the lowest",
        "BI-15",
        ["0 R5 | 1 G4 | 2 B3", "0 B5 | 1 R1 | 2 G2"],
        "K6 Lowest K9 K3",
        seen_ever(-1, won(0, "K6", points=6), LOWEST_SET, turned("K9")),
        running(6, 9, 0),
        lowest=True,
    ),
    burns("a tie for the lowest", "BI-15 BI-8", "0 R3 | 1 G3 | 2 B9", 1, lowest=True),
    wins("a tie for the highest is none", "BI-15", "0 R9 | 1 G9 | 2 B3", 2, lowest=True),
    wins("-5 is lower than 1", "BI-15 BI-10", "0 R1 | 1 -5 | 2 B3", 1, lowest=True),
    wins("2X is no low number", "BI-15 BI-10", "0 2X | 1 R4 | 2 B3", 2, lowest=True),
    table(
        "the next round starts with the high numbers again",
        "BI-15",
        3,
        view(-1, lowest=True),
        first_legal("round", 2),
        view(-1, lowest=False, centre="K10"),
        actions(3),
        # Seat 1 leads; R7 of the seat that sweeps is the highest.
        last_event(-1, "trick_won", seat=0),
        script={
            ("leader", 0, 0): 0,
            **sweep(3, 1, "Lowest K10", lowest=True),
            **sweep(3, 2, "K10 Lowest", lowest=True),
        },
        options={"lowest": True},
    ),
]

# Seats 0, 1, 2 win K7, K8, K9; then the Thief comes and seat 2 leads.
EACH_HAS_ONE = ["0 R9 | 1 R7 | 2 G4", "0 R1 | 1 R8 | 2 G5", "1 B1 | 2 B9 | 0 B2"]
EACH_PILE = "K7 K8 K9 Thief K6 K5"
THIEF = [
    played(
        "the winner steals from the worst bid, one card, and its points move along",
        "BI-16 BI-18 BI-12",
        [*EACH_HAS_ONE, "2 G10 | 0 K2 | 1 G1"],
        EACH_PILE,
        seen(
            -1,
            {"event": "bid_made", "seat": 1, "card": "G1"},
            {"event": "trick_won", "seat": 2},
            won(2, "K2", "Thief", points=2),
        ),
        running(7, 8, 11),
        to_act(2),
        legal(2, "steal 1 K8"),
        legal(1),
        view(
            -1,
            phase="theft",
            theft=[[1, "K8"]],
            centre="Thief",
            bids=[[2, "G10"], [0, "K2"], [1, "G1"]],
            tricks_won=[1, 1, 2],
            won=[["K7"], ["K8"], ["K2", "K9"]],
        ),
        refused("G-2", 1, "steal 1 K8"),
        refused("G-2", 2, "steal 1 K7"),
        refused("G-2", 2, "steal 3 K7"),
        refused("G-2", 2, "steal 1"),
        refused("G-2", 2, "bid R2"),
        refused("BI-16", 2, "steal 0 K7"),
        refused("BI-16", 2, "steal 2 K9"),
        turn(12),
        do(2, "steal 1 K8"),
        turn(13),
        seen(-1, stolen(2, 1, "K8"), turned("K6")),
        running(7, 0, 19),
        view(
            -1,
            phase="bid",
            to_act=[2],
            theft=[],
            won=[["K7"], [], ["K2", "K8", "K9"]],
            tricks_won=[1, 1, 2],
            last_bids=[[2, "G10"], [0, "K2"], [1, "G1"]],
            last_centre="Thief",
        ),
        thief=True,
    ),
    played(
        "nobody has anything: no decision",
        "BI-16 BI-17",
        ["0 R9 | 1 R7 | 2 G4"],
        "Thief K6",
        view(-1, phase="bid", to_act=[0], won=[[], [], []], tricks_won=[1, 0, 0]),
        running(0, 0, 0),
        thief=True,
    ),
    played(
        "only the thief has something: no decision",
        "BI-16 BI-17",
        ["0 R9 | 1 R7 | 2 G4", "0 R8 | 1 R6 | 2 G3"],
        "K7 Thief K6",
        view(-1, phase="bid", to_act=[0], won=[["K7"], [], []]),
        thief=True,
    ),
    played(
        "a burnt Thief steals nothing",
        "BI-16 BI-8",
        [*EACH_HAS_ONE, "2 G10 | 0 R10 | 1 G1"],
        EACH_PILE,
        view(-1, phase="bid", to_act=[0], won=[["K7"], ["K8"], ["K9"]], last_winner=None),
        thief=True,
    ),
    played(
        "several cards: the thief chooses, in number order with -5 last",
        "BI-16 BI-18",
        ["0 R9 | 1 R7 | 2 G4", "0 R10 | 1 R8 | 2 K4", "0 R1 | 1 B9 | 2 B2"],
        "-5 K3 Thief K6",
        legal(1, "steal 0 K3", "steal 0 K4", "steal 0 -5"),
        view(-1, minus_fives=[1, 0, 0]),
        running(2, 0, 0),
        do(1, "steal 0 -5"),
        running(7, -5, 0),
        view(-1, minus_fives=[0, 1, 0], won=[["K3", "K4"], ["-5"], []]),
        thief=True,
    ),
    played(
        "the worst is tied: the cards of all who have one, whoever bid last",
        "BI-16",
        [
            "0 R9 | 1 R7 | 2 G4 | 3 B4",
            "0 R1 | 1 R8 | 2 G5 | 3 B5",
            "1 B1 | 2 B9 | 3 B6 | 0 G2",
            "2 R2 | 3 Y9 | 0 B2 | 1 Y2",
        ],
        "K7 K8 K9 Thief K6",
        legal(3, "steal 0 K7", "steal 1 K8", "steal 2 K9"),
        view(-1, theft=[[0, "K7"], [1, "K8"], [2, "K9"]]),
        thief=True,
    ),
    played(
        "of tied worst seats those that have nothing are no victims",
        "BI-16",
        ["0 R9 | 1 R7 | 2 G4 | 3 B4", "0 R2 | 1 G2 | 2 G5 | 3 B9"],
        "K7 Thief K6",
        legal(3, "steal 0 K7"),
        thief=True,
    ),
    played(
        "under Lowest the worst bid is the highest",
        "BI-16 BI-15",
        ["0 R9 | 1 R7 | 2 G4", "0 R1 | 1 R8 | 2 G5", "1 B8 | 2 B2 | 0 B5"],
        "K7 K8 Lowest Thief K6",
        legal(2, "steal 1 K8"),
        thief=True,
        lowest=True,
    ),
    played(
        "a bid without a number is not the worst",
        "BI-16 BI-10",
        ["0 R9 | 1 R7 | 2 G4", "0 R10 | 1 R8 | 2 G5", "0 2X | 1 G9 | 2 B3"],
        "K7 K5 Thief K6",
        # Seat 0 has both cards, but its 2X is no number; seat 2 has nothing.
        view(-1, phase="bid", to_act=[1], won=[["K5", "K7"], [], []]),
        thief=True,
    ),
    played(
        # The 2X bid in the Thief's own trick doubles before the theft; the card's number moves.
        "a doubled card moves with its number alone, and 2X can't be stolen",
        "BI-18 BI-11 BI-16",
        ["0 R9 | 1 R7 | 2 G4", "0 R10 | 1 R8 | 2 G5", "0 B1 | 1 B9 | 2 B2"],
        "K7 2X Thief K6",
        running(14, 0, 0),
        legal(1, "steal 0 K7"),
        do(1, "steal 0 K7"),
        running(7, 7, 0),
        view(-1, won=[[], ["K7"], []], tricks_won=[2, 1, 0]),
        thief=True,
    ),
    played(
        "the 2X bid for a Thief doubles what the thief had, not the loot",
        "BI-11 BI-16 BI-18",
        ["0 R9 | 1 R7 | 2 G4", "0 R1 | 1 R8 | 2 G5", "1 R10 | 2 2X | 0 B2"],
        "K7 K8 Thief K6",
        running(7, 16, 0),
        do(1, "steal 0 K7"),
        running(0, 23, 0),
        thief=True,
    ),
    played(
        "a stolen card can be stolen again",
        "BI-16 BI-14",
        ["0 R9 | 1 R7 | 2 G4", "0 B1 | 1 B9 | 2 B2"],
        "K7 Thief K6",
        do(1, "steal 0 K7"),
        view(-1, won=[[], ["K7"], []]),
        running(0, 7, 0),
        thief=True,
    ),
    played(
        "the cards of this trick are safe with the thief, and the Ally's alliance comes after",
        "BI-16 BI-19",
        [
            "0 R9 | 1 R7 | 2 G4 | 3 B4",
            "0 R1 | 1 R8 | 2 Ally | 3 K3",
        ],
        "K7 Thief K6",
        view(-1, phase="theft", allies=None),
        do(1, "steal 0 K7"),
        seen(
            -1,
            stolen(1, 0, "K7"),
            {"event": "allied", "ally": 2, "winner": 1},
            turned("K6"),
        ),
        view(-1, allies=[2, 1], won=[[], ["K3", "K7"], [], []]),
        running(0, 10, 0, 0),
        thief=True,
        ally=True,
    ),
    *(
        played(
            # Seats 0, 1 and 3 have cards. Bids: 4 wins with 9, then 1: 8, 3: 6, 0: 5, 2: 2.
            f"the worst has nothing, thief_fallback = {fallback}",
            "BI-17 BI-16",
            [
                "0 R12 | 1 R10 | 2 R1 | 3 G1 | 4 B1",
                "0 R11 | 1 G12 | 2 G2 | 3 B3 | 4 Y1",
                "1 G3 | 2 B2 | 3 B12 | 4 Y3 | 0 R3",
                "3 G6 | 4 B9 | 0 R5 | 1 G8 | 2 R2",
            ],
            "K7 K8 K10 Thief K6",
            legal(4, f"steal {victim} {card}"),
            refused("BI-17", 4, f"steal {other} {others}"),
            refused("BI-17", 4, "steal 3 K10"),
            refused("G-2", 4, "steal 2 K7"),
            do(4, f"steal {victim} {card}"),
            thief=True,
            thief_fallback=fallback,
            ally=False,
        )
        for fallback, victim, card, other, others in [
            ("best_bid", 1, "K8", 0, "K7"),
            ("next_worst", 0, "K7", 1, "K8"),
        ]
    ),
    *(
        played(
            # Under Lowest 4 wins with 1; 2 has the worst with 9, 3 the best of the others.
            f"the fallback under Lowest, thief_fallback = {fallback}",
            "BI-17 BI-15",
            [
                "0 R12 | 1 R10 | 2 R1 | 3 G1 | 4 B2",
                "0 R11 | 1 G12 | 2 G2 | 3 B3 | 4 Y2",
                "1 G3 | 2 B4 | 3 B12 | 4 Y3 | 0 R3",
                "3 G5 | 4 B1 | 0 R6 | 1 G8 | 2 R9",
            ],
            "K7 K8 K10 Lowest Thief K6",
            legal(4, f"steal {victim} {card}"),
            thief=True,
            lowest=True,
            thief_fallback=fallback,
            ally=False,
        )
        for fallback, victim, card in [("best_bid", 3, "K10"), ("next_worst", 1, "K8")]
    ),
    *(
        played(
            # 0 and 1 tie between the winner and the worst; both have a card.
            f"tied victims of the fallback: the thief chooses, thief_fallback = {fallback}",
            "BI-17",
            [
                "0 R9 | 1 R7 | 2 G4 | 3 B4",
                "0 R1 | 1 R8 | 2 G5 | 3 B5",
                "1 G6 | 2 B1 | 3 B9 | 0 R6",
            ],
            "K7 K8 Thief K6",
            legal(3, "steal 0 K7", "steal 1 K8"),
            thief=True,
            thief_fallback=fallback,
        )
        for fallback in ("best_bid", "next_worst")
    ),
    *(
        played(
            # Seat 0 has K7 but bids the Ally: it isn't considered, nobody else has anything.
            f"no number, no victim in the fallback either, thief_fallback = {fallback}",
            "BI-17 BI-10",
            ["0 R9 | 1 R7 | 2 G4 | 3 B4", "0 Ally | 1 R8 | 2 G5 | 3 B5"],
            "K7 Thief K6",
            view(-1, phase="bid", to_act=[1], won=[["K7"], [], [], []], allies=[0, 1]),
            thief=True,
            thief_fallback=fallback,
            ally=True,
        )
        for fallback in ("best_bid", "next_worst")
    ),
    played(
        # The thief made the best bid; the best but its own that has one is seat 0's.
        "the best bid other than the thief's own, though the thief has a card",
        "BI-17",
        ["0 R9 | 1 R7 | 2 G4", "0 R1 | 1 R8 | 2 G5", "1 R10 | 2 B1 | 0 B6"],
        "K7 K8 Thief K6",
        legal(1, "steal 0 K7"),
        thief=True,
    ),
]


def ally_round() -> list[dict[int, str]]:
    """Trick 1 goes to seat 1, trick 2 with the Ally of seat 1 to seat 0, the others burn."""
    return [
        {1: "R10", 2: "G1", 3: "B1", 0: "Y1"},
        {1: "Ally", 2: "K2", 3: "B2", 0: "Y10"},
        *({0: f"Y{v - 1}", 1: f"R{v - 1}", 2: f"G{v}", 3: f"B{v}"} for v in range(3, 11)),
    ]


def burning_order() -> list[str]:
    """Seats 2 and 3 tie for the highest; the one that bids last leads the next trick."""
    written = []
    for number, cards in enumerate(ally_round()):
        # Trick 3 is led by seat 0, which won; 3 bids last of the tied. Then 3 leads, and 2 bids
        # last; then 2 leads, and 3 bids last, and so on.
        leader = [1, 1, 0][number] if number < 3 else (3 if number % 2 else 2)
        order = [(leader + k) % 4 for k in range(4)]
        written.append(" | ".join(f"{seat} {cards[seat]}" for seat in order))
    return written


ALLY = [
    played(
        "example: allies with 12 and 5 get 8 each",
        "BI-19 BI-20 BI-21",
        burning_order(),
        "K5 K10",
        view(-1, round=2, tricks_won=[0, 0, 0, 0], allies=None),
        seen_ever(
            -1,
            {"event": "trick_won", "seat": 0},
            won(0, "K2", "K10", points=12),
            {"event": "allied", "ally": 1, "winner": 0},
        ),
        last_event(-1, "round_scored", points=[8, 8, 8, 8], lucky=[0, 0, 8, 8]),
        ally=True,
    ),
    played(
        # -5 and 2: -3, so -2 each.
        "half of a negative sum is rounded down",
        "BI-19 BI-12 BI-11",
        burning_order(),
        "-5 2X",
        last_event(-1, "round_scored", points=[-2, -2, 8, 8], totals=[-2, -2, 8, 8]),
        ally=True,
    ),
    played(
        "points of the round so far are each seat's own until the end of the round",
        "BI-19",
        burning_order()[:5],
        "K5 K10",
        running(12, 5, 0, 0),
        view(-1, allies=[1, 0]),
        totals(0, 0, 0, 0),
        ally=True,
    ),
    played(
        "a burnt trick makes no alliance",
        "BI-19 BI-8",
        ["0 R9 | 1 G9 | 2 Ally | 3 B4"],
        "K5 K10",
        view(-1, allies=None),
        ally=True,
    ),
    played(
        "the Ally is spent, and its seat can win other tricks of the round",
        "BI-19 BI-10",
        ["0 R9 | 1 Ally | 2 G3 | 3 B4", "0 R2 | 1 R8 | 2 G5 | 3 B5"],
        "K5 K10 K7",
        running(5, 10, 0, 0),
        view(-1, allies=[1, 0], won=[["K5"], ["K10"], [], []]),
        ally=True,
    ),
]

SECRECY = [
    table(
        "a seat sees its own hand in number order, the counts are everybody's",
        "BI-23 BI-3",
        3,
        view(0, hands=[cards(SWEEPS[3][0]), None, None]),
        view(2, hands=[None, None, cards(SWEEPS[3][2])]),
        view(-1, hands=[None] * 3, hand_sizes=[10] * 3, pile_size=10, pile_known=[], left_over=1),
        *(
            seen_ever(
                viewer,
                {"event": "round_started", "round": 1, "leader": 0, "left_over": 1, "pile": 11},
                *(
                    {"event": "dealt", "seat": seat, "count": 10}
                    | ({"cards": SWEEPS[3][seat].split()} if seat == viewer else {})
                    for seat in range(3)
                ),
                turned("-5"),
            )
            for viewer in (-1, 0, 1, 2)
        ),
        first_legal("round", 2),
        # What was left over in round 1 stays unknown; nothing of it is in the views.
        view(-1, left_over=1, played=["K10"]),
        script={
            ("leader", 0, 0): 0,
            **sweep(3, 1, PILE_35),
            **sweep(3, 2, f"K10 -5 2X {numbers(2, 9)}"),
        },
    ),
    *(
        played(
            f"everybody sees the same table: viewer {viewer}",
            "BI-23",
            [*EACH_HAS_ONE, "2 G10 | 0 K2 | 1 G1"],
            EACH_PILE,
            view(
                viewer,
                phase="theft",
                centre="Thief",
                theft=[[1, "K8"]],
                won=[["K7"], ["K8"], ["K2", "K9"]],
                points=[7, 8, 11],
                minus_fives=[0, 0, 0],
                lucky=[0, 0, 0],
                lowest=False,
                played=cards("R1 R7 R8 R9 G1 G4 G5 G10 B1 B2 B9 K2 K7 K8 K9 Thief"),
                hand_sizes=[6, 6, 6],
                left_over=1,
            ),
            thief=True,
        )
        for viewer in (-1, 0, 1, 2)
    ),
    *(
        table(
            f"every pair of the special cards is in the game: {surprise} {lowest} {thief}",
            "BI-2 BI-3",
            4,
            # Ten numbers, 2X and -5, less one in a hand, and those of the options.
            seen_ever(
                -1,
                {
                    "event": "round_started",
                    "round": 1,
                    "leader": 0,
                    "left_over": 1,
                    "pile": 11 + surprise + lowest + thief,
                },
            ),
            script={("leader", 0, 0): 0},
            options={"surprise": surprise, "lowest": lowest, "thief": thief},
        )
        for surprise, lowest, thief in product((False, True), repeat=3)
    ),
]

CASES: list[Case] = [
    *MAKING,
    *DECKS,
    *COURSE,
    *TRICKS,
    *COLOURS,
    *PRIZES,
    *MATCHES,
    *SURPRISE,
    *LOWEST,
    *THIEF,
    *ALLY,
    *SECRECY,
]
