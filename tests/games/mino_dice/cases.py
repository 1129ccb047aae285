"""Mino Dice, rule by rule: what must happen, worked out by hand from the rules document.

A trick is written in rolling order, `seat kind face` a die, dice separated by `|`. The dice of
the seats and the places of the faces are scripted from the tricks.
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

GAME = "mino_dice"
KINDS = ["minotaur", "griffin", "mermaid", "red", "yellow", "purple", "gray"]
COUNTS = dict(zip(KINDS, [1, 3, 2, 7, 7, 8, 8], strict=True))
# MD-1, in the order of the document's table.
FACES = {
    "minotaur": ["minotaur", "minotaur", "minotaur", "minotaur", "flag", "flag"],
    "griffin": ["griffin", "griffin", "griffin", "griffin", "flag", "flag"],
    "mermaid": ["mermaid", "mermaid", "mermaid", "mermaid", "flag", "flag"],
    "red": ["7", "7", "6", "6", "5", "5"],
    "yellow": ["5", "5", "4", "4", "3", "3"],
    "purple": ["3", "3", "2", "2", "1", "1"],
    "gray": ["flag", "flag", "flag", "1", "1", "7"],
}
OPTIONS: dict[str, list[object]] = {
    "follow_after_special": ["first_number", "free"],
    "all_flags": ["first", "last"],
    "three_way": ["rolling", "mermaid"],
    "griffin_bonus": ["each", "once"],
    "flag_scope": ["trick", "hand", "none"],
    "scoring": ["full", "simple"],
}


def starts(hand: int, seats: int, seat: int) -> Script:
    """The first player of the match scripted so that the seat is first in that hand (MD-5)."""
    return {("first", 0, 0): (seat - (hand - 1)) % seats}


def draw(hand: int, *dice: str) -> Script:
    """The hand's dice, a string a seat; the bag keeps the rest."""
    order = [kind for own in dice for kind in own.split()]
    rest = [kind for kind in KINDS for _ in range(COUNTS[kind])]
    for kind in order:
        rest.remove(kind)
    return {("draw", hand, 0): order + rest}


def parsed(trick: str) -> list[tuple[int, str, str]]:
    dice = []
    for die in trick.split("|"):
        seat, kind, face = die.split()
        dice.append((int(seat), kind, face))
    return dice


def scripted(hand: int, seats: int, *tricks: str) -> Script:
    """The draw and the faces of a whole hand; the first die of the first trick leads."""
    script: Script = starts(hand, seats, parsed(tricks[0])[0][0])
    dice: list[list[str]] = [[] for _ in range(seats)]
    for trick in tricks:
        for seat, kind, face in parsed(trick):
            index = 64 * seat + 8 * KINDS.index(kind) + dice[seat].count(kind)
            script["roll", hand, index] = FACES[kind].index(face)
            dice[seat].append(kind)
    return {**script, **draw(hand, *(" ".join(own) for own in dice))}


def rolls(*tricks: str) -> Step:
    return do_all(*(f"{seat} roll {kind}" for trick in tricks for seat, kind, _ in parsed(trick)))


def bids(*numbers: int) -> Step:
    return do_all(*(f"{seat} bid {number}" for seat, number in enumerate(numbers)))


def in_hand(number: int) -> Step:
    """Play on to the start of the hand."""
    return first_legal("hand", number)


def table(title: str, rules: str, seats: int, *steps: Step, **more: object) -> Case:
    """A case of this game; `rules` are ids separated by blanks."""
    return Case(title, tuple(rules.split()), GAME, seats, steps, **more)  # type: ignore[arg-type]


def one_hand(
    title: str,
    rules: str,
    tricks: list[str],
    bid: list[int],
    points: list[int],
    bonus: list[int] | None = None,
    **options: object,
) -> Case:
    """A hand bid and rolled as written: its points and the bonus in them."""
    seats, hand = len(bid), len(tricks)
    return table(
        title,
        rules,
        seats,
        in_hand(hand),
        bids(*bid),
        rolls(*tricks),
        last_event(-1, "hand_scored", hand=hand, points=points, bonus=bonus or [0] * seats),
        script=scripted(hand, seats, *tricks),
        options=options,
    )


def takes(title: str, rules: str, trick: str, winner: int, **options: object) -> Case:
    """A hand of one trick, and who takes it."""
    seats = len(parsed(trick))
    return table(
        title,
        rules,
        seats,
        bids(*[0] * seats),
        rolls(trick),
        last_event(-1, "trick_taken", seat=winner),
        script=scripted(1, seats, trick),
        options=options,
    )


