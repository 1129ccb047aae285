"""The store: whether it is there, is the right one, takes writes, and has room."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import apsw

from tavolata.service.doctor.finding import Finding, fail, ok, warn
from tavolata.service.ports import StoreError, StoreFull
from tavolata.service.settings import Settings
from tavolata.service.store.opening import connected, open_store, place_of
from tavolata.service.store.revisions import HEAD, NotOpened, UnknownSchema
from tavolata.service.store.sqlite import FileInUse, SqliteStore

LITTLE_BYTES, TOO_LITTLE_BYTES = 1 << 30, 64 << 20
CLOCK_S = 2.0
PROBE_ID = "doctor"


async def look(settings: Settings) -> AsyncIterator[Finding]:
    """All findings."""
    if settings.store:
        async for finding in _postgres(settings):
            yield finding
        return
    for finding in _folder(settings.db):
        yield finding
    if not settings.db.exists():
        yield ok("store", f"{settings.db} isn't there yet; the server makes it")
        return
    try:
        store = SqliteStore(settings.db)
    except FileInUse as error:
        yield ok("store", f"{error}; what it says about its health counts")
    except UnknownSchema as error:
        yield fail("store", str(error), "see `tavolata migrate --check`, or name another file")
    except (OSError, apsw.Error) as error:
        yield fail("store", f"{settings.db}: {error}", "correct its owner or rights")
    else:
        yield ok("store", f"{settings.db} has schema {HEAD}")
        yield await _probed(store, settings)
        await store.close()


def _folder(db: Path) -> list[Finding]:
    """Whether the file's folder takes files, and its disk has room."""
    folder = db.resolve().parent
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
        free = shutil.disk_usage(folder).free
    except OSError as error:
        return [
            fail("folder", f"{folder}: {error}", "make it, or let the server's user write in it")
        ]
    says = f"{free / (1 << 30):.1f} GiB free in {folder}"
    if free < TOO_LITTLE_BYTES:
        return [fail("disk", says, "make room")]
    return [warn("disk", says, "make room soon") if free < LITTLE_BYTES else ok("disk", says)]


async def _probed(store: Any, settings: Settings) -> Finding:
    began = time.monotonic()
    try:
        await store.probe(PROBE_ID, time.time_ns() // 1000)
    except StoreFull as error:
        return fail("write", str(error), "make room")
    except StoreError as error:
        return fail("write", str(error), "let the server's user write to the store")
    took = time.monotonic() - began
    says = f"a durable write took {1000 * took:.1f} ms"
    if took > settings.probe_within_s:
        return warn("write", says, "find out why it is slow: that long every action takes")
    return ok("write", says)


async def _postgres(settings: Settings) -> AsyncIterator[Finding]:
    where = place_of(settings)
    try:
        store, bus = await open_store(settings)
    except UnknownSchema as error:
        yield fail("store", str(error), "tavolata migrate")
        return
    except NotOpened as error:
        yield fail("store", str(error), "check address, user, password, and that it runs")
        return
    yield ok("store", f"{where} has schema {HEAD}")
    yield await _probed(store, settings)
    await store.close()
    await bus.close()
    async with connected(settings.store) as connection:
        for finding in await _asked(connection):
            yield finding


async def _asked(connection: Any) -> list[Finding]:
    """What the database says about itself."""
    found = []
    before = time.time()
    theirs = float(await connection.fetchval("SELECT extract(epoch FROM clock_timestamp())"))
    apart = abs(theirs - (before + time.time()) / 2)
    says = f"the database's is {apart:.3f} s away from this machine's"
    advice = "keep both clocks by NTP: leases go by the one, expiry by the other"
    found.append(ok("clock", says) if apart < CLOCK_S else warn("clock", says, advice))
    for name in ("fsync", "synchronous_commit", "full_page_writes"):
        if await connection.fetchval(f"SHOW {name}") == "off":
            says = f"{name} is off: what was acknowledged can be lost"
            found.append(warn("durability", says, f"set {name} = on in the database's settings"))
    return found
