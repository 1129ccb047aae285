"""What seats and spectators go on knowing of hands they don't hold (MB-26, MB-27).

One record for each observer (a seat, or SPECTATOR) and each holder still in, other than itself:
`held` gives the kinds seen there with the cards lost unseen since, `absent` the kinds that are
certainly not there with the cards gained unseen since. The reading of the two rules, case by case:

- Cards given at the same time (A, C, E) all leave their hands before the first arrives, so a hand
  never loses what it just gained. A draw is a gift of one card.
- A gift is seen by its giver and its taker; also by everybody, spectators included, if the taker
  got just that one card and lays a pair of its kind down at once.
- A gift seen: at the giver the kind is absent (0), at the taker held (0), and nothing is blurred.
  A gift not seen: at the giver every held count rises by one, at the taker every absent count.
  Held kinds aren't blurred by gains nor absent kinds by losses.
- A pair laid down in play, or a waiter played, ends `held` of that kind for everybody and makes it
  absent (0). The exception is a pair laid down by a seat that got several cards at once (C): the
  seat may have had three, of which one stays (MB-7 says so of the deal, MB-11 allows no less in
  play), so nothing certain is known of that kind any more and both entries go.
- D: a Mister Bill shown is held (0), none shown is absent (0), for everybody.
- B and shift change: all records of a hand go where the hand goes, counts and all; who gave the
  hand away knows it whole from then on. Nobody keeps a record of its own hand.
- A hand is known whole when as many kinds are held (0) as it has cards; every other kind is then
  absent (0), blurred entries included. All thirteen kinds are meant, also those of which no card is
  left in play or, without shift changes in the deck, ever was. This is looked at whenever a
  movement or a play has been settled, not in the midst of one.
- A count has no upper limit: a kind stays recorded until one of the above ends it, even if more
  cards have left than the hand then had.
- The pairs of MB-7 show nothing that is recorded (three may have been there). A seat that is out
  holds no hand, and its records are empty. Every round begins with empty records.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from tests.reference.model import SPECTATOR


class Gift(NamedTuple):
    """One card on its way from hand to hand; a draw is one too."""

    giver: int
    taker: int
    kind: str


class Record:
    """What one observer knows of one hand."""

    def __init__(
        self, held: Mapping[str, int] | None = None, absent: Mapping[str, int] | None = None
    ) -> None:
        self.held = dict(held or {})
        self.absent = dict(absent or {})

    def is_there(self, kind: str) -> None:
        self.held[kind] = 0
        self.absent.pop(kind, None)

    def is_not_there(self, kind: str) -> None:
        self.held.pop(kind, None)
        self.absent[kind] = 0

    def is_unknown(self, kind: str) -> None:
        self.held.pop(kind, None)
        self.absent.pop(kind, None)

    def lost_unseen(self) -> None:
        self.held = {kind: lost + 1 for kind, lost in self.held.items()}

    def gained_unseen(self) -> None:
        self.absent = {kind: gained + 1 for kind, gained in self.absent.items()}

    def copy(self) -> Record:
        return Record(self.held, self.absent)


class Facts:
    """The records of a round, by (observer, holder)."""

    def __init__(self, seats: int, kinds: Sequence[str]) -> None:
        self.seats = seats
        self.kinds = list(kinds)
        self.records: dict[tuple[int, int], Record] = {
            (observer, holder): Record()
            for observer in range(SPECTATOR, seats)
            for holder in range(seats)
            if observer != holder
        }

    def about(self, holder: int) -> list[tuple[int, Record]]:
        """The records of every other observer about the holder."""
        return [(who, record) for (who, whose), record in self.records.items() if whose == holder]

    def given(self, gifts: Collection[Gift], shown: Collection[Gift]) -> None:
        """Cards change hands at the same time; `shown` are those that count as seen by all."""
        for gift in gifts:
            for observer, record in self.about(gift.giver):
                if observer == gift.taker or gift in shown:
                    record.is_not_there(gift.kind)
                else:
                    record.lost_unseen()
        # An unseen gain blurs what was known before; what this gift shows must not be blurred by
        # another that arrives at the same time.
        for gift in gifts:
            for observer, record in self.about(gift.taker):
                if observer != gift.giver and gift not in shown:
                    record.gained_unseen()
        for gift in gifts:
            for observer, record in self.about(gift.taker):
                if observer == gift.giver or gift in shown:
                    record.is_there(gift.kind)

    def pair_laid(self, seat: int, kind: str, *, none_left: bool) -> None:
        """A pair laid down in play; `none_left` if the seat can't have had three."""
        for _, record in self.about(seat):
            if none_left:
                record.is_not_there(kind)
            else:
                record.is_unknown(kind)

    def waiter_played(self, seat: int, kind: str) -> None:
        for _, record in self.about(seat):
            record.is_not_there(kind)

    def shown(self, seat: int, kind: str, *, is_there: bool) -> None:
        """Everybody sees whether the kind is in the seat's hand (D)."""
        for _, record in self.about(seat):
            if is_there:
                record.is_there(kind)
            else:
                record.is_not_there(kind)

    def hands_moved(self, new_holder: Mapping[int, int], hands: Sequence[Sequence[str]]) -> None:
        """Whole hands go from seat to seat: `new_holder[old]`; `hands` as they were before."""
        before = dict(self.records)
        for old, new in new_holder.items():
            for observer in range(SPECTATOR, self.seats):
                if observer == new:
                    continue
                if observer == old:
                    absent = {kind: 0 for kind in self.kinds if kind not in hands[old]}
                    known = Record(dict.fromkeys(hands[old], 0), absent)
                else:
                    known = before[observer, old].copy()
                self.records[observer, new] = known

    def went_out(self, seat: int) -> None:
        for observer, _ in self.about(seat):
            self.records[observer, seat] = Record()

    def complete(self, sizes: Mapping[int, int]) -> None:
        """Hands known whole hold nothing else; `sizes` are those of the seats still in."""
        for (_, holder), record in self.records.items():
            if holder not in sizes:
                continue
            certain = {kind for kind, lost in record.held.items() if lost == 0}
            if len(certain) == sizes[holder]:
                for kind in self.kinds:
                    if kind not in certain:
                        record.is_not_there(kind)

    def seen_by(self, viewer: int) -> list[dict[str, list[list[object]]]]:
        """The viewer's records by holder, in kind order; the viewer's own is empty."""
        shown = []
        for holder in range(self.seats):
            record = self.records.get((viewer, holder), Record())
            shown.append(
                {
                    name: [[kind, counts[kind]] for kind in self.kinds if kind in counts]
                    for name, counts in (("held", record.held), ("absent", record.absent))
                }
            )
        return shown

    def copy(self) -> Facts:
        twin = Facts(0, self.kinds)
        twin.seats = self.seats
        twin.records = {key: record.copy() for key, record in self.records.items()}
        return twin