MAKING = [
    Case("two seats are too few", ("MD-2", "G-1"), GAME, 2, refused=("seats", [3, 4, 5, 6])),
    Case("seven seats are too many", ("MD-2", "G-1"), GAME, 7, refused=("seats", [3, 4, 5, 6])),
    Case(
        "an unknown option",
        ("G-1",),
        GAME,
        3,
        options={"joker": "wild"},
        refused=("joker", list(OPTIONS)),
    ),
    *(
        Case(
            f"{name} out of range",
            ("G-1", rule),
            GAME,
            3,
            options={name: "both"},
            refused=(name, OPTIONS[name]),
        )
        for name, rule in [
            ("follow_after_special", "MD-9"),
            ("all_flags", "MD-11"),
            ("three_way", "MD-12"),
            ("griffin_bonus", "MD-15"),
            ("flag_scope", "MD-16"),
            ("scoring", "MD-17"),
        ]
    ),
    table(
        "options that scoring = simple makes idle are accepted",
        "G-1 MD-17",
        3,
        view(-1, hand=1),
        options={"scoring": "simple", "griffin_bonus": "once", "flag_scope": "hand"},
    ),
]

DICE = [
    table(
        f"{kind}, place {place}: {face}",
        "MD-1",
        3,
        bids(0, 0, 0),
        do(0, f"roll {kind}"),
        seen(-1, {"event": "rolled", "seat": 0, "kind": kind, "face": face}),
        view(-1, trick=[[0, kind, face]]),
        script={
            **starts(1, 3, 0),
            **draw(1, kind, "gray", "gray"),
            # Seat 0, first die of the kind: index 8 x kind.
            ("roll", 1, 8 * KINDS.index(kind)): place,
        },
    )
    for kind in KINDS
    for place, face in enumerate(FACES[kind])
]
ALL_DICE = [
    "minotaur griffin griffin griffin mermaid mermaid",
    "red red red red red red",
    "red yellow yellow yellow yellow yellow",
    "yellow yellow purple purple purple purple",
    "purple purple purple purple gray gray",
    "gray gray gray gray gray gray",
]
COURSE = [
    *(
        table(
            f"{seats} seats: {hands} hands",
            "MD-2 MD-3",
            seats,
            *(
                step
                for hand in range(1, hands + 1)
                for step in (
                    in_hand(hand),
                    view(
                        -1,
                        dice_counts=[hand] * seats,
                        bag_count=36 - seats * hand,
                        phase="bid",
                    ),
                )
            ),
            first_legal(),
            over(),
            view(-1, hand=hands, phase="over", to_act=[]),
            refused("G-2", 0, "bid 0"),
        )
        for seats, hands in [(3, 8), (4, 8), (5, 7), (6, 6)]
    ),
    table(
        "six seats draw all 36 dice in hand 6",
        "MD-1 MD-3 MD-19",
        6,
        in_hand(6),
        view(-1, bag_count=0, dice=[None] * 6, dice_counts=[6] * 6),
        *(
            view(seat, dice=[own.split() if seat == other else None for other in range(6)])
            for seat, own in enumerate(ALL_DICE)
        ),
        script=draw(6, *ALL_DICE),
    ),
    table(
        "the first player moves one seat to the left each hand, and is known before the bids",
        "MD-5",
        4,
        view(-1, first_player=2, leader=2, hand=1, phase="bid"),
        seen_ever(-1, {"event": "hand_started", "hand": 1, "first_player": 2}),
        in_hand(2),
        view(-1, first_player=3, leader=3, phase="bid"),
        in_hand(3),
        view(-1, first_player=0, leader=0, phase="bid"),
        first_legal("phase", "roll"),
        to_act(0),
        script={("first", 0, 0): 2},
    ),
    table(
        "the others follow clockwise, and who takes the trick leads the next",
        "MD-6 MD-10",
        3,
        in_hand(2),
        bids(1, 1, 0),
        to_act(1),
        do(1, "roll purple"),
        to_act(2),
        refused("G-2", 0, "roll red"),
        do(2, "roll gray"),
        to_act(0),
        do(0, "roll red"),
        seen(
            -1,
            {"event": "rolled", "seat": 0, "kind": "red", "face": "7"},
            {"event": "trick_taken", "seat": 0},
        ),
        to_act(0),
        view(
            -1,
            leader=0,
            trick=[],
            led_colour=None,
            last_trick=[[1, "purple", "1"], [2, "gray", "1"], [0, "red", "7"]],
            last_winner=0,
            tricks_taken=[1, 0, 0],
            dice_counts=[1, 1, 1],
            bag_count=30,
        ),
        script=scripted(2, 3, "1 purple 1 | 2 gray 1 | 0 red 7", "0 red 7 | 1 purple 1 | 2 gray 1"),
    ),
]

