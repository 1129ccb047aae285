"""A copy of a SQLite store that is whole, whatever a server does to it meanwhile."""

from __future__ import annotations

import os
from pathlib import Path

import apsw

from tavolata.service.store import sqlite_file
from tavolata.service.store.revisions import UnknownSchema


def copy(source: Path, target: Path) -> int:
    """Write a copy of a store, for its owner alone; how many tables it has. UnknownSchema if the
    source is no store of ours or is empty, FileExistsError if the target is there, and what the
    system says if it can't be written."""
    if not source.exists():
        raise FileNotFoundError(f"{source} isn't there")
    if target.exists():
        raise FileExistsError(f"{target} is there already; name a new file")
    # Under another name until it is whole.
    part = target.with_name(target.name + ".part")
    os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
    try:
        _copy(source, part)
        count = _checked(part)
        handle = os.open(part, os.O_RDWR)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
        os.link(part, target)
    finally:
        part.unlink()
    return count


def _copy(source: Path, part: Path) -> None:
    connection = apsw.Connection(str(source), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        connection.set_busy_timeout(5000)
        if sqlite_file.revision_of(connection, str(source)) is None:
            raise UnknownSchema(f"{source} is empty")
        # Reads at one moment, and holds up nobody who writes.
        connection.execute("VACUUM INTO ?", (str(part),))
    finally:
        connection.close()


def _checked(part: Path) -> int:
    """How many tables the copy has, if it is sound."""
    connection = apsw.Connection(str(part), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        found = connection.execute("PRAGMA integrity_check").fetchall()
        if found != [("ok",)]:
            raise UnknownSchema(f"the copy is damaged: {found[0][0]}")
        row = connection.execute("SELECT count(*) FROM tables").fetchone()
        return int(row[0]) if row else 0
    finally:
        connection.close()
