"""Identity: JWTs checked by the keys of a real issuer on a socket, and what they are good for."""

from __future__ import annotations

import asyncio
import base64
import json
import socket
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import grpc
import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from tavolata import client
from tavolata.client import connect, open_seat, person
from tavolata.client import settings as table_settings
from tavolata.service import identity_keys, settings
from tavolata.service.cli.reach import identity_in
from tavolata.service.identity import HEADER, IdentityRefused, identities
from tavolata.service.server import Server
from tavolata.v1 import table_service_pb2 as pb
from tavolata.v1 import tournament_service_pb2
from tavolata.v1.event_pb2 import ClosingReason
from tavolata.v1.table_pb2 import SeatControl, SeatPlan, TableSettings
from tavolata.v1.tournament_service_pb2_grpc import TournamentServiceStub
from tests.service.house import (
    AI,
    CALLER,
    OPEN,
    House,
    fresh_id,
    house_in,
    refused,
)
from tests.service.issuer import AUDIENCE, Issuer, flags_of, issuing, known

NOBODY = grpc.StatusCode.UNAUTHENTICATED


@pytest.fixture(scope="module")
def rsa_key() -> rsa.RSAPrivateKey:
    """One for all, as they take long to make."""
    return rsa.generate_private_key(65537, 2048)


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    """An issuer with one key, on a socket."""
    with issuing() as made:
        yield made


@pytest.fixture
async def club(issuer: Issuer, tmp_path: Path) -> AsyncIterator[House]:
    """A server that wants identities."""
    async with house_in(tmp_path, **flags_of(issuer)) as house:
        yield house


async def create(
    house: House, identity: str | None, *plans: SeatPlan, request_id: str = ""
) -> pb.CreateTableResponse:
    """A table made by somebody."""
    request = pb.CreateTableRequest(
        request_id=request_id or fresh_id(),
        settings=TableSettings(game_id="bouillabaisse"),
        seats=plans or (CALLER, OPEN),
    )
    return await house.stub.CreateTable(request, metadata=known(identity))


async def join(
    house: House,
    table_id: str,
    identity: str | None,
    *,
    token: str | None = None,
    request_id: str = "",
    seat: int | None = None,
) -> pb.JoinTableResponse:
    """A seat taken by somebody."""
    request = pb.JoinTableRequest(request_id=request_id or fresh_id(), table_id=table_id, seat=seat)
    return await house.stub.JoinTable(request, metadata=known(identity, token))


# -- which identities are taken -------------------------------------------------------------------


async def test_only_somebody_with_an_identity_gets_a_place_where_one_is_required(
    club: House, issuer: Issuer
) -> None:
    found = await refused(create(club, None))
    assert (found.code, found.reason) == (NOBODY, "MISSING_IDENTITY")
    assert found.metadata == {"allowed": f"{HEADER}: Bearer JWT"}
    made = await create(club, issuer.token())
    found = await refused(join(club, made.table.table_id, None))
    assert found.reason == "MISSING_IDENTITY"
    joined = await join(club, made.table.table_id, issuer.token("bob"))
    assert joined.seat == 1
    # The token alone is the right to the seat.
    back = await join(club, made.table.table_id, None, token=joined.token)
    assert (back.seat, back.token) == (1, "")
    await club.start(made.table.table_id, made.token)
    assert (await club.view(made.table.table_id, made.token)).viewer_seat == 0


async def test_tournaments_are_made_and_ended_by_people_with_an_identity_only(
    club: House, issuer: Issuer
) -> None:
    stub: Any = TournamentServiceStub(club.channel)
    calls = (
        (stub.CreateTournament, tournament_service_pb2.CreateTournamentRequest()),
        (stub.CancelTournament, tournament_service_pb2.CancelTournamentRequest()),
    )
    for call, request in calls:
        assert (await refused(call(request))).reason == "MISSING_IDENTITY"
        found = await refused(call(request, metadata=known(issuer.token())))
        assert found.reason == "TOURNAMENTS_OFF"