BIDDING = [
    table(
        "all bid at once, 0 to k, and the bids are shown together",
        "MD-4 MD-19 G-2",
        3,
        to_act(0, 1, 2),
        turn(0),
        *(legal(seat, "bid 0", "bid 1") for seat in range(3)),
        refused("MD-4", 0, "bid 2"),
        refused("G-2", 0, "bid -1"),
        refused("G-2", 0, "bid"),
        refused("G-2", 0, "roll red"),
        refused("G-2", 3, "bid 0"),
        refused("G-2", -1, "bid 0"),
        do(2, "bid 1"),
        turn(0),
        to_act(0, 1),
        legal(2),
        refused("G-2", 2, "bid 0"),
        refused("G-2", 2, "bid 1"),
        view(2, bids=[None, None, 1], committed=[2], to_act=[0, 1]),
        view(0, bids=[None, None, None], committed=[2]),
        view(-1, bids=[None, None, None], committed=[2]),
        seen(2, {"event": "bid_committed", "seat": 2, "bid": 1}),
        seen(0, {"event": "bid_committed", "seat": 2}),
        seen(-1, {"event": "bid_committed", "seat": 2}),
        do(0, "bid 1"),
        view(0, bids=[1, None, None], committed=[0, 2]),
        view(2, bids=[None, None, 1], committed=[0, 2]),
        # The bids may add up to anything: three for one trick.
        do(1, "bid 1"),
        seen(-1, {"event": "bid_committed", "seat": 1}, {"event": "bids_shown", "bids": [1, 1, 1]}),
        view(-1, bids=[1, 1, 1], committed=[0, 1, 2], phase="roll"),
        turn(1),
        to_act(1),
        refused("G-2", 1, "bid 0"),
        script=starts(1, 3, 1),
    ),
    table(
        "in hand 8 a bid is 0 to 8",
        "MD-2 MD-4",
        3,
        in_hand(8),
        legal(0, *(f"bid {number}" for number in range(9))),
        refused("G-2", 0, "bid 9"),
        do_all("0 bid 8", "1 bid 8", "2 bid 8"),
        view(-1, bids=[8, 8, 8]),
    ),
    table(
        "in hand 5 a bid of 6 is refused",
        "MD-4",
        4,
        in_hand(5),
        refused("MD-4", 3, "bid 6"),
        legal(3, *(f"bid {number}" for number in range(6))),
    ),
]


def following(
    title: str, rules: str, dice: list[str], *steps: Step, faces: Script | None = None, **o: object
) -> Case:
    """Hand 3 of three seats, seat 0 to lead, all bids 0."""
    return table(
        title,
        rules,
        3,
        in_hand(3),
        bids(0, 0, 0),
        *steps,
        script={**starts(3, 3, 0), **draw(3, *dice), **(faces or {})},
        options=o,
    )


def face_of(hand: int, seat: int, kind: str, face: str) -> Script:
    """The face of the seat's first die of that kind in the hand."""
    return {("roll", hand, 64 * seat + 8 * KINDS.index(kind)): FACES[kind].index(face)}


