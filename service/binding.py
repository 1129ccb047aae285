"""Where a server may listen, and what its transport is told."""

from __future__ import annotations

import ipaddress

from tavolata.service.settings import Settings

# A request beyond our own limit gets a reason; one beyond this is refused by the transport.
TRANSPORT_BYTES = 4 << 20


class BindRefused(Exception):
    """The address can't, or must not, be listened on."""


def check_bind(settings: Settings) -> None:
    """BindRefused for an address beyond this machine without TLS, unless told so."""
    if bool(settings.tls_cert) != bool(settings.tls_key):
        raise BindRefused("TLS needs both tls_cert and tls_key")
    if settings.tls_client_ca and not settings.tls_cert:
        raise BindRefused("tls_client_ca needs TLS: set tls_cert and tls_key")
    if not (settings.insecure_public or settings.tls_cert or is_local(settings.bind)):
        raise BindRefused(
            f"{settings.bind} can be reached from other machines, and without TLS everyone on the "
            "way reads the tokens: set tls_cert and tls_key, bind to 127.0.0.1, or say "
            "--insecure-public if something in front of it takes care of that"
        )


def is_local(bind: str) -> bool:
    """Whether only programs of this machine reach an address."""
    if bind.startswith(("unix:", "unix-abstract:")):
        return True
    host = bind.rpartition(":")[0].strip("[]")
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def transport_options(settings: Settings) -> list[tuple[str, int]]:
    """What gRPC is told of sizes, ages and pings."""
    return [
        ("grpc.so_reuseport", int(settings.reuse_port)),
        ("grpc.max_receive_message_length", TRANSPORT_BYTES),
        ("grpc.max_metadata_size", settings.metadata_bytes_max),
        # The same, as between the two the transport would refuse at random.
        ("grpc.absolute_max_metadata_size", settings.metadata_bytes_max),
        ("grpc.max_concurrent_streams", settings.streams_per_connection_max),
        ("grpc.max_connection_age_ms", settings.connection_age_s * 1000),
        ("grpc.max_connection_age_grace_ms", settings.connection_grace_s * 1000),
        ("grpc.http2.min_recv_ping_interval_without_data_ms", settings.ping_interval_s * 1000),
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.keepalive_time_ms", settings.keepalive_s * 1000),
        ("grpc.keepalive_timeout_ms", settings.keepalive_timeout_s * 1000),
        ("grpc.http2.max_ping_strikes", settings.ping_strikes_max),
    ]
