"""How a command reaches a server: what the server has to prove, and what the command shows it.

What is shown can also stand in the environment, for all commands: TAVOLATA_CLIENT_CERT,
TAVOLATA_CLIENT_KEY and TAVOLATA_IDENTITY name files.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    import grpc

CERT, KEY, IDENTITY = "TAVOLATA_CLIENT_CERT", "TAVOLATA_CLIENT_KEY", "TAVOLATA_IDENTITY"


def from_environment(name: str) -> Path | None:
    """The file that a variable names."""
    return Path(found) if (found := os.environ.get(name)) else None


def credentials(
    tls: bool, ca: Path | None, cert: Path | None = None, key: Path | None = None
) -> grpc.ChannelCredentials | None:
    """What the server has to prove, and what it is shown; None: plain text. OSError.

    ca: PEM file with the certificates to trust; None: those that gRPC brings. cert, key: PEM files
    of the client.
    """
    import grpc

    if not (tls or ca or cert):
        return None
    return grpc.ssl_channel_credentials(
        ca.read_bytes() if ca else None,
        key.read_bytes() if key else None,
        cert.read_bytes() if cert else None,
    )


def check(ca: Path | None, cert: Path | None, key: Path | None) -> None:
    """BadParameter unless the files hold what they should: gRPC would only say that nobody
    answers."""
    if bool(cert) != bool(key):
        raise typer.BadParameter("a certificate and its key go together: --tls-cert and --tls-key")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if ca is not None:
        _check(ca, "--tls-ca", "with certificates", lambda: context.load_verify_locations(ca))
    if cert is not None and key is not None:
        _check(
            cert,
            "--tls-cert",
            f"with a certificate for the key in {key}",
            lambda: context.load_cert_chain(cert, key),
        )


def _check(file: Path, option: str, what: str, load: Callable[[], None]) -> None:
    try:
        load()
    except OSError as error:  # SSLError is one
        why = f"is no PEM file {what}" if isinstance(error, ssl.SSLError) else error
        raise typer.BadParameter(f"{file}: {why}", param_hint=option) from None


def identity_in(file: Path | None) -> Callable[[], str] | None:
    """Reads the JWT in a file, anew for every call, as somebody may renew it; None without one."""
    return None if file is None else lambda: file.read_text().strip()