SPECIAL_LEAD = ["mermaid red gray", "yellow purple gray", "griffin red yellow"]
FOLLOWING = [
    following(
        "follow the led colour with one of it or with a special die",
        "MD-7 MD-20",
        ["red red yellow", "red minotaur purple", "yellow yellow gray"],
        legal(0, "roll red", "roll yellow"),
        refused("G-2", 0, "roll gray"),
        refused("G-2", 0, "roll blue"),
        refused("G-2", 0, "play red"),
        do(0, "roll red"),
        view(-1, led_colour="red", to_act=[1], leader=0),
        legal(1, "roll minotaur", "roll red"),
        refused("MD-7", 1, "roll purple"),
        # A special die shows nothing, though red was held.
        do(1, "roll minotaur"),
        view(-1, voids=[[], [], []], led_colour="red"),
        # Without the colour any die will do, and it shows that there is none.
        legal(2, "roll yellow", "roll gray"),
        do(2, "roll gray"),
        view(-1, voids=[[], [], ["red"]], led_colour=None),
        view(0, voids=[[], [], ["red"]]),
    ),
    *(
        following(
            f"a gray die showing {face} asks for gray",
            "MD-8 MD-7",
            ["gray red red", "gray purple griffin", "red red purple"],
            do(0, "roll gray"),
            view(-1, led_colour="gray", trick=[[0, "gray", face]]),
            legal(1, "roll griffin", "roll gray"),
            refused("MD-7", 1, "roll purple"),
            do(1, "roll gray"),
            # Who follows shows nothing.
            view(-1, voids=[[], [], []]),
            legal(2, "roll red", "roll purple"),
            faces=face_of(3, 0, "gray", face),
        )
        for face in ("flag", "1", "7")
    ),
    *(
        following(
            f"a mermaid die showing {face} leads: the first number die sets the colour",
            "MD-9 MD-20",
            SPECIAL_LEAD,
            do(0, "roll mermaid"),
            view(-1, led_colour=None, trick=[[0, "mermaid", face]]),
            legal(1, "roll yellow", "roll purple", "roll gray"),
            do(1, "roll yellow"),
            # No colour was set when seat 1 rolled: that shows nothing.
            view(-1, led_colour="yellow", voids=[[], [], []]),
            legal(2, "roll griffin", "roll yellow"),
            refused("MD-7", 2, "roll red"),
            faces=face_of(3, 0, "mermaid", face),
        )
        for face in ("mermaid", "flag")
    ),
    following(
        "a second special die sets no colour, the number die after it does",
        "MD-9",
        ["mermaid red gray", "griffin red red", "yellow red gray"],
        do_all("0 roll mermaid", "1 roll griffin"),
        view(-1, led_colour=None),
        legal(2, "roll red", "roll yellow", "roll gray"),
    ),
    table(
        "a trick of special dice has no colour",
        "MD-9",
        3,
        bids(0, 0, 0),
        do_all("0 roll griffin", "1 roll griffin"),
        view(-1, led_colour=None),
        legal(2, "roll mermaid"),
        do(2, "roll mermaid"),
        seen_ever(-1, {"event": "trick_taken", "seat": 1}),
        script={
            **scripted(1, 3, "0 griffin griffin | 1 griffin griffin | 2 mermaid mermaid"),
        },
    ),
    following(
        "by option a special lead leaves the trick free",
        "MD-9 MD-20",
        SPECIAL_LEAD,
        do_all("0 roll mermaid", "1 roll yellow"),
        view(-1, led_colour=None),
        legal(2, "roll griffin", "roll red", "roll yellow"),
        do(2, "roll red"),
        view(-1, voids=[[], [], []]),
        follow_after_special="free",
    ),
    following(
        "with the option a number lead must be followed all the same",
        "MD-7 MD-9",
        ["red red yellow", "red minotaur purple", "yellow yellow gray"],
        do(0, "roll red"),
        legal(1, "roll minotaur", "roll red"),
        refused("MD-7", 1, "roll purple"),
        follow_after_special="free",
    ),
    following(
        "identical dice are one action",
        "MD-6",
        ["purple purple purple", "red red red", "gray gray gray"],
        legal(0, "roll purple"),
        do(0, "roll purple"),
        view(0, dice=[["purple", "purple"], None, None]),
    ),
    table(
        "absent colours are forgotten with the hand",
        "MD-20",
        3,
        in_hand(2),
        bids(0, 0, 0),
        rolls("0 red 7 | 1 purple 1 | 2 gray 1"),
        view(-1, voids=[[], ["red"], ["red"]]),
        rolls("0 yellow 5 | 1 purple 1 | 2 gray 1"),
        view(-1, hand=3, voids=[[], [], []]),
        script=scripted(
            2, 3, "0 red 7 | 1 purple 1 | 2 gray 1", "0 yellow 5 | 1 purple 1 | 2 gray 1"
        ),
    ),
    table(
        "absent colours add up within the hand",
        "MD-20",
        3,
        in_hand(3),
        bids(0, 0, 0),
        rolls("0 red 7 | 1 purple 1 | 2 gray 1", "0 yellow 5 | 1 purple 1 | 2 gray 1"),
        view(-1, voids=[[], ["red", "yellow"], ["red", "yellow"]]),
        script=scripted(
            3,
            3,
            "0 red 7 | 1 purple 1 | 2 gray 1",
            "0 yellow 5 | 1 purple 1 | 2 gray 1",
            "0 red 7 | 1 purple 1 | 2 gray 1",
        ),
    ),
]

# A die that can show the face, for each face.
DIE = {
    "minotaur": "minotaur",
    "griffin": "griffin",
    "mermaid": "mermaid",
    "flag": "gray",
    "7": "red",
    "6": "red",
    "5": "yellow",
    "4": "yellow",
    "3": "purple",
    "2": "purple",
    "1": "purple",
}


def faces(text: str) -> str:
    """A trick of these faces in rolling order, seat 0 leading."""
    return " | ".join(f"{seat} {DIE[face]} {face}" for seat, face in enumerate(text.split()))


