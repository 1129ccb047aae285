"""Leaks planted in the service, to show that the comparison on the wire sees them.

Each stands for a mistake that codecs, watches, refusals or AI seats could make: something of what
they tell hangs on the true position.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import wraps
from typing import Any
from unittest.mock import patch

from tavolata.ext.core.match import Match
from tavolata.service import handlers, watch
from tavolata.service.ai_seats import AiSeats
from tavolata.service.refusals import Refused
from tavolata.service.tables import listing, playing, tables, wire
from tavolata.service.tables.model import SPECTATOR, Table
from tavolata.service.tables.playing import Playing
from tavolata.service.watch import WatchHub
from tavolata.v1.event_pb2 import Event
from tavolata.v1.view_pb2 import View
from tests.games.positions import holdings

Plant = Callable[[], Any]


def secret(match: Match | None) -> int:
    """A number that hangs on all that is hidden."""
    return 0 if match is None else zlib.crc32(match.state_bytes())


@contextmanager
def _replaced(name: str, around: Callable[[Any], Any], *places: Any) -> Iterator[None]:
    """A function of these modules or classes, with something around it."""
    with ExitStack() as stack:
        for place in places:
            original = getattr(place, name)
            stack.enter_context(patch.object(place, name, wraps(original)(around(original))))
        yield


def _views(spoil: Callable[[View, Match], None], *places: Any) -> Any:
    """Views that are spoilt before they are told."""

    def around(make: Any) -> Any:
        def spoilt(table: Table, match: Match, viewer: int, now_us: int) -> View:
            view: View = make(table, match, viewer, now_us)
            spoil(view, match)
            return view

        return spoilt

    return _replaced("view_message", around, *places)


def view_whose_length_tells() -> Any:
    """A field nobody reads, as long as something hidden is."""

    def pad(view: View, match: Match) -> None:
        view.MergeFromString(b"\xfa\x3e" + bytes([secret(match) % 8]) + bytes(secret(match) % 8))

    return _views(pad, playing)


def view_of_a_watch_with_a_hidden_bit() -> Any:
    """Only what a watch tells, not GetView."""

    def mark(view: View, match: Match) -> None:
        if secret(match) % 2:
            view.server_time.nanos += 1

    return _views(mark, watch)


def legal_actions_in_a_telling_order() -> Any:
    """The list begins where something hidden says."""

    def turn(view: View, match: Match) -> None:
        actions = list(view.legal_actions)
        start = secret(match) % max(len(actions), 1)
        del view.legal_actions[:]
        view.legal_actions.extend(actions[start:] + actions[:start])

    return _views(turn, playing)


def spectators_who_see_as_a_seat() -> Any:
    """A viewer's number that is taken for an index from the end."""

    def around(make: Any) -> Any:
        def spoilt(table: Table, match: Match, viewer: int, now_us: int) -> View:
            seen = len(table.seats) - 1 if viewer == SPECTATOR else viewer
            return make(table, match, seen, now_us)  # type: ignore[no-any-return]

        return spoilt

    return _replaced("view_message", around, playing, watch)


def _events(spoil: Callable[[Any, Table, int, int, int], list[Event]]) -> Any:
    def around(make: Any) -> Any:
        return lambda table, viewer, after, until: spoil(make, table, viewer, after, until)

    return _replaced("event_messages", around, wire)


def events_with_a_hidden_part() -> Any:
    """What each seat alone may know, left in for all."""

    def widen(make: Any, table: Table, viewer: int, after: int, until: int) -> list[Event]:
        seen = [make(table, seat, after, until) for seat in range(len(table.seats))]
        return [max(each, key=lambda event: event.ByteSize()) for each in zip(*seen, strict=True)]

    return _events(widen)


def numbers_that_skip() -> Any:
    """Events that nobody is told of are counted."""

    def skip(make: Any, table: Table, viewer: int, after: int, until: int) -> list[Event]:
        made: list[Event] = make(table, viewer, after, until)
        for event in made:
            event.number += secret(table.match) % 3
        return made

    return _events(skip)


