"""Game messages read back as the fields of the rules' dataclasses.

Independent of the codecs: it reads the JSON form of a message, whose enum values are the names
that the API gives them. Every key of a message is taken; what is left over is an error.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message

Json = dict[str, Any]
Fields = dict[str, Any]

_RANKS = dict(
    zip(
        "TWO THREE FOUR FIVE SIX SEVEN EIGHT NINE TEN JACK QUEEN KING ACE".split(),  # noqa: SIM905
        "23456789TJQKA",
        strict=True,
    )
)
_SUITS = {"CLUBS": "C", "DIAMONDS": "D", "HEARTS": "H", "SPADES": "S"}
_NUMBERS = {
    "ONE": "1",
    "TWO": "2",
    "THREE": "3",
    "FOUR": "4",
    "FIVE": "5",
    "SIX": "6",
    "SEVEN": "7",
}


def json_of(message: Message) -> Json:
    """The message with enum names, unset plain fields shown as zero and unset messages left out."""
    return MessageToDict(
        message, preserving_proto_field_name=True, always_print_fields_with_no_presence=True
    )


def card(name: str) -> str:
    """`CARD_QUEEN_OF_CLUBS` as `QC`."""
    rank, _, suit = name.removeprefix("CARD_").partition("_OF_")
    return _RANKS[rank] + _SUITS[suit]


def suit(name: str) -> str:
    return _SUITS[name.removeprefix("SUIT_")]


def rank(name: str) -> str:
    return _RANKS[name.removeprefix("RANK_")]


def kind(name: str) -> str:
    return name.removeprefix("MINO_DICE_KIND_").lower()


def face(name: str) -> str:
    word = name.removeprefix("MINO_DICE_FACE_")
    return _NUMBERS.get(word, word.lower())


def known(read: Callable[[str], str], name: str) -> str | None:
    """None for the value that says nothing."""
    return None if name.endswith("_UNSPECIFIED") else read(name)


def taken(message: Json, *keys: str) -> Json:
    """The message, whose keys must be these; `?` marks one that may be absent."""
    names = {key.strip("?") for key in keys}
    assert set(message) <= names, f"unread fields: {set(message) - names}"
    assert {key for key in keys if not key.endswith("?")} <= set(message)
    return message


def _cards(hand: Json | None) -> tuple[str, ...] | None:
    return None if hand is None else tuple(map(card, taken(hand, "cards")["cards"]))


def _trick_of_cards(trick: list[Json]) -> tuple[tuple[int, str], ...]:
    return tuple((taken(p, "seat", "card")["seat"], card(p["card"])) for p in trick)


def _bouillabaisse_view(message: Json) -> Fields:
    taken(
        message, "round", "round_rule_id", "phase", "dealer", "leader", "led_suit", "seats",
        "trick", "last_trick", "last_winner?", "drawn_suit", "drawn_rank", "drawn_card",
        "played", "removed",
    )  # fmt: skip
    seats = [taken(s, "hand?", "hand_size", "voids", "tricks_taken") for s in message["seats"]]
    # BO-9 belongs to round 1, and so on to BO-14 of round 6.
    assert message["round_rule_id"] == f"BO-{message['round'] + 8}"
    return {
        "round": message["round"],
        "phase": message["phase"].removeprefix("BOUILLABAISSE_PHASE_").lower(),
        "dealer": message["dealer"],
        "leader": message["leader"],
        "led_suit": known(suit, message["led_suit"]),
        "hands": tuple(_cards(seat.get("hand")) for seat in seats),
        "hand_sizes": tuple(seat["hand_size"] for seat in seats),
        "trick": _trick_of_cards(message["trick"]),
        "last_trick": _trick_of_cards(message["last_trick"]),
        "last_winner": message.get("last_winner"),
        "tricks_taken": tuple(seat["tricks_taken"] for seat in seats),
        "drawn_suit": known(suit, message["drawn_suit"]),
        "drawn_rank": known(rank, message["drawn_rank"]),
        "drawn_card": known(card, message["drawn_card"]),
        "voids": tuple(tuple(map(suit, seat["voids"])) for seat in seats),
        "played": tuple(map(card, message["played"])),
        "removed": tuple(map(card, message["removed"])),
    }


def _kinds(held: Json | None) -> tuple[str, ...] | None:
    return None if held is None else tuple(map(kind, taken(held, "kinds")["kinds"]))


def _trick_of_dice(trick: list[Json]) -> tuple[tuple[int, str, str], ...]:
    return tuple(
        (taken(r, "seat", "kind", "face")["seat"], kind(r["kind"]), face(r["face"])) for r in trick
    )


def _mino_dice_view(message: Json) -> Fields:
    taken(
        message, "hand", "phase", "first_player", "leader", "led_colour", "seats", "bag_count",
        "trick", "last_trick", "last_winner?",
    )  # fmt: skip
    seats = [
        taken(s, "dice?", "dice_count", "committed", "bid?", "tricks_taken", "voids")
        for s in message["seats"]
    ]
    return {
        "hand": message["hand"],
        "phase": message["phase"].removeprefix("MINO_DICE_PHASE_").lower(),
        "first_player": message["first_player"],
        "leader": message["leader"],
        "led_colour": known(kind, message["led_colour"]),
        "dice": tuple(_kinds(seat.get("dice")) for seat in seats),
        "dice_counts": tuple(seat["dice_count"] for seat in seats),
        "bag_count": message["bag_count"],
        "committed": tuple(number for number, seat in enumerate(seats) if seat["committed"]),
        "bids": tuple(seat.get("bid") for seat in seats),
        "trick": _trick_of_dice(message["trick"]),
        "last_trick": _trick_of_dice(message["last_trick"]),
        "last_winner": message.get("last_winner"),
        "tricks_taken": tuple(seat["tricks_taken"] for seat in seats),
        "voids": tuple(tuple(map(kind, seat["voids"])) for seat in seats),
    }


def bids_card(name: str) -> str:
    """`BIDS_CARD_BLACK_7` as `K7`."""
    word = name.removeprefix("BIDS_CARD_")
    colour, _, on_it = word.partition("_")
    letters = {"RED": "R", "GREEN": "G", "BLUE": "B", "YELLOW": "Y", "BLACK": "K"}
    special = {"DOUBLE": "2X", "MINUS_FIVE": "-5"}.get(word, word.title())
    return letters[colour] + on_it if colour in letters else special


def _bids_cards(hand: Json | None) -> tuple[str, ...] | None:
    return None if hand is None else tuple(map(bids_card, taken(hand, "cards")["cards"]))


def _bids_cards_event(cards: Any) -> tuple[str, ...] | None:
    """A hand, which may be hidden, or the cards of a trick."""
    return tuple(map(bids_card, cards)) if isinstance(cards, list) else _bids_cards(cards)


def _bids_trick(trick: list[Json]) -> tuple[tuple[int, str], ...]:
    return tuple((taken(b, "seat", "card")["seat"], bids_card(b["card"])) for b in trick)


def _bids_allies(allies: Json | None) -> tuple[int, int] | None:
    return None if allies is None else (taken(allies, "ally", "winner")["ally"], allies["winner"])


def _bids_view(message: Json) -> Fields:
    taken(
        message, "round", "phase", "leader", "centre", "lowest", "seats", "bids", "winning?",
        "theft", "last_bids", "last_centre", "last_winner?", "pile_size", "pile_known",
        "left_over", "allies?", "played",
    )  # fmt: skip
    seats = [
        taken(s, "hand?", "hand_size", "tricks_won", "won", "minus_fives", "lucky")
        for s in message["seats"]
    ]
    return {
        "round": message["round"],
        "phase": message["phase"].removeprefix("BIDS_PHASE_").lower(),
        "leader": message["leader"],
        "centre": known(bids_card, message["centre"]),
        "hands": tuple(_bids_cards(seat.get("hand")) for seat in seats),
        "hand_sizes": tuple(seat["hand_size"] for seat in seats),
        "bids": _bids_trick(message["bids"]),
        "last_bids": _bids_trick(message["last_bids"]),
        "last_centre": known(bids_card, message["last_centre"]),
        "last_winner": message.get("last_winner"),
        "pile_size": message["pile_size"],
        "pile_known": tuple(map(bids_card, message["pile_known"])),
        "left_over": message["left_over"],
        "tricks_won": tuple(seat["tricks_won"] for seat in seats),
        "won": tuple(tuple(map(bids_card, seat["won"])) for seat in seats),
        "minus_fives": tuple(seat["minus_fives"] for seat in seats),
        "lucky": tuple(seat["lucky"] for seat in seats),
        "allies": _bids_allies(message.get("allies")),
        "lowest": message["lowest"],
        "winning": message.get("winning"),
        "theft": _bids_trick(message["theft"]),
        "played": tuple(map(bids_card, message["played"])),
    }


def bill_kind(name: str) -> str:
    """`MISTER_BILL_KIND_WAITER_A` as `waiter_a`."""
    return name.removeprefix("MISTER_BILL_KIND_").lower()


def _bill_hand(hand: Json | None) -> tuple[str, ...] | None:
    return None if hand is None else tuple(map(bill_kind, taken(hand, "kinds")["kinds"]))


def _bill_facts(facts: list[Json], count: str) -> tuple[tuple[str, int], ...]:
    return tuple((bill_kind(taken(f, "kind", count)["kind"]), f[count]) for f in facts)


def _mister_bill_view(message: Json) -> Fields:
    taken(
        message, "round", "phase", "active", "dealer", "seats", "teams", "out", "gift", "stall",
        "team_values", "pending_waiter", "pending_target?",
    )  # fmt: skip
    seats = [
        taken(s, "hand?", "hand_size", "number", "committed", "held", "absent")
        for s in message["seats"]
    ]
    return {
        "round": message["round"],
        "phase": message["phase"].removeprefix("MISTER_BILL_PHASE_").lower(),
        "active": message["active"],
        "dealer": message["dealer"],
        "numbers": tuple(seat["number"] for seat in seats),
        "teams": tuple(tuple(taken(team, "seats")["seats"]) for team in message["teams"]),
        "hands": tuple(_bill_hand(seat.get("hand")) for seat in seats),
        "hand_sizes": tuple(seat["hand_size"] for seat in seats),
        "out": tuple(message["out"]),
        "committed": tuple(number for number, seat in enumerate(seats) if seat["committed"]),
        "gift": known(bill_kind, message["gift"]),
        "stall": message["stall"],
        "facts": tuple(
            {
                "held": _bill_facts(seat["held"], "lost"),
                "absent": _bill_facts(seat["absent"], "gained"),
            }
            for seat in seats
        ),
        "team_values": tuple(message["team_values"]),
        "pending_waiter": known(bill_kind, message["pending_waiter"]),
        "pending_target": message.get("pending_target"),
    }


def _mister_bill_event(fields: Fields) -> Fields:
    """Hands as the `kinds` of the rules' events; what says nothing left out."""
    if "hand" in fields:
        fields["kinds"] = _bill_hand(fields.pop("hand"))
    if "first_hand" in fields:
        hands = (fields.pop("first_hand"), fields.pop("second_hand"))
        fields["kinds"] = tuple(map(_bill_hand, hands))
    if isinstance(fields.get("kind"), str):
        fields["kind"] = known(bill_kind, fields["kind"])
    return {key: value for key, value in fields.items() if value is not None}


