"""Who acts for which match, in a SQLite file. Everything runs in the writer's thread."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from tavolata.service.ports import FIRST_EPOCH, NO_EPOCH, Append, Claim, Fenced


def forget_servers(connection: apsw.Connection) -> None:
    """Let every lease end: whoever has the file's lock is the only server there is."""
    connection.execute("DELETE FROM servers")


def follow(connection: apsw.Connection, append: Append) -> None:
    """Keep the work of a table in step with its new summary."""
    summary = append.summary
    assert summary is not None  # noqa: S101
    if summary.work is None:
        if append.entry.number > 1:
            connection.execute("DELETE FROM work WHERE table_id = ?", (append.table_id,))
        return
    connection.execute(
        "INSERT INTO work (table_id, active, owner, epoch) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (table_id) DO UPDATE SET active = excluded.active",
        (
            append.table_id,
            int(summary.work),
            summary.claimant,
            FIRST_EPOCH if summary.claimant else 0,
        ),
    )


def fence(connection: apsw.Connection, append: Append) -> Fenced | None:
    """What keeps an entry out that was made under an older claim than the table's."""
    if append.epoch == NO_EPOCH:
        return None
    query = "SELECT epoch FROM work WHERE table_id = ?"
    row = connection.execute(query, (append.table_id,)).fetchone()
    if row is not None and row[0] == append.epoch:
        return None
    return Fenced(f"{append.table_id} is claimed under another epoch than {append.epoch}")


def renew(connection: apsw.Connection, server_id: str, now_us: int, lease_us: int) -> bool:
    """See Store.renew."""
    connection.execute(
        "INSERT INTO servers (server_id, lease_until_us) VALUES (?, ?)"
        " ON CONFLICT (server_id) DO UPDATE SET lease_until_us = excluded.lease_until_us"
        " WHERE lease_until_us > ?",
        (server_id, now_us + lease_us, now_us),
    )
    return connection.changes() > 0


def claim(
    connection: apsw.Connection,
    server_id: str,
    now_us: int,
    limit: int,
    among: Sequence[str] | None,
    without: Sequence[str],
) -> list[Claim]:
    """See Store.claim."""
    query = (
        "SELECT table_id, epoch FROM work WHERE active = 1 AND owner <> ?"
        " AND owner NOT IN (SELECT server_id FROM servers WHERE lease_until_us > ?)"
    )
    bindings: list[str | int] = [server_id, now_us]
    for names, test in ((among, "IN"), (without or None, "NOT IN")):
        if names is not None:
            query += f" AND table_id {test} ({', '.join('?' * len(names))})"
            bindings += names
    rows = connection.execute(f"{query} LIMIT ?", (*bindings, limit)).fetchall()
    connection.executemany(
        "UPDATE work SET owner = ?, epoch = epoch + 1 WHERE table_id = ?",
        [(server_id, str(row[0])) for row in rows],
    )
    return [Claim(str(row[0]), int(row[1]) + 1, row[1] == 0) for row in rows]  # type: ignore[arg-type]


def release(connection: apsw.Connection, server_id: str, table_ids: Sequence[str] | None) -> None:
    """See Store.release."""
    if table_ids is None:
        connection.execute("UPDATE work SET owner = '' WHERE owner = ?", (server_id,))
        connection.execute("DELETE FROM servers WHERE server_id = ?", (server_id,))
        return
    connection.executemany(
        "UPDATE work SET owner = '' WHERE owner = ? AND table_id = ?",
        [(server_id, table_id) for table_id in table_ids],
    )