# The first two faces, and which of them is best (the third roller shows a flag).
PAIRS = """
griffin griffin 1, mermaid mermaid 1, minotaur griffin 0, griffin minotaur 1, griffin mermaid 0,
mermaid griffin 1, mermaid minotaur 0, minotaur mermaid 1, minotaur 7 0, 7 minotaur 1,
griffin 7 0, 7 griffin 1, mermaid 7 0, 7 mermaid 1, minotaur 1 0, 1 griffin 1, 1 mermaid 1,
flag minotaur 1, minotaur flag 0, flag griffin 1, griffin flag 0, flag mermaid 1, mermaid flag 0,
flag 1 1, 1 flag 0, flag 7 1, 7 flag 0, 1 1 1, 2 2 1, 3 3 1, 4 4 1, 5 5 1, 6 6 1, 7 7 1,
7 6 0, 6 7 1, 6 5 0, 5 6 1, 5 4 0, 4 5 1, 4 3 0, 3 4 1, 3 2 0, 2 3 1, 2 1 0, 1 2 1, 7 1 0, 1 7 1
"""
TRICKS = [
    *(
        takes(f"{first} then {second}", "MD-10", faces(f"{first} {second} flag"), int(best))
        for first, second, best in (pair.split() for pair in PAIRS.split(","))
    ),
    takes("a gray 7 takes over from a red 7", "MD-10", "0 red 7 | 1 gray 7 | 2 purple 1", 1),
    takes("a red 5 and a yellow 5: the later", "MD-10", "0 yellow 5 | 1 red 5 | 2 gray 1", 1),
    takes("a purple 3 and a yellow 3", "MD-10", "0 purple 3 | 1 yellow 3 | 2 gray flag", 1),
    takes("example: flag, red 5, yellow 5", "MD-10", "0 gray flag | 1 red 5 | 2 yellow 5", 2),
    takes("example: griffin, minotaur, mermaid", "MD-10", faces("griffin minotaur mermaid"), 2),
    takes("only the best so far counts", "MD-10", faces("griffin 7 mermaid 6"), 0),
    takes("numbers after a special take nothing", "MD-10", faces("1 mermaid 7 flag 6"), 1),
    takes("the last of three griffins", "MD-10", faces("griffin griffin 7 griffin"), 3),
    takes(
        "a griffin die showing a flag is no special face",
        "MD-1 MD-10",
        "0 griffin flag | 1 purple 1 | 2 mermaid flag",
        1,
    ),
    takes("all flags: the first roller", "MD-11", faces("flag flag flag"), 0),
    takes(
        "all flags of special dice: the first roller",
        "MD-11",
        "0 griffin flag | 1 mermaid flag | 2 minotaur flag",
        0,
    ),
    takes("all flags: the last by option", "MD-11", faces("flag flag flag"), 2, all_flags="last"),
    takes("one number among flags", "MD-11", faces("flag 1 flag"), 1, all_flags="last"),
    # The third special face in rolling order always takes over from the best of the first two.
    *(
        takes(f"three specials as rolled: {order}", "MD-12 MD-10", faces(order), 2)
        for order in [
            "minotaur griffin mermaid",
            "minotaur mermaid griffin",
            "griffin minotaur mermaid",
            "griffin mermaid minotaur",
            "mermaid minotaur griffin",
            "mermaid griffin minotaur",
        ]
    ),
    *(
        takes(f"the mermaid by option: {order}", "MD-12", faces(order), seat, three_way="mermaid")
        for order, seat in [
            ("minotaur griffin mermaid", 2),
            ("minotaur mermaid griffin", 1),
            ("griffin minotaur mermaid", 2),
            ("griffin mermaid minotaur", 1),
            ("mermaid minotaur griffin", 0),
            ("mermaid griffin minotaur", 0),
            ("mermaid mermaid minotaur griffin", 1),
            ("mermaid 7 minotaur griffin mermaid", 4),
            ("mermaid minotaur griffin 7 flag", 0),
        ]
    ),
    # Mermaid, the minotaur doesn't take over, the griffin does, the second mermaid doesn't.
    takes("two mermaids as rolled", "MD-12 MD-10", faces("mermaid minotaur griffin mermaid"), 2),
    takes(
        "a griffin die showing a flag makes no three",
        "MD-12",
        "0 minotaur minotaur | 1 griffin flag | 2 mermaid mermaid | 3 griffin flag",
        2,
        three_way="mermaid",
    ),
    takes(
        "a griffin and a mermaid are not three",
        "MD-12",
        faces("griffin mermaid 7"),
        0,
        three_way="mermaid",
    ),
    takes(
        # As rolled the minotaur takes over from the griffin; the mermaid die shows no mermaid.
        "a mermaid die showing a flag makes no three",
        "MD-12 MD-10",
        "0 mermaid flag | 1 griffin griffin | 2 minotaur minotaur",
        2,
        three_way="mermaid",
    ),
]

