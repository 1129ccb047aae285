"""Settings of the server: flags, then environment (TAVOLATA_*), then a TOML file, then defaults."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

from pydantic import Field
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

Algorithm = Literal[
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"
]


class Settings(BaseSettings):
    """Everything that can be set. Unknown names in the file are refused; see docs of each field."""

    model_config = SettingsConfigDict(env_prefix="TAVOLATA_", extra="forbid", frozen=True)

    db: Path = Field(Path("tavolata.db"), description="the SQLite file with all tables")
    store: str = Field(
        "",
        pattern=r"^(postgres(ql)?://.*)?$",
        description="postgresql://USER@HOST/DATABASE in place of the file, for many servers",
    )
    bus: Literal["notify", "off"] = Field(
        "notify", description="how the servers of a database tell each other; off: they look"
    )
    bind: str = Field("127.0.0.1:50051", description="address and port to listen on")
    insecure_public: bool = Field(
        False, description="listen beyond this machine without TLS: tokens travel in the open"
    )
    tls_cert: Path | None = Field(None, description="PEM file with the certificate chain")
    tls_key: Path | None = Field(None, description="PEM file with the certificate's key")
    tls_client_ca: Path | None = Field(
        None, description="PEM file of certificates: clients must show one that these vouch for"
    )
    reuse_port: bool = Field(False, description="let other processes listen on the same port")
    metrics_bind: str = Field(
        "",
        pattern=r"^(.+:\d+)?$",
        description="address and port of /metrics, /healthz and /readyz by HTTP; empty: nowhere",
    )
    channelz: bool = Field(
        False, description="let every caller ask about connections and sockets, by grpc.channelz.v1"
    )
    traces: Literal["off", "otlp"] = Field(
        "off", description="send OpenTelemetry traces where the OTEL_* variables say"
    )
    probe_s: float = Field(
        5.0, ge=0.05, le=60, description="between the writes by which readiness is found out"
    )
    probe_within_s: float = Field(
        2.0, gt=0, le=30, description="seconds after which such a write counts as failed"
    )

    identity: Literal["off", "optional", "required"] = Field(
        "off",
        description="whether people who take places at tables have to say who they are, by JWT",
    )
    identity_issuer: str = Field("", description="address of the OpenID Connect issuer of the JWTs")
    identity_audience: str = Field("", description="what the JWTs must be for: their aud")
    identity_jwks_url: str = Field(
        "", description="address of the issuer's keys; empty: its discovery document has it"
    )
    identity_algorithms: tuple[Algorithm, ...] = Field(
        ("RS256", "PS256", "ES256", "EdDSA"),
        min_length=1,
        description="algorithms by which they may be signed, never with a shared secret",
    )
    identity_keys_s: float = Field(600.0, ge=1, description="life of the issuer's keys in memory")
    identity_timeout_s: float = Field(3.0, gt=0, le=30, description="seconds to wait for the keys")
    identity_leeway_s: float = Field(
        30.0, ge=0, le=300, description="by how much the issuer's clock may differ"
    )

    ai_threads: int = Field(
        -1,
        ge=-1,
        le=256,
        description="threads for AI players; -1: one a core; 0: none, workers act for matches",
    )
    ai_floor_s: float = Field(0.4, ge=0, le=60, description="least time an AI seat takes, seconds")
    ai_jitter_s: float = Field(0.6, ge=0, le=60, description="most added at random, seconds")
    ai_iterations_max: int = Field(
        1_000_000, ge=1, le=10**9, description="most iterations of a search, levels included"
    )
    ai_nodes_max: int = Field(
        4_000_000, ge=1000, le=10**8, description="most tree nodes of a search, levels included"
    )
    ai_think_ms_max: int = Field(
        30_000, ge=1, le=3_600_000, description="most milliseconds of a search, levels included"
    )

    players_token_file: Path | None = Field(
        None, description="file with the token that programs have to bear to offer players"
    )
    players_open: bool = Field(
        False, description="take players from whoever reaches the port, beyond this machine too"
    )
    players_answer_s: float = Field(
        5.0, ge=0.05, le=600, description="seconds that a remote player's answer may take"
    )
    players_replacement: str = Field(
        "greedy",
        description="NAME or NAME:LEVEL of the player that decides where a remote one doesn't",
    )
    players_faults_max: int = Field(
        5, ge=1, le=1_000_000, description="faults in a row by which a remote player is withdrawn"
    )
    players_withdrawn_s: float = Field(
        60.0, ge=0.1, le=86_400, description="seconds for which it isn't asked then"
    )
    players_max: int = Field(100, ge=1, le=10_000, description="remote players known at a time")
    player_connections_max: int = Field(
        32, ge=1, le=10_000, description="connections of one remote player"
    )
    player_decisions_max: int = Field(
        64, ge=1, le=10_000, description="decisions asked for at a time over one of them"
    )

    message_bytes_max: int = Field(65_536, ge=1024, le=1 << 20, description="largest request")
    metadata_bytes_max: int = Field(8_192, ge=1024, le=65_536, description="largest metadata")
    calls_max: int = Field(1_000, ge=1, description="calls answered at a time")
    call_s: float = Field(
        30.0, gt=0, le=3_600, description="seconds for a call that comes without a deadline"
    )
    streams_max: int = Field(5_000, ge=1, description="watches and play streams at a time")
    streams_per_connection_max: int = Field(1_000, ge=1, description="HTTP/2 streams a connection")
    handles_max: int = Field(1_000, ge=1, description="seats attached to one play stream")
    watchers_max: int = Field(2_000, ge=1, description="watches of one table")
    caller_watchers_max: int = Field(
        500, ge=1, description="watches of one table by one token or, without one, one address"
    )
    backlog_max: int = Field(256, ge=16, description="events before a slow watcher skips ahead")
    caller_streams_max: int = Field(
        2_000, ge=0, description="watches and play streams of one address at a time; 0: any number"
    )
    caller_calls_per_s: int = Field(
        0, ge=0, description="calls and streams that one address may begin a second; 0: any number"
    )
    caller_tables_per_min: int = Field(
        600, ge=0, description="tables that one person or address may make a minute; 0: any number"
    )
    caller_tables_max: int = Field(
        5_000, ge=0, description="tables of one person or address that aren't over; 0: any number"
    )
    caller_ai_s_per_min: float = Field(
        0.0,
        ge=0,
        description="seconds of search a minute for the tables and analyses of one; 0: any number",
    )
    analyses_max: int = Field(8, ge=1, description="hints and reviews under way at a time")
    caller_analyses_max: int = Field(
        2, ge=1, description="hints and reviews of one person or address at a time"
    )
    connection_age_s: int = Field(1_800, ge=1, description="age at which a connection is ended")
    connection_grace_s: int = Field(60, ge=1, description="time its calls have left then")
    keepalive_s: int = Field(60, ge=1, description="silence after which a connection is pinged")
    keepalive_timeout_s: int = Field(20, ge=1, description="wait for the answer before it is ended")
    ping_interval_s: int = Field(10, ge=1, description="least time between two pings of a client")
    ping_strikes_max: int = Field(
        5, ge=1, description="pings too soon after which the connection is ended"
    )

    open_table_s: int = Field(86_400, ge=1, description="life of a table that isn't started")
    over_table_s: int = Field(30 * 86_400, ge=1, description="life of a table that is over")
    over_in_memory_max: int = Field(
        200,
        ge=1,
        description="tables that are over and still in memory, some 200 KiB each; the longest"
        " unasked for leaves first, and is read again when needed",
    )
    lease_s: float = Field(
        5.0, ge=0.5, le=60, description="after that long without a sign others act for a server"
    )
    look_s: float = Field(
        0.5, ge=0.05, le=60, description="between looks for what other servers did, hints apart"
    )
    stop_s: float = Field(20.0, gt=0, le=25, description="most time a graceful stop takes")

    tournaments_dir: Path | None = Field(
        None, description="folder of tournaments, of this server alone; none: it runs none"
    )
    tournaments_max: int = Field(1, ge=1, le=64, description="tournaments played at a time")
    tournament_processes_max: int = Field(1, ge=1, le=256, description="processes of a tournament")
    tournament_matches_max: int = Field(100_000, ge=1, description="most matches of a tournament")

    log_format: Literal["json", "console"] = Field("console", description="form of the log lines")
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="the least level that is logged"
    )

    @property
    def thread_count(self) -> int:
        """Threads for AI players."""
        return len(os.sched_getaffinity(0)) if self.ai_threads < 0 else self.ai_threads

    @property
    def acts(self) -> bool:
        """Whether the server acts for matches itself: AI players, clocks."""
        return self.ai_threads != 0

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Flags, then environment, then the file that `load` names."""
        file = TomlConfigSettingsSource(settings_cls, _FILE[-1] if _FILE else None)
        return init_settings, env_settings, file


_FILE: list[Path] = []  # pydantic-settings asks for the file while it makes the settings


def load(file: Path | None, **flags: object) -> Settings:
    """The settings; flags that are None count as not given. ValidationError says what is wrong, or
    OSError or ValueError about the file."""
    if file is None:
        return Settings(**{name: value for name, value in flags.items() if value is not None})  # type: ignore[arg-type]
    with file.open("rb"):
        pass  # one that isn't there would be passed over
    _FILE.append(file)
    try:
        return Settings(**{name: value for name, value in flags.items() if value is not None})  # type: ignore[arg-type]
    finally:
        _FILE.pop()