async def test_where_an_identity_is_optional_it_may_be_left_out_but_not_be_wrong(
    issuer: Issuer, tmp_path: Path
) -> None:
    async with house_in(tmp_path, **flags_of(issuer, identity="optional")) as house:
        made = await create(house, None)
        assert (await join(house, made.table.table_id, issuer.token())).seat == 1
        found = await refused(create(house, issuer.token(exp=1)))
        assert (found.reason, found.metadata["problem"]) == ("BAD_IDENTITY", "expired")


async def test_a_server_without_identities_reads_none(house: House) -> None:
    assert (await create(house, "nonsense")).token


def forged(header: dict[str, Any], claims: dict[str, Any], signature: bytes = b"") -> str:
    """A JWT put together by hand."""
    parts = [json.dumps(header).encode(), json.dumps(claims).encode(), signature]
    return ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts)


def wrong_ones(issuer: Issuer, rsa_key: rsa.RSAPrivateKey) -> dict[str, tuple[str, str]]:
    """Identities by what is wrong with them, each with the problem that must be told."""
    now = int(time.time())
    claims = {"iss": issuer.url, "aud": AUDIENCE, "sub": "ada", "iat": now, "exp": now + 600}
    issuer.keys["rsa"] = rsa_key
    public = rsa_key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    mac = jwt.get_algorithm_by_name("HS256")
    algorithm, key = "signed by an algorithm that isn't allowed", "wrong signature"
    good = issuer.token()
    other = Issuer({"first": ed25519.Ed25519PrivateKey.generate()}, url=issuer.url)
    unknown = Issuer({"nobody": ed25519.Ed25519PrivateKey.generate()}, url=issuer.url)

    def confused() -> str:
        """Signed with the public key as if it were a secret."""
        unsigned = forged({"alg": "HS256", "kid": "rsa"}, claims).rpartition(".")[0]
        return forged({"alg": "HS256", "kid": "rsa"}, claims, mac.sign(unsigned.encode(), public))

    return {
        "empty": ("", "malformed"),
        "no JWT": ("nonsense", "malformed"),
        "not signed": (forged({"alg": "none"}, claims), algorithm),
        "not signed, in capitals": (forged({"alg": "NONE", "kid": "first"}, claims), algorithm),
        "no algorithm": (forged({"kid": "first"}, claims), algorithm),
        "an algorithm that is no text": (forged({"alg": ["EdDSA"]}, claims), algorithm),
        "public key as a secret": (confused(), algorithm),
        "allowed algorithm, another's key": (
            forged({"alg": "RS256", "kid": "first"}, claims, b"x" * 256),
            "doesn't publish",
        ),
        "no signature": (good.rpartition(".")[0] + ".", key),
        "other content": (
            ".".join([good.split(".")[0], issuer.token("eve").split(".")[1], good.split(".")[2]]),
            key,
        ),
        "somebody else's key of that id": (other.token(), key),
        "unknown key": (unknown.token(), "doesn't publish"),
        "expired": (issuer.token(exp=now - 60), "expired"),
        "not valid yet": (issuer.token(nbf=now + 600), "not valid yet"),
        "of the future": (issuer.token(iat=now + 600), "not valid yet"),
        "another issuer": (issuer.token(iss="https://example.org"), "of another issuer"),
        "another audience": (issuer.token(aud="other"), "for another audience"),
        "no end": (issuer.token(exp=None), "without a claim"),
        "no audience": (issuer.token(aud=None), "without a claim"),
        "no issuer": (issuer.token(iss=None), "without a claim"),
        "no subject": (issuer.token(sub=None), "without a claim"),
        "an empty subject": (issuer.token(""), "without a subject"),
        "a long subject": (issuer.token("x" * 256), "without a subject"),
        "an end that is no number": (issuer.token(exp="soon"), "malformed"),
        "an end beyond numbers": (issuer.token(exp=1e400), "malformed"),
    }


