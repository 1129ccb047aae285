"""The keys that an issuer publishes: fetched when needed, kept a while, never waited for long."""

from __future__ import annotations

import asyncio
import contextvars
import http.client
import json
import time
from collections.abc import Callable
from typing import Any, Final
from urllib import request as web

import jwt

DISCOVERY: Final = "/.well-known/openid-configuration"
DOCUMENT_BYTES_MAX = 1 << 20
COOLDOWN_S = 5.0  # between two fetches, whatever callers send
_KINDS = {"RS": "RSA", "PS": "RSA", "ES": "EC", "Ed": "OKP"}  # of a key, by its algorithm


class KeysUnavailable(Exception):
    """The issuer's keys can't be had; retry_s: when it is worth another try."""

    def __init__(self, message: str, retry_s: float) -> None:
        super().__init__(message)
        self.retry_s = retry_s


class UnknownKey(Exception):
    """The issuer publishes no such key."""


Fetch = Callable[[str, float], Any]


class PublishedKeys:
    """The keys of one issuer, by their ids.

    They are fetched again when they are older than `keys_s`, and when a key is asked for that isn't
    among them, as after a change of keys. Whatever happens, the issuer is asked at most once in
    COOLDOWN_S, and nobody waits for it longer than `timeout_s`.
    """

    def __init__(
        self, url: str, issuer: str, *, keys_s: float, timeout_s: float, fetch: Fetch | None = None
    ) -> None:
        """url: of the key set; empty: the issuer's discovery document names it."""
        self._url = url
        self._issuer = issuer
        self._keys_s = keys_s
        self._timeout_s = timeout_s
        self._fetch = fetch or fetched_json
        self._keys: list[dict[str, Any]] = []
        self._fetched_at = float("-inf")
        self._asked_at = float("-inf")
        self._asking: asyncio.Task[None] | None = None

    async def key(self, key_id: str | None, algorithm: str) -> jwt.PyJWK:
        """The key with this id for this algorithm. UnknownKey or KeysUnavailable."""
        if time.monotonic() - self._fetched_at > self._keys_s:
            await self._renew()
        found = self._find(key_id, algorithm)
        if found is None and self._may_ask():
            await self._renew()
            found = self._find(key_id, algorithm)
        if found is None:
            raise UnknownKey
        return jwt.PyJWK(found, algorithm)

    def _find(self, key_id: str | None, algorithm: str) -> dict[str, Any] | None:
        """The key if it is one for signatures by that algorithm; without an id, the only one."""
        kind = _KINDS[algorithm[:2]]
        fitting = [
            key
            for key in self._keys
            if key.get("kty") == kind
            and key.get("use", "sig") == "sig"
            and key.get("alg", algorithm) == algorithm
            and (key_id is None or key.get("kid") == key_id)
        ]
        return fitting[0] if len(fitting) == 1 else None

    def _may_ask(self) -> bool:
        return self._asking is not None or time.monotonic() - self._asked_at >= COOLDOWN_S

    async def _renew(self) -> None:
        """Have the keys as they are now, asking once for all who wait."""
        if not self._may_ask():
            left = COOLDOWN_S - (time.monotonic() - self._asked_at)
            raise KeysUnavailable("they couldn't be had a moment ago", max(left, 0.1))
        if self._asking is None:
            self._asked_at = time.monotonic()
            # In a context of its own: others than this call may wait for it.
            self._asking = asyncio.get_running_loop().create_task(
                self._ask(), context=contextvars.Context()
            )
            self._asking.add_done_callback(self._asked)
        try:
            await asyncio.shield(self._asking)
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise KeysUnavailable(str(error) or type(error).__name__, COOLDOWN_S) from error

    def _asked(self, task: asyncio.Task[None]) -> None:
        self._asking = None
        if not task.cancelled():
            task.exception()  # everybody who waited may have gone

    async def _ask(self) -> None:
        # A name server that doesn't answer isn't bound by the fetch's own time limit.
        async with asyncio.timeout(self._timeout_s):
            self._keys = await asyncio.to_thread(self._published, time.monotonic())
        self._fetched_at = time.monotonic()

    def _published(self, began: float) -> list[dict[str, Any]]:
        until = began + self._timeout_s
        url = self._url
        if not url:
            found = self._fetch(self._issuer.rstrip("/") + DISCOVERY, until)
            if found.get("issuer") != self._issuer:
                raise ValueError(f"{DISCOVERY} is of the issuer {found.get('issuer')!r}")
            url = str(found.get("jwks_uri"))
            if url.startswith("http:") and not self._issuer.startswith("http:"):
                raise ValueError(f"the issuer's keys are at {url}, which isn't https")
        keys = self._fetch(url, until).get("keys")
        if not isinstance(keys, list):
            raise ValueError(f"{url} has no list of keys")
        return [key for key in keys if isinstance(key, dict)]


class _NoRedirect(web.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        """Keys are where the operator says, and nowhere else."""


def fetched_json(url: str, until: float) -> dict[str, Any]:
    """The JSON object at an address. OSError or ValueError; `until`: by the monotonic clock."""
    if not url.startswith(("https://", "http://")):
        raise ValueError(f"{url!r} is no web address")
    opener = web.build_opener(_NoRedirect)
    left = max(until - time.monotonic(), 0.001)
    made = bytearray()
    with opener.open(url, timeout=left) as body:
        while piece := body.read1(65_536):
            made += piece
            if len(made) > DOCUMENT_BYTES_MAX or time.monotonic() > until:
                raise ValueError(f"{url} is too large or too slow")
    found = json.loads(made)
    if not isinstance(found, dict):
        raise ValueError(f"{url} is no JSON object")
    return found
