"""Café International, rule by rule: what must happen, worked out by hand from the rules document.

Kinds are written short: two letters of the nation and w or m, as in `Frw`; jokers are `Jw`, `Jm`.
Moves are `seat verb kind chair`, separated by `|`. Hands and draws are scripted.
"""

from __future__ import annotations

from random import Random

from tests.reference.casebook import (
    Case,
    Engine,
    Step,
    do,
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

GAME = "cafe_international"
OPTIONS: dict[str, list[object]] = {
    "five_players": [False, True],
    "draw_less": ["optional", "automatic"],
    "swap_same_sex": [False, True],
    "joker_identity": ["wild", "declared"],
    "bag_low": [4, 3],
    "birthday": [False, True],
    "birthday_threshold": list(range(1, 1000)),
    "regulars": [False, True],
}
NATIONS = {
    "Af": "africa",
    "Ch": "china",
    "Cu": "cuba",
    "Fr": "france",
    "Ge": "germany",
    "GB": "great_britain",
    "In": "india",
    "It": "italy",
    "Ru": "russia",
    "Sp": "spain",
    "Tu": "turkey",
    "US": "usa",
    "J": "joker",
}
SEXES = {"w": "woman", "m": "man"}
# CI-2, in the order of the kinds.
KINDS = [f"{nation}_{sex}" for nation in NATIONS.values() for sex in SEXES.values()]
COUNTS = {kind: 2 if kind.startswith("joker") else 4 for kind in KINDS}
BAR = [1, 2, 3, 4, 5, -2, -4, -6, -8, -10, -4, -6, -8, -10, -12, -6, -8, -10, -12, -14]
# CI-1: the chairs at the two tables of each nation, shared ones included.
CHAIRS = {
    "Af": [1, 7, 8, 14, 20, 21, 26],
    "Ch": [4, 5, 10, 11, 12, 17, 18],
    "Cu": [26, 30, 31, 34, 36, 37, 40],
    "Fr": [41, 42, 45, 46, 47, 48, 51, 54],
    "Ge": [51, 52, 57, 58, 59, 64, 65],
    "GB": [15, 18, 21, 22, 23, 24, 27, 28],
    "In": [43, 48, 49, 55, 61, 62, 68],
    "It": [2, 3, 8, 9, 10, 15, 16],
    "Ru": [29, 32, 33, 35, 38, 39, 43],
    "Sp": [6, 12, 13, 19, 24, 25, 29],
    "Tu": [40, 44, 45, 50, 56, 57, 63],
    "US": [53, 54, 59, 60, 61, 66, 67],
}
Fields = dict[str, object]


def kind(short: str) -> str:
    return f"{NATIONS[short[:-1]]}_{SEXES[short[-1]]}"


def kinds(shorts: str) -> list[str]:
    return [kind(short) for short in shorts.split()]


def sorted_kinds(shorts: str) -> list[str]:
    return sorted(kinds(shorts), key=KINDS.index)


def action(short: str) -> str:
    """`seat Frw 41` with the kind's whole name; a nation at the end stays as it is."""
    words = short.split()
    if words[0] in ("seat", "bar", "swap"):
        words[1] = kind(words[1])
    return " ".join(words)


def plays(moves: str) -> Step:
    def step(engine: Engine) -> None:
        for move in moves.split("|"):
            seat, _, rest = move.strip().partition(" ")
            engine.play(int(seat), action(rest))

    return step


def offers(seat: int, *moves: str) -> Step:
    """The seat's legal actions, short."""
    return legal(seat, *(action(move) for move in moves))


def no(rule: str, seat: int, move: str) -> Step:
    return refused(rule, seat, action(move))


def deal(hands: list[str], draws: str = "", start: int = 0) -> Script:
    """The bag: the hands, then the draws, then the rest in the order of the kinds."""
    order = [tile for hand in hands for tile in kinds(hand)]
    assert len(order) == 5 * len(hands), "a hand has five tiles"
    order += kinds(draws)
    rest = [name for name in KINDS for _ in range(COUNTS[name])]
    for tile in order:
        rest.remove(tile)
    return {("bag", 0, 0): order + rest, ("start", 0, 0): start}


def table(title: str, rules: str, seats: int, *steps: Step, **more: object) -> Case:
    """A case of this game; `rules` are ids separated by blanks."""
    return Case(title, tuple(rules.split()), GAME, seats, steps, **more)  # type: ignore[arg-type]


def cafe(
    title: str, rules: str, hands: list[str], draws: str, *steps: Step, **options: object
) -> Case:
    """A match with these hands and draws, seat 0 to start."""
    script = deal(hands, draws)
    return table(title, rules, len(hands), *steps, script=script, options=options)


def seated(seat: int, short: str, chair: int, points: int, nation: str | None = None) -> Fields:
    return {
        "event": "seated",
        "seat": seat,
        "kind": kind(short),
        "chair": chair,
        "nation": nation,
        "points": points,
    }


def drew(seat: int, shorts: str) -> Fields:
    return {"event": "drew", "seat": seat, "kinds": sorted_kinds(shorts)}


def chair_is(chair: int, guest: list[str | None] | None) -> Step:
    """Who sits on the chair, in everybody's view."""

    def step(engine: Engine) -> None:
        for viewer in range(-1, len(engine.totals())):
            chairs = engine.view(viewer)["chairs"]
            assert isinstance(chairs, list)
            assert len(chairs) == 68
            assert chairs[chair - 1] == guest, f"chair {chair}: {chairs[chair - 1]}"

    return step


def offered(seat: int, move: str) -> Step:
    """One of the seat's legal actions, short."""

    def step(engine: Engine) -> None:
        assert action(move) in engine.legal(seat), f"{move} is not offered: {engine.legal(seat)}"

    return step


def none_ever(name: str) -> Step:
    def step(engine: Engine) -> None:
        assert all(event["event"] != name for event in engine.events(-1)), f"there is a {name}"

    return step


MAKING = [
    Case("one seat is too few", ("CI-0", "G-1"), GAME, 1, refused=("seats", [2, 3, 4, 5])),
    Case("six seats are too many", ("CI-0", "G-1"), GAME, 6, refused=("seats", [2, 3, 4, 5])),
    Case("five need the option", ("CI-0", "G-1"), GAME, 5, refused=("five_players", [True])),
    Case(
        "an unknown option", ("G-1",), GAME, 3, options={"music": 1}, refused=("music", [*OPTIONS])
    ),
    *(
        Case(
            f"{name} = {value!r} is out of range",
            ("G-1", rule),
            GAME,
            3,
            options={name: value},
            refused=(name, OPTIONS[name]),
        )
        for name, value, rule in [
            ("five_players", 1, "CI-0"),
            ("draw_less", "never", "CI-15"),
            ("swap_same_sex", "on", "CI-18"),
            ("joker_identity", "both", "CI-19"),
            ("bag_low", 5, "CI-21"),
            ("birthday", 0, "CI-24"),
            ("birthday_threshold", 0, "CI-24"),
            ("birthday_threshold", 1000, "CI-24"),
            ("birthday_threshold", True, "CI-24"),
            ("regulars", "off", "CI-25"),
        ]
    ),
    *(
        table(
            f"{seats} seats with {options}",
            "CI-0 CI-4 G-1",
            seats,
            view(-1, bag_size=100 - 5 * seats, limits=[5] * seats, totals=[0] * seats, out=[]),
            options=options,
        )
        for seats, options in [
            (2, {}),
            (3, {}),
            (4, {}),
            (5, {"five_players": True}),
            (4, {"five_players": True}),
            (2, {"birthday_threshold": 999}),
        ]
    ),
]

EVERYBODY = ["Afw Chw Cuw Frw Gew", "GBw Inw Itw Ruw Spw", "Tuw USw Afm Chm Cum"]


def may_begin(seat: int, hand: str) -> Step:
    """CI-10 lets the starting seat put any guest anywhere that is of its nation."""
    shorts = sorted(hand.split(), key=lambda short: KINDS.index(kind(short)))
    places = [f"seat {short} {chair}" for short in shorts for chair in CHAIRS[short[:-1]]]
    return offers(seat, *places, *(f"bar {short}" for short in shorts))


SETTING_UP = [
    *(
        table(
            f"where guests may sit, and who begins: seat {start}",
            "CI-1 CI-4 CI-6 CI-10 CI-16",
            3,
            view(-1, active=start, to_act=[start], phase="turn", birthday_state="off"),
            may_begin(start, EVERYBODY[start]),
            *(legal(other) for other in range(3) if other != start),
            script=deal(EVERYBODY, start=start),
        )
        for start in range(3)
    ),
    table(
        "a joker sits anywhere, but never at the bar",
        "CI-6 CI-2 CI-16",
        2,
        offers(
            0,
            *(f"seat Inw {chair}" for chair in CHAIRS["In"]),
            *(f"seat {joker} {chair}" for joker in ("Jw", "Jm") for chair in range(1, 69)),
            "bar Inw",
        ),
        no("G-2", 0, "bar Jw"),
        script=deal(["Jw Jw Jm Jm Inw", "Frw Gew Itw Spw Tuw"]),
    ),
    table(
        "the bag is shuffled once; seats draw in order, then the starting seat is drawn",
        "CI-4 CI-2 CI-26",
        2,
        *(
            seen(
                viewer,
                drew(0, "Itw Frm Frw Jw Afm"),
                drew(1, "Frw Frw Frw Itw USm"),
                {"event": "started", "seat": 1},
            )
            for viewer in (-1, 0, 1)
        ),
        *(
            view(
                viewer,
                hands=[sorted_kinds("Itw Frm Frw Jw Afm"), sorted_kinds("Frw Frw Frw Itw USm")],
                bag_size=90,
                bag=[
                    *(4, 3),
                    *(4, 4),
                    *(4, 4),
                    *(0, 3),
                    *(4, 4),
                    *(4, 4),
                    *(4, 4),
                    *(2, 4),
                    *(4, 4),
                    *(4, 4),
                    *(4, 4),
                    *(4, 3),
                    *(1, 2),
                ],
                chairs=[None] * 68,
                bar=[],
                passes=0,
                seated_now=[],
                completed_now=[],
                exempt_chair=None,
                parties=[],
                birthday=None,
                points=[0, 0],
            )
            for viewer in (-1, 0, 1)
        ),
        turn(0),
        script=deal(["Itw Frm Frw Jw Afm", "Frw Frw Frw Itw USm"], start=1),
    ),
]

# Table 24 of France has chairs 41, 46, 45 (shared with table 17 of Turkey) and 51 (with table 15
# of Germany); table 15 has 51, 58 (with table 14 of Germany), 64 and 57 (with table 16, Turkey).
LONELY = "Itw Spw Ruw Afw Chw"
TURNS = [
    cafe(
        "example: two guests to an empty table, 0 + 2",
        "CI-5 CI-8 CI-9 CI-12",
        ["Frw Frm Itw Inw Cuw", LONELY],
        "Frw Gew",
        plays("0 seat Frw 41"),
        seen(-1, seated(0, "Frw", 41, 0)),
        totals(0, 0),
        turn(1),
        to_act(0),
        view(-1, seated_now=[["france_woman", 41]], exempt_chair=None, bag_size=90),
        # The second joins the first; the starting seat may stop instead.
        offers(0, "seat Frm 45", "seat Frm 46", "seat Frm 51", "stop"),
        plays("0 seat Frm 46"),
        seen(-1, seated(0, "Frm", 46, 2), drew(0, "Frw Gew")),
        totals(2, 0),
        running(0, 0),
        view(-1, active=1, seated_now=[], bag_size=88, exempt_chair=None),
        view(-1, hands=[sorted_kinds("Frw Gew Itw Inw Cuw"), sorted_kinds(LONELY)]),
        chair_is(41, ["france_woman", None]),
        chair_is(46, ["france_man", None]),
        chair_is(45, None),
        # One lonely guest of each nation: only the bar is left.
        offers(1, "bar Afw", "bar Chw", "bar Itw", "bar Ruw", "bar Spw"),
        no("CI-7", 1, "seat Itw 2"),
        no("CI-6", 1, "seat Itw 1"),
        no("CI-5", 1, "stop"),
    ),
    cafe(
        "malformed, not held, out of turn",
        "G-2 CI-5 CI-6 CI-11",
        ["Frw Frm Itw Inw Cuw", LONELY],
        "Frw Gew",
        *(
            refused("G-2", 0, text)
            for text in [
                "seat",
                "seat france_woman",
                "seat france_woman 0",
                "seat france_woman 69",
                "seat france_woman 41 france",
                "seat italy_man 2",
                "seat martian 2",
                "bar italy_man",
                "swap",
                "pass",
                "lower 0",
                "birthday france",
                "decline",
            ]
        ),
        no("G-2", 1, "bar Itw"),
        no("G-2", -1, "bar Itw"),
        no("G-2", 2, "bar Itw"),
        no("CI-5", 0, "stop"),
        no("CI-6", 0, "seat Frw 44"),
        no("CI-18", 0, "swap Frw 41"),
        plays("0 seat Frw 41"),
        no("CI-6", 0, "seat Frm 41"),
        no("CI-5", 0, "bar Itw"),
        no("CI-5", 0, "swap Frm 41"),
        no("CI-7", 0, "seat Frm 42"),
        no("CI-7", 0, "seat Itw 2"),
        no("CI-6", 0, "seat Itw 46"),
        no("G-2", 0, "seat Frw 46"),
    ),
    cafe(
        "example: two foreigners on shared chairs may be a table's only guests",
        "CI-6 CI-7 CI-12",
        ["Tum Gew Itw Inw Cuw", LONELY],
        "Frw Gem",
        plays("0 seat Tum 45 | 0 seat Gew 51"),
        seen(-1, seated(0, "Tum", 45, 0), seated(0, "Gew", 51, 2), drew(0, "Frw Gem")),
        totals(2, 0),
    ),
    cafe(
        "a first guest that must be joined is offered only if another can join it",
        "CI-8 CI-7",
        ["Frw Frm Inw Cuw Ruw", "Itw Itm Spw Gew Cuw"],
        "Frw Gew",
        plays("0 bar Frw"),
        # Italy has table 2 with chairs 2, 8, 9, 15 and table 3 with 3, 9, 10, 16.
        offers(
            1,
            *(
                f"seat {short} {chair}"
                for short in ("Itw", "Itm")
                for chair in (2, 3, 8, 9, 10, 15, 16)
            ),
            "bar Cuw",
            "bar Gew",
            "bar Itw",
            "bar Itm",
            "bar Spw",
        ),
        no("CI-7", 1, "seat Spw 6"),
        plays("1 seat Itw 2"),
        offers(1, "seat Itm 8", "seat Itm 9", "seat Itm 15"),
        no("CI-7", 1, "stop"),
        no("CI-7", 1, "seat Itm 3"),
        plays("1 seat Itm 9"),
        # Chair 9 is shared by two tables of Italy: 2 at table 2, alone at table 3.
        seen_ever(-1, seated(1, "Itw", 2, 0), seated(1, "Itm", 9, 2)),
        totals(1, 2),
        view(-1, active=0),
    ),
    cafe(
        "women and men differ by at most one",
        "CI-7 CI-8",
        ["Frw Frm Frw Inw Cuw", "Frw Frw Spw Afw Itw"],
        "Ruw GBw",
        plays("0 seat Frw 41 | 0 seat Frm 46"),
        # A second woman is fine, a third would be two more than the men.
        plays("1 seat Frw 45"),
        totals(2, 3),
        # Nothing can follow, so the turn is over.
        view(-1, active=0),
        no("CI-7", 0, "seat Frw 51"),
        offers(0, "bar Cuw", "bar Frw", "bar GBw", "bar Inw", "bar Ruw"),
    ),
    cafe(
        "jokers count by their sex",
        "CI-7",
        ["Frw Frm Inw Cuw Ruw", "Jw Jm Frw Afw Itw"],
        "GBw Chw",
        plays("0 seat Frw 41 | 0 seat Frm 46 | 1 seat Frw 45"),
        # Two women and a man: a joker of the same sex doesn't fit, the other does.
        no("CI-7", 1, "seat Jw 51"),
        plays("1 seat Jm 51"),
        # Fourth at table 24, all natives: 8; alone at table 15.
        totals(2, 11),
    ),
    cafe(
        "two guests to different tables",
        "CI-9 CI-7 CI-8",
        ["Frw Frm Itm Inw Ruw", "Itw Itm Frw Afw Chw"],
        "Frm Spw Ruw Ruw Spw",
        plays("0 seat Frw 41 | 0 seat Frm 46"),
        plays("1 seat Itw 2 | 1 seat Itm 8"),
        # Seat 0 holds Frm and Itm: the first is third at table 24, the second third at table 2.
        plays("0 seat Frm 45"),
        offers(0, "seat Itm 9", "seat Itm 15", "stop"),
        plays("0 seat Itm 15"),
        # 3 + 3; Itm is alone at table 21.
        totals(8, 2),
    ),
    cafe(
        "example: third and fourth guest in one turn, 3 + 8 with all four natives",
        "CI-12 CI-13 CI-8",
        ["Frw Frm Frw Frm Cuw", LONELY],
        "Ruw GBw Inw",
        plays("0 seat Frw 41 | 0 seat Frm 46 | 1 bar Itw | 0 seat Frw 45"),
        totals(5, 1),
        offers(0, "seat Frm 51", "stop"),
        plays("0 seat Frm 51"),
        totals(13, 1),
        seen(
            -1,
            seated(0, "Frm", 51, 8),
            {"event": "table_completed", "seat": 0, "table": 24},
        ),
        view(-1, phase="limit", completed_now=[24], to_act=[0]),
    ),
    cafe(
        "example: 3 + 4 with a foreigner on a shared chair",
        "CI-12 CI-13 CI-14",
        ["Frw Frm Tuw Frm Cuw", LONELY],
        "Ruw GBw Inw",
        plays("0 seat Frw 41 | 0 seat Frm 46 | 1 bar Itw | 0 seat Tuw 45 | 0 seat Frm 51"),
        totals(9, 1),
        none_ever("table_completed"),
        view(-1, phase="turn", active=1, limits=[5, 5]),
    ),
    cafe(
        "example: a joker and three natives, 8",
        "CI-13 CI-19",
        ["Frw Frm Jw Frm Cuw", LONELY],
        "Ruw GBw Inw",
        plays("0 seat Frw 41 | 0 seat Frm 46 | 1 bar Itw | 0 seat Jw 45 | 0 seat Frm 51"),
        totals(13, 1),
        view(-1, completed_now=[24], phase="limit"),
    ),
    cafe(
        "the seat decides to stop",
        "CI-5 CI-8 CI-15",
        ["Frw Frm Frw Frm Cuw", LONELY],
        "Ruw GBw Inw Chw",
        plays("0 seat Frw 41 | 0 seat Frm 46 | 1 bar Itw | 0 seat Frw 45"),
        turn(4),
        do(0, "stop"),
        turn(5),
        seen(-1, seated(0, "Frw", 45, 3), {"event": "stopped", "seat": 0}, drew(0, "Chw")),
        totals(5, 1),
        view(-1, active=1),
    ),
]

START = [
    cafe(
        "the starting seat may stop after a lone guest, for no points",
        "CI-10 CI-12",
        ["Frw Frm Inw Cuw Ruw", "Frm Itw Spw Afw Chw"],
        "GBw",
        plays("0 seat Frw 41 | 0 stop"),
        totals(0, 0),
        view(-1, exempt_chair=41, active=1, bag_size=89),
        # Nobody else may: seat 1 can only join it, or go to the bar.
        offers(
            1,
            "seat Frm 45",
            "seat Frm 46",
            "seat Frm 51",
            "bar Afw",
            "bar Chw",
            "bar Frm",
            "bar Itw",
            "bar Spw",
        ),
        plays("1 seat Frm 45"),
        totals(0, 2),
        view(-1, exempt_chair=None),
    ),
    cafe(
        "the exemption lasts until somebody joins",
        "CI-10",
        ["Frw Frm Itm Itw Ruw", "Frm Inw Spw Afw Chw"],
        "GBw",
        plays("0 seat Frw 41 | 0 stop | 1 bar Inw"),
        view(-1, exempt_chair=41, active=0),
        plays("0 seat Itm 2 | 0 seat Itw 9"),
        view(-1, exempt_chair=41, active=1),
        totals(2, 1),
        plays("1 seat Frm 46"),
        view(-1, exempt_chair=None),
        totals(2, 3),
    ),
    cafe(
        "if nobody can follow, the first turn ends by itself",
        "CI-10 CI-8",
        ["Frw Frw Inw Cuw Ruw", LONELY],
        "GBw",
        plays("0 seat Frw 41"),
        view(-1, exempt_chair=41, active=1, seated_now=[]),
        seen(-1, seated(0, "Frw", 41, 0), drew(0, "GBw")),
    ),
    cafe(
        "after the first turn nobody sits alone, nor does the starting seat",
        "CI-10 CI-7",
        ["Frw Frw Inw Cuw Ruw", LONELY],
        "GBw Chw",
        plays("0 bar Frw | 1 bar Itw"),
        view(-1, exempt_chair=None),
        offers(0, "bar Cuw", "bar Frw", "bar GBw", "bar Inw", "bar Ruw"),
        no("CI-7", 0, "seat Frw 41"),
    ),
    cafe(
        "a lone joker can't be swapped, a joined one can",
        "CI-10 CI-18",
        ["Jm Frw Inw Cuw Ruw", "Frm Itw Spw Afw Chw"],
        "GBw Tuw Tum",
        plays("0 seat Jm 41 | 0 stop"),
        view(-1, exempt_chair=41),
        # A second man doesn't go with a man alone.
        offers(1, *(f"bar {short}" for short in ("Afw", "Chw", "Frm", "Itw", "Spw"))),
        no("CI-10", 1, "swap Frm 41"),
        plays("1 bar Afw | 0 seat Frw 46"),
        view(-1, exempt_chair=None),
        plays("1 swap Frm 41"),
        chair_is(41, ["france_man", None]),
    ),
]

# Tables 24 and 15 but for chair 51: Frw 41, Frm 46, Frw 45; Gem 64, Gew 58 and one more on 57.
AROUND_51 = "0 seat Frw 41 | 0 seat Frm 46 | 1 seat Gem 64 | 1 seat Gew 58 | 0 seat Frw 45 | 0 stop"
AROUND_DRAWS = "Inw Cuw Ruw Afw Inw"
FOREIGN = ["Frw Frm Frw Frm Itw", "Gem Gew Tuw Itw Spw"]
NATIVE = ["Frw Frm Frw Jm Itw", "Gem Gew Gew Itw Spw"]
POINTS = [
    cafe(
        "example: both tables become four, one of them purely native: 8 + 4",
        "CI-14 CI-13 CI-15",
        FOREIGN,
        f"{AROUND_DRAWS} Ruw Chw",
        plays(AROUND_51),
        totals(5, 2),
        plays("1 seat Tuw 57"),
        # Third at table 15, alone at table 16.
        totals(5, 5),
        plays("0 seat Frm 51"),
        totals(17, 5),
        seen(-1, seated(0, "Frm", 51, 12), {"event": "table_completed", "seat": 0, "table": 24}),
        view(-1, phase="limit", completed_now=[24], to_act=[0], active=0),
        legal(0, "lower 0", "lower 1"),
        refused("CI-15", 0, "lower 2"),
        refused("G-2", 0, "stop"),
        refused("G-2", 0, "lower -1"),
        refused("G-2", 1, "lower 0"),
        no("G-2", 0, "bar Itw"),
        do(0, "lower 1"),
        # Four tiles in hand and a limit of four: nothing is drawn.
        seen(-1, {"event": "limit_lowered", "seat": 0, "limit": 4}),
        view(-1, limits=[4, 5], phase="turn", active=1, completed_now=[], seated_now=[]),
        view(-1, hands=[sorted_kinds("Itw Inw Cuw Inw"), sorted_kinds("Itw Spw Ruw Afw Ruw")]),
    ),
    cafe(
        "a limit that is not lowered: the seat draws up to five",
        "CI-15",
        FOREIGN,
        f"{AROUND_DRAWS} Ruw Chw",
        plays(f"{AROUND_51} | 1 seat Tuw 57 | 0 seat Frm 51 | 0 lower 0"),
        seen(-1, {"event": "limit_lowered", "seat": 0, "limit": 5}, drew(0, "Chw")),
        view(-1, limits=[5, 5], active=1),
    ),
    cafe(
        "a joker that completes two native tables: 8 + 8, and two lower",
        "CI-14 CI-13 CI-15 CI-19",
        NATIVE,
        f"{AROUND_DRAWS} Ruw Chw Spm",
        plays(AROUND_51 + " | 1 seat Gew 57"),
        totals(5, 5),
        plays("0 seat Jm 51"),
        totals(21, 5),
        seen(
            -1,
            seated(0, "Jm", 51, 16),
            {"event": "table_completed", "seat": 0, "table": 15},
            {"event": "table_completed", "seat": 0, "table": 24},
        ),
        legal(0, "lower 0", "lower 1", "lower 2"),
        do(0, "lower 2"),
        # Four tiles and a limit of three: a hand above the limit is kept.
        view(-1, limits=[3, 5], active=1, bag_size=84),
        view(-1, hands=[sorted_kinds("Itw Inw Cuw Inw"), sorted_kinds("Itw Spw Ruw Afw Ruw")]),
        plays("1 bar Itw | 0 bar Itw"),
        # At the bar exactly one tile is drawn, whatever the limit.
        seen(
            -1,
            {
                "event": "put_at_bar",
                "seat": 0,
                "kind": "italy_woman",
                "place": 2,
                "points": 2,
            },
            drew(0, "Spm"),
        ),
        view(-1, limits=[3, 5]),
        totals(23, 6),
    ),
    cafe(
        "by option the limit goes down by itself, as far as it can",
        "CI-15",
        NATIVE,
        f"{AROUND_DRAWS} Ruw Chw",
        plays(f"{AROUND_51} | 1 seat Gew 57 | 0 seat Jm 51"),
        seen(-1, {"event": "limit_lowered", "seat": 0, "limit": 3}),
        view(-1, limits=[3, 5], active=1, phase="turn", completed_now=[]),
        draw_less="automatic",
    ),
    cafe(
        "a declared joker is a native of one of its tables: 8 + 4",
        "CI-19 CI-13 CI-14",
        NATIVE,
        f"{AROUND_DRAWS} Ruw Chw",
        plays(f"{AROUND_51} | 1 seat Gew 57"),
        refused("CI-19", 0, "seat joker_man 51"),
        refused("G-2", 0, "seat joker_man 51 atlantis"),
        refused("CI-19", 0, "seat joker_man 51 turkey"),
        do(0, "seat joker_man 51 germany"),
        seen(
            -1,
            seated(0, "Jm", 51, 12, "germany"),
            {"event": "table_completed", "seat": 0, "table": 15},
        ),
        view(-1, completed_now=[15]),
        chair_is(51, ["joker_man", "germany"]),
        joker_identity="declared",
    ),
    cafe(
        "both tables become four without a native one: 4 + 4",
        "CI-14",
        ["Frw Frm Tuw Frm Itw", "Gem Gew Tuw Itw Spw"],
        f"{AROUND_DRAWS} Ruw Chw",
        plays(AROUND_51.replace("Frw 45", "Tuw 45") + " | 1 seat Tuw 57 | 0 seat Frm 51"),
        totals(13, 5),
        none_ever("table_completed"),
        view(-1, phase="turn", active=1),
    ),
]

# Three seats put one guest after another at the bar.
WOMEN = ["Frw Frw Frw Frw Itw", "Inw Inw Inw Inw Cuw", "Spw Spw Spw Spw Ruw"]
RUSSIANS = "GBw GBw GBw GBw GBm GBm GBm GBm Chw Chw"


def at_bar(seat: int, short: str, place: int, points: int) -> Fields:
    return {
        "event": "put_at_bar",
        "seat": seat,
        "kind": kind(short),
        "place": place,
        "points": points,
    }


def bar_rounds(*shorts: str, count: int) -> str:
    """The seats in turn, each its own kind."""
    seats = len(shorts)
    return " | ".join(f"{n % seats} bar {shorts[n % seats]}" for n in range(count))


BAR_CASES = [
    cafe(
        "the first place at the bar gives 1, the sixth costs 2; one tile is drawn",
        "CI-3 CI-16",
        WOMEN,
        RUSSIANS,
        plays("0 bar Frw"),
        seen(-1, at_bar(0, "Frw", 1, 1), drew(0, "GBw")),
        view(-1, bar=["france_woman"], bag_size=84),
        plays("1 bar Inw | 2 bar Spw | 0 bar Frw | 1 bar Inw"),
        totals(5, 7, 3),
        plays("2 bar Spw"),
        seen(-1, at_bar(2, "Spw", 6, -2), drew(2, "GBm")),
        totals(5, 7, 1),
        view(-1, bar=kinds("Frw Inw Spw Frw Inw Spw")),
    ),
    cafe(
        "who can't pay goes out: pays nothing, draws nothing, is passed over",
        "CI-17 CI-26",
        WOMEN,
        RUSSIANS,
        plays(bar_rounds("Frw", "Inw", "Spw", count=9)),
        # Seat 2 had 3 - 2 = 1, and place 9 costs 8.
        seen(
            -1,
            at_bar(2, "Spw", 9, 0),
            {"event": "went_out", "seat": 2, "kinds": sorted_kinds("Spw Ruw GBw GBm")},
        ),
        totals(1, 1, 1),
        view(-1, out=[2], active=0, bar=kinds("Frw Inw Spw " * 3), bag_size=77),
        placement(1, 1, 3),
        *(
            view(
                viewer,
                hands=[
                    sorted_kinds("Frw Itw GBw GBw GBm"),
                    sorted_kinds("Inw Cuw GBw GBm GBm"),
                    sorted_kinds("Spw Ruw GBw GBm"),
                ],
            )
            for viewer in (-1, 0, 2)
        ),
        plays("0 bar Frw"),
        # Place 10 costs 10: seat 0 is out as well, seat 1 wins at once and pays for its hand.
        seen(
            -1,
            at_bar(0, "Frw", 10, 0),
            {"event": "went_out", "seat": 0, "kinds": sorted_kinds("Itw GBw GBw GBm")},
            {"event": "hands_counted", "penalties": [0, 25, 0], "totals": [1, -24, 1]},
            {"event": "match_ended", "placement": [2, 1, 3], "totals": [1, -24, 1]},
        ),
        over(),
        totals(1, -24, 1),
        placement(2, 1, 3),
        utility(0.5, 1.0, 0.0),
        view(-1, phase="over", out=[2, 0], to_act=[]),
        refused("G-2", 1, "stop"),
        no("G-2", 1, "bar Inw"),
    ),
    cafe(
        "who can pay just so stays in with nothing",
        "CI-17 CI-22 CI-23",
        [*WOMEN, "Chm Chm Chm Chm Jw"],
        RUSSIANS,
        plays(bar_rounds("Frw", "Inw", "Spw", "Chm", count=6)),
        # 1 + 5, 2 - 2, 3, 4.
        totals(6, 0, 3, 4),
        view(-1, out=[]),
        # Places 7, 8, 9 cost 4, 6, 8: seats 2, 3 and 0 go out.
        plays("2 bar Spw | 3 bar Chm | 0 bar Frw"),
        over(),
        view(-1, out=[2, 3, 0]),
        totals(6, -25, 3, 4),
        placement(2, 1, 4, 3),
    ),
    cafe(
        "with two seats the other has won; a joker in hand costs 10",
        "CI-17 CI-22",
        ["Frw Frw Frw Frw Jm", "Inw Inw Inw Inw Cuw"],
        RUSSIANS,
        plays(bar_rounds("Frw", "Inw", count=8)),
        # 1 + 3 + 5 - 4 = 5, less 4 x 5 + 10; 2 + 4 - 2 = 4, and place 8 costs 6.
        over(),
        totals(-25, 4),
        placement(1, 2),
        seen(
            -1,
            at_bar(1, "Inw", 8, 0),
            {"event": "went_out", "seat": 1, "kinds": sorted_kinds("Cuw GBw GBw GBm")},
            {"event": "hands_counted", "penalties": [30, 0], "totals": [-25, 4]},
            {"event": "match_ended", "placement": [1, 2], "totals": [-25, 4]},
        ),
    ),
    cafe(
        "a seat may go out though it could sit",
        "CI-17",
        [*WOMEN[:2], "Spw Spw Spw Spm Ruw"],
        RUSSIANS,
        plays(bar_rounds("Frw", "Inw", "Spw", count=5)),
        plays("2 bar Spw | 0 bar Frw | 1 bar Inw"),
        offered(2, "seat Spm 13"),
        plays("2 bar Spm"),
        view(-1, out=[2]),
    ),
]

# Frw 41 and Frm 46 by seat 0, then a joker woman of seat 1 on 45, which France and Turkey share.
WITH_JOKER = "0 seat Frw 41 | 0 seat Frm 46 | 1 seat Jw 45"
SWAPPING = ["Frw Frm Tum Tuw Frw", "Jw Itw Spw Ruw Afw"]
SWAPS = [
    cafe(
        "a swap gives no points and leads to no draw",
        "CI-18 CI-19 CI-6 CI-5",
        ["Frw Jm Itw Inw Cuw", "Frm Frw Tum Tuw Jw"],
        "Ruw Afw Chw",
        plays("0 seat Frw 41 | 0 seat Jm 45"),
        totals(2, 0),
        no("CI-7", 1, "swap Frw 45"),
        no("CI-7", 1, "swap Tuw 45"),
        no("G-2", 1, "swap Jw 45"),
        no("CI-18", 1, "swap Frm 41"),
        no("CI-18", 1, "swap Frm 46"),
        plays("1 swap Tum 45"),
        seen(
            -1,
            {
                "event": "swapped",
                "seat": 1,
                "kind": "turkey_man",
                "chair": 45,
                "joker": "joker_man",
            },
        ),
        chair_is(45, ["turkey_man", None]),
        totals(2, 0),
        turn(3),
        view(-1, active=0, bag_size=88, seated_now=[]),
        view(-1, hands=[sorted_kinds("Itw Inw Cuw Ruw Afw"), sorted_kinds("Frm Frw Tuw Jw Jm")]),
    ),
    cafe(
        "a guest of a third nation doesn't fit",
        "CI-18 CI-6",
        ["Frw Jm Itw Inw Cuw", "Gem Frw Itm Spw Chw"],
        "Ruw Afw Chw",
        plays("0 seat Frw 41 | 0 seat Jm 45"),
        no("CI-6", 1, "swap Gem 45"),
        no("CI-6", 1, "swap Itm 45"),
    ),
    cafe(
        "either sex, where CI-7 allows it",
        "CI-18 CI-19",
        SWAPPING,
        "Inw Cuw Ruw",
        plays(WITH_JOKER),
        totals(2, 3),
        # Third: Frw (table 24: two women, a man), Tum, Tuw; and a swap ends the turn.
        plays("0 swap Tum 45"),
        chair_is(45, ["turkey_man", None]),
        view(-1, active=1),
    ),
    cafe(
        "by option only the joker's sex",
        "CI-18",
        SWAPPING,
        "Inw Cuw Ruw",
        plays(WITH_JOKER),
        no("CI-18", 0, "swap Tum 45"),
        plays("0 swap Tuw 45"),
        chair_is(45, ["turkey_woman", None]),
        swap_same_sex=True,
    ),
    cafe(
        "a joker declared for Turkey is replaced by Turkish guests only, and then free again",
        "CI-19 CI-18",
        SWAPPING,
        "Inw Cuw Ruw Chw",
        plays("0 seat Frw 41 | 0 seat Frm 46"),
        do(1, "seat joker_woman 45 turkey"),
        chair_is(45, ["joker_woman", "turkey"]),
        no("CI-19", 0, "swap Frw 45"),
        plays("0 swap Tum 45"),
        chair_is(45, ["turkey_man", None]),
        plays("1 bar Itw"),
        do(0, "seat joker_woman 51 germany"),
        chair_is(51, ["joker_woman", "germany"]),
        joker_identity="declared",
    ),
    cafe(
        "a joker declared for France is replaced by French guests only",
        "CI-19 CI-18",
        SWAPPING,
        "Inw Cuw Ruw Chw",
        plays("0 seat Frw 41 | 0 seat Frm 46"),
        do(1, "seat joker_woman 45 france"),
        no("CI-19", 0, "swap Tuw 45"),
        no("CI-19", 0, "swap Tum 45"),
        plays("0 swap Frw 45"),
        chair_is(45, ["france_woman", None]),
        joker_identity="declared",
    ),
    cafe(
        "a declared joker names its nation where only one is possible, too",
        "CI-19",
        ["Jw Frm Inw Cuw Ruw", LONELY],
        "Chw GBw",
        refused("CI-19", 0, "seat joker_woman 41"),
        refused("CI-19", 0, "seat joker_woman 41 turkey"),
        do(0, "seat joker_woman 41 france"),
        seen(-1, seated(0, "Jw", 41, 0, "france")),
        joker_identity="declared",
    ),
    cafe(
        "a native table in which a joker is replaced is not completed again",
        "CI-18 CI-15 CI-13",
        ["Frw Frm Frm Inw Cuw", "Jw Frw Spw Ruw Afw"],
        "GBw Chw GBw Itw Chw",
        plays(f"{WITH_JOKER} | 0 seat Frm 51"),
        totals(10, 3),
        plays("0 lower 0 | 1 swap Frw 45"),
        totals(10, 3),
        view(-1, active=0, phase="turn", completed_now=[], limits=[5, 5]),
        chair_is(45, ["france_woman", None]),
    ),
]

PAIR = ["Frw Frm Frw Frm Cuw", "Frw Itw Spw Ruw Afw"]
TWELVE = [f"birthday {nation}" for nation in list(NATIONS.values())[:12]]
BIRTHDAY = [
    cafe(
        "the first seat at the threshold names a nation, and what is scored there counts double",
        "CI-24 CI-12",
        PAIR,
        "Inw Chw GBw Inw",
        view(-1, birthday_state="waiting", birthday=None),
        plays("0 seat Frw 41"),
        view(-1, phase="turn"),
        plays("0 seat Frm 46"),
        # Asked before the draw.
        view(-1, phase="birthday", to_act=[0], active=0, bag_size=90),
        legal(0, *TWELVE, "decline"),
        no("G-2", 0, "bar Cuw"),
        refused("G-2", 0, "stop"),
        refused("G-2", 0, "birthday atlantis"),
        refused("G-2", 1, "decline"),
        do(0, "birthday france"),
        seen(
            -1,
            {"event": "birthday_named", "seat": 0, "nation": "france"},
            drew(0, "Inw Chw"),
        ),
        view(-1, birthday="france", birthday_state="named", phase="turn", active=1),
        # What was scored before stays as it is.
        totals(2, 0),
        plays("1 seat Frw 45"),
        # 2 x 3 for everyone, and seat 1, above the threshold too, is not asked.
        totals(2, 6),
        view(-1, phase="turn", active=0, birthday_state="named"),
        birthday=True,
        birthday_threshold=2,
    ),
    cafe(
        "between two guests of a turn; the second counts double, after CI-13",
        "CI-24 CI-13 CI-15",
        PAIR,
        "Inw Chw GBw Inw",
        plays("0 seat Frw 41 | 0 seat Frm 46 | 1 bar Itw | 0 seat Frw 45"),
        totals(5, 1),
        view(-1, phase="birthday", seated_now=[["france_woman", 45]]),
        do(0, "birthday france"),
        view(-1, phase="turn", to_act=[0], seated_now=[["france_woman", 45]]),
        offers(0, "seat Frm 51", "stop"),
        plays("0 seat Frm 51"),
        totals(21, 1),
        view(-1, phase="limit"),
        birthday=True,
        birthday_threshold=5,
    ),
    cafe(
        "only the nation's tables: a shared chair's other table counts once",
        "CI-24 CI-14",
        FOREIGN,
        f"{AROUND_DRAWS} Ruw Chw",
        plays("0 seat Frw 41 | 0 seat Frm 46 | 0 birthday germany"),
        plays("1 seat Gem 64 | 1 seat Gew 58"),
        # 2 x 2 at table 15.
        totals(2, 4),
        plays("0 seat Frw 45 | 0 stop | 1 seat Tuw 57"),
        # 3 at table 24, 2 x 3 at table 15.
        totals(5, 10),
        plays("0 seat Frm 51"),
        # 8 at table 24, 2 x 4 at table 15.
        totals(21, 10),
        birthday=True,
        birthday_threshold=2,
    ),
    cafe(
        "at the bar, before the draw",
        "CI-24 CI-16",
        PAIR,
        "Inw Chw GBw Inw",
        plays("0 bar Cuw"),
        view(-1, phase="birthday", bag_size=90, to_act=[0]),
        do(0, "decline"),
        # Who declines names nothing: the field is empty.
        last_event(-1, "birthday_named", seat=0),
        seen(-1, drew(0, "Inw")),
        view(-1, birthday=None, birthday_state="declined", phase="turn", active=1),
        plays("1 bar Itw"),
        view(-1, phase="turn", birthday_state="declined", active=0),
        plays("0 seat Frw 41 | 0 seat Frm 46 | 1 seat Frw 45"),
        totals(3, 5),
        birthday=True,
        birthday_threshold=1,
    ),
    cafe(
        "before the limit is decided",
        "CI-24 CI-15",
        PAIR,
        "Inw Chw GBw Inw",
        plays("0 seat Frw 41 | 0 seat Frm 46 | 1 bar Itw | 0 seat Frw 45 | 0 seat Frm 51"),
        totals(13, 1),
        view(-1, phase="birthday", completed_now=[24]),
        do(0, "birthday cuba"),
        view(-1, phase="limit", completed_now=[24], bag_size=87),
        legal(0, "lower 0", "lower 1"),
        birthday=True,
        birthday_threshold=13,
    ),
    cafe(
        "the threshold is 50 by default, and below it nobody is asked",
        "CI-24",
        PAIR,
        "Inw Chw GBw Inw",
        plays("0 seat Frw 41 | 0 seat Frm 46 | 1 bar Itw | 0 seat Frw 45 | 0 seat Frm 51"),
        view(-1, phase="limit", birthday_state="waiting"),
        birthday=True,
    ),
]

PARTY = ["Frw Frw Frw Frw Itm", LONELY]
REGULARS = [
    cafe(
        "four women of the table's nation in one turn: 40 in place of the rest",
        "CI-25 CI-8 CI-10 CI-15",
        PARTY,
        "Inw Chw GBw Inw",
        plays("0 seat Frw 41"),
        # It may stop as the starting seat, or go on towards four at table 24.
        offers(0, "seat Frw 45", "seat Frw 46", "seat Frw 51", "stop"),
        plays("0 seat Frw 46"),
        offers(0, "seat Frw 45", "seat Frw 51"),
        refused("CI-7", 0, "stop"),
        no("CI-25", 0, "seat Frw 42"),
        totals(2, 0),
        plays("0 seat Frw 45"),
        offers(0, "seat Frw 51"),
        refused("CI-7", 0, "stop"),
        totals(5, 0),
        plays("0 seat Frw 51"),
        totals(40, 0),
        # The last tile brings 40 less the 0 + 2 + 3 booked before.
        seen(
            -1,
            seated(0, "Frw", 51, 35),
            {"event": "table_completed", "seat": 0, "table": 24},
            {"event": "party_held", "seat": 0, "table": 24, "points": 40},
        ),
        view(-1, phase="limit", completed_now=[24], parties=[24]),
        do(0, "lower 1"),
        # One tile left, four is the limit.
        seen(-1, drew(0, "Inw Chw GBw")),
        view(-1, limits=[4, 5], active=1),
        regulars=True,
    ),
    cafe(
        "three tiles to one woman who sits there, one of them a foreigner: 20",
        "CI-25 CI-10",
        ["Frw Inw Cuw Ruw Itm", "Frw Frw Tuw Spw Afw"],
        "GBw Inw Chw GBw",
        plays("0 seat Frw 41"),
        view(-1, exempt_chair=41, active=1),
        plays("1 seat Frw 46"),
        # Tuw fits chair 45 alone, so no French woman may take it.
        offers(1, "seat Frw 51", "seat Tuw 45"),
        no("CI-7", 1, "seat Frw 45"),
        plays("1 seat Frw 51"),
        offers(1, "seat Tuw 45"),
        totals(0, 5),
        plays("1 seat Tuw 45"),
        # 2 + 3 before, and alone at table 17.
        totals(0, 20),
        seen(
            -1,
            seated(1, "Tuw", 45, 15),
            {"event": "party_held", "seat": 1, "table": 24, "points": 20},
            drew(1, "Inw Chw GBw"),
        ),
        none_ever("table_completed"),
        view(-1, phase="turn", active=0, parties=[24], exempt_chair=None),
        regulars=True,
    ),
    cafe(
        "four men are a regulars' table, and jokers are natives",
        "CI-25 CI-19",
        ["Frm Frm Jm Jm Itw", LONELY],
        "Inw Chw GBw Inw",
        plays("0 seat Frm 41 | 0 seat Jm 46 | 0 seat Frm 45 | 0 seat Jm 51"),
        totals(40, 0),
        view(-1, completed_now=[24], parties=[24]),
        regulars=True,
    ),
    cafe(
        "a joker declared for the table next door makes it 20",
        "CI-25 CI-19",
        ["Frm Frm Jm Jm Itw", LONELY],
        "Inw Chw GBw Inw",
        plays("0 seat Frm 41"),
        do(0, "seat joker_man 46 france"),
        plays("0 seat Frm 45"),
        do(0, "seat joker_man 51 germany"),
        totals(20, 0),
        view(-1, phase="turn", parties=[24], active=1),
        regulars=True,
        joker_identity="declared",
    ),
    cafe(
        "not without the option",
        "CI-25 CI-5",
        PARTY,
        "Inw Chw GBw Inw",
        plays("0 seat Frw 41"),
        view(-1, active=1, exempt_chair=41),
        none_ever("party_held"),
    ),
    cafe(
        "not at a table where two sit, nor one of the other sex",
        "CI-25 CI-7",
        ["Frw Frm Inw Cuw Ruw", "Frw Frw Frw Gem Spw"],
        "GBw Chw",
        plays("0 seat Frm 41"),
        # The turn goes on or stops; Frm alone at table 24.
        do(0, "stop"),
        # A woman may join him, and a second then (two women, a man), but no third.
        plays("1 seat Frw 46"),
        offers(1, "seat Frw 45", "seat Frw 51", "seat Gem 51", "stop"),
        plays("1 seat Frw 45"),
        view(-1, active=0),
        totals(0, 5),
        regulars=True,
    ),
    cafe(
        "all the tiles go to one table, and the table next door must keep CI-7",
        "CI-25 CI-7",
        # Gew 58 and Gem 52 are two guests of table 14; at table 15 there is only the woman on 58.
        ["Gew Gem Inw Cuw Ruw", "Frw Frw Frw Frw Spw"],
        "GBw Chw",
        plays("0 seat Gew 58 | 0 seat Gem 52"),
        # Table 24 needs a woman on 51, who would be the second of table 15 without a man. Table
        # 23 with 42, 47, 48 and 54 is free of that.
        offers(
            1,
            "seat Frw 42",
            "seat Frw 47",
            "seat Frw 48",
            "seat Frw 54",
            "bar Frw",
            "bar Spw",
        ),
        no("CI-7", 1, "seat Frw 41"),
        plays("1 seat Frw 42 | 1 seat Frw 47"),
        no("CI-25", 1, "seat Frw 41"),
        plays("1 seat Frw 48 | 1 seat Frw 54"),
        totals(2, 40),
        view(-1, parties=[23]),
        regulars=True,
    ),
    cafe(
        "the table next door scores as usual",
        "CI-25 CI-14",
        ["Gem Gew Inw Cuw Ruw", "Frw Frw Frw Frw Spw"],
        "GBw Chw",
        plays("0 seat Gem 64 | 0 seat Gew 58"),
        plays("1 seat Frw 51"),
        # Third at table 15, first at table 24. It may stop: it has company.
        totals(2, 3),
        offers(1, "seat Frw 41", "seat Frw 45", "seat Frw 46", "stop"),
        plays("1 seat Frw 41 | 1 seat Frw 45 | 1 seat Frw 46"),
        totals(2, 43),
        seen(
            -1,
            seated(1, "Frw", 46, 35),
            {"event": "table_completed", "seat": 1, "table": 24},
            {"event": "party_held", "seat": 1, "table": 24, "points": 40},
        ),
        regulars=True,
    ),
    cafe(
        "the waiver covers later swaps there",
        "CI-25 CI-18",
        ["Frw Frw Frw Jw Itm", "Frm Spw Ruw Afw Chw"],
        "Inw Chw GBw Inw",
        plays("0 seat Frw 41 | 0 seat Frw 45 | 0 seat Jw 46 | 0 seat Frw 51 | 0 lower 0"),
        totals(40, 0),
        # Three women and a man.
        plays("1 swap Frm 46"),
        chair_is(46, ["france_man", None]),
        view(-1, parties=[24], active=0),
        regulars=True,
    ),
    cafe(
        "on the birthday the party counts double, what was booked before included",
        "CI-25 CI-24",
        PARTY,
        "Inw Chw GBw Inw",
        plays("0 seat Frw 41 | 0 seat Frw 46 | 0 seat Frw 45"),
        totals(5, 0),
        do(0, "birthday france"),
        offers(0, "seat Frw 51"),
        plays("0 seat Frw 51"),
        totals(80, 0),
        seen(
            -1,
            seated(0, "Frw", 51, 75),
            {"event": "table_completed", "seat": 0, "table": 24},
            {"event": "party_held", "seat": 0, "table": 24, "points": 80},
        ),
        regulars=True,
        birthday=True,
        birthday_threshold=5,
    ),
]


def by_chance(seed: int, style: str = "any", bag_low: int = 4) -> Step:
    """A whole match of random legal actions, and what CI-3, CI-16 to CI-22 say on the way.

    `sits` seats guests wherever it can, `sells` goes to the bar once it has points enough.
    """

    def step(engine: Engine) -> None:
        choice = Random(seed)
        while not engine.over:
            shown = engine.view(-1)
            _check_goes_on(shown, bag_low)
            seat = min(engine.to_act())
            names = engine.legal(seat)
            assert names
            _check_limit(shown, names)
            engine.play(seat, choice.choice(_in_style(names, style, engine.totals()[seat])))
        _check_bar(engine)
        _check_passes(engine.events(-1))
        _check_end(engine, bag_low)

    return step


def _in_style(names: list[str], style: str, total: int) -> list[str]:
    if "lower 0" in names and style != "any":
        return names[-1:]
    bar = [name for name in names if name.startswith("bar")]
    others = [name for name in names if name not in bar]
    if style == "sells" and total >= 14 and bar:
        return bar
    return (others or bar) if style != "any" else names


def _ends(shown: dict[str, object], bag_low: int) -> list[str]:
    """CI-21: which of the reasons to end hold."""
    chairs, bar, bag, hands, out = (
        shown[key] for key in ("chairs", "bar", "bag_size", "hands", "out")
    )
    assert isinstance(chairs, list)
    assert isinstance(bar, list)
    assert isinstance(bag, int)
    assert isinstance(hands, list)
    assert isinstance(out, list)
    reasons = {
        "bar": len(bar) == 20,
        "chairs": None not in chairs,
        "bag": bag <= bag_low,
        "hand": any(not hand for seat, hand in enumerate(hands) if seat not in out),
        "last": len(hands) - len(out) == 1,
        "passes": shown["passes"] == len(hands) - len(out),
    }
    return [reason for reason, holds in reasons.items() if holds]


def _check_goes_on(shown: dict[str, object], bag_low: int) -> None:
    if shown["phase"] == "turn" and not shown["seated_now"]:
        reasons = _ends(shown, bag_low)
        assert not reasons, f"the match should be over: {reasons}"


def _check_limit(shown: dict[str, object], names: list[str]) -> None:
    """CI-15: by one for each table completed, not below 0; nobody is asked who can't lower."""
    active, limits, completed = (shown[key] for key in ("active", "limits", "completed_now"))
    assert isinstance(active, int)
    assert isinstance(limits, list)
    assert isinstance(completed, list)
    if shown["phase"] == "limit":
        most = min(len(completed), limits[active])
        assert most > 0
        assert names == [f"lower {count}" for count in range(most + 1)]


def _check_bar(engine: Engine) -> None:
    """CI-3, CI-16 and CI-17; CI-12: points are booked as they are made."""
    events = engine.events(-1)
    totals: dict[object, int] = {}
    places = 0
    for number, event in enumerate(events):
        points = event.get("points", 0)
        assert isinstance(points, int)
        if event["event"] == "put_at_bar":
            places += 1
            worth, total = BAR[places - 1], totals.get(event["seat"], 0)
            assert event["place"] == places
            assert points == (worth if total + worth >= 0 else 0)
            goes_out = events[number + 1]["event"] == "went_out"
            assert goes_out == (total + worth < 0)
        if event["event"] in ("seated", "put_at_bar"):
            totals[event["seat"]] = totals.get(event["seat"], 0) + points
    penalties = events[-2]["penalties"]
    assert isinstance(penalties, list)
    made = [totals.get(seat, 0) for seat in range(len(penalties))]
    assert [m - p for m, p in zip(made, penalties, strict=True)] == engine.totals()


def _check_passes(events: list[dict[str, object]]) -> None:
    """CI-20: who passes holds jokers alone."""
    hands: dict[object, list[object]] = {}
    for event in events:
        hand = hands.setdefault(event.get("seat"), [])
        if event["event"] == "drew":
            drawn = event["kinds"]
            assert isinstance(drawn, list)
            hand += drawn
        if event["event"] in ("seated", "put_at_bar", "swapped"):
            hand.remove(event["kind"])
        if event["event"] == "swapped":
            hand.append(event["joker"])
        if event["event"] == "passed":
            assert all(str(name).startswith("joker") for name in hand), f"{hand} can act"


def _check_end(engine: Engine, bag_low: int) -> None:
    """CI-21 and CI-22."""
    shown = engine.view(-1)
    assert _ends(shown, bag_low), "the match should go on"
    hands, out = shown["hands"], shown["out"]
    assert isinstance(hands, list)
    assert isinstance(out, list)
    expected = [
        0 if seat in out else sum(10 if name.startswith("joker") else 5 for name in hand)
        for seat, hand in enumerate(hands)
    ]
    counted = engine.events(-1)[-2]
    assert counted["event"] == "hands_counted"
    assert counted["penalties"] == expected
    assert counted["totals"] == engine.totals()


def ended_by(*reasons: str, bag_low: int = 4) -> Step:
    def step(engine: Engine) -> None:
        got = _ends(engine.view(-1), bag_low)
        assert got == list(reasons), f"ended by {got}, not by {reasons}"

    return step


def whole(title: str, rules: str, seats: int, seed: int, *steps: Step, **options: object) -> Case:
    """A match from its seed; the seed was looked for, what is expected of it is the rules'."""
    return table(title, rules, seats, *steps, over(), seed=seed, options=options)


def all_passed(seats: int) -> Step:
    """CI-20: the last events before the count are the passes of everybody still in."""

    def step(engine: Engine) -> None:
        names = [event["event"] for event in engine.events(-1)]
        assert names[-2 - seats :] == ["passed"] * seats + ["hands_counted", "match_ended"]
        assert engine.view(-1)["passes"] == seats

    return step


def lowered_to_nothing() -> Step:
    """A limit that came down to 0, in single steps or more."""

    def step(engine: Engine) -> None:
        limits = [event["limit"] for event in engine.events(-1) if "limit" in event]
        assert 0 in limits
        assert all(isinstance(limit, int) and 0 <= limit < 5 for limit in limits)

    return step


def passed_before(count: int) -> Step:
    """Forced passes during a match that went on after them."""

    def step(engine: Engine) -> None:
        names = [event["event"] for event in engine.events(-1)]
        assert names.count("passed") >= count, f"{names.count('passed')} passes"

    return step


# Of the seeds tried the first whose match ends for nothing but the bag, with four tiles left.
BAG_SEED = 10

ENDS = [
    whole(
        "the game ends when the bar is full",
        "CI-21 CI-3 CI-16 CI-22",
        2,
        1,
        by_chance(1),
        ended_by("bar"),
    ),
    whole(
        "one seat left at the bar's last place",
        "CI-17 CI-21 CI-22",
        2,
        12,
        by_chance(12),
        ended_by("bar", "last"),
    ),
    whole("one seat left", "CI-17 CI-22", 2, 2, by_chance(2), ended_by("last")),
    whole(
        "the game ends when a seat has no tile left",
        "CI-21 CI-15 CI-22",
        2,
        1,
        by_chance(1, "sits"),
        ended_by("hand"),
    ),
    whole(
        "two tables completed with a limit of 1: lower by 1 at most",
        "CI-15",
        2,
        12,
        by_chance(12, "sits"),
        lowered_to_nothing(),
    ),
    whole(
        "a table completed with a limit of 0: nothing to decide",
        "CI-15",
        2,
        10,
        by_chance(10, "sits"),
        lowered_to_nothing(),
    ),
    whole(
        "the game ends when all chairs are taken",
        "CI-21 CI-22 CI-13",
        3,
        2,
        by_chance(2, "sits"),
        ended_by("chairs"),
    ),
    whole(
        "who holds only jokers and has no chair for them passes; all in a row end the game",
        "CI-20 CI-22",
        2,
        2,
        by_chance(2, "sits"),
        ended_by("passes"),
        all_passed(2),
        passed_before(2),
    ),
    whole(
        "the draw after the last turn takes place: four tiles or fewer in the bag",
        "CI-21 CI-22",
        4,
        BAG_SEED,
        by_chance(BAG_SEED),
        ended_by("bag"),
        view(-1, bag_size=4),
    ),
    whole(
        "by option the same match goes on until there are three",
        "CI-21",
        4,
        BAG_SEED,
        by_chance(BAG_SEED, bag_low=3),
        ended_by("bag", bag_low=3),
        bag_low=3,
    ),
    *(
        whole(
            f"a whole match of {seats} seats, {style}, with {options or 'defaults'}",
            "CI-3 CI-16 CI-17 CI-20 CI-21 CI-22",
            seats,
            100 + seats,
            by_chance(100 + seats, style),
            **options,
        )
        for seats in (2, 3, 4)
        for style in ("any", "sells")
        for options in (
            {},
            {"regulars": True, "birthday": True, "birthday_threshold": 10},
            {"joker_identity": "declared", "draw_less": "automatic", "swap_same_sex": True},
        )
    ),
    whole(
        "a whole match of five",
        "CI-0 CI-21",
        5,
        5,
        by_chance(5, "sells"),
        five_players=True,
    ),
]

CASES: list[Case] = [
    *MAKING,
    *SETTING_UP,
    *TURNS,
    *START,
    *POINTS,
    *BAR_CASES,
    *SWAPS,
    *BIRTHDAY,
    *REGULARS,
    *ENDS,
]