def guest(name: str) -> str:
    return name.removeprefix("CAFE_INTERNATIONAL_GUEST_").lower()


def nation(name: str) -> str | None:
    word = name.removeprefix("CAFE_INTERNATIONAL_NATION_").lower()
    return None if word == "unspecified" else word


def _guests(names: list[str]) -> tuple[str, ...]:
    return tuple(map(guest, names))


def _chairs(sitting: list[Json]) -> tuple[tuple[str, str | None] | None, ...]:
    found = {
        taken(s, "chair", "guest", "nation")["chair"]: (guest(s["guest"]), nation(s["nation"]))
        for s in sitting
    }
    assert list(found) == sorted(found)
    return tuple(found.get(chair) for chair in range(1, 69))


def _cafe_international_view(message: Json) -> Fields:
    taken(
        message, "phase", "active", "guests", "bar", "bag", "bag_size", "seats", "out",
        "seated_now", "completed_now", "exempt_chair?", "birthday_state", "birthday", "parties",
        "passes",
    )  # fmt: skip
    seats = [taken(s, "hand", "hand_limit") for s in message["seats"]]
    chairs = _chairs(message["guests"])
    for sat in message["seated_now"]:
        assert chairs[sat["chair"] - 1] == (guest(sat["guest"]), nation(sat["nation"]))
    state = message["birthday_state"].removeprefix("CAFE_INTERNATIONAL_BIRTHDAY_STATE_")
    return {
        "phase": message["phase"].removeprefix("CAFE_INTERNATIONAL_PHASE_").lower(),
        "active": message["active"],
        "chairs": chairs,
        "bar": _guests(message["bar"]),
        "bag": tuple(message["bag"]),
        "bag_size": message["bag_size"],
        "hands": tuple(_guests(seat["hand"]) for seat in seats),
        "limits": tuple(seat["hand_limit"] for seat in seats),
        "out": tuple(message["out"]),
        "seated_now": tuple((guest(s["guest"]), s["chair"]) for s in message["seated_now"]),
        "completed_now": tuple(message["completed_now"]),
        "exempt_chair": message.get("exempt_chair"),
        "birthday": nation(message["birthday"]),
        "birthday_state": state.lower(),
        "parties": tuple(message["parties"]),
        "passes": message["passes"],
    }


