"""Making a table from its first entry, and from all of them."""

from __future__ import annotations

from functools import lru_cache

from google.protobuf.json_format import ParseDict

from tavolata.ext.core.errors import SettingError
from tavolata.ext.core.game import Game
from tavolata.ext.core.spec import OptionValue
from tavolata.ext.registry import UnknownGame, game_spec
from tavolata.service.codecs import codec_of
from tavolata.service.ports import Entry
from tavolata.service.refusals import Refused
from tavolata.service.tables import fairness
from tavolata.service.tables.apply import apply, record
from tavolata.service.tables.chain import hash_after, link
from tavolata.service.tables.model import AI, OCCUPANT, PERSON, Rules, Seat, Setup, Table, Token
from tavolata.v1.player_pb2 import AiPlayer
from tavolata.v1.table_pb2 import TableSettings

CREATED = "created"  # the kind of every first entry


class DamagedLog(Exception):
    """A log whose running hash isn't that of its entries: it was altered, or these rules make
    something else of it."""


def rebuild(table_id: str, entries: list[Entry]) -> Table:
    """The table that these entries make; see `made` and `carry_on`."""
    table = made(table_id, entries[0])
    _check(table, b"", entries[0])
    for entry in entries[1:]:
        carry_on(table, entry)
    return table


def carry_on(table: Table, entry: Entry) -> None:
    """Carry a table on by the next entry of its log. DamagedLog if its running hash is wrong; the
    table is of no use then."""
    previous = table.chain
    apply(table, entry)
    _check(table, previous, entry)


def _check(table: Table, previous: bytes, entry: Entry) -> None:
    if table.rules is None or not entry.chain:
        return  # the match's part of it can't be known
    if entry.chain != link(previous, entry, hash_after(table, entry)):
        raise DamagedLog(f"entry {entry.number} of table {table.table_id}")


def made(table_id: str, entry: Entry, *, with_rules: bool = True) -> Table:
    """The table that its first entry makes, without rules if this program doesn't have those of its
    version, or if nothing is wanted of the match."""
    body = entry.body or {}
    settings = ParseDict(body["settings"], TableSettings(), ignore_unknown_fields=True)
    version, seat_count = body["rules_version"], len(body["seats"])
    rules = _rules(settings, version, seat_count) if with_rules else None
    seed, salt = bytes.fromhex(body["server_seed"]), bytes.fromhex(body["salt"])
    promise = bytes.fromhex(body.get("commitment", ""))
    if rules is not None:
        promise = fairness.commitment(
            table_id=table_id,
            game_id=settings.game_id,
            rules_version=version,
            seat_count=seat_count,
            options=rules.game.options,
            server_seed=seed,
            salt=salt,
        )
    setup = Setup(table_id, settings, seed, salt, body["reproducible"], promise, version)
    table = Table(setup, rules, [_planned(n, plan) for n, plan in enumerate(body["seats"])])
    table.created_us = entry.time_us
    table.owner = entry.slot
    subject = bytes.fromhex(body.get("subject", ""))
    if "token" in body:  # whoever comes first owns a rematch
        table.tokens[bytes.fromhex(body["token"])] = Token(entry.slot, subject=subject)
    record(table, entry)
    return table


def _rules(settings: TableSettings, version: str, seat_count: int) -> Rules | None:
    """The rules that a match is pinned to, None if this program has others or none."""
    try:
        if game_spec(settings.game_id).rules_version != version:
            return None
        codec = codec_of(settings.game_id)
        options = codec.options_from(settings.options)
        return Rules(_game_of(settings.game_id, seat_count, tuple(sorted(options.items()))), codec)
    except (UnknownGame, SettingError, Refused):
        return None


@lru_cache(maxsize=256)
def _game_of(game_id: str, seat_count: int, options: tuple[tuple[str, OptionValue], ...]) -> Game:
    """The rules of a table; tables with the same ones share them, as they never change."""
    return game_spec(game_id).make(seat_count, dict(options))


def _planned(number: int, plan: dict[str, object]) -> Seat:
    if "ai" in plan:
        return Seat(number, AI, ai=ParseDict(plan["ai"], AiPlayer()), control=OCCUPANT)  # type: ignore[arg-type]
    if "caller" in plan:
        return Seat(number, PERSON, name=str(plan["caller"]), control=OCCUPANT, since=1)
    if "held" in plan:
        former = int(str(plan["former"]))
        return Seat(number, former=former, former_name=str(plan["held"]), held=True)
    return Seat(number)
