"""Who may offer players: whoever has the token, an identity, a certificate; else programs of this
machine, if nobody else reaches the server."""

from __future__ import annotations

import hashlib
import hmac
from typing import Any, Final

from tavolata.service.binding import is_local
from tavolata.service.calls import token_of
from tavolata.service.identity import Identities
from tavolata.service.players.opening import PlayersRefused
from tavolata.service.refusals import Refused
from tavolata.service.settings import Settings
from tavolata.v1.errors_pb2 import ErrorReason

TOKEN_MIN = 16
ALLOWED: Final = "authorization: Bearer TOKEN, of this server's players_token_file"


class Admission:
    """Tells who offers a player."""

    def __init__(self, settings: Settings, identities: Identities) -> None:
        """PlayersRefused if the token can't be read, or could be guessed."""
        self._identities = identities
        self._known = settings.identity != "off"
        self._certified = settings.tls_client_ca is not None
        self._open = settings.players_open or is_local(settings.bind)
        self._token = b""
        file = settings.players_token_file
        if file is not None:
            try:
                self._token = file.read_bytes().strip()
            except OSError as error:
                raise PlayersRefused(f"players_token_file {file}: {error.strerror}") from error
            if len(self._token) < TOKEN_MIN:
                raise PlayersRefused(
                    f"the token in {file} has {len(self._token)} characters; allowed:"
                    f" {TOKEN_MIN} or more"
                )

    async def owner(self, context: Any) -> str:
        """A digest of who calls, within which names are its own; those with the token share one.
        Refused as PlayerService.Serve says."""
        if self._token:
            sent = (token_of(context) or "").encode(errors="surrogatepass")
            if hmac.compare_digest(sent, self._token):
                return "token"
        if self._known:
            return (await self._identities.needed_subject(context)).hex()
        if self._certified and (shown := context.peer_identities()):
            return hashlib.sha256(b"\0".join(sorted(shown))).hexdigest()
        if self._token:
            raise _bad_token()
        if self._open:
            return ""
        raise _closed()


def _bad_token() -> Refused:
    return Refused(
        ErrorReason.ERROR_REASON_BAD_PLAYERS_TOKEN,
        f"this server takes players from those who have its token; send `{ALLOWED}`",
        {"allowed": ALLOWED},
    )


def _closed() -> Refused:
    allowed = "players_token_file, identity, tls_client_ca or players_open"
    return Refused(
        ErrorReason.ERROR_REASON_PLAYERS_CLOSED,
        "this server can be reached from other machines and takes players from nobody; its operator"
        f" can set: {allowed}",
        {"allowed": allowed},
    )