RED_WINS = "0 red 7 | 1 purple 1 | 2 purple 1"
GRAY_WINS = "1 gray 7 | 2 purple 1 | 0 red 6"
MERMAID_TAKES = "0 griffin griffin | 1 minotaur minotaur | 2 mermaid mermaid"
MINOTAUR_TAKES = "0 minotaur minotaur | 1 griffin griffin | 2 griffin griffin | 3 red 5"
THREE_GRIFFINS = "0 minotaur minotaur | 1 griffin griffin | 2 griffin griffin | 3 griffin griffin"
FLAGGED_MINOTAUR = "0 minotaur minotaur | 1 griffin griffin | 2 gray flag"
SCORING = [
    one_hand("bid 3, took 3: +60", "MD-13 MD-14", [RED_WINS] * 3, [3, 0, 0], [60, 30, 30]),
    one_hand(
        # Seat 1 took 4 with a bid of 2: two over, -20.
        "bid 5, took 1: -40",
        "MD-13 MD-14",
        ["0 red 7 | 1 yellow 3 | 2 purple 1", "0 red 6 | 1 gray 7 | 2 purple 1", *[GRAY_WINS] * 3],
        [5, 2, 0],
        [-40, -20, 50],
    ),
    one_hand(
        "bid 0 in hand 4, took 0: +40",
        "MD-14 MD-13",
        [RED_WINS] * 4,
        [4, 0, 1],
        [80, 40, -10],
    ),
    one_hand(
        "bid 0 in hand 6, took 2: -60",
        "MD-14 MD-13",
        [
            *["0 red 7 | 1 yellow 3 | 2 purple 1"] * 2,
            "0 red 6 | 1 gray 7 | 2 purple 1",
            *[GRAY_WINS] * 3,
        ],
        [0, 4, 6],
        [-60, 80, -60],
    ),
    one_hand(
        "bid 0, took 1 or 3 in hand 3: -30 whatever the number",
        "MD-14",
        ["0 red 7 | 1 yellow 3 | 2 purple 1", "0 red 6 | 1 gray 7 | 2 purple 1", GRAY_WINS],
        [0, 0, 1],
        [-30, -30, -10],
    ),
    one_hand(
        "minotaur, griffin, griffin, red 5: 20 + 60",
        "MD-15",
        [MINOTAUR_TAKES],
        [1, 0, 0, 0],
        [80, 10, 10, 10],
        [60, 0, 0, 0],
    ),
    one_hand(
        "griffin_bonus = once: 20 + 30",
        "MD-15",
        [MINOTAUR_TAKES],
        [1, 0, 0, 0],
        [50, 10, 10, 10],
        [30, 0, 0, 0],
        griffin_bonus="once",
    ),
    one_hand(
        "three griffins: 20 + 90",
        "MD-15",
        [THREE_GRIFFINS],
        [1, 0, 0, 0],
        [110, 10, 10, 10],
        [90, 0, 0, 0],
    ),
    one_hand(
        "griffin, minotaur, mermaid: 20 + 50",
        "MD-15",
        [MERMAID_TAKES],
        [0, 0, 1],
        [10, 10, 70],
        [0, 0, 50],
    ),
    one_hand(
        "two mermaids and a minotaur: still 50 for the trick",
        "MD-15",
        ["0 minotaur minotaur | 1 mermaid mermaid | 2 mermaid mermaid"],
        [0, 0, 1],
        [10, 10, 70],
        [0, 0, 50],
    ),
    one_hand(
        "the mermaid that takes it by three_way earns the bonus",
        "MD-12 MD-15",
        ["0 minotaur minotaur | 1 mermaid mermaid | 2 griffin griffin"],
        [0, 1, 0],
        [10, 70, 10],
        [0, 50, 0],
        three_way="mermaid",
    ),
    one_hand(
        # As rolled the griffin takes it, with a minotaur and a mermaid in the trick.
        "a trick taken with a griffin earns nothing",
        "MD-12 MD-15",
        ["0 minotaur minotaur | 1 mermaid mermaid | 2 griffin griffin"],
        [0, 0, 1],
        [10, 10, 20],
    ),
    one_hand(
        "a mermaid without a minotaur face earns nothing",
        "MD-15",
        ["0 mermaid mermaid | 1 red 7 | 2 red 6"],
        [1, 0, 0],
        [20, 10, 10],
    ),
    one_hand(
        "a minotaur without a griffin face earns nothing",
        "MD-15",
        ["0 minotaur minotaur | 1 red 7 | 2 red 6"],
        [1, 0, 0],
        [20, 10, 10],
    ),
    one_hand(
        "a minotaur die showing a flag is no minotaur face",
        "MD-15",
        ["0 minotaur flag | 1 mermaid mermaid | 2 red 7"],
        [0, 1, 0],
        [10, 20, 10],
        flag_scope="none",
    ),
    one_hand(
        "griffin faces count, griffin dice showing flags don't",
        "MD-15",
        ["0 minotaur minotaur | 1 griffin flag | 2 griffin griffin"],
        [1, 0, 0],
        [50, 10, 10],
        [30, 0, 0],
        flag_scope="none",
    ),
    one_hand(
        "no bonus for a bid that was missed",
        "MD-15 MD-14",
        [MINOTAUR_TAKES],
        [0, 1, 0, 0],
        [-10, -10, 10, 10],
    ),
    one_hand(
        # Took the bonus trick, but one trick of two bid.
        "no bonus for one trick short",
        "MD-15 MD-13",
        [MERMAID_TAKES, "2 purple 1 | 0 red 7 | 1 yellow 3"],
        [1, 0, 2],
        [20, 20, -10],
    ),
    one_hand(
        "two tricks, one with a bonus: 40 + 50",
        "MD-15",
        [MERMAID_TAKES, "2 red 7 | 0 red 5 | 1 purple 1"],
        [0, 0, 2],
        [20, 20, 90],
        [0, 0, 50],
    ),
    one_hand(
        "a flag in the trick: no bonus",
        "MD-16",
        [FLAGGED_MINOTAUR],
        [1, 0, 0],
        [20, 10, 10],
    ),
    one_hand(
        "flag_scope = none: 20 + 30 in spite of the flag",
        "MD-16",
        [FLAGGED_MINOTAUR],
        [1, 0, 0],
        [50, 10, 10],
        [30, 0, 0],
        flag_scope="none",
    ),
    one_hand(
        "flag_scope = hand: a flag in the trick cancels too",
        "MD-16",
        [FLAGGED_MINOTAUR],
        [1, 0, 0],
        [20, 10, 10],
        flag_scope="hand",
    ),
    *(
        one_hand(
            f"flag_scope = {scope}: a flag in another trick that the seat took",
            "MD-16 MD-15",
            [MERMAID_TAKES, "2 red 7 | 0 red 5 | 1 gray flag"],
            [0, 0, 2],
            [20, 20, 40 + bonus],
            [0, 0, bonus],
            flag_scope=scope,
        )
        for scope, bonus in [("trick", 50), ("hand", 0), ("none", 50)]
    ),
    one_hand(
        "flag_scope = hand: a flag in a trick that another seat took",
        "MD-16 MD-15",
        [MERMAID_TAKES, "2 purple 1 | 0 red 7 | 1 gray flag"],
        [1, 0, 1],
        [20, 20, 70],
        [0, 0, 50],
        flag_scope="hand",
    ),
    one_hand(
        "simple: met +20 b, missed 0, bid 0 as ever",
        "MD-17 MD-14",
        [RED_WINS] * 3,
        [3, 1, 0],
        [60, 0, 30],
        scoring="simple",
    ),
    one_hand(
        "simple: bid 0 missed -10 k, over and under 0",
        "MD-17 MD-14",
        ["0 red 7 | 1 yellow 3 | 2 purple 1", "0 red 6 | 1 gray 7 | 2 purple 1", GRAY_WINS],
        [0, 1, 3],
        [-30, 0, 0],
        scoring="simple",
    ),
    one_hand(
        "simple: no bonuses",
        "MD-17 MD-15",
        [MINOTAUR_TAKES],
        [1, 0, 0, 0],
        [20, 10, 10, 10],
        scoring="simple",
    ),
]


