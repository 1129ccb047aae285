"""Mister Bill, rule by rule: what must happen, worked out by hand from the rules document.

Hands are written as they are after MB-7; the deal gives every seat pairs besides, which it lays
down. A to E are the waiters, `bill` is Mister Bill and `shift` a shift change. Draws are scripted
by their place in the neighbour's hand, which is in kind order as written.
"""

from __future__ import annotations

from collections import Counter

from tests.reference.casebook import (
    Case,
    Engine,
    Step,
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

GAME = "mister_bill"
DISHES = ["sushi", "omelette", "pizza", "paella", "couscous", "goulash"]
WORDS = {
    **{dish: dish for dish in DISHES},
    **{letter: f"waiter_{letter.lower()}" for letter in "ABCDE"},
    "bill": "mister_bill",
    "shift": "shift_change",
}
KINDS = list(WORDS.values())
OPTIONS: dict[str, list[object]] = {
    "bonus_waiter": [0, 2, 4],
    "teams": ["standard", "solo"],
    "swap_one": ["chosen", "blind"],
    "last_card_b": ["fizzle", "swap"],
}


def cards(text: str) -> list[str]:
    return [WORDS[word] for word in text.split()]


def deck(bonus: int = 0) -> Counter[str]:
    """MB-1."""
    counts = Counter(dict.fromkeys(KINDS, 4))
    counts["mister_bill"] = 3
    counts["shift_change"] = bonus
    return counts


def deal(round_number: int, dealer: int, hands: list[str], bonus: int = 0) -> Script:
    """The deal that leaves these hands after MB-7: the rest of the deck goes out in pairs."""
    seats = len(hands)
    full = [cards(hand) for hand in hands]
    left = deck(bonus)
    total = left.total()
    for hand in full:
        left -= Counter(hand)
    pairs = [kind for kind in KINDS for _ in range(left[kind] // 2)]
    order = [""] * total
    for seat in range(seats):
        places = [number for number in range(total) if (dealer + 1 + number) % seats == seat]
        while len(full[seat]) < len(places):
            full[seat] += [pairs.pop()] * 2
        for place, card in zip(places, full[seat], strict=True):
            order[place] = card
    assert Counter(order) == deck(bonus), f"{hands} leave no whole pairs"
    return {("deal", round_number, 0): list(order)}


def start(
    hands: list[str],
    *places: int,
    dealer: int = -1,
    numbers: str = "",
    bonus: int = 0,
    in_round: int = 1,
) -> Script:
    """A round with these hands and these draws; seat 0 has number 1 unless numbers are given.

    Without a dealer the last seat deals; in rounds after the first the dealer must be as it moves.
    """
    seats = len(hands)
    by = dealer % seats
    return {
        ("dealer", 0, 0): (by - in_round + 1) % seats,
        ("teams", in_round, 0): (numbers or "12345678"[:seats]).replace("", " ").split(),
        **deal(in_round, by, hands, bonus),
        **{("draw", in_round, number): place for number, place in enumerate(places)},
    }


def known(held: str = "", absent: str = "") -> dict[str, object]:
    """Facts about a hand, as `sushi 0, A 1`."""
    facts: dict[str, object] = {}
    for name, text in (("held", held), ("absent", absent)):
        pairs = [entry.split() for entry in text.split(",") if entry]
        facts[name] = [[WORDS[word], int(count)] for word, count in pairs]
    return facts


def whole(hand: str, lost: int = 0, gained: int = 0) -> dict[str, object]:
    """Facts about a hand known whole, with the cards that have left and come unseen since."""
    held = cards(hand)
    absent = [[kind, gained] for kind in KINDS if kind not in held]
    return {"held": [[kind, lost] for kind in held], "absent": absent}


NONE = known()


def never(name: str, in_round: int = 1) -> Step:
    """No event of that name in the round."""

    def step(engine: Engine) -> None:
        number = 0
        for event in engine.events(-1):
            number += event["event"] == "round_started"
            assert (number, event["event"]) != (in_round, name), f"{name} in round {in_round}"

    return step


def holds(seat: int, hand: str) -> Step:
    """The seat's hand as it sees it itself."""

    def step(engine: Engine) -> None:
        hands = engine.view(seat)["hands"]
        assert isinstance(hands, list)
        assert hands == [cards(hand) if other == seat else None for other in range(len(hands))]

    return step


def facts(viewer: int, *about: dict[str, object]) -> Step:
    return view(viewer, facts=list(about))


def table(title: str, rules: str, seats: int, *steps: Step, **more: object) -> Case:
    """A case of this game; `rules` are ids separated by blanks."""
    return Case(title, tuple(rules.split()), GAME, seats, steps, **more)  # type: ignore[arg-type]


def alone(title: str, rules: str, script: Script, *steps: Step, **options: object) -> Case:
    """A case in which everyone plays alone."""
    order = script["teams", 1, 0]
    assert isinstance(order, list)
    return table(
        title, rules, len(order), *steps, script=script, options={"teams": "solo", **options}
    )


MAKING = [
    Case("two seats", ("MB-1", "G-1"), GAME, 2, refused=("seats", [3, 4, 5, 6, 7, 8])),
    Case("nine seats", ("MB-1", "G-1"), GAME, 9, refused=("seats", [3, 4, 5, 6, 7, 8])),
    Case(
        "an unknown option",
        ("G-1",),
        GAME,
        4,
        options={"tips": "double"},
        refused=("tips", list(OPTIONS)),
    ),
    *(
        Case(
            f"{name} = {value}",
            (rule, "G-1"),
            GAME,
            4,
            options={name: value},
            refused=(name, OPTIONS[name]),
        )
        for name, rule, value in [
            ("bonus_waiter", "MB-1", 3),
            ("teams", "MB-4", "pairs"),
            ("swap_one", "MB-12", "open"),
            ("last_card_b", "MB-18", "lapse"),
        ]
    ),
]


def dealt(seats: int, dealer: int, bonus: int, sizes: str) -> Case:
    counts = [int(size) for size in sizes.split()]
    return table(
        f"{seats} seats, {bonus} shift changes, dealer {dealer}: {sizes}",
        "MB-1 MB-6 MB-25",
        seats,
        view(-1, dealer=dealer, round=1),
        seen_ever(
            -1,
            *(
                {"event": "dealt", "seat": seat, "count": count}
                for seat, count in enumerate(counts)
            ),
        ),
        script={("dealer", 0, 0): dealer},
        options={"bonus_waiter": bonus},
    )


DEALING = [
    dealt(3, 2, 0, "16 16 15"),
    dealt(3, 0, 0, "15 16 16"),
    dealt(4, 3, 0, "12 12 12 11"),
    dealt(5, 4, 0, "10 10 9 9 9"),
    dealt(5, 1, 0, "9 9 10 10 9"),
    dealt(6, 5, 0, "8 8 8 8 8 7"),
    dealt(7, 6, 0, "7 7 7 7 7 6 6"),
    dealt(8, 7, 0, "6 6 6 6 6 6 6 5"),
    dealt(3, 2, 2, "17 16 16"),
    dealt(4, 3, 4, "13 13 13 12"),
    table(
        "a seat sees the cards dealt to it, in kind order",
        "MB-6 MB-25",
        3,
        seen_ever(
            2,
            {"event": "dealt", "seat": 1, "count": 16},
            {
                "event": "dealt",
                "seat": 2,
                "count": 15,
                "kinds": cards(
                    "sushi sushi sushi sushi omelette omelette omelette omelette "
                    "pizza pizza pizza A A bill bill"
                ),
            },
        ),
        seen_ever(0, {"event": "dealt", "seat": 2, "count": 15}),
        script=start(
            [
                "paella bill",
                "paella pizza",
                f"bill bill A A pizza pizza pizza {'omelette ' * 4} {'sushi ' * 4}",
            ]
        ),
    ),
    alone(
        "of three one stays, four are two pairs, and no pair has an effect",
        "MB-7 MB-17 MB-27",
        start(
            [
                "sushi sushi sushi omelette omelette omelette omelette A A bill bill shift shift",
                "sushi pizza",
                "pizza bill",
            ],
            1,
            bonus=2,
        ),
        # 17 cards: the deal fills up with the last kinds there are, two pairs of E.
        seen_ever(
            -1,
            *(
                {"event": "pair_laid", "seat": 0, "kind": kind}
                for kind in cards("sushi omelette omelette A E E bill shift")
            ),
        ),
        never("hand_passed"),
        never("bills_shown"),
        # Seat 0 kept one sushi and drew the Mister Bill of seat 2.
        holds(0, "sushi bill"),
        view(-1, hand_sizes=[2, 2, 1]),
        facts(-1, NONE, NONE, NONE),
        facts(0, NONE, NONE, known(absent="bill 0")),
        bonus_waiter=2,
    ),
]


def quick(seats: int, in_round: int, first_dealer: int, numbers: str) -> Script:
    """A round that is over with MB-7: all but the dealer go out (3, 4, 6 or 8 seats, 47 cards)."""
    dealer = (first_dealer + in_round - 1) % seats
    hands = ["bill" if seat == dealer else "" for seat in range(seats)]
    return start(hands, dealer=dealer, numbers=numbers, in_round=in_round)


SETUP = [
    table(
        "five seats: two pairs and a team of one",
        "MB-2 MB-4 MB-5",
        5,
        view(
            -1,
            numbers=[3, 1, 5, 2, 4],
            teams=[[1, 3], [0, 4], [2]],
            active=1,
            team_values=[4, 2, 1],
        ),
        seen_ever(
            -1, {"event": "round_started", "round": 1, "dealer": 4, "numbers": [3, 1, 5, 2, 4]}
        ),
        to_act(1),
        script=start(
            ["sushi omelette", "sushi omelette", "pizza", "pizza", "bill"], numbers="31524"
        ),
    ),
    table(
        "eight seats: four pairs by colour",
        "MB-2 MB-4",
        8,
        view(-1, teams=[[6, 7], [4, 5], [2, 3], [0, 1]], numbers=[8, 7, 6, 5, 4, 3, 2, 1]),
        script={("teams", 1, 0): list("87654321")},
    ),
    table(
        "teams are drawn afresh, the dealer moves left, round 3 is played alone",
        "MB-3 MB-4 MB-5 MB-6",
        4,
        view(-1, round=1, dealer=3, teams=[[0, 1], [2, 3]], team_values=[4, 2, 1], active=0),
        first_legal("round", 2),
        view(-1, dealer=0, teams=[[0, 2], [1, 3]], numbers=[2, 4, 1, 3], team_values=[4, 2, 1]),
        view(-1, active=2, stall=0, out=[], points=[0] * 4),
        first_legal("round", 3),
        view(-1, dealer=1, teams=[[0], [1], [2], [3]], numbers=[4, 3, 2, 1], active=3),
        view(-1, team_values=[8, 6, 5, 4, 3, 2, 1]),
        script={
            **start(["sushi omelette", "sushi omelette", "pizza paella", "pizza paella bill"]),
            **start(
                ["bill", "sushi omelette", "omelette pizza", "sushi pizza"],
                numbers="2413",
                dealer=0,
                in_round=2,
            ),
            **start(
                ["sushi omelette", "bill", "omelette pizza", "sushi pizza"],
                numbers="4321",
                dealer=1,
                in_round=3,
            ),
        },
    ),
    alone(
        "by option everyone is alone in round 1 already",
        "MB-4 MB-3",
        start(["sushi omelette", "sushi omelette", "pizza paella", "pizza paella bill"]),
        view(-1, teams=[[0], [1], [2], [3]], team_values=[4, 4, 2, 2, 1, 1], numbers=[1, 2, 3, 4]),
    ),
]

# Seat 0 to begin with a waiter; the draws are from [pizza, A, bill].
FOUR = ["sushi A", "omelette pizza", "sushi omelette", "pizza A bill"]
TURNS = [
    alone(
        "a card is drawn unseen from the right, and no decision comes before it",
        "MB-8 MB-10 MB-25 MB-26 MB-27 G-2",
        start(FOUR, 0, 0),
        turn(0),
        to_act(0),
        view(-1, phase="turn", active=0, hand_sizes=[3, 2, 2, 2], hands=[None] * 4, stall=0),
        holds(0, "sushi pizza A"),
        holds(3, "A bill"),
        *(
            seen(viewer, {"event": "drew", "seat": 0, "from": 3, "kind": "pizza"})
            for viewer in (0, 3)
        ),
        *(seen(viewer, {"event": "drew", "seat": 0, "from": 3}) for viewer in (-1, 1, 2)),
        facts(0, NONE, NONE, NONE, known(absent="pizza 0")),
        facts(3, known(held="pizza 0"), NONE, NONE, NONE),
        *(facts(viewer, NONE, NONE, NONE, NONE) for viewer in (-1, 1, 2)),
        legal(0, "decline", "play a 1", "play a 2", "play a 3"),
        *(legal(seat) for seat in (1, 2, 3)),
        *(
            refused("G-2", 0, action)
            for action in ("play b 1", "play d", "play e", "play f", "play a 9", "play c", "pass")
        ),
        refused("G-2", 0, "give sushi"),
        refused("G-2", 1, "decline"),
        refused("G-2", 4, "decline"),
        refused("MB-18", 0, "play a 0"),
        refused("MB-18", 0, "play a"),
        do(0, "decline"),
        turn(1),
        to_act(1),
        seen(
            -1,
            {"event": "declined", "seat": 0},
            {"event": "drew", "seat": 1, "from": 0},
        ),
        view(-1, active=1, stall=1, hand_sizes=[2, 3, 2, 2]),
        facts(0, NONE, known(held="sushi 0"), NONE, known(absent="pizza 0")),
        facts(1, known(absent="sushi 0"), NONE, NONE, NONE),
        # One of the three cards that seat 0 had has left, seat 3 doesn't know which.
        facts(3, known(held="pizza 1"), NONE, NONE, NONE),
        facts(2, NONE, NONE, NONE, NONE),
    ),
    alone(
        "a pair is laid down at once, everyone knows then which card was drawn",
        "MB-9 MB-11 MB-26 MB-27",
        start(["sushi A", "omelette pizza", "omelette pizza", "sushi A bill"], 0),
        seen(
            -1,
            {"event": "drew", "seat": 0, "from": 3},
            {"event": "pair_laid", "seat": 0, "kind": "sushi"},
        ),
        holds(0, "A"),
        holds(3, "A bill"),
        *(
            facts(viewer, known(absent="sushi 0"), NONE, NONE, known(absent="sushi 0"))
            for viewer in (-1, 1, 2)
        ),
        facts(0, NONE, NONE, NONE, known(absent="sushi 0")),
        facts(3, known(absent="sushi 0"), NONE, NONE, NONE),
    ),
    alone(
        "a seat without a waiter is asked too, and one just drawn can be played",
        "MB-10",
        start(["sushi pizza", "omelette D", "sushi omelette", "pizza D bill"], 1, 0, 0),
        # Seat 0 drew D out of [pizza, D, bill].
        legal(0, "decline", "play d"),
        do(0, "play d"),
        # Seat 1 drew the sushi.
        holds(0, "pizza"),
        holds(1, "sushi omelette D"),
        legal(1, "decline", "play d"),
        do(1, "decline"),
        to_act(2),
        turn(2),
        view(-1, phase="turn"),
        legal(2, "decline"),
        refused("G-2", 2, "play d"),
    ),
    alone(
        "a seat that goes out in step 2 plays no waiter, and the next turn is on its left",
        "MB-8 MB-10 MB-19",
        start(["sushi", "omelette pizza", "omelette pizza", "sushi bill"], 0, 0, dealer=0),
        # Seat 0 went out with the pair of sushi, then seat 1 took the last card of seat 3.
        seen_ever(
            -1,
            {"event": "drew", "seat": 0, "from": 3},
            {"event": "pair_laid", "seat": 0, "kind": "sushi"},
            {"event": "went_out", "seat": 0, "rank": 1},
            {"event": "team_completed", "seats": [0], "value": 4},
            {"event": "drew", "seat": 1, "from": 3},
            {"event": "went_out", "seat": 3, "rank": 2},
            {"event": "team_completed", "seats": [3], "value": 4},
        ),
        turn(0),
        to_act(1),
        holds(1, "omelette pizza bill"),
        view(-1, out=[0, 3], hand_sizes=[0, 3, 2, 0], team_values=[2, 2, 1, 1]),
        running(4, 0, 0, 4),
        totals(0, 0, 0, 0),
        facts(3, NONE, known(held="bill 0"), NONE, NONE),
        facts(-1, NONE, NONE, NONE, NONE),
    ),
    alone(
        "who is out draws and gives no more: the next seat in draws from the next on its right",
        "MB-8 MB-19 MB-18 G-2",
        start(["sushi A", "", "sushi omelette", "omelette A bill"], 2, 0),
        view(-1, out=[1], hand_sizes=[3, 0, 2, 2]),
        legal(0, "decline", "play a 2", "play a 3"),
        refused("MB-18", 0, "play a 0"),
        refused("MB-18", 0, "play a 1"),
        refused("MB-18", 0, "play a"),
        refused("G-2", 0, "play b 2"),
        refused("G-2", 1, "decline"),
        do(0, "decline"),
        # Seat 2 draws the sushi of seat 0 and lays the pair down.
        seen(
            -1,
            {"event": "declined", "seat": 0},
            {"event": "drew", "seat": 2, "from": 0},
            {"event": "pair_laid", "seat": 2, "kind": "sushi"},
        ),
        to_act(2),
    ),
]

GIVEN = start(FOUR, 0, 0)
WAITER_A = [
    alone(
        "A: both choose in secret, at the same time",
        "MB-12 MB-25 G-2",
        GIVEN,
        do(0, "play a 2"),
        seen(-1, {"event": "waiter_played", "seat": 0, "kind": "waiter_a", "target": 2}),
        turn(1),
        to_act(0, 2),
        view(-1, phase="gift", pending_waiter="waiter_a", committed=[], active=0, stall=0),
        view(-1, hand_sizes=[2, 2, 2, 2]),
        legal(0, "give sushi", "give pizza"),
        legal(2, "give sushi", "give omelette"),
        legal(1),
        refused("G-2", 0, "give omelette"),
        refused("G-2", 0, "decline"),
        refused("G-2", 1, "give omelette"),
        refused("G-2", 3, "give bill"),
        do(2, "give omelette"),
        turn(1),
        to_act(0),
        refused("G-2", 2, "give omelette"),
        refused("G-2", 2, "give sushi"),
        view(2, gift="omelette", committed=[2], hand_sizes=[2, 2, 2, 2]),
        *(view(viewer, gift=None, committed=[2]) for viewer in (-1, 0, 1, 3)),
        seen(2, {"event": "gift_committed", "seat": 2, "kind": "omelette"}),
        seen(0, {"event": "gift_committed", "seat": 2}),
        seen(-1, {"event": "gift_committed", "seat": 2}),
        do(0, "give pizza"),
        turn(2),
        # The gifts appear in turn order from the active seat.
        seen(
            0,
            {"event": "gift_committed", "seat": 0, "kind": "pizza"},
            {"event": "gave", "from": 0, "to": 2, "kind": "pizza"},
            {"event": "gave", "from": 2, "to": 0, "kind": "omelette"},
            {"event": "drew", "seat": 1, "from": 0, "kind": "sushi"},
        ),
        seen(
            3,
            {"event": "gift_committed", "seat": 0},
            {"event": "gave", "from": 0, "to": 2},
            {"event": "gave", "from": 2, "to": 0},
            {"event": "drew", "seat": 1, "from": 0},
        ),
        holds(0, "omelette"),
        holds(1, "sushi omelette pizza"),
        holds(2, "sushi pizza"),
        view(-1, phase="turn", committed=[], pending_waiter=None, to_act=[1], stall=0),
    ),
    alone(
        "A: what each knows after a swap without pairs and one more draw",
        "MB-26 MB-27 MB-12",
        GIVEN,
        do_all("0 play a 2", "0 give pizza", "2 give omelette"),
        # Seat 1 has drawn the sushi of seat 0: it held sushi and omelette.
        facts(
            0,
            NONE,
            known(held="sushi 0"),
            known(held="pizza 0", absent="omelette 0"),
            known(absent="pizza 0"),
        ),
        # Seat 0 played A, then got a card that seat 1 has not seen, then lost the sushi.
        facts(1, known(absent="sushi 0, A 1"), NONE, NONE, NONE),
        # What seat 2 gave can have been drawn; it saw the card seat 0 got, so A is not blurred.
        facts(2, known(held="omelette 1", absent="pizza 0, A 0"), NONE, NONE, NONE),
        # The pizza drawn from seat 3 can have left in the swap or in the draw.
        facts(3, known(held="pizza 2", absent="A 1"), NONE, NONE, NONE),
        facts(-1, known(absent="A 1"), NONE, NONE, NONE),
    ),
    alone(
        "A: a card that makes a pair at once is seen by everyone",
        "MB-11 MB-12 MB-19 MB-26 MB-27",
        GIVEN,
        do_all("0 play a 2", "2 give sushi", "0 give pizza"),
        seen_ever(
            -1,
            {"event": "gave", "from": 0, "to": 2},
            {"event": "gave", "from": 2, "to": 0},
            {"event": "pair_laid", "seat": 0, "kind": "sushi"},
            {"event": "went_out", "seat": 0, "rank": 1},
            {"event": "team_completed", "seats": [0], "value": 4},
            # Seat 0 is out, so seat 1 draws from seat 3: the A out of [A, bill].
            {"event": "drew", "seat": 1, "from": 3},
        ),
        facts(
            0,
            NONE,
            NONE,
            known(held="pizza 0", absent="sushi 0"),
            known(absent="pizza 0"),
        ),
        facts(1, NONE, NONE, known(absent="sushi 1"), known(absent="A 0")),
        facts(2, NONE, NONE, NONE, NONE),
        facts(3, NONE, known(held="A 0"), known(absent="sushi 1"), NONE),
        facts(-1, NONE, NONE, known(absent="sushi 1"), NONE),
    ),
    alone(
        "A: both may get a pair",
        "MB-11 MB-12",
        start(["sushi omelette pizza A", "pizza paella", "sushi omelette", "paella A bill"], 2),
        do_all("0 play a 2", "0 give sushi", "2 give omelette"),
        seen_ever(
            -1,
            {"event": "gave", "from": 0, "to": 2},
            {"event": "gave", "from": 2, "to": 0},
            {"event": "pair_laid", "seat": 0, "kind": "omelette"},
            {"event": "pair_laid", "seat": 2, "kind": "sushi"},
            {"event": "went_out", "seat": 2, "rank": 1},
        ),
    ),
    alone(
        "A: by option each takes a card at random from the other",
        "MB-12 MB-26",
        # The active seat takes place 1 of [sushi, omelette], the target place 1 of [sushi, pizza].
        {**GIVEN, ("blind", 1, 0): 1, ("blind", 1, 1): 1},
        do(0, "play a 2"),
        never("gift_committed"),
        turn(1),
        seen(
            2,
            {"event": "waiter_played", "seat": 0, "kind": "waiter_a", "target": 2},
            {"event": "gave", "from": 0, "to": 2, "kind": "pizza"},
            {"event": "gave", "from": 2, "to": 0, "kind": "omelette"},
            {"event": "drew", "seat": 1, "from": 0},
        ),
        holds(2, "sushi pizza"),
        facts(2, known(held="omelette 1", absent="pizza 0, A 0"), NONE, NONE, NONE),
        facts(3, known(held="pizza 2", absent="A 1"), NONE, NONE, NONE),
        swap_one="blind",
    ),
    alone(
        "A: blind, the active seat takes place 0 and the target place 1",
        "MB-12",
        {**GIVEN, ("blind", 1, 0): 0, ("blind", 1, 1): 1},
        do(0, "play a 2"),
        # The sushi makes a pair with the one that seat 0 has left.
        seen_ever(-1, {"event": "pair_laid", "seat": 0, "kind": "sushi"}),
        holds(2, "omelette pizza"),
        swap_one="blind",
    ),
]

WAITER_B = [
    alone(
        "B: whole hands change places, and what is known goes with them",
        "MB-13 MB-26 MB-27",
        start(["sushi B", "omelette pizza", "sushi omelette", "pizza B bill"], 0, 0, 2, 0, 1, 0),
        legal(0, "decline", "play b 1", "play b 2", "play b 3"),
        do(0, "play b 1"),
        turn(1),
        *(
            seen_ever(
                viewer,
                {"event": "waiter_played", "seat": 0, "kind": "waiter_b", "target": 1},
                {
                    "event": "hands_swapped",
                    "first": 0,
                    "second": 1,
                    "kinds": [cards("omelette pizza"), cards("sushi pizza")],
                },
            )
            for viewer in (0, 1)
        ),
        *(
            seen_ever(viewer, {"event": "hands_swapped", "first": 0, "second": 1})
            for viewer in (-1, 2, 3)
        ),
        # Then seat 1 drew the omelette of seat 0, which both have seen.
        holds(0, "pizza"),
        holds(1, "sushi omelette pizza"),
        facts(0, NONE, whole("sushi omelette pizza"), NONE, known(absent="pizza 0")),
        facts(1, whole("pizza"), NONE, NONE, NONE),
        # The pizza that seat 3 lost to seat 0 is with seat 1 now, where B was not.
        facts(3, NONE, known(held="pizza 0", absent="B 1"), NONE, NONE),
        *(facts(viewer, NONE, known(absent="B 1"), NONE, NONE) for viewer in (-1, 2)),
        do(1, "decline"),
        # Seat 2 drew the pizza of seat 1 unseen by seat 0: one of three cards known is gone.
        holds(2, "sushi omelette pizza"),
        facts(0, NONE, whole("sushi omelette pizza", 1), NONE, known(absent="pizza 0")),
        facts(1, whole("pizza"), NONE, known(held="pizza 0"), NONE),
        facts(2, NONE, known(absent="pizza 0, B 1"), NONE, NONE),
        facts(3, NONE, known(held="pizza 1", absent="B 1"), NONE, NONE),
        do(2, "decline"),
        # Seat 3 drew the sushi of seat 2: B, bill, sushi.
        facts(1, whole("pizza"), NONE, known(held="pizza 1"), NONE),
        facts(0, NONE, whole("sushi omelette pizza", 1), NONE, known(absent="pizza 1")),
        do(3, "decline"),
        # Seat 0 drew the B of seat 3 out of [sushi, B, bill].
        holds(0, "pizza B"),
        facts(0, NONE, whole("sushi omelette pizza", 1), NONE, known(absent="pizza 1, B 0")),
        facts(1, whole("pizza", gained=1), NONE, known(held="pizza 1"), NONE),
        facts(
            3,
            known(held="B 0"),
            known(held="pizza 1", absent="B 1"),
            known(absent="sushi 0"),
            NONE,
        ),
        do(0, "decline"),
        # Seat 1 drew the pizza of seat 0: seat 0 knows that it is there (again).
        facts(
            0,
            NONE,
            {
                "held": [["sushi", 1], ["omelette", 1], ["pizza", 0]],
                "absent": [[kind, 0] for kind in KINDS[3:]],
            },
            NONE,
            known(absent="pizza 1, B 0"),
        ),
        # What was a hand known whole has lost the pizza in sight; the B came unseen.
        facts(
            1,
            {"held": [], "absent": [[kind, int(kind != "pizza")] for kind in KINDS]},
            NONE,
            known(held="pizza 1"),
            NONE,
        ),
    ),
]

OTHER_WAITERS = [
    alone(
        "C: every other seat gives the named one a card; of three sushi one stays, unknown to all",
        "MB-14 MB-11 MB-26 MB-27",
        start(["sushi C", "sushi pizza", "sushi pizza", "sushi C bill"], 2, 0),
        legal(0, "decline", "play c 1", "play c 2", "play c 3"),
        do(0, "play c 1"),
        to_act(0, 2, 3),
        view(-1, phase="gift", pending_waiter="waiter_c"),
        legal(1),
        refused("G-2", 1, "give sushi"),
        legal(0, "give sushi", "give mister_bill"),
        do_all("3 give waiter_c", "0 give sushi"),
        turn(1),
        do(2, "give sushi"),
        turn(2),
        seen_ever(
            1,
            {"event": "gave", "from": 0, "to": 1, "kind": "sushi"},
            {"event": "gave", "from": 2, "to": 1, "kind": "sushi"},
            {"event": "gave", "from": 3, "to": 1, "kind": "waiter_c"},
            {"event": "pair_laid", "seat": 1, "kind": "sushi"},
            # Then it drew the only card of seat 0.
            {"event": "drew", "seat": 1, "from": 0, "kind": "mister_bill"},
            {"event": "went_out", "seat": 0, "rank": 1},
        ),
        seen_ever(
            2,
            {"event": "gave", "from": 0, "to": 1},
            {"event": "gave", "from": 2, "to": 1, "kind": "sushi"},
            {"event": "gave", "from": 3, "to": 1},
            {"event": "pair_laid", "seat": 1, "kind": "sushi"},
        ),
        holds(1, "sushi pizza C bill"),
        view(-1, hand_sizes=[0, 4, 1, 1]),
        # Seats 0 and 2 gave a sushi each: there may be one left or none.
        facts(0, NONE, known(held="bill 0"), NONE, known(absent="bill 0")),
        facts(1, NONE, NONE, known(absent="sushi 0"), known(absent="C 0")),
        facts(2, NONE, NONE, NONE, NONE),
        facts(3, NONE, known(held="C 0"), NONE, NONE),
        facts(-1, NONE, NONE, NONE, NONE),
    ),
    alone(
        "C: a pair laid down by a seat that got two cards doesn't show who gave it",
        "MB-14 MB-26 MB-27",
        start(["sushi C", "omelette pizza", "omelette paella", "sushi pizza paella C bill"], 0, 2),
        do_all("0 play c 1", "2 give omelette", "3 give mister_bill"),
        seen_ever(-1, {"event": "pair_laid", "seat": 1, "kind": "omelette"}),
        # Then seat 1 drew the C of seat 3 out of [pizza, paella, C].
        holds(1, "pizza C bill"),
        *(facts(viewer, NONE, NONE, NONE, known(absent="sushi 0")) for viewer in (-1, 0, 2)),
        facts(1, NONE, NONE, known(absent="omelette 0"), known(absent="sushi 0, C 0, bill 0")),
        facts(3, NONE, known(held="C 0, bill 0"), NONE, NONE),
    ),
    alone(
        "C: each card that comes unseen blurs what was absent",
        "MB-14 MB-18 MB-26 MB-27",
        # Seat 0 lays down the sushi of seat 3 and then plays its last card.
        start(["sushi C", "omelette pizza", "omelette pizza", "sushi C bill"], 0, 2),
        do(0, "play c 3"),
        view(-1, out=[0]),
        to_act(1, 2),
        do_all("2 give pizza", "1 give omelette"),
        # Then seat 1 drew the C of seat 3 out of [omelette, pizza, C, bill].
        holds(3, "omelette pizza bill"),
        facts(-1, NONE, NONE, NONE, known(absent="sushi 2")),
        facts(0, NONE, NONE, NONE, known(absent="sushi 2")),
        facts(1, NONE, NONE, NONE, known(held="omelette 0", absent="sushi 1, C 0")),
        facts(2, NONE, NONE, NONE, known(held="pizza 1", absent="sushi 1")),
        facts(3, NONE, known(held="C 0", absent="omelette 0"), known(absent="pizza 0"), NONE),
    ),
    alone(
        "D: all see who holds Mister Bill at that moment",
        "MB-15 MB-25 MB-26 MB-27",
        start(["sushi D", "omelette bill", "sushi bill", "omelette D bill"], 0, 0, 2),
        legal(0, "decline", "play d"),
        do(0, "play d"),
        turn(1),
        seen(
            -1,
            {"event": "waiter_played", "seat": 0, "kind": "waiter_d", "target": None},
            {"event": "bills_shown", "counts": [0, 1, 1, 1]},
            {"event": "drew", "seat": 1, "from": 0},
        ),
        facts(
            -1,
            known(absent="D 0, bill 0"),
            known(held="bill 0"),
            known(held="bill 0"),
            known(held="bill 0"),
        ),
        do(1, "decline"),
        # Seat 2 drew the bill of seat 1 and laid a pair down.
        seen(-1, {"event": "pair_laid", "seat": 2, "kind": "mister_bill"}),
        facts(
            -1,
            known(absent="D 0, bill 0"),
            known(absent="bill 0"),
            known(absent="bill 0"),
            known(held="bill 0"),
        ),
        facts(
            2,
            known(absent="D 0, bill 0"),
            known(absent="bill 0"),
            NONE,
            known(held="bill 0"),
        ),
    ),
    alone(
        "D: a draw blurs what was shown",
        "MB-15 MB-27",
        start(["sushi D", "omelette pizza", "sushi pizza", "omelette D bill"], 0, 0, 0, 0, 1),
        do(0, "play d"),
        seen_ever(-1, {"event": "bills_shown", "counts": [0, 0, 0, 1]}),
        do(1, "decline"),
        # Seat 2 laid its sushi down with the one of seat 1.
        do(2, "decline"),
        # Seat 3 drew the pizza of seat 2, which was its last card.
        view(-1, out=[2]),
        facts(
            -1,
            known(absent="D 0, bill 0"),
            known(absent="sushi 0, bill 1"),
            NONE,
            known(held="bill 0"),
        ),
        do(3, "decline"),
        # Seat 0 drew a card of [pizza, D, bill], the D.
        facts(
            -1,
            known(absent="D 1, bill 1"),
            known(absent="sushi 0, bill 1"),
            NONE,
            known(held="bill 1"),
        ),
    ),
    alone(
        "E: all pass a card to the left at the same time",
        "MB-16 MB-11 MB-19 MB-25 MB-26 MB-27",
        start(["sushi E", "omelette pizza", "sushi omelette", "pizza E bill"], 0, 1),
        legal(0, "decline", "play e"),
        do(0, "play e"),
        to_act(0, 1, 2, 3),
        view(-1, pending_waiter="waiter_e", phase="gift"),
        do_all("3 give mister_bill", "1 give omelette", "0 give pizza"),
        view(-1, committed=[0, 1, 3], to_act=[2]),
        do(2, "give sushi"),
        turn(2),
        seen(
            -1,
            {"event": "gift_committed", "seat": 2},
            {"event": "gave", "from": 0, "to": 1},
            {"event": "gave", "from": 1, "to": 2},
            {"event": "gave", "from": 2, "to": 3},
            {"event": "gave", "from": 3, "to": 0},
            {"event": "pair_laid", "seat": 1, "kind": "pizza"},
            {"event": "pair_laid", "seat": 2, "kind": "omelette"},
            {"event": "went_out", "seat": 1, "rank": 1},
            {"event": "team_completed", "seats": [1], "value": 4},
            {"event": "went_out", "seat": 2, "rank": 2},
            {"event": "team_completed", "seats": [2], "value": 4},
            {"event": "drew", "seat": 3, "from": 0},
        ),
        running(0, 4, 4, 0),
        # Seat 3 drew the bill out of [sushi, bill] back from seat 0.
        holds(0, "sushi"),
        holds(3, "sushi E bill"),
        facts(-1, known(absent="pizza 1, E 1"), NONE, NONE, NONE),
        facts(0, NONE, NONE, NONE, known(held="bill 0", absent="pizza 1")),
        facts(1, known(absent="pizza 1, E 1"), NONE, NONE, NONE),
        facts(2, known(absent="pizza 1, E 1"), NONE, NONE, known(held="sushi 0")),
        facts(3, known(absent="pizza 0, E 0, bill 0"), NONE, NONE, NONE),
    ),
]

SHIFTS = [
    alone(
        "shift change: the hands go left at once, and the new hand decides",
        "MB-17 MB-10 MB-26 MB-27",
        start(
            ["sushi pizza shift", "sushi D", "omelette pizza", "omelette D bill shift"],
            3,
            bonus=2,
        ),
        turn(0),
        legal(0, "decline", "play d"),
        seen(
            -1,
            {"event": "drew", "seat": 0, "from": 3},
            {"event": "pair_laid", "seat": 0, "kind": "shift_change"},
            {"event": "hand_passed", "from": 0, "to": 1, "count": 2},
            {"event": "hand_passed", "from": 1, "to": 2, "count": 2},
            {"event": "hand_passed", "from": 2, "to": 3, "count": 2},
            {"event": "hand_passed", "from": 3, "to": 0, "count": 3},
        ),
        *(
            seen(
                viewer,
                {
                    "event": "hand_passed",
                    "from": 3,
                    "to": 0,
                    "count": 3,
                    "kinds": cards("omelette D bill"),
                },
            )
            for viewer in (0, 3)
        ),
        holds(0, "omelette D bill"),
        holds(1, "sushi pizza"),
        holds(2, "sushi D"),
        holds(3, "omelette pizza"),
        # Seats 0 and 3 were seen to lose their shift changes; their hands are with 1 and 0 now.
        facts(-1, known(absent="shift 0"), known(absent="shift 0"), NONE, NONE),
        facts(0, NONE, whole("sushi pizza"), NONE, NONE),
        facts(1, known(absent="shift 0"), NONE, whole("sushi D"), NONE),
        facts(2, known(absent="shift 0"), known(absent="shift 0"), NONE, whole("omelette pizza")),
        facts(3, whole("omelette D bill"), known(absent="shift 0"), NONE, NONE),
        bonus_waiter=2,
    ),
    alone(
        "a single shift change can't be played",
        "MB-17 MB-10 G-2",
        start(
            ["sushi pizza shift", "sushi D", "omelette pizza", "omelette D bill shift"],
            0,
            bonus=2,
        ),
        legal(0, "decline"),
        refused("G-2", 0, "play shift_change"),
        bonus_waiter=2,
    ),
    alone(
        "a shift change takes effect though the seat that laid it down is out",
        "MB-17 MB-19",
        start(["shift", "sushi A", "omelette A", "sushi omelette bill shift"], 3, 0, bonus=2),
        seen_ever(
            -1,
            {"event": "pair_laid", "seat": 0, "kind": "shift_change"},
            {"event": "went_out", "seat": 0, "rank": 1},
            {"event": "team_completed", "seats": [0], "value": 4},
            {"event": "hand_passed", "from": 1, "to": 2, "count": 2},
            {"event": "hand_passed", "from": 2, "to": 3, "count": 2},
            {"event": "hand_passed", "from": 3, "to": 1, "count": 3},
            {"event": "drew", "seat": 1, "from": 3},
            {"event": "pair_laid", "seat": 1, "kind": "omelette"},
        ),
        turn(0),
        to_act(1),
        holds(1, "sushi bill"),
        holds(2, "sushi A"),
        holds(3, "A"),
        # Seat 2 gave [omelette, A] to seat 3, seat 3 its three cards to seat 1.
        facts(2, NONE, known(absent="omelette 0, shift 0"), NONE, whole("A")),
        facts(3, NONE, whole("sushi bill"), NONE, NONE),
        bonus_waiter=2,
    ),
    alone(
        "two shift changes at once take effect one after the other",
        "MB-17 MB-14 MB-11",
        start(
            [
                "sushi C shift",
                "sushi pizza shift",
                "omelette pizza shift",
                "omelette C bill shift",
            ],
            2,
            0,
            bonus=4,
        ),
        do(0, "play c 1"),
        do_all(*(f"{seat} give shift_change" for seat in (0, 2, 3))),
        seen_ever(
            -1,
            {"event": "pair_laid", "seat": 1, "kind": "shift_change"},
            {"event": "pair_laid", "seat": 1, "kind": "shift_change"},
            *(
                {"event": "hand_passed", "from": seat, "to": (seat + 1) % 4, "count": 2}
                for _ in range(2)
                for seat in range(4)
            ),
            {"event": "drew", "seat": 1, "from": 0},
            {"event": "pair_laid", "seat": 1, "kind": "omelette"},
        ),
        holds(0, "pizza"),
        holds(1, "C"),
        holds(2, "sushi bill"),
        holds(3, "sushi pizza"),
        facts(
            -1, known(absent="omelette 0"), known(absent="omelette 0"), known(absent="C 0"), NONE
        ),
        bonus_waiter=4,
    ),
    alone(
        "a shift change lapses if the round ends",
        "MB-17 MB-22",
        start(["shift", "", "bill shift"], 1, bonus=2),
        seen_ever(
            -1,
            {"event": "pair_laid", "seat": 0, "kind": "shift_change"},
            {"event": "went_out", "seat": 0, "rank": 2},
            {"event": "team_completed", "seats": [0], "value": 4},
            {"event": "team_completed", "seats": [2], "value": 0},
            {
                "event": "round_scored",
                "round": 1,
                "stalled": False,
                "points": [4, 4, 0],
                "totals": [4, 4, 0],
            },
        ),
        never("hand_passed"),
        view(-1, round=2),
        turn(0),
        bonus_waiter=2,
    ),
]


def last_card(letter: str) -> Script:
    """Seat 0 lays down its sushi with the one drawn and has only the waiter left."""
    hands = [f"sushi {letter}", "omelette pizza", f"sushi omelette pizza {letter} bill"]
    return start(hands, 0, 0)


LAST_CARDS = [
    alone(
        "A as the last card has no target and no effect",
        "MB-18 MB-19 G-2",
        last_card("A"),
        legal(0, "decline", "play a"),
        refused("MB-18", 0, "play a 1"),
        refused("G-2", 0, "play b"),
        do(0, "play a"),
        turn(1),
        never("gave"),
        seen_ever(
            -1,
            {"event": "waiter_played", "seat": 0, "kind": "waiter_a", "target": None},
            {"event": "went_out", "seat": 0, "rank": 1},
            {"event": "team_completed", "seats": [0], "value": 4},
            {"event": "drew", "seat": 1, "from": 2},
        ),
        to_act(1),
    ),
    alone(
        "A as the last card, blind: the same",
        "MB-18 MB-12",
        last_card("A"),
        legal(0, "decline", "play a"),
        do(0, "play a"),
        never("gave"),
        view(-1, out=[0]),
        swap_one="blind",
    ),
    alone(
        "B as the last card fizzles",
        "MB-18 MB-13",
        last_card("B"),
        legal(0, "decline", "play b"),
        refused("MB-18", 0, "play b 1"),
        do(0, "play b"),
        never("hands_swapped"),
        view(-1, out=[0], to_act=[1]),
        running(4, 0, 0),
    ),
    alone(
        "B as the last card by option swaps: the named seat is out",
        "MB-18 MB-13 MB-19 MB-26",
        last_card("B"),
        legal(0, "decline", "play b 1", "play b 2"),
        refused("MB-18", 0, "play b"),
        refused("MB-18", 0, "play b 0"),
        do(0, "play b 1"),
        turn(1),
        seen_ever(
            0,
            {"event": "waiter_played", "seat": 0, "kind": "waiter_b", "target": 1},
            {
                "event": "hands_swapped",
                "first": 0,
                "second": 1,
                "kinds": [cards("omelette pizza"), []],
            },
            {"event": "went_out", "seat": 1, "rank": 1},
            {"event": "team_completed", "seats": [1], "value": 4},
            # The nearest seat still in on the left of seat 0 is seat 2.
            {"event": "drew", "seat": 2, "from": 0, "kind": "omelette"},
            {"event": "pair_laid", "seat": 2, "kind": "omelette"},
        ),
        holds(0, "pizza"),
        facts(0, NONE, NONE, known(absent="sushi 0, omelette 0")),
        facts(1, whole("pizza"), NONE, known(absent="sushi 0, omelette 0")),
        facts(2, known(absent="omelette 0"), NONE, NONE),
        last_card_b="swap",
    ),
    alone(
        "B that is not the last card is the same with the option",
        "MB-13 MB-18",
        start(["sushi B", "omelette pizza", "sushi omelette", "pizza B bill"], 0, 0),
        legal(0, "decline", "play b 1", "play b 2", "play b 3"),
        do(0, "play b 1"),
        holds(0, "pizza"),
        holds(1, "sushi omelette pizza"),
        last_card_b="swap",
    ),
    alone(
        "C as the last card: the others give, the active seat is out",
        "MB-18 MB-14 MB-26 MB-27",
        start(["sushi C", "omelette pizza", "sushi omelette pizza C bill"], 0, 1),
        legal(0, "decline", "play c 1", "play c 2"),
        do(0, "play c 1"),
        view(-1, out=[0], phase="gift", pending_waiter="waiter_c"),
        to_act(2),
        refused("G-2", 0, "give waiter_c"),
        do(2, "give omelette"),
        # A lone gift that makes a pair is seen by everyone; then seat 1 drew the C of seat 2.
        seen(
            -1,
            {"event": "gave", "from": 2, "to": 1},
            {"event": "pair_laid", "seat": 1, "kind": "omelette"},
            {"event": "drew", "seat": 1, "from": 2},
        ),
        holds(1, "pizza C"),
        facts(0, NONE, known(absent="omelette 1"), known(absent="sushi 0, omelette 0")),
        facts(-1, NONE, known(absent="omelette 1"), known(absent="sushi 0, omelette 0")),
    ),
    alone(
        "D as the last card: the others show",
        "MB-18 MB-15",
        last_card("D"),
        legal(0, "decline", "play d"),
        do(0, "play d"),
        seen_ever(
            -1,
            {"event": "waiter_played", "seat": 0, "kind": "waiter_d", "target": None},
            {"event": "went_out", "seat": 0, "rank": 1},
            {"event": "team_completed", "seats": [0], "value": 4},
            {"event": "bills_shown", "counts": [0, 0, 1]},
        ),
        facts(
            -1,
            NONE,
            known(absent="omelette 0, bill 0"),
            known(held="bill 0", absent="sushi 0, omelette 0"),
        ),
    ),
    alone(
        "E as the last card: the others pass",
        "MB-18 MB-16",
        last_card("E"),
        legal(0, "decline", "play e"),
        do(0, "play e"),
        to_act(1, 2),
        view(-1, out=[0]),
        do_all("2 give mister_bill", "1 give omelette"),
        seen_ever(
            -1,
            {"event": "gave", "from": 1, "to": 2},
            {"event": "gave", "from": 2, "to": 1},
            {"event": "pair_laid", "seat": 2, "kind": "omelette"},
            # Seat 1 drew the pizza out of [pizza, E].
            {"event": "drew", "seat": 1, "from": 2},
            {"event": "pair_laid", "seat": 1, "kind": "pizza"},
        ),
        holds(1, "bill"),
        holds(2, "E"),
    ),
    alone(
        "a last card that ends the round has no effect",
        "MB-18 MB-22 MB-16",
        start(["sushi E", "", "sushi E bill"], 0),
        legal(0, "decline", "play e"),
        do(0, "play e"),
        never("gift_committed"),
        seen_ever(
            -1,
            {"event": "waiter_played", "seat": 0, "kind": "waiter_e", "target": None},
            {"event": "went_out", "seat": 0, "rank": 2},
            {"event": "team_completed", "seats": [0], "value": 4},
            {"event": "team_completed", "seats": [2], "value": 0},
        ),
        view(-1, round=2, round_points=[[4, 4, 0]], hands=[None] * 3),
    ),
    table(
        "a last card can complete a team, which ends the round before the effect",
        "MB-18 MB-20 MB-22",
        4,
        view(-1, out=[1], teams=[[0, 1], [2, 3]], points=[0, 0, 0, 0]),
        do(0, "play d"),
        never("bills_shown"),
        seen_ever(
            -1,
            {"event": "went_out", "seat": 0, "rank": 2},
            {"event": "team_completed", "seats": [0, 1], "value": 4},
            {"event": "team_completed", "seats": [2, 3], "value": 0},
            {
                "event": "round_scored",
                "round": 1,
                "stalled": False,
                "points": [4, 4, 0, 0],
                "totals": [4, 4, 0, 0],
            },
        ),
        script=start(["sushi D", "", "omelette pizza", "sushi omelette pizza D bill"], 0),
    ),
]

# Seats 0, 2 and 3 hand the bill round; nobody ever draws a card that it holds.
STALLING = start(["sushi pizza", "", "sushi omelette", "omelette pizza bill"], *[2] * 40)


def declines(count: int) -> Step:
    """The first declines of the seats 0, 2 and 3 in turn."""
    return do_all(*(f"{(0, 2, 3)[number % 3]} decline" for number in range(count)))


ENDS = [
    alone(
        "the count of turns without a card leaving play, and what sets it back",
        "MB-23 MB-25",
        start(["sushi D", "omelette bill", "sushi bill", "omelette D bill"], 0, 0, 1, 1, 1),
        view(-1, stall=0),
        do(0, "decline"),
        view(-1, stall=1),
        do(1, "decline"),
        view(-1, stall=2),
        do(2, "decline"),
        view(-1, stall=3, active=3),
        do(3, "play d"),
        view(-1, stall=0, active=0),
        do(0, "decline"),
        view(-1, stall=1),
    ),
    alone(
        "forty turns in a row of four players end the round, though only three are in",
        "MB-23 MB-20 MB-22",
        STALLING,
        view(-1, out=[1], active=0, stall=0),
        declines(39),
        view(-1, round=1, stall=39, active=0),
        do(0, "decline"),
        seen_ever(
            -1,
            {"event": "declined", "seat": 0},
            {
                "event": "round_scored",
                "round": 1,
                "stalled": True,
                "points": [0, 4, 0, 0],
                "totals": [0, 4, 0, 0],
            },
        ),
        view(-1, round=2, stall=0, points=[0] * 4),
        totals(0, 4, 0, 0),
        turn(40),
    ),
    table(
        "a team of one takes one card, its twin is set aside, the next team takes 2 each",
        "MB-5 MB-8 MB-19 MB-20 MB-22",
        5,
        # Seats 0 and 1 are out by pairs: ranked from seat 1, which has number 1. Seat 2 starts.
        seen_ever(
            -1,
            {"event": "went_out", "seat": 1, "rank": 1},
            {"event": "went_out", "seat": 0, "rank": 2},
            {"event": "team_completed", "seats": [0], "value": 4},
            {"event": "drew", "seat": 2, "from": 4},
            {"event": "pair_laid", "seat": 2, "kind": "sushi"},
            # The draw took the last card of seat 4, the pair that of seat 2, which is out first.
            {"event": "went_out", "seat": 2, "rank": 3},
            {"event": "team_completed", "seats": [1, 2], "value": 2},
            {"event": "went_out", "seat": 4, "rank": 4},
            {"event": "team_completed", "seats": [3, 4], "value": 0},
            {
                "event": "round_scored",
                "round": 1,
                "stalled": False,
                "points": [4, 2, 2, 0, 0],
                "totals": [4, 2, 2, 0, 0],
            },
        ),
        view(-1, round=2, teams=[[0, 1], [2, 3], [4]]),
        turn(0),
        script={
            **start(["", "", "sushi", "bill", "sushi"], 0, numbers="51234"),
            ("teams", 2, 0): list("12345"),
        },
    ),
    table(
        "three teams: 4 each, 2 each, nothing",
        "MB-20 MB-22 MB-7 MB-5",
        6,
        last_event(-1, "round_scored", points=[4, 4, 2, 2, 0, 0], stalled=False, round=1),
        seen_ever(
            -1,
            {"event": "went_out", "seat": 0, "rank": 1},
            {"event": "went_out", "seat": 1, "rank": 2},
            {"event": "team_completed", "seats": [0, 1], "value": 4},
            {"event": "went_out", "seat": 2, "rank": 3},
            {"event": "went_out", "seat": 3, "rank": 4},
            {"event": "team_completed", "seats": [2, 3], "value": 2},
            {"event": "went_out", "seat": 4, "rank": 5},
            {"event": "team_completed", "seats": [4, 5], "value": 0},
        ),
        script=quick(6, 1, 5, "123456"),
    ),
    table(
        "points taken in the running round are public and not yet in the totals",
        "MB-20 MB-25",
        6,
        running(4, 4, 0, 0, 0, 0),
        totals(0, 0, 0, 0, 0, 0),
        view(-1, points=[4, 4, 0, 0, 0, 0], team_values=[2, 1], out=[0, 1]),
        placement(1, 1, 1, 1, 1, 1),
        script=start(
            ["", "", "sushi omelette", "sushi omelette", "pizza paella", "pizza paella bill"]
        ),
    ),
]


def match(seats: int, first_dealer: int, *numbers: str) -> Script:
    """Three rounds that are over with MB-7; the dealer of each is left with the bill."""
    script: Script = {}
    for number, cards_of_round in enumerate(numbers, start=1):
        script |= quick(seats, number, first_dealer, cards_of_round)
    return script


MATCHES = [
    table(
        # Round 1: {0, 1} 4 each. Round 2: {1, 2} 4 each. Round 3: from seat 2: 8, then 6.
        "a match of three: the highest sum wins",
        "MB-24 MB-21 MB-20 MB-5 MB-7 G-2",
        3,
        over(),
        turn(0),
        totals(10, 8, 12),
        placement(2, 3, 1),
        utility(0.5, 0.0, 1.0),
        view(-1, phase="over", round=3, round_points=[[4, 4, 0], [0, 4, 4], [6, 0, 8]]),
        view(-1, to_act=[], points=[0, 0, 0], out=[2, 0], hands=[None] * 3),
        seen(
            -1,
            {"event": "went_out", "seat": 2, "rank": 1},
            {"event": "team_completed", "seats": [2], "value": 8},
            {"event": "went_out", "seat": 0, "rank": 2},
            {"event": "team_completed", "seats": [0], "value": 6},
            {"event": "team_completed", "seats": [1], "value": 0},
            {
                "event": "round_scored",
                "round": 3,
                "stalled": False,
                "points": [6, 0, 8],
                "totals": [10, 8, 12],
            },
            {"event": "match_ended", "placement": [2, 3, 1], "totals": [10, 8, 12]},
        ),
        refused("G-2", 0, "decline"),
        script=match(3, 2, "123", "312", "231"),
    ),
    table(
        # {2, 3}, then {0, 2} take 4 each; round 3 from seat 1: 8 for 1, 6 for 3, 5 for 0.
        "ties share a place",
        "MB-24 MB-21",
        4,
        over(),
        totals(9, 8, 8, 10),
        placement(2, 3, 3, 1),
        # Mean places 2, 3.5, 3.5, 1: (4 - p) / 3.
        utility(2 / 3, 1 / 6, 1 / 6, 1.0),
        script=match(4, 0, "1234", "3142", "2134"),
    ),
    table(
        # {2, 3}, then {0, 3} take 4 each; round 3 from seat 3: 8 for 3, 6 for 0, 5 for 1.
        "sixteen is the most possible",
        "MB-24 MB-21",
        4,
        over(),
        totals(10, 5, 4, 16),
        placement(2, 3, 4, 1),
        script=match(4, 0, "1234", "3124", "2341"),
    ),
    alone(
        # From seats 2, 5 and 0: 4 4 2 2 1 1 0 twice, then 8 6 5 4 3 2 1.
        "eight alone: the seventh finds the pile of round 1 empty",
        "MB-4 MB-3 MB-19 MB-21 MB-24",
        match(8, 7, "23145678", "23456178", "12345678"),
        over(),
        seen_ever(
            -1,
            {"event": "went_out", "seat": 0, "rank": 6},
            {"event": "team_completed", "seats": [0], "value": 1},
            {"event": "went_out", "seat": 1, "rank": 7},
            {"event": "team_completed", "seats": [1], "value": 0},
            {"event": "team_completed", "seats": [7], "value": 0},
            {
                "event": "round_scored",
                "round": 1,
                "stalled": False,
                "points": [1, 0, 4, 4, 2, 2, 1, 0],
                "totals": [1, 0, 4, 4, 2, 2, 1, 0],
            },
        ),
        view(
            -1,
            round_points=[
                [1, 0, 4, 4, 2, 2, 1, 0],
                [0, 2, 1, 1, 0, 4, 4, 2],
                [8, 0, 6, 5, 4, 3, 2, 1],
            ],
        ),
        totals(9, 2, 11, 10, 6, 9, 7, 3),
        placement(3, 8, 1, 2, 6, 3, 5, 7),
    ),
]

CASES: list[Case] = [
    *MAKING,
    *DEALING,
    *SETUP,
    *TURNS,
    *WAITER_A,
    *WAITER_B,
    *OTHER_WAITERS,
    *SHIFTS,
    *LAST_CARDS,
    *ENDS,
    *MATCHES,
]