async def test_every_wrong_identity_is_refused_with_what_is_wrong_and_changes_nothing(
    club: House, issuer: Issuer, rsa_key: rsa.RSAPrivateKey
) -> None:
    made = await create(club, issuer.token())
    before = club.rows("SELECT * FROM entries")
    for name, (identity, problem) in wrong_ones(issuer, rsa_key).items():
        for call in (create(club, identity), join(club, made.table.table_id, identity)):
            found = await refused(call)
            assert (found.code, found.reason) == (NOBODY, "BAD_IDENTITY"), name
            assert problem in found.metadata["problem"], name
            assert found.metadata["problem"] in found.message
            assert found.metadata["allowed"] in found.message
    request = pb.CreateTableRequest(request_id=fresh_id())
    malformed = await refused(club.stub.CreateTable(request, metadata=((HEADER, "Basic abc"),)))
    assert malformed.metadata["problem"] == "malformed"
    assert club.rows("SELECT * FROM entries") == before


async def test_clocks_may_differ_by_the_leeway(club: House, issuer: Issuer) -> None:
    now = int(time.time())
    assert (await create(club, issuer.token(exp=now, nbf=now + 1))).token


async def test_each_allowed_kind_of_key_is_taken_and_no_other(
    issuer: Issuer, tmp_path: Path, rsa_key: rsa.RSAPrivateKey
) -> None:
    issuer.keys = {
        "rsa": rsa_key,
        "curve": ec.generate_private_key(ec.SECP256R1()),
        "edwards": ed25519.Ed25519PrivateKey.generate(),
    }
    issuer.extra = [{"kty": "oct", "kid": "secret", "k": "c2VjcmV0"}, {"kid": "broken"}]
    async with house_in(
        tmp_path, **flags_of(issuer, identity_algorithms=("RS256", "ES256"))
    ) as house:
        assert (await create(house, issuer.token(key="rsa"))).token
        assert (await create(house, issuer.token(key="curve"))).token
        found = await refused(create(house, issuer.token(key="edwards")))
        assert "algorithm" in found.metadata["problem"]


# -- the issuer's keys ----------------------------------------------------------------------------


async def test_keys_are_asked_for_once_and_again_when_they_have_changed(
    club: House, issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    await asyncio.gather(*(create(club, issuer.token()) for _ in range(5)))
    assert issuer.asked == ["/.well-known/openid-configuration", "/keys"]
    old = issuer.token()
    issuer.keys = {"second": ed25519.Ed25519PrivateKey.generate()}
    # An unknown key doesn't make the server ask again and again ...
    found = await refused(create(club, issuer.token()))
    assert "doesn't publish" in found.metadata["problem"]
    assert len(issuer.asked) == 2
    # ... but after a moment it does, and the old key is gone then.
    monkeypatch.setattr(identity_keys, "COOLDOWN_S", 0.0)
    assert (await create(club, issuer.token())).token
    assert (await refused(create(club, old))).reason == "BAD_IDENTITY"


async def test_keys_are_asked_for_again_when_they_are_old(issuer: Issuer, tmp_path: Path) -> None:
    async with house_in(
        tmp_path, **flags_of(issuer, identity_jwks_url=f"{issuer.url}/keys", identity_keys_s=1)
    ) as house:
        keys = house.server._identities._keys  # type: ignore[union-attr]
        assert keys is not None
        await create(house, issuer.token())
        assert issuer.asked == ["/keys"]
        keys._fetched_at -= 2
        keys._asked_at -= 2 * identity_keys.COOLDOWN_S
        issuer.status = 500
        found = await refused(create(house, issuer.token()))
        assert (found.code, found.reason) == (
            grpc.StatusCode.UNAVAILABLE,
            "IDENTITY_UNAVAILABLE",
        )
        assert found.retry
        issuer.status = 200
        keys._asked_at -= 2 * identity_keys.COOLDOWN_S
        assert (await create(house, issuer.token())).token


async def test_an_issuer_that_never_answers_is_a_refusal_and_no_hang(
    issuer: Issuer, tmp_path: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/keys"
        async with house_in(
            tmp_path, **flags_of(issuer, identity_jwks_url=url, identity_timeout_s=0.1)
        ) as house:
            asked = (create(house, issuer.token()) for _ in range(3))
            for found in await asyncio.gather(*map(refused, asked)):
                assert found.reason == "IDENTITY_UNAVAILABLE"
            # Those who come later aren't kept waiting for the same answer.
            silent.close()
            assert (await refused(create(house, issuer.token()))).retry


@pytest.mark.parametrize("path", ["moved", "nothing"])
async def test_keys_are_read_where_the_settings_say_and_as_json_only(
    issuer: Issuer, tmp_path: Path, path: str
) -> None:
    issuer.status = 200 if path == "moved" else 404
    flags = flags_of(issuer, identity_jwks_url=f"{issuer.url}/{path}")
    async with house_in(tmp_path, **flags) as house:
        found = await refused(create(house, issuer.token()))
        assert found.reason == "IDENTITY_UNAVAILABLE"


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"identity_issuer": ""}, "needs identity_issuer"),
        ({"identity_audience": ""}, "needs identity_audience"),
        ({"identity_issuer": "http://example.org"}, "https"),
        ({"identity_jwks_url": "http://192.0.2.1/keys"}, "https"),
        ({"identity_jwks_url": "file:///etc/passwd"}, "https"),
        ({"identity_jwks_url": "https:"}, "https"),
    ],
)
async def test_settings_that_give_no_safe_identity_are_refused(
    tmp_path: Path, changed: dict[str, str], said: str
) -> None:
    right = {"identity_issuer": "https://example.org", "identity_audience": AUDIENCE}
    chosen = settings.load(None, identity="required", db=tmp_path / "t.db", **(right | changed))
    with pytest.raises(IdentityRefused, match=said):
        identities(chosen)
    with pytest.raises(IdentityRefused, match=said):
        await Server(chosen).start()


