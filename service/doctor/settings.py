"""Settings that contradict each other, addresses, TLS files."""

from __future__ import annotations

import errno
import ipaddress
import socket
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from cryptography import x509

from tavolata.service.binding import BindRefused, check_bind
from tavolata.service.doctor.finding import Finding, fail, ok, warn
from tavolata.service.identity import IdentityRefused, identities
from tavolata.service.settings import Settings

SOON = timedelta(days=21)


def look(settings: Settings) -> Iterator[Finding]:
    """All findings."""
    try:
        check_bind(settings)
        identities(settings)
    except (BindRefused, IdentityRefused) as error:
        yield fail("settings", str(error), "change these settings; a server refuses to start")
    yield from contradictions(settings)
    yield address("bind", settings.bind, reused=settings.reuse_port)
    if settings.metrics_bind:
        yield address("metrics_bind", settings.metrics_bind)
        if not _is_local(settings.metrics_bind):
            yield warn(
                "metrics_bind",
                f"{settings.metrics_bind} can be reached from other machines without a password",
                "see to it that only what looks after the server can reach it, or use 127.0.0.1",
            )
    if settings.tls_cert and settings.tls_key:
        yield certificate(settings, datetime.now(UTC))


def contradictions(settings: Settings) -> Iterator[Finding]:
    """What is allowed, and can't be meant."""
    defaults = Settings.model_fields
    for wrong, says, advice in (
        (
            settings.store and settings.db != defaults["db"].default,
            "both store and db are set: the file is not used",
            "remove one of them",
        ),
        (
            not settings.store and settings.bus == "off",
            "bus = off has no effect on a SQLite file",
            "remove it",
        ),
        (
            settings.caller_watchers_max > settings.watchers_max,
            "one caller may watch a table more often than all together",
            "caller_watchers_max not above watchers_max",
        ),
        (
            settings.store and settings.look_s > settings.lease_s,
            "other servers are looked at less often than a lease lasts",
            "look_s below lease_s",
        ),
        (
            settings.insecure_public and settings.tls_cert,
            "insecure_public has no effect with TLS",
            "remove it",
        ),
        (
            settings.probe_within_s > settings.probe_s,
            "a probe may take longer than the time between two",
            "probe_within_s not above probe_s",
        ),
        (
            settings.tournaments_dir is not None and not settings.tournaments_dir.parent.is_dir(),
            f"the folder around tournaments_dir = {settings.tournaments_dir} isn't there",
            "make it, or name another",
        ),
    ):
        if wrong:
            yield warn("settings", says, advice)


def _is_local(bind: str) -> bool:
    host = bind.rpartition(":")[0].strip("[]")
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def address(check: str, bind: str, *, reused: bool = False) -> Finding:
    """Whether an address can be listened on."""
    host, _, port = bind.rpartition(":")
    host = host.strip("[]")
    if bind.startswith("unix") or not port.isdigit():
        return ok(check, bind)
    kind = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(kind, socket.SOCK_STREAM) as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if reused:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        try:
            tried.bind((host, int(port)))
        except (OSError, OverflowError) as error:
            if getattr(error, "errno", None) == errno.EADDRINUSE:
                says = f"{bind} is taken, by a server that runs already or by another program"
                return warn(check, says, f"stop that, or set another {check}")
            return fail(check, f"{bind}: {error}", f"set another {check}")
    return ok(check, f"{bind} is free")


def certificate(settings: Settings, now: datetime) -> Finding:
    """Whether certificate and key can be read, belong together, and are valid for a while."""
    cert, key = settings.tls_cert, settings.tls_key
    assert cert is not None  # noqa: S101
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(cert, key, password="")
        chain = x509.load_pem_x509_certificates(cert.read_bytes())
        if settings.tls_client_ca is not None:
            x509.load_pem_x509_certificates(settings.tls_client_ca.read_bytes())
    except (OSError, ValueError) as error:  # an SSLError is an OSError
        return fail(
            "tls", f"{cert}, {key}: {error}", "name a PEM chain and its key, without a word"
        )
    ends = min(each.not_valid_after_utc for each in chain)
    begins = max(each.not_valid_before_utc for each in chain)
    says = f"{cert} is valid until {ends:%Y-%m-%d}"
    if now > ends:
        return fail("tls", f"{cert} has expired on {ends:%Y-%m-%d}", "renew it")
    if now < begins:
        return fail("tls", f"{cert} is valid from {begins:%Y-%m-%d} on", "check the clock, or wait")
    if now > ends - SOON:
        return warn("tls", says, "renew it")
    return ok("tls", says)
