"""A table in memory: everything that its log says, and nothing that can't be rebuilt from it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from tavolata.ext.core.game import Game
from tavolata.ext.core.match import Match
from tavolata.service.codecs import Codec
from tavolata.service.ports import Entry, StoreError
from tavolata.v1.event_pb2 import Event, TableEvent
from tavolata.v1.player_pb2 import AiPlayer
from tavolata.v1.table_pb2 import SeatControl, TableSettings, TableState

BURST_MIN = 16  # events at once that watchers have to know of; fewer keep nobody behind
SPECTATOR: Final = -1  # as a viewer, in the rules and here
NO_SEAT: Final = -1  # the slot of an owner without a seat, and of requests without a token

OPEN: Final = 0
PERSON: Final = 1
AI: Final = 2

OCCUPANT = SeatControl.SEAT_CONTROL_OCCUPANT
LEFT = SeatControl.SEAT_CONTROL_LEFT
TIMED_OUT = SeatControl.SEAT_CONTROL_TIMED_OUT
RESIGNED = SeatControl.SEAT_CONTROL_RESIGNED

STATE_OPEN = TableState.TABLE_STATE_OPEN
PLAYING = TableState.TABLE_STATE_PLAYING
PARKED = TableState.TABLE_STATE_PARKED
FINISHED = TableState.TABLE_STATE_FINISHED
ABORTED = TableState.TABLE_STATE_ABORTED


@dataclass(slots=True)
class Seat:
    """A seat. kind: OPEN, PERSON or AI; since: number of the entry by which the person sat down;
    used_us: time that its clock has run in the match, spent_us in the decision spent_turn; back_us:
    when the person last took it back; former: at a rematch, the seat that its person had before,
    under former_name, and held: whether it is kept for that person."""

    number: int
    kind: int = OPEN
    name: str = ""
    ai: AiPlayer | None = None
    control: SeatControl.ValueType = SeatControl.SEAT_CONTROL_UNSPECIFIED
    since: int = 0
    stand_in_decisions: int = 0
    used_us: int = 0
    spent_us: int = 0
    spent_turn: int = -1
    back_us: int = 0
    former: int = -1
    former_name: str = ""
    held: bool = False

    @property
    def decided_by_ai(self) -> bool:
        """Whether an AI player decides for it at present."""
        return self.kind == AI or (self.kind == PERSON and self.control != OCCUPANT)


@dataclass(slots=True)
class Token:
    """What is kept of a token, under its hash. slot: the seat, or NO_SEAT for an owner without one;
    used: whether anybody has called with it; void: whether it is worth nothing any more; subject:
    of whom it is, empty if that isn't known."""

    slot: int
    used: bool = False
    void: bool = False
    subject: bytes = b""


@dataclass(frozen=True, slots=True)
class Recorded:
    """What a request id was used for, and what came of it: open decision and last event then;
    slot: the seat it gave; token: the hash of the token that it gave or that it came with."""

    digest: bytes
    turn: int
    event_number: int
    slot: int = NO_SEAT
    token: bytes = b""


# What happened: when, under which turn, and a table event or the number of an event of the match.
Happening = tuple[int, int, TableEvent | int]


@dataclass(slots=True, eq=False)
class Flight:
    """An entry on its way to the store, and who waits for it."""

    waiters: list[asyncio.Future[StoreError | None]] = field(default_factory=list)

    async def outcome(self) -> StoreError | None:
        """What became of the entry, once that is known."""
        waiter: asyncio.Future[StoreError | None] = asyncio.get_running_loop().create_future()
        self.waiters.append(waiter)
        return await waiter

    def land(self, outcome: StoreError | None) -> None:
        """Tell all who wait; those who gave up in the meantime were cancelled."""
        for waiter in self.waiters:
            if not waiter.done():
                waiter.set_result(outcome)


