"""What clients may know of this server: versions, limits. No address, path, key or seed."""

from __future__ import annotations

from google.protobuf.duration_pb2 import Duration

from tavolata import __version__
from tavolata.ext.registry import GAMES, game_spec
from tavolata.service.catalog import RULE_IDS_MAX
from tavolata.service.settings import Settings
from tavolata.service.tables.listing import PAGE_MAX
from tavolata.service.tables.names import NAME_MAX
from tavolata.service.tables.playing import EXPLAIN_MAX
from tavolata.service.tables.requests import REQUEST_ID_MAX
from tavolata.service.tables.settings_check import (
    DECISION_S,
    MATCH_S,
    NONCE_MAX,
    PACE_MAX_S,
    SPECTATOR_DELAY_MAX_S,
)
from tavolata.service.watch import THINKING_S
from tavolata.v1.server_info_pb2 import DESCRIPTOR, GameVersion, ServerInfo, ServerLimits

PROGRAM = "tavolata"


def server_info(settings: Settings) -> ServerInfo:
    """What there is to know, the time apart."""
    return ServerInfo(
        program=PROGRAM,
        version=__version__,
        api=DESCRIPTOR.package,
        games=[
            GameVersion(game_id=game_id, rules_version=game_spec(game_id).rules_version)
            for game_id in sorted(GAMES)
        ],
        limits=_limits(settings),
        thinking_interval=_seconds(THINKING_S),
        ai_pace_floor=_seconds(settings.ai_floor_s),
        ai_pace_jitter=_seconds(settings.ai_jitter_s),
        tournaments=settings.tournaments_dir is not None,
    )


def _limits(settings: Settings) -> ServerLimits:
    return ServerLimits(
        message_bytes=settings.message_bytes_max,
        metadata_bytes=settings.metadata_bytes_max,
        request_id_characters=REQUEST_ID_MAX,
        display_name_characters=NAME_MAX,
        nonce_bytes=NONCE_MAX,
        explained_actions=EXPLAIN_MAX,
        rule_ids=RULE_IDS_MAX,
        tables_page_size=PAGE_MAX,
        stream_handles=settings.handles_max,
        watches_by_caller=settings.caller_watchers_max,
        watch_backlog=settings.backlog_max,
        min_decision_time=_seconds(DECISION_S[0]),
        max_decision_time=_seconds(DECISION_S[1]),
        min_match_time=_seconds(MATCH_S[0]),
        max_match_time=_seconds(MATCH_S[1]),
        max_spectator_delay=_seconds(SPECTATOR_DELAY_MAX_S),
        max_ai_pace=_seconds(PACE_MAX_S),
        open_table_time=_seconds(settings.open_table_s),
        over_table_time=_seconds(settings.over_table_s),
    )


def _seconds(seconds: float) -> Duration:
    made = Duration()
    made.FromNanoseconds(round(seconds * 1e9))
    return made