def events_shared_with_whoever_comes_first() -> Any:
    """All who look at the same part of a log get the messages made for the first of them."""
    return patch.object(wire, "_sight", lambda *_: b"")


def view_that_comes_twice() -> Any:
    """As many messages as something hidden says."""

    def around(tell: Any) -> Any:
        def twice(self: WatchHub, watched: Any, table: Table) -> list[Any]:
            told: list[Any] = tell(self, watched, table)
            return told + told[-1:] * (secret(table.match) % 2)

        return twice

    return _replaced("_next_with_view", around, WatchHub)


def _refusals(spoil: Callable[[Refused, Match, int], None]) -> Any:
    def around(refuse: Any) -> Any:
        def spoilt(error: Any, match: Match, *, seat: int, table_id: str) -> Refused:
            refused: Refused = refuse(error, match, seat=seat, table_id=table_id)
            spoil(refused, match, seat)
            return refused

        return spoilt

    return _replaced("of_play", around, tables)


def refusal_that_names_a_hidden_card() -> Any:
    """Why an action is illegal, by what the next seat holds."""

    def name(refused: Refused, match: Match, seat: int) -> None:
        held = holdings(match.game, match.state_bytes())
        cards = " ".join(held[(seat + 1) % match.game.seat_count])
        refused.args = (refused.message,)
        refused.message += f"; the next seat has {cards}"

    return _refusals(name)


def refusal_with_the_running_hash() -> Any:
    """The hash covers the deal: with few cards hidden it can be searched for."""

    def add(refused: Refused, match: Match, seat: int) -> None:
        refused.metadata["hash"] = match.hash.hex()

    return _refusals(add)


def refusal_of_a_replay_with_the_running_hash() -> Any:
    """The same where no action is refused."""

    def around(refuse: Any) -> Any:
        def spoilt(table: Table) -> None:
            try:
                refuse(table)
            except Refused as refused:
                refused.metadata["hash"] = table.match_hash.hex()
                raise

        return spoilt

    return _replaced("refuse_replay", around, handlers)


def explanation_that_knows() -> Any:
    """What would be illegal is told in more words if something hidden is so."""

    def around(explain: Any) -> Any:
        def spoilt(self: Playing, table: Table, *rest: Any) -> Any:
            made = explain(self, table, *rest)
            made.text += " " * (secret(table.match) % 2)
            return made

        return spoilt

    return _replaced("_explain", around, Playing)


def list_whose_length_tells() -> Any:
    """Only in ListTables, not in GetTable."""

    def around(make: Any) -> Any:
        def spoilt(table: Table, expires_us: int) -> Any:
            made = make(table, expires_us)
            made.rules_version += " " * (secret(table.match) % 3)
            return made

        return spoilt

    return _replaced("table_message", around, listing)


def search_seeded_by_the_match() -> Any:
    """An AI player's luck is that of the deal."""

    def around(decide: Any) -> Any:
        async def spoilt(
            self: Any, table: Table, seat: int, player: Any, seed: int, stop: Any
        ) -> Any:
            return await decide(self, table, seat, player, secret(table.match), stop)

        return spoilt

    return _replaced("_decide", around, AiSeats)


PLANTS: Sequence[tuple[str, Plant]] = [
    ("mino_dice", view_whose_length_tells),
    ("bouillabaisse", view_of_a_watch_with_a_hidden_bit),
    ("bids", legal_actions_in_a_telling_order),
    ("bouillabaisse", spectators_who_see_as_a_seat),
    ("bids", events_with_a_hidden_part),
    ("cafe_international", numbers_that_skip),
    ("mister_bill", events_shared_with_whoever_comes_first),
    ("cafe_international", view_that_comes_twice),
    ("mister_bill", refusal_that_names_a_hidden_card),
    ("bids", refusal_with_the_running_hash),
    ("mino_dice", refusal_of_a_replay_with_the_running_hash),
    ("mister_bill", explanation_that_knows),
    ("cafe_international", list_whose_length_tells),
    ("mino_dice", search_seeded_by_the_match),
]
"""Each leak with the game in which it is looked for."""
