"""The terminal client and a server that is reached by TLS."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import trustme

from tavolata.client import RetryPolicy, Unreachable, connect
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
        (Place("", Path("x.db"), "", None, ""), "--db x.db"),
        (Place("", None, "", None, ""), ""),
    ],
)
def test_the_way_back_names_how_the_server_is_reached(place: Place, options: str) -> None:
    assert place.lasting == options


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
