"""The commitment to a seed and the seed of a match, as fairness.proto defines them."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Mapping

from tavolata.ext.core.spec import OptionValue

NO_SEAT = 0xFFFFFFFF


def options_text(options: Mapping[str, OptionValue]) -> str:
    """Every option as `name=value`, sorted by name, values as the rules write them."""
    return " ".join(f"{name}={_written(options[name])}" for name in sorted(options))


def commitment(
    *,
    table_id: str,
    game_id: str,
    rules_version: str,
    seat_count: int,
    options: Mapping[str, OptionValue],
    server_seed: bytes,
    salt: bytes,
) -> bytes:
    """The 32 bytes published when a table is made."""
    return hashlib.sha256(
        b"tavolata.commitment.v1\x00"
        + _field(table_id.encode())
        + _field(game_id.encode())
        + _field(rules_version.encode())
        + seat_count.to_bytes(4, "big")
        + _field(options_text(options).encode())
        + _field(server_seed)
        + _field(salt)
    ).digest()


def match_seed(
    server_seed: bytes, table_id: str, nonces: Iterable[tuple[int | None, bytes]]
) -> bytes:
    """The 32 bytes that everything random in the match comes from; nonces as (seat, bytes)."""
    message = b"tavolata.seed.v1\x00" + _field(table_id.encode())
    for seat, nonce in nonces:
        message += (NO_SEAT if seat is None else seat).to_bytes(4, "big") + _field(nonce)
    return hmac.digest(server_seed, message, "sha256")


def _field(data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + data


def _written(value: OptionValue) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
