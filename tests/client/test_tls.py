"""The terminal client and a server that is reached by TLS."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import trustme
import typer

from tavolata.client import RetryPolicy, Unreachable, connect
from tavolata.ext.registry import GAMES
from tavolata.service.binding import BindRefused
from tavolata.service.cli import reach
from tavolata.service.cli.play import Place
from tavolata.service.server import Server
from tests.client.conftest import started


@pytest.fixture
def ca(tmp_path: Path) -> Path:
    """The certificate that the server's is signed with."""
    path = tmp_path / "ca.pem"
    authority = trustme.CA()
    authority.cert_pem.write_to_path(path)
    own = authority.issue_cert("127.0.0.1")
    own.private_key_pem.write_to_path(tmp_path / "key.pem")
    own.cert_chain_pems[0].write_to_path(tmp_path / "cert.pem")
    return path


@pytest.fixture
async def secure(ca: Path, tmp_path: Path) -> AsyncIterator[Server]:
    server = await started(
        tmp_path / "tavolata.db", tls_cert=tmp_path / "cert.pem", tls_key=tmp_path / "key.pem"
    )
    yield server
    await server.stop()


def play(*arguments: str) -> subprocess.CompletedProcess[str]:
    """`tavolata play` with nobody at the keys."""
    return subprocess.run(
        [sys.executable, "-m", "tavolata", "play", *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


async def test_a_table_is_made_at_a_server_whose_certificate_is_vouched_for(
    secure: Server, ca: Path
) -> None:
    where = ("--server", f"127.0.0.1:{secure.port}", "--tls-ca", str(ca))
    done = await asyncio.to_thread(play, "mino_dice", "--seats", "3", *where)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Seat 0 you; seats 1 and 2 AI" in done.stdout
    assert done.stderr == ""


async def test_a_server_that_nobody_vouches_for_is_not_played_at(
    secure: Server, tmp_path: Path
) -> None:
    other = tmp_path / "other.pem"
    trustme.CA().cert_pem.write_to_path(other)
    for place in (
        Place("", None, "", None, "", tls=True, tls_ca=other),
        Place("", None, "", None, "", tls=True),
        Place("", None, "", None, ""),
    ):
        target = f"127.0.0.1:{secure.port}"
        policy = RetryPolicy(call_s=0.3)
        async with connect(target, credentials=place.credentials(), policy=policy) as server:
            with pytest.raises(Unreachable):
                await server.games()


@pytest.mark.parametrize(
    ("place", "options"),
    [
        (Place("a:1", None, "", None, ""), "--server a:1"),
        (Place("a:1", None, "", None, "", tls=True), "--server a:1 --tls"),
        (Place("a:1", None, "", None, "", True, Path("c.pem")), "--server a:1 --tls-ca c.pem"),
        (
            Place("a:1", None, "", None, "", True, None, False, Path("m.pem"), Path("k.pem")),
            "--server a:1 --tls-cert m.pem --tls-key k.pem",
        ),
        (Place("", Path("x.db"), "", None, ""), "--db x.db"),
        (Place("", None, "", None, ""), ""),
    ],
)
def test_the_way_back_names_how_the_server_is_reached(place: Place, options: str) -> None:
    assert place.lasting == options


# -- servers that want a certificate, too ---------------------------------------------------------


@dataclass(frozen=True)
class Guest:
    """Files of somebody who has a certificate."""

    cert: Path
    key: Path


def guest(folder: Path, name: str, authority: trustme.CA) -> Guest:
    """Somebody vouched for by this authority."""
    made = Guest(folder / f"{name}.pem", folder / f"{name}.key.pem")
    own = authority.issue_cert(f"{name}@example.org")
    own.private_key_pem.write_to_path(made.key)
    own.cert_chain_pems[0].write_to_path(made.cert)
    return made


@pytest.fixture
async def closed(ca: Path, tmp_path: Path) -> AsyncIterator[tuple[Server, Guest, Guest]]:
    """A server for those whom an authority vouches for, one of those, and one of another's."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "clients.pem")
    server = await started(
        tmp_path / "tavolata.db",
        tls_cert=tmp_path / "cert.pem",
        tls_key=tmp_path / "key.pem",
        tls_client_ca=tmp_path / "clients.pem",
    )
    yield server, guest(tmp_path, "ada", authority), guest(tmp_path, "eve", trustme.CA())
    await server.stop()


async def test_a_client_with_a_certificate_that_is_vouched_for_gets_in(
    closed: tuple[Server, Guest, Guest], ca: Path
) -> None:
    server, ada, _ = closed
    place = Place("", None, "", None, "", True, ca, False, ada.cert, ada.key)
    target = f"127.0.0.1:{server.port}"
    async with connect(target, credentials=place.credentials()) as connection:
        assert len(await connection.games()) == len(GAMES)


async def test_nobody_else_gets_in(closed: tuple[Server, Guest, Guest], ca: Path) -> None:
    server, _, eve = closed
    target = f"127.0.0.1:{server.port}"
    for credentials in (
        reach.credentials(True, ca),
        reach.credentials(True, ca, eve.cert, eve.key),
        None,
    ):
        policy = RetryPolicy(call_s=0.3)
        async with connect(target, credentials=credentials, policy=policy) as connection:
            with pytest.raises(Unreachable):
                await connection.games()


async def test_certificates_of_clients_without_tls_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BindRefused, match="tls_client_ca needs TLS"):
        await started(tmp_path / "tavolata.db", tls_client_ca=tmp_path / "clients.pem")


def test_a_certificate_that_doesnt_go_with_the_key_is_refused_before_anything_is_asked(
    tmp_path: Path,
) -> None:
    ada, eve = (guest(tmp_path, name, trustme.CA()) for name in ("ada", "eve"))
    with pytest.raises(typer.BadParameter, match="certificate for the key in"):
        reach.check(None, ada.cert, eve.key)
    with pytest.raises(typer.BadParameter, match="--tls-cert and --tls-key"):
        reach.check(None, ada.cert, None)
    reach.check(None, ada.cert, ada.key)


def test_a_file_without_certificates_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    file = tmp_path / "not.pem"
    file.write_text("a shopping list\n")
    for ca, why in ((file, "no PEM file with"), (tmp_path / "missing.pem", "No such file")):
        done = play("mino_dice", "--server", "127.0.0.1:9", "--tls-ca", str(ca))
        assert done.returncode == 2
        assert why in done.stderr


def test_tls_without_a_server_elsewhere_is_refused() -> None:
    done = play("mino_dice", "--tls")
    assert done.returncode == 2
    assert "name it with --server" in done.stderr