# Seat 0 takes every trick of the match: red 7s (and in hand 8 the minotaur) against 1s.
def seat_0_takes_all() -> Script:
    script: Script = {("first", 0, 0): 0}
    for hand in range(1, 9):
        own = " ".join(["red"] * min(hand, 7) + ["minotaur"] * (hand - 7))
        script |= draw(hand, own, "purple " * hand, "gray " * hand)
        for number in range(hand):
            script |= {
                ("roll", hand, 8 * KINDS.index("red") + number): FACES["red"].index("7"),
                ("roll", hand, 64 + 8 * KINDS.index("purple") + number): 5,
                ("roll", hand, 128 + 8 * KINDS.index("gray") + number): 3,
            }
        script["roll", hand, 8 * KINDS.index("minotaur")] = 0
    return script


TAKES_ALL = seat_0_takes_all()


def whole_match(*bid: list[int]) -> list[Step]:
    """All eight hands: the bids of each, and the rolls, one kind of die after another."""
    steps = []
    for hand, numbers in enumerate(bid, start=1):
        steps += [bids(*numbers), actions(3 * hand)]
    return steps


MATCHES = [
    table(
        # 20 x (1 + ... + 8) = 720 for seat 0, 10 x 36 = 360 for the others.
        "the highest total wins, ties are shared",
        "MD-18 MD-13 MD-14",
        3,
        *whole_match(*([hand, 0, 0] for hand in range(1, 9))),
        over(),
        totals(720, 360, 360),
        placement(1, 2, 2),
        # Mean places 1, 2.5, 2.5: (3 - p) / 2.
        utility(1.0, 0.25, 0.25),
        view(-1, round_points=[[20 * hand, 10 * hand, 10 * hand] for hand in range(1, 9)]),
        seen(
            -1,
            {"event": "trick_taken", "seat": 0},
            {
                "event": "hand_scored",
                "hand": 8,
                "points": [160, 80, 80],
                "bonus": [0, 0, 0],
                "totals": [720, 360, 360],
            },
            {"event": "match_ended", "placement": [1, 2, 2], "totals": [720, 360, 360]},
        ),
        script=TAKES_ALL,
    ),
    table(
        "two share the first place",
        "MD-18 MD-14",
        3,
        *whole_match(*([0, 0, 0] for _ in range(8))),
        totals(-360, 360, 360),
        placement(3, 1, 1),
        utility(0.0, 0.75, 0.75),
        script=TAKES_ALL,
    ),
    table(
        "points are booked with the hand's last trick",
        "MD-18 MD-5 MD-3",
        3,
        bids(1, 0, 0),
        actions(3),
        totals(20, 10, 10),
        bids(2, 0, 1),
        actions(5),
        totals(20, 10, 10),
        running(0, 0, 0),
        placement(1, 2, 2),
        actions(1),
        totals(60, 30, 0),
        placement(1, 2, 3),
        view(
            -1,
            points=[0, 0, 0],
            round_points=[[20, 10, 10], [40, 20, -10]],
            bids=[None] * 3,
            committed=[],
            tricks_taken=[0, 0, 0],
            last_trick=[],
            last_winner=None,
        ),
        seen_ever(
            -1,
            {
                "event": "hand_scored",
                "hand": 2,
                "points": [40, 20, -10],
                "bonus": [0, 0, 0],
                "totals": [60, 30, 0],
            },
            {"event": "hand_started", "hand": 3, "first_player": 2},
        ),
        # Three bids and three rolls of each hand: a bidding is one turn.
        turn(1 + 3 + 1 + 6),
        to_act(0, 1, 2),
        script=TAKES_ALL,
    ),
]

