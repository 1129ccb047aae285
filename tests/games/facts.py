"""A quick judge of sampled worlds: the few facts that everybody at the table could have noted down.

It reads the viewer's events of the round and knows two things by itself: who holds how many, and
who has shown to hold none of a suit or colour (BO-4, MD-7, MD-20). With the deck from the reference
that is all there is to know of where unseen cards and dice can be; the reference itself, which
replays the whole round in each world, judges that this judge is right (test_dealer).
"""

from __future__ import annotations

from collections import Counter
from itertools import chain

from tests.reference.worlds import ORDERS, History, World, by_round, unseen_in

JUDGED = ("bouillabaisse", "mino_dice")
NUMBER_KINDS = ("red", "yellow", "purple", "gray")


class FactsJudge:
    """Whether worlds agree with what one viewer could have noted down."""

    def __init__(self, history: History) -> None:
        assert history.game in JUDGED
        unseen = unseen_in(history)
        self.unseen = Counter(unseen.cards)
        self.known = [tuple(cards) for cards in unseen.known]
        self.sizes = unseen.sizes
        self.voids = voids_of(history)
        self.has_bag = history.game == "mino_dice"

    def fits(self, world: World) -> bool:
        """Sizes, voids, what the viewer knows, and no card in two places."""
        hidden = Counter[str]()
        for held, known, size, voids in zip(world, self.known, self.sizes, self.voids, strict=True):
            if known or not size:
                if held != known:
                    return False
                continue
            if len(held) != size or any(kind_of(card) in voids for card in held):
                return False
            hidden.update(held)
        return hidden <= self.unseen if self.has_bag else hidden == self.unseen


def kind_of(card: str) -> str:
    """The suit of a card, or the colour of a die."""
    return card if card in ORDERS["mino_dice"] else card[-1]


def voids_of(history: History) -> list[set[str]]:
    """What each seat has shown to be out of in the round in progress."""
    *_, now = by_round(history)
    voids: list[set[str]] = [set() for _ in range(history.seats)]
    led, laid = "", 0
    after_special = history.options.get("follow_after_special", "first_number")
    for event in now:
        if event["event"] not in ("played", "rolled"):
            continue
        card = str(event.get("card", event.get("kind")))
        follows = "card" in event or card in NUMBER_KINDS
        if laid == history.seats:
            led, laid = "", 0
        if not led and follows and (laid == 0 or after_special == "first_number"):
            led = kind_of(card)
        elif led and follows and kind_of(card) != led:
            voids[int(str(event["seat"]))].add(led)
        laid += 1
    return voids


def spoiled(world: World, seat: int, other: int) -> World:
    """The world with the first cards of two seats exchanged."""
    hands = [list(held) for held in world]
    hands[seat][0], hands[other][0] = hands[other][0], hands[seat][0]
    order = list(chain.from_iterable(ORDERS[game] for game in JUDGED))
    return tuple(tuple(sorted(held, key=order.index)) for held in hands)
