"""The statements of the PostgreSQL store."""

# ruff: noqa: S608 - put together from constants

from __future__ import annotations

from tavolata.service.ports import LISTED_LATE
from tavolata.service.store.rows import COLUMNS

NOW_US = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint"


def _arrays(first: int, *kinds: str) -> str:
    """Parameters that are arrays, one for each column of what is sent."""
    return ", ".join(f"${place}::{kind}[]" for place, kind in enumerate(kinds, start=first))


_ROW_KINDS = (
    *("text", "int", "bigint", "text", "int", "int", "bigint", "int", "text", "int", "bytea"),
    *("text", "bytea"),
)
_ROWS = _arrays(1, *_ROW_KINDS)
# Of each run: the table, the number of its first entry, the running hash which that follows, the
# epoch of the claim.
_HEAD_KINDS = ("text", "int", "bytea", "bigint")
_HEADS = _arrays(len(_ROW_KINDS) + 1, *_HEAD_KINDS)
# Of each run that changes its table's summary, see Run.summary.
_SUMMARY_KINDS = (
    *("text", "int", "bigint", "text", "bigint", "int", "text", "bigint"),
    *("int", "text"),
)
_SUMMARIES = _arrays(len(_ROW_KINDS) + len(_HEAD_KINDS) + 1, *_SUMMARY_KINDS)

# Which runs follow their log's last entry. Joined laterally with a limit: one look into an index
# for each run, whatever the planner believes of how large the tables are.
_FIT = f"""
fit AS (
    SELECT h.table_id FROM unnest({_HEADS}) AS h (table_id, head, previous, claimed)
    LEFT JOIN LATERAL (
        SELECT coalesce(e.chain, '') AS chain FROM entries e
        WHERE e.table_id = h.table_id AND e.number = h.head - 1 LIMIT 1
    ) AS last ON true
    LEFT JOIN LATERAL (
        SELECT w.epoch FROM work w WHERE w.table_id = h.table_id LIMIT 1
    ) AS held ON h.claimed >= 0
    WHERE (h.head = 1 OR last.chain = h.previous) AND (h.claimed < 0 OR held.epoch = h.claimed)
)"""

# In the order of table ids, so that two servers never wait for each other.
_PUT = f"""
put AS (
    INSERT INTO entries ({COLUMNS})
    SELECT {COLUMNS} FROM unnest({_ROWS}) AS r ({COLUMNS})
    WHERE table_id IN (SELECT table_id FROM fit)
    ORDER BY table_id, number
)"""

APPEND = f"WITH {_FIT}, {_PUT} SELECT table_id FROM fit"

APPEND_AND_SUMMARIZE = f"""
WITH {_FIT}, {_PUT},
summaries AS (
    SELECT * FROM unnest({_SUMMARIES})
        AS s (
            table_id, state, expires_us, creation_id, made_us, active, owner, epoch, listing,
            game_id
        )
    WHERE table_id IN (SELECT table_id FROM fit)
),
made AS (
    INSERT INTO tables (table_id, state, created_us, expires_us, creation_id, listing, game_id)
    SELECT table_id, state, made_us, expires_us, creation_id, listing, game_id FROM summaries
    WHERE made_us IS NOT NULL ORDER BY creation_id
),
changed AS (
    UPDATE tables t SET state = s.state, expires_us = s.expires_us
    FROM summaries s WHERE t.table_id = s.table_id AND s.made_us IS NULL
),
begun AS (
    INSERT INTO work (table_id, active, owner, epoch)
    SELECT table_id, active, owner, epoch FROM summaries WHERE active IS NOT NULL
    ORDER BY table_id
    ON CONFLICT (table_id) DO UPDATE SET active = excluded.active
),
ended AS (
    DELETE FROM work w USING summaries s
    WHERE w.table_id = s.table_id AND s.active IS NULL
)
SELECT table_id FROM fit
"""

LOAD = f"SELECT {COLUMNS} FROM entries WHERE table_id = $1 AND number > $2 ORDER BY number"

LAST_NUMBERS = """
SELECT asked.table_id, last.number FROM unnest($1::text[]) AS asked (table_id)
CROSS JOIN LATERAL (
    SELECT number FROM entries e WHERE e.table_id = asked.table_id ORDER BY number DESC LIMIT 1
) AS last
"""

LISTED = f"""
SELECT created_us, table_id FROM tables
WHERE listing > 0 AND ($1 = '' OR game_id = $1)
AND (cardinality($2::int[]) = 0 OR listing = {LISTED_LATE} OR state = ANY ($2))
AND (created_us, table_id) < ($3, $4)
ORDER BY created_us DESC, table_id DESC LIMIT $5
"""

RENEW = f"""
INSERT INTO servers (server_id, lease_until_us) VALUES ($1, {NOW_US} + $2)
ON CONFLICT (server_id) DO UPDATE SET lease_until_us = excluded.lease_until_us
WHERE servers.lease_until_us > {NOW_US}
RETURNING 1
"""

CLAIM = f"""
WITH free AS (
    SELECT table_id FROM work w
    WHERE active = 1 AND owner <> $1
    AND NOT EXISTS (
        SELECT 1 FROM servers s WHERE s.server_id = w.owner AND s.lease_until_us > {NOW_US}
    )
    AND ($3::text[] IS NULL OR table_id = ANY ($3))
    AND table_id <> ALL ($4::text[])
    LIMIT $2 FOR UPDATE SKIP LOCKED
)
UPDATE work w SET owner = $1, epoch = w.epoch + 1 FROM free WHERE w.table_id = free.table_id
RETURNING w.table_id, w.epoch
"""

RELEASE = """
UPDATE work SET owner = '' WHERE owner = $1 AND ($2::text[] IS NULL OR table_id = ANY ($2))
"""

_DAY_US = 86_400_000_000
REMOVE_EXPIRED = f"""
WITH gone AS (
    DELETE FROM tables WHERE table_id IN (
        SELECT table_id FROM tables WHERE expires_us > 0 AND expires_us <= $1
        LIMIT 100 FOR UPDATE SKIP LOCKED
    ) RETURNING table_id
),
entries_gone AS (DELETE FROM entries WHERE table_id IN (SELECT table_id FROM gone)),
work_gone AS (DELETE FROM work WHERE table_id IN (SELECT table_id FROM gone)),
servers_gone AS (DELETE FROM servers WHERE lease_until_us < {NOW_US} - {_DAY_US})
SELECT table_id FROM gone
"""
