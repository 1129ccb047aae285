"""An issuer of identities for tests: real keys, published by a real HTTP server."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from tavolata.service.identity import HEADER
from tests.service.house import bearer

AUDIENCE = "tavolata-test"


@dataclass
class Issuer:
    """An issuer of identities, with its keys published over HTTP."""

    keys: dict[str, Any] = field(default_factory=dict)  # private ones, by id
    extra: list[dict[str, Any]] = field(default_factory=list)  # published besides
    asked: list[str] = field(default_factory=list)  # paths
    status: int = 200
    url: str = ""

    def published(self) -> dict[str, Any]:
        """The key set."""
        found = []
        for key_id, key in self.keys.items():
            algorithm = jwt.get_algorithm_by_name(algorithm_of(key))
            public = algorithm.to_jwk(key.public_key(), as_dict=True)
            found.append({**public, "kid": key_id, "use": "sig"})
        return {"keys": [*found, *self.extra]}

    def token(self, subject: str = "ada", *, key: str = "", **claims: Any) -> str:
        """A JWT that is right but for these claims; None leaves one out."""
        key = key or next(iter(self.keys))
        now = int(time.time())
        right = {"iss": self.url, "aud": AUDIENCE, "sub": subject, "iat": now, "exp": now + 600}
        content = {name: value for name, value in (right | claims).items() if value is not None}
        private = self.keys[key]
        return jwt.encode(content, private, algorithm_of(private), headers={"kid": key})


def algorithm_of(key: Any) -> str:
    """The algorithm that goes with a key."""
    if isinstance(key, rsa.RSAPrivateKey):
        return "RS256"
    return "ES256" if isinstance(key, ec.EllipticCurvePrivateKey) else "EdDSA"


@contextmanager
def issuing() -> Iterator[Issuer]:
    """An issuer with one key, on a socket."""
    made = Issuer({"first": ed25519.Ed25519PrivateKey.generate()})

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            made.asked.append(self.path)
            body: Any = made.published()
            if self.path.startswith("/.well-known"):
                body = {"issuer": made.url, "jwks_uri": f"{made.url}/keys"}
            elif self.path == "/moved":
                self.send_response(302)
                self.send_header("Location", f"{made.url}/keys")
                self.end_headers()
                return
            self.send_response(made.status)
            self.end_headers()
            self.wfile.write(json.dumps(body).encode())

        def log_message(self, *_: Any) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    made.url = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield made
    server.shutdown()
    server.server_close()
    thread.join()


def flags_of(issuer: Issuer, **flags: Any) -> dict[str, Any]:
    """Settings of a server that takes this issuer's identities."""
    return {
        "identity": "required",
        "identity_issuer": issuer.url,
        "identity_audience": AUDIENCE,
        "identity_leeway_s": 2.0,
    } | flags


def known(identity: str | None, token: str | None = None) -> tuple[tuple[str, str], ...]:
    """The metadata that carries an identity, and a token."""
    return bearer(token) + (() if identity is None else ((HEADER, f"Bearer {identity}"),))
