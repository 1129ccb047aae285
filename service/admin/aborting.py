"""Ending a table by who runs the server: an entry of its log like any other."""

from __future__ import annotations

import asyncio

from tavolata.service.admin.socket import ask, place_of_socket
from tavolata.service.clock import SystemClock
from tavolata.service.committer import Committer
from tavolata.service.entropy import SystemEntropy
from tavolata.service.ports import Entry, StoreError
from tavolata.service.settings import Settings
from tavolata.service.store.opening import open_store
from tavolata.service.store.sqlite import FileInUse
from tavolata.service.tables import refuse
from tavolata.service.tables.memory import Lifetimes
from tavolata.service.tables.model import Table
from tavolata.service.tables.requests import Caller, Change, draft
from tavolata.service.tables.tables import Tables

ANNOUNCE_S = 0.2  # for the hint to other servers, which would look by themselves


async def abort(tables: Tables, table_id: str) -> None:
    """Abort; durable on return. Refused if there is no such table or it is over."""

    def decide(table: Table, _: Caller | None) -> Entry:
        refuse.unless_over(table)
        return draft("aborted", body={"by": "operator"})

    request_id = f"operator-{tables.entropy.name()}"
    await tables.change(Change(table_id, None, request_id, b"", without_rules=True), decide)


async def abort_in(settings: Settings, table_id: str) -> None:
    """Abort at the store of these settings: by the server that has its file, if one does. Refused,
    AskedInVain, and what opening a store raises, say what is wrong."""
    try:
        store, bus = await open_store(settings)
    except FileInUse:
        await ask(place_of_socket(settings.db), table_id)
        return
    clock = SystemClock()
    failures: list[StoreError] = []
    committer = Committer(store, clock, failures.append)
    lifetimes = Lifetimes(settings.open_table_s * 10**6, settings.over_table_s * 10**6)
    tables = Tables(store, committer, bus, clock, SystemEntropy(), lifetimes)
    try:
        await abort(tables, table_id)
        if store.shared:
            await asyncio.sleep(ANNOUNCE_S)
    finally:
        await committer.drain()
        await store.close()
        await bus.close()
