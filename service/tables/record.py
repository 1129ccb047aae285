"""The record of a table that is over, as its reader may see it."""

from __future__ import annotations

from google.protobuf.json_format import ParseDict

from tavolata.service.ports import Entry
from tavolata.service.replays import replay_message, sealed
from tavolata.service.tables import refuse
from tavolata.service.tables.apply import BY_AI, BY_STAND_IN, effort_of, seed_of
from tavolata.service.tables.model import Table
from tavolata.service.tables.wire import event_messages, stamp
from tavolata.v1.fairness_pb2 import FairnessProof, Reveal
from tavolata.v1.player_pb2 import AiPlayer
from tavolata.v1.replay_pb2 import Decision, Replay
from tavolata.v1.table_pb2 import Table as TableMessage


def replay_of(table: Table, message: TableMessage, viewer: int) -> Replay:
    """The replay of a settled table, `refuse_replay` having passed; message: the table as it is."""
    setup, match = table.setup, table.match
    proof = None
    if setup.settings.reveal != Reveal.REVEAL_NEVER:
        proof = FairnessProof(
            server_seed=setup.server_seed, salt=setup.salt, match_seed=seed_of(table)
        )
    if match is None:
        final_hash = bytes.fromhex(table.outcome.get("final_hash", ""))
        return sealed(Replay(table=message, proof=proof, final_hash=final_hash))
    told = replay_message(
        message,
        match,
        event_messages(table, viewer, 0, len(table.happenings)),
        [decision_facts(entry) for entry in table.entries if entry.kind == "played"],
        proof=proof,
        viewer=viewer,
    )
    return sealed(told)


def refuse_replay(table: Table) -> None:
    """Refused with MATCH_NOT_STARTED or MATCH_LIVE unless the table had a match that is over."""
    if not table.started_us:
        raise refuse.not_started(table.table_id)
    if not table.over:
        raise refuse.live(table.table_id)


def decision_facts(entry: Entry) -> Decision:
    """What the match itself doesn't know of a decision."""
    made = Decision(
        made_by=entry.maker,  # type: ignore[arg-type]
        request_id=entry.request_id,
        time=stamp(entry.time_us),
    )
    if entry.maker in (BY_AI, BY_STAND_IN) and entry.body:
        made.ai.CopyFrom(ParseDict(entry.body["ai"], AiPlayer()))
        made.effort.CopyFrom(effort_of(entry))
        made.search_seed = entry.body["search_seed"]
    return made
