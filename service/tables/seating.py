"""Giving people places at tables: tokens, and making the tables."""

from __future__ import annotations

import base64
from dataclasses import dataclass

from tavolata.service.ports import Entry
from tavolata.service.tables import refuse
from tavolata.service.tables.makers import Makers
from tavolata.service.tables.model import NO_SEAT, Table
from tavolata.service.tables.requests import Change, Person, draft, hash_of
from tavolata.service.tables.settings_check import Defaults
from tavolata.service.tables.tables import Tables

TOKEN_BYTES = 32


@dataclass(frozen=True, slots=True)
class Seated:
    """A table with the caller's seat, NO_SEAT for none, and token, empty for the one sent."""

    table: Table
    slot: int
    token: str


def owned_by(subject: bytes) -> dict[str, object]:
    """What an entry that gives a token says of whom it is, as far as that is known."""
    return {"subject": subject.hex()} if subject else {}


class Seating:
    """What making tables and taking seats have in common."""

    def __init__(self, tables: Tables, defaults: Defaults, makers: Makers) -> None:
        self._tables = tables
        self._defaults = defaults
        self._makers = makers

    async def _make(self, table_id: str, entry: Entry, person: Person) -> Table | None:
        """Make a table by its first entry; None if its request id has made one before."""
        self._makers.admit(person, table_id)
        table = None
        try:
            table = await self._tables.create(table_id, entry)
        finally:
            if table is None:
                self._makers.gone([table_id])
        return table

    async def _reissue(self, table: Table, change: Change) -> Seated:
        """A fresh token in place of the one that this request gave, unless that has been used."""
        tables = self._tables
        while True:
            # As it is now: another copy of the request may have been faster.
            recorded = table.requests[NO_SEAT, change.request_id]
            held = table.tokens.get(recorded.token)
            if held is None or held.void or tables.is_used(table, recorded.token):
                raise refuse.request_id_reused(
                    change.request_id, "gave a token that has been used, or that is void by now"
                )
            token = self._new_token()
            body = {
                "token": hash_of(token).hex(),
                "replaces": recorded.token.hex(),
                "of_scope": NO_SEAT,
                "of_request": change.request_id,
            }
            entry = draft("reissued", held.slot, body=body)
            if await tables.append_durably(table, entry) is None:
                return Seated(table, held.slot, token)
            table = await tables.settled(table.table_id)

    def _new_token(self) -> str:
        secret = self._tables.entropy.bytes(TOKEN_BYTES)
        return base64.urlsafe_b64encode(secret).decode().rstrip("=")