OWN = ["mermaid red gray", "yellow purple gray", "griffin red yellow"]
SECRECY = [
    table(
        "a seat sees its own dice, in the order of the kinds",
        "MD-19 MD-3",
        3,
        in_hand(3),
        view(0, dice=[["mermaid", "red", "gray"], None, None]),
        view(1, dice=[None, ["yellow", "purple", "gray"], None]),
        view(2, dice=[None, None, ["griffin", "red", "yellow"]]),
        view(-1, dice=[None, None, None], dice_counts=[3, 3, 3], bag_count=27),
        seen_ever(
            1,
            {"event": "drawn", "seat": 0, "count": 3},
            {"event": "drawn", "seat": 1, "count": 3, "dice": ["yellow", "purple", "gray"]},
            {"event": "drawn", "seat": 2, "count": 3},
        ),
        seen_ever(
            -1,
            {"event": "drawn", "seat": 0, "count": 3},
            {"event": "drawn", "seat": 1, "count": 3},
            {"event": "drawn", "seat": 2, "count": 3},
        ),
        bids(3, 1, 2),
        *(view(viewer, bids=[3, 1, 2], committed=[0, 1, 2]) for viewer in (-1, 0, 1, 2)),
        do(0, "roll red"),
        *(
            view(viewer, led_colour="red", to_act=[1], dice_counts=[2, 3, 3], bag_count=27)
            for viewer in (-1, 0, 1, 2)
        ),
        view(0, dice=[["mermaid", "gray"], None, None]),
        view(2, dice=[None, None, ["griffin", "red", "yellow"]]),
        script={**starts(3, 3, 0), **draw(3, "gray red mermaid", "gray purple yellow", OWN[2])},
    ),
]

CASES: list[Case] = [
    *MAKING,
    *DICE,
    *COURSE,
    *BIDDING,
    *FOLLOWING,
    *TRICKS,
    *SCORING,
    *MATCHES,
    *SECRECY,
]
