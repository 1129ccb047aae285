"""Rematches: the same settings and seats again, for the people who had them.

The first call makes a table with a seat held for each person; then every call, the first one too,
takes the seat that is held for the caller. So it doesn't matter who comes first, or how often.
"""

from __future__ import annotations

from google.protobuf.json_format import MessageToDict

from tavolata.ext.registry import game_spec
from tavolata.service.ports import Entry
from tavolata.service.refusals import invalid_field
from tavolata.service.tables import refuse
from tavolata.service.tables.apply import ai_body
from tavolata.service.tables.callers import seat_of
from tavolata.service.tables.making import CREATED
from tavolata.service.tables.model import NO_SEAT, OPEN, PERSON, STATE_OPEN, Seat, Table
from tavolata.service.tables.record import refuse_replay
from tavolata.service.tables.requests import (
    Caller,
    Change,
    Person,
    check_request_id,
    digest_of,
    draft,
    hash_of,
)
from tavolata.service.tables.seating import Seated, Seating, owned_by
from tavolata.service.tables.settings_check import check_nonce, complete, seatable
from tavolata.v1.table_pb2 import SeatPlan
from tavolata.v1.table_service_pb2 import RematchRequest


class Rematches(Seating):
    """The tables that follow tables."""

    async def take(self, request: RematchRequest, token: str | None, address: str = "") -> Seated:
        """The caller's seat at the rematch, which is made if there is none. Refused as Rematch
        says. address: where the caller is."""
        check_request_id(request.request_id)
        nonce = check_nonce(request.nonce, reproducible=False)
        before, caller = await self._former(request.table_id, token)
        if request.rotate_seats >= len(before.seats):
            allowed = f"0 to {len(before.seats) - 1}"
            raise invalid_field("rotate_seats", f"is {request.rotate_seats}", allowed)
        content = request.SerializeToString(deterministic=True)
        digest = digest_of(b"Rematch", content, b"%d" % caller.slot)
        person = Person(caller.token.subject, address)
        table_id = await self._table_after(before, request.rotate_seats, person)
        change = Change(table_id, None, request.request_id, digest)
        fresh = self._new_token()
        made: list[Entry] = []

        def decide(table: Table, _: Caller | None) -> Entry:
            body = {"nonce": nonce.hex(), "token": hash_of(fresh).hex()}
            made[:] = [_claim(table, caller, body)]
            return made[0]

        table, recorded = await self._tables.change(change, decide)
        if made:
            return Seated(table, recorded.slot, fresh)
        return await self._reissue(table, change)

    async def _former(self, table_id: str, token: str | None) -> tuple[Table, Caller]:
        """The earlier table, settled, and who calls, who had a seat there."""
        while True:
            table = await self._tables.settled(table_id)
            caller = seat_of(table, self._tables.authenticate(table, token))
            await table.settle()
            if not table.dead:
                refuse_replay(table)
                return table, caller

    async def _table_after(self, before: Table, rotate: int, person: Person) -> str:
        """The id of the table that follows; there is one, whoever asks and however many at once."""
        # No request has such an id, as it has a space.
        creation_id = f"rematch {before.table_id}"
        while True:
            table_id = await self._tables.find_creation(creation_id)
            if table_id is not None:
                return table_id
            entry = self._creation(before, rotate)
            entry.request_id = creation_id
            table_id = self._tables.entropy.name()
            if await self._make(table_id, entry, person) is not None:
                return table_id

    def _creation(self, before: Table, rotate: int) -> Entry:
        count = len(before.seats)
        settings = complete(before.setup.settings, [SeatPlan()] * count, self._defaults)
        entropy = self._tables.entropy
        body = {
            "settings": MessageToDict(settings, preserving_proto_field_name=True),
            "rules_version": game_spec(settings.game_id).rules_version,
            "seats": [
                self._plan(before.seats[(n - rotate) % count], settings.game_id)
                for n in range(count)
            ],
            "server_seed": entropy.bytes(32).hex(),
            "salt": entropy.bytes(32).hex(),
            "reproducible": False,
        }
        return draft(CREATED, NO_SEAT, body=body)

    def _plan(self, seat: Seat, game_id: str) -> dict[str, object]:
        if seat.kind == PERSON:
            return {"held": seat.name, "former": seat.number}
        assert seat.ai is not None  # noqa: S101 - a match has begun, so no seat is open
        field = f"seats[{seat.number}].ai"
        return {"ai": ai_body(seatable(seat.ai, self._defaults, field, game_id))}


def _claim(table: Table, caller: Caller, body: dict[str, str]) -> Entry:
    """The entry by which the caller, known from the earlier table, takes the seat held for it."""
    refuse.unless_over(table)
    if table.state != STATE_OPEN:
        raise refuse.started(table.table_id)
    seat = next(seat for seat in table.seats if seat.former == caller.slot)
    if seat.kind != OPEN:
        raise refuse.seat_taken(seat.number, table, "is taken")
    claim: dict[str, object] = {"name": seat.former_name, **body}
    if not table.tokens:
        claim["owner"] = True
    return draft("joined", seat.number, body=claim | owned_by(caller.token.subject))
