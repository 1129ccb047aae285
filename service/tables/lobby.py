"""Who sits where: making tables, joining, leaving, setting seats, starting, resigning, aborting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message

from tavolata.ext.registry import game_spec
from tavolata.service.ports import Entry
from tavolata.service.refusals import invalid_field
from tavolata.service.tables import refuse
from tavolata.service.tables.apply import ai_body
from tavolata.service.tables.callers import owner_of, refuse_resigned, seat_of
from tavolata.service.tables.listing import Listing
from tavolata.service.tables.makers import Allowance, Makers
from tavolata.service.tables.making import CREATED
from tavolata.service.tables.model import (
    NO_SEAT,
    OPEN,
    STATE_OPEN,
    Table,
)
from tavolata.service.tables.names import check_name
from tavolata.service.tables.rematch import Rematches
from tavolata.service.tables.requests import (
    NOBODY,
    Caller,
    Change,
    Person,
    check_request_id,
    digest_of,
    draft,
    hash_of,
)
from tavolata.service.tables.seating import Seated, Seating, owned_by
from tavolata.service.tables.settings_check import (
    Defaults,
    check_nonce,
    check_seed,
    complete,
    seatable,
)
from tavolata.service.tables.tables import Tables
from tavolata.v1.table_pb2 import SeatPlan
from tavolata.v1.table_service_pb2 import (
    AbortMatchRequest,
    CreateTableRequest,
    JoinTableRequest,
    LeaveTableRequest,
    ResignRequest,
    SetSeatRequest,
    StartMatchRequest,
)

Simple = LeaveTableRequest | SetSeatRequest | StartMatchRequest | ResignRequest | AbortMatchRequest


class Lobby(Seating):
    """What people do at tables apart from playing."""

    def __init__(self, tables: Tables, defaults: Defaults, makers: Makers | None = None) -> None:
        """makers: who may make tables; anybody if it is None."""
        super().__init__(tables, defaults, makers or Makers(tables.clock, Allowance()))
        self.listing = Listing(tables)
        self.rematches = Rematches(tables, defaults, self._makers)

    # -- making -----------------------------------------------------------------------------------

    async def create(self, request: CreateTableRequest, person: Person = NOBODY) -> Seated:
        """Make a table, or find the one that this request made."""
        check_request_id(request.request_id)
        digest = _digest(b"CreateTable", request, person.subject)
        while True:
            table_id = await self._tables.find_creation(request.request_id)
            if table_id is not None:
                return await self._again(table_id, request.request_id, digest)
            token = self._new_token()
            table_id = self._tables.entropy.name()
            entry = self._creation(request, token, person.subject)
            entry.request_id, entry.digest = request.request_id, digest
            table = await self._make(table_id, entry, person)
            if table is not None:
                return Seated(table, table.owner, token)

    def _creation(self, request: CreateTableRequest, token: str, subject: bytes) -> Entry:
        settings = complete(request.settings, request.seats, self._defaults)
        plans = self._plans(request.seats, settings.game_id)
        callers = [number for number, plan in enumerate(plans) if "caller" in plan]
        seed = check_seed(request.seed)
        entropy = self._tables.entropy
        body = {
            "settings": MessageToDict(settings, preserving_proto_field_name=True),
            "rules_version": game_spec(settings.game_id).rules_version,
            "seats": plans,
            "server_seed": (seed or entropy.bytes(32)).hex(),
            "salt": entropy.bytes(32).hex(),
            "reproducible": bool(seed),
            "token": hash_of(token).hex(),
            **owned_by(subject),
        }
        return draft(CREATED, callers[0] if callers else NO_SEAT, body=body)

    def _plans(self, seats: Sequence[SeatPlan], game_id: str) -> list[dict[str, object]]:
        plans: list[dict[str, object]] = []
        for number, plan in enumerate(seats):
            field = f"seats[{number}]"
            match plan.WhichOneof("plan"):
                case "open":
                    plans.append({})
                case "caller":
                    if any("caller" in other for other in plans):
                        raise invalid_field(field, "is the caller's too", "one seat for the caller")
                    name = check_name(plan.caller.display_name, f"{field}.caller.display_name")
                    plans.append({"caller": name})
                case "ai":
                    player = seatable(plan.ai, self._defaults, f"{field}.ai", game_id)
                    plans.append({"ai": ai_body(player)})
                case _:
                    raise invalid_field(field, "is empty", "open, caller or ai")
        return plans

    async def _again(self, table_id: str, request_id: str, digest: bytes) -> Seated:
        change = Change(table_id, None, request_id, digest)
        table, _ = await self._tables.change(change, _must_be_recorded)
        return await self._reissue(table, change)

    # -- joining ----------------------------------------------------------------------------------

    async def join(
        self, request: JoinTableRequest, token: str | None, person: Person = NOBODY
    ) -> Seated:
        """Take an open seat, or take the caller's own seat back, which is the token's or, without
        one, that of the caller's identity."""
        subject = person.subject if token is None else b""
        change = _change_of(request, token, subject)
        fresh = "" if token is not None else self._new_token()
        made: list[Entry] = []

        def decide(table: Table, caller: Caller | None) -> Entry:
            made[:] = [_joining(table, caller, request, fresh, subject)]
            return made[0]

        table, recorded = await self._tables.change(change, decide)
        if made or token is not None:
            return Seated(table, recorded.slot, fresh if made else "")
        return await self._reissue(table, change)

    # -- everything else --------------------------------------------------------------------------

    async def leave(self, request: LeaveTableRequest, token: str | None) -> Table:
        """The caller gets up."""

        def decide(table: Table, caller: Caller | None) -> Entry:
            seated = seat_of(table, caller)
            refuse.unless_over(table)
            refuse_resigned(table, seated.slot)
            return draft("left", seated.slot, body={"token": seated.token_hash.hex()})

        return (await self._tables.change(_change_of(request, token), decide))[0]

    async def set_seat(self, request: SetSeatRequest, token: str | None) -> Table:
        """The owner opens a seat or gives it to an AI player."""

        def decide(table: Table, caller: Caller | None) -> Entry:
            owner_of(table, caller)
            refuse.unless_over(table)
            if table.state != STATE_OPEN:
                raise refuse.started(table.table_id)
            if request.seat >= len(table.seats):
                raise refuse.no_such_seat(request.seat, table)
            if request.seat == table.owner:
                raise refuse.seat_taken(request.seat, table, "is the owner's")
            body: dict[str, object] = {}
            match request.WhichOneof("occupant"):
                case "ai":
                    game_id = table.setup.settings.game_id
                    body["ai"] = ai_body(seatable(request.ai, self._defaults, "ai", game_id))
                case None:
                    raise invalid_field("occupant", "is empty", "open or ai")
            return draft("seat_set", request.seat, body=body)

        return (await self._tables.change(_change_of(request, token), decide))[0]

    async def start(self, request: StartMatchRequest, token: str | None) -> Table:
        """The owner starts the match."""

        def decide(table: Table, caller: Caller | None) -> Entry:
            owner = owner_of(table, caller)
            refuse.unless_over(table)
            if table.state != STATE_OPEN:
                raise refuse.started(table.table_id)
            nonce = check_nonce(request.nonce, table.setup.reproducible)
            seats = table.open_seats()
            if seats and not table.setup.settings.HasField("fill_empty_seats"):
                raise refuse.open_seats(seats)
            self._makers.check_start(table)
            return draft("started", owner.slot, body={"nonce": nonce.hex()})

        return (await self._tables.change(_change_of(request, token), decide))[0]

    async def resign(self, request: ResignRequest, token: str | None) -> Table:
        """The caller gives its seat to the stand-in for good."""

        def decide(table: Table, caller: Caller | None) -> Entry:
            seated = seat_of(table, caller)
            refuse.unless_over(table)
            if table.match is None:
                raise refuse.not_started(table.table_id)
            refuse_resigned(table, seated.slot)
            return draft("resigned", seated.slot)

        return (await self._tables.change(_change_of(request, token), decide))[0]

    async def abort(self, request: AbortMatchRequest, token: str | None) -> Table:
        """The owner ends the table."""

        def decide(table: Table, caller: Caller | None) -> Entry:
            owner = owner_of(table, caller)
            refuse.unless_over(table)
            return draft("aborted", owner.slot)

        change = replace(_change_of(request, token), without_rules=True)
        return (await self._tables.change(change, decide))[0]