def _cafe_international_event(fields: Fields) -> Fields:
    """Guests as the kinds of the rules' events; what says nothing left out."""
    names = {"guest": "kind", "guests": "kinds"}
    return {names.get(key, key): value for key, value in fields.items() if value is not None}


def _cafe_international_action(verb: str, what: Json) -> str:
    """`seat joker_man 8 italy`, `stop`."""
    reads: dict[str, Callable[[Any], str | None]] = {
        "guest": guest,
        "chair": str,
        "nation": nation,
        "by": str,
    }
    assert set(what) <= set(reads)
    words = [reads[key](what[key]) for key in reads if key in what]
    return " ".join([verb, *(word for word in words if word is not None)])


_VIEWS = {
    "bids": _bids_view,
    "bouillabaisse": _bouillabaisse_view,
    "cafe_international": _cafe_international_view,
    "mino_dice": _mino_dice_view,
    "mister_bill": _mister_bill_view,
}


def view_fields(game_id: str, view: Message) -> Fields:
    """A GameView as the fields of the game's View, those apart that stand in the View around it."""
    return _VIEWS[game_id](taken(json_of(view), game_id)[game_id])


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


# How each field of an event reads; a field that isn't here is a number as it stands.
_READ: dict[tuple[str, str], Callable[[Any], Any]] = {
    ("bids", "card"): bids_card,
    ("bids", "cards"): _bids_cards_event,
    ("bouillabaisse", "cards"): _cards,
    ("bouillabaisse", "card"): card,
    ("bouillabaisse", "suit"): suit,
    ("bouillabaisse", "rank"): rank,
    ("cafe_international", "guest"): guest,
    ("cafe_international", "guests"): _guests,
    ("cafe_international", "joker"): guest,
    ("cafe_international", "nation"): nation,
    ("mino_dice", "dice"): _kinds,
    ("mino_dice", "kind"): kind,
    ("mino_dice", "face"): face,
}


