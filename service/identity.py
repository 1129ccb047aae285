"""Who a caller is beyond a token: a JWT of an OpenID Connect issuer, as far as the settings say.

A token is the right to a seat; an identity is whose seat it is. Only a digest of issuer and subject
goes further than this module.
"""

from __future__ import annotations

import hashlib
import ipaddress
from collections.abc import Collection
from typing import Any, Final, Literal
from urllib.parse import urlsplit

import jwt
import structlog

from tavolata.service.calls import bearer_in
from tavolata.service.identity_keys import KeysUnavailable, PublishedKeys, UnknownKey
from tavolata.service.refusals import Refused
from tavolata.service.settings import Settings
from tavolata.v1.errors_pb2 import ErrorReason

log = structlog.get_logger(__name__)
HEADER: Final = "x-tavolata-identity"
ALLOWED: Final = f"{HEADER}: Bearer JWT"
SUBJECT_CHARS_MAX = 255  # by OpenID Connect
_CLAIMS = ("exp", "iss", "aud", "sub")

# What is told of a token that PyJWT refuses; the first that fits.
_PROBLEMS: tuple[tuple[type[Exception], str], ...] = (
    (jwt.ExpiredSignatureError, "expired"),
    (jwt.ImmatureSignatureError, "not valid yet"),
    (jwt.InvalidIssuerError, "of another issuer"),
    (jwt.InvalidAudienceError, "for another audience"),
    (jwt.MissingRequiredClaimError, "without a claim that is needed"),
    (jwt.InvalidAlgorithmError, "signed by an algorithm that isn't allowed"),
    (jwt.InvalidSignatureError, "with a wrong signature"),
    (jwt.DecodeError, "malformed"),
)


class IdentityRefused(Exception):
    """The settings can't be used: the message says why."""


class Identities:
    """Reads and checks the identity of callers."""

    def __init__(
        self,
        mode: Literal["off", "optional", "required"] = "off",
        issuer: str = "",
        audience: str = "",
        keys: PublishedKeys | None = None,
        algorithms: Collection[str] = (),
        leeway_s: float = 0.0,
    ) -> None:
        """algorithms: those a signature may have, none of them with a shared secret; leeway_s: by
        how much the clocks of issuer and server may differ."""
        self._mode = mode
        self._issuer = issuer
        self._audience = audience
        self._keys = keys
        self._algorithms = tuple(algorithms)
        self._leeway_s = leeway_s

    async def subject_of(self, context: Any, *, needed: bool = True) -> bytes:
        """A digest of who calls, empty if that isn't known. Refused with BAD_IDENTITY or
        IDENTITY_UNAVAILABLE, and with MISSING_IDENTITY if the server requires one and the call
        needs it."""
        if self._mode == "off" or self._keys is None:
            return b""
        sent = bearer_in(context, HEADER)
        if sent is None:
            if needed and self._mode == "required":
                raise _missing()
            return b""
        subject = await self._checked(sent)
        return hashlib.sha256(f"{self._issuer}\0{subject}".encode()).digest()

    async def needed_subject(self, context: Any) -> bytes:
        """As `subject_of`, and refused with MISSING_IDENTITY wherever there is none."""
        subject = await self.subject_of(context)
        if not subject:
            raise _missing()
        return subject

    async def _checked(self, token: str) -> str:
        """The subject of a token that is right in every respect."""
        assert self._keys is not None  # noqa: S101
        try:
            header = jwt.get_unverified_header(token)
        except (jwt.PyJWTError, ValueError) as error:
            raise _bad("malformed") from error
        algorithm = header.get("alg")
        if algorithm not in self._algorithms:
            raise _bad("signed by an algorithm that isn't allowed")
        try:
            key = await self._keys.key(header.get("kid"), algorithm)
            claims = jwt.decode(
                token,
                key,
                algorithms=[algorithm],
                audience=self._audience,
                issuer=self._issuer,
                leeway=self._leeway_s,
                options={"require": list(_CLAIMS), "enforce_minimum_key_length": True},
            )
        except KeysUnavailable as error:
            log.warning("identity.keys_unavailable", error=str(error))
            raise _unavailable(error.retry_s) from error
        except UnknownKey as error:
            raise _bad("signed with a key that the issuer doesn't publish") from error
        except (jwt.PyJWTError, ValueError, OverflowError) as error:
            raise _bad(_problem(error)) from error
        subject: str = claims["sub"]
        if not 1 <= len(subject) <= SUBJECT_CHARS_MAX:
            raise _bad("without a subject")
        return subject


def _problem(error: Exception) -> str:
    return next((told for kind, told in _PROBLEMS if isinstance(error, kind)), "malformed")


def identities(settings: Settings) -> Identities:
    """The identities that the settings ask for; IdentityRefused if they can't be had that way."""
    if settings.identity == "off":
        return Identities()
    for name in ("identity_issuer", "identity_audience"):
        if not getattr(settings, name):
            raise IdentityRefused(f"identity = {settings.identity} needs {name}")
    for name in ("identity_issuer", "identity_jwks_url"):
        _check_url(name, getattr(settings, name))
    keys = PublishedKeys(
        settings.identity_jwks_url,
        settings.identity_issuer,
        keys_s=settings.identity_keys_s,
        timeout_s=settings.identity_timeout_s,
    )
    return Identities(
        settings.identity,
        settings.identity_issuer,
        settings.identity_audience,
        keys,
        settings.identity_algorithms,
        settings.identity_leeway_s,
    )


def _check_url(name: str, url: str) -> None:
    """Keys that came in the open would be anybody's."""
    parts = urlsplit(url)
    if not url or (parts.scheme == "https" and parts.hostname):
        return
    if not (parts.scheme == "http" and _is_here(parts.hostname or "")):
        raise IdentityRefused(
            f"{name} is {url!r}; allowed: an https address, or http on this machine"
        )


def _is_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _missing() -> Refused:
    return Refused(
        ErrorReason.ERROR_REASON_MISSING_IDENTITY,
        f"this server gives places to people with an identity; send it as the header `{ALLOWED}`",
        {"allowed": ALLOWED},
    )


def _bad(problem: str) -> Refused:
    allowed = f"`{ALLOWED}`, valid now, of this server's issuer and for it"
    return Refused(
        ErrorReason.ERROR_REASON_BAD_IDENTITY,
        f"the identity that was sent is {problem}; allowed: {allowed}",
        {"problem": problem, "allowed": allowed},
    )


def _unavailable(retry_s: float) -> Refused:
    return Refused(
        ErrorReason.ERROR_REASON_IDENTITY_UNAVAILABLE,
        "the identity can't be checked, as the keys of its issuer can't be had at present",
        retry_delay=retry_s,
    )