@pytest.mark.parametrize("algorithm", ["none", "HS256", "HS512"])
def test_algorithms_with_a_shared_secret_or_none_cant_be_set(algorithm: str) -> None:
    with pytest.raises(ValueError, match="identity_algorithms"):
        settings.load(None, identity_algorithms=(algorithm,))


# -- whose seat it is -----------------------------------------------------------------------------


async def test_somebody_whose_token_is_lost_gets_the_seat_back_and_the_token_is_void(
    club: House, issuer: Issuer
) -> None:
    made = await create(club, issuer.token())
    table_id = made.table.table_id
    lost = (await join(club, table_id, issuer.token("bob"))).token
    await club.start(table_id, made.token)
    before = await club.view(table_id, lost)
    await club.leave(table_id, lost)
    watch = club.watch(table_id, lost)
    await watch.read()

    found = await join(club, table_id, issuer.token("bob"), request_id="again")
    assert found.seat == 1
    assert found.token not in ("", lost)
    assert found.table.seats[1].control == SeatControl.SEAT_CONTROL_OCCUPANT
    messages = []
    while (message := await watch.read()) is not grpc.aio.EOF:
        messages.append(message)
    assert messages[-1].closing.reason == ClosingReason.CLOSING_REASON_TOKEN_VOID
    assert (await refused(club.view(table_id, lost))).reason == "BAD_TOKEN"
    # A lost answer is asked for again, and the token of before is void then.
    again = await join(club, table_id, issuer.token("bob"), request_id="again")
    assert again.seat == 1
    assert again.token != found.token
    assert (await refused(club.view(table_id, found.token))).reason == "BAD_TOKEN"
    after = await club.view(table_id, again.token)
    assert after.viewer_seat == 1
    had, has = (set(each.game.bouillabaisse.seats[1].hand.cards) for each in (before, after))
    assert has
    assert has <= had  # the stand-in may have played one meanwhile
    used = await refused(join(club, table_id, issuer.token("bob"), request_id="again"))
    assert used.reason == "REQUEST_ID_REUSED"

    await club.restart()
    fresh = await join(club, table_id, issuer.token("bob"))
    assert fresh.seat == 1
    assert (await refused(club.view(table_id, again.token))).reason == "BAD_TOKEN"
    assert (await club.view(table_id, fresh.token)).viewer_seat == 1