def event_fields(game_id: str, event: Message) -> tuple[str, Fields]:
    """A GameEvent as the name of the event, such as `TrickTaken`, and the fields it has."""
    ((name, fields),) = taken(json_of(event), game_id)[game_id].items()
    made = {key: _READ.get((game_id, key), _plain)(value) for key, value in fields.items()}
    if game_id == "mister_bill":
        made = _mister_bill_event(made)
    if game_id == "cafe_international":
        made = _cafe_international_event(made)
    return "".join(word.title() for word in name.split("_")), made


def action_name(game_id: str, action: Message) -> str:
    """An Action as the rules write it, such as `play QC`, `bid 3` or `steal 2 K5`."""
    ((verb, what),) = taken(json_of(action), game_id)[game_id].items()
    if game_id == "cafe_international":
        return _cafe_international_action(verb, what)
    reads: dict[str, Callable[[Any], str]] = {
        "card": bids_card if game_id == "bids" else card,
        "kind": bill_kind if game_id == "mister_bill" else kind,
        "tricks": str,
        "seat": str,
        "target": str,
        "waiter": lambda name: bill_kind(name).removeprefix("waiter_"),
    }
    keys = sorted(
        what, key=list(reads).index, reverse=True
    )  # a seat before a card, a waiter before its target
    return " ".join([verb, *(reads[key](what[key]) for key in keys)])
