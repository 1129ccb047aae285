"""Requests that change tables: who calls, what makes a request the same one again."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from tavolata.service.ports import Entry, StoreError, StoreFull
from tavolata.service.refusals import Refused
from tavolata.service.tables import refuse
from tavolata.service.tables.model import NO_SEAT, Token

REQUEST_ID_MAX = 64


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls: the hash of the token and what it is worth at the table."""

    token_hash: bytes
    token: Token

    @property
    def slot(self) -> int:
        """The caller's seat, or NO_SEAT for an owner without one."""
        return self.token.slot


@dataclass(frozen=True, slots=True)
class Person:
    """Who calls, apart from any token. subject: of the identity, empty if that isn't known;
    address: where from, empty if the transport has none."""

    subject: bytes = b""
    address: str = ""

    @property
    def key(self) -> bytes | str:
        """What limits are counted by; empty: nothing."""
        return self.subject or self.address


NOBODY = Person()


@dataclass(frozen=True, slots=True)
class Change:
    """A request that changes a table. digest: of its content; token: as sent, None if none;
    without_rules: whether it is possible without the rules that the table is played by."""

    table_id: str
    token: str | None
    request_id: str
    digest: bytes
    without_rules: bool = False


def digest_of(*parts: bytes) -> bytes:
    """A digest of a request's content, to know the same request again."""
    return hashlib.sha256(b"\x00".join(parts)).digest()[:16]


def hash_of(token: str) -> bytes:
    """What is kept of a token, and what tokens are found by: however long a comparison of these
    hashes takes, it tells nothing from which a token follows."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def draft(kind: str, slot: int = NO_SEAT, **fields: object) -> Entry:
    """An entry whose number, time and request are yet to be filled in."""
    return Entry(0, 0, kind, slot, **fields)  # type: ignore[arg-type]


def check_request_id(request_id: str) -> None:
    """Refused with REQUEST_ID_REQUIRED unless it is 1 to 64 visible ASCII characters."""
    visible = request_id.isascii() and request_id.isprintable() and " " not in request_id
    if not (visible and 1 <= len(request_id) <= REQUEST_ID_MAX):
        raise refuse.request_id_required()


def refused_by(failure: StoreError) -> Refused:
    """What a failure of the store means to the caller."""
    return refuse.store_full() if isinstance(failure, StoreFull) else refuse.store_unavailable()