@dataclass(slots=True)
class Setup:
    """What a table was made with. server_seed and salt are secret until the match is over."""

    table_id: str
    settings: TableSettings
    server_seed: bytes = field(repr=False)
    salt: bytes = field(repr=False)
    reproducible: bool
    commitment: bytes
    rules_version: str


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of a table, and their messages."""

    game: Game
    codec: Codec


class Bell(Protocol):
    """Rung when there may be more to tell of a table."""

    def set(self) -> None:
        """Ring it."""


@dataclass(slots=True)
class SharedEvents:
    """Messages of the events after+1 to until, by what a viewer may see of them."""

    after: int = 0
    until: int = 0
    by_sight: dict[bytes, Sequence[Event]] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Table:
    """A table. `apply` (tables/apply.py) is what changes it; the fields below `settled` belong to
    the running server alone."""

    setup: Setup
    rules: Rules | None  # None: this program doesn't have the ones that it is played by
    seats: list[Seat]
    owner: int = NO_SEAT
    state: TableState.ValueType = STATE_OPEN
    tokens: dict[bytes, Token] = field(default_factory=dict)
    requests: dict[tuple[int, str], Recorded] = field(default_factory=dict)
    nonces: list[tuple[int, bytes]] = field(default_factory=list)
    match: Match | None = None
    happenings: list[Happening] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list, repr=False)
    event_ends: list[int] = field(default_factory=list)  # events after entry i + 1
    created_us: int = 0
    started_us: int = 0
    ended_us: int = 0
    opened_us: int = 0  # when the open decision began
    start_entry: int = 0  # number of the entry that started the match
    public_version: int = 0  # changes with anything in the Table message but its last event
    outcome: dict[str, Any] = field(default_factory=dict)  # of one that is over, see apply.py

    # -- of the running server ---------------------------------------------------------------------
    durable_entries: int = 0
    in_flight: Flight | None = None  # of the last entry
    dead: bool = False  # the memory may be ahead of the log: load it anew
    used_at: float = 0.0
    considered_version: int = -1  # the public version that AI seats were last looked for in
    has_ai: bool = False
    shared: SharedEvents = field(default_factory=SharedEvents)
    watchers: dict[Bell, None] = field(default_factory=dict)  # in their order
    past: Table | None = None  # what spectators see who are kept behind, see behind.py
    noted_events: int = 0  # that were durable when bursts were last looked for
    bursts: list[tuple[int, int]] = field(default_factory=list)  # see note_burst

    @property
    def table_id(self) -> str:
        """The table's id."""
        return self.setup.table_id

    @property
    def game(self) -> Game:
        """The rules, which must be there."""
        assert self.rules is not None  # noqa: S101
        return self.rules.game

    @property
    def codec(self) -> Codec:
        """The messages of the game, whose rules must be there."""
        assert self.rules is not None  # noqa: S101
        return self.rules.codec

    @property
    def over(self) -> bool:
        """Whether the table has come to its end, one way or the other."""
        return self.state in (FINISHED, ABORTED)

    @property
    def durable_events(self) -> int:
        """Number of the last event that is recorded for good; later ones mustn't be shown yet."""
        return self.event_ends[self.durable_entries - 1] if self.durable_entries else 0

    def note_burst(self) -> None:
        """Keep between which events many have become durable at once, since this was last asked."""
        before, self.noted_events = self.noted_events, self.durable_events
        if self.noted_events - before >= BURST_MIN:
            self.bursts.append((before, self.noted_events))

    def husk(self) -> Table:
        """What has to be loaded anew, in place of a table that is let go of."""
        return Table(self.setup, self.rules, [], dead=True)

    @property
    def chain(self) -> bytes:
        """The running hash after the last entry."""
        return self.entries[-1].chain if self.entries else b""

    @property
    def match_hash(self) -> bytes:
        """The match's running hash over its events, empty before the match."""
        return b"" if self.match is None else self.match.hash

    @property
    def turn(self) -> int:
        """Number of the open decision."""
        return 0 if self.match is None else self.match.turn

    def token_of(self, subject: bytes) -> bytes | None:
        """The hash of the token of the place that somebody has, None without one."""
        for token_hash, token in self.tokens.items():
            if subject and token.subject == subject and not token.void:
                return token_hash
        return None

    def open_seats(self) -> list[int]:
        """Numbers of the seats that nobody has."""
        return [seat.number for seat in self.seats if seat.kind == OPEN]

    def free_seats(self) -> list[int]:
        """Numbers of the seats that anybody may take."""
        return [number for number in self.open_seats() if not self.seats[number].held]

    async def settle(self) -> None:
        """Return when the memory is no further than the log; only then may it be shown."""
        while self.in_flight is not None:
            await self.in_flight.outcome()
