"""The running hash of a table's log.

It takes in every entry and, once there is a match, the match's own running hash over its events. So
an entry fits only onto the log that it was made for, and a log that was altered, or that these
rules don't reproduce, is noticed when the table is made from it.
"""

from __future__ import annotations

import hashlib
import json

from tavolata.service.ports import Entry
from tavolata.service.tables.model import Table

CHAIN_BYTES = 16


WITHOUT_RULES = "without_rules"  # in the body of an entry by a program without the table's rules


def hash_after(table: Table, entry: Entry) -> bytes:
    """The match's running hash that belongs to an entry which the table has just carried out."""
    return b"" if (entry.body or {}).get(WITHOUT_RULES) else table.match_hash


def link(previous: bytes, entry: Entry, match_hash: bytes) -> bytes:
    """The running hash with this entry; previous: the one before it; match_hash: the match's after
    it, empty before the match."""
    body = (
        "" if entry.body is None else json.dumps(entry.body, separators=(",", ":"), sort_keys=True)
    )
    text = (
        f"{entry.number} {entry.time_us} {entry.kind} {entry.slot} {entry.turn} {entry.action} "
        f"{entry.maker} {entry.scope} {entry.request_id} {entry.digest.hex()} {body}"
    )
    made = hashlib.blake2b(previous, digest_size=CHAIN_BYTES)
    made.update(match_hash)
    made.update(text.encode())
    return made.digest()
