"""A position of La bouillabaisse as one line of text, both ways.

``round=2 phase=play dealer=0 drawn=H,-,- hands=2C.KH/5D/... played=AC voids=-/C/- tricks=3
trick=1.AC last=0.2D.KD.5D winner=1 taken=1,2,0 points=0,0,0 totals=5,0,60 rounds=... best=AC,1``.
What belongs to different seats stands between slashes, cards between dots, ``-`` is empty;
``trick`` and ``last`` start with the seat that led; ``best`` is the card that takes the trick so
far, and whose it is; ``rounds`` has the points of each of the six rounds.
"""

from __future__ import annotations

from tavolata.ext.bouillabaisse.deck import RANKS, SUITS, card_name, card_number, rounds
from tavolata.ext.core.face import State

NONE = 255
PHASES = ("play", "booked", "over")
SEATS_MAX = 12
SUIT_CARDS = (1 << len(RANKS)) - 1
RANK_CARDS = sum(1 << 16 * suit for suit in range(len(SUITS)))


def format_state(state: State, seat_count: int) -> str:
    """The line of a state whose fields are given."""

    def numbers(field: str) -> str:
        return ",".join(str(value) for value in state[field][:seat_count])

    drawn = (
        "-" if state["drawn_suit"] == NONE else SUITS[state["drawn_suit"]],
        "-" if state["drawn_rank"] == NONE else RANKS[state["drawn_rank"]],
        "-" if state["drawn_card"] == NONE else card_name(state["drawn_card"]),
    )
    last = [] if state["last_leader"] == NONE else state["last_trick"][:seat_count]
    words = {
        "round": state["round"],
        "phase": PHASES[state["phase"]],
        "dealer": state["dealer"],
        "drawn": ",".join(drawn),
        "hands": "/".join(
            _cards(state["hand"][seat], state["twin"][seat]) for seat in range(seat_count)
        ),
        "played": _cards(state["played"], state["played_twin"]),
        "voids": "/".join(_suits(state["voids"][seat]) for seat in range(seat_count)),
        "tricks": state["tricks_played"],
        "trick": _trick(state["leader"], state["trick"][: state["trick_count"]]),
        "last": _trick(state["last_leader"], last),
        "winner": "-" if state["last_winner"] == NONE else state["last_winner"],
        "taken": numbers("tricks_taken"),
        "points": numbers("points"),
        "totals": numbers("totals"),
        "rounds": "/".join(
            ",".join(str(points) for points in row[:seat_count]) for row in state["round_points"]
        ),
        "best": _who_takes(state),
    }
    return " ".join(f"{key}={value}" for key, value in words.items())


def parse_state(text: str, seat_count: int) -> State:
    """The fields of a state from its line; ValueError names the word that is wrong."""
    words: dict[str, str] = {}
    for word in text.split():
        key, _, value = word.partition("=")
        words[key] = value
    try:
        return _state(words, seat_count)
    except KeyError as missing:
        raise ValueError(f"the position has no word {missing}") from None


def _state(words: dict[str, str], n: int) -> State:
    hands = [_sets(hand) for hand in _split(words["hands"], "/", n)]
    played, played_twin = _sets(words["played"])
    leader, trick = _parse_trick(words["trick"])
    last_leader, last = _parse_trick(words["last"])
    suit, rank, card = _split(words["drawn"], ",", 3)
    trick_cards, trick_twins = _bits(trick)
    best, winner = words["best"].split(",")
    state: State = {
        "hand": _padded([first for first, _ in hands]),
        "twin": _padded([twins for _, twins in hands]),
        "played": played,
        "played_twin": played_twin,
        "trick_cards": trick_cards,
        "trick_twins": trick_twins,
        "led": SUIT_CARDS << 16 * (trick[0] // 16) if trick else 0,
        "best": 0 if best == "-" else 1 << card_number(best),
        "winner": NONE if winner == "-" else int(winner),
        "totals": _numbers(words["totals"], n),
        "points": _numbers(words["points"], n),
        "round_points": [_numbers(row, n) for row in _split(words["rounds"], "/", 6)],
        "voids": _padded([_suit_bits(suits) for suits in _split(words["voids"], "/", n)]),
        "trick": _padded(trick),
        "last_trick": _padded(last),
        "tricks_taken": _numbers(words["taken"], n),
        "trick_count": len(trick),
        "tricks_played": int(words["tricks"]),
        "last_leader": last_leader,
        "last_winner": NONE if words["winner"] == "-" else int(words["winner"]),
        "leader": leader,
        "seat": (leader + len(trick)) % n,
        "dealer": int(words["dealer"]),
        "round": int(words["round"]),
        "phase": PHASES.index(words["phase"]),
        "drawn_suit": NONE if suit == "-" else SUITS.index(suit),
        "drawn_rank": NONE if rank == "-" else RANKS.index(rank),
        "drawn_card": NONE if card == "-" else card_number(card),
    }
    return state | _targets(state) | {"padding": [0, 0, 0]}


def _targets(state: State) -> State:
    """The cards that count, from the round and what is drawn (BO-9 to BO-14)."""
    row = rounds()[state["round"] - 1]
    return {
        "suit_cards": SUIT_CARDS << 16 * state["drawn_suit"] if row.suit else 0,
        "rank_cards": RANK_CARDS << state["drawn_rank"] if row.rank else 0,
        "drawn_cards": 1 << state["drawn_card"] if row.card else 0,
    }


def _who_takes(state: State) -> str:
    best = card_name(state["best"].bit_length() - 1) if state["best"] else "-"
    return f"{best},{'-' if state['winner'] == NONE else state['winner']}"


def _cards(first: int, twins: int) -> str:
    names = [
        card_name(card)
        for card in range(64)
        for _ in range((first >> card & 1) + (twins >> card & 1))
    ]
    return ".".join(names) or "-"


def _sets(cards: str) -> tuple[int, int]:
    return _bits([card_number(name) for name in _items(cards)])


def _bits(cards: list[int]) -> tuple[int, int]:
    first = twins = 0
    for card in cards:
        twins |= first & 1 << card
        first |= 1 << card
    return first, twins


def _suits(bits: int) -> str:
    return "".join(suit for number, suit in enumerate(SUITS) if bits >> number & 1) or "-"


def _suit_bits(suits: str) -> int:
    return sum(1 << SUITS.index(suit) for suit in suits if suit != "-")


def _trick(leader: int, cards: list[int]) -> str:
    return ".".join(["-" if leader == NONE else str(leader), *map(card_name, cards)])


def _parse_trick(text: str) -> tuple[int, list[int]]:
    leader, *cards = text.split(".")
    return NONE if leader == "-" else int(leader), [card_number(name) for name in cards]


def _items(text: str) -> list[str]:
    return [] if text == "-" else text.split(".")


def _split(text: str, mark: str, count: int) -> list[str]:
    parts = text.split(mark)
    if len(parts) != count:
        raise ValueError(f"{text!r} has {len(parts)} parts between {mark!r}, {count} are wanted")
    return parts


def _numbers(text: str, count: int) -> list[int]:
    return _padded([int(value) for value in _split(text, ",", count)])


def _padded(values: list[int]) -> list[int]:
    return values + [0] * (SEATS_MAX - len(values))