def _joining(
    table: Table, caller: Caller | None, request: JoinTableRequest, fresh: str, subject: bytes
) -> Entry:
    """The entry of a JoinTable that hasn't been made yet. subject: of a caller without token."""
    if caller is not None and caller.slot != NO_SEAT:
        return _returning(table, caller.slot, request, "token")
    lost = table.token_of(subject)
    if lost is not None and table.tokens[lost].slot != NO_SEAT:
        entry = _returning(table, table.tokens[lost].slot, request, "identity")
        entry.kind = "recovered"
        entry.body = {"token": hash_of(fresh).hex(), "replaces": lost.hex()}
        return entry
    refuse.unless_over(table)
    if table.state != STATE_OPEN:
        raise refuse.started(table.table_id)
    name = check_name(request.display_name, "display_name")
    nonce = check_nonce(request.nonce, table.setup.reproducible)
    slot = _open_seat(table, request)
    token_hash = hash_of(fresh) if caller is None else caller.token_hash
    body: dict[str, object] = {"name": name, "nonce": nonce.hex(), "token": token_hash.hex()}
    if caller is not None or lost is not None:
        body["owner"] = True
    if lost is not None:
        body["replaces"] = lost.hex()
    body |= owned_by(subject)
    return draft("joined", slot, body=body)


def _returning(table: Table, slot: int, request: JoinTableRequest, whose: str) -> Entry:
    """whose: what shows that the seat is the caller's."""
    refuse.unless_over(table)
    refuse_resigned(table, slot)
    if request.HasField("seat") and request.seat != slot:
        raise invalid_field(
            "seat", f"is {request.seat}", f"absent, or {slot}, the seat of the {whose}"
        )
    return draft("returned", slot)


def _open_seat(table: Table, request: JoinTableRequest) -> int:
    free_seats = table.free_seats()
    if request.HasField("seat") and request.seat >= len(table.seats):
        raise refuse.no_such_seat(request.seat, table)
    if not free_seats:
        raise refuse.table_full(table)
    if not request.HasField("seat"):
        return free_seats[0]
    if request.seat not in free_seats:
        held = table.seats[request.seat].kind == OPEN
        raise refuse.seat_taken(request.seat, table, "is held" if held else "isn't open")
    return request.seat


def _must_be_recorded(table: Table, caller: Caller | None) -> Entry:
    raise AssertionError("a table's log has the request that made it")


def _change_of(
    request: Simple | JoinTableRequest, token: str | None, subject: bytes = b""
) -> Change:
    digest = _digest(request.DESCRIPTOR.name.encode(), request, subject)
    return Change(request.table_id, token, request.request_id, digest)


def _digest(name: bytes, request: Message, subject: bytes) -> bytes:
    """Of a request's content; whose it is belongs to it, so that nobody gets another's token."""
    content = request.SerializeToString(deterministic=True)
    return digest_of(name, content, *([subject] if subject else []))