async def test_nobody_gets_anybody_elses_seat_or_token(club: House, issuer: Issuer) -> None:
    made = await create(club, issuer.token(), request_id="make")
    table_id = made.table.table_id
    joined = await join(club, table_id, issuer.token("bob"), request_id="join")
    # The answers of others can't be asked for again, even with their request ids.
    for call in (
        create(club, issuer.token("eve"), request_id="make"),
        join(club, table_id, issuer.token("eve"), request_id="join"),
    ):
        assert (await refused(call)).reason == "REQUEST_ID_REUSED"
    assert (await refused(join(club, table_id, issuer.token("eve")))).reason == "TABLE_FULL"
    # Nor has anybody two seats.
    found = await refused(join(club, table_id, issuer.token("bob"), seat=0))
    assert (found.reason, found.metadata["allowed"]) == (
        "INVALID_FIELD",
        "absent, or 1, the seat of the identity",
    )
    # A token counts, whosever identity comes with it.
    back = await join(club, table_id, issuer.token("eve"), token=joined.token)
    assert (back.seat, back.token) == (1, "")
    await club.start(table_id, made.token)
    await club.resign(table_id, joined.token)
    found = await refused(join(club, table_id, issuer.token("bob")))
    assert found.reason == "SEAT_RESIGNED"


async def test_the_client_library_shows_the_identity_where_it_is_asked_for(
    club: House, issuer: Issuer, tmp_path: Path
) -> None:
    file = tmp_path / "identity"
    file.write_text(f"{issuer.token('bob')}\n")
    async with (
        connect(club.target, identity=issuer.token()) as ada,
        connect(club.target, identity=identity_in(file)) as bob,
        connect(club.target) as nobody,
    ):
        plans = [person("Ada"), open_seat()]
        own = await ada.create_table(table_settings("bouillabaisse"), plans)
        first = await bob.join(own.table_id)
        again = await bob.join(own.table_id)
        assert (first.number, again.number) == (1, 1)
        await own.start()
        await again.refresh()
        with pytest.raises(client.Refused) as found:
            await first.refresh()
        assert found.value.reason == "BAD_TOKEN"
        with pytest.raises(client.Refused) as found:
            await nobody.join(own.table_id)
        assert found.value.reason == "MISSING_IDENTITY"


async def test_an_owner_without_a_seat_who_lost_the_token_takes_a_seat_as_the_owner(
    club: House, issuer: Issuer
) -> None:
    made = await create(club, issuer.token(), OPEN, AI)
    table_id = made.table.table_id
    joined = await join(club, table_id, issuer.token())
    assert (joined.seat, joined.table.owner_seat) == (0, 0)
    assert (await refused(club.start(table_id, made.token))).reason == "BAD_TOKEN"
    await club.restart()
    assert (await refused(club.start(table_id, made.token))).reason == "BAD_TOKEN"
    await club.start(table_id, joined.token)


async def test_a_seat_that_was_given_up_is_nobodys(club: House, issuer: Issuer) -> None:
    made = await create(club, issuer.token(), CALLER, OPEN, OPEN)
    table_id = made.table.table_id
    first = await join(club, table_id, issuer.token("bob"))
    await club.leave(table_id, first.token)
    assert (await join(club, table_id, issuer.token("eve"))).seat == 1
    assert (await join(club, table_id, issuer.token("bob"))).seat == 2


async def test_what_is_kept_of_a_person_is_a_digest(club: House, issuer: Issuer) -> None:
    identity = issuer.token("ada@example.org")
    made = await create(club, identity)
    await join(club, made.table.table_id, issuer.token("bob@example.org"))
    shown = await club.table(made.table.table_id)
    await club.close()
    held = b"".join(file.read_bytes() for file in club.db.parent.iterdir() if file.is_file())
    for secret in (
        b"ada@example",
        b"bob@example",
        identity.encode(),
        identity.split(".")[1].encode(),
    ):
        assert secret not in held
        assert secret not in shown.SerializeToString()
